/* Columns of text to numbers by std::from_chars alone: the one C++ file of the loops, and so
 * without the lobby's types. */
#ifndef TEST_BENCH_BY_HAND_CHARS_H
#define TEST_BENCH_BY_HAND_CHARS_H

#include <stdint.h>

struct chars {
    const uint32_t *span; /* at, len: two a row */
    const char *base;
    const uint64_t *valid; /* NULL: all */
    uint32_t rows;
};

#ifdef __cplusplus
extern "C" {
#endif

/* End the run at a text that is no number. */
void chars_int(const struct chars *c, int32_t *to);
void chars_bigint(const struct chars *c, int64_t *to);
void chars_double(const struct chars *c, double *to);

#ifdef __cplusplus
}
#endif

#endif
