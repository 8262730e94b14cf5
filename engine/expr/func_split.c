/* Between texts and collections: SPLIT, ARRAY_JOIN, STR_TO_MAP; and maps as arrays and together. */
#include <string.h>

#include "engine/base/hash.h"
#include "engine/data/pool.h"
#include "engine/data/schema.h"
#include "engine/expr/family.h"
#include "engine/expr/nest.h"
#include "engine/expr/promote.h"
#include "engine/expr/utf8.h"

static bool split_has(const struct call *k, uint32_t i, uint32_t r)
{
    return valid_bit(k->arg[i]->valid, r);
}

/* NULL where an argument is; else the result of row r begins. */
static bool split_begin(struct call *k, uint32_t r)
{
    for (uint32_t i = 0; i < k->args; i++) {
        if (!split_has(k, i, r)) {
            call_null(k, r);
            return false;
        }
    }
    call_span(k, r, k->out->child[0]->rows, 0);
    return true;
}

static void split_check(struct call *k, bool is_good)
{
    if (!is_good) {
        call_broken(k, SR_ENOMEM);
    }
}

/* One more element or entry. */
static void split_count(struct call *k, uint32_t r) { ((struct sr_span *)k->out->values)[r].len++; }

/* The length of the part at s, up to the separator; of '' a character. */
static uint32_t split_part(const char *s, uint32_t len, const char *by, uint32_t by_len)
{
    if (by_len == 0) {
        return len > 0 ? utf8_size(s, len) : 0;
    }
    const char *at = memmem(s, len, by, by_len);
    return at ? (uint32_t)(at - s) : len;
}

static void split_text(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        if (!split_begin(k, r)) {
            continue;
        }
        uint32_t len, by_len, part;
        const char *s = call_get(k, 0, r, &len), *by = call_get(k, 1, r, &by_len);
        for (bool is_more = true; is_more; s += part + by_len, len -= part + by_len) {
            part = split_part(s, len, by, by_len);
            is_more = by_len > 0 ? part < len : part + by_len < len;
            split_check(k, nest_append_text(k->home, k->out, 0, s, part));
            split_count(k, r);
            if (!is_more) {
                break;
            }
        }
    }
}
static const struct kernel split_k_text = {.run = split_text, .flags = KERNEL_NULLS};

static bool split_bind_text(struct bind_call *b)
{
    b->type = nest_type(b->arena, type_with(SR_VARCHAR, SR_LENGTH_MAX, 0), NULL);
    b->type.is_nullable = bind_any_nullable(b);
    b->kernel = &split_k_text;
    return sr_is_text(b->arg[0]->type.kind) && sr_is_text(b->arg[1]->type.kind);
}

/* ARRAY_JOIN(array, separator [, instead of NULL]). */
static void split_join(struct call *k)
{
    struct json_out out = {0};
    CALL_EACH_ROW(k, r)
    {
        struct sr_span s = ((const struct sr_span *)k->arg[0]->values)[r];
        const struct sr_column *c = k->arg[0]->child[0];
        uint32_t by_len, len;
        const char *by = call_get(k, 1, r, &by_len);
        bool is_first = true;
        out.len = 0;
        for (uint32_t i = s.at; i < s.at + s.len; i++) {
            bool has = valid_bit(c->valid, i);
            if (!has && k->args < 3) {
                continue;
            }
            json_put(&out, by, is_first ? 0 : by_len);
            is_first = false;
            if (has) {
                nest_text(&out, c, i, false);
            } else {
                const char *instead = call_get(k, 2, r, &len);
                json_put(&out, instead, len);
            }
        }
        split_check(k, !out.is_broken);
        call_text(k, r, out.bytes ? out.bytes : "", out.len);
    }
    json_out_done(&out);
}
static const struct kernel split_k_join = {.run = split_join};

static bool split_bind_join(struct bind_call *b)
{
    const struct sr_type *t = &b->arg[0]->type;
    for (uint32_t i = 1; i < b->args; i++) {
        if (!sr_is_text(b->arg[i]->type.kind)) {
            return false;
        }
    }
    b->type = type_nullable(type_with(SR_VARCHAR, SR_LENGTH_MAX, 0), bind_any_nullable(b));
    b->kernel = &split_k_join;
    return t->kind == SR_ARRAY && sr_is_text(t->child[0].type.kind);
}

/* --- STR_TO_MAP. ------------------------------------------------------------------------------ */

/* Entries by key while a map is read: places in the result, from 1, by a hash of the key. */
struct split_keys {
    uint32_t *place; /* 0: free */
    uint64_t mask;
};

/* The place of a key in the result of row r, in its slot; a free slot's is 0. */
static uint32_t *split_slot(const struct call *k, const struct split_keys *keys, const char *s,
                            uint32_t len)
{
    const struct sr_column *c = k->out->child[0];
    uint64_t i = hash64(s, len, 0) & keys->mask;
    for (; keys->place[i] != 0; i = (i + 1) & keys->mask) {
        uint32_t key_len;
        const char *key = sr_text(c, keys->place[i] - 1, &key_len);
        if (key_len == len && memcmp(key, s, len) == 0) {
            break;
        }
    }
    return &keys->place[i];
}

/* The value of an entry that is there becomes another. */
static bool split_again(struct call *k, uint32_t at, const char *value, uint32_t len)
{
    struct sr_column *c = k->out->child[1];
    if (!value) {
        column_set_null(c, at);
        return true;
    }
    if (c->valid) {
        c->valid_space[at >> 6] |= UINT64_C(1) << (at & 63);
    }
    return column_put_bytes(k->home, c, at, value, len);
}

/* Puts an entry; of a key that was there before only the value changes. */
static bool split_entry(struct call *k, const struct split_keys *keys, const char *s, uint32_t key,
                        const char *value, uint32_t len)
{
    uint32_t *place = split_slot(k, keys, s, key);
    if (*place != 0) {
        return split_again(k, *place - 1, value, len);
    }
    *place = k->out->child[0]->rows + 1;
    return nest_append_text(k->home, k->out, 0, s, key) &&
           nest_append_text(k->home, k->out, 1, value, len);
}

/* Bytes up to the separator; all when there is none. */
static uint32_t split_until(const char *s, uint32_t len, const char *by, uint32_t by_len)
{
    return by_len > 0 ? split_part(s, len, by, by_len) : len;
}

/* The entries of one text. */
static bool split_entries_of(struct call *k, uint32_t r, const struct split_keys *keys)
{
    uint32_t len, by_len = 1, sign_len = 1, from = k->out->child[0]->rows;
    const char *s = call_get(k, 0, r, &len);
    const char *by = k->args > 1 ? call_get(k, 1, r, &by_len) : ",";
    const char *sign = k->args > 2 ? call_get(k, 2, r, &sign_len) : "=";
    bool is_good = true;
    while (len > 0 && is_good) {
        uint32_t part = split_until(s, len, by, by_len), next = part < len ? part + by_len : len;
        uint32_t key = split_until(s, part, sign, sign_len);
        bool has_value = key < part;
        is_good = split_entry(k, keys, s, key, has_value ? s + key + sign_len : NULL,
                              has_value ? part - key - sign_len : 0);
        s += next;
        len -= next;
    }
    ((struct sr_span *)k->out->values)[r].len = k->out->child[0]->rows - from;
    return is_good;
}

/* How many entries the text has. */
static uint32_t split_parts(const struct call *k, uint32_t r)
{
    uint32_t len, by_len = 1, n = 0;
    const char *s = call_get(k, 0, r, &len);
    const char *by = k->args > 1 ? call_get(k, 1, r, &by_len) : ",";
    for (uint32_t part; len > 0; n++) {
        part = split_until(s, len, by, by_len);
        part += part < len ? by_len : 0;
        s += part;
        len -= part;
    }
    return n;
}

static void split_map(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        if (!split_begin(k, r)) {
            continue;
        }
        uint64_t room = 16, parts = split_parts(k, r);
        while (room < parts * 2) {
            room *= 2;
        }
        struct sr_buffer *b = NULL;
        if (room * sizeof(uint32_t) <= UINT32_MAX) {
            b = buffer_new(k->home, (uint32_t)(room * sizeof(uint32_t)));
        }
        struct split_keys keys = {b ? (uint32_t *)(void *)b->data : NULL, room - 1};
        if (b) {
            memset(keys.place, 0, room * sizeof(uint32_t));
        }
        split_check(k, b && split_entries_of(k, r, &keys));
        buffer_release(b);
    }
}
static const struct kernel split_k_map = {.run = split_map, .flags = KERNEL_NULLS};

static bool split_bind_map(struct bind_call *b)
{
    struct sr_type text = type_with(SR_VARCHAR, SR_LENGTH_MAX, 0);
    for (uint32_t i = 0; i < b->args; i++) {
        if (!sr_is_text(b->arg[i]->type.kind)) {
            return false;
        }
    }
    b->type = nest_type(b->arena, text, &text);
    b->type.is_nullable = true;
    b->kernel = &split_k_map;
    return true;
}

/* --- Maps. ------------------------------------------------------------------------------------ */

/* An array of rows of a key and its value. */
static void split_entries(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        if (!split_begin(k, r)) {
            continue;
        }
        const struct sr_column *a = k->arg[0];
        struct sr_span s = ((const struct sr_span *)a->values)[r];
        for (uint32_t i = s.at; i < s.at + s.len; i++) {
            split_check(k, nest_append_pair(k->home, k->out, a->child[0], a->child[1], i));
            split_count(k, r);
        }
    }
}
static const struct kernel split_k_entries = {.run = split_entries, .flags = KERNEL_NULLS};

static bool split_bind_entries(struct bind_call *b)
{
    const struct sr_type *t = &b->arg[0]->type;
    struct sr_field *field = arena_array(b->arena, 2, sizeof(*field));
    if (t->kind != SR_MAP || !field) {
        return false;
    }
    field[0] = (struct sr_field){"key", t->child[0].type};
    field[1] = (struct sr_field){"value", t->child[1].type};
    struct sr_type row = {.kind = SR_ROW, .is_nullable = true, .children = 2, .child = field};
    b->type = nest_type(b->arena, row, NULL);
    b->type.is_nullable = t->is_nullable;
    b->kernel = &split_k_entries;
    return b->type.kind != SR_NULL;
}

/* Whether a later argument has the key too, whose value counts then. */
static bool split_is_over(const struct call *k, uint32_t i, uint32_t r, uint32_t entry)
{
    for (uint32_t j = i + 1; j < k->args; j++) {
        struct sr_span s = ((const struct sr_span *)k->arg[j]->values)[r];
        for (uint32_t n = s.at; n < s.at + s.len; n++) {
            if (nest_equal(k->arg[i]->child[0], entry, k->arg[j]->child[0], n)) {
                return true;
            }
        }
    }
    return false;
}

/* The entries of one map. */
static void split_union_of(struct call *k, uint32_t i, uint32_t r)
{
    const struct sr_column *a = k->arg[i];
    struct sr_span s = ((const struct sr_span *)a->values)[r];
    for (uint32_t n = s.at; n < s.at + s.len; n++) {
        if (!split_is_over(k, i, r, n)) {
            split_check(k, nest_append(k->home, k->out, 0, a->child[0], n) &&
                               nest_append(k->home, k->out, 1, a->child[1], n));
            split_count(k, r);
        }
    }
}

static void split_union(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        for (uint32_t i = 0, args = split_begin(k, r) ? k->args : 0; i < args; i++) {
            split_union_of(k, i, r);
        }
    }
}
static const struct kernel split_k_union = {.run = split_union, .flags = KERNEL_NULLS};

static bool split_bind_union(struct bind_call *b)
{
    struct sr_type t = b->arg[0]->type;
    for (uint32_t i = 0; i < b->args; i++) {
        if (b->arg[i]->type.kind != SR_MAP || !nest_is_alike(&b->arg[i]->type, &t)) {
            return false;
        }
    }
    t.is_nullable = bind_any_nullable(b);
    b->type = t;
    b->kernel = &split_k_union;
    return true;
}

#define SPLIT_ROW(title, low, high, binds, form, words)                                \
    {                                                                                  \
        .name = title, .family = "collection", .bind = binds, .min = low, .max = high, \
        .forms = form, .doc = words                                                    \
    }

static const struct func split_funcs[] = {
    SPLIT_ROW("SPLIT", 2, 2, split_bind_text,
              "SPLIT(text STRING, separator STRING) -> ARRAY<STRING>",
              "The parts between separators; of an empty separator the characters."),
    SPLIT_ROW("ARRAY_JOIN", 2, 3, split_bind_join,
              "ARRAY_JOIN(array, separator STRING [, instead STRING]) -> STRING",
              "The texts with the separator between them. NULLs are left out, or written as "
              "`instead`."),
    SPLIT_ROW("STR_TO_MAP", 1, 3, split_bind_map,
              "STR_TO_MAP(text STRING [, separator STRING [, sign STRING]]) -> MAP<STRING, STRING>",
              "A map of a=1,b=2; what has no sign is a key without a value."),
    SPLIT_ROW("MAP_ENTRIES", 1, 1, split_bind_entries, "MAP_ENTRIES(map)",
              "The entries as an array of rows of key and value."),
    SPLIT_ROW("MAP_UNION", 1, CALL_ARGS_MAX, split_bind_union, "MAP_UNION(map, ...)",
              "The entries of all maps; of a key that comes in several the last one's value."),
};

const struct func_family func_split = {split_funcs, sizeof(split_funcs) / sizeof(split_funcs[0])};
