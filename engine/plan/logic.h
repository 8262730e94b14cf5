/* The logical graph of a job: what is to be computed, not yet where.
 *
 * bind makes it, steps in the order of the graph; plan_make (make.h) rewrites it (prune.c, fuse.c)
 * and turns what is left into a struct plan. The binder may be lavish: it puts a LOGIC_CALC in
 * front of every aggregate, every input of a union and every sink, and behind every source; the
 * rewrites take away those that change nothing.
 *
 *   source:     SOURCE [CALC computed] [WATERMARK] CALC
 *   transform:  [UNION of CALCs] CALC [AGGREGATE CALC]
 *   sink:       [UNION of CALCs] CALC SINK
 */
#ifndef SR_PLAN_LOGIC_H
#define SR_PLAN_LOGIC_H

#include "engine/expr/steps.h"
#include "engine/plan/job.h"

struct plan_dead_letter; /* plan.h */
struct plan_keyed;       /* plan.h */

enum logic_kind {
    LOGIC_SOURCE,
    LOGIC_WATERMARK,
    LOGIC_CALC,
    LOGIC_AGGREGATE,
    LOGIC_UNION,
    LOGIC_SINK
};

struct logic {
    enum logic_kind kind;
    const struct job_step *step;
    enum job_on_error on_error;
    enum job_on_late on_late;
    const struct sr_schema *out; /* for a sink: rows that it takes */
    struct logic **input;        /* all of one schema; more than one only for LOGIC_UNION */
    uint32_t inputs;
    uint32_t ways;    /* by which rows come here, unions taken apart; at most LOGIC_WAYS_MAX + 1 */
    bool is_updating; /* gives +U, -U, -D too */
    uint32_t keys;    /* updating: columns of `out` that name a row; 0: not known */
    const uint32_t *key;
    /* LOGIC_SOURCE; `out` is what the source or its format fills, metadata behind the rest */
    const struct sr_schema *brought; /* without metadata; NULL: the same as out */
    const struct sr_schema *valued;  /* without the key's columns; NULL: the same as brought */
    const struct plan_keyed *keyed;  /* and LOGIC_SINK; NULL: no keys */
    const uint32_t *metadata;        /* of the source type's, by column behind `brought` */
    uint32_t metadatas;
    const uint32_t *format_metadata; /* of the format's, the last columns of `valued` */
    uint32_t format_metadatas;
    struct sr_source_caps source_caps;
    uint32_t format_flags;
    bool *wanted; /* by column of `out`; set by prune */
    /* LOGIC_WATERMARK */
    const struct expr *at;
    /* LOGIC_CALC: one expression a column of `out` */
    const struct expr *condition;
    const struct expr **expr;
    /* LOGIC_AGGREGATE; keys and arguments are columns of the input */
    struct aggregate_step aggregate;
    /* LOGIC_SINK */
    struct sr_sink_caps sink_caps;
    const int32_t *written; /* by column: which of the type's metadata it is, -1: none; NULL: no
                               column is any */
    /* the rewrites' own */
    uint32_t fused; /* LOGIC_CALC: transforms that it does the work of; 0: only `step` */
    const struct job_step *const *fused_step;
    uint32_t number;      /* its place in the graph */
    uint32_t readers;     /* live nodes that read it */
    uint32_t parallelism; /* set by place */
    bool is_gone;         /* taken away by a rewrite */
    bool *needed;         /* by column of `out` */
    int32_t *moved;       /* by column of `out` before pruning: where it is now; -1: gone */
};

#define LOGIC_NODES_MAX 10000u /* of one job */
#define LOGIC_WAYS_MAX  10000u /* to one node, and edges of a job: a union of unions multiplies */

struct logic_graph {
    struct arena *arena;
    const struct job *job;
    uint32_t nodes, capacity;
    struct logic **node;                        /* inputs before their readers */
    const struct plan_dead_letter *dead_letter; /* NULL: none */
    const struct job_step *culprit; /* when a rewrite refuses: whose fault it is; NULL: not known */
};

struct logic_graph *logic_graph_new(struct arena *a, const struct job *job); /* NULL: no memory */
/* A new node of the graph; NULL: no memory, or the limit. */
struct logic *logic_add(struct logic_graph *g, enum logic_kind kind, const struct job_step *step,
                        struct logic *const *input, uint32_t inputs);
/* A LOGIC_CALC that passes all columns of its input on, under their names. */
struct logic *logic_add_identity(struct logic_graph *g, const struct job_step *step,
                                 struct logic *input);
/* Whether column c is the time of processing: PROCTIME(), passed on as it is. A proctime window's
 * window_time is too. */
bool logic_is_proctime(const struct logic *n, uint32_t c);
/* "t", "t + u" */
const char *logic_steps(struct arena *a, const struct logic *n);
void logic_count_readers(struct logic_graph *g);
/* True when a calc passes exactly the columns of its input, and drops no row. */
bool logic_is_identity(const struct logic *n);

/* --- Rewrites, in this order (each ends with a graph that gives the same rows) ---------------- */

/* Takes away columns that nobody reads; sources learn which of theirs are wanted. */
sr_rc logic_prune(struct logic_graph *g, struct sr_error *err);
/* Decides how many subtasks each node has. */
sr_rc logic_place(struct logic_graph *g, struct sr_error *err);
/* Makes one calc of neighbours, takes away calcs that change nothing. */
sr_rc logic_fuse(struct logic_graph *g, struct sr_error *err);

#endif
