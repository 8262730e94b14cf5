/* Sources and sinks: where rows enter and leave.
 *
 * The engine owns an instance's memory (the `*_size` of the type, zeroed, 16-byte aligned) and its
 * thread: no two calls on one instance overlap. No call waits: one that would have to says so
 * through struct sr_wait and is made again when the wait is over. A close follows every open, one
 * that failed too: it takes what is half built.
 *
 * A source consists of splits: a file, a part of a file, a partition, a range of event numbers. A
 * discoverer (one a source) names splits, now and later; readers (one a subtask) read the ones
 * given to them. The position is kept per split as a note of any size, so that splits go to other
 * readers when parallelism changes. Reading resumes at exactly the record behind the last one
 * consumed.
 *
 *   check (plan time, no instance)
 *   discoverer  discover_open -> { known | restored }* -> { discover }* -> discover_close
 *   reader      open -> { add | poll -> metadata* -> consume | position | acknowledge }* -> close
 *   sink        open -> restore* -> recover -> { write* -> prepare -> commit* }* -> close
 */
#ifndef STREAMRUN_CONNECTOR_H
#define STREAMRUN_CONNECTOR_H

#include <streamrun/format.h>

/* What a call that cannot go on waits for: a descriptor, a time, or whichever comes first. */
struct sr_wait {
    int fd;           /* -1: none */
    bool is_write;    /* wait until fd takes bytes; else until it has some */
    int64_t until_us; /* monotonic; INT64_MAX: no time */
};

/* Bytes that the receiver copies. */
struct sr_bytes {
    const void *data;
    uint32_t len;
};

struct sr_split {
    const char *id;       /* stable and unique in its source: a path, a topic and partition */
    struct sr_bytes note; /* what a reader needs to begin, or to go on where it was */
    int64_t order;        /* splits are given out by ascending order, then id: oldest first */
    int64_t size_bytes;   /* that are to be read in all, for progress only; 0: not known */
};

/* --- Sources -------------------------------------------------------------------------------- */

struct sr_source_caps {
    bool is_bounded;    /* ends by itself */
    bool can_rewind;    /* positions can be gone back to */
    bool makes_rows;    /* fills columns itself; else gives bytes to a format */
    uint32_t parts_max; /* subtasks that make sense; 0: any number */
    bool resends; /* at-least-once: who sends is told of shown checkpoints, and sends the rest */
    /* What this source alone may use, as people call it: a pipe, a journal's directory, an address;
     * two sources of a job that name the same are a fault. NULL: nothing. As long as the conf. */
    const char *exclusive[2];
    bool upserts;      /* a record replaces the row of its key, or, without a value, deletes it */
    bool side_by_side; /* bounded: all splits are read at once; else one a reader, oldest first */
    bool frames;       /* polls give whole records; so do those of a type that has_keys */
    bool has_backlog;  /* unbounded: what is there first is a backlog, until it was read */
};

struct sr_source_open {
    uint32_t size;
    const struct sr_host *host;
    const void *conf;
    const struct sr_schema *schema; /* columns to fill, in order; as the job declares them */
    uint32_t format_flags;          /* SR_FORMAT_* of the job's format; 0 when makes_rows */
    uint32_t part, parts; /* of the reader; 0 and the number of readers for a discoverer */
    /* Of a reader: which of the type's metadata the job asks for. The i-th is column
     * schema->fields + i of the builder that fill_metadata gets; poll's has only the schema's. */
    const uint32_t *metadata;
    uint32_t metadatas;
    bool is_checkpointed; /* checkpoints are taken before the end too, and acknowledged */
    /* Behind the end of what is there the job goes on in a later run: what may not be complete yet
     * is left to it (a last line without its newline), and splits that ended may go on. */
    bool goes_on;
    bool wants_keys; /* of a type that has_keys: polls are to show them */
};

/* Takes the splits that a discoverer names. */
struct sr_splits {
    sr_rc (*add)(struct sr_splits *s, const struct sr_split *split); /* copies */
    /* In the first call of discover: split `number` of those restored goes on with another note,
     * order and size, under its id; or keeps them as one that is read to its end. Copies. */
    sr_rc (*change)(struct sr_splits *s, uint32_t number, const struct sr_split *now,
                    bool is_finished);
    /* The same call: what is known of it is not kept, and its id may be used anew. */
    void (*forget)(struct sr_splits *s, uint32_t number);
};

enum sr_discovered {
    SR_DISCOVERED_ALL,   /* no split will follow */
    SR_DISCOVERED_SOFAR, /* look again at wait.until_us */
    SR_DISCOVER_FAILED
};

enum sr_polled {
    SR_POLL_DATA,      /* rows or bytes of one split; may be none */
    SR_POLL_IDLE,      /* nothing now: see wait */
    SR_POLL_SPLIT_END, /* the split is read to its end, for ever */
    SR_POLL_FAILED
};

struct sr_poll {
    /* in */
    struct sr_builder *rows; /* makes_rows: to be added to, of one split; may hold rows already */
    bool may_pass; /* bad records are set aside: one that is longer than the reader holds may be
                      passed over, where the format has SR_FORMAT_RESYNC; else it fails */
    /* out */
    uint32_t split;       /* the reader's number of the split, as in add */
    const uint8_t *bytes; /* else: the split's unconsumed bytes, good until the next poll; the */
    uint32_t len;         /* engine consumes a prefix and polls for more */
    struct sr_buffer *buffer; /* what the bytes lie in: text columns may go on referring to it */
    const struct sr_span *record; /* framed input (messages): whole records; NULL: a stream */
    uint32_t records;
    bool at_start, at_end; /* of the split: see struct sr_decode */
    /* Of a stream: bytes of a record that was passed over; nothing else is shown then, and the
     * position is behind it already. While it is being passed over, polls show no bytes. */
    uint64_t passed;
    struct sr_wait wait;
    int64_t at; /* of a stream: offset of `bytes` in the file; left at -1: what came is counted */
    const struct sr_split *found; /* a split that the reader came upon, for whoever is free; good
                                     until the next poll; NULL: none */
    /* makes_rows: the row behind those of this poll could not be read; bytes[at, at + len) are how
     * people may read it. Good until the next poll; NULL: all could. */
    const struct sr_bad *bad;
    /* A split of the reader's as it is by now: see `told`. Good until the next poll; NULL: none. */
    const struct sr_split *told;
    const bool *absent; /* framed, by record: has no value (a tombstone); NULL: all have one */
    const struct sr_span *key; /* by record, in `bytes`; where keys are wanted */
    const bool *keyless;       /* by record: has no key; NULL: all have one */
};

struct sr_source_type {
    uint32_t size;
    const char *name; /* as in `connector: filesystem` */
    const char *doc;
    const struct sr_opt *opts;
    uint32_t conf_size, discoverer_size, reader_size;
    const struct sr_schema *(*schema)(const void *conf); /* what it brings when the job declares no
                                                            schema; NULL or answering NULL: must */
    sr_rc (*check)(const void *conf, const struct sr_schema *schema, struct sr_source_caps *caps,
                   struct sr_error *err);
    sr_rc (*discover_open)(void *d, const struct sr_source_open *o, struct sr_error *err);
    void (*known)(void *d, const struct sr_split *split); /* restored: not to be named again */
    enum sr_discovered (*discover)(void *d, struct sr_splits *out, struct sr_wait *wait,
                                   struct sr_error *err);
    void (*discover_close)(void *d);
    sr_rc (*open)(void *r, const struct sr_source_open *o, struct sr_error *err);
    /* `number` is the engine's, used once, ascending from 0 in each reader. */
    sr_rc (*add)(void *r, uint32_t number, const struct sr_split *split, struct sr_error *err);
    enum sr_polled (*poll)(void *r, struct sr_poll *p, struct sr_error *err);
    /* Bytes (stream), records (framed) or rows (makes_rows: always all) of the last poll are
     * done. */
    void (*consume)(void *r, uint32_t number, uint32_t used);
    /* Appends the note from which `add` goes on behind all that was consumed. */
    sr_rc (*position)(void *r, uint32_t number, struct sr_out *note, struct sr_error *err);
    /* A checkpoint with this note was shown; one that ended is acknowledged once more, with its
     * last note. May be NULL. Failures are the connector's to log. */
    void (*acknowledge)(void *r, uint32_t number, struct sr_bytes note);
    void (*close)(void *r);
    const struct sr_metadata *metadata; /* that it can give; NULL: none */
    /* Puts the asked metadata of `rows` records of the last poll to `out`, each with sr_row_done:
     * their other columns stand there already. `record`: by row the number of its record in the
     * poll; NULL: a stream of bytes, or rows that poll filled. Called only when some is asked. */
    sr_rc (*fill_metadata)(void *r, uint32_t number, const uint32_t *record, uint32_t rows,
                           struct sr_builder *out, struct sr_error *err);
    const char *keeps; /* for people: what it can go back to after a kill: "the record" */
    /* In place of `known`, for a discoverer that may change what it is told: see sr_splits. */
    void (*restored)(void *d, uint32_t number, const struct sr_split *split, bool is_finished);
    /* What a poll of one of the readers told; before that reader is polled again, and never while
     * the discoverer does something else. NULL: polls tell nothing. */
    sr_rc (*told)(void *d, const struct sr_split *split, struct sr_error *err);
    /* Of a reader that takes what others send: the job is about to stop, nothing more is to be
     * taken. False: some of what was taken is not shown yet, poll on; asked again then. With
     * is_halted false: it goes on after all. NULL: it need not know. */
    bool (*halt)(void *r, bool is_halted);
    bool has_keys; /* of its records: `key.format` and what goes with it mean something */
    bool is_afar;  /* discover only asks others over a network: `validate --connect` may, too */
    sr_rc (*ask)(struct sr_ask *a, struct sr_error *err); /* ask.h; NULL: there is nobody to ask */
};

/* --- Sinks ---------------------------------------------------------------------------------- */

struct sr_decider_type; /* decider.h */
enum sr_guarantee { SR_NO_GUARANTEE, SR_AT_LEAST_ONCE, SR_EXACTLY_ONCE };

struct sr_sink_caps {
    enum sr_guarantee guarantee; /* what this configuration keeps */
    bool takes_changes;          /* +U, -U, -D rows too; a sink of bytes: if its format does */
    bool makes_rows;             /* writes columns itself; else needs a format */
    bool is_bounded_only;        /* complete only at the end of a bounded job */
    uint32_t parts_max;          /* 0: any number */
    /* What this sink alone may write, as a path: two sinks of a job that name the same are a
     * fault; NULL: others may write there too. Lives as long as the conf. */
    const char *exclusive;
    bool refuses_late; /* rows that were taken, as by a server: see `refuse` of sr_sink_open */
    /* Its target's transaction decides about checkpoints: decider.h. Sinks that name the same share
     * one, and fail together; a job can have one name only. NULL: it does not. Lives as long as the
     * conf. */
    const char *decider;
    int64_t transaction_us; /* of a decider: the target aborts what is open longer; 0: never */
    bool upserts; /* replaces and deletes rows by the primary key itself, whatever the format */
    bool frames;  /* each row is a message of its own; so it is with a type that has_keys */
};

struct sr_sink_open {
    uint32_t size;
    const struct sr_host *host;
    const void *conf;
    const struct sr_schema *schema;
    const struct sr_format_type *format; /* NULL when the sink makes_rows */
    const void *format_conf;
    uint32_t part, parts;
    const char *job_id;   /* 32 hex digits */
    const char *uid;      /* of the step */
    uint64_t lineage;     /* of checkpoints: changes with a fresh run and when going back by hand */
    uint64_t attempt;     /* grows with every start, over processes too */
    uint64_t checkpoint;  /* that the job was restored from; 0: none */
    const char *redo_dir; /* absolute: where a redo file may lie until it is applied; kept with the
                              checkpoints; NULL when there is no checkpoint storage that survives */
    bool is_bounded;      /* the job ends by itself */
    /* Asks for a checkpoint soon (a redo file has grown large). */
    void (*ask_checkpoint)(const struct sr_sink_open *o);
    void *engine;
    /* No checkpoint is taken before the end: rows may be shown as they come, at-least-once (an
     * unbounded job without checkpointing). */
    bool is_uncheckpointed;
    /* Of a sink whose caps say refuses_late, from within write, flush and prepare. Rows count from
     * 0 in the order in which write took them (sums of *done, since open).
     *
     * Row `row` could not be written, as `words` say: the job goes on without it where on-error
     * allows that. SR_EBUSY: dead letters are to be written first; the call answers SR_EBUSY too,
     * and asks again when it is made again. Other failures are answered as they are. */
    sr_rc (*refuse)(const struct sr_sink_open *o, uint64_t row, const char *words,
                    struct sr_error *err);
    /* Rows before `row` have their fate. Until then the engine keeps the views that they came in;
     * a prepare that answers SR_OK says it of all. */
    void (*settle)(const struct sr_sink_open *o, uint64_t row);
    void *decider; /* the instance that it shares with others: decider.h; NULL: it has none */
    const struct sr_keyed *keyed; /* of a type that has_keys: how records are put together */
};

enum sr_note_kind {
    SR_NOTE_COMMIT, /* to be committed once the checkpoint is shown; any subtask may do it, again
                       and again */
    SR_NOTE_STATE   /* the writer's own: given to `restore` of some subtask if the job goes back to
                       this checkpoint; replaced by the next checkpoint */
};

struct sr_notes {
    sr_rc (*add)(struct sr_notes *n, enum sr_note_kind kind, struct sr_bytes note); /* copies */
};

struct sr_sink_type {
    uint32_t size;
    const char *name;
    const char *doc;
    const struct sr_opt *opts;
    uint32_t conf_size, sink_size;
    sr_rc (*check)(const void *conf, const struct sr_schema *schema, struct sr_sink_caps *caps,
                   struct sr_error *err);
    sr_rc (*open)(void *s, const struct sr_sink_open *o, struct sr_error *err);
    /* A writer's state from the checkpoint that the job goes back to; NULL: has none. */
    sr_rc (*restore)(void *s, struct sr_bytes note, struct sr_error *err);
    /* Once, on subtask 0 only, before any write of any subtask, after all commits of the restored
     * checkpoint: `live` are all its notes of this sink, both kinds, of all subtasks. What it left
     * behind that none of them names is discarded. May be NULL. */
    sr_rc (*recover)(void *s, const struct sr_bytes *live, uint32_t count, struct sr_error *err);
    /* Takes live rows [from, picked) of v, *done of them. SR_EBUSY: again when `wait` is over. */
    sr_rc (*write)(void *s, const struct sr_view *v, uint32_t from, uint32_t *done,
                   struct sr_wait *wait, struct sr_error *err);
    /* Hands on what is buffered, because no row is waiting; may be NULL. SR_EBUSY as in write. */
    sr_rc (*flush)(void *s, struct sr_wait *wait, struct sr_error *err);
    /* Makes all rows so far durable but unseen, and notes how to show them. `is_last`: the input
     * ended, no write follows. SR_EBUSY as in write. */
    sr_rc (*prepare)(void *s, uint64_t checkpoint, bool is_last, struct sr_notes *notes,
                     struct sr_wait *wait, struct sr_error *err);
    /* Shows what a note names. Idempotent; in order of checkpoints. NULL: notes no commit. */
    sr_rc (*commit)(void *s, uint64_t checkpoint, struct sr_bytes note, struct sr_error *err);
    void (*close)(void *s);
    /* No row that will be written is older than this, of event time in ms; SR_WATERMARK_END at the
     * end. Between writes; may be NULL. */
    void (*watermark)(void *s, int64_t watermark_ms);
    /* Sets left_out[i] for the columns that the format does not see, because the sink writes them
     * in a way of its own (names of directories). At plan time, after check; NULL: it sees all. */
    void (*leave_out)(const void *conf, const struct sr_schema *schema, bool *left_out);
    const char *keeps; /* for people: "exactly-once: ..., by what means", as far as it goes */
    /* A write, flush or prepare that failed with SR_ENOSPC or SR_EABSENT may be made again: rows
     * that it said are done are taken, the others are not, and no file was synced in vain. The
     * engine waits and does so, as long as `sink.retry.timeout` says. A commit, which is
     * idempotent, it always makes again after these, and after SR_EBUSY. */
    bool can_retry;
    const struct sr_decider_type *decider; /* decider.h; of a type whose caps may name one */
    bool has_keys;                         /* of its records: see sr_keyed */
    const struct sr_metadata *metadata;    /* that it can write beside the value; NULL: none */
    sr_rc (*ask)(struct sr_ask *a, struct sr_error *err); /* ask.h; NULL: there is nobody to ask */
};

#endif
