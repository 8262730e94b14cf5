/* JSON_VALUE, JSON_QUERY, JSON_EXISTS, IS JSON: looking into JSON text. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/data/schema.h"
#include "engine/expr/family.h"
#include "engine/expr/json_path.h"
#include "engine/expr/nest.h"
#include "engine/expr/number.h"
#include "engine/expr/promote.h"

/* What is answered instead of nothing, or of a failure. */
enum json_instead {
    JSON_GIVE_NULL,
    JSON_GIVE_ERROR,
    JSON_GIVE_DEFAULT,
    JSON_GIVE_TRUE,
    JSON_GIVE_FALSE,
    JSON_GIVE_ARRAY,
    JSON_GIVE_OBJECT
};

enum json_wrapper { JSON_BARE, JSON_WRAPPED, JSON_WRAPPED_UNLESS_ARRAY };

/* Arguments as the grammar writes them; those behind the path are literals but for the defaults. */
enum json_arg {
    JSON_IN,
    JSON_AT,
    JSON_ON_EMPTY,
    JSON_ON_ERROR,
    JSON_EMPTY,
    JSON_ERROR,
    JSON_TYPE,
    JSON_WRAPPER,
    JSON_ARGS
};

struct json_look {
    struct json_tree tree;
    struct json_path path;
    struct json_out out;
    enum json_instead on_empty, on_error;
    enum json_wrapper wrapper;
};

static bool json_word_is(const struct expr *e, const char *word)
{
    return strlen(word) == e->text_len && memcmp(word, e->text, e->text_len) == 0;
}

static enum json_instead json_instead_of(const struct expr *e)
{
    static const char *const words[] = {"NULL",  "ERROR",       "DEFAULT",     "TRUE",
                                        "FALSE", "EMPTY ARRAY", "EMPTY OBJECT"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (json_word_is(e, words[i])) {
            return (enum json_instead)i;
        }
    }
    return JSON_GIVE_NULL;
}

static sr_rc json_prepare(const struct expr *e, void **state, struct sr_error *err)
{
    struct json_look *j = calloc(1, sizeof(*j));
    *state = j;
    if (!j) {
        return error_set(err, SR_ENOMEM, "out of memory");
    }
    if (e->args > JSON_WRAPPER) {
        const struct expr *w = e->arg[JSON_WRAPPER];
        j->on_empty = json_instead_of(e->arg[JSON_ON_EMPTY]);
        j->on_error = json_instead_of(e->arg[JSON_ON_ERROR]);
        j->wrapper = json_word_is(w, "UNCONDITIONAL") ? JSON_WRAPPED
                     : json_word_is(w, "CONDITIONAL") ? JSON_WRAPPED_UNLESS_ARRAY
                                                      : JSON_BARE;
    }
    return SR_OK;
}

static void json_release(void *state)
{
    struct json_look *j = state;
    if (j) {
        json_tree_done(&j->tree);
        json_path_done(&j->path);
        json_out_done(&j->out);
        free(j);
    }
}

/* --- Looking. --------------------------------------------------------------------------------- */

/* The node that the path leads to in the text of row r; 0: to none. *why is set when that is a
 * failure: the text is no JSON, the path none, or in strict mode leads nowhere. */
static uint32_t json_look(struct call *k, uint32_t r, const char **why)
{
    struct json_look *j = k->state;
    uint32_t len, path_len;
    const char *s = call_get(k, JSON_IN, r, &len), *path = call_get(k, JSON_AT, r, &path_len);
    *why = NULL;
    if (memmem(path, path_len, "[?", 2)) {
        call_fail(k, r, "filters in JSON paths, [?(...)], are not supported");
        return 0;
    }
    if (!json_path_use(&j->path, path, path_len)) {
        *why = "the path is none";
        return 0;
    }
    uint32_t root = json_read(&j->tree, s, len);
    uint32_t node = root ? json_path_find(&j->path, &j->tree, root) : 0;
    if (j->tree.is_broken) {
        call_broken(k, SR_ENOMEM);
    } else if (root == 0) {
        *why = "the text is no JSON";
    } else if (j->path.is_over) {
        *why = "the path leads to too many values";
    } else if (node == 0 && !j->path.is_lax) {
        *why = "the path leads nowhere";
    }
    return node && j->tree.node[node].kind == JSON_NULL ? 0 : node;
}

static bool json_is_scalar(const struct json_look *j, uint32_t node)
{
    return j->tree.node[node].kind < JSON_ARRAY;
}

/* The row has nothing to give: NULL or a failure. False: something else stands instead. */
static bool json_nothing(struct call *k, uint32_t r, enum json_instead instead, const char *why)
{
    if (instead == JSON_GIVE_ERROR) {
        call_fail(k, r, "%s: %s", "JSON",
                  why ? why : "there is no value, or it is not of the kind");
        return true;
    }
    if (instead == JSON_GIVE_NULL) {
        call_null(k, r);
    }
    return instead == JSON_GIVE_NULL;
}

/* --- JSON_VALUE. ------------------------------------------------------------------------------ */

static void json_copy_default(struct call *k, uint32_t r, uint32_t arg)
{
    const struct sr_column *c = k->arg[arg];
    uint32_t len, size = sr_value_size(&c->type);
    if (!valid_bit(c->valid, r)) {
        call_null(k, r);
    } else if (sr_is_string(c->type.kind)) {
        const char *s = call_get(k, arg, r, &len);
        call_text(k, r, s, len);
    } else {
        memcpy((uint8_t *)k->out->values + (size_t)r * size,
               (const uint8_t *)c->values + (size_t)r * size, size);
    }
}

static void json_give_text(struct call *k, uint32_t r, const struct json_node *n)
{
    struct json_look *j = k->state;
    bool is_good = true;
    j->out.len = 0;
    if (n->kind == JSON_STRING) {
        is_good = json_put_unescaped(&j->out, n->text, n->len);
    } else if (n->kind == JSON_NUMBER) {
        json_put_number(&j->out, n->text, n->len);
    } else {
        json_put(&j->out, n->text, n->len);
    }
    if (j->out.is_broken || !is_good) {
        call_broken(k, SR_ENOMEM);
    } else {
        call_text(k, r, j->out.bytes ? j->out.bytes : "", j->out.len);
    }
}

static bool json_is_whole(const struct json_node *n)
{
    return !memchr(n->text, '.', n->len) && !memchr(n->text, 'e', n->len) &&
           !memchr(n->text, 'E', n->len);
}

/* A scalar as the type that is asked for, if it is one of that very kind. */
static void json_give(struct call *k, uint32_t r, const struct json_node *n)
{
    enum sr_kind kind = k->out->type.kind;
    if (sr_is_text(kind)) {
        json_give_text(k, r, n);
        return;
    }
    char digits[16] = {0};
    double real;
    bool is_good = false;
    if (kind == SR_BOOLEAN) {
        is_good = n->kind == JSON_TRUE || n->kind == JSON_FALSE;
        ((uint8_t *)k->out->values)[r] = n->kind == JSON_TRUE;
    } else if (kind == SR_INT && n->kind == JSON_NUMBER && json_is_whole(n) &&
               n->len < sizeof(digits)) {
        memcpy(digits, n->text, n->len);
        long long v = strtoll(digits, NULL, 10);
        is_good = v >= INT32_MIN && v <= INT32_MAX;
        ((int32_t *)k->out->values)[r] = (int32_t)v;
    } else if (kind == SR_DOUBLE && n->kind == JSON_NUMBER && !json_is_whole(n)) {
        is_good = number_parse_double(n->text, n->len, &real);
        ((double *)k->out->values)[r] = is_good ? real : 0;
    }
    if (!is_good) {
        call_fail(k, r, "JSON_VALUE: '%.*s' is not %s", (int)(n->len < 60 ? n->len : 60), n->text,
                  kind == SR_INT       ? "an INT"
                  : kind == SR_BOOLEAN ? "a BOOLEAN"
                                       : "a DOUBLE, which has a point or an exponent");
    }
}

static void json_value_row(struct call *k, uint32_t r)
{
    struct json_look *j = k->state;
    const char *why;
    uint32_t node = json_look(k, r, &why);
    bool is_empty = !why && j->path.is_lax && (node == 0 || !json_is_scalar(j, node));
    if (!why && node && json_is_scalar(j, node)) {
        json_give(k, r, &j->tree.node[node]);
    } else if (!json_nothing(k, r, is_empty ? j->on_empty : j->on_error, why)) {
        json_copy_default(k, r, is_empty ? JSON_EMPTY : JSON_ERROR);
    }
}

/* NULL input or path: NULL. The defaults may be NULL without that. */
static bool json_has_input(struct call *k, uint32_t r)
{
    bool has = valid_bit(k->arg[JSON_IN]->valid, r) && valid_bit(k->arg[JSON_AT]->valid, r);
    if (!has) {
        call_null(k, r);
    }
    return has;
}

static void json_value(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        if (json_has_input(k, r)) {
            json_value_row(k, r);
        }
    }
}

/* --- JSON_QUERY, JSON_EXISTS. ----------------------------------------------------------------- */

static void json_give_node(struct call *k, uint32_t r, uint32_t node, bool is_wrapped)
{
    struct json_look *j = k->state;
    j->out.len = 0;
    json_put(&j->out, "[", is_wrapped ? 1 : 0);
    json_put_node(&j->out, &j->tree, node);
    json_put(&j->out, "]", is_wrapped ? 1 : 0);
    if (j->out.is_broken) {
        call_broken(k, SR_ENOMEM);
    } else {
        call_text(k, r, j->out.bytes, j->out.len);
    }
}

/* --- JSON_QUERY RETURNING ARRAY<STRING>: elements as text, JSON null as NULL. */

static void json_add(struct call *k, uint32_t r, uint32_t node)
{
    struct json_look *j = k->state;
    const struct json_node *n = &j->tree.node[node];
    bool is_null = n->kind == JSON_NULL;
    j->out.len = 0;
    if (n->kind == JSON_STRING) {
        (void)json_put_unescaped(&j->out, n->text, n->len);
    } else {
        json_put_node(&j->out, &j->tree, node);
    }
    const char *bytes = is_null ? NULL : j->out.bytes ? j->out.bytes : "";
    if (j->out.is_broken ||
        !nest_append_text(k->home, k->out, 0, bytes, is_null ? 0 : j->out.len)) {
        call_broken(k, SR_ENOMEM);
    }
    ((struct sr_span *)k->out->values)[r].len++;
}

/* False: the node is no array. Node 0 is an empty one. */
static bool json_give_array(struct call *k, uint32_t r, uint32_t node, bool is_wrapped)
{
    struct json_look *j = k->state;
    if (node && !is_wrapped && j->tree.node[node].kind != JSON_ARRAY) {
        return false;
    }
    call_span(k, r, k->out->child[0]->rows, 0);
    if (is_wrapped) {
        json_add(k, r, node);
        return true;
    }
    for (uint32_t i = node ? j->tree.node[node].first : 0; i; i = j->tree.node[i].next) {
        json_add(k, r, i);
    }
    return true;
}

static void json_give_empty(struct call *k, uint32_t r, enum json_instead instead)
{
    if (k->out->type.kind == SR_ARRAY) {
        (void)json_give_array(k, r, 0, false);
    } else {
        call_text(k, r, instead == JSON_GIVE_ARRAY ? "[]" : "{}", 2);
    }
}

static void json_query_row(struct call *k, uint32_t r)
{
    struct json_look *j = k->state;
    const char *why;
    uint32_t node = json_look(k, r, &why);
    bool is_array = node && j->tree.node[node].kind == JSON_ARRAY;
    bool is_wrapped = node && (j->wrapper == JSON_WRAPPED ||
                               (j->wrapper == JSON_WRAPPED_UNLESS_ARRAY && !is_array));
    bool is_scalar = node && !is_wrapped && json_is_scalar(j, node);
    bool is_empty = !why && j->path.is_lax && (node == 0 || is_scalar);
    enum json_instead instead = is_empty ? j->on_empty : j->on_error;
    bool is_good = !why && node && !is_scalar;
    if (is_good && k->out->type.kind == SR_ARRAY) {
        if (!json_give_array(k, r, node, is_wrapped) && !json_nothing(k, r, j->on_error, NULL)) {
            (void)json_give_array(k, r, 0, false);
        }
    } else if (is_good) {
        json_give_node(k, r, node, is_wrapped);
    } else if (!json_nothing(k, r, instead, why)) {
        json_give_empty(k, r, instead);
    }
}

static void json_query(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        if (json_has_input(k, r)) {
            json_query_row(k, r);
        }
    }
}

static void json_exists(struct call *k)
{
    struct json_look *j = k->state;
    uint8_t *to = k->out->values;
    CALL_EACH_ROW(k, r)
    {
        const char *why;
        if (!json_has_input(k, r)) {
            continue;
        }
        uint32_t node = json_look(k, r, &why);
        if (!why) {
            to[r] = node != 0;
        } else if (!json_nothing(k, r, j->on_error, why)) {
            to[r] = j->on_error == JSON_GIVE_TRUE;
        }
    }
}

#define JSON_KERNEL(name)                                                             \
    static const struct kernel json_k_##name = {.run = json_##name,                   \
                                                .flags = KERNEL_FAILS | KERNEL_NULLS, \
                                                .prepare = json_prepare,              \
                                                .release = json_release};
JSON_KERNEL(value)
JSON_KERNEL(query)
JSON_KERNEL(exists)

/* --- IS JSON. --------------------------------------------------------------------------------- */

static void json_is(struct call *k, bool (*is)(enum json_kind))
{
    struct json_look *j = k->state;
    uint8_t *to = k->out->values;
    CALL_EACH_ROW(k, r)
    {
        uint32_t len;
        const char *s = call_get(k, 0, r, &len);
        uint32_t root = valid_bit(k->arg[0]->valid, r) ? json_read(&j->tree, s, len) : 0;
        to[r] = root && is(j->tree.node[root].kind);
        if (j->tree.is_broken) {
            call_broken(k, SR_ENOMEM);
        }
    }
}
static bool json_kind_any(enum json_kind kind) { return kind <= JSON_OBJECT; }
static bool json_kind_scalar(enum json_kind kind) { return kind < JSON_ARRAY; }
static bool json_kind_array(enum json_kind kind) { return kind == JSON_ARRAY; }
static bool json_kind_object(enum json_kind kind) { return kind == JSON_OBJECT; }
static void json_is_any(struct call *k) { json_is(k, json_kind_any); }
static void json_is_scalar_text(struct call *k) { json_is(k, json_kind_scalar); }
static void json_is_array(struct call *k) { json_is(k, json_kind_array); }
static void json_is_object(struct call *k) { json_is(k, json_kind_object); }

/* By `data` of the row. */
#define JSON_IS(name)                                                                        \
    {                                                                                        \
        .run = name, .flags = KERNEL_NULLS, .prepare = json_prepare, .release = json_release \
    }
static const struct kernel json_k_is[] = {JSON_IS(json_is_any), JSON_IS(json_is_scalar_text),
                                          JSON_IS(json_is_array), JSON_IS(json_is_object)};

static bool json_bind_is(struct bind_call *b)
{
    b->type = type_nullable(type_of(SR_BOOLEAN), false);
    b->kernel = &json_k_is[b->func->data];
    return sr_is_text(b->arg[0]->type.kind);
}

/* --- Typing. ---------------------------------------------------------------------------------- */

/* What stands for argument i where a plain call leaves it out. */
static const struct expr *json_left_out(struct bind_call *b, uint32_t i, const char *on_error)
{
    const char *words = i == JSON_ON_EMPTY ? "NULL" : i == JSON_ON_ERROR ? on_error : "";
    if (i == JSON_ON_EMPTY || i == JSON_ON_ERROR || i == JSON_WRAPPER) {
        return expr_string(b->arena, words, (uint32_t)strlen(words));
    }
    struct sr_type text = type_with(SR_VARCHAR, SR_LENGTH_MAX, 0);
    return expr_cast(b->arena, expr_null(b->arena), &text, false, b->err);
}

static bool json_fill(struct bind_call *b, const char *on_error)
{
    const struct expr *path = b->arg[JSON_AT];
    if (path->text && memmem(path->text, path->text_len, "[?", 2)) {
        return bind_fails(b, "filters in JSON paths, [?(...)], are not supported");
    }
    const struct expr **arg = expr_array(b->arena, JSON_ARGS);
    bool is_json = sr_is_text(b->arg[0]->type.kind) || b->arg[0]->type.kind == SR_VARIANT;
    if (!arg || !is_json || !sr_is_text(b->arg[1]->type.kind)) {
        return false;
    }
    for (uint32_t i = 0; i < JSON_ARGS; i++) {
        arg[i] = i < b->args ? b->arg[i] : json_left_out(b, i, on_error);
        if (!arg[i]) {
            return false;
        }
    }
    b->arg = arg;
    b->args = JSON_ARGS;
    return true;
}

static bool json_bind_value(struct bind_call *b)
{
    if (!json_fill(b, "NULL")) {
        return false;
    }
    struct sr_type type = b->arg[JSON_TYPE]->type;
    enum sr_kind kind = type.kind;
    if (!sr_is_text(kind) && kind != SR_BOOLEAN && kind != SR_INT && kind != SR_DOUBLE) {
        return bind_fails(b, "JSON_VALUE can return STRING, BOOLEAN, INT and DOUBLE, not %s",
                          type_text(b->arena, &type));
    }
    for (uint32_t i = JSON_EMPTY; i <= JSON_ERROR; i++) {
        b->arg[i] = expr_cast(b->arena, b->arg[i], &type, false, b->err);
        if (!b->arg[i]) {
            b->is_said = true;
            return false;
        }
    }
    b->type = type_nullable(type, true);
    b->kernel = &json_k_value;
    return true;
}

static bool json_bind_query(struct bind_call *b)
{
    if (!json_fill(b, "NULL")) {
        return false;
    }
    b->type = type_nullable(b->arg[JSON_TYPE]->type, true);
    b->kernel = &json_k_query;
    bool is_array = b->type.kind == SR_ARRAY && b->type.child[0].type.kind == SR_VARCHAR;
    for (uint32_t i = JSON_ON_EMPTY; is_array && i <= JSON_ON_ERROR; i++) {
        if (json_word_is(b->arg[i], "EMPTY OBJECT")) {
            return bind_fails(b, "EMPTY OBJECT is no ARRAY: write EMPTY ARRAY");
        }
    }
    return sr_is_text(b->type.kind) || is_array ||
           bind_fails(b, "JSON_QUERY can return STRING and ARRAY<STRING>, not %s",
                      type_text(b->arena, &b->type));
}

static bool json_bind_exists(struct bind_call *b)
{
    if (!json_fill(b, "FALSE")) {
        return false;
    }
    b->type = type_nullable(type_of(SR_BOOLEAN), true);
    b->kernel = &json_k_exists;
    return true;
}

#define JSON_ROW(title, low, high, binds, what, form, words)                                   \
    {                                                                                          \
        .name = title, .family = "json", .bind = binds, .min = low, .max = high, .data = what, \
        .forms = form, .doc = words                                                            \
    }

static const struct func json_funcs[] = {
    JSON_ROW("JSON_VALUE", 2, JSON_ARGS, json_bind_value, 0,
             "JSON_VALUE(json STRING, path STRING [RETURNING type] [{NULL | ERROR | DEFAULT value} "
             "ON EMPTY] [{NULL | ERROR | DEFAULT value} ON ERROR])",
             "The scalar at the path, as STRING, BOOLEAN, INT or DOUBLE. In strict mode, the "
             "default, a path that leads nowhere is an error; in 'lax $.a' the value is empty."),
    JSON_ROW("JSON_QUERY", 2, JSON_ARGS, json_bind_query, 0,
             "JSON_QUERY(json STRING, path STRING [{WITHOUT | WITH [CONDITIONAL]} WRAPPER] "
             "[{NULL | ERROR | EMPTY ARRAY | EMPTY OBJECT} ON EMPTY] [... ON ERROR]) -> STRING",
             "The array or object at the path, as JSON with its keys in order; with RETURNING "
             "ARRAY<STRING> in front of the wrapper an array as one, each element as text."),
    JSON_ROW("JSON_EXISTS", 2, JSON_ARGS, json_bind_exists, 0,
             "JSON_EXISTS(json STRING, path STRING [{TRUE | FALSE | UNKNOWN | ERROR} ON ERROR]) -> "
             "BOOLEAN",
             "Whether there is a value at the path that is not null."),
    JSON_ROW("IS JSON", 1, 1, json_bind_is, 0, "text IS [NOT] JSON [VALUE] -> BOOLEAN",
             "Whether the text is JSON; FALSE for NULL."),
    JSON_ROW("IS JSON SCALAR", 1, 1, json_bind_is, 1, "text IS [NOT] JSON SCALAR -> BOOLEAN",
             "Whether the text is a JSON text, number, true, false or null."),
    JSON_ROW("IS JSON ARRAY", 1, 1, json_bind_is, 2, "text IS [NOT] JSON ARRAY -> BOOLEAN",
             "Whether the text is a JSON array."),
    JSON_ROW("IS JSON OBJECT", 1, 1, json_bind_is, 3, "text IS [NOT] JSON OBJECT -> BOOLEAN",
             "Whether the text is a JSON object."),
};

const struct func_family func_json = {json_funcs, sizeof(json_funcs) / sizeof(json_funcs[0])};
