/* What the files of this room share while one job is bound.
 *
 *   bind.c        names, order, cycles, the job's own checks; calls the others step by step
 *   expression.c  a syntax tree + the columns in sight -> struct expr
 *   columns.c     the columns that a source or sink declares
 *   source.c  transform.c  aggregate.c  sink.c   one step each, to logical nodes
 *   keyed.c  which columns are in the keys of records
 *   dead_letter.c  where records go that are set aside
 *   feed.c    where rows of a replay join
 *
 * A function that fails has added its fault; the caller only stops. NULL from an expression means
 * just that.
 */
#ifndef SR_BIND_BINDER_H
#define SR_BIND_BINDER_H

#include "engine/bind/bind.h"
#include "engine/plan/logic.h"
#include "engine/plan/plan.h"
#include "engine/sql/parse.h"

/* A step of the job on its way to logical nodes. */
struct bound {
    const struct job_step *step;
    const struct ast *query; /* of `sql:`; NULL */
    struct bound **from;
    uint32_t froms;
    uint32_t waiting;   /* inputs that are not bound yet: Kahn's order */
    bool is_read;       /* some step names it */
    bool has_failed;    /* or something that it reads did */
    struct logic *tail; /* gives its rows; NULL until bound, or failed */
};

struct binder {
    struct arena *arena;
    const struct job *job; /* NULL for a bare expression */
    struct registry *registry;
    struct faults *faults;
    struct logic_graph *graph;
    struct bound *step;
    uint32_t steps;
    bool is_unsure; /* a query could not be read: what it reads is not known */
};

/* --- Faults ----------------------------------------------------------------------------------- */

/* At byte `offset` of a text of the job. hint may be NULL. */
void bind_fault(struct binder *b, const struct job_text *t, uint32_t offset, const char *hint,
                const char *fmt, ...) SR_PRINTF(5, 6);
void bind_fault_at(struct binder *b, struct place at, const char *hint, const char *fmt, ...)
    SR_PRINTF(4, 5);
/* Parses a text of the job; NULL: its fault is added. */
const struct ast *bind_parse(struct binder *b, enum parse_what what, const struct job_text *t);
/* The format of a step needs records that are framed, and its connector frames none. */
void bind_no_frames(struct binder *b, const struct job_step *step, const char *connector);
/* A node or a piece of memory was not to be had: adds that fault, answers false. */
bool bind_no_memory(struct binder *b);
/* Where a source or sink names its connector, else its own name. */
struct place bind_connector_place(const struct job_step *step);

/* --- Expressions ------------------------------------------------------------------------------ */

struct agg_scope; /* aggregate.h */

/* What an expression may refer to. */
struct scope {
    struct binder *binder;
    const struct job_text *text; /* where the syntax tree is from */
    const struct sr_schema *in;  /* NULL: no column at all */
    const char *table;           /* a qualifier that names `in`; NULL: none */
    const char *alias;           /* another one; NULL: none */
    struct agg_scope *agg;       /* behind GROUP BY: see aggregate.c; NULL: no aggregates here */
    bool takes_json;             /* the next expression may be JSON(...) */
};

const struct expr *bind_expr(struct scope *s, const struct ast *n);
/* The same, but must be BOOLEAN. `what` names the clause: "where". */
const struct expr *bind_condition(struct scope *s, const struct ast *n, const char *what);
bool bind_is_table(const struct scope *s, const char *name); /* what is read, or its alias */
/* Column of s->in that an AST_NAME means; -1 with a fault. */
int32_t bind_column(struct scope *s, const struct ast *name);
/* A constant INTERVAL of days to seconds, in ms; false with a fault. */
bool bind_interval_ms(struct scope *s, const struct ast *n, int64_t *ms);

/* --- Columns ---------------------------------------------------------------------------------- */

struct columns {
    uint32_t count;
    struct sr_field *field;       /* all, in their order */
    const struct ast **computed;  /* by column: AS expr; NULL: it is filled by the source */
    const struct job_text **text; /* by column: where `computed` is from */
    uint32_t *at;                 /* by column: where it stands in that text */
    const struct ast **metadata;  /* by column: AST_COLUMN that asks for it; NULL: it is none */
    int32_t *written;             /* by column: which of a sink's metadata it is; -1: none */
    const struct ast *watermark;  /* AST_WATERMARK; NULL: none */
    const struct job_text *watermark_text;
    struct job_texts keys; /* names of the primary key */
};

/* Reads `schema:` in both forms, `watermark:` and `primary-key:`. False: faults added. */
bool columns_read(struct binder *b, const struct job_step *step, struct columns *out);
/* Columns of s by name; NULL with faults. */
const uint32_t *columns_keys(struct binder *b, const struct job_texts *names,
                             const struct sr_schema *s, uint32_t *count);

/* --- Keys of records -------------------------------------------------------------------------- */

/* Sets is_key[c] of the fields of s that are in the key, in no order; false: faults added. Nothing
 * where the step has no key format. */
bool keyed_find(struct binder *b, const struct job_step *step, const struct sr_schema *s,
                bool *is_key);
/* The key's part of a step: its columns in the order of key.fields. `s` has what is read or
 * written; checks the key's format. NULL: faults added. */
struct plan_keyed *keyed_make(struct binder *b, const struct job_step *step,
                              const struct sr_schema *s);

/* --- Steps ------------------------------------------------------------------------------------ */

/* Each sets s->tail, or s->has_failed after adding its faults. */
void bind_source(struct binder *b, struct bound *s);
void bind_transform(struct binder *b, struct bound *s);
void bind_sink(struct binder *b, struct bound *s);

/* The target of dead letters, checked, into the graph; and what of it depends on the plan. */
void bind_dead_letter(struct binder *b);
void bind_check_dead_letter(struct binder *b, const struct plan *p);
/* At most one transaction decides about checkpoints, and it outlives them. */
void bind_check_deciders(struct binder *b, const struct plan *p);

/* The rows of all inputs of s as one node: the input itself, or a union. NULL with faults. */
struct logic *bind_inputs(struct binder *b, struct bound *s);
/* `in`, the inputs of `step`, or them and what is to be replayed to that step only. NULL with
 * faults. */
struct logic *bind_replays(struct binder *b, const struct job_step *step, struct logic *in);
/* `in`, or it and the rows that join `step` there. NULL with faults. */
struct logic *bind_feed(struct binder *b, const struct job_step *step, struct logic *in,
                        enum job_feed_at at);
enum job_on_error bind_on_error(const struct job_step *step, const struct logic *input);

/* --- Select lists ----------------------------------------------------------------------------- */

/* A calc over `input` while its columns are collected. */
struct select {
    struct binder *binder;
    const struct sr_schema *in;
    struct sr_field *field;
    const struct expr **expr;
    const struct job_text **text; /* by column, for faults */
    uint32_t *at;
    uint32_t count, capacity;
    bool has_failed;
};

/* One AST_ITEM: an expression, `*` or `t.*`. */
void select_add(struct select *l, struct scope *s, const struct ast *item);
void select_put(struct select *l, const char *name, const struct expr *e, const struct job_text *t,
                uint32_t at);
/* The LOGIC_CALC of the list behind `input`; NULL with faults. */
struct logic *select_calc(struct select *l, const struct job_step *step, struct logic *input,
                          const struct expr *condition);

#endif
