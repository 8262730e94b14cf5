/* The head of a task that begins with a source: takes splits, polls them, decodes, stamps.
 *
 *            splits_take -> add
 *   IDLE <-- poll: nothing now        poll: data -> rows, or bytes -> decode -> rows
 *     |      rows are handed on at once             rows are handed on when the batch is full,
 *     '--> waits                                     the split ends, or a barrier comes
 *
 * source_next is called only while the chain behind it is empty, so that positions, watermarks and
 * rows agree. Rows are handed on with their split's number in the view; the chain's stamp operator
 * and stamp.h make watermarks of them.
 */
#ifndef SR_RUN_SOURCE_TASK_H
#define SR_RUN_SOURCE_TASK_H

#include "engine/data/origin.h"
#include "engine/run/crumbs.h"
#include "engine/run/letters.h"
#include "engine/run/msg.h"
#include "engine/run/pace.h"
#include "engine/run/poison.h"
#include "engine/run/splits.h"
#include "engine/run/stamp.h"

/* What the last poll brought and is not decoded yet. */
struct source_block {
    struct sr_poll poll;
    uint32_t used;       /* bytes or records that are decoded */
    uint32_t told;       /* of them, the reader knows */
    bool is_open;        /* there may be more in it */
    uint32_t key_limit;  /* the record whose key could not be read; UINT32_MAX: none is known */
    char key_words[176]; /* why */
    int64_t due_us;      /* monotonic: what is open is decoded no earlier; 0: at once */
};

/* What reads the keys of records. */
struct source_keys {
    void *decoder; /* NULL: there are none */
    bool is_open;
    struct sr_column **col; /* room for a builder of the key's columns */
    struct sr_builder **inner;
    bool *wanted;
    struct sr_span *span; /* by row of a call */
    uint32_t *row_at;
    struct sr_bad *bad;
};

#define SOURCE_ACK_NEXT UINT64_MAX /* of a split that ended: the next checkpoint has it */

/* A position that will be acknowledged when its checkpoint is shown. */
struct source_ack {
    uint64_t checkpoint; /* ascending */
    uint32_t number;
    bool is_end; /* of the split */
    uint32_t note_len;
    uint8_t *note;
};

struct source_split {
    uint32_t number; /* the reader's */
    struct split split;
    struct sr_buffer *id; /* split.id, for origins */
};

struct source {
    const struct plan_node *node;
    struct splits *pool;         /* shared with the other subtasks */
    struct letters *letters;     /* of the task, which may have no target; NULL: there are none */
    const struct poison *poison; /* records to be set aside, whatever they are; NULL: none */
    struct crumb *crumb;         /* of the task; NULL: none */
    struct sr_home *home;
    struct sr_host host;
    struct host_ctx ctx;
    void *reader, *decoder;
    bool is_open, is_decoding; /* reader and decoder were opened */
    struct source_split *split;
    uint32_t splits, capacity;
    uint32_t next_number;
    struct split_list finished; /* by this subtask */
    struct sr_builder rows;
    uint32_t rows_split; /* number of the split that the rows are from */
    struct source_block block;
    struct sr_bad *bad;
    struct source_keys keys;
    uint32_t *record_of;      /* framed: by row in hand, which record of the poll */
    struct sr_origin *origin; /* of the rows in hand; NULL: there are none */
    struct sr_buffer *copy;   /* of the block's bytes, which came without a buffer; NULL: none */
    const struct plan *plan;
    uint32_t number; /* of its node */
    bool is_narrow;  /* records are read one by one: some of them is suspected */
    bool has_lines;  /* records are text: lines are counted */
    bool keeps_raw;  /* some row may have to be set aside as it was read */
    struct stamp stamp;
    struct counters count;
    struct pace pace;
    struct source_ack *ack;
    uint32_t acks, ack_capacity;
    bool must_seal;     /* rows are to be handed on before anything else */
    int64_t ending;     /* number of a split that is read to its end; -1: none */
    int64_t empty_mark; /* what a poll had brought in all; see source_is_empty */
    uint32_t empties;   /* polls in a row that said data, and brought none */
    bool is_idle;       /* told down the stream */
    bool has_said_bad;
    bool is_halted; /* the reader was told that the job is about to stop */
};

enum source_got {
    SOURCE_MSG,  /* *m: a view, a watermark (behind the stamp), idle or active */
    SOURCE_DID,  /* got on: call again */
    SOURCE_WAIT, /* nothing now: *wait */
    SOURCE_END,  /* every split is read to its end */
    SOURCE_FAILED
};

struct source_conf {
    const struct plan *plan;
    const struct plan_node *node;
    const struct env *env;
    struct sr_home *home;
    struct splits *pool;
    struct letters *letters;
    const struct poison *poison;
    struct crumb *crumb;
    uint32_t part, parts;
};

sr_rc source_open(struct source *s, const struct source_conf *conf, struct sr_error *err);
void source_close(struct source *s); /* half-open ones too */

enum source_got source_next(struct source *s, int64_t now_us, struct msg *m, struct sr_wait *wait,
                            struct sr_error *err);
/* The job is about to stop, or goes on after all. True: the barrier may go; else source_next. */
bool source_halt(struct source *s, bool is_halted);
/* Rows not handed on yet, as a view; NULL: none. Before a barrier. */
sr_rc source_seal(struct source *s, struct msg *m, struct sr_error *err);
/* Positions of all splits, and what was read to its end; then what waits in the pool, unless
 * another subtask has saved that for this checkpoint. */
sr_rc source_save(struct source *s, uint64_t checkpoint, struct sr_out *splits,
                  struct sr_out *waiting, struct sr_error *err);
/* Checkpoint n was shown. */
void source_acknowledge(struct source *s, uint64_t n);

#endif
