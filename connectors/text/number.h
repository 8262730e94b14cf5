/* Texts of exact numbers: integers and decimals, to and from.
 *
 * Nothing here goes by way of a double. Texts are not ended by \0; a number must fill its text.
 */
#ifndef SR_TEXT_NUMBER_H
#define SR_TEXT_NUMBER_H

#include <streamrun/batch.h>

enum number_rc {
    NUMBER_OK,
    NUMBER_BAD,    /* not a number */
    NUMBER_RANGE,  /* one, but too large for the type */
    NUMBER_INEXACT /* one, but with digits behind the point that an integer cannot keep */
};

/* [+-]digits: what Java's Long.parseLong takes. */
enum number_rc number_get_i64(const char *s, uint32_t len, int64_t *out);
/* Any decimal form, "9.2e18" too, whose value is an integer. */
enum number_rc number_get_integral(const char *s, uint32_t len, int64_t *out);
/* What Java's BigDecimal takes, as DECIMAL(precision, scale): rounded half up. */
enum number_rc number_get_decimal(const char *s, uint32_t len, int32_t precision, int32_t scale,
                                  __int128 *out);

#define NUMBER_TEXT_MAX 48u /* bytes that the functions below write at most; no \0 */

uint32_t number_put_i64(char *to, int64_t v);
/* "123.4500": every digit of the scale. */
uint32_t number_put_decimal(char *to, __int128 unscaled, int32_t scale);
/* As Java's BigDecimal prints it when trailing zeros were stripped: "1.1", "2.7E-8", "1E+5";
 * without exponents when is_plain. */
uint32_t number_put_stripped(char *to, __int128 unscaled, int32_t scale, bool is_plain);

static inline __int128 number_from_wide(struct sr_wide w)
{
    return (__int128)w.high << 64 | (__int128)w.low;
}

static inline struct sr_wide number_to_wide(__int128 v)
{
    return (struct sr_wide){.low = (uint64_t)v, .high = (int64_t)(v >> 64)};
}

/* The unscaled value of row r of a DECIMAL column. */
static inline __int128 number_of_row(const struct sr_column *c, uint32_t r)
{
    return c->type.length <= SR_DECIMAL_SMALL
               ? (__int128)((const int64_t *)c->values)[r]
               : number_from_wide(((const struct sr_wide *)c->values)[r]);
}

#endif
