#include "engine/expr/in_list.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/expr/instant.h"
#include "engine/expr/promote.h"

struct in_text {
    const char *bytes;
    uint32_t len;
};

/* One of the two tables, sorted. */
struct in_list {
    uint32_t count;
    int64_t *number;
    struct in_text *text; /* bytes are the literals' own, which outlive the program */
};

static int in_order_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* By length first: most texts are told apart without a look at their bytes. */
static int in_order_text(const void *a, const void *b)
{
    const struct in_text *x = a, *y = b;
    if (x->len != y->len) {
        return x->len < y->len ? -1 : 1;
    }
    return x->len == 0 ? 0 : memcmp(x->bytes, y->bytes, x->len);
}

static void in_list_release(void *state)
{
    struct in_list *l = state;
    if (l) {
        free(l->number);
        free(l->text);
        free(l);
    }
}

static sr_rc in_list_prepare(const struct expr *e, void **state, struct sr_error *err)
{
    struct in_list *l = calloc(1, sizeof(*l));
    *state = l;
    bool is_text = sr_has_bytes(e->arg[0]->type.kind);
    if (l) {
        l->number = is_text ? NULL : calloc(e->args, sizeof(*l->number));
        l->text = is_text ? calloc(e->args, sizeof(*l->text)) : NULL;
    }
    if (!l || (!l->number && !l->text)) {
        return error_set(err, SR_ENOMEM, "out of memory");
    }
    l->count = e->args - 1;
    for (uint32_t i = 0; i < l->count; i++) {
        const struct expr *x = e->arg[i + 1];
        if (is_text) {
            l->text[i] = (struct in_text){x->text, x->text_len};
        } else {
            l->number[i] = x->value.i;
        }
    }
    if (is_text) {
        qsort(l->text, l->count, sizeof(*l->text), in_order_text);
    } else {
        qsort(l->number, l->count, sizeof(*l->number), in_order_number);
    }
    return SR_OK;
}

/* Halving without a branch on what is found: the number of steps depends on the list only. */
static inline bool in_has_number(const int64_t *list, uint32_t count, int64_t v)
{
    const int64_t *base = list;
    while (count > 1) {
        uint32_t half = count / 2;
        base = base[half] <= v ? base + half : base;
        count -= half;
    }
    return *base == v;
}

static inline bool in_has_text(const struct in_list *l, const char *bytes, uint32_t len)
{
    struct in_text key = {bytes, len};
    return bsearch(&key, l->text, l->count, sizeof(*l->text), in_order_text) != NULL;
}

#define IN_NUMBER(suffix, T)                                                      \
    static void in_run_##suffix(struct call *k)                                   \
    {                                                                             \
        const struct in_list *l = k->state;                                       \
        const T *a = k->arg[0]->values;                                           \
        uint8_t *to = k->out->values;                                             \
        CALL_EACH_ROW(k, r) { to[r] = in_has_number(l->number, l->count, a[r]); } \
    }                                                                             \
    static uint32_t in_pick_##suffix(struct call *k, uint16_t *to)                \
    {                                                                             \
        const struct in_list *l = k->state;                                       \
        const T *a = k->arg[0]->values;                                           \
        uint32_t n = 0;                                                           \
        CALL_EACH_ROW(k, r)                                                       \
        {                                                                         \
            to[n] = (uint16_t)r;                                                  \
            n += in_has_number(l->number, l->count, a[r]) ? 1 : 0;                \
        }                                                                         \
        return n;                                                                 \
    }                                                                             \
    static const struct kernel in_k_##suffix = {.run = in_run_##suffix,           \
                                                .pick = in_pick_##suffix,         \
                                                .flags = KERNEL_FIRST,            \
                                                .prepare = in_list_prepare,       \
                                                .release = in_list_release};

IN_NUMBER(i8, int8_t)
IN_NUMBER(i16, int16_t)
IN_NUMBER(i32, int32_t)
IN_NUMBER(i64, int64_t)

static void in_run_text(struct call *k)
{
    const struct sr_span *a = k->arg[0]->values;
    const char *base = column_text(k->arg[0]);
    uint8_t *to = k->out->values;
    CALL_EACH_ROW(k, r) { to[r] = in_has_text(k->state, base + a[r].at, a[r].len); }
}

static uint32_t in_pick_text(struct call *k, uint16_t *to)
{
    const struct sr_span *a = k->arg[0]->values;
    const char *base = column_text(k->arg[0]);
    uint32_t n = 0;
    CALL_EACH_ROW(k, r)
    {
        to[n] = (uint16_t)r;
        n += in_has_text(k->state, base + a[r].at, a[r].len) ? 1 : 0;
    }
    return n;
}

static const struct kernel in_k_text = {.run = in_run_text,
                                        .pick = in_pick_text,
                                        .flags = KERNEL_FIRST,
                                        .prepare = in_list_prepare,
                                        .release = in_list_release};

const struct kernel *in_list_kernel(const struct sr_type *t)
{
    enum sr_kind kind = t->kind;
    if (sr_has_bytes(kind)) {
        return &in_k_text;
    }
    return kind == SR_TINYINT                                           ? &in_k_i8
           : kind == SR_SMALLINT                                        ? &in_k_i16
           : kind == SR_INT || kind == SR_DATE || kind == SR_TIME       ? &in_k_i32
           : kind == SR_BIGINT                                          ? &in_k_i64
           : sr_is_timestamp(kind) && t->length <= INSTANT_DIGITS_SMALL ? &in_k_i64
                                                                        : NULL;
}
