#include "connectors/common/journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/common/list.h"

#define JOURNAL_GROUP_MAX (2u << 20) /* bytes of one append: much more than a sync costs */

/* --- The directory --------------------------------------------------------------------------- */

static sr_rc journal_make_dir(const struct sr_host *host, const char *dir, struct sr_error *err)
{
    const struct sr_files *fs = host->files;
    sr_rc rc = fs->make_dir(fs, dir, err);
    if (rc == SR_EEXISTS) {
        return SR_OK;
    }
    const char *slash = strrchr(dir, '/');
    if (rc != SR_OK || !slash) {
        return rc;
    }
    char *parent = strndup(dir, slash == dir ? 1 : (size_t)(slash - dir));
    rc = parent ? fs->sync_dir(fs, parent, err)
                : host->fail(host, err, SR_ENOMEM, "out of memory for the journal %s", dir);
    free(parent);
    if (rc != SR_OK) { /* or it would be there the next time, with a name that is not durable */
        (void)fs->remove_dir(fs, dir, NULL);
    }
    return rc;
}

static sr_rc journal_lock(struct journal *j, struct sr_error *err)
{
    const struct sr_host *h = j->host;
    char *path = NULL;
    if (asprintf(&path, "%s/lock", j->dir) < 0) {
        return h->fail(h, err, SR_ENOMEM, "out of memory for the journal %s", j->dir);
    }
    sr_rc rc = h->files->open(h->files, path, SR_FILE_WRITE | SR_FILE_CREATE, &j->lock, err);
    free(path);
    if (rc == SR_OK) {
        rc = h->files->lock(j->lock, err);
    }
    return rc == SR_EBUSY ? h->fail(h, err, rc, "the journal %s is another source's", j->dir) : rc;
}

sr_rc journal_open(struct journal *j, const struct sr_host *host, const char *dir,
                   uint64_t max_bytes, struct sr_error *err)
{
    *j = (struct journal){.host = host, .dir = dir, .max_bytes = max_bytes};
    sr_rc rc = journal_make_dir(host, dir, err);
    if (rc == SR_OK) {
        rc = journal_lock(j, err);
    }
    return rc == SR_OK ? journal_list(host, dir, &j->list, err) : rc;
}

static void journal_close_files(struct journal *j)
{
    const struct sr_files *fs = j->host->files;
    (void)fs->close(j->in, NULL);  /* only read */
    (void)fs->close(j->out, NULL); /* synced, or given up */
    j->in = j->out = NULL;
    j->frame_at = j->frame_len = 0;
}

void journal_close(struct journal *j)
{
    if (!j->host) {
        return;
    }
    journal_close_files(j);
    (void)j->host->files->close(j->lock, NULL); /* empty */
    journal_list_done(&j->list);
    free(j->frame);
    *j = (struct journal){0};
}

uint64_t journal_bytes(const struct journal *j)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < j->list.count; i++) {
        bytes += j->list.item[i].bytes;
    }
    return bytes;
}

static uint64_t journal_segment_bytes(const struct journal *j)
{
    uint64_t part = j->max_bytes / 8;
    return part < JOURNAL_SEGMENT_MAX ? part : JOURNAL_SEGMENT_MAX;
}

uint32_t journal_group_bytes(const struct journal *j)
{
    uint64_t bytes = journal_segment_bytes(j);
    return (uint32_t)(bytes < JOURNAL_GROUP_MAX ? bytes : JOURNAL_GROUP_MAX);
}

bool journal_is_full(const struct journal *j)
{
    return journal_bytes(j) + journal_segment_bytes(j) > j->max_bytes;
}

static sr_rc journal_damaged(const struct journal *j, const struct journal_segment *s, uint64_t at,
                             const char *what, struct sr_error *err)
{
    return j->host->fail(j->host, err, SR_ECORRUPT,
                         "the journal %s is damaged: %s at byte %llu of %016llx-%016llx.journal",
                         j->dir, what, (unsigned long long)at, (unsigned long long)s->session,
                         (unsigned long long)s->begin);
}

/* --- Frames of a segment --------------------------------------------------------------------- */

static bool journal_room(struct journal *j, uint64_t size)
{
    if (size <= j->frame_size) {
        return true;
    }
    if (size > UINT32_MAX) {
        return false;
    }
    uint8_t *grown = realloc(j->frame, (size_t)size);
    if (!grown) {
        return false;
    }
    j->frame = grown;
    j->frame_size = (uint32_t)size;
    return true;
}

/* As many of *len bytes as there are; *len says how many. */
static sr_rc journal_get(struct journal *j, struct sr_file *f, uint64_t at, uint8_t *to,
                         size_t *len, struct sr_error *err)
{
    size_t have = 0, got = 1;
    for (; have < *len && got > 0; have += got) {
        sr_rc rc = j->host->files->read(f, to + have, *len - have, at + have, &got, err);
        if (rc != SR_OK) {
            return rc;
        }
    }
    *len = have;
    return SR_OK;
}

/* Where a frame is expected. */
struct journal_spot {
    struct sr_file *file;
    const struct journal_segment *segment; /* that the file is */
    uint64_t at;                           /* in the file */
    uint64_t offset;                       /* in the session's stream */
};

/* The frame that stands there, its bytes in j->frame. *is_whole: it is as it was written, and where
 * it belongs. */
static sr_rc journal_load(struct journal *j, const struct journal_spot *spot,
                          struct journal_frame *out, bool *is_whole, struct sr_error *err)
{
    uint8_t head[JOURNAL_HEAD];
    size_t have = sizeof(head);
    *is_whole = false;
    sr_rc rc = journal_get(j, spot->file, spot->at, head, &have, err);
    if (rc != SR_OK || have < sizeof(head) || !journal_frame_get(head, out)) {
        return rc;
    }
    if (!journal_room(j, out->len)) {
        return j->host->fail(j->host, err, SR_ENOMEM, "out of memory for the journal %s", j->dir);
    }
    have = out->len;
    rc = journal_get(j, spot->file, spot->at + JOURNAL_HEAD, j->frame, &have, err);
    *is_whole = rc == SR_OK && have == out->len && out->session == spot->segment->session &&
                out->offset == spot->offset && journal_frame_is_whole(j->host, head, j->frame);
    return rc;
}

/* What stands at `at` is no frame. SR_OK: it is the torn end of the last append. */
static sr_rc journal_torn(struct journal *j, struct sr_file *f, const struct journal_segment *s,
                          uint64_t at, struct sr_error *err)
{
    struct sr_stat stat;
    sr_rc rc = j->host->files->stat_file(f, &stat, err);
    if (rc != SR_OK) {
        return rc;
    }
    uint64_t rest = stat.size_bytes > at ? stat.size_bytes - at : 0;
    uint32_t behind = journal_list_behind(&j->list, s->session);
    bool is_last = behind > 0 && j->list.item[behind - 1].begin == s->begin;
    if (!is_last || rest > JOURNAL_HEAD + JOURNAL_FRAME_MAX) {
        return journal_damaged(j, s, at, "there is no frame", err);
    }
    if (!journal_room(j, rest)) {
        return j->host->fail(j->host, err, SR_ENOMEM, "out of memory for the journal %s", j->dir);
    }
    size_t have = (size_t)rest;
    rc = journal_get(j, f, at, j->frame, &have, err);
    if (rc == SR_OK && journal_frame_is_within(j->host, s->session, j->frame, have)) {
        return journal_damaged(j, s, at, "there is no frame, but one behind it", err);
    }
    if (rc == SR_OK && journal_frame_was_whole(j->host, j->frame, have, at)) {
        return journal_damaged(j, s, at, "its last frame is not as it was written", err);
    }
    if (rc == SR_OK && rest > 0) {
        j->host->log(j->host, SR_WARN, "journal %s: %llu bytes at its end were never made durable",
                     j->dir, (unsigned long long)rest);
        j->host->count(j->host, "journal-torn-bytes", (int64_t)rest);
    }
    return rc;
}

/* --- Reading --------------------------------------------------------------------------------- */

static sr_rc journal_open_segment(struct journal *j, const struct journal_segment *s,
                                  struct sr_error *err)
{
    const struct sr_files *fs = j->host->files;
    (void)fs->close(j->in, NULL); /* only read */
    j->in = NULL;
    char *path = journal_path(j->dir, s->session, s->begin);
    sr_rc rc = path ? fs->open(fs, path, SR_FILE_READ, &j->in, err)
                    : j->host->fail(j->host, err, SR_ENOMEM, "out of memory for a path");
    free(path);
    j->from = *s;
    j->in_at = 0;
    return rc;
}

/* The segment behind the one that is read; NULL: it is the last. */
static const struct journal_segment *journal_next_segment(const struct journal *j)
{
    for (uint32_t i = 0; i < j->list.count; i++) {
        const struct journal_segment *s = &j->list.item[i];
        if (s->session == j->session && s->begin > j->from.begin) {
            return s;
        }
    }
    return NULL;
}

/* The next frame, into j->frame, `at` being its offset. *is_over: there is none. */
static sr_rc journal_next_frame(struct journal *j, uint64_t at, bool *is_over, struct sr_error *err)
{
    struct journal_frame f = {0};
    bool is_whole = false;
    *is_over = false;
    j->frame_at = j->frame_len = 0;
    if (!j->in) {
        *is_over = true;
        return SR_OK;
    }
    struct journal_spot spot = {j->in, &j->from, j->in_at, at};
    sr_rc rc = journal_load(j, &spot, &f, &is_whole, err);
    if (rc != SR_OK) {
        return rc;
    }
    if (is_whole) {
        j->in_at += JOURNAL_HEAD + f.len;
        j->has_end = f.kind == JOURNAL_END;
        j->frame_len = f.kind == JOURNAL_DATA ? f.len : 0;
        return SR_OK;
    }
    const struct journal_segment *next = journal_next_segment(j);
    if (!next || next->begin != at) {
        *is_over = true;
        return next ? journal_damaged(j, &j->from, j->in_at, "bytes are missing", err)
                    : journal_torn(j, j->in, &j->from, j->in_at, err);
    }
    struct sr_stat stat;
    rc = j->host->files->stat_file(j->in, &stat, err);
    if (rc == SR_OK && stat.size_bytes != j->in_at) {
        return journal_damaged(j, &j->from, j->in_at, "there is no frame", err);
    }
    return rc == SR_OK ? journal_open_segment(j, next, err) : rc;
}

/* Reads and checks what lies before the offset in its segment. */
static sr_rc journal_seek(struct journal *j, uint64_t offset, struct sr_error *err)
{
    uint64_t at = j->from.begin;
    bool is_over = false;
    while (at < offset && !is_over) {
        sr_rc rc = journal_next_frame(j, at, &is_over, err);
        if (rc != SR_OK) {
            return rc;
        }
        uint32_t skip = offset - at < j->frame_len ? (uint32_t)(offset - at) : j->frame_len;
        at += skip;
        j->frame_at = skip;
    }
    if (at < offset) {
        return j->host->fail(j->host, err, SR_ECORRUPT,
                             "the journal %s has lost bytes: it ends at %llu of session %016llx, "
                             "and the checkpoint was at %llu",
                             j->dir, (unsigned long long)at, (unsigned long long)j->session,
                             (unsigned long long)offset);
    }
    return SR_OK;
}

sr_rc journal_read(struct journal *j, uint8_t *to, uint32_t room, uint32_t *got,
                   struct sr_error *err)
{
    *got = 0;
    bool is_over = false;
    while (j->frame_at == j->frame_len && !is_over) {
        sr_rc rc = journal_next_frame(j, j->offset, &is_over, err);
        if (rc != SR_OK) {
            return rc;
        }
    }
    uint32_t rest = j->frame_len - j->frame_at;
    *got = rest < room ? rest : room;
    if (*got > 0) {
        memcpy(to, j->frame + j->frame_at, *got);
    }
    j->frame_at += *got;
    j->offset += *got;
    return SR_OK;
}

/* --- Writing --------------------------------------------------------------------------------- */

static bool journal_list_add(struct journal_list *l, const struct journal_segment *s)
{
    struct journal_segment *grown = list_room(l->item, l->count, &l->capacity, sizeof(*grown));
    if (!grown) {
        return false;
    }
    l->item = grown;
    uint32_t i = l->count++;
    for (; i > 0 && l->item[i - 1].session > s->session; i--) {
        l->item[i] = l->item[i - 1];
    }
    l->item[i] = *s;
    return true;
}

/* The segment that is written: the last of the session. */
static struct journal_segment *journal_last(const struct journal *j)
{
    return &j->list.item[journal_list_behind(&j->list, j->session) - 1];
}

/* Writes a frame behind the last one and syncs it; when that fails, takes it back. */
static sr_rc journal_put(struct journal *j, enum journal_kind kind, uint64_t offset,
                         const uint8_t *bytes, uint32_t len, struct sr_error *err)
{
    const struct sr_files *fs = j->host->files;
    uint8_t head[JOURNAL_HEAD];
    struct journal_frame f = {.kind = kind, .len = len, .session = j->session, .offset = offset};
    journal_frame_put(j->host, &f, bytes, head);
    sr_rc rc = fs->write(j->out, head, sizeof(head), j->out_at, err);
    if (rc == SR_OK && len > 0) {
        rc = fs->write(j->out, bytes, len, j->out_at + sizeof(head), err);
    }
    bool is_written = rc == SR_OK;
#ifndef MUTANT_JOURNAL_UNSYNCED /* answered before it is durable */
    if (is_written) {
        rc = fs->sync(j->out, err);
    }
#endif
    if (rc != SR_OK) {
        /* What the page cache shows is not what the disk has: it must not be taken for durable. */
        struct sr_error ignored;
        j->is_broken = fs->truncate(j->out, j->out_at, &ignored) != SR_OK || is_written;
        return rc;
    }
    j->out_at += sizeof(head) + len;
    journal_last(j)->bytes = j->out_at;
    return SR_OK;
}

static sr_rc journal_new_segment(struct journal *j, uint64_t begin,
                                 const uint8_t origin[JOURNAL_ORIGIN], struct sr_error *err)
{
    const struct sr_files *fs = j->host->files;
    struct journal_segment s = {.session = j->session, .begin = begin};
    (void)fs->close(j->out, NULL); /* synced */
    j->out = NULL;
    j->out_at = 0;
    char *path = journal_path(j->dir, s.session, s.begin);
    if (!path || !journal_list_add(&j->list, &s)) {
        free(path);
        return j->host->fail(j->host, err, SR_ENOMEM, "out of memory for the journal %s", j->dir);
    }
    sr_rc rc = fs->open(fs, path, SR_FILE_WRITE | SR_FILE_CREATE | SR_FILE_EXCLUSIVE, &j->out, err);
    free(path);
    if (rc == SR_OK) {
        rc = journal_put(j, JOURNAL_BEGIN, begin, origin, JOURNAL_ORIGIN, err);
    }
#ifndef MUTANT_JOURNAL_NAME_UNSYNCED /* what is durable lies in a file without a name */
    if (rc == SR_OK) {
        rc = fs->sync_dir(fs, j->dir, err);
        j->is_broken = rc != SR_OK;
    }
#endif
    j->is_broken = j->is_broken || (rc != SR_OK && rc != SR_ENOSPC);
    j->end = begin;
    return rc;
}

static void journal_forget_last(struct journal *j)
{
    uint32_t behind = journal_list_behind(&j->list, j->session);
    memmove(&j->list.item[behind - 1], &j->list.item[behind],
            (j->list.count - behind) * sizeof(*j->list.item));
    j->list.count--;
}

/* Goes on in a new segment. For want of space it is as before, and may be tried again. */
static sr_rc journal_roll(struct journal *j, const uint8_t origin[JOURNAL_ORIGIN],
                          struct sr_error *err)
{
    const struct sr_files *fs = j->host->files;
    struct sr_file *before = j->out;
    uint64_t before_at = j->out_at;
    uint32_t segments = j->list.count;
    struct sr_error ignored;
    j->out = NULL;
    sr_rc rc = journal_new_segment(j, j->offset, origin, err);
    if (rc == SR_OK || j->is_broken) {
        (void)fs->close(before, NULL); /* synced */
        return rc;
    }
    char *path = journal_path(j->dir, j->session, j->offset);
    sr_rc removed = path ? fs->remove(fs, path, &ignored) : SR_ENOMEM;
    free(path);
    (void)fs->close(j->out, NULL); /* it is gone */
    if (j->list.count > segments) {
        journal_forget_last(j);
    }
    j->is_broken = removed != SR_OK && removed != SR_EABSENT;
    j->out = before;
    j->out_at = before_at;
    return rc;
}

/* A segment without bytes of the stream may have a name that is not durable: it is made anew. */
static sr_rc journal_renew(struct journal *j, const uint8_t origin[JOURNAL_ORIGIN],
                           struct sr_error *err)
{
    const struct journal_segment s = *journal_last(j);
    char *path = journal_path(j->dir, s.session, s.begin);
    sr_rc rc = path ? j->host->files->remove(j->host->files, path, err)
                    : j->host->fail(j->host, err, SR_ENOMEM, "out of memory for a path");
    free(path);
    if (rc != SR_OK) {
        return rc;
    }
    journal_forget_last(j);
    return journal_new_segment(j, s.begin, origin, err);
}

/* Opens the last segment for what comes behind its last whole frame, and cuts off what is torn. */
static sr_rc journal_recover(struct journal *j, const uint8_t origin[JOURNAL_ORIGIN],
                             struct sr_error *err)
{
    const struct sr_files *fs = j->host->files;
    const struct journal_segment s = *journal_last(j);
    char *path = journal_path(j->dir, s.session, s.begin);
    sr_rc rc = path ? fs->open(fs, path, SR_FILE_WRITE, &j->out, err)
                    : j->host->fail(j->host, err, SR_ENOMEM, "out of memory for a path");
    free(path);
    uint64_t offset = s.begin;
    bool is_whole = true;
    j->out_at = 0;
    while (rc == SR_OK && is_whole) {
        struct journal_frame f = {0};
        struct journal_spot spot = {j->out, &s, j->out_at, offset};
        rc = journal_load(j, &spot, &f, &is_whole, err);
        if (rc == SR_OK && is_whole) {
            j->out_at += JOURNAL_HEAD + f.len;
            offset += f.kind == JOURNAL_DATA ? f.len : 0;
        }
    }
    if (rc == SR_OK) {
        rc = journal_torn(j, j->out, &s, j->out_at, err);
    }
    if (rc == SR_OK && offset == s.begin) {
        return journal_renew(j, origin, err);
    }
    if (rc == SR_OK) {
        rc = fs->truncate(j->out, j->out_at, err);
    }
    if (rc == SR_OK) { /* what a killed process had written and not synced is there too */
        rc = fs->sync(j->out, err);
    }
    journal_last(j)->bytes = j->out_at;
    j->end = offset;
    return rc;
}

static sr_rc journal_may_write(const struct journal *j, struct sr_error *err)
{
    if (!j->is_broken && j->out && j->offset == j->end) {
        return SR_OK;
    }
    return j->host->fail(j->host, err, SR_EIO, "the journal %s cannot be written any more", j->dir);
}

sr_rc journal_append(struct journal *j, const uint8_t *bytes, uint32_t len, struct sr_error *err)
{
    sr_rc rc = journal_may_write(j, err);
    if (rc == SR_OK && len > JOURNAL_FRAME_MAX) {
        return j->host->fail(j->host, err, SR_EIO, "too much for a frame of a journal");
    }
    if (rc == SR_OK && j->out_at >= journal_segment_bytes(j)) {
        uint8_t origin[JOURNAL_ORIGIN];
        struct journal_frame f = {0};
        bool is_whole = false;
        const struct journal_segment s = *journal_last(j);
        struct journal_spot spot = {j->out, &s, 0, s.begin};
        rc = journal_load(j, &spot, &f, &is_whole, err);
        if (rc == SR_OK && (!is_whole || f.len != JOURNAL_ORIGIN)) {
            rc = journal_damaged(j, &s, 0, "its first frame is gone", err);
        }
        if (rc == SR_OK) {
            memcpy(origin, j->frame, sizeof(origin));
            rc = journal_roll(j, origin, err);
        }
    }
    if (rc == SR_OK) {
        rc = journal_put(j, JOURNAL_DATA, j->offset, bytes, len, err);
    }
    if (rc == SR_OK) {
        j->offset = j->end += len;
    }
    return rc;
}

sr_rc journal_end(struct journal *j, struct sr_error *err)
{
    sr_rc rc = journal_may_write(j, err);
    if (rc == SR_OK) {
        rc = journal_put(j, JOURNAL_END, j->end, (const uint8_t *)"", 0, err);
    }
    j->has_end = rc == SR_OK;
    return rc;
}

/* --- Sessions -------------------------------------------------------------------------------- */

sr_rc journal_go(struct journal *j, uint64_t session, uint64_t offset,
                 const uint8_t origin[JOURNAL_ORIGIN], struct sr_error *err)
{
    journal_close_files(j);
    j->session = session;
    j->offset = offset;
    j->has_end = j->is_broken = false;
    uint32_t first = journal_list_first(&j->list, session);
    if (first == j->list.count && offset == 0) {
        return origin ? journal_new_segment(j, 0, origin, err) : SR_OK;
    }
    if (first == j->list.count || j->list.item[first].begin > offset) {
        return j->host->fail(j->host, err, SR_EMISFIT,
                             "the journal %s no longer has byte %llu of session %016llx: a later "
                             "checkpoint has it, and that one must be gone back to",
                             j->dir, (unsigned long long)offset, (unsigned long long)session);
    }
    sr_rc rc = origin ? journal_recover(j, origin, err) : SR_OK;
    while (first + 1 < j->list.count && j->list.item[first + 1].session == session &&
           j->list.item[first + 1].begin <= offset) {
        first++;
    }
    if (rc == SR_OK) {
        rc = journal_open_segment(j, &j->list.item[first], err);
    }
    return rc == SR_OK ? journal_seek(j, offset, err) : rc;
}

void journal_ack(struct journal *j, uint64_t session, uint64_t offset)
{
    struct sr_error err;
    uint32_t first = journal_list_first(&j->list, session), behind = first;
    while (behind + 1 < j->list.count && j->list.item[behind + 1].session == session &&
           j->list.item[behind + 1].begin <= offset) {
        behind++;
    }
    sr_rc rc = journal_set_acked(j->host, j->dir, session, offset, behind > first, &err);
    for (uint32_t i = first; i < behind && rc == SR_OK; i++) {
        char *path = journal_path(j->dir, session, j->list.item[first].begin);
        rc = path ? j->host->files->remove(j->host->files, path, &err)
                  : j->host->fail(j->host, &err, SR_ENOMEM, "out of memory for a path");
        free(path);
        if (rc == SR_OK) {
            uint32_t rest = --j->list.count - first;
            memmove(&j->list.item[first], &j->list.item[first + 1], rest * sizeof(*j->list.item));
        }
    }
    if (rc != SR_OK) {
        j->host->log(j->host, SR_WARN, "journal %s keeps what it needs not: %s", j->dir, err.words);
    }
}

void journal_drop(struct journal *j, uint64_t session, uint64_t end)
{
    struct sr_error err;
    sr_rc rc = journal_set_acked(j->host, j->dir, session, end, true, &err);
    if (rc == SR_OK) {
        rc = journal_remove(j->host, j->dir, &j->list, session, &err);
    }
    if (rc != SR_OK) {
        j->host->log(j->host, SR_WARN, "journal %s keeps what it needs not: %s", j->dir, err.words);
    }
}
