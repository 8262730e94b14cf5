/* Type texts as Flink prints and reads them; declared in schema.h. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "engine/base/assert.h"
#include "engine/base/bytes.h"
#include "engine/base/error.h"
#include "engine/base/nearest.h"
#include "engine/data/schema.h"

/* --- Printing -------------------------------------------------------------------------------- */

static bool type_put(struct sr_out *o, const char *s) { return bytes_put(o, s, strlen(s)); }

static bool type_put_name(struct sr_out *o, const char *name)
{
    bool is_put = type_put(o, "`");
    for (const char *p = name; is_put && *p; p++) {
        is_put = bytes_put(o, p, 1) && (*p != '`' || bytes_put(o, p, 1));
    }
    return is_put && type_put(o, "` ");
}

/* The word, and its numbers in brackets. */
static bool type_put_head(struct sr_out *o, const struct sr_type *t)
{
    char text[64];
    const char *word = sr_kind_word(t->kind);
    bool has_length = sr_is_string(t->kind) || t->kind == SR_TIME || sr_is_timestamp(t->kind);
    if (t->kind == SR_VARCHAR && t->length == SR_LENGTH_MAX) {
        return type_put(o, "STRING");
    }
    if (t->kind == SR_VARBINARY && t->length == SR_LENGTH_MAX) {
        return type_put(o, "BYTES");
    }
    if (t->class_name) {
        return type_put(o, "STRUCTURED");
    }
    if (t->kind == SR_DECIMAL) {
        (void)snprintf(text, sizeof(text), "%s(%d, %d)", word, t->length, t->scale);
        return type_put(o, text);
    }
    if (has_length) {
        (void)snprintf(text, sizeof(text), "%s(%d)", word, t->length);
        return type_put(o, text);
    }
    return type_put(o, word);
}

/* 'a.b.Class', of a STRUCTURED type. */
static bool type_put_class(struct sr_out *o, const char *name)
{
    bool is_put = type_put(o, "'");
    for (const char *p = name; is_put && *p; p++) {
        is_put = bytes_put(o, p, 1) && (*p != '\'' || bytes_put(o, p, 1));
    }
    return is_put && type_put(o, "', ");
}

/* NOLINTNEXTLINE(misc-no-recursion): bounded by TYPE_DEPTH_MAX */
static bool type_put_text(struct sr_out *o, const struct sr_type *t, uint32_t depth)
{
    sr_assert(depth <= TYPE_DEPTH_MAX);
    bool is_put = type_put_head(o, t);
    if (sr_is_nested(t->kind)) {
        is_put = is_put && type_put(o, "<");
        is_put = is_put && (!t->class_name || type_put_class(o, t->class_name));
        for (uint32_t i = 0; is_put && i < t->children; i++) {
            is_put = i == 0 || type_put(o, ", ");
            is_put = is_put && (t->kind != SR_ROW || type_put_name(o, t->child[i].name));
            is_put = is_put && type_put_text(o, &t->child[i].type, depth + 1);
        }
        is_put = is_put && type_put(o, ">");
    }
    return is_put && (t->is_nullable || t->kind == SR_NULL || type_put(o, " NOT NULL"));
}

const char *type_text(struct arena *a, const struct sr_type *t)
{
    struct sr_out o = bytes_out();
    char *text = type_put_text(&o, t, 0) ? arena_text_n(a, (const char *)o.data, o.len) : NULL;
    bytes_free(&o);
    return text;
}

/* --- Parsing --------------------------------------------------------------------------------- */

#define TYPE_FIELDS_MAX 4096u /* of one ROW */
#define TYPE_WORD_MAX   32u

struct type_reader {
    struct arena *arena;
    const char *text, *at;
    struct sr_error *err;
    const char *fault_at; /* where the words of err point to */
};

static void type_skip(struct type_reader *p)
{
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r') {
        p->at++;
    }
}

static sr_rc type_fault(struct type_reader *p, const char *at, const char *words)
{
    p->fault_at = at;
    return error_set(p->err, SR_ECONFIG, "%s", words);
}

static bool type_is_letter(char c)
{
    return isalpha((unsigned char)c) || isdigit((unsigned char)c) || c == '_';
}

/* Takes the keyword when it is next. */
static bool type_take(struct type_reader *p, const char *word)
{
    type_skip(p);
    size_t len = strlen(word);
    if (strncasecmp(p->at, word, len) != 0) {
        return false;
    }
    if (type_is_letter(word[len - 1]) && type_is_letter(p->at[len])) {
        return false;
    }
    p->at += len;
    return true;
}

static sr_rc type_expect(struct type_reader *p, const char *word)
{
    if (type_take(p, word)) {
        return SR_OK;
    }
    type_skip(p);
    char words[80];
    (void)snprintf(words, sizeof(words), "'%s' is expected here", word);
    return type_fault(p, p->at, words);
}

/* A number between min and max. */
static sr_rc type_number(struct type_reader *p, int32_t min, int32_t max, int32_t *out)
{
    type_skip(p);
    const char *begin = p->at;
    int64_t value = 0;
    while (isdigit((unsigned char)*p->at)) {
        value = value > max ? value : value * 10 + (*p->at - '0');
        p->at++;
    }
    if (p->at == begin) {
        return type_fault(p, begin, "a number is expected here");
    }
    if (value < min || value > max) {
        char words[80];
        (void)snprintf(words, sizeof(words), "must be between %d and %d", min, max);
        return type_fault(p, begin, words);
    }
    *out = (int32_t)value;
    return SR_OK;
}

/* "(n)" when it is there; else *out stays. */
static sr_rc type_length(struct type_reader *p, int32_t min, int32_t max, int32_t *out)
{
    if (!type_take(p, "(")) {
        return SR_OK;
    }
    sr_rc rc = type_number(p, min, max, out);
    return rc == SR_OK ? type_expect(p, ")") : rc;
}

static sr_rc type_decimal(struct type_reader *p, struct sr_type *t)
{
    *t = type_with(SR_DECIMAL, 10, 0);
    if (!type_take(p, "(")) {
        return SR_OK;
    }
    sr_rc rc = type_number(p, 1, SR_DECIMAL_MAX, &t->length);
    if (rc == SR_OK && type_take(p, ",")) {
        rc = type_number(p, 0, t->length, &t->scale);
    }
    return rc == SR_OK ? type_expect(p, ")") : rc;
}

static sr_rc type_timestamp(struct type_reader *p, bool is_ltz, struct sr_type *t)
{
    *t = type_of(is_ltz ? SR_TIMESTAMP_LTZ : SR_TIMESTAMP);
    sr_rc rc = type_length(p, 0, 9, &t->length);
    if (rc != SR_OK || is_ltz) {
        return rc;
    }
    if (type_take(p, "WITHOUT")) {
        rc = type_expect(p, "TIME");
        return rc == SR_OK ? type_expect(p, "ZONE") : rc;
    }
    if (!type_take(p, "WITH")) {
        return SR_OK;
    }
    if (!type_take(p, "LOCAL")) {
        return type_fault(p, p->at,
                          "TIMESTAMP WITH TIME ZONE is not supported, as in Flink SQL; TIMESTAMP "
                          "WITH LOCAL TIME ZONE (TIMESTAMP_LTZ) is");
    }
    t->kind = SR_TIMESTAMP_LTZ;
    rc = type_expect(p, "TIME");
    return rc == SR_OK ? type_expect(p, "ZONE") : rc;
}

static bool type_take_unit(struct type_reader *p, bool *is_month)
{
    static const char *const units[][2] = {
        {"YEAR", "YEARS"}, {"QUARTER", "QUARTERS"}, {"MONTH", "MONTHS"},   {"WEEK", "WEEKS"},
        {"DAY", "DAYS"},   {"HOUR", "HOURS"},       {"MINUTE", "MINUTES"}, {"SECOND", "SECONDS"}};
    for (uint32_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (type_take(p, units[i][0]) || type_take(p, units[i][1])) {
            *is_month = i < 3;
            return true;
        }
    }
    return false;
}

/* INTERVAL unit[(p)] [TO unit[(p)]] */
static sr_rc type_interval(struct type_reader *p, struct sr_type *t)
{
    bool is_month = false;
    int32_t digits = 0;
    if (!type_take_unit(p, &is_month)) {
        return type_fault(p, p->at,
                          "a unit is expected here: YEAR, MONTH, DAY, HOUR, MINUTE, SECOND");
    }
    sr_rc rc = type_length(p, 0, 9, &digits);
    if (rc == SR_OK && type_take(p, "TO")) {
        bool is_month_too = false;
        if (!type_take_unit(p, &is_month_too) || is_month_too != is_month) {
            return type_fault(p, p->at, "these units do not make an interval");
        }
        rc = type_length(p, 0, 9, &digits);
    }
    *t = type_of(is_month ? SR_INTERVAL_MONTH : SR_INTERVAL_SECOND);
    return rc;
}

static sr_rc type_text_like(struct type_reader *p, enum sr_kind kind, struct sr_type *t)
{
    *t = type_with(kind, 1, 0); /* a bare VARCHAR is VARCHAR(1), as in Flink */
    return type_length(p, 1, SR_LENGTH_MAX, &t->length);
}

/* Types of one word without numbers. */
static bool type_simple(const char *word, struct sr_type *t)
{
    static const struct {
        const char *word;
        enum sr_kind kind;
    } table[] = {
        {"BOOLEAN", SR_BOOLEAN}, {"TINYINT", SR_TINYINT}, {"SMALLINT", SR_SMALLINT},
        {"INT", SR_INT},         {"INTEGER", SR_INT},     {"BIGINT", SR_BIGINT},
        {"FLOAT", SR_FLOAT},     {"DOUBLE", SR_DOUBLE},   {"STRING", SR_VARCHAR},
        {"BYTES", SR_VARBINARY}, {"DATE", SR_DATE},       {"NULL", SR_NULL},
        {"VARIANT", SR_VARIANT},
    };
    for (uint32_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strcasecmp(word, table[i].word) == 0) {
            *t = type_of(table[i].kind);
            return true;
        }
    }
    return false;
}

/* What other systems call these types; NULL: nothing that is known. */
static const char *type_foreign(const char *upper)
{
    static const char *const foreign[][2] = {{"TEXT", "STRING"},
                                             {"LONG", "BIGINT"},
                                             {"BOOL", "BOOLEAN"},
                                             {"REAL", "FLOAT"},
                                             {"BLOB", "BYTES"},
                                             {"DATETIME", "TIMESTAMP"},
                                             {"INT64", "BIGINT"},
                                             {"INT32", "INT"},
                                             {"FLOAT64", "DOUBLE"},
                                             {"NUMBER", "DECIMAL"},
                                             {"TIMESTAMPTZ", "TIMESTAMP_LTZ"}};
    for (uint32_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
        if (strcmp(upper, foreign[i][0]) == 0) {
            return foreign[i][1];
        }
    }
    return NULL;
}

static sr_rc type_unknown(struct type_reader *p, const char *at, const char *word)
{
    static const char *const words[] = {
        "BOOLEAN", "TINYINT",   "SMALLINT", "INT",      "INTEGER", "BIGINT",        "FLOAT",
        "DOUBLE",  "DECIMAL",   "NUMERIC",  "CHAR",     "VARCHAR", "STRING",        "BINARY",
        "BYTES",   "VARBINARY", "DATE",     "TIME",     "ARRAY",   "TIMESTAMP_LTZ", "TIMESTAMP",
        "MAP",     "MULTISET",  "ROW",      "INTERVAL", "VARIANT", "STRUCTURED",    NULL};
    char upper[TYPE_WORD_MAX] = {0};
    for (size_t i = 0; i < sizeof(upper) - 1 && word[i]; i++) {
        bool is_small = word[i] >= 'a' && word[i] <= 'z';
        upper[i] = (char)(is_small ? word[i] - 'a' + 'A' : word[i]);
    }
    const char *near = type_foreign(upper);
    near = near ? near : nearest_word(upper, words);
    char text[160];
    (void)snprintf(text, sizeof(text),
                   near ? "unknown type '%s'; did you mean %s?" : "unknown type '%s'%s", word,
                   near ? near : "");
    return type_fault(p, at, text);
}

/* Types of one word and perhaps a length. False: it is none of them. */
static bool type_sized(struct type_reader *p, const char *word, struct sr_type *t, sr_rc *rc)
{
    enum sr_kind kind = SR_KIND_COUNT;
    if (strcasecmp(word, "CHAR") == 0 || strcasecmp(word, "CHARACTER") == 0) {
        kind = type_take(p, "VARYING") ? SR_VARCHAR : SR_CHAR;
    } else if (strcasecmp(word, "BINARY") == 0) {
        kind = type_take(p, "VARYING") ? SR_VARBINARY : SR_BINARY;
    } else if (strcasecmp(word, "VARCHAR") == 0) {
        kind = SR_VARCHAR;
    } else if (strcasecmp(word, "VARBINARY") == 0) {
        kind = SR_VARBINARY;
    }
    if (kind == SR_KIND_COUNT) {
        return false;
    }
    *rc = type_text_like(p, kind, t);
    return true;
}

static sr_rc type_time(struct type_reader *p, struct sr_type *t)
{
    *t = type_of(SR_TIME);
    sr_rc rc = type_length(p, 0, 9, &t->length);
    if (rc == SR_OK && type_take(p, "WITHOUT")) {
        rc = type_expect(p, "TIME");
        rc = rc == SR_OK ? type_expect(p, "ZONE") : rc;
    }
    return rc;
}

static sr_rc type_leaf(struct type_reader *p, const char *at, const char *word, struct sr_type *t)
{
    sr_rc rc = SR_OK;
    if (type_simple(word, t)) {
        if (t->kind == SR_DOUBLE) {
            (void)type_take(p, "PRECISION");
        }
        return SR_OK;
    }
    if (type_sized(p, word, t, &rc)) {
        return rc;
    }
    if (strcasecmp(word, "DECIMAL") == 0 || strcasecmp(word, "DEC") == 0 ||
        strcasecmp(word, "NUMERIC") == 0) {
        return type_decimal(p, t);
    }
    if (strcasecmp(word, "TIMESTAMP") == 0 || strcasecmp(word, "TIMESTAMP_LTZ") == 0) {
        return type_timestamp(p, strcasecmp(word, "TIMESTAMP") != 0, t);
    }
    if (strcasecmp(word, "TIME") == 0) {
        return type_time(p, t);
    }
    if (strcasecmp(word, "INTERVAL") == 0) {
        return type_interval(p, t);
    }
    return type_unknown(p, at, word);
}

/* A field's name, in backticks or plain. */
static sr_rc type_name(struct type_reader *p, const char **out)
{
    type_skip(p);
    const char *begin = p->at;
    if (*begin != '`') {
        while (type_is_letter(*p->at)) {
            p->at++;
        }
        if (p->at == begin) {
            return type_fault(p, begin, "a field name is expected here");
        }
        *out = arena_text_n(p->arena, begin, (size_t)(p->at - begin));
        return SR_OK;
    }
    size_t len = 0;
    char *name = arena_get(p->arena, strlen(begin) + 1);
    for (p->at++; *p->at && (*p->at != '`' || p->at[1] == '`'); p->at++) {
        p->at += *p->at == '`' ? 1 : 0;
        if (name) {
            name[len++] = *p->at;
        }
    }
    if (*p->at != '`') {
        return type_fault(p, begin, "this backtick is not closed");
    }
    p->at++;
    *out = name;
    return SR_OK;
}

/* 'it''s like this', if there is one; *out stays without. NULL as `out`: nobody wants it. */
static sr_rc type_quoted(struct type_reader *p, const char **out)
{
    type_skip(p);
    const char *begin = p->at;
    if (*begin != '\'') {
        return SR_OK;
    }
    size_t len = 0;
    char *text = out ? arena_get(p->arena, strlen(begin) + 1) : NULL;
    for (p->at++; *p->at && (*p->at != '\'' || p->at[1] == '\''); p->at++) {
        p->at += *p->at == '\'' ? 1 : 0;
        if (text) {
            text[len++] = *p->at;
        }
    }
    if (*p->at != '\'') {
        return type_fault(p, begin, "this quote is not closed");
    }
    p->at++;
    if (text) {
        text[len] = '\0';
        *out = text;
    }
    return SR_OK;
}

static bool type_has_name(const struct sr_field *field, uint32_t count, const char *name)
{
    for (uint32_t i = 0; name && i < count; i++) {
        if (field[i].name && strcmp(field[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static sr_rc type_read(struct type_reader *p, uint32_t depth, struct sr_type *t);

/* The fields read so far, with room for one more; NULL: too many, or out of memory. */
static struct sr_field *type_room(struct type_reader *p, struct sr_field *field, uint32_t count)
{
    bool is_full = count >= 4 && (count & (count - 1)) == 0; /* room doubles at powers of two */
    if (count > 0 && !is_full) {
        return field;
    }
    uint32_t room = count == 0 ? 4 : count * 2;
    struct sr_field *grown =
        room <= TYPE_FIELDS_MAX ? arena_array(p->arena, room, sizeof(*field)) : NULL;
    if (grown && count > 0) {
        memcpy(grown, field, count * sizeof(*field));
    }
    return grown;
}

/* One element, with its name in a ROW.
 * NOLINTNEXTLINE(misc-no-recursion): bounded by TYPE_DEPTH_MAX */
static sr_rc type_element(struct type_reader *p, uint32_t depth, bool is_row, struct sr_field *out)
{
    out->name = "";
    sr_rc rc = is_row ? type_name(p, &out->name) : SR_OK;
    rc = rc == SR_OK ? type_read(p, depth + 1, &out->type) : rc;
    return rc == SR_OK && is_row ? type_quoted(p, NULL) : rc; /* a comment is no part of it */
}

/* Elements up to `close`, `wanted` of them, or any number for 0.
 * NOLINTNEXTLINE(misc-no-recursion): bounded by TYPE_DEPTH_MAX */
static sr_rc type_fields(struct type_reader *p, uint32_t depth, uint32_t wanted, const char *close,
                         struct sr_type *t)
{
    bool is_row = t->kind == SR_ROW;
    sr_rc rc = SR_OK;
    struct sr_field *field = NULL;
    uint32_t count = 0;
    while (rc == SR_OK && (count == 0 || count != wanted)) {
        field = type_room(p, field, count);
        if (!field) {
            return type_fault(p, p->at, "too many fields");
        }
        type_skip(p);
        const char *begin = p->at;
        rc = type_element(p, depth, is_row, &field[count]);
        if (rc == SR_OK && is_row && type_has_name(field, count, field[count].name)) {
            return type_fault(p, begin, "a ROW has two fields of this name");
        }
        count++;
        if (rc == SR_OK && count != wanted && !type_take(p, ",")) {
            rc = is_row ? SR_OK : type_expect(p, ",");
            break;
        }
    }
    t->children = count;
    t->child = field;
    return rc == SR_OK ? type_expect(p, close) : rc;
}

/* Elements between < and > (of a ROW: ( and ) too), `wanted` of them, or any number for 0.
 * NOLINTNEXTLINE(misc-no-recursion): bounded by TYPE_DEPTH_MAX */
static sr_rc type_children(struct type_reader *p, uint32_t depth, uint32_t wanted,
                           struct sr_type *t)
{
    const char *close = t->kind == SR_ROW && type_take(p, "(") ? ")" : ">";
    sr_rc rc = *close == ')' ? SR_OK : type_expect(p, "<");
    if (rc != SR_OK || (t->kind == SR_ROW && type_take(p, close))) {
        return rc; /* ROW<> */
    }
    return type_fields(p, depth, wanted, close, t);
}

/* STRUCTURED<'a.b.Class', field type, ...>: a ROW of that class.
 * NOLINTNEXTLINE(misc-no-recursion): bounded by TYPE_DEPTH_MAX */
static sr_rc type_structured(struct type_reader *p, uint32_t depth, struct sr_type *t)
{
    *t = type_of(SR_ROW);
    sr_rc rc = type_expect(p, "<");
    type_skip(p);
    const char *begin = p->at;
    const char *name = NULL;
    rc = rc == SR_OK ? type_quoted(p, &name) : rc;
    if (rc == SR_OK && !name) {
        return arena_is_broken(p->arena)
                   ? SR_OK /* which the caller looks at */
                   : type_fault(p, begin, "the name of a class is expected here, in quotes");
    }
    if (rc == SR_OK && !type_is_class(name)) {
        return type_fault(p, begin, "that is no name of a class, as in 'com.example.User'");
    }
    t->class_name = name;
    if (rc != SR_OK || type_take(p, ">")) {
        return rc;
    }
    rc = type_expect(p, ",");
    if (rc != SR_OK || type_take(p, ">")) {
        return rc; /* as a class without fields is printed */
    }
    return type_fields(p, depth, 0, ">", t);
}

static sr_rc type_nullability(struct type_reader *p, struct sr_type *t)
{
    if (type_take(p, "NOT")) {
        t->is_nullable = false;
        return type_expect(p, "NULL");
    }
    (void)type_take(p, "NULL"); /* says what holds anyway */
    return SR_OK;
}

/* `INT ARRAY` is ARRAY<INT>, `STRING MULTISET` MULTISET<STRING>. */
static sr_rc type_collections(struct type_reader *p, struct sr_type *t)
{
    for (uint32_t i = 0; i < TYPE_DEPTH_MAX; i++) {
        bool is_array = type_take(p, "ARRAY");
        if (!is_array && !type_take(p, "MULTISET")) {
            break;
        }
        struct sr_field *element = arena_array(p->arena, 1, sizeof(*element));
        if (!element) {
            return SR_OK; /* the arena is broken, which the caller looks at */
        }
        *element = (struct sr_field){.name = "", .type = *t};
        *t = type_of(is_array ? SR_ARRAY : SR_MULTISET);
        t->children = 1;
        t->child = element;
        sr_rc rc = type_nullability(p, t);
        if (rc != SR_OK) {
            return rc;
        }
    }
    return SR_OK;
}

/* NOLINTNEXTLINE(misc-no-recursion): bounded by TYPE_DEPTH_MAX */
static sr_rc type_read(struct type_reader *p, uint32_t depth, struct sr_type *t)
{
    type_skip(p);
    const char *begin = p->at;
    if (depth > TYPE_DEPTH_MAX) {
        return type_fault(p, begin, "types are nested too deeply");
    }
    char word[TYPE_WORD_MAX];
    size_t len = 0;
    while (type_is_letter(*p->at)) {
        if (len < sizeof(word) - 1) {
            word[len++] = *p->at;
        }
        p->at++;
    }
    word[len] = '\0';
    if (len == 0) {
        return type_fault(p, begin, "a type is expected here");
    }
    sr_rc rc = SR_OK;
    if (strcasecmp(word, "ARRAY") == 0 || strcasecmp(word, "MULTISET") == 0) {
        *t = type_of(strcasecmp(word, "ARRAY") == 0 ? SR_ARRAY : SR_MULTISET);
        rc = type_children(p, depth, 1, t);
    } else if (strcasecmp(word, "MAP") == 0) {
        *t = type_of(SR_MAP);
        rc = type_children(p, depth, 2, t);
    } else if (strcasecmp(word, "STRUCTURED") == 0) {
        rc = type_structured(p, depth, t);
    } else if (strcasecmp(word, "ROW") == 0) {
        *t = type_of(SR_ROW);
        rc = type_children(p, depth, 0, t);
    } else {
        rc = type_leaf(p, begin, word, t);
    }
    rc = rc == SR_OK ? type_nullability(p, t) : rc;
    return rc == SR_OK ? type_collections(p, t) : rc;
}

/* Are its containers within each other more than TYPE_DEPTH_MAX? */
static bool type_is_deep(const struct sr_type *t)
{
    struct {
        const struct sr_type *t;
        uint32_t next; /* child */
    } around[TYPE_DEPTH_MAX + 1] = {{.t = t}};
    uint32_t depth = t->children > 0 ? 1 : 0;
    while (depth > 0) {
        const struct sr_type *up = around[depth - 1].t;
        if (around[depth - 1].next == up->children) {
            depth--;
            continue;
        }
        const struct sr_type *child = &up->child[around[depth - 1].next++].type;
        if (child->children > 0) {
            if (depth == TYPE_DEPTH_MAX) {
                return true;
            }
            around[depth].t = child;
            around[depth++].next = 0;
        }
    }
    return false;
}

sr_rc type_parse(struct arena *a, const char *text, struct sr_type *out, uint32_t *at,
                 struct sr_error *err)
{
    struct type_reader p = {.arena = a, .text = text, .at = text, .err = err};
    struct sr_type t = {0};
    sr_rc rc = type_read(&p, 0, &t);
    type_skip(&p);
    if (rc == SR_OK && *p.at) {
        rc = type_fault(&p, p.at, "nothing is expected behind the type");
    }
    if (rc == SR_OK && type_is_deep(&t)) {
        rc = type_fault(&p, text, "types are nested too deeply");
    }
    if (rc == SR_OK && arena_is_broken(a)) {
        p.fault_at = text;
        rc = error_set(err, SR_ENOMEM, "read a type: out of memory");
    }
    if (rc != SR_OK) {
        if (at) {
            *at = (uint32_t)(p.fault_at - text);
        }
        return rc;
    }
    *out = t;
    return SR_OK;
}
