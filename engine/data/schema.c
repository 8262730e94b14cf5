#include "engine/data/schema.h"

#include <ctype.h>
#include <string.h>

#include "engine/base/assert.h"

static int32_t type_default_length(enum sr_kind kind)
{
    if (kind == SR_CHAR || kind == SR_BINARY) {
        return 1;
    }
    if (kind == SR_VARCHAR || kind == SR_VARBINARY) {
        return SR_LENGTH_MAX; /* STRING and BYTES */
    }
    if (kind == SR_DECIMAL) {
        return 10;
    }
    return sr_is_timestamp(kind) ? 6 : 0;
}

/* Words that Java keeps for itself. */
static bool type_is_reserved(const char *word, size_t len)
{
    static const char *const words[] = {
        "abstract",  "assert",       "boolean",  "break",      "byte",    "case",       "catch",
        "char",      "class",        "const",    "continue",   "default", "do",         "double",
        "else",      "enum",         "extends",  "false",      "final",   "finally",    "float",
        "for",       "goto",         "if",       "implements", "import",  "instanceof", "int",
        "interface", "long",         "native",   "new",        "null",    "package",    "private",
        "protected", "public",       "return",   "short",      "static",  "strictfp",   "super",
        "switch",    "synchronized", "this",     "throw",      "throws",  "transient",  "true",
        "try",       "void",         "volatile", "while",      "_"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strlen(words[i]) == len && memcmp(words[i], word, len) == 0) {
            return true;
        }
    }
    return false;
}

bool type_is_class(const char *name)
{
    for (const char *p = name;; p++) {
        size_t len = strcspn(p, ".");
        if (len == 0 || isdigit((unsigned char)*p) || type_is_reserved(p, len)) {
            return false;
        }
        for (const char *end = p + len; p < end;
             p++) { /* letters beyond ASCII are taken for such */
            if ((unsigned char)*p < 0x80 && !isalnum((unsigned char)*p) && *p != '_' && *p != '$') {
                return false;
            }
        }
        if (!*p) {
            return true;
        }
    }
}

struct sr_type type_of(enum sr_kind kind)
{
    return (struct sr_type){.kind = kind, .is_nullable = true, .length = type_default_length(kind)};
}

struct sr_type type_with(enum sr_kind kind, int32_t length, int32_t scale)
{
    return (struct sr_type){.kind = kind, .is_nullable = true, .length = length, .scale = scale};
}

struct sr_type type_nullable(struct sr_type t, bool is_nullable)
{
    t.is_nullable = is_nullable;
    return t;
}

/* The depth of a type is at most TYPE_DEPTH_MAX (type_parse sees to it), so these may recurse. */
/* NOLINTNEXTLINE(misc-no-recursion): bounded by TYPE_DEPTH_MAX */
static bool type_equal_at(const struct sr_type *a, const struct sr_type *b, bool with_nullability,
                          uint32_t depth)
{
    sr_assert(depth <= TYPE_DEPTH_MAX);
    if (a->kind != b->kind || a->length != b->length || a->scale != b->scale ||
        a->children != b->children || (with_nullability && a->is_nullable != b->is_nullable)) {
        return false;
    }
    if (!a->class_name != !b->class_name ||
        (a->class_name && strcmp(a->class_name, b->class_name) != 0)) {
        return false;
    }
    for (uint32_t i = 0; i < a->children; i++) {
        const struct sr_field *x = &a->child[i];
        const struct sr_field *y = &b->child[i];
        if ((a->kind == SR_ROW && strcmp(x->name, y->name) != 0) ||
            !type_equal_at(&x->type, &y->type, with_nullability, depth + 1)) {
            return false;
        }
    }
    return true;
}

bool type_equal(const struct sr_type *a, const struct sr_type *b, bool with_nullability)
{
    return type_equal_at(a, b, with_nullability, 0);
}

/* NOLINTNEXTLINE(misc-no-recursion): bounded by TYPE_DEPTH_MAX */
static struct sr_type type_copy_at(struct arena *a, const struct sr_type *t, uint32_t depth)
{
    sr_assert(depth <= TYPE_DEPTH_MAX);
    struct sr_type out = *t;
    out.class_name = t->class_name ? arena_text(a, t->class_name) : NULL;
    if (t->children == 0) {
        return out;
    }
    struct sr_field *child = arena_array(a, t->children, sizeof(*child));
    out.child = child;
    if (!child) {
        out.children = 0; /* arena_is_broken tells */
        return out;
    }
    for (uint32_t i = 0; i < t->children; i++) {
        child[i].name = arena_text(a, t->child[i].name);
        child[i].type = type_copy_at(a, &t->child[i].type, depth + 1);
    }
    return out;
}

struct sr_type type_copy(struct arena *a, const struct sr_type *t) { return type_copy_at(a, t, 0); }

struct sr_schema *schema_copy(struct arena *a, const struct sr_schema *s)
{
    struct sr_schema *out = arena_copy(a, s, sizeof(*s));
    struct sr_field *field = arena_array(a, s->fields, sizeof(*field));
    uint32_t *key = arena_array(a, s->keys, sizeof(*key));
    if (!out || !field || !key) {
        return NULL;
    }
    for (uint32_t i = 0; i < s->fields; i++) {
        field[i].name = arena_text(a, s->field[i].name);
        field[i].type = type_copy(a, &s->field[i].type);
    }
    for (uint32_t i = 0; i < s->keys; i++) {
        key[i] = s->key[i];
    }
    out->field = field;
    out->key = key;
    return arena_is_broken(a) ? NULL : out;
}

int32_t schema_find(const struct sr_schema *s, const char *name)
{
    for (uint32_t i = 0; i < s->fields; i++) {
        if (strcmp(s->field[i].name, name) == 0) {
            return (int32_t)i;
        }
    }
    return -1;
}

bool schema_equal(const struct sr_schema *a, const struct sr_schema *b)
{
    if (a->fields != b->fields || a->rowtime != b->rowtime || a->keys != b->keys) {
        return false;
    }
    for (uint32_t i = 0; i < a->fields; i++) {
        if (strcmp(a->field[i].name, b->field[i].name) != 0 ||
            !type_equal(&a->field[i].type, &b->field[i].type, true)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < a->keys; i++) {
        if (a->key[i] != b->key[i]) {
            return false;
        }
    }
    return true;
}
