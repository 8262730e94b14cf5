/* Operators: rows in, at most one view out a call. They answer, they do not push.
 *
 * An operator keeps nothing that must outlive a crash in its own memory: that lives in struct
 * sr_state (state.h), which the engine saves at a barrier; so an operator has no snapshot code. It
 * keeps no cursor across calls but within one row: what it has used up of a view it says in
 * `used`, and the rest can be saved as channel state.
 *
 *   open -> { process | watermark | wake }* -> close
 *
 * close comes after an open that failed too: it takes what is half built.
 */
#ifndef STREAMRUN_OP_H
#define STREAMRUN_OP_H

#include <streamrun/host.h>
#include <streamrun/opt.h>

struct sr_state; /* keyed memory that survives: state.h */

enum sr_step {
    SR_STEP_DONE,  /* finished with this input; there may be an output */
    SR_STEP_AGAIN, /* an output is ready and there is more: call again, `from` moved on by `used` */
    SR_STEP_FAILED /* err is filled */
};

struct sr_bad_row {
    uint16_t row;    /* row number in the input view */
    char words[126]; /* why, as a sentence without its place */
};

#define SR_BAD_ROWS_MAX 64u
#define SR_WAKE_NEVER   INT64_MAX

struct sr_op_io {
    uint32_t port;            /* input of the operator, 0 but for joins and unions */
    const struct sr_view *in; /* borrowed; NULL in watermark calls */
    uint32_t from;            /* live rows of `in` before it are used up already */
    int64_t watermark;        /* in force in front of `in`, whose own rows may move it;
                                 SR_WATERMARK_NONE: none yet */
    /* out, zeroed by the caller */
    uint32_t used;                     /* live rows from `from` on that are done with */
    struct sr_view *out;               /* the caller's from now on; NULL: none */
    uint32_t filtered, late, absorbed; /* of the used rows: dropped by WHERE, too late, went into
                                          state; used = rows passed on + these three + bads */
    uint32_t bads;
    struct sr_bad_row *bad; /* room for SR_BAD_ROWS_MAX */
    uint16_t *late_row; /* row numbers in `in` of the `late` rows, in order; room for SR_BATCH_ROWS;
                           NULL: not wanted */
    int64_t wake_ms;    /* the operator is to be woken at this time of the wall clock, or before;
                           0: as was said before; SR_WAKE_NEVER */
};

struct sr_op_open {
    uint32_t size;
    const struct sr_host *host;
    const void *conf;                  /* of the kind that the operator names in its header */
    struct sr_home *home;              /* where views and columns come from: engine/data/pool.h */
    struct sr_state *state;            /* NULL when the operator declares none */
    const struct sr_schema *const *in; /* by port */
    uint32_t ports;
    const struct sr_schema *out;
    uint32_t part, parts;
};

struct sr_op_type {
    uint32_t size;
    const char *name; /* "calc", "group-aggregate", "window-aggregate" ... */
    const char *doc;
    uint32_t instance_size;
    bool is_keyed; /* has keyed state: its input is split by key */
    sr_rc (*open)(void *op, const struct sr_op_open *o, struct sr_error *err);
    enum sr_step (*process)(void *op, struct sr_op_io *io, struct sr_error *err);
    /* The watermark of the whole input is now `ms`; SR_WATERMARK_END: no row follows. NULL: nothing
     * to do. The engine passes the watermark on behind the last output. */
    enum sr_step (*watermark)(void *op, int64_t ms, struct sr_op_io *io, struct sr_error *err);
    void (*close)(void *op);
    /* The wall clock has come to `now_ms`, which the operator asked for; and once in front of all
     * rows, behind what was restored. DONE has said in wake_ms when next. NULL: never asks. */
    enum sr_step (*wake)(void *op, int64_t now_ms, struct sr_op_io *io, struct sr_error *err);
};

#endif
