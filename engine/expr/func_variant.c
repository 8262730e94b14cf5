/* VARIANT: PARSE_JSON, TRY_PARSE_JSON, and what `variant['key']` and `variant[number]` give.
 *
 * A VARIANT lies in its column as the JSON that it is printed as: no blanks, keys in order, each
 * once, numbers as variant_put_number writes them. So a part of one is a part of its bytes. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/data/schema.h"
#include "engine/expr/decimal.h"
#include "engine/expr/elements.h"
#include "engine/expr/family.h"
#include "engine/expr/json_text.h"
#include "engine/expr/number.h"

/* --- Parsing. --------------------------------------------------------------------------------- */

/* The digits of a number without an exponent; `scale` of them stand behind the point. */
struct variant_digits {
    char digit[SR_DECIMAL_MAX + 1];
    uint32_t count; /* without leading zeros; over SR_DECIMAL_MAX: too many */
    uint32_t scale;
    bool is_negative;
};

/* False: the number has an exponent. */
static bool variant_digits(const char *text, uint32_t len, struct variant_digits *d)
{
    bool is_behind = false;
    *d = (struct variant_digits){.is_negative = text[0] == '-'};
    for (uint32_t i = d->is_negative ? 1 : 0; i < len; i++) {
        if (text[i] == '.') {
            is_behind = true;
            continue;
        }
        if (text[i] < '0' || text[i] > '9') {
            return false;
        }
        d->scale += is_behind ? 1 : 0;
        if (d->count > 0 || text[i] != '0') {
            d->digit[d->count < SR_DECIMAL_MAX ? d->count : SR_DECIMAL_MAX] = text[i];
            d->count++;
        }
    }
    return true;
}

/* As Flink does: a whole number, and one with a point, of up to 38 digits is exact, and written
 * without zeros at its end; any other is a DOUBLE. */
static void variant_put_number(struct json_out *o, const char *text, uint32_t len)
{
    struct variant_digits d;
    char shown[NUMBER_TEXT_MAX];
    double real = 0;
    bool is_plain = variant_digits(text, len, &d);
    if (!is_plain || d.count > SR_DECIMAL_MAX || d.scale > SR_DECIMAL_MAX) {
        (void)number_parse_double(text, len, &real);
        json_put(o, shown, number_double_text(real, shown));
        return;
    }
    for (; d.scale > 0 && (d.count == 0 || d.digit[d.count - 1] == '0'); d.scale--) {
        d.count -= d.count > 0 ? 1 : 0;
    }
    json_put(o, "-", d.is_negative && d.count > 0 ? 1 : 0);
    uint32_t before = d.count > d.scale ? d.count - d.scale : 0;
    json_put(o, before > 0 ? d.digit : "0", before > 0 ? before : 1);
    json_put(o, ".", d.scale > 0 ? 1 : 0);
    for (uint32_t i = d.count; i < d.scale; i++) {
        json_put(o, "0", 1);
    }
    json_put(o, d.digit + before, d.count - before);
}

struct variant_parse {
    struct json_tree tree;
    struct json_out out;
};

static sr_rc variant_prepare(const struct expr *e, void **state, struct sr_error *err)
{
    (void)e;
    *state = calloc(1, sizeof(struct variant_parse));
    return *state ? SR_OK : error_set(err, SR_ENOMEM, "out of memory");
}

static void variant_release(void *state)
{
    struct variant_parse *p = state;
    if (p) {
        json_tree_done(&p->tree);
        json_out_done(&p->out);
        free(p);
    }
}

static void variant_parse_row(struct call *k, uint32_t r, bool is_try)
{
    struct variant_parse *p = k->state;
    uint32_t len;
    const char *s = call_get(k, 0, r, &len);
    bool may_be_twins = k->args > 1 && ((const uint8_t *)k->arg[1]->values)[r] != 0;
    uint32_t root = json_read(&p->tree, s, len);
    p->out.len = 0;
    if (root) {
        json_put_node_as(&p->out, &p->tree, root, variant_put_number);
    }
    if (p->tree.is_broken || p->out.is_broken) {
        call_broken(k, SR_ENOMEM);
    } else if (root && (may_be_twins || !p->tree.has_twins)) {
        call_text(k, r, p->out.bytes ? p->out.bytes : "", p->out.len);
    } else if (is_try) {
        call_null(k, r);
    } else {
        call_fail(k, r, "%s: %.*s",
                  root ? "a JSON object has a key twice, which PARSE_JSON(text, TRUE) allows"
                       : "PARSE_JSON takes text that is JSON, this is none",
                  (int)(len < 60 ? len : 60), s);
    }
}

static void variant_run(struct call *k, bool is_try)
{
    CALL_EACH_ROW(k, r)
    {
        if (!valid_bit(k->arg[0]->valid, r)) {
            call_null(k, r);
        } else if (k->args > 1 && !valid_bit(k->arg[1]->valid, r)) {
            call_fail(k, r, "whether a key may come twice is NULL");
        } else {
            variant_parse_row(k, r, is_try);
        }
    }
}
static void variant_parse(struct call *k) { variant_run(k, false); }
static void variant_try_parse(struct call *k) { variant_run(k, true); }

/* By `data` of the row. */
#define VARIANT_PARSE(fn)                                                            \
    {                                                                                \
        .run = fn, .flags = KERNEL_NULLS | KERNEL_FAILS, .prepare = variant_prepare, \
        .release = variant_release                                                   \
    }
static const struct kernel variant_k_parse[] = {VARIANT_PARSE(variant_parse),
                                                VARIANT_PARSE(variant_try_parse)};

static bool variant_bind_parse(struct bind_call *b)
{
    bool is_try = b->func->data == 1;
    b->type = type_nullable(type_of(SR_VARIANT), is_try || bind_any_nullable(b));
    b->kernel = &variant_k_parse[b->func->data];
    if (b->arg[0]->type.kind == SR_NULL) {
        b->whole = expr_cast(b->arena, b->arg[0], &b->type, false, b->err);
        return b->whole != NULL;
    }
    return sr_is_text(b->arg[0]->type.kind) && (b->args == 1 || b->arg[1]->type.kind == SR_BOOLEAN);
}

/* --- Parts. ----------------------------------------------------------------------------------- */

/* Behind a text that begins at s[at], a quote. */
static uint32_t variant_skip_text(const char *s, uint32_t len, uint32_t at)
{
    for (at++; at < len && s[at] != '"'; at++) {
        at += s[at] == '\\' ? 1 : 0;
    }
    return at < len ? at + 1 : len;
}

/* Behind the value that begins at s[at]. */
static uint32_t variant_skip(const char *s, uint32_t len, uint32_t at)
{
    uint32_t depth = 0;
    while (at < len) {
        char c = s[at];
        if (depth == 0 && (c == ',' || c == ']' || c == '}')) {
            return at;
        }
        if (c == '"') {
            at = variant_skip_text(s, len, at);
        } else {
            depth += c == '[' || c == '{' ? 1 : 0;
            depth -= c == ']' || c == '}' ? 1 : 0;
            at++;
        }
        if (depth == 0 && (c == '"' || c == ']' || c == '}')) {
            return at;
        }
    }
    return len;
}

/* Element i, from 0. False: there is none. */
static bool variant_element(const char *s, uint32_t len, int64_t i, struct sr_span *out)
{
    for (uint32_t at = 1; at + 1 < len; at++) {
        uint32_t end = variant_skip(s, len, at);
        if (i-- == 0) {
            *out = (struct sr_span){at, end - at};
            return true;
        }
        at = end;
    }
    return false;
}

/* The value of a key, as it stands between quotes. */
static bool variant_member(const char *s, uint32_t len, const struct json_out *key,
                           struct sr_span *out)
{
    for (uint32_t at = 1; at + 1 < len; at++) {
        uint32_t colon = variant_skip_text(s, len, at);
        uint32_t end = variant_skip(s, len, colon + 1);
        if (colon - at == key->len && memcmp(s + at, key->bytes, key->len) == 0) {
            *out = (struct sr_span){colon + 1, end - colon - 1};
            return true;
        }
        at = end;
    }
    return false;
}

static void variant_give(struct call *k, uint32_t r, bool is_there, struct sr_span part)
{
    const struct sr_span *from = k->arg[0]->values;
    if (is_there) {
        call_span(k, r, from[r].at + part.at, part.len);
    } else {
        call_null(k, r);
    }
}

static void variant_item(struct call *k)
{
    call_share(k, 0);
    CALL_EACH_ROW(k, r)
    {
        struct sr_span part = {0, 0};
        uint32_t len;
        const char *s = call_get(k, 0, r, &len);
        if (len == 0 || s[0] != '[') {
            call_fail(k, r, "%.*s is no JSON array, and has no element %d",
                      (int)(len < 60 ? len : 60), s, call_int(k, 1, r));
        } else {
            int64_t i = (int64_t)call_int(k, 1, r) - 1;
            variant_give(k, r, i >= 0 && variant_element(s, len, i, &part), part);
        }
    }
}
static const struct kernel variant_k_item = {.run = variant_item, .flags = KERNEL_FAILS};

static void variant_field(struct call *k)
{
    struct json_out key = {0};
    call_share(k, 0);
    CALL_EACH_ROW(k, r)
    {
        struct sr_span part = {0, 0};
        uint32_t len, name_len;
        const char *s = call_get(k, 0, r, &len), *name = call_get(k, 1, r, &name_len);
        key.len = 0;
        json_put_quoted(&key, name, name_len);
        if (key.is_broken) {
            call_broken(k, SR_ENOMEM);
            break;
        }
        if (len == 0 || s[0] != '{') {
            call_fail(k, r, "%.*s is no JSON object, and has no key '%.*s'",
                      (int)(len < 60 ? len : 60), s, (int)(name_len < 40 ? name_len : 40), name);
        } else {
            variant_give(k, r, variant_member(s, len, &key, &part), part);
        }
    }
    json_out_done(&key);
}
static const struct kernel variant_k_field = {.run = variant_field, .flags = KERNEL_FAILS};

bool variant_bind_item(struct bind_call *b)
{
    struct sr_type number = type_of(SR_INT), text = type_of(SR_VARCHAR);
    enum sr_kind kind = b->arg[1]->type.kind;
    b->type = type_of(SR_VARIANT);
    b->kernel = sr_is_integer(kind) ? &variant_k_item : &variant_k_field;
    if (!sr_is_integer(kind) && !sr_is_text(kind)) {
        return bind_fails(b, "a part of a VARIANT is named by an integer or a text, not %s",
                          type_text(b->arena, &b->arg[1]->type));
    }
    b->arg[1] =
        expr_cast(b->arena, b->arg[1], sr_is_integer(kind) ? &number : &text, false, b->err);
    b->is_said = !b->arg[1];
    return b->arg[1] != NULL;
}

/* --- The table. ------------------------------------------------------------------------------- */

static const struct func variant_funcs[] = {
    {.name = "PARSE_JSON",
     .family = "json",
     .bind = variant_bind_parse,
     .min = 1,
     .max = 2,
     .data = 0,
     .forms = "PARSE_JSON(json STRING [, allow_duplicate_keys BOOLEAN]) -> VARIANT",
     .doc =
         "The JSON as a VARIANT, whose parts are v['key'] and v[1]; of a key that may come twice "
         "the last value counts. Text that is no JSON is an error."},
    {.name = "TRY_PARSE_JSON",
     .family = "json",
     .bind = variant_bind_parse,
     .min = 1,
     .max = 2,
     .data = 1,
     .forms = "TRY_PARSE_JSON(json STRING [, allow_duplicate_keys BOOLEAN]) -> VARIANT",
     .doc = "As PARSE_JSON, but NULL for text that is no JSON, or has a key twice."},
};

const struct func_family func_variant = {variant_funcs,
                                         sizeof(variant_funcs) / sizeof(variant_funcs[0])};
