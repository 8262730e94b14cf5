#include "connectors/filesystem/fs_part.h"

#include <stdlib.h>
#include <string.h>

#include "connectors/common/note.h"
#include "connectors/filesystem/filesystem.h"

#define FS_PART_VERSION 2u /* 1 had no partition */

void fs_part_name_done(struct fs_part_name *n)
{
    free(n->hidden);
    free(n->final);
    free(n->partition);
    *n = (struct fs_part_name){0};
}

sr_rc fs_part_name_save(const struct fs_part_name *n, struct sr_out *note)
{
    bool is_put = note_put_u8(note, FS_PART_VERSION) && note_put_u8(note, n->may_replace ? 1 : 0) &&
                  note_put_text(note, n->hidden) && note_put_text(note, n->final) &&
                  note_put_u64(note, n->length) && note_put_u64(note, n->digest[0]) &&
                  note_put_u64(note, n->digest[1]) && note_put_u64(note, n->attempt) &&
                  note_put_u32(note, n->part) && note_put_text(note, n->partition);
    return is_put ? SR_OK : SR_ENOMEM;
}

sr_rc fs_part_name_load(struct fs_part_name *n, struct sr_bytes note)
{
    struct note_in in = note_in(note);
    uint8_t version = note_get_u8(&in);
    *n = (struct fs_part_name){.may_replace = note_get_u8(&in) == 1};
    n->hidden = note_get_text(&in);
    n->final = note_get_text(&in);
    n->length = note_get_u64(&in);
    n->digest[0] = note_get_u64(&in);
    n->digest[1] = note_get_u64(&in);
    n->attempt = note_get_u64(&in);
    n->part = note_get_u32(&in);
    n->partition = version == 1 ? strdup("") : note_get_text(&in);
    if ((version == 1 || version == FS_PART_VERSION) && note_is_done(&in) && n->partition &&
        n->hidden[0] == '/' && n->final[0] == '/') {
        return SR_OK;
    }
    in.lacks_memory = in.lacks_memory || (version == 1 && !n->partition);
    fs_part_name_done(n);
    return note_why(&in);
}

sr_rc fs_part_create(struct fs_part *p, const struct sr_host *host, struct fs_part_name name,
                     struct sr_error *err)
{
    struct sr_out buf = p->buf; /* its memory serves one part after the other */
    buf.len = 0;
    if (!buf.grow) {
        buf = note_out();
    }
    *p = (struct fs_part){.host = host, .name = name, .buf = buf};
    p->created_us = p->touched_us = host->mono_us(host);
    sr_rc rc = SR_ENOMEM;
    if (!name.hidden || !name.final || !name.partition) {
        (void)host->fail(host, err, rc, "out of memory for the name of a part file");
    } else {
        rc = host->files->open(host->files, name.hidden,
                               SR_FILE_WRITE | SR_FILE_CREATE | SR_FILE_EXCLUSIVE, &p->file, err);
    }
    if (rc != SR_OK) {
        fs_part_name_done(&p->name);
    }
    return rc;
}

sr_rc fs_part_write(struct fs_part *p, struct sr_error *err)
{
    size_t whole = p->buf.len - p->buf.len % BLOCKSUM_BLOCK;
    if (whole == 0) {
        return SR_OK;
    }
    sr_rc rc = p->host->files->write(p->file, p->buf.data + p->written, whole - p->written,
                                     p->base + p->written, err);
    if (rc != SR_OK) {
        return rc;
    }
    for (size_t at = 0; at < whole; at += BLOCKSUM_BLOCK) {
        blocksum_add(&p->chain, p->host, p->buf.data + at);
    }
    memmove(p->buf.data, p->buf.data + whole, p->buf.len - whole);
    p->buf.len -= whole;
    p->base += whole;
    p->written = 0;
    return SR_OK;
}

/* Writes the unfinished block too. */
static sr_rc fs_part_write_all(struct fs_part *p, struct sr_error *err)
{
    sr_rc rc = fs_part_write(p, err);
    if (rc == SR_OK && p->written < p->buf.len) {
        rc = p->host->files->write(p->file, p->buf.data + p->written, p->buf.len - p->written,
                                   p->base + p->written, err);
    }
    if (rc == SR_OK) {
        p->written = p->buf.len;
    }
    return rc;
}

sr_rc fs_part_park(struct fs_part *p, struct sr_error *err)
{
    sr_rc rc = fs_part_write_all(p, err);
    if (rc == SR_OK) {
        rc = p->host->files->close(p->file, err);
        p->file = NULL;
        p->parked = p->buf.len;
        note_free(&p->buf);
        p->written = 0;
    }
    return rc;
}

sr_rc fs_part_wake(struct fs_part *p, struct sr_error *err)
{
    const struct sr_files *files = p->host->files;
    struct sr_file *f = NULL;
    size_t got = 0;
    sr_rc rc = files->open(files, p->name.hidden, SR_FILE_WRITE, &f, err);
    uint8_t *to = rc == SR_OK ? sr_out_room(&p->buf, p->parked > 0 ? p->parked : 1) : NULL;
    if (rc == SR_OK && !to) {
        rc = p->host->fail(p->host, err, SR_ENOMEM, "out of memory");
    }
    if (rc == SR_OK && p->parked > 0) {
        rc = files->read(f, to, p->parked, p->base, &got, err);
    }
    if (rc == SR_OK && got < p->parked) {
        rc = p->host->fail(p->host, err, SR_ECORRUPT, "%s was cut short by somebody else",
                           p->name.hidden);
    }
    if (rc != SR_OK) {
        (void)files->close(f, NULL); /* nothing was written */
        return rc;
    }
    p->file = f;
    p->buf.len = p->written = p->parked;
    p->parked = 0;
    return SR_OK;
}

sr_rc fs_part_sync(struct fs_part *p, struct sr_error *err)
{
    if (p->is_condemned) {
        return p->host->fail(p->host, err, SR_EIO, "%s could not be made durable before",
                             p->name.hidden);
    }
    sr_rc rc = fs_part_write_all(p, err);
    if (rc != SR_OK) {
        return rc;
    }
#ifndef MUTANT_PART_UNSYNCED /* rows of a checkpoint that a power loss takes */
    rc = p->host->files->sync(p->file, err);
#endif
    if (rc != SR_OK) {
        p->is_condemned = true;
        return rc;
    }
    p->name.length = fs_part_length(p);
    blocksum_end(&p->chain, p->host, p->buf.data, p->buf.len, p->name.digest);
    return SR_OK;
}

void fs_part_done(struct fs_part *p, struct fs_part_name *name)
{
    if (p->host) {
        (void)p->host->files->close(p->file, NULL); /* what counts was synced */
    }
    p->file = NULL;
    if (name) {
        *name = p->name;
        p->name = (struct fs_part_name){0};
    }
    fs_part_name_done(&p->name);
}

/* The path of the two that still has the part: hidden, or final when it was shown since. That it
 * cannot be told is an error: nobody may take it for a part that is gone. */
static sr_rc fs_part_source(const struct sr_host *host, const struct fs_part_name *from,
                            const char **source, struct sr_error *err)
{
    struct sr_stat stat;
    sr_rc rc = host->files->stat(host->files, from->hidden, &stat, err);
    if (rc != SR_OK && rc != SR_EABSENT) {
        return rc;
    }
    *source = rc == SR_EABSENT ? from->final : from->hidden;
    return SR_OK;
}

static sr_rc fs_part_copy_bytes(struct fs_part *p, struct sr_file *in, uint64_t length,
                                struct sr_error *err)
{
    while (fs_part_length(p) < length) {
        uint64_t left = length - fs_part_length(p);
        size_t want = left < BLOCKSUM_BLOCK ? (size_t)left : BLOCKSUM_BLOCK;
        uint8_t *to = sr_out_room(&p->buf, want);
        if (!to) {
            return p->host->fail(p->host, err, SR_ENOMEM, "out of memory");
        }
        size_t got = 0;
        sr_rc rc = p->host->files->read(in, to, want, fs_part_length(p), &got, err);
        if (rc != SR_OK) {
            return rc;
        }
        if (got == 0) {
            return p->host->fail(p->host, err, SR_ECORRUPT,
                                 "it has %llu bytes, but %llu were written at the checkpoint",
                                 (unsigned long long)fs_part_length(p), (unsigned long long)length);
        }
        p->buf.len += got;
        rc = fs_part_write(p, err);
        if (rc != SR_OK) {
            return rc;
        }
    }
    return SR_OK;
}

sr_rc fs_part_copy(struct fs_part *p, const struct sr_host *host, struct fs_part_name name,
                   const struct fs_part_name *from, struct sr_error *err)
{
    const char *source = NULL;
    struct sr_file *in = NULL;
    sr_rc rc = fs_part_create(p, host, name, err);
    if (rc != SR_OK) {
        return rc;
    }
    rc = fs_part_source(host, from, &source, err);
    if (rc != SR_OK) {
        fs_part_done(p, NULL);
        return rc;
    }
    rc = host->files->open(host->files, source, SR_FILE_READ, &in, err);
    if (rc == SR_EABSENT) {
        rc =
            host->fail(host, err, SR_ECORRUPT,
                       "%s is gone, and it was not finished as %s: its rows cannot be gone on with",
                       from->hidden, from->final);
    }
    if (rc == SR_OK) {
        rc = fs_part_copy_bytes(p, in, from->length, err);
    }
    if (rc == SR_OK) {
        uint64_t digest[2];
        blocksum_end(&p->chain, host, p->buf.data, p->buf.len, digest);
        if (digest[0] != from->digest[0] || digest[1] != from->digest[1]) {
            rc = host->fail(host, err, SR_ECORRUPT,
                            "%s was changed by somebody else since the checkpoint", source);
        }
    }
    (void)host->files->close(in, NULL); /* only read */
    if (rc != SR_OK) {
        fs_part_done(p, NULL);
    }
    return rc;
}

/* *has: the file is there, with the bytes of the note. That it could not be read says nothing of
 * them, and is an error. */
static sr_rc fs_part_look(const struct sr_host *host, const char *path,
                          const struct fs_part_name *n, bool *has, struct sr_error *err)
{
    struct sr_stat stat;
    uint64_t digest[2] = {0, 0};
    sr_rc rc = host->files->stat(host->files, path, &stat, err);
    bool may_have = rc == SR_OK && stat.size_bytes == n->length;
    if (may_have) {
        rc = blocksum_file(host, path, n->length, digest, err);
    }
    if (rc != SR_OK && rc != SR_EABSENT && rc != SR_ECORRUPT) { /* cut short since, or removed */
        return rc;
    }
    *has = may_have && rc == SR_OK && digest[0] == n->digest[0] && digest[1] == n->digest[1];
    return SR_OK;
}

/* A rename is in both directories; those of partitions may be new, up to where parts hide. */
static sr_rc fs_part_sync_dirs(const struct sr_host *host, const struct fs_part_name *n,
                               struct sr_error *err)
{
#ifdef MUTANT_SHOWN_UNSYNCED /* the checkpoint behind it forgets a part that is hidden again */
    return SR_OK;
#endif
    char *to = fs_path_parent(n->final), *from = fs_path_parent(n->hidden);
    size_t len = from ? strlen(from) : 0;
    sr_rc rc = SR_OK;
    while (rc == SR_OK && from && to && strlen(to) > len) {
        rc = host->files->sync_dir(host->files, to, err);
        char *above = fs_path_parent(to);
        free(to);
        to = above;
    }
    if (rc == SR_OK) {
        rc = to && from ? host->files->sync_dir(host->files, from, err)
                        : host->fail(host, err, SR_ENOMEM, "out of memory");
    }
    free(to);
    free(from);
    return rc;
}

/* Directories of partitions appear with the first file in them, also again. */
static sr_rc fs_part_rename(const struct sr_host *host, const struct fs_part_name *n,
                            struct sr_error *err)
{
    const struct sr_files *files = host->files;
    sr_rc rc = files->rename(files, n->hidden, n->final, n->may_replace, err);
    if (rc != SR_EABSENT || n->partition[0] == 0) {
        return rc;
    }
    char *dir = fs_path_parent(n->final);
    rc = dir ? fs_path_make(host, dir, err) : host->fail(host, err, SR_ENOMEM, "out of memory");
    free(dir);
    return rc == SR_OK ? files->rename(files, n->hidden, n->final, n->may_replace, err) : rc;
}

/* Neither name has the part. A directory that was taken away may come back; else its rows are
 * lost. */
static sr_rc fs_part_missing(const struct sr_host *host, const struct fs_part_name *n,
                             struct sr_error *err)
{
    struct sr_stat stat;
    char *dir = fs_path_parent(n->hidden);
    sr_rc rc = dir ? host->files->stat(host->files, dir, &stat, err) : SR_OK;
    free(dir);
    if (rc != SR_OK) {
        return rc;
    }
    return host->fail(host, err, SR_ECORRUPT, "%s is gone, and %s does not hold its rows",
                      n->hidden, n->final);
}

sr_rc fs_part_show(const struct sr_host *host, const struct fs_part_name *n, bool is_own,
                   struct sr_error *err)
{
    const struct sr_files *files = host->files;
    struct sr_stat stat;
    sr_rc rc = files->stat(files, n->hidden, &stat, err);
    bool is_hidden_there = rc == SR_OK;
    if (rc != SR_OK && rc != SR_EABSENT) {
        return rc;
    }
    bool is_right = is_hidden_there && stat.size_bytes == n->length;
#ifdef MUTANT_SHOWN_UNCHECKED /* whatever became of the bytes since the checkpoint is shown */
    is_own = true;
#endif
    rc = is_right && !is_own ? fs_part_look(host, n->hidden, n, &is_right, err) : SR_OK;
    if (rc != SR_OK) {
        return rc;
    }
    if (is_hidden_there && !is_right) {
        return host->fail(host, err, SR_ECORRUPT,
                          "%s does not hold what was written to it at the checkpoint", n->hidden);
    }
    if (is_hidden_there) {
        rc = fs_part_rename(host, n, err);
        if (rc == SR_OK) {
            return fs_part_sync_dirs(host, n, err);
        }
        if (rc != SR_EEXISTS) {
            return rc;
        }
    }
    /* Shown before: by us, or by an older process between our look and our rename. The directory
     * is synced again, because that one may have died before it did. */
    rc = fs_part_look(host, n->final, n, &is_right, err);
    if (rc != SR_OK) {
        return rc;
    }
    if (!is_right && !is_hidden_there) {
        return fs_part_missing(host, n, err);
    }
    if (!is_right) {
        return host->fail(host, err, SR_ECORRUPT,
                          "%s cannot be finished: %s is there and holds something else", n->hidden,
                          n->final);
    }
    rc = is_hidden_there ? files->remove(files, n->hidden, err) : SR_OK;
    return rc == SR_OK ? fs_part_sync_dirs(host, n, err) : rc;
}
