/* DECIMAL arithmetic against whole numbers of many digits, one a byte; and reading against
 * writing. */
#include <stdint.h>
#include <string.h>

#include "engine/expr/decimal.h"
#include "test/unit/expr/slow/big.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    unsigned char op, sa, sb, to;
    unsigned char digits_a, digits_b, unused[10];
    uint64_t a[2], b[2];
};

static decimal limited(const uint64_t *words, unsigned char digits)
{
    decimal v;
    memcpy(&v, words, sizeof(v));
    return v % decimal_power(digits % DECIMAL_DIGITS_MAX + 1);
}

/* a of scale `from` as one of scale `to`, half up; false: over 38 digits. */
static bool rescaled(struct big a, int32_t from, int32_t to, __int128 *out)
{
    a = from > to ? big_round(a, from - to) : big_raise(a, to - from);
    return big_fits(a, DECIMAL_DIGITS_MAX, out);
}

static void same(bool is_good, decimal v, bool is_good_too, __int128 w)
{
    if (is_good != is_good_too || (is_good && v != w)) {
        __builtin_trap();
    }
}

static void check(const struct input *in, decimal a, decimal b)
{
    int32_t sa = in->sa % 39, sb = in->sb % 39, to = in->to % 39, most = sa > sb ? sa : sb;
    struct big x = big_of(a), y = big_of(b), rest;
    decimal v = 0;
    __int128 w = 0;
    switch (in->op % 5) {
    case 0:
        to = to > most ? most : to;
        same(decimal_add(a, sa, b, sb, to, &v), v,
             rescaled(big_add(big_raise(x, most - sa), big_raise(y, most - sb)), most, to, &w), w);
        break;
    case 1:
        to = to > sa + sb ? sa + sb : to;
        same(decimal_multiply(a, b, sa + sb, to, &v), v, rescaled(big_times(x, y), sa + sb, to, &w),
             w);
        break;
    case 2:
        same(decimal_rescale(a, sa, to, &v), v, rescaled(x, sa, to, &w), w);
        break;
    case 3: {
        int order = big_compare(big_raise(x, most - sa), big_raise(y, most - sb));
        int ours = decimal_compare(a, sa, b, sb);
        same(true, (ours > 0) - (ours < 0), true, (order > 0) - (order < 0));
        break;
    }
    default:
        if (b != 0 && decimal_modulo(a, sa, b, sb, &v)) {
            (void)big_divide(big_raise(x, most - sa), big_raise(y, most - sb), &rest);
            same(true, v, big_fits(rest, DECIMAL_DIGITS_MAX, &w), w);
        }
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in;
    if (size < sizeof(in)) {
        decimal v = 0, again = 0;
        bool is_number;
        char text[DECIMAL_TEXT_MAX];
        int32_t scale = size > 0 ? data[0] % 39 : 0;
        if (size > 0 &&
            decimal_parse((const char *)data + 1, (uint32_t)size - 1, scale, &v, &is_number)) {
            uint32_t len = decimal_text(v, scale, text);
            same(true, v, decimal_parse(text, len, scale, &again, &is_number), again);
        }
        return 0;
    }
    memcpy(&in, data, sizeof(in));
    check(&in, limited(in.a, in.digits_a), limited(in.b, in.digits_b));
    return 0;
}
