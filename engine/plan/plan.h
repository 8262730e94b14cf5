/* The frozen plan: what runs, where, and how its parts are joined. Made once, read by all threads.
 *
 *   node    one operator: a source, an operator, a sink; with a uid that its state belongs to
 *   vertex  a chain of nodes that run in one task by plain calls; every node is in one
 *   task    one subtask of a vertex; run makes `parallelism` of them
 *   edge    between vertices: rings, one a pair of subtasks that talk
 *
 * Nodes and vertices are in topological order: inputs come before those that read them. All of it
 * lives in one arena, with the job that it was made from.
 */
#ifndef SR_PLAN_PLAN_H
#define SR_PLAN_PLAN_H

#include "engine/plan/job.h"

enum plan_node_kind { PLAN_SOURCE, PLAN_OP, PLAN_SINK };

/* Records with keys: which columns are in the key, which in the value. */
struct plan_keyed {
    struct sr_keyed how;         /* key_format NULL: no key is read or written */
    struct sr_schema key, value; /* that `how` points to; the value's of sinks only */
    bool is_apart;               /* the value has no column of the key */
};

struct plan_node {
    enum plan_node_kind kind;
    const char *uid;  /* stable: state belongs to it. The step's name, with a suffix where a step
                           became several nodes with state */
    const char *name; /* for people: "pages: calc" */
    const char *step; /* of the job file; "t + u" when one calc does the work of both */
    uint32_t vertex;
    const struct sr_schema *out; /* rows that it gives; for a sink: rows that it takes */
    uint32_t inputs;
    const uint32_t *input; /* nodes; by port */
    enum job_on_error on_error;
    enum job_on_late on_late; /* PLAN_OP with windows */
    /* PLAN_SOURCE: source, decode (unless makes_rows), `stamp` for the watermark */
    const struct sr_source_type *source;
    const void *conf; /* source or sink */
    struct sr_source_caps source_caps;
    const struct sr_schema *read;    /* columns that the source or its format fills */
    const struct sr_schema *brought; /* the same without metadata, which stand behind */
    const struct sr_schema *valued;  /* its first columns, which the value's format fills */
    const struct plan_keyed *keyed;  /* sources and sinks; NULL: no keys */
    const uint32_t *metadata;        /* of the source type's */
    uint32_t metadatas;
    const uint32_t *format_metadata; /* of the format's: the last columns of `valued` */
    uint32_t format_metadatas;
    const bool *wanted; /* by column of `read`: used by someone */
    const struct sr_format_type *format;
    const void *format_conf;
    uint32_t format_flags;
    /* The first nodes behind a source in its chain may be a "calc" for computed columns; a
     * "watermark" operator, if there is one, is the node `stamp`, in the same chain. */
    int32_t stamp;               /* node; -1: the source has no watermark */
    int64_t idle_timeout_us;     /* 0: never idle */
    int64_t watermark_period_us; /* 0: each row may move it; INT64_MAX: none does */
    int64_t rate_limit;          /* records a second, of all subtasks; 0: none */
    /* PLAN_OP */
    const struct sr_op_type *op;
    const void *op_conf; /* a struct of expr/steps.h */
    /* PLAN_SINK */
    const struct sr_sink_type *sink;
    struct sr_sink_caps sink_caps;
    bool is_updating;            /* PLAN_SINK: takes +U, -U and -D too */
    enum sr_guarantee guarantee; /* of the whole path */
};

enum plan_ship {
    SHIP_FORWARD,  /* subtask i to subtask i: the parallelism is the same */
    SHIP_HASH,     /* by key group of `key` */
    SHIP_REBALANCE /* round robin, a view at a time; to 1: gather */
};

struct plan_edge {
    uint32_t from, to;  /* vertices */
    uint32_t from_node; /* the node whose rows travel: the last of its chain */
    uint32_t to_node, to_port;
    enum plan_ship ship;
    const uint32_t *key; /* columns of from_node->out, for SHIP_HASH */
    uint32_t keys;
};

struct plan_vertex {
    const char *name; /* "events -> pages -> table" */
    uint32_t nodes;
    const uint32_t *node; /* in order of calls: rows go from node[i] to node[i + 1] */
    uint32_t parallelism;
    uint32_t ins, outs;
    const uint32_t *in, *out; /* edges; `out` only from its last node, so a chain does not branch
                                 inside: a node with several readers ends its chain */
};

/* Columns of a dead letter, in this order. */
enum plan_aside_column {
    ASIDE_TIME,
    ASIDE_STEP, /* whose decode, expression or write failed */
    ASIDE_SOURCE,
    ASIDE_SPLIT,
    ASIDE_OFFSET,
    ASIDE_LINE,
    ASIDE_ERROR,
    ASIDE_RAW,     /* base64 */
    ASIDE_ATTEMPT, /* of the job: 1 is its first run */
    ASIDE_COLUMNS
};
extern const struct sr_schema plan_aside_schema;

/* Where records go that are set aside. Its node is a sink of no vertex: each task that needs one
 * has a writer of its own. */
struct plan_dead_letter {
    struct plan_node node;
    const struct sr_format_type *row_format; /* of rows whose bytes are not kept; NULL: none */
    const void *row_format_conf;
    int64_t total_max, minute_max; /* 0: no limit */
};

struct plan {
    const struct job *job;
    uint32_t nodes, vertices, edges;
    const struct plan_node *node;
    const struct plan_vertex *vertex;
    const struct plan_edge *edge;
    uint32_t max_parallelism;
    bool is_bounded;                            /* every source ends by itself */
    const struct plan_dead_letter *dead_letter; /* NULL: the job has none */
};

/* Do subtasks of this vertex write dead letters? */
bool plan_sets_aside(const struct plan *p, const struct plan_vertex *v);
uint32_t plan_aside_writers(const struct plan *p); /* subtasks that do */
/* What dead letters have, of a plan with some; *weakest: why it is not more, or NULL. */
enum sr_guarantee plan_aside_guarantee(struct arena *a, const struct plan *p, const char **weakest);

/* The first sink, or that of dead letters, whose target's transaction decides about checkpoints
 * (streamrun/decider.h); NULL: none. All others that have a decider share it: bind sees to that. */
const struct plan_node *plan_decider(const struct plan *p);
/* Is this sink one of them? Where its path keeps less than exactly-once it is not. */
bool plan_is_decided(const struct plan_node *n);
/* Do subtasks of this vertex write into the transaction that decides? */
bool plan_has_decider(const struct plan *p, const struct plan_vertex *v);

/* Fills `region` by vertex, and answers how many there are: what is joined by edges, or writes dead
 * letters to the same target, or into the same transaction, fails and restarts together; with
 * failover-strategy `full` all. In the order of their first vertices, from 0. */
uint32_t plan_regions(const struct plan *p, uint32_t *region);

/* One way of rows from a source to a sink, and what is promised on it. */
struct plan_path {
    uint32_t source_node, sink_node;
    enum sr_guarantee guarantee; /* what it really has, whatever the sink claims */
    const char *weakest;         /* why it is not more: "sink 'out' (print) writes ..."; NULL: it is
                                    exactly-once */
    bool is_decided;             /* the sink's target decides: see plan_decider */
};
/* In order of sinks, then sources. */
uint32_t plan_paths(struct arena *a, const struct plan *p, const struct plan_path **out);
const char *plan_guarantee_words(enum sr_guarantee g);     /* "exactly-once" */
const char *plan_path_words(const struct plan_path *path); /* the same, and by what means */
/* What a node does, in one line: "csv; 2 of 4 columns", "WHERE a > 1; a, b * 2 AS c". */
const char *plan_node_text(struct arena *a, const struct plan *p, uint32_t node);

/* A drawing for people, `dot` text, or JSON; in the arena. */
const char *plan_text(struct arena *a, const struct plan *p);
const char *plan_dot(struct arena *a, const struct plan *p);
const char *plan_json(struct arena *a, const struct plan *p);

#endif
