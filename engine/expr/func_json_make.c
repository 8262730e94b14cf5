/* JSON_OBJECT, JSON_ARRAY, JSON, JSON_STRING, JSON_QUOTE, JSON_UNQUOTE: making JSON text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/data/schema.h"
#include "engine/expr/family.h"
#include "engine/expr/json_write.h"
#include "engine/expr/program.h"
#include "engine/expr/promote.h"
#include "engine/expr/utf8.h"

struct json_made {
    struct json_out out;
    bool is_absent;              /* what is NULL is left out */
    bool is_json[CALL_ARGS_MAX]; /* the argument is JSON already */
};

/* What another of these functions made goes in as it is. */
static bool json_is_made(const struct expr *e)
{
    return e && e->kind == EXPR_CALL && e->func &&
           (strcmp(e->func->name, "JSON_OBJECT") == 0 || strcmp(e->func->name, "JSON_ARRAY") == 0 ||
            strcmp(e->func->name, "JSON") == 0);
}

static sr_rc json_made_prepare(const struct expr *e, void **state, struct sr_error *err)
{
    struct json_made *m = calloc(1, sizeof(*m));
    *state = m;
    if (!m) {
        return error_set(err, SR_ENOMEM, "out of memory");
    }
    const struct expr *nulls = e->args > 0 ? e->arg[0] : NULL;
    m->is_absent =
        nulls && nulls->kind == EXPR_LITERAL && nulls->text_len == 6; /* ABSENT, not NULL */
    for (uint32_t i = 0; i < e->args && i < CALL_ARGS_MAX; i++) {
        m->is_json[i] = json_is_made(e->arg[i]);
    }
    return SR_OK;
}

static void json_made_release(void *state)
{
    struct json_made *m = state;
    if (m) {
        json_out_done(&m->out);
        free(m);
    }
}

static void json_put_argument(struct call *k, uint32_t i, uint32_t r)
{
    struct json_made *m = k->state;
    if (m->is_json[i] && valid_bit(k->arg[i]->valid, r)) {
        uint32_t len;
        const char *s = call_get(k, i, r, &len);
        json_put(&m->out, s, len);
    } else {
        json_write_value(&m->out, k->arg[i], r);
    }
}

static void json_made_give(struct call *k, uint32_t r)
{
    struct json_made *m = k->state;
    if (m->out.is_broken) {
        call_broken(k, SR_ENOMEM);
    } else {
        call_text(k, r, m->out.bytes ? m->out.bytes : "", m->out.len);
    }
}

/* Argument 0 says what NULL is; then a value, or key and value, each. */
static void json_made_run(struct call *k, bool is_object)
{
    struct json_made *m = k->state;
    uint32_t step = is_object ? 2 : 1;
    CALL_EACH_ROW(k, r)
    {
        m->out.len = 0;
        json_put(&m->out, is_object ? "{" : "[", 1);
        for (uint32_t i = 1; i + step <= k->args; i += step) {
            uint32_t value = i + step - 1, len;
            if (m->is_absent && !valid_bit(k->arg[value]->valid, r)) {
                continue;
            }
            json_put(&m->out, ",", m->out.len > 1 ? 1 : 0);
            if (is_object) {
                const char *key = call_get(k, i, r, &len);
                json_put_quoted(&m->out, key, len);
                json_put(&m->out, ":", 1);
            }
            json_put_argument(k, value, r);
        }
        json_put(&m->out, is_object ? "}" : "]", 1);
        json_made_give(k, r);
    }
}
static void json_object_run(struct call *k) { json_made_run(k, true); }
static void json_array_run(struct call *k) { json_made_run(k, false); }

static void json_string_run(struct call *k)
{
    struct json_made *m = k->state;
    CALL_EACH_ROW(k, r)
    {
        m->out.len = 0;
        json_put_argument(k, 0, r);
        json_made_give(k, r);
    }
}

#define JSON_MADE(name, kernel_flags)                                         \
    static const struct kernel json_k_##name = {.run = json_##name##_run,     \
                                                .flags = kernel_flags,        \
                                                .prepare = json_made_prepare, \
                                                .release = json_made_release};
JSON_MADE(object, KERNEL_NULLS)
JSON_MADE(array, KERNEL_NULLS)
JSON_MADE(string, 0)

/* --- Text that is JSON already. --------------------------------------------------------------- */

struct json_reread {
    struct json_tree tree;
    struct json_out out;
};

static sr_rc json_reread_prepare(const struct expr *e, void **state, struct sr_error *err)
{
    (void)e;
    *state = calloc(1, sizeof(struct json_reread));
    return *state ? SR_OK : error_set(err, SR_ENOMEM, "out of memory");
}

static void json_reread_release(void *state)
{
    struct json_reread *j = state;
    if (j) {
        json_tree_done(&j->tree);
        json_out_done(&j->out);
        free(j);
    }
}

/* Blanks only are no value, as in Flink. */
static void json_reread_row(struct call *k, uint32_t r)
{
    struct json_reread *j = k->state;
    uint32_t len, blank = 0;
    const char *s = call_get(k, 0, r, &len);
    for (; blank < len && strchr(" \t\r\n", s[blank]) && s[blank] != '\0'; blank++) {
    }
    if (blank == len) {
        call_null(k, r);
        return;
    }
    uint32_t root = json_read(&j->tree, s, len);
    j->out.len = 0;
    if (root) {
        json_put_node(&j->out, &j->tree, root);
    }
    if (j->tree.is_broken || j->out.is_broken) {
        call_broken(k, SR_ENOMEM);
    } else if (!root) {
        call_fail(k, r, "JSON takes text that is JSON, this is none: %.*s",
                  (int)(len < 60 ? len : 60), s);
    } else {
        call_text(k, r, j->out.bytes, j->out.len);
    }
}

static void json_reread_run(struct call *k)
{
    CALL_EACH_ROW(k, r) { json_reread_row(k, r); }
}
static const struct kernel json_k_reread = {.run = json_reread_run,
                                            .flags = KERNEL_FAILS,
                                            .prepare = json_reread_prepare,
                                            .release = json_reread_release};

/* --- Quotes. ---------------------------------------------------------------------------------- */

/* Bytes that stand for themselves. */
static uint32_t json_plain_run(const char *s, uint32_t len)
{
    uint32_t n = 0;
    while (n < len && s[n] >= ' ' && s[n] <= '~' && s[n] != '"' && s[n] != '\\' && s[n] != '/') {
        n++;
    }
    return n;
}

/* As Flink does it: characters beyond ASCII as \u and hexadecimal digits, / as \/. One beyond the
 * first plane is all its digits and then its second half, which no reader understands. */
static void json_put_ascii(struct json_out *o, const char *s, uint32_t len)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    json_put(o, "\"", 1);
    for (uint32_t i = 0, n; i < len; i += n) {
        n = json_plain_run(s + i, len - i);
        if (n > 0) { /* as many as there are, at once */
            json_put(o, s + i, n);
            continue;
        }
        n = utf8_size(s + i, len - i);
        const char *value = s[i] ? strchr(values, s[i]) : NULL;
        char text[32];
        if (value) {
            json_put(o, "\\", 1);
            json_put(o, names + (value - values), 1);
        } else if (n == 1) {
            json_put(o, s + i, 1);
        } else {
            static const uint8_t mask[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
            uint32_t v = (uint8_t)s[i] & mask[n];
            for (uint32_t j = 1; j < n; j++) {
                v = v << 6 | ((uint8_t)s[i + j] & 0x3F);
            }
            int m = v < 0x10000 ? snprintf(text, sizeof(text), "\\u%04x", v)
                                : snprintf(text, sizeof(text), "\\u%04x\\u%04x", v,
                                           0xDC00 + ((v - 0x10000) & 0x3FF));
            json_put(o, text, m > 0 ? (size_t)m : 0);
        }
    }
    json_put(o, "\"", 1);
}

static void json_quote_run(struct call *k)
{
    struct json_made *m = k->state;
    CALL_EACH_ROW(k, r)
    {
        uint32_t len;
        const char *s = call_get(k, 0, r, &len);
        m->out.len = 0;
        json_put_ascii(&m->out, s, len);
        json_made_give(k, r);
    }
}

static void json_unquote_run(struct call *k)
{
    struct json_made *m = k->state;
    CALL_EACH_ROW(k, r)
    {
        uint32_t len;
        const char *s = call_get(k, 0, r, &len);
        bool is_quoted = len >= 2 && s[0] == '"' && s[len - 1] == '"';
        m->out.len = 0;
        if (!is_quoted || !json_put_unescaped(&m->out, s + 1, len - 2)) {
            m->out.len = 0;
            json_put(&m->out, s, len);
        }
        json_made_give(k, r);
    }
}
JSON_MADE(quote, 0)
JSON_MADE(unquote, 0)

/* --- Typing. ---------------------------------------------------------------------------------- */

static bool json_refuse(struct bind_call *b, const struct expr *e)
{
    return bind_fails(b, "%s has no JSON in %s: cast it to STRING", type_text(b->arena, &e->type),
                      b->func->name);
}

/* By key; of the same key the later one goes behind. */
static int json_pair_order(const struct expr *a, const struct expr *b)
{
    uint32_t n = a->text_len < b->text_len ? a->text_len : b->text_len;
    int order = n > 0 ? memcmp(a->text, b->text, n) : 0;
    return order != 0 ? order : (a->text_len > b->text_len) - (a->text_len < b->text_len);
}

/* Puts a pair where it belongs among `n` arguments that are in order already; answers how many
 * there are then. */
static uint32_t json_insert(const struct expr **arg, uint32_t n, const struct expr *key,
                            const struct expr *value)
{
    uint32_t at = n;
    while (at > 1 && json_pair_order(arg[at - 2], key) > 0) {
        arg[at] = arg[at - 2];
        arg[at + 1] = arg[at - 1];
        at -= 2;
    }
    if (at > 1 && json_pair_order(arg[at - 2], key) == 0) {
        memmove(&arg[at], &arg[at + 2], (n - at) * sizeof(const struct expr *));
        arg[at - 1] = value;
        return n;
    }
    arg[at] = key;
    arg[at + 1] = value;
    return n + 2;
}

static bool json_bind_object(struct bind_call *b)
{
    const struct expr **arg = expr_array(b->arena, b->args + 2);
    uint32_t n = 1;
    if (!arg || b->args % 2 != 1) {
        return false;
    }
    arg[0] = b->arg[0];
    for (uint32_t i = 1; i < b->args; i += 2) {
        const struct expr *key = program_fold_early(b->arena, b->arg[i]);
        if (!sr_is_text(key->type.kind) || key->kind != EXPR_LITERAL || key->is_null) {
            return bind_fails(b, "a key of JSON_OBJECT is a constant text");
        }
        if (!json_can_write(&b->arg[i + 1]->type)) {
            return json_refuse(b, b->arg[i + 1]);
        }
        n = json_insert(arg, n, key, b->arg[i + 1]);
    }
    b->arg = arg;
    b->args = n;
    b->type = type_nullable(type_with(SR_VARCHAR, SR_LENGTH_MAX, 0), false);
    b->kernel = &json_k_object;
    return true;
}

static bool json_bind_array(struct bind_call *b)
{
    for (uint32_t i = 1; i < b->args; i++) {
        if (!json_can_write(&b->arg[i]->type)) {
            return json_refuse(b, b->arg[i]);
        }
    }
    b->type = type_nullable(type_with(SR_VARCHAR, SR_LENGTH_MAX, 0), false);
    b->kernel = &json_k_array;
    return true;
}

static bool json_bind_reread(struct bind_call *b)
{
    b->type = type_nullable(type_with(SR_VARCHAR, SR_LENGTH_MAX, 0), true);
    b->kernel = &json_k_reread;
    if (b->arg[0]->type.kind == SR_NULL) {
        b->whole = expr_cast(b->arena, b->arg[0], &b->type, false, b->err);
        return b->whole != NULL;
    }
    return sr_is_text(b->arg[0]->type.kind);
}

static bool json_bind_string(struct bind_call *b)
{
    b->type = type_nullable(type_with(SR_VARCHAR, SR_LENGTH_MAX, 0), b->arg[0]->type.is_nullable);
    if (b->arg[0]->type.kind == SR_NULL) {
        b->whole = expr_cast(b->arena, b->arg[0], &b->type, false, b->err);
        return b->whole != NULL;
    }
    b->kernel = &json_k_string;
    return json_can_write(&b->arg[0]->type) || json_refuse(b, b->arg[0]);
}

#define JSON_MAKE(title, low, high, binds, form, words)                                         \
    {                                                                                           \
        .name = title, .family = "json", .bind = binds, .min = low, .max = high, .forms = form, \
        .doc = words                                                                            \
    }
#define JSON_TEXT(title, k, form, words)                                                       \
    {                                                                                          \
        .name = title, .family = "json", .bind = bind_simple, .min = 1, .max = 1, .args = "s", \
        .result = RESULT_STRING, .kernel = &k, .forms = form, .doc = words                     \
    }

static const struct func json_make_funcs[] = {
    JSON_MAKE(
        "JSON_OBJECT", 1, CALL_ARGS_MAX, json_bind_object,
        "JSON_OBJECT([[KEY] key VALUE value | key : value], ... [{NULL | ABSENT} ON NULL]) -> "
        "STRING",
        "A JSON object of constant keys, in their order. NULL is written as null unless "
        "ABSENT ON NULL is said."),
    JSON_MAKE("JSON_ARRAY", 1, CALL_ARGS_MAX, json_bind_array,
              "JSON_ARRAY([value, ...] [{NULL | ABSENT} ON NULL]) -> STRING",
              "A JSON array of the values. NULL is left out unless NULL ON NULL is said."),
    JSON_MAKE("JSON_STRING", 1, 1, json_bind_string, "JSON_STRING(value) -> STRING",
              "The value as JSON; NULL for NULL."),
    {.name = "JSON",
     .family = "json",
     .bind = json_bind_reread,
     .min = 1,
     .max = 1,
     .forms = "JSON(json STRING), as a value of JSON_OBJECT or JSON_ARRAY",
     .doc = "The text goes in as the JSON that it is, not as a text in quotes; blank text is NULL, "
            "and text that is no JSON is an error."},
    JSON_TEXT("JSON_QUOTE", json_k_quote, "JSON_QUOTE(text STRING) -> STRING",
              "The text as a JSON text: in double quotes, with what is special escaped."),
    JSON_TEXT("JSON_UNQUOTE", json_k_unquote, "JSON_UNQUOTE(json STRING) -> STRING",
              "The text that a JSON text stands for; anything else as it is."),
};

const struct func_family func_json_make = {json_make_funcs,
                                           sizeof(json_make_funcs) / sizeof(json_make_funcs[0])};
