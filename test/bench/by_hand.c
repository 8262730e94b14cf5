#define PCRE2_CODE_UNIT_WIDTH 8
#include "test/bench/by_hand.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "test/bench/by_hand_chars.h"

#define VALUES(T, c) ((const T *)h->col[c]->values)

__extension__ typedef __int128 wide;

static wide wide_of(struct sr_wide w)
{
    return (wide)(((unsigned __int128)(uint64_t)w.high << 64) | w.low);
}

static bool is_there(const struct sr_column *c, uint32_t r) { return sr_is_valid(c, r); }

void hand_valid(struct hand *h, uint32_t a, uint32_t b)
{
    const uint64_t *x = h->col[a]->valid, *y = h->col[b]->valid;
    h->has_nulls = x || y;
    for (uint32_t w = 0; h->has_nulls && w < (h->rows + 63) / 64; w++) {
        h->valid[w] = (x ? x[w] : UINT64_MAX) & (y ? y[w] : UINT64_MAX);
    }
}

static void hand_valid_three(struct hand *h, uint32_t a, uint32_t b, uint32_t c)
{
    hand_valid(h, a, b);
    const uint64_t *z = h->col[c]->valid;
    for (uint32_t w = 0; z && w < (h->rows + 63) / 64; w++) {
        h->valid[w] = h->has_nulls ? h->valid[w] & z[w] : z[w];
    }
    h->has_nulls = h->has_nulls || z;
}

/* Rows of `sel` that have a value in all of the columns a and b. */
static void hand_drop_nulls(struct hand *h, uint32_t a, uint32_t b)
{
    hand_valid(h, a, b);
    uint32_t n = 0;
    for (uint32_t i = 0; h->has_nulls && i < h->picked; i++) {
        uint16_t r = h->sel[i];
        h->sel[n] = r;
        n += (uint32_t)(h->valid[r >> 6] >> (r & 63) & 1);
    }
    h->picked = h->has_nulls ? n : h->picked;
}

/* --- Numbers: a + b, a * b + c, a < b, WHERE a > 10 AND b < c, CASE WHEN a > 10 THEN b ELSE c. */

#define HAND_NUMBERS(name, T, U, B, A, BC, CC)                                               \
    void hand_##name##_sum(struct hand *h)                                                   \
    {                                                                                        \
        const T *a = VALUES(T, A), *b = VALUES(T, BC);                                       \
        T *restrict to = h->to;                                                              \
        hand_valid(h, A, BC);                                                                \
        for (uint32_t r = 0; r < h->rows; r++) {                                             \
            to[r] = (T)((U)a[r] + (U)b[r]);                                                  \
        }                                                                                    \
    }                                                                                        \
    void hand_##name##_mul_add(struct hand *h)                                               \
    {                                                                                        \
        const T *a = VALUES(T, A), *b = VALUES(T, BC), *c = VALUES(T, CC);                   \
        T *restrict to = h->to;                                                              \
        hand_valid_three(h, A, BC, CC);                                                      \
        for (uint32_t r = 0; r < h->rows; r++) {                                             \
            to[r] = (T)((U)a[r] * (U)b[r] + (U)c[r]);                                        \
        }                                                                                    \
    }                                                                                        \
    void hand_##name##_compare(struct hand *h)                                               \
    {                                                                                        \
        const T *a = VALUES(T, A), *b = VALUES(T, BC);                                       \
        uint8_t *restrict to = h->to;                                                        \
        hand_valid(h, A, BC);                                                                \
        for (uint32_t r = 0; r < h->rows; r++) {                                             \
            to[r] = a[r] < b[r];                                                             \
        }                                                                                    \
    }                                                                                        \
    void hand_##name##_filter(struct hand *h)                                                \
    {                                                                                        \
        const T *a = VALUES(T, A), *b = VALUES(T, BC), *c = VALUES(T, CC);                   \
        uint32_t n = 0;                                                                      \
        for (uint32_t r = 0; r < h->rows; r++) {                                             \
            h->sel[n] = (uint16_t)r;                                                         \
            n += (a[r] > 10) & (b[r] < c[r]);                                                \
        }                                                                                    \
        h->picked = n;                                                                       \
        hand_drop_nulls(h, A, BC);                                                           \
        hand_drop_nulls(h, CC, CC);                                                          \
    }                                                                                        \
    /* Where a is NULL, it is not over 10. By a mask: a branch would be mispredicted. */     \
    void hand_##name##_case(struct hand *h)                                                  \
    {                                                                                        \
        const T *a = VALUES(T, A);                                                           \
        const B *b = h->col[BC]->values, *c = h->col[CC]->values;                            \
        const struct sr_column *ca = h->col[A], *cb = h->col[BC], *cc = h->col[CC];          \
        B *restrict to = h->to;                                                              \
        h->has_nulls = ca->valid || cb->valid || cc->valid;                                  \
        for (uint32_t r = 0; !h->has_nulls && r < h->rows; r++) {                            \
            B mask = (B)0 - (B)(a[r] > 10);                                                  \
            to[r] = (b[r] & mask) | (c[r] & ~mask);                                          \
        }                                                                                    \
        for (uint32_t from = 0; h->has_nulls && from < h->rows; from += 64) {                \
            uint32_t end = from + 64 < h->rows ? from + 64 : h->rows;                        \
            uint64_t over = 0, has = ca->valid ? ca->valid[from / 64] : UINT64_MAX;          \
            for (uint32_t r = from; r < end; r++) {                                          \
                uint64_t is_over = (uint64_t)(a[r] > 10) & has >> (r - from);                \
                B mask = (B)0 - (B)is_over;                                                  \
                over |= is_over << (r - from);                                               \
                to[r] = (b[r] & mask) | (c[r] & ~mask);                                      \
            }                                                                                \
            h->valid[from / 64] = (over & (cb->valid ? cb->valid[from / 64] : UINT64_MAX)) | \
                                  (~over & (cc->valid ? cc->valid[from / 64] : UINT64_MAX)); \
        }                                                                                    \
    }

HAND_NUMBERS(int, int32_t, uint32_t, uint32_t, HAND_I, HAND_J, HAND_K)
HAND_NUMBERS(big, int64_t, uint64_t, uint64_t, HAND_L, HAND_M, HAND_N)
HAND_NUMBERS(double, double, double, uint64_t, HAND_D, HAND_E, HAND_F)

/* COALESCE(l, m, 0) */
void hand_coalesce(struct hand *h)
{
    const int64_t *a = VALUES(int64_t, HAND_L), *b = VALUES(int64_t, HAND_M);
    const struct sr_column *ca = h->col[HAND_L], *cb = h->col[HAND_M];
    int64_t *restrict to = h->to;
    h->has_nulls = false;
    if (!ca->valid) {
        memcpy(to, a, h->rows * sizeof(*to));
        return;
    }
    for (uint32_t r = 0; r < h->rows; r++) {
        uint64_t mask = (uint64_t)0 - (ca->valid[r >> 6] >> (r & 63) & 1);
        uint64_t other = cb->valid ? (uint64_t)0 - (cb->valid[r >> 6] >> (r & 63) & 1) : UINT64_MAX;
        to[r] = (int64_t)(((uint64_t)a[r] & mask) | ((uint64_t)b[r] & other & ~mask));
    }
}

/* i > 0 AND j > 0 OR k > 0, as a value of three. */
void hand_and_value(struct hand *h)
{
    const int32_t *a = VALUES(int32_t, HAND_I), *b = VALUES(int32_t, HAND_J),
                  *c = VALUES(int32_t, HAND_K);
    uint8_t *restrict to = h->to;
    h->has_nulls = h->col[HAND_I]->valid || h->col[HAND_J]->valid || h->col[HAND_K]->valid;
    if (!h->has_nulls) {
        for (uint32_t r = 0; r < h->rows; r++) {
            to[r] = (uint8_t)(((a[r] > 0) & (b[r] > 0)) | (c[r] > 0));
        }
        return;
    }
    for (uint32_t w = 0; w < (h->rows + 63) / 64; w++) {
        uint64_t is[3] = {0, 0, 0}, has[3];
        for (uint32_t i = 0; i < 64 && w * 64 + i < h->rows; i++) {
            is[0] |= (uint64_t)(a[w * 64 + i] > 0) << i;
            is[1] |= (uint64_t)(b[w * 64 + i] > 0) << i;
            is[2] |= (uint64_t)(c[w * 64 + i] > 0) << i;
        }
        for (uint32_t i = 0; i < 3; i++) {
            const uint64_t *valid = h->col[HAND_I + i]->valid;
            has[i] = valid ? valid[w] : UINT64_MAX;
        }
        uint64_t both = is[0] & has[0] & is[1] & has[1];
        uint64_t neither = (~is[0] & has[0]) | (~is[1] & has[1]);
        uint64_t yes = both | (is[2] & has[2]), no = neither & ~is[2] & has[2];
        h->valid[w] = yes | no;
        for (uint32_t i = 0; i < 64 && w * 64 + i < h->rows; i++) {
            to[w * 64 + i] = (uint8_t)(yes >> i & 1);
        }
    }
}

/* SELECT m * n WHERE l > 10 */
void hand_calc(struct hand *h)
{
    const int64_t *a = VALUES(int64_t, HAND_L), *b = VALUES(int64_t, HAND_M),
                  *c = VALUES(int64_t, HAND_N);
    int64_t *restrict to = h->to;
    uint32_t n = 0;
    for (uint32_t r = 0; r < h->rows; r++) {
        h->sel[n] = (uint16_t)r;
        n += a[r] > 10;
    }
    h->picked = n;
    hand_drop_nulls(h, HAND_L, HAND_L);
    for (uint32_t i = 0; i < h->picked; i++) {
        uint32_t r = h->sel[i];
        to[r] = (int64_t)((uint64_t)b[r] * (uint64_t)c[r]);
    }
    hand_valid(h, HAND_M, HAND_N);
}

/* --- DECIMAL(20, 4). -------------------------------------------------------------------------- */

void hand_decimal_sum(struct hand *h)
{
    const struct sr_wide *a = VALUES(struct sr_wide, HAND_X), *b = VALUES(struct sr_wide, HAND_Y);
    struct sr_wide *restrict to = h->to;
    hand_valid(h, HAND_X, HAND_Y);
    for (uint32_t r = 0; r < h->rows; r++) {
        wide v = wide_of(a[r]) + wide_of(b[r]);
        to[r] = (struct sr_wide){(uint64_t)v, (int64_t)(v >> 64)};
    }
}

void hand_decimal_compare(struct hand *h)
{
    const struct sr_wide *a = VALUES(struct sr_wide, HAND_X), *b = VALUES(struct sr_wide, HAND_Y);
    uint8_t *restrict to = h->to;
    hand_valid(h, HAND_X, HAND_Y);
    for (uint32_t r = 0; r < h->rows; r++) {
        to[r] = wide_of(a[r]) < wide_of(b[r]);
    }
}

void hand_group_sum(const struct sr_column *c, const uint32_t *slot, struct hand_group *group)
{
    const wide limit = (wide)10000000000000000000u * 1000000000000000000 * 10;
    const struct sr_wide *a = c->values;
    for (uint32_t r = 0; r < c->rows; r++) {
        if (!is_there(c, r)) {
            continue;
        }
        struct hand_group *g = &group[slot[r]];
        wide v = (g->has_sum ? g->sum : 0) + wide_of(a[r]);
        g->has_sum = v < limit && v > -limit;
        g->sum = v;
        g->count++;
    }
}

/* --- Text. ------------------------------------------------------------------------------------ */

#define HAND_TEXT                                    \
    const struct sr_column *c = h->col[HAND_S];      \
    const struct sr_span *span = c->values;          \
    const char *base = (const char *)c->bytes->data; \
    hand_valid(h, HAND_S, HAND_S)

static bool like_prefix(const char *s, uint32_t len)
{
    return len >= 13 && memcmp(s, "https://shop.", 13) == 0;
}

static bool like_inside(const char *s, uint32_t len)
{
    return memmem(s, len, "/item/4", 7) != NULL;
}

static bool like_suffix(const char *s, uint32_t len)
{
    return len >= 5 && memcmp(s + len - 5, ".html", 5) == 0;
}

/* '%item_4%': one character, which may be of several bytes, but no line end. */
static bool like_one(const char *s, uint32_t len)
{
    const char *end = s + len, *at = s;
    while ((at = memmem(at, (size_t)(end - at), "item", 4))) {
        at += 4;
        const char *next = at;
        if (next < end && *next != '\n' && *next != '\r') {
            do {
                next++;
            } while (next < end && (*next & 0xC0) == 0x80);
            if (next < end && *next == '4') {
                return true;
            }
        }
    }
    return false;
}

#define HAND_LIKE(name, test)                                               \
    void hand_like_##name(struct hand *h)                                   \
    {                                                                       \
        uint8_t *restrict to = h->to;                                       \
        HAND_TEXT;                                                          \
        for (uint32_t r = 0; r < h->rows; r++) {                            \
            to[r] = is_there(c, r) && test(base + span[r].at, span[r].len); \
        }                                                                   \
    }
HAND_LIKE(prefix, like_prefix)
HAND_LIKE(inside, like_inside)
HAND_LIKE(suffix, like_suffix)
HAND_LIKE(one, like_one)

void hand_like_filter(struct hand *h)
{
    uint32_t n = 0;
    HAND_TEXT;
    for (uint32_t r = 0; r < h->rows; r++) {
        h->sel[n] = (uint16_t)r;
        n += is_there(c, r) && like_inside(base + span[r].at, span[r].len);
    }
    h->picked = n;
}

static const char *skip(const char *s, const char *end, uint32_t n)
{
    for (; n > 0 && s < end; n--) {
        s++;
        while (s < end && (*s & 0xC0) == 0x80) {
            s++;
        }
    }
    return s;
}

/* SUBSTRING(s, 9, 12) */
void hand_substring(struct hand *h)
{
    struct sr_span *restrict to = h->to;
    HAND_TEXT;
    for (uint32_t r = 0; r < h->rows; r++) {
        const char *s = base + span[r].at, *end = s + span[r].len;
        const char *from = skip(s, end, 8), *behind = skip(from, end, 12);
        to[r] = (struct sr_span){(uint32_t)(from - base), (uint32_t)(behind - from)};
    }
}

/* SUBSTRING(s, 9) */
void hand_substring_rest(struct hand *h)
{
    struct sr_span *restrict to = h->to;
    HAND_TEXT;
    for (uint32_t r = 0; r < h->rows; r++) {
        const char *s = base + span[r].at, *end = s + span[r].len, *from = skip(s, end, 8);
        to[r] = (struct sr_span){(uint32_t)(from - base), (uint32_t)(end - from)};
    }
}

/* --- REGEXP_EXTRACT(s, HAND_REGEX, 1): bare PCRE2, compiled by its JIT. ----------------------- */

struct regex {
    pcre2_code *code;
    pcre2_match_data *match;
};

void *hand_regex_new(void)
{
    int number;
    PCRE2_SIZE at;
    struct regex *x = calloc(1, sizeof(*x));
    if (!x) {
        abort();
    }
    x->code = pcre2_compile((PCRE2_SPTR)HAND_REGEX, PCRE2_ZERO_TERMINATED,
                            PCRE2_UTF | PCRE2_MATCH_INVALID_UTF, &number, &at, NULL);
    if (!x->code || pcre2_jit_compile(x->code, PCRE2_JIT_COMPLETE) != 0) {
        abort();
    }
    x->match = pcre2_match_data_create_from_pattern(x->code, NULL);
    return x;
}

void hand_regex_free(void *state)
{
    struct regex *x = state;
    pcre2_match_data_free(x->match);
    pcre2_code_free(x->code);
    free(x);
}

void hand_regex(struct hand *h)
{
    const struct regex *x = h->state;
    struct sr_span *restrict to = h->to;
    HAND_TEXT;
    for (uint32_t w = 0; !h->has_nulls && w < (h->rows + 63) / 64; w++) {
        h->valid[w] = UINT64_MAX;
    }
    h->has_nulls = true;
    const PCRE2_SIZE *found = pcre2_get_ovector_pointer(x->match);
    for (uint32_t r = 0; r < h->rows; r++) {
        if (!is_there(c, r)) {
            continue;
        }
        int n = pcre2_jit_match(x->code, (PCRE2_SPTR)base + span[r].at, span[r].len, 0, 0, x->match,
                                NULL);
        if (n > 1) {
            to[r] =
                (struct sr_span){span[r].at + (uint32_t)found[2], (uint32_t)(found[3] - found[2])};
        } else {
            h->valid[r >> 6] &= ~(UINT64_C(1) << (r & 63));
        }
    }
}

/* --- CAST of text to numbers. ----------------------------------------------------------------- */

static struct chars hand_chars(struct hand *h, uint32_t column)
{
    const struct sr_column *c = h->col[column];
    hand_valid(h, column, column);
    return (struct chars){.span = c->values,
                          .base = (const char *)c->bytes->data,
                          .valid = c->valid,
                          .rows = h->rows};
}

void hand_cast_int(struct hand *h)
{
    struct chars c = hand_chars(h, HAND_U);
    chars_int(&c, h->to);
}

void hand_cast_bigint(struct hand *h)
{
    struct chars c = hand_chars(h, HAND_V);
    chars_bigint(&c, h->to);
}

void hand_cast_double(struct hand *h)
{
    struct chars c = hand_chars(h, HAND_W);
    chars_double(&c, h->to);
}
