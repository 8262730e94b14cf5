#include "connectors/filesystem/fs_reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/filesystem/fs_print.h"
#include "connectors/filesystem/fs_rotate.h"

#define FS_AWAY_US INT64_C(5000000) /* and three intervals: until a file that is gone is let go */

void fs_reading_release(struct fs_reader *r)
{
    fs_input_close(&r->input);
    block_drop(&r->block);
    r->now = NULL;
}

/* --- Which file it is ------------------------------------------------------------------------ */

void fs_reading_mark(struct fs_reader *r)
{
    struct fs_split *s = &r->now->split;
    if (s->tail.bytes == 0 && r->lasts > 0) {
        s->tail.bytes = r->lasts;
        r->host->digest(r->last, r->lasts, s->tail.digest);
    }
}

void fs_reading_remember(struct fs_reader *r, const uint8_t *bytes, uint32_t len)
{
    uint32_t take = len < FS_PRINT_BYTES ? len : FS_PRINT_BYTES;
    uint32_t keep = r->lasts < FS_PRINT_BYTES - take ? r->lasts : FS_PRINT_BYTES - take;
    memmove(r->last, r->last + r->lasts - keep, keep);
    memcpy(r->last + keep, bytes + len - take, take);
    r->lasts = keep + take;
    r->now->split.tail.bytes = 0;
}

void fs_reading_forget(struct fs_reader *r)
{
    r->lasts = 0;
    r->now->split.tail.bytes = 0;
}

/* Is the open file the one that was read before, and does it hold at least as much? */
static sr_rc fs_reading_check(struct fs_reader *r, const struct sr_stat *stat, bool *is_same,
                              struct sr_error *err)
{
    struct fs_split *s = &r->now->split;
    if (!r->is_monitored && s->offset == s->begin) { /* of what is there nothing was read */
        s->file.head.bytes = 0;
        *is_same = true;
        return SR_OK;
    }
    bool is_inode =
        s->file.inode == 0 || (stat->inode == s->file.inode && stat->device == s->file.device);
    *is_same = (is_inode || !r->is_monitored) &&
               (fs_input_is_packed(&r->input) || stat->size_bytes >= s->offset);
    return *is_same ? fs_print_fits(&r->input, s, is_same, err) : SR_OK;
}

static sr_rc fs_reading_is_other(const struct fs_reader *r, const struct sr_stat *stat,
                                 struct sr_error *err)
{
    const struct sr_host *h = r->host;
    const struct fs_split *s = &r->now->split;
    uint64_t expected = s->file.size_bytes > s->offset ? s->file.size_bytes : s->offset;
    if (stat->size_bytes < expected) {
        return h->fail(h, err, SR_EMISFIT,
                       "%s shrank from %llu to %llu bytes: it was cut or replaced while the job "
                       "was reading it",
                       s->path, (unsigned long long)expected, (unsigned long long)stat->size_bytes);
    }
    return h->fail(h, err, SR_EMISFIT,
                   "%s does not begin as it did when it was read: it is another file now", s->path);
}

/* Looks at the file that was opened. *is_same: it is what was read before; else, unless it is
 * followed, that fails. */
static sr_rc fs_reading_identify(struct fs_reader *r, bool *is_same, struct sr_error *err)
{
    struct fs_split *s = &r->now->split;
    const struct sr_host *h = r->host;
    struct sr_stat stat;
    sr_rc rc = h->files->stat_file(r->input.file, &stat, err);
    if (rc != SR_OK) {
        return rc;
    }
    if (stat.kind != SR_FILE_REGULAR) {
        return h->fail(h, err, SR_EMISFIT, "%s is no longer a regular file", s->path);
    }
    rc = fs_reading_check(r, &stat, is_same, err);
    bool is_short =
        !r->is_monitored && !fs_input_is_packed(&r->input) && stat.size_bytes < s->file.size_bytes;
    if (rc != SR_OK || !*is_same || is_short) {
        return rc != SR_OK || r->is_monitored ? rc : fs_reading_is_other(r, &stat, err);
    }
    if (fs_input_is_packed(&r->input) && !s->is_packed && s->begin == 0) {
        s->is_packed = true;
        s->end = FS_SPLIT_OPEN; /* its size says nothing of its contents */
    }
    s->file.device = stat.device;
    s->file.inode = stat.inode;
    s->file.size_bytes = stat.size_bytes;
    s->file.modified_us = stat.modified_us;
    return s->file.head.bytes == FS_PRINT_BYTES
               ? SR_OK
               : fs_print_take(&r->input, 0, FS_PRINT_BYTES, &s->file.head, err);
}

/* --- From split to split --------------------------------------------------------------------- */

static void fs_reading_finish(struct fs_reader *r)
{
    fs_reading_mark(r);
    r->now->split.is_finished = true;
    fs_reading_release(r);
    while (r->first_live < r->count && r->item[r->first_live]->split.is_finished) {
        r->first_live++;
    }
}

sr_rc fs_reading_end(struct fs_reader *r, struct sr_error *err)
{
    const struct sr_host *h = r->host;
    const char *path = r->now->split.path;
    struct sr_stat stat;
    if (r->input.file && !r->is_monitored &&
        h->files->stat(h->files, path, &stat, err) == SR_EABSENT) {
        return h->fail(h, err, SR_EIO, "%s vanished while it was read", path);
    }
    fs_reading_finish(r);
    return SR_OK;
}

/* The file stays open with its split, in place of the one that was kept the longest. */
static void fs_reading_keep(struct fs_reader *r)
{
    struct fs_reading **place = &r->keeper[r->next_keeper];
    r->next_keeper = (r->next_keeper + 1) % FS_KEPT_MAX;
    if (*place) {
        fs_input_close(&(*place)->kept);
    }
    *place = r->now;
    r->now->kept = r->input;
    r->input = (struct fs_input){0};
}

/* Takes the kept file of a split back, if it has one. */
static bool fs_reading_unkeep(struct fs_reader *r, struct fs_reading *item)
{
    if (!item->kept.file) {
        return false;
    }
    for (uint32_t i = 0; i < FS_KEPT_MAX; i++) {
        r->keeper[i] = r->keeper[i] == item ? NULL : r->keeper[i];
    }
    r->input = item->kept;
    r->input.path = item->split.path;
    item->kept = (struct fs_input){0};
    return true;
}

sr_rc fs_reading_tell(struct fs_reader *r, const struct fs_reading *item, struct sr_poll *p,
                      struct sr_error *err)
{
    if (!r->is_monitored || item->split.file.inode == 0 || item->split.file.head.bytes == 0) {
        return SR_OK;
    }
    r->told_note.len = 0;
    if (fs_split_save(&item->split, &r->told_note) != SR_OK) {
        return r->host->fail(r->host, err, SR_ENOMEM, "out of memory for split %s", item->id);
    }
    r->told =
        (struct sr_split){.id = item->id, .note = {r->told_note.data, (uint32_t)r->told_note.len}};
    p->told = &r->told;
    return SR_OK;
}

void fs_reading_rest(struct fs_reader *r)
{
    fs_reading_mark(r);
    r->now->due_us = r->host->mono_us(r->host) + r->conf->monitor_interval.us;
    if (!fs_input_is_packed(&r->input)) {
        r->now->split.file.size_bytes = r->read_end;
        fs_reading_keep(r);
    }
    fs_reading_release(r);
}

static bool fs_reading_has_begun(const struct fs_split *s) { return s->offset > s->begin; }

/* The file at the path is cut and goes on: a new split, for whoever is free. */
static sr_rc fs_reading_find(struct fs_reader *r, const struct fs_split *s, struct sr_poll *p,
                             struct sr_error *err)
{
    const char *id = r->now->id, *mark = strstr(id, "//~");
    size_t len = mark ? (size_t)(mark - id) : strlen(id), size = len + 16;
    unsigned long turn = mark ? strtoul(mark + 3, NULL, 10) : 0;
    char *next = malloc(size);
    struct fs_split fresh = {.path = s->path, .end = FS_SPLIT_OPEN, .is_aligned = true};
    fresh.file.device = s->file.device;
    fresh.file.inode = s->file.inode;
    r->found_note.len = 0;
    if (!next || fs_split_save(&fresh, &r->found_note) != SR_OK) {
        free(next);
        return r->host->fail(r->host, err, SR_ENOMEM, "out of memory for split %s", id);
    }
    (void)snprintf(next, size, "%.*s//~%lu", (int)len, id, turn + 1);
    r->found_id = next;
    r->found = (struct sr_split){.id = next,
                                 .note = {r->found_note.data, (uint32_t)r->found_note.len},
                                 .order = r->host->wall_us(r->host)};
    p->found = &r->found;
    return SR_OK;
}

/* Its contents are nowhere: over. */
static void fs_reading_let_go(struct fs_reader *r)
{
    const struct sr_host *h = r->host;
    const struct fs_split *s = &r->now->split;
    if (!r->input.file && s->offset < s->file.size_bytes && !s->is_packed) {
        h->log(h, SR_WARN, "%s is gone, and with it what was not read of it: %llu bytes were",
               s->path, (unsigned long long)s->offset);
        h->count(h, "files-vanished", 1);
    }
    fs_reading_finish(r);
}

/* The path of a followed split does not lead to its contents any more. Goes on where they are: then
 * *is_there, and the file is open. Or the split is over, or rests for a while. */
static sr_rc fs_reading_rotated(struct fs_reader *r, bool is_kept, bool *is_there,
                                struct sr_poll *p, struct sr_error *err)
{
    const struct sr_host *h = r->host;
    struct fs_reading *item = r->now;
    struct fs_split *s = &item->split;
    struct fs_rotated to = {0};
    sr_rc rc = fs_rotate_find(h, r->pattern, s, &to, err);
    if (rc == SR_OK && to.is_cut) { /* the same inode, other contents */
        rc = fs_reading_find(r, s, p, err);
        is_kept = false;
    }
    if (rc == SR_OK && to.path) {
        fs_input_close(&r->input);
        free(s->path);
        s->path = to.path;
        to.path = NULL;
        s->file.inode = 0; /* that of a copy is another one */
        item->away_us = 0;
        rc = fs_input_open(&r->input, h, s->path, err);
        *is_there = rc == SR_OK;
        rc = rc == SR_OK ? fs_reading_identify(r, is_there, err) : rc;
        return rc == SR_EABSENT ? SR_OK : rc; /* moved on again: the next look follows */
    }
    int64_t now_us = h->mono_us(h);
    item->away_us = item->away_us > 0 ? item->away_us : now_us;
    int64_t away_us = now_us - item->away_us;
    bool is_over =
        to.is_cut || (away_us > FS_AWAY_US && away_us > 3 * r->conf->monitor_interval.us);
    if (rc == SR_OK && is_over) {
        fs_reading_let_go(r);
    } else if (rc == SR_OK && is_kept) {
        *is_there = true; /* what is still written to it is read */
    }
    return rc;
}

static void fs_reading_begin(struct fs_reader *r, struct fs_reading *item)
{
    const struct fs_split *s = &item->split;
    r->now = item;
    r->stop = FS_SPLIT_OPEN;
    r->has_moved = r->is_passing = false;
    r->lasts = 0;
    r->searched = s->end - 1;
    r->read_end = s->is_aligned ? s->offset : s->begin - 1;
    item->due_us = 0;
}

/* The kept or newly opened file of a followed split, wherever it is by now. */
static sr_rc fs_reading_follow(struct fs_reader *r, struct sr_poll *p, struct sr_error *err)
{
    const struct sr_host *h = r->host;
    const struct fs_split *s = &r->now->split;
    struct sr_stat stat;
    sr_rc rc = SR_OK;
    bool is_kept = fs_reading_unkeep(r, r->now);
    if (!is_kept) {
        rc = fs_input_open(&r->input, h, s->path, err);
    }
    bool is_there = rc == SR_OK;
    if (rc == SR_OK) {
        rc = fs_reading_identify(r, &is_there, err);
    }
    if (rc == SR_OK && is_kept && is_there) { /* the file, but is it still what its path says? */
        is_there = h->files->stat(h->files, s->path, &stat, err) == SR_OK &&
                   stat.inode == s->file.inode && stat.device == s->file.device;
    }
    if ((rc == SR_OK || rc == SR_EABSENT) && !is_there) {
        rc = fs_reading_rotated(r, is_kept, &is_there, p, err);
    } else {
        r->now->away_us = 0;
    }
    if (rc == SR_OK && !is_there && r->now) { /* not there, not over: the next look tells */
        r->now->due_us = h->mono_us(h) + r->conf->monitor_interval.us;
        fs_reading_release(r);
    }
    return rc;
}

sr_rc fs_reading_start(struct fs_reader *r, struct fs_reading *item, struct sr_poll *p,
                       struct sr_error *err)
{
    const struct sr_host *h = r->host;
    struct fs_split *s = &item->split;
    fs_reading_begin(r, item);
    if (s->is_aligned && s->offset >= s->end) {
        return fs_reading_end(r, err);
    }
    if (r->is_monitored) {
        return fs_reading_follow(r, p, err);
    }
    bool is_same = true;
    sr_rc rc = fs_input_open(&r->input, h, s->path, err);
    if (rc == SR_EABSENT && !fs_reading_has_begun(s)) {
        h->log(h, SR_WARN, "%s vanished before it was read", s->path);
        h->count(h, "files-vanished", 1);
        fs_reading_finish(r);
        return SR_OK;
    }
    if (rc == SR_EABSENT) {
        return h->fail(h, err, SR_EIO, "%s vanished while it was read (%llu bytes were)", s->path,
                       (unsigned long long)s->offset);
    }
    return rc == SR_OK ? fs_reading_identify(r, &is_same, err) : rc;
}

/* Is there anything new about a resting file? What it is, start tells. */
static bool fs_reading_has_news(const struct fs_reader *r, const struct fs_reading *item)
{
    const struct fs_split *s = &item->split;
    const struct sr_files *files = r->host->files;
    struct sr_stat stat;
    struct sr_error ignored;
    sr_rc rc = files->stat(files, s->path, &stat, &ignored);
    return rc != SR_OK || stat.size_bytes != s->file.size_bytes || stat.inode != s->file.inode ||
           stat.device != s->file.device || stat.modified_us != s->file.modified_us;
}

struct fs_reading *fs_reading_pick(struct fs_reader *r, int64_t *due_us)
{
    int64_t now_us = r->is_monitored ? r->host->mono_us(r->host) : 0;
    /* Those that would be due soon are looked at along with them, so that thousands of files need
     * few wakings. */
    int64_t soon_us = now_us + r->conf->monitor_interval.us / 8;
    *due_us = INT64_MAX;
    for (uint32_t i = r->first_live; i < r->count; i++) {
        struct fs_reading *item = r->item[i];
        if (item->split.is_finished) {
            continue;
        }
        if (item->due_us == 0 || (item->due_us <= soon_us && fs_reading_has_news(r, item))) {
            return item;
        }
        if (item->due_us <= soon_us) {
            item->due_us = now_us + r->conf->monitor_interval.us;
        }
        *due_us = item->due_us < *due_us ? item->due_us : *due_us;
    }
    return NULL;
}
