/* The table of functions: one row and one kernel a function. Also the source of their documents.
 *
 * Adding a function: a row in the table of its family (func_text.c, func_math.c ...; family.h says
 * what a row is), and a kernel beside it (kernel.h says what one may do). The row says name, forms
 * and words, and how the result type follows from the arguments.
 */
#ifndef SR_EXPR_FUNC_H
#define SR_EXPR_FUNC_H

#include "engine/expr/expr.h"

/* What `streamrun functions` prints. */
struct func_doc {
    const char *name;   /* "SUBSTRING" */
    const char *family; /* "text", "math", "time", "conditional", "comparison", "aggregate" ... */
    const char *forms;  /* "SUBSTRING(text STRING, start INT [, length INT]) -> STRING" */
    const char *doc;    /* a sentence or two */
};

uint32_t func_count(void);
struct func_doc func_doc(uint32_t i); /* i < func_count(), ordered by name; aggregates too */
const struct func_doc *func_find(const char *name, struct func_doc *out); /* any case; NULL */
const char *func_nearest(const char *name); /* for "did you mean"; NULL: nothing near */

/* --- Aggregate functions: typed here, computed in ops. ---------------------------------------- */

enum agg_kind { AGG_COUNT, AGG_SUM, AGG_MIN, AGG_MAX, AGG_AVG };

struct agg {
    enum agg_kind kind;
    const struct expr *arg; /* NULL: COUNT(*) */
    bool is_distinct;
    const struct expr *filter; /* FILTER (WHERE ...); NULL: none */
    struct sr_type type;
};

bool func_is_aggregate(const char *name);
/* Types an aggregate call; SR_ECONFIG for what does not fit. */
sr_rc agg_bind(const char *name, const struct expr *arg, struct agg *out, struct sr_error *err);

#endif
