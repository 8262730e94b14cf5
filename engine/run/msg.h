/* What travels between tasks. Control goes in the stream, in order with the rows.
 *
 * A view has one owner: who takes the message. The others carry no memory.
 */
#ifndef SR_RUN_MSG_H
#define SR_RUN_MSG_H

#include <streamrun/batch.h>

enum msg_kind {
    MSG_NONE,
    MSG_VIEW,
    MSG_WATERMARK, /* no row at or before `watermark` is expected any more */
    MSG_IDLE,      /* nothing will come for a while: watermarks need not wait for this stream */
    MSG_ACTIVE,    /* the end of that */
    MSG_BARRIER,   /* all rows before it belong to `checkpoint`, all behind it do not */
    MSG_END        /* nothing follows */
};

enum {
    BARRIER_LAST = 1u << 0,  /* the input ended: no row follows this barrier */
    BARRIER_HOLD = 1u << 1,  /* sources read nothing behind it, unless it is dropped */
    BARRIER_DRAIN = 1u << 2, /* sources send watermark +infinity before it */
    BARRIER_FLAGS = 3        /* bits */
};

struct msg {
    enum msg_kind kind;
    uint32_t flags; /* of a barrier: BARRIER_* */
    union {
        struct sr_view *view;
        int64_t watermark;
        uint64_t checkpoint;
    };
};

#endif
