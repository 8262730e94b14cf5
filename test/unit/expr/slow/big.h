/* Whole numbers of many digits, one decimal digit a byte: slow, and easy to believe. */
#ifndef TEST_UNIT_EXPR_SLOW_BIG_H
#define TEST_UNIT_EXPR_SLOW_BIG_H

#include <stdbool.h>
#include <stdint.h>

#define BIG_DIGITS 240

struct big {
    bool is_negative;
    int32_t size;              /* digits, none of them a leading 0; 0 for zero */
    uint8_t digit[BIG_DIGITS]; /* the lowest first */
};

struct big big_of(__int128 v);
struct big big_add(struct big a, struct big b);
struct big big_negate(struct big a);
struct big big_times(struct big a, struct big b);
struct big big_raise(struct big a, int32_t n); /* times 10 to the n, n from 0 */
int big_compare(struct big a, struct big b);
/* Towards zero; the rest has the sign of a. b is not zero. */
struct big big_divide(struct big a, struct big b, struct big *rest);
/* Over 10 to the n, half away from zero. */
struct big big_round(struct big a, int32_t n);
/* As the unscaled value of a DECIMAL of that many digits; false: it has more. */
bool big_fits(struct big a, int32_t digits, __int128 *out);

#endif
