/* DECIMAL values: unscaled 128-bit integers, and what does not fit them on the way. */
#ifndef SR_EXPR_DECIMAL_H
#define SR_EXPR_DECIMAL_H

#include <streamrun/batch.h>

struct call; /* kernel.h */

typedef __int128 decimal;
typedef unsigned __int128 udecimal;

#define DECIMAL_DIGITS_MAX 38

/* 10 to the n, n from 0 to 38. */
decimal decimal_power(int32_t n);

static inline decimal decimal_of_wide(struct sr_wide w)
{
    return (decimal)(((udecimal)(uint64_t)w.high << 64) | w.low);
}

static inline struct sr_wide decimal_to_wide(decimal v)
{
    return (struct sr_wide){.low = (uint64_t)(udecimal)v, .high = (int64_t)(v >> 64)};
}

static inline bool decimal_fits(decimal v, int32_t precision)
{
    decimal limit = decimal_power(precision);
    return v < limit && v > -limit;
}

/* The same for 38 digits, with one comparison. */
static inline bool decimal_fits_most(decimal v)
{
    const udecimal most = (udecimal)UINT64_C(10000000000000000000) * UINT64_C(10000000000000000000);
    return (udecimal)v + (most - 1) <= 2 * (most - 1);
}

/* v with scale `from` as one with scale `to`, rounded half up (away from zero); false: more than 38
 * digits. */
bool decimal_rescale(decimal v, int32_t from, int32_t to, decimal *out);
/* a + b with scale `to`, rounded half up from the exact sum. */
bool decimal_add(decimal a, int32_t sa, decimal b, int32_t sb, int32_t to, decimal *out);
/* a * b, its scale brought from s1 + s2 to s. */
bool decimal_multiply(decimal a, decimal b, int32_t from, int32_t to, decimal *out);
/* a / b (b is not 0) with scale `to`, rounded half up; sa and sb are the scales of a and b. */
bool decimal_divide(decimal a, int32_t sa, decimal b, int32_t sb, int32_t to, decimal *out);
/* The remainder of a / b, with the sign of a, at scale max(sa, sb). */
bool decimal_modulo(decimal a, int32_t sa, decimal b, int32_t sb, decimal *out);
/* <0, 0, >0; exact at any scales. */
int decimal_compare(decimal a, int32_t sa, decimal b, int32_t sb);

/* "-12.30"; room for DECIMAL_TEXT_MAX bytes; answers the length. */
#define DECIMAL_TEXT_MAX 48
uint32_t decimal_text(decimal v, int32_t scale, char *to);
/* Reads "[+-]digits[.digits][e[+-]digits]" and rounds it half up to `scale`; as in Flink, digits
 * may be none beside a point, and behind e. False: not a number, or more than 38 digits; *is_number
 * tells which. */
bool decimal_parse(const char *s, uint32_t len, int32_t scale, decimal *out, bool *is_number);
double decimal_to_double(decimal v, int32_t scale);

/* The rows of a call as 128-bit integers: DECIMAL of both widths, and integers of any. */
void decimal_load(const struct sr_column *c, const uint16_t *sel, uint32_t n, decimal *to);
/* The DECIMAL result of row r: v, already of the result's scale; NULL unless `is_good`, and where v
 * has too many digits. */
void decimal_store(struct call *k, uint32_t r, bool is_good, decimal v);

#endif
