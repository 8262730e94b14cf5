/* Rows on their way into part files. */
#include <string.h>

#include "connectors/common/note.h"
#include "connectors/filesystem/fs_sink.h"

/* Rows that are in a part's buffer are taken, also when the disk has no room for it: before more of
 * them are, what waits there is written. */
static sr_rc fs_sink_took(struct fs_sink *s, sr_rc rc)
{
    if (rc != SR_ENOSPC) {
        return rc;
    }
    s->is_stuck = true;
    return SR_OK;
}

/* Without partitions and compression rows are encoded where they are written from. */
static sr_rc fs_sink_put_straight(struct fs_sink *s, const struct sr_view *v, uint32_t from,
                                  uint32_t *done, struct sr_error *err)
{
    struct fs_bucket *b = NULL;
    sr_rc rc = fs_writer_find(&s->writer, "", &b, err);
    if (rc != SR_OK) {
        return rc;
    }
    rc = encoder_rows(&s->encoder, v, from, &b->part.buf, done, err);
    if (rc != SR_OK) {
        b->rows += *done;
        return rc;
    }
    return fs_sink_took(s, fs_writer_took(&s->writer, b, *done, err));
}

static sr_rc fs_sink_put_packed(struct fs_sink *s, const struct sr_view *v, uint32_t from,
                                uint32_t *done, struct sr_error *err)
{
    struct fs_bucket *b = NULL;
    sr_rc rc = fs_writer_find(&s->writer, "", &b, err);
    if (rc != SR_OK) {
        return rc;
    }
    s->rows.len = 0;
    sr_rc bad = encoder_rows(&s->encoder, v, from, &s->rows, done, err);
    if (bad != SR_OK && bad != SR_EDATA) {
        return bad;
    }
    struct sr_bytes bytes = {s->rows.data, (uint32_t)s->rows.len};
    struct sr_error failed;
    rc = *done > 0 ? fs_writer_put(&s->writer, b, &bytes, *done, bad == SR_OK ? err : &failed)
                   : SR_OK;
    rc = fs_sink_took(s, rc);
    if (rc != SR_OK && bad != SR_OK) {
        *err = failed;
    }
    return rc != SR_OK ? rc : bad;
}

/* Encodes the rows before *limit, partition by partition. SR_EDATA: one of them cannot be written,
 * and *limit says which. */
static sr_rc fs_sink_encode_groups(struct fs_sink *s, const struct sr_view *v, uint32_t *limit,
                                   struct sr_error *err)
{
    const char *partition = NULL;
    s->rows.len = 0;
    s->groups = 0;
    fs_parting_rewind(&s->parting);
    while ((partition = fs_parting_next(&s->parting, v, *limit)) != NULL) {
        const struct sr_view *piece = &s->parting.piece;
        struct fs_group *g = &s->group[s->groups++];
        *g = (struct fs_group){.partition = partition, .begin = s->rows.len};
        uint32_t done = 0;
        bool is_timed = !s->is_announced || s->conf->commit_trigger.index != FS_PARTITION_TIME ||
                        fs_parting_time(&s->parting, partition, &g->time_ms);
        sr_rc rc = is_timed ? encoder_rows(&s->encoder, piece, 0, &s->rows, &done, err)
                            : s->host->fail(s->host, err, SR_EDATA,
                                            "partition %s has no time that "
                                            "partition.time-extractor.timestamp-pattern finds",
                                            partition);
        if (rc == SR_EDATA) {
            *limit = s->parting.live[done];
        }
        if (rc != SR_OK) {
            return rc;
        }
        g->end = s->rows.len;
        g->rows = done;
    }
    return SR_OK;
}

static sr_rc fs_sink_append_group(struct fs_sink *s, const struct fs_group *g, struct sr_error *err)
{
    struct fs_bucket *b = NULL;
    struct sr_bytes bytes = {s->rows.data + g->begin, (uint32_t)(g->end - g->begin)};
    bool is_held = false;
    sr_rc rc = fs_writer_hold(&s->writer, g->partition, &bytes, g->rows, &is_held, err);
    if (rc == SR_OK && !is_held) {
        rc = fs_writer_find(&s->writer, g->partition, &b, err);
    }
    if (rc == SR_OK && !is_held) {
        rc = fs_sink_took(s, fs_writer_put(&s->writer, b, &bytes, g->rows, err));
    }
    if (rc == SR_OK && s->is_announced) {
        rc =
            fs_pending_add(&s->pending, g->partition, s->host->wall_us(s->host) / 1000, g->time_ms);
        rc = rc == SR_OK ? rc : s->host->fail(s->host, err, rc, "out of memory");
    }
    return rc;
}

/* The files of all groups are there before any row is taken: so a call that fails for want of room
 * or of a directory took none. */
static sr_rc fs_sink_find_groups(struct fs_sink *s, struct sr_error *err)
{
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; rc == SR_OK && i < s->groups; i++) {
        struct fs_bucket *b = NULL;
        bool is_known = fs_writer_knows(&s->writer, s->group[i].partition);
        rc = is_known ? SR_OK : fs_writer_find(&s->writer, s->group[i].partition, &b, err);
    }
    return rc;
}

/* Rows of a view go to several files, but those that are taken are the ones before a bad one: so
 * all of them are encoded before any is written. */
static sr_rc fs_sink_put_parted(struct fs_sink *s, const struct sr_view *v, uint32_t from,
                                uint32_t *done, struct sr_error *err)
{
    uint32_t limit = 0, before = 0;
    sr_rc bad = fs_parting_begin(&s->parting, v, from, &limit, err);
    if (bad != SR_OK && bad != SR_EDATA) {
        return bad;
    }
    sr_rc rc = SR_OK;
    do { /* again up to the bad row, if there is one */
        before = limit;
        rc = fs_sink_encode_groups(s, v, &limit, err);
        if (rc != SR_OK && rc != SR_EDATA) {
            return rc;
        }
        bad = rc == SR_EDATA ? rc : bad;
    } while (limit < before);
    struct sr_error failed;
    rc = fs_sink_find_groups(s, &failed);
    if (rc != SR_OK) {
        *err = failed;
        return rc;
    }
    for (uint32_t i = 0; i < s->groups; i++) {
        rc = fs_sink_append_group(s, &s->group[i], &failed);
        if (rc != SR_OK) { /* some groups are taken, this one is not: it cannot be done again */
            *err = failed;
            return err->rc = i > 0 && rc != SR_ENOMEM ? SR_EIO : rc;
        }
    }
    *done = limit - from;
    return bad;
}

sr_rc fs_sink_put(struct fs_sink *s, const struct sr_view *v, uint32_t from, uint32_t *done,
                  struct sr_error *err)
{
    *done = 0;
    if (s->is_stuck) {
        sr_rc rc = fs_writer_relieve(&s->writer, err);
        if (rc != SR_OK) {
            return rc;
        }
        s->is_stuck = false;
    }
    if (s->is_parted) {
        return fs_sink_put_parted(s, v, from, done, err);
    }
    return s->writer.pack == PACK_NONE ? fs_sink_put_straight(s, v, from, done, err)
                                       : fs_sink_put_packed(s, v, from, done, err);
}
