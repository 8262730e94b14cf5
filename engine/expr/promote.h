/* Which type two types have in common, by Flink's rules; and which casts there are. */
#ifndef SR_EXPR_PROMOTE_H
#define SR_EXPR_PROMOTE_H

#include <streamrun/types.h>

/* An integer type as the DECIMAL that holds it; a DECIMAL as it is. */
struct sr_type promote_decimal(const struct sr_type *t);
/* DECIMAL(p, s), cut to 38 digits as Flink does it: digits before the point come first. */
struct sr_type promote_decimal_of(int32_t precision, int32_t scale);

/* The type of `a op b` for op in "+-*", '/' and '%' over numbers. False: there is none. */
bool promote_arith(char op, const struct sr_type *a, const struct sr_type *b, struct sr_type *out);
/* The type that CASE, COALESCE, GREATEST ... give to two branches. False: there is none. */
bool promote_branch(const struct sr_type *a, const struct sr_type *b, struct sr_type *out);
/* The type in which two values are compared. False: they are not comparable. `is_equality`: Flink
 * refuses = and <> between numbers and text, though not < and the like. */
bool promote_compare(bool is_equality, const struct sr_type *a, const struct sr_type *b,
                     struct sr_type *out);
/* Whether a value of type `from` may stand where `to` is asked for, without a CAST. */
bool promote_implicit(const struct sr_type *from, const struct sr_type *to);

#endif
