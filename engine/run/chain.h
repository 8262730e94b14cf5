/* The operators of a vertex in one task, called one behind the other without recursion.
 *
 * Every level holds at most one view that it works on, and the watermark that follows it. The
 * deepest level that has work goes on first, so nothing overtakes and nothing piles up; what comes
 * out at the end is taken by the caller before the chain goes on. Between any two calls of an
 * operator the chain can stop.
 *
 *   chain_open -> { chain_put -> { chain_run -> message }* }* -> chain_close
 *
 * A watermark travels in the view that moves it as long as operators have no use for watermarks; an
 * operator that has is told behind the view, and passes it on behind its last output.
 */
#ifndef SR_RUN_CHAIN_H
#define SR_RUN_CHAIN_H

#include "engine/data/host.h"
#include "engine/run/letters.h"
#include "engine/run/msg.h"
#include "engine/run/stamp.h"
#include "engine/state/backend.h"

struct chain_level {
    const struct plan_node *node;
    void *op;               /* the operator's instance */
    bool was_opened;        /* or open failed: it is to be closed */
    struct sr_state *state; /* NULL: it has none */
    struct sr_host host;
    struct host_ctx ctx;
    const struct sr_schema **in; /* by port */
    struct counters count;
    struct sr_view *view; /* being worked on; NULL: none */
    uint32_t from;        /* its live rows before it are done */
    uint32_t port;
    int64_t watermark; /* to be told behind the view; SR_WATERMARK_NONE: none */
    int64_t told;      /* the last one */
    int64_t wake_ms;   /* wall clock: when it is to be woken; SR_WAKE_NEVER */
};

struct chain {
    uint32_t levels;
    struct chain_level *level;
    struct sr_home *home;
    struct stamp *stamp; /* of a source task; NULL: none */
    uint32_t stamp_level;
    struct sr_bad_row *bad;
    uint16_t *late_row;
    const struct plan *plan;
    struct letters *letters; /* of the task */
    uint32_t work;           /* levels from here on have nothing to do */
    struct msg out;          /* came out, and was not taken yet */
    int64_t out_watermark;   /* behind it */
    bool has_sleepers;       /* some operator may ask to be woken */
};

struct chain_conf {
    const struct plan *plan;
    const struct plan_vertex *vertex;
    const struct env *env;
    struct sr_home *home;
    struct letters *letters; /* of the task, which may have no target; NULL: there are none */
    uint32_t part;
};

/* Opens the operators among the nodes of the vertex (a source in front and a sink behind are not
 * its business). Half-opened chains are closed by chain_close too. */
sr_rc chain_open(struct chain *c, const struct chain_conf *conf, struct sr_error *err);
void chain_close(struct chain *c);

/* Gives a view or a watermark to a level; only while the chain is empty from there on. */
void chain_put(struct chain *c, uint32_t level, const struct msg *m, uint32_t port);
bool chain_is_empty(const struct chain *c);
/* Wakes one operator that is due by the wall clock: *did; else *next_ms is when one will be. Only
 * while the chain is empty. */
sr_rc chain_wake(struct chain *c, int64_t wall_ms, bool *did, int64_t *next_ms,
                 struct sr_error *err);
/* Goes on until something comes out (a view or a watermark), or nothing is left, or dead letters
 * have to be written first: MSG_NONE. */
sr_rc chain_run(struct chain *c, int64_t now_us, struct msg *out, struct sr_error *err);

#endif
