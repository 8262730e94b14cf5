#include "connectors/common/journal_dir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOURNAL_DIGITS 16u

static char *journal_format(const char *dir, const char *name)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s", dir, name) < 0 ? NULL : path;
}

char *journal_path(const char *dir, uint64_t session, uint64_t begin)
{
    char name[64];
    (void)snprintf(name, sizeof(name), "%016llx-%016llx.journal", (unsigned long long)session,
                   (unsigned long long)begin);
    return journal_format(dir, name);
}

static char *journal_acked_path(const char *dir, uint64_t session)
{
    char name[64];
    (void)snprintf(name, sizeof(name), "%016llx.acked", (unsigned long long)session);
    return journal_format(dir, name);
}

/* JOURNAL_DIGITS hex digits, and nothing else that strtoull would take. */
static bool journal_number(const char *s, uint64_t *out)
{
    char digits[JOURNAL_DIGITS + 1] = "";
    if (strspn(s, "0123456789abcdef") != JOURNAL_DIGITS) {
        return false;
    }
    memcpy(digits, s, JOURNAL_DIGITS);
    *out = strtoull(digits, NULL, 16);
    return true;
}

static bool journal_is_segment(const char *name, struct journal_segment *out)
{
    return journal_number(name, &out->session) && name[JOURNAL_DIGITS] == '-' &&
           journal_number(name + JOURNAL_DIGITS + 1, &out->begin) &&
           strcmp(name + (size_t)2 * JOURNAL_DIGITS + 1, ".journal") == 0;
}

/* --- Listing --------------------------------------------------------------------------------- */

static sr_rc journal_list_take(const struct sr_host *host, const char *dir, char **names,
                               struct journal_list *l, struct sr_error *err)
{
    uint32_t count = 0;
    while (names[count]) {
        count++;
    }
    l->item = calloc((size_t)count + 1, sizeof(*l->item));
    if (!l->item) {
        return host->fail(host, err, SR_ENOMEM, "out of memory to list %s", dir);
    }
    l->capacity = count + 1;
    for (uint32_t i = 0; i < count; i++) { /* names come in byte order, so ours in theirs */
        struct journal_segment s = {0};
        if (!journal_is_segment(names[i], &s)) {
            continue;
        }
        char *path = journal_path(dir, s.session, s.begin);
        struct sr_stat stat = {0};
        sr_rc rc = path ? host->files->stat(host->files, path, &stat, err)
                        : host->fail(host, err, SR_ENOMEM, "out of memory to list %s", dir);
        free(path);
        if (rc != SR_OK) {
            return rc;
        }
        s.bytes = stat.size_bytes;
        l->item[l->count++] = s;
    }
    return SR_OK;
}

sr_rc journal_list(const struct sr_host *host, const char *dir, struct journal_list *out,
                   struct sr_error *err)
{
    *out = (struct journal_list){0};
    char **names = NULL;
    sr_rc rc = host->files->list(host->files, dir, &names, err);
    if (rc == SR_EABSENT) {
        return SR_OK;
    }
    if (rc == SR_OK) {
        rc = journal_list_take(host, dir, names, out, err);
        host->files->names_free(host->files, names);
    }
    if (rc != SR_OK) {
        journal_list_done(out);
    }
    return rc;
}

void journal_list_done(struct journal_list *l)
{
    free(l->item);
    *l = (struct journal_list){0};
}

uint32_t journal_list_first(const struct journal_list *l, uint64_t session)
{
    uint32_t i = 0;
    while (i < l->count && l->item[i].session != session) {
        i++;
    }
    return i;
}

uint32_t journal_list_behind(const struct journal_list *l, uint64_t session)
{
    uint32_t i = journal_list_first(l, session);
    while (i < l->count && l->item[i].session == session) {
        i++;
    }
    return i;
}

/* --- Looking --------------------------------------------------------------------------------- */

/* A frame of at most JOURNAL_ORIGIN bytes. */
struct journal_small {
    bool is_there; /* and whole */
    struct journal_frame frame;
    uint8_t bytes[JOURNAL_ORIGIN];
};

static sr_rc journal_peek(const struct sr_host *host, struct sr_file *f, uint64_t at,
                          struct journal_small *out, struct sr_error *err)
{
    uint8_t all[JOURNAL_HEAD + JOURNAL_ORIGIN] = {0};
    size_t have = 0, got = 1;
    *out = (struct journal_small){0};
    while (have < sizeof(all) && got > 0) {
        sr_rc rc = host->files->read(f, all + have, sizeof(all) - have, at + have, &got, err);
        if (rc != SR_OK) {
            return rc;
        }
        have += got;
    }
    out->is_there = have >= JOURNAL_HEAD && journal_frame_get(all, &out->frame) &&
                    out->frame.len <= have - JOURNAL_HEAD &&
                    journal_frame_is_whole(host, all, all + JOURNAL_HEAD);
    memcpy(out->bytes, all + JOURNAL_HEAD, JOURNAL_ORIGIN);
    return SR_OK;
}

static sr_rc journal_look_at(const struct sr_host *host, const char *dir,
                             const struct journal_segment *s, struct journal_look *out,
                             bool *is_told, struct sr_error *err)
{
    char *path = journal_path(dir, s->session, s->begin);
    struct sr_file *f = NULL;
    struct journal_small first = {0}, last;
    sr_rc rc = path ? host->files->open(host->files, path, SR_FILE_READ, &f, err)
                    : host->fail(host, err, SR_ENOMEM, "out of memory to look at %s", dir);
    if (rc == SR_OK) {
        rc = journal_peek(host, f, 0, &first, err);
    }
    *is_told =
        first.is_there && first.frame.kind == JOURNAL_BEGIN && first.frame.len == JOURNAL_ORIGIN;
    if (rc == SR_OK && *is_told && s->bytes >= JOURNAL_HEAD) { /* the end has no bytes */
        memcpy(out->origin, first.bytes, JOURNAL_ORIGIN);
        rc = journal_peek(host, f, s->bytes - JOURNAL_HEAD, &last, err);
        out->has_end = rc == SR_OK && last.is_there && last.frame.kind == JOURNAL_END &&
                       last.frame.session == s->session;
    }
    (void)host->files->close(f, NULL); /* only read */
    free(path);
    return rc;
}

sr_rc journal_look(const struct sr_host *host, const char *dir, const struct journal_list *l,
                   uint64_t session, struct journal_look *out, struct sr_error *err)
{
    bool is_told = false;
    sr_rc rc = SR_OK;
    *out = (struct journal_look){0};
    /* A crash may have left a last segment without its first frame: then the one before knows. */
    for (uint32_t i = journal_list_behind(l, session);
         rc == SR_OK && !is_told && i > 0 && l->item[i - 1].session == session; i--) {
        rc = journal_look_at(host, dir, &l->item[i - 1], out, &is_told, err);
    }
    return rc;
}

/* --- What is of no use any more -------------------------------------------------------------- */

uint64_t journal_acked(const struct sr_host *host, const char *dir, uint64_t session)
{
    char *path = journal_acked_path(dir, session);
    struct sr_file *f = NULL;
    struct sr_error ignored;
    struct journal_small small = {0};
    if (path && host->files->open(host->files, path, SR_FILE_READ, &f, &ignored) == SR_OK) {
        /* What cannot be read is not known: then more is read again than must be. */
        (void)journal_peek(host, f, 0, &small, &ignored);
        (void)host->files->close(f, NULL);
    }
    free(path);
    bool is_mine =
        small.is_there && small.frame.kind == JOURNAL_ACKED && small.frame.session == session;
    return is_mine ? small.frame.offset : 0;
}

sr_rc journal_set_acked(const struct sr_host *host, const char *dir, uint64_t session,
                        uint64_t offset, bool is_synced, struct sr_error *err)
{
    const struct sr_files *fs = host->files;
    char *path = journal_acked_path(dir, session);
    if (!path) {
        return host->fail(host, err, SR_ENOMEM, "out of memory for a path in %s", dir);
    }
    uint8_t head[JOURNAL_HEAD];
    struct journal_frame frame = {.kind = JOURNAL_ACKED, .session = session, .offset = offset};
    journal_frame_put(host, &frame, head, head); /* no bytes: none are looked at */
    struct sr_file *f = NULL;
    sr_rc rc = fs->open(fs, path, SR_FILE_WRITE | SR_FILE_CREATE, &f, err);
    if (rc == SR_OK) {
        rc = fs->write(f, head, sizeof(head), 0, err);
    }
    if (rc == SR_OK && is_synced) {
        rc = fs->sync(f, err);
    }
    if (f) {
        sr_rc closed = fs->close(f, rc == SR_OK ? err : NULL);
        rc = rc == SR_OK ? closed : rc;
    }
    if (rc == SR_OK && is_synced) {
        rc = fs->sync_dir(fs, dir, err);
    }
    free(path);
    return rc;
}

static sr_rc journal_remove_at(const struct sr_host *host, char *path, struct sr_error *err)
{
    sr_rc rc = path ? host->files->remove(host->files, path, err)
                    : host->fail(host, err, SR_ENOMEM, "out of memory for a path");
    free(path);
    return rc == SR_EABSENT ? SR_OK : rc;
}

sr_rc journal_remove(const struct sr_host *host, const char *dir, struct journal_list *l,
                     uint64_t session, struct sr_error *err)
{
    sr_rc rc = SR_OK;
    uint32_t kept = 0;
    /* From the front: what a crash leaves lies behind all that was acknowledged. */
    for (uint32_t i = journal_list_first(l, session);
         rc == SR_OK && i < l->count && l->item[i].session == session; i++) {
        rc = journal_remove_at(host, journal_path(dir, session, l->item[i].begin), err);
        if (rc == SR_OK) {
            l->item[i].bytes = UINT64_MAX;
        }
    }
    for (uint32_t i = 0; i < l->count; i++) {
        if (l->item[i].bytes != UINT64_MAX) {
            l->item[kept++] = l->item[i];
        }
    }
    l->count = kept;
    if (rc == SR_OK) {
        rc = journal_remove_at(host, journal_acked_path(dir, session), err);
    }
    return rc == SR_OK ? host->files->sync_dir(host->files, dir, err) : rc;
}
