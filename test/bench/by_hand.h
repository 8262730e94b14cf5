/* Yardsticks for expressions: the loop that a good C programmer would write for one expression over
 * the same columns, compiled with -O2.
 *
 * Each loop does what SQL demands and no more. A NULL argument makes the result NULL: validity bits
 * are combined a word at a time, and values of NULL rows may be computed, but are not looked at.
 * Integers wrap, as Java's do. DECIMAL(20, 4) + DECIMAL(20, 4) always fits DECIMAL(21, 4); a SUM
 * checks its 38 digits at every step. Text is UTF-8; what is cut refers to the bytes where they
 * lie. Texts that are no number end the run: the columns have none. */
#ifndef TEST_BENCH_BY_HAND_H
#define TEST_BENCH_BY_HAND_H

#include <streamrun/batch.h>

/* Columns by letter: i j k INT, l m n BIGINT, d e f DOUBLE, x y DECIMAL(20, 4), s a URL, and texts
 * of numbers: u INT, v BIGINT, w DOUBLE. For functions that no loop is measured against: t
 * TIMESTAMP(3), z TIMESTAMP_LTZ(3), a DATE, o JSON, p words with commas, q the text of a moment. */
#define HAND_COLUMNS "ijklmndefxysuvwtzaopq"
enum {
    HAND_I,
    HAND_J,
    HAND_K,
    HAND_L,
    HAND_M,
    HAND_N,
    HAND_D,
    HAND_E,
    HAND_F,
    HAND_X,
    HAND_Y,
    HAND_S,
    HAND_U,
    HAND_V,
    HAND_W,
    HAND_T,
    HAND_Z,
    HAND_A,
    HAND_O,
    HAND_P,
    HAND_Q,
    HAND_COLS
};

struct hand {
    struct sr_column *const *col;
    uint32_t rows;
    /* out */
    void *to;
    uint64_t *valid;
    bool has_nulls; /* else `valid` says nothing */
    uint16_t *sel;  /* of filters */
    uint32_t picked;
    void *state; /* of hand_regex_new */
};

typedef void hand_fn(struct hand *h);

/* valid = the AND of the bits of two columns (the same one twice: its own). */
void hand_valid(struct hand *h, uint32_t a, uint32_t b);

hand_fn hand_int_sum, hand_int_mul_add, hand_int_compare, hand_int_filter, hand_int_case;
hand_fn hand_big_sum, hand_big_mul_add, hand_big_compare, hand_big_filter, hand_big_case;
hand_fn hand_double_sum, hand_double_mul_add, hand_double_compare, hand_double_filter,
    hand_double_case;
hand_fn hand_coalesce, hand_calc, hand_and_value;
hand_fn hand_decimal_sum, hand_decimal_compare;
hand_fn hand_like_prefix, hand_like_inside, hand_like_suffix, hand_like_one, hand_like_filter;
hand_fn hand_substring, hand_substring_rest;
hand_fn hand_regex;
hand_fn hand_cast_int, hand_cast_bigint, hand_cast_double;

/* SUM(DECIMAL(20, 4)) of groups: NULL at first, and when it needs more than 38 digits. */
struct hand_group {
    __extension__ __int128 sum;
    int64_t count;
    bool has_sum;
};
void hand_group_sum(const struct sr_column *c, const uint32_t *slot, struct hand_group *group);

#define HAND_REGEX "/item/([0-9]+)"
void *hand_regex_new(void);
void hand_regex_free(void *state);

#endif
