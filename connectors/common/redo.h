/* A redo file: rows that belong to a checkpoint and are not in the target yet.
 *
 * Rows go to it as they come and are never held in memory; each frame has its length and digest,
 * and the note of the checkpoint has those of the whole file, so that what is applied later, by
 * whatever process, is exactly what was prepared.
 *
 *   file   magic, { frame }*
 *   frame  u32 length, u64 digest[2], rows in the engine's encoding
 *
 *   writer  { redo_append }* -> redo_prepare -> redo_mark_save -> redo_reset
 *   reader  redo_read_open -> { redo_read -> view }* -> redo_read_close
 */
#ifndef CONNECTORS_COMMON_REDO_H
#define CONNECTORS_COMMON_REDO_H

#include <streamrun/connector.h>

#define REDO_WRITER    33u /* bytes of a writer's name, with the closing zero */
#define REDO_FRAME_MAX (1u << 30)

/* Who wrote a file, and what it holds. */
struct redo_mark {
    char *path;               /* owned */
    char writer[REDO_WRITER]; /* random: one instance of the sink, in one run */
    uint64_t checkpoint, lineage, attempt;
    uint32_t part;
    uint64_t rows, length;
    uint64_t digest[2]; /* chained over the frames */
    bool has_older;     /* the target held rows of this sink before: it cannot be new */
};

sr_rc redo_mark_save(const struct redo_mark *m, struct sr_out *note);
sr_rc redo_mark_load(struct redo_mark *m, struct sr_bytes note); /* SR_ECORRUPT */
void redo_mark_done(struct redo_mark *m);

struct redo {
    const struct sr_host *host;
    const char *dir;       /* borrowed */
    char stem[96];         /* how the names of this writer's files begin */
    uint64_t next;         /* number of the next file */
    struct sr_file *file;  /* NULL: no row since the last prepare */
    struct sr_out buf;     /* frames that are not in the file yet */
    struct redo_mark mark; /* of the open file; length: bytes before buf */
    bool has_new_name;     /* the directory is not synced yet */
    bool is_condemned;     /* a sync failed */
};

/* Live rows [from, from + count) of v. */
sr_rc redo_append(struct redo *r, const struct sr_view *v, uint32_t from, uint32_t count,
                  struct sr_error *err);
/* Makes all rows durable and fills mark. May be tried again, but not after a failed sync. */
sr_rc redo_prepare(struct redo *r, struct sr_error *err);
void redo_reset(struct redo *r); /* leaves the file where it is; the next row begins another */
void redo_done(struct redo *r);
static inline uint64_t redo_size(const struct redo *r) { return r->mark.length + r->buf.len; }

struct redo_reader {
    const struct sr_host *host;
    const struct redo_mark *mark; /* borrowed */
    struct sr_file *file;
    uint8_t *frame;
    size_t capacity;
    uint64_t at;
    uint64_t digest[2];
};

/* SR_EABSENT: the file is gone. */
sr_rc redo_read_open(struct redo_reader *r, const struct sr_host *host,
                     const struct redo_mark *mark, struct sr_error *err);
/* The rows of the next frame, the caller's; NULL at the end, when all digests were right. */
sr_rc redo_read(struct redo_reader *r, const struct sr_schema *schema, struct sr_view **view,
                struct sr_error *err);
void redo_read_close(struct redo_reader *r);

#endif
