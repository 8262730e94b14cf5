/* CAST and TRY_CAST: which kernel takes a value from one type to another. */
#ifndef SR_EXPR_CAST_H
#define SR_EXPR_CAST_H

#include "engine/expr/kernel.h"

/* NULL: Flink has no such cast, or *why says what stands against it. */
const struct kernel *cast_kernel(const struct sr_type *from, const struct sr_type *to,
                                 const char **why);
const struct func *cast_func(bool is_try);
/* The values stay as they are, only the type's name changes: the compiler makes no step. */
extern const struct kernel cast_alias;

/* By the kinds on both sides; NULL: none. cast_number: BOOLEAN and numbers. cast_from_text,
 * cast_to_text: text and bytes on that side. cast_time: dates and times. */
const struct kernel *cast_number(const struct sr_type *from, const struct sr_type *to);
/* Integers as months, or as milliseconds. */
const struct kernel *cast_interval(const struct sr_type *from, const struct sr_type *to);
const struct kernel *cast_from_text(const struct sr_type *to);
const struct kernel *cast_to_text(const struct sr_type *from, const struct sr_type *to);
/* Of ROW, ARRAY and MAP. */
const struct kernel *cast_nested(const struct sr_type *from, const struct sr_type *to,
                                 const char **why);
const struct kernel *cast_time(const struct sr_type *from, const struct sr_type *to);

#endif
