/* Elements of ARRAY, MAP and MULTISET in kernels: those of arguments and of growing results. */
#ifndef SR_EXPR_ELEMENTS_H
#define SR_EXPR_ELEMENTS_H

#include "engine/expr/family.h"
#include "engine/expr/kernel.h"

/* Where the elements of argument i lie in its child. */
static inline struct sr_span elements_at(const struct call *k, uint32_t i, uint32_t r)
{
    return ((const struct sr_span *)k->arg[i]->values)[r];
}

static inline bool elements_has(const struct call *k, uint32_t i, uint32_t r)
{
    return valid_bit(k->arg[i]->valid, r);
}

/* A copy becomes the result of row r. */
void elements_give(struct call *k, uint32_t r, const struct sr_column *c, uint32_t from);

/* Elements are added to the result of row r from here on. */
void elements_begin(struct call *k, uint32_t r);
/* Begins it unless an argument is NULL: then so is the result, and the answer is false. */
bool elements_has_all(struct call *k, uint32_t r);
void elements_add(struct call *k, uint32_t r, const struct sr_column *c, uint32_t from);
void elements_add_all(struct call *k, uint32_t i, uint32_t r); /* of argument i */
/* Whether the result of row r holds a value already. */
bool elements_is_in(const struct call *k, uint32_t r, const struct sr_column *c, uint32_t from);
/* The place of a value among the elements of argument i; -1: it is not there. */
int64_t elements_find(const struct call *k, uint32_t i, uint32_t r, const struct sr_column *c,
                      uint32_t from);

/* Ends a bind function: false when memory for the type was short. */
bool elements_settle(struct bind_call *b, struct sr_type t, const struct kernel *kernel);

#endif
