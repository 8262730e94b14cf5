/* Values of any type one by one, ARRAY, MAP and ROW among them: copied, compared, written.
 *
 * Recursion goes down a type, at most TYPE_DEPTH_MAX levels. */
#ifndef SR_EXPR_NEST_H
#define SR_EXPR_NEST_H

#include <streamrun/batch.h>

#include "engine/base/arena.h"
#include "engine/expr/json_text.h"

/* Row `r` of `to`, which nothing was put to yet, becomes a copy of row `from_row` of a column of
 * the same type but for nullability and lengths. False: out of memory. */
bool nest_copy(struct sr_home *home, struct sr_column *to, uint32_t r, const struct sr_column *from,
               uint32_t from_row);
/* A copy behind the last row of child i of `to`. */
bool nest_append(struct sr_home *home, struct sr_column *to, uint32_t i,
                 const struct sr_column *from, uint32_t from_row);
/* Likewise of bytes (NULL: a NULL), and in a child of ROW<key, value> of row i of two columns. */
bool nest_append_text(struct sr_home *home, struct sr_column *to, uint32_t i, const char *bytes,
                      uint32_t len);
bool nest_append_pair(struct sr_home *home, struct sr_column *to, const struct sr_column *key,
                      const struct sr_column *value, uint32_t i);
/* Rows that nobody computes hold something too: nothing. */
void nest_blank(struct sr_column *c, uint32_t rows);

/* The same value, as = has it: NaN is nothing, -0.0 is 0.0, MAP and MULTISET have no order; but
 * NULL is the same as NULL, and elements of an ARRAY are compared by nest_identical, as in
 * Flink. */
bool nest_equal(const struct sr_column *a, uint32_t ra, const struct sr_column *b, uint32_t rb);
/* How many of the elements [s.at, s.at + s.len) are the value. */
uint32_t nest_count(const struct sr_column *list, struct sr_span s, const struct sr_column *c,
                    uint32_t r);
/* The same to the last bit, and in the same order. */
bool nest_identical(const struct sr_column *a, uint32_t ra, const struct sr_column *b, uint32_t rb);
/* Below, at or above zero: of values that are neither NULL nor nested. */
int nest_order(const struct sr_column *a, uint32_t ra, const struct sr_column *b, uint32_t rb);
/* Whether values of both types can be compared by nest_equal. */
bool nest_is_alike(const struct sr_type *a, const struct sr_type *b);

/* As CAST writes it: [1, NULL], {a=1}, (1, b); of text just the text. `is_shown`: bytes x'00'. */
void nest_text(struct json_out *o, const struct sr_column *c, uint32_t r, bool is_shown);

/* ARRAY<element>, and MAP<key, value> with `value` given. Kind SR_NULL: out of memory. */
struct sr_type nest_type(struct arena *a, struct sr_type element, const struct sr_type *value);

#endif
