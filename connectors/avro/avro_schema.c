#include "connectors/avro/avro_schema.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const avro_words[] = {"null",   "boolean", "int",    "long",  "float",
                                         "double", "bytes",   "string", "fixed", "enum",
                                         "array",  "map",     "record", "union"};

const char *avro_kind_word(enum avro_kind kind) { return avro_words[kind]; }

/* A named type that was seen. */
struct avro_known {
    char name[256]; /* with its namespace */
    struct avro_node *node;
};

#define AVRO_NAMES_MAX 1000u /* named types of one schema */

struct avro_reader {
    struct avro_schema *s;
    struct avro_known *known;
    uint32_t knowns;
    char *why;
};

static struct avro_node *avro_fail(struct avro_reader *r, const char *words, const char *what)
{
    if (!r->why[0]) {
        (void)snprintf(r->why, 160, "%s%s%.80s", words, what ? ": " : "", what ? what : "");
    }
    return NULL;
}

static struct avro_node *avro_new(struct avro_reader *r, enum avro_kind kind, uint32_t children)
{
    struct avro_node *n = calloc(1, sizeof(*n));
    struct avro_field *child = calloc((size_t)children + 1, sizeof(*child));
    if (!n || !child) {
        free(n);
        free(child);
        return avro_fail(r, "out of memory", NULL);
    }
    *n =
        (struct avro_node){.kind = kind, .children = children, .child = child, .next = r->s->first};
    r->s->first = n;
    return n;
}

/* A name with its namespace: as it is when it has a dot. */
static void avro_full_name(char out[256], const char *name, const char *space)
{
    bool is_bare = strchr(name, '.') || !space[0];
    (void)snprintf(out, 256, "%.120s%s%.120s", is_bare ? "" : space, is_bare ? "" : ".", name);
}

static const struct avro_node *avro_by_name(struct avro_reader *r, const char *name,
                                            const char *space)
{
    char full[256];
    for (enum avro_kind k = AVRO_NULL; k <= AVRO_STRING; k++) {
        if (strcmp(name, avro_words[k]) == 0) {
            return avro_new(r, k, 0);
        }
    }
    avro_full_name(full, name, space);
    for (uint32_t i = 0; i < r->knowns; i++) {
        if (strcmp(r->known[i].name, full) == 0) {
            return r->known[i].node;
        }
    }
    return avro_fail(r, "there is no type of this name", name);
}

static void avro_read_logical(struct avro_node *n, const json_t *o)
{
    static const struct {
        const char *word;
        enum avro_kind kind;
        enum avro_logical logical;
    } table[] = {{"date", AVRO_INT, AVRO_DATE},
                 {"time-millis", AVRO_INT, AVRO_TIME_MILLIS},
                 {"time-micros", AVRO_LONG, AVRO_TIME_MICROS},
                 {"timestamp-millis", AVRO_LONG, AVRO_STAMP_MILLIS},
                 {"timestamp-micros", AVRO_LONG, AVRO_STAMP_MICROS},
                 {"local-timestamp-millis", AVRO_LONG, AVRO_STAMP_MILLIS},
                 {"local-timestamp-micros", AVRO_LONG, AVRO_STAMP_MICROS}};
    const char *word = json_string_value(json_object_get(o, "logicalType"));
    for (size_t i = 0; word && i < sizeof(table) / sizeof(table[0]); i++) {
        if (strcmp(word, table[i].word) == 0 && n->kind == table[i].kind) {
            n->logical = table[i].logical;
        }
    }
    if (word && strcmp(word, "decimal") == 0 && (n->kind == AVRO_BYTES || n->kind == AVRO_FIXED)) {
        json_int_t precision = json_integer_value(json_object_get(o, "precision"));
        json_int_t scale = json_integer_value(json_object_get(o, "scale"));
        if (precision >= 1 && precision <= 1000 && scale >= 0 && scale <= precision) {
            n->logical = AVRO_DECIMAL;
            n->precision = (int32_t)precision;
            n->scale = (int32_t)scale;
        }
    }
}

static const struct avro_node *avro_read(struct avro_reader *r, const json_t *j, const char *space,
                                         uint32_t depth);

/* NOLINTNEXTLINE(misc-no-recursion): bounded by AVRO_DEPTH_MAX */
static bool avro_read_fields(struct avro_reader *r, struct avro_node *n, const json_t *fields,
                             const char *space, uint32_t depth)
{
    for (uint32_t i = 0; i < n->children; i++) {
        const json_t *f = json_array_get(fields, i);
        n->child[i].name = json_string_value(json_object_get(f, "name"));
        if (!n->child[i].name) {
            (void)avro_fail(r, "a field has no name", n->name);
            return false;
        }
        n->child[i].type = avro_read(r, json_object_get(f, "type"), space, depth + 1);
        if (!n->child[i].type) {
            return false;
        }
    }
    return true;
}

static bool avro_read_symbols(struct avro_reader *r, struct avro_node *n, const json_t *symbols)
{
    for (uint32_t i = 0; i < n->children; i++) {
        n->child[i].name = json_string_value(json_array_get(symbols, i));
        if (!n->child[i].name) {
            (void)avro_fail(r, "a symbol of an enum is no text", n->name);
            return false;
        }
    }
    return true;
}

/* A record, an enum or a fixed: known by its name from its begin on, so that it may hold itself.
 * NOLINTNEXTLINE(misc-no-recursion): bounded by AVRO_DEPTH_MAX */
static const struct avro_node *avro_read_named(struct avro_reader *r, const json_t *j,
                                               enum avro_kind kind, const char *space,
                                               uint32_t depth)
{
    const char *name = json_string_value(json_object_get(j, "name"));
    const char *own = json_string_value(json_object_get(j, "namespace"));
    const json_t *list = json_object_get(j, kind == AVRO_ENUM ? "symbols" : "fields");
    char its_space[128];
    if (!name || (kind != AVRO_FIXED && !json_is_array(list)) || r->knowns == AVRO_NAMES_MAX) {
        return avro_fail(r, "a record, enum or fixed has no name, or no fields or symbols", name);
    }
    const char *dot = strrchr(name, '.');
    (void)snprintf(its_space, sizeof(its_space), "%.*s",
                   dot ? (int)(dot - name) : (int)strlen(own ? own : space),
                   dot   ? name
                   : own ? own
                         : space);
    struct avro_node *n = avro_new(r, kind, (uint32_t)json_array_size(list));
    if (!n) {
        return NULL;
    }
    n->name = dot ? dot + 1 : name;
    avro_full_name(r->known[r->knowns].name, name, its_space);
    r->known[r->knowns++].node = n;
    if (kind == AVRO_FIXED) {
        json_int_t size = json_integer_value(json_object_get(j, "size"));
        n->size = (uint32_t)size;
        avro_read_logical(n, j);
        return size >= 0 && size <= INT32_MAX ? n : avro_fail(r, "a fixed has no size", name);
    }
    bool is_good = kind == AVRO_ENUM ? avro_read_symbols(r, n, list)
                                     : avro_read_fields(r, n, list, its_space, depth);
    return is_good ? n : NULL;
}

/* NOLINTNEXTLINE(misc-no-recursion): bounded by AVRO_DEPTH_MAX */
static const struct avro_node *avro_read_many(struct avro_reader *r, const json_t *j,
                                              enum avro_kind kind, const char *space,
                                              uint32_t depth)
{
    struct avro_node *n = avro_new(r, kind, kind == AVRO_UNION ? (uint32_t)json_array_size(j) : 1);
    for (uint32_t i = 0; n && i < n->children; i++) {
        const json_t *one = kind == AVRO_UNION
                                ? json_array_get(j, i)
                                : json_object_get(j, kind == AVRO_MAP ? "values" : "items");
        n->child[i] = (struct avro_field){"", avro_read(r, one, space, depth + 1)};
        if (!n->child[i].type) {
            return NULL;
        }
    }
    return n && n->children > 0 ? n : avro_fail(r, "a union has no branch", NULL);
}

/* NOLINTNEXTLINE(misc-no-recursion): bounded by AVRO_DEPTH_MAX */
static const struct avro_node *avro_read(struct avro_reader *r, const json_t *j, const char *space,
                                         uint32_t depth)
{
    if (depth > AVRO_DEPTH_MAX) {
        return avro_fail(r, "types are nested too deeply", NULL);
    }
    if (json_is_string(j)) {
        return avro_by_name(r, json_string_value(j), space);
    }
    if (json_is_array(j)) {
        return avro_read_many(r, j, AVRO_UNION, space, depth);
    }
    const json_t *type = json_object_get(j, "type");
    const char *word = json_string_value(type);
    if (!word) { /* {"type": {...}} */
        return type ? avro_read(r, type, space, depth + 1)
                    : avro_fail(r, "a type is missing", NULL);
    }
    for (enum avro_kind k = AVRO_FIXED; k < AVRO_UNION; k++) {
        if (strcmp(word, avro_words[k]) == 0) {
            return k == AVRO_ARRAY || k == AVRO_MAP ? avro_read_many(r, j, k, space, depth)
                                                    : avro_read_named(r, j, k, space, depth);
        }
    }
    const struct avro_node *n = strcmp(word, "error") == 0
                                    ? avro_read_named(r, j, AVRO_RECORD, space, depth)
                                    : avro_by_name(r, word, space);
    if (n && n == r->s->first) { /* new, and no name's: its attributes are its own */
        avro_read_logical(r->s->first, j);
    }
    return n;
}

bool avro_schema_read(struct avro_schema *s, const char *text, char why[160])
{
    json_error_t fault;
    struct avro_reader r = {.s = s, .why = why};
    *s = (struct avro_schema){0};
    why[0] = '\0';
    if (strlen(text) > AVRO_TEXT_MAX) {
        return avro_fail(&r, "an Avro schema has at most 1 MiB", NULL);
    }
    s->json = json_loads(text, JSON_DECODE_ANY, &fault);
    r.known = calloc(AVRO_NAMES_MAX, sizeof(*r.known));
    if (!s->json || !r.known) {
        (void)avro_fail(&r, "it is no JSON", s->json ? "out of memory" : fault.text);
    } else {
        s->root = avro_read(&r, s->json, "", 0);
    }
    free(r.known);
    return s->root != NULL;
}

void avro_schema_done(struct avro_schema *s)
{
    if (!s) {
        return;
    }
    while (s->first) {
        struct avro_node *n = s->first;
        s->first = n->next;
        free(n->child);
        free(n);
    }
    json_decref(s->json);
    *s = (struct avro_schema){0};
}

/* --- Of columns. ------------------------------------------------------------------------------ */

static json_t *avro_of(const struct sr_type *t, const char *name, bool is_legacy, uint32_t depth);

static json_t *avro_logical_of(const char *type, const char *logical)
{
    return json_pack("{s:s, s:s}", "type", type, "logicalType", logical);
}

/* Types that are one word; NULL: it has none. */
static const char *avro_word_of(enum sr_kind kind)
{
    static const char *const words[SR_KIND_COUNT] = {
        [SR_BOOLEAN] = "boolean", [SR_TINYINT] = "int",    [SR_SMALLINT] = "int",
        [SR_INT] = "int",         [SR_BIGINT] = "long",    [SR_FLOAT] = "float",
        [SR_DOUBLE] = "double",   [SR_CHAR] = "string",    [SR_VARCHAR] = "string",
        [SR_BINARY] = "bytes",    [SR_VARBINARY] = "bytes"};
    return words[kind];
}

/* Of a type without children; NULL: it has none. */
static json_t *avro_scalar_of(const struct sr_type *t, bool is_legacy)
{
    bool is_micros = t->length > 3;
    if (sr_is_timestamp(t->kind)) {
        bool is_local = t->kind == SR_TIMESTAMP && !is_legacy;
        if (t->length > 6 || (is_legacy && (is_micros || t->kind == SR_TIMESTAMP_LTZ))) {
            return NULL;
        }
        return avro_logical_of("long", is_local    ? is_micros ? "local-timestamp-micros"
                                                               : "local-timestamp-millis"
                                       : is_micros ? "timestamp-micros"
                                                   : "timestamp-millis");
    }
    if (t->kind == SR_TIME) {
        return t->length <= 3 ? avro_logical_of("int", "time-millis") : NULL;
    }
    if (t->kind == SR_DECIMAL) {
        return json_pack("{s:s, s:s, s:i, s:i}", "type", "bytes", "logicalType", "decimal",
                         "precision", (int)t->length, "scale", (int)t->scale);
    }
    if (t->kind == SR_DATE) {
        return avro_logical_of("int", "date");
    }
    const char *word = avro_word_of(t->kind);
    return word ? json_string(word) : NULL;
}

/* NOLINTNEXTLINE(misc-no-recursion): bounded by AVRO_DEPTH_MAX */
static json_t *avro_record_of(const struct sr_field *field, uint32_t fields, const char *name,
                              bool is_legacy, uint32_t depth)
{
    json_t *list = json_array();
    const char *dot = strrchr(name, '.');
    for (uint32_t i = 0; list && i < fields; i++) {
        char inner[256];
        (void)snprintf(inner, sizeof(inner), "%.120s_%.120s", dot ? dot + 1 : name, field[i].name);
        json_t *type = avro_of(&field[i].type, inner, is_legacy, depth + 1);
        json_t *one = type ? json_pack("{s:s, s:o}", "name", field[i].name, "type", type) : NULL;
        if (one && field[i].type.is_nullable) {
            (void)json_object_set_new(one, "default",
                                      json_null()); /* memory: the list is short then */
        }
        if (!one || json_array_append_new(list, one) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return json_pack("{s:s, s:s, s:o*}", "type", "record", "name", dot ? dot + 1 : name, "fields",
                     list);
}

/* NOLINTNEXTLINE(misc-no-recursion): bounded by AVRO_DEPTH_MAX */
static json_t *avro_of(const struct sr_type *t, const char *name, bool is_legacy, uint32_t depth)
{
    json_t *j = NULL;
    bool is_text_key = t->children > 0 && sr_is_text(t->child[0].type.kind);
    if (depth > AVRO_DEPTH_MAX) {
        return NULL;
    }
    if (t->kind == SR_ROW) {
        j = avro_record_of(t->child, t->children, name, is_legacy, depth);
    } else if (t->kind == SR_ARRAY) {
        json_t *item = avro_of(&t->child[0].type, name, is_legacy, depth + 1);
        j = item ? json_pack("{s:s, s:o}", "type", "array", "items", item) : NULL;
    } else if (t->kind == SR_MAP) {
        json_t *value = is_text_key ? avro_of(&t->child[1].type, name, is_legacy, depth + 1) : NULL;
        j = value ? json_pack("{s:s, s:o}", "type", "map", "values", value) : NULL;
    } else {
        j = avro_scalar_of(t, is_legacy);
    }
    return j && t->is_nullable ? json_pack("[s, o]", "null", j) : j;
}

char *avro_schema_of(const struct sr_schema *s, bool is_legacy, char why[160])
{
    why[0] = '\0';
    for (uint32_t i = 0; i < s->fields; i++) {
        json_t *one = avro_of(&s->field[i].type, "record", is_legacy, 0);
        if (!one) {
            const struct sr_type *t = &s->field[i].type;
            (void)snprintf(why, 160, "column '%.60s': type %s%s has no Avro type%s",
                           s->field[i].name, sr_kind_word(t->kind), t->children > 0 ? "<...>" : "",
                           sr_is_timestamp(t->kind) && is_legacy && t->length <= 6
                               ? " with timestamp_mapping.legacy: true"
                               : "");
            return NULL;
        }
        json_decref(one);
    }
    json_t *root =
        avro_record_of(s->field, s->fields, "org.apache.flink.avro.generated.record", is_legacy, 0);
    if (root) {
        (void)json_object_set_new(root, "namespace",
                                  json_string("org.apache.flink.avro.generated"));
    }
    char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    if (!text) {
        (void)snprintf(why, 160, "out of memory");
    }
    return text;
}
