/* Texts of FLOAT and DOUBLE, as Java writes and reads them. The one C++ file of the room is behind
 * it, because std::to_chars is the shortest exact text and C has nothing like it. */
#ifndef SR_EXPR_NUMBER_H
#define SR_EXPR_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NUMBER_TEXT_MAX 32

/* "1.0E7", "0.001", "NaN": Double.toString and Float.toString. Answers the length. */
uint32_t number_double_text(double v, char *to);
uint32_t number_float_text(float v, char *to);
/* Double.parseDouble and Float.parseFloat: blanks around it, "NaN", "Infinity", 0x1p3, 1.5d. */
bool number_parse_double(const char *s, uint32_t len, double *out);
bool number_parse_float(const char *s, uint32_t len, float *out);

#ifdef __cplusplus
}
#endif

#endif
