/* A kernel of an aggregate function, for the files that compute them: agg.c folds rows and gives
 * results, agg_merge.c folds what one entry holds into another. */
#ifndef SR_OPS_AGG_KERNEL_H
#define SR_OPS_AGG_KERNEL_H

#include <string.h>

#include "engine/ops/agg.h"

typedef sr_rc agg_fold_fn(const struct accumulator *c, struct sr_map *m,
                          const struct agg_rows *rows);
typedef sr_rc agg_result_fn(const struct accumulator *c, const struct sr_map *m,
                            const struct agg_places *p);

/* How a type lies in memory, as far as aggregates care. */
enum agg_form {
    AGG_NONE, /* COUNT: whatever the argument is */
    AGG_I8,
    AGG_I16,
    AGG_I32,
    AGG_I64,
    AGG_F32,
    AGG_F64,
    AGG_DECIMAL, /* of any width */
    AGG_INSTANT, /* timestamps of more than 6 digits */
    AGG_U8,
    AGG_TEXT,
    AGG_FORM_COUNT
};

struct agg_kernel {
    enum agg_kind kind;
    enum agg_form form;
    bool has_count, can_retract;
    enum sr_kind kept; /* type of the value column; SR_NULL: the argument's */
    agg_fold_fn *fold;
    agg_result_fn *result;
};

/* Below, at or above zero, by bytes. */
static inline int agg_compare_text(const char *a, uint32_t la, const uint8_t *b, uint32_t lb)
{
    uint32_t common = la < lb ? la : lb;
    int order = common > 0 ? memcmp(a, b, common) : 0;
    return order != 0 ? order : (la > lb) - (la < lb);
}

#endif
