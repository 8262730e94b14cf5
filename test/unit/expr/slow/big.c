#include "test/unit/expr/slow/big.h"

#include <string.h>

#include "engine/base/assert.h"

static struct big big_trim(struct big a, int32_t size)
{
    while (size > 0 && a.digit[size - 1] == 0) {
        size--;
    }
    a.size = size;
    a.is_negative = a.is_negative && size > 0;
    return a;
}

struct big big_of(__int128 v)
{
    struct big a = {.is_negative = v < 0};
    for (; v != 0; v /= 10) {
        int digit = (int)(v % 10);
        a.digit[a.size++] = (uint8_t)(digit < 0 ? -digit : digit);
    }
    return a;
}

static int big_order(const struct big *a, const struct big *b)
{
    if (a->size != b->size) {
        return a->size < b->size ? -1 : 1;
    }
    for (int32_t i = a->size - 1; i >= 0; i--) {
        if (a->digit[i] != b->digit[i]) {
            return a->digit[i] < b->digit[i] ? -1 : 1;
        }
    }
    return 0;
}

/* |a| + |b|, or |a| - |b| of a that is not the smaller one. */
static struct big big_combine(const struct big *a, const struct big *b, int sign)
{
    struct big c = {0};
    int carry = 0;
    int32_t size = (a->size > b->size ? a->size : b->size) + 1;
    sr_assert(size <= BIG_DIGITS);
    for (int32_t i = 0; i < size; i++) {
        int v = a->digit[i] + sign * b->digit[i] + carry;
        carry = v > 9 ? 1 : v < 0 ? -1 : 0;
        c.digit[i] = (uint8_t)(v - 10 * carry);
    }
    return big_trim(c, size);
}

struct big big_negate(struct big a)
{
    a.is_negative = !a.is_negative && a.size > 0;
    return a;
}

struct big big_add(struct big a, struct big b)
{
    struct big c;
    bool is_negative = a.is_negative;
    if (a.is_negative == b.is_negative) {
        c = big_combine(&a, &b, 1);
    } else if (big_order(&a, &b) >= 0) {
        c = big_combine(&a, &b, -1);
    } else {
        c = big_combine(&b, &a, -1);
        is_negative = b.is_negative;
    }
    c.is_negative = is_negative && c.size > 0;
    return c;
}

struct big big_times(struct big a, struct big b)
{
    struct big c = {.is_negative = a.is_negative != b.is_negative};
    sr_assert(a.size + b.size < BIG_DIGITS);
    for (int32_t i = 0; i < a.size; i++) {
        int carry = 0;
        for (int32_t k = 0; k <= b.size; k++) {
            int v = c.digit[i + k] + a.digit[i] * b.digit[k] + carry;
            c.digit[i + k] = (uint8_t)(v % 10);
            carry = v / 10;
        }
    }
    return big_trim(c, a.size + b.size + 1);
}

struct big big_raise(struct big a, int32_t n)
{
    sr_assert(a.size + n <= BIG_DIGITS);
    if (a.size > 0) {
        memmove(a.digit + n, a.digit, (size_t)a.size);
        memset(a.digit, 0, (size_t)n);
        a.size += n;
    }
    return a;
}

int big_compare(struct big a, struct big b)
{
    if (a.is_negative != b.is_negative) {
        return a.is_negative ? -1 : 1;
    }
    return a.is_negative ? big_order(&b, &a) : big_order(&a, &b);
}

struct big big_divide(struct big a, struct big b, struct big *rest)
{
    struct big q = {.is_negative = a.is_negative != b.is_negative}, r = {0};
    struct big by = b;
    by.is_negative = false;
    for (int32_t i = a.size - 1; i >= 0; i--) {
        r = big_add(big_raise(r, 1), big_of(a.digit[i]));
        while (big_order(&r, &by) >= 0) {
            r = big_combine(&r, &by, -1);
            q.digit[i]++;
        }
    }
    r.is_negative = a.is_negative && r.size > 0;
    *rest = r;
    return big_trim(q, a.size);
}

struct big big_round(struct big a, int32_t n)
{
    struct big c = {.is_negative = a.is_negative};
    if (n == 0 || n > a.size) {
        return n == 0 ? a : big_of(0);
    }
    memcpy(c.digit, a.digit + n, (size_t)(a.size - n));
    c = big_trim(c, a.size - n);
    c.is_negative = false;
    c = a.digit[n - 1] >= 5 ? big_add(c, big_of(1)) : c;
    c.is_negative = a.is_negative && c.size > 0;
    return c;
}

bool big_fits(struct big a, int32_t digits, __int128 *out)
{
    __int128 v = 0;
    for (int32_t i = a.size - 1; i >= 0 && a.size <= 38; i--) {
        v = v * 10 + a.digit[i];
    }
    *out = a.is_negative ? -v : v;
    return a.size <= digits;
}
