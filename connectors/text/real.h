/* Texts of FLOAT and DOUBLE: shortest that reads back the same, in the form of Java's toString.
 *
 * The C face of real.cc, the one place where std::to_chars and std::from_chars are called: C has
 * nothing that prints the shortest digits, and strtod is slow and follows the locale.
 */
#ifndef SR_TEXT_REAL_H
#define SR_TEXT_REAL_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REAL_TEXT_MAX 32u /* bytes that real_put_* write at most; no \0 */

/* "1.0", "0.001", "1.0E7", "NaN", "-Infinity" */
uint32_t real_put_f64(char *to, double v);
uint32_t real_put_f32(char *to, float v);

enum real_rc { REAL_OK, REAL_BAD, REAL_RANGE };

/* What Java's parseDouble takes, hexadecimal forms excepted: [+-] digits, point, exponent, NaN,
 * Infinity, a closing d or f. REAL_RANGE: too large; what is too small is 0. */
enum real_rc real_get_f64(const char *s, uint32_t len, double *out);
enum real_rc real_get_f32(const char *s, uint32_t len, float *out);

#ifdef __cplusplus
}
#endif

#endif
