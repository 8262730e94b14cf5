/* Grouping: GROUP BY with or without a window, and the expressions behind it.
 *
 * Between the input and the select list two nodes are put:
 *   CALC       keys, the time attribute, arguments and filters of the aggregates, as columns
 *   AGGREGATE  keys, the window's bounds, results
 * While the select list is bound, agg_scope_bind answers keys, window columns and aggregates as
 * columns of AGGREGATE, and collects what CALC must compute.
 */
#ifndef SR_BIND_AGGREGATE_H
#define SR_BIND_AGGREGATE_H

#include "engine/bind/binder.h"

#define AGG_KEYS_MAX  64u  /* of one GROUP BY */
#define AGG_CALLS_MAX 256u /* aggregates of one step */

/* A grouping as it is written: in short form or in SQL. */
struct grouping {
    const struct job_text *window_text; /* NULL: no window */
    const char *window;                 /* "TUMBLE" */
    const struct ast *time;             /* AST_NAME of the time attribute */
    const struct ast *const *arg;       /* behind the time attribute */
    uint32_t args;
    uint32_t at;               /* of the window in its text */
    const struct logic *input; /* what is grouped */
    bool is_older; /* GROUP BY HOP(...): any slide up to the size will do, as in Flink */
    const struct job_text *key_text[AGG_KEYS_MAX]; /* by key */
    const struct ast *key[AGG_KEYS_MAX];
    uint32_t keys;
};

struct agg_scope {
    struct scope input; /* what is grouped */
    const struct grouping *grouping;
    struct select calc; /* columns in front of the aggregate */
    uint32_t key_column[AGG_KEYS_MAX];
    uint32_t time_column;
    int64_t size_ms, slide_ms, offset_ms;
    enum window_kind window;
    bool is_proctime;
    struct agg agg[AGG_CALLS_MAX];
    const struct job_text *agg_text[AGG_CALLS_MAX]; /* where each was first written */
    uint32_t agg_at[AGG_CALLS_MAX];
    uint32_t aggs;
    struct sr_schema out; /* of the aggregate; grows while aggregates are found */
    struct sr_field *field;
};

/* Binds keys and window. NULL with faults. */
struct agg_scope *agg_scope_new(const struct scope *input, const struct grouping *g);
/* Answers n as a column of the aggregate; *is_settled false: n is an ordinary node, whose parts
 * come here again. */
const struct expr *agg_scope_bind(struct scope *s, const struct ast *n, bool *is_settled);
/* The nodes, once the select list is bound. NULL with faults. */
struct logic *agg_scope_nodes(struct agg_scope *g, const struct job_step *step, struct logic *input,
                              const struct expr *where);

#endif
