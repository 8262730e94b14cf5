#include "connectors/common/redo.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/common/blocksum.h"
#include "connectors/common/note.h"

#define REDO_VERSION 2            /* of a note; 1 had no has_older */
#define REDO_MAGIC   "srredo\0\1" /* 8 bytes, the version last */
#define REDO_HEAD    20u          /* bytes of a frame before its rows */
#define REDO_FLUSH   ((size_t)256 * 1024)
#define REDO_TRIES   1000000u /* names that may be taken already */

void redo_mark_done(struct redo_mark *m)
{
    free(m->path);
    *m = (struct redo_mark){0};
}

sr_rc redo_mark_save(const struct redo_mark *m, struct sr_out *note)
{
    bool is_put = note_put_u8(note, REDO_VERSION) && note_put_text(note, m->path) &&
                  note_put_text(note, m->writer) && note_put_u64(note, m->checkpoint) &&
                  note_put_u64(note, m->lineage) && note_put_u64(note, m->attempt) &&
                  note_put_u32(note, m->part) && note_put_u64(note, m->rows) &&
                  note_put_u64(note, m->length) && note_put_u64(note, m->digest[0]) &&
                  note_put_u64(note, m->digest[1]) && note_put_u8(note, m->has_older ? 1 : 0);
    return is_put ? SR_OK : SR_ENOMEM;
}

sr_rc redo_mark_load(struct redo_mark *m, struct sr_bytes note)
{
    struct note_in in = note_in(note);
    uint8_t version = note_get_u8(&in);
    *m = (struct redo_mark){.path = note_get_text(&in)};
    char *writer = note_get_text(&in);
    bool has_writer = writer && strlen(writer) < REDO_WRITER;
    if (has_writer) {
        (void)snprintf(m->writer, sizeof(m->writer), "%s", writer);
    }
    free(writer);
    m->checkpoint = note_get_u64(&in);
    m->lineage = note_get_u64(&in);
    m->attempt = note_get_u64(&in);
    m->part = note_get_u32(&in);
    m->rows = note_get_u64(&in);
    m->length = note_get_u64(&in);
    m->digest[0] = note_get_u64(&in);
    m->digest[1] = note_get_u64(&in);
    m->has_older = version == REDO_VERSION && note_get_u8(&in) != 0;
    bool is_known = version == REDO_VERSION || version == REDO_VERSION - 1;
    if (is_known && note_is_done(&in) && has_writer && m->path[0] == '/') {
        return SR_OK;
    }
    redo_mark_done(m);
    return note_why(&in);
}

/* --- Writing --------------------------------------------------------------------------------- */

static sr_rc redo_begin(struct redo *r, struct sr_error *err)
{
    const struct sr_files *files = r->host->files;
    for (uint32_t i = 0; i < REDO_TRIES; i++) {
        size_t size = strlen(r->dir) + sizeof(r->stem) + 32;
        char *path = malloc(size);
        if (!path) {
            return r->host->fail(r->host, err, SR_ENOMEM, "out of memory");
        }
        (void)snprintf(path, size, "%s/%s%" PRIu64, r->dir, r->stem, r->next++);
        sr_rc rc = files->open(files, path,
                               SR_FILE_WRITE | SR_FILE_CREATE | SR_FILE_EXCLUSIVE | SR_FILE_PRIVATE,
                               &r->file, err);
        if (rc == SR_OK) {
            r->mark.path = path;
            r->mark.rows = r->mark.length = 0;
            r->mark.digest[0] = r->mark.digest[1] = 0;
            if (!r->buf.grow) {
                r->buf = note_out();
            }
            r->buf.len = 0;
            r->has_new_name = true;
            return SR_OK;
        }
        free(path);
        if (rc != SR_EEXISTS) {
            return rc;
        }
    }
    return r->host->fail(r->host, err, SR_ELIMIT, "no name is left for a redo file in %s", r->dir);
}

static sr_rc redo_flush(struct redo *r, struct sr_error *err)
{
    sr_rc rc = SR_OK;
    if (r->buf.len > 0) {
        rc = r->host->files->write(r->file, r->buf.data, r->buf.len, r->mark.length, err);
    }
    if (rc == SR_OK) {
        r->mark.length += r->buf.len;
        r->buf.len = 0;
    }
    return rc;
}

sr_rc redo_append(struct redo *r, const struct sr_view *v, uint32_t from, uint32_t count,
                  struct sr_error *err)
{
    sr_rc rc = r->file ? SR_OK : redo_begin(r, err);
    if (rc == SR_OK && r->buf.len >= REDO_FLUSH) {
        rc = redo_flush(r, err); /* the disk was full when they came */
    }
    if (rc != SR_OK) {
        return rc;
    }
    size_t begin = r->buf.len;
    bool is_first = r->mark.length == 0 && begin == 0;
    size_t magic = is_first ? sizeof(REDO_MAGIC) - 1 : 0;
    uint8_t *head = sr_out_room(&r->buf, magic + REDO_HEAD);
    if (!head) {
        return r->host->fail(r->host, err, SR_ENOMEM, "out of memory for %u rows", count);
    }
    memcpy(head, REDO_MAGIC, magic);
    r->buf.len += magic + REDO_HEAD;
    rc = r->host->rows_encode(r->host, v, from, count, &r->buf, err);
    size_t len = r->buf.len - begin - magic - REDO_HEAD;
    if (rc == SR_OK && len > REDO_FRAME_MAX) {
        rc = r->host->fail(r->host, err, SR_ELIMIT, "%u rows of %zu bytes are too large", count,
                           len);
    }
    if (rc != SR_OK) {
        r->buf.len = begin;
        return rc;
    }
    uint8_t *frame = r->buf.data + begin + magic; /* may have moved */
    uint64_t digest[2];
    r->host->digest(frame + REDO_HEAD, len, digest);
    uint32_t length_le = htole32((uint32_t)len);
    uint64_t digest_le[2] = {htole64(digest[0]), htole64(digest[1])};
    memcpy(frame, &length_le, 4);
    memcpy(frame + 4, digest_le, 16);
    blocksum_chain(r->host, r->mark.digest, digest);
    r->mark.rows += count;
    rc = r->buf.len >= REDO_FLUSH ? redo_flush(r, err) : SR_OK;
    return rc == SR_ENOSPC ? SR_OK : rc; /* they are taken; no more are before they are written */
}

sr_rc redo_prepare(struct redo *r, struct sr_error *err)
{
    if (r->is_condemned) {
        return r->host->fail(r->host, err, SR_EIO, "%s could not be made durable before",
                             r->mark.path);
    }
    sr_rc rc = redo_flush(r, err);
    if (rc == SR_OK) {
#ifndef MUTANT_REDO_UNSYNCED /* rows of a checkpoint that a power loss takes */
        rc = r->host->files->sync(r->file, err);
#endif
        r->is_condemned = rc != SR_OK;
    }
#ifdef MUTANT_REDO_NAME_UNSYNCED /* rows of a checkpoint lie in a file without a name */
    r->has_new_name = false;
#endif
    if (rc == SR_OK && r->has_new_name) {
        rc = r->host->files->sync_dir(r->host->files, r->dir, err);
        r->has_new_name = rc != SR_OK;
    }
    return rc;
}

void redo_reset(struct redo *r)
{
    if (r->host) {
        (void)r->host->files->close(r->file, NULL); /* what counts was synced */
    }
    r->file = NULL;
    free(r->mark.path);
    r->mark.path = NULL;
    r->mark.rows = r->mark.length = 0;
    r->buf.len = 0;
}

void redo_done(struct redo *r)
{
    redo_reset(r);
    note_free(&r->buf);
}

/* --- Reading --------------------------------------------------------------------------------- */

static sr_rc redo_damaged(const struct redo_reader *r, struct sr_error *err)
{
    return r->host->fail(r->host, err, SR_ECORRUPT,
                         "%s does not hold the rows that were written to it (near byte %llu)",
                         r->mark->path, (unsigned long long)r->at);
}

static sr_rc redo_read_bytes(struct redo_reader *r, uint8_t *to, size_t len, struct sr_error *err)
{
    while (len > 0) {
        size_t got = 0;
        sr_rc rc = r->host->files->read(r->file, to, len, r->at, &got, err);
        if (rc != SR_OK) {
            return rc;
        }
        if (got == 0) {
            return redo_damaged(r, err);
        }
        r->at += got;
        to += got;
        len -= got;
    }
    return SR_OK;
}

sr_rc redo_read_open(struct redo_reader *r, const struct sr_host *host,
                     const struct redo_mark *mark, struct sr_error *err)
{
    *r = (struct redo_reader){.host = host, .mark = mark};
    sr_rc rc = host->files->open(host->files, mark->path, SR_FILE_READ, &r->file, err);
    if (rc != SR_OK) {
        return rc;
    }
    struct sr_stat stat;
    uint8_t magic[sizeof(REDO_MAGIC) - 1];
    rc = host->files->stat_file(r->file, &stat, err);
    if (rc == SR_OK && (stat.size_bytes != mark->length || mark->length < sizeof(magic))) {
        rc = redo_damaged(r, err);
    }
    if (rc == SR_OK) {
        rc = redo_read_bytes(r, magic, sizeof(magic), err);
    }
    if (rc == SR_OK && memcmp(magic, REDO_MAGIC, sizeof(magic)) != 0) {
        rc = redo_damaged(r, err);
    }
    return rc;
}

static sr_rc redo_read_frame(struct redo_reader *r, uint32_t *len, struct sr_error *err)
{
    uint8_t head[REDO_HEAD];
    sr_rc rc = redo_read_bytes(r, head, sizeof(head), err);
    if (rc != SR_OK) {
        return rc;
    }
    uint32_t length_le;
    uint64_t digest_le[2], digest[2];
    memcpy(&length_le, head, 4);
    memcpy(digest_le, head + 4, 16);
    *len = le32toh(length_le);
    if (*len > REDO_FRAME_MAX || *len > r->mark->length - r->at) {
        return redo_damaged(r, err);
    }
    if (r->capacity < *len) {
        uint8_t *moved = realloc(r->frame, *len);
        if (!moved) {
            return r->host->fail(r->host, err, SR_ENOMEM, "out of memory for %u bytes", *len);
        }
        r->frame = moved;
        r->capacity = *len;
    }
    rc = redo_read_bytes(r, r->frame, *len, err);
    if (rc != SR_OK) {
        return rc;
    }
    r->host->digest(r->frame, *len, digest);
    if (digest[0] != le64toh(digest_le[0]) || digest[1] != le64toh(digest_le[1])) {
        return redo_damaged(r, err);
    }
    blocksum_chain(r->host, r->digest, digest);
    return SR_OK;
}

sr_rc redo_read(struct redo_reader *r, const struct sr_schema *schema, struct sr_view **view,
                struct sr_error *err)
{
    if (r->at == r->mark->length) {
        bool is_right = r->digest[0] == r->mark->digest[0] && r->digest[1] == r->mark->digest[1];
        if (!is_right) {
            return redo_damaged(r, err);
        }
        *view = NULL;
        return SR_OK;
    }
    uint32_t len = 0;
    sr_rc rc = redo_read_frame(r, &len, err);
    if (rc != SR_OK) {
        return rc;
    }
    size_t used = 0;
    struct sr_view *v = NULL;
    rc = r->host->rows_decode(r->host, schema, r->frame, len, &used, &v, err);
    if (rc == SR_OK && used != len) {
        r->host->view_release(v);
        return redo_damaged(r, err);
    }
    if (rc == SR_OK) {
        *view = v;
    }
    return rc;
}

void redo_read_close(struct redo_reader *r)
{
    (void)r->host->files->close(r->file, NULL); /* only read */
    free(r->frame);
    *r = (struct redo_reader){0};
}
