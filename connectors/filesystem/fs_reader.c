#include "connectors/filesystem/fs_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/common/list.h"
#include "connectors/common/note.h"
#include "connectors/filesystem/fs_print.h"
#include "connectors/filesystem/fs_rotate.h"

#define FS_AWAY_US INT64_C(5000000) /* and three intervals: until a file that is gone is let go */

sr_rc fs_reader_open(void *reader, const struct sr_source_open *o, struct sr_error *err)
{
    struct fs_reader *r = reader;
    r->host = o->host;
    r->conf = o->conf;
    r->metadata = o->metadata;
    r->metadatas = o->metadatas;
    r->columns = o->schema ? o->schema->fields : 0;
    r->is_lines = (o->format_flags & SR_FORMAT_LINES) != 0;
    r->has_resync = (o->format_flags & SR_FORMAT_RESYNC) != 0;
    r->is_monitored = r->conf->monitor_interval.us > 0;
    r->block.host = o->host;
    r->block.record_max = (uint32_t)r->conf->record_max.bytes;
    r->goes_on = o->goes_on;
    r->found_note = note_out();
    r->told_note = note_out();
    r->pattern = fs_path_clean(r->conf->path);
    return r->pattern ? SR_OK : o->host->fail(o->host, err, SR_ENOMEM, "out of memory");
}

sr_rc fs_reader_add(void *reader, uint32_t number, const struct sr_split *split,
                    struct sr_error *err)
{
    struct fs_reader *r = reader;
    const struct sr_host *h = r->host;
    void *moved = list_room((void *)r->item, r->count, &r->capacity, sizeof(struct fs_reading *));
    if (!moved) {
        return h->fail(h, err, SR_ENOMEM, "out of memory for split %s", split->id);
    }
    r->item = moved;
    struct fs_reading *item = calloc(1, sizeof(*item));
    sr_rc rc = item ? fs_split_load(&item->split, split->note) : SR_ENOMEM;
    if (rc == SR_OK) {
        item->id = strdup(split->id);
        rc = item->id ? SR_OK : SR_ENOMEM;
    }
    if (rc != SR_OK) {
        if (item) {
            fs_split_done(&item->split);
        }
        free(item);
        return h->fail(h, err, rc, "the position of split %s cannot be read", split->id);
    }
    item->number = number;
    r->item[r->count++] = item;
    return SR_OK;
}

static void fs_reader_release(struct fs_reader *r)
{
    fs_input_close(&r->input);
    block_drop(&r->block);
    r->now = NULL;
}

/* --- Which file it is ------------------------------------------------------------------------ */

/* Fingerprint of what was consumed last: not of what the file holds there now, it may have been
 * written anew meanwhile. */
static void fs_reader_mark(struct fs_reader *r)
{
    struct fs_split *s = &r->now->split;
    if (s->tail.bytes == 0 && r->lasts > 0) {
        s->tail.bytes = r->lasts;
        r->host->digest(r->last, r->lasts, s->tail.digest);
    }
}

/* Keeps the last of some bytes that are being consumed. */
static void fs_reader_remember(struct fs_reader *r, const uint8_t *bytes, uint32_t len)
{
    uint32_t take = len < FS_PRINT_BYTES ? len : FS_PRINT_BYTES;
    uint32_t keep = r->lasts < FS_PRINT_BYTES - take ? r->lasts : FS_PRINT_BYTES - take;
    memmove(r->last, r->last + r->lasts - keep, keep);
    memcpy(r->last + keep, bytes + len - take, take);
    r->lasts = keep + take;
    r->now->split.tail.bytes = 0;
}

/* The split's offset has jumped. */
static void fs_reader_forget(struct fs_reader *r)
{
    r->lasts = 0;
    r->now->split.tail.bytes = 0;
}

/* Is the open file the one that was read before, and does it hold at least as much? */
static sr_rc fs_reader_check(struct fs_reader *r, const struct sr_stat *stat, bool *is_same,
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

static sr_rc fs_reader_is_other(const struct fs_reader *r, const struct sr_stat *stat,
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
static sr_rc fs_reader_identify(struct fs_reader *r, bool *is_same, struct sr_error *err)
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
    rc = fs_reader_check(r, &stat, is_same, err);
    bool is_short =
        !r->is_monitored && !fs_input_is_packed(&r->input) && stat.size_bytes < s->file.size_bytes;
    if (rc != SR_OK || !*is_same || is_short) {
        return rc != SR_OK || r->is_monitored ? rc : fs_reader_is_other(r, &stat, err);
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

static void fs_reader_finish(struct fs_reader *r)
{
    fs_reader_mark(r);
    r->now->split.is_finished = true;
    fs_reader_release(r);
    while (r->first_live < r->count && r->item[r->first_live]->split.is_finished) {
        r->first_live++;
    }
}

/* The file that is read to its end must still be there: else its rows could not be read again. */
static sr_rc fs_reader_end(struct fs_reader *r, struct sr_error *err)
{
    const struct sr_host *h = r->host;
    const char *path = r->now->split.path;
    struct sr_stat stat;
    if (r->input.file && !r->is_monitored &&
        h->files->stat(h->files, path, &stat, err) == SR_EABSENT) {
        return h->fail(h, err, SR_EIO, "%s vanished while it was read", path);
    }
    fs_reader_finish(r);
    return SR_OK;
}

/* The file stays open with its split, in place of the one that was kept the longest. */
static void fs_reader_keep(struct fs_reader *r)
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
static bool fs_reader_unkeep(struct fs_reader *r, struct fs_reading *item)
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

/* The discoverer is told what was read of a followed split, so that it knows a copy of it again. */
static sr_rc fs_reader_tell(struct fs_reader *r, const struct fs_reading *item, struct sr_poll *p,
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

/* Nothing more for now: looks again when the interval is over. */
static void fs_reader_rest(struct fs_reader *r)
{
    fs_reader_mark(r);
    r->now->due_us = r->host->mono_us(r->host) + r->conf->monitor_interval.us;
    if (!fs_input_is_packed(&r->input)) {
        r->now->split.file.size_bytes = r->read_end;
        fs_reader_keep(r);
    }
    fs_reader_release(r);
}

static bool fs_reader_has_begun(const struct fs_split *s) { return s->offset > s->begin; }

/* The file at the path is cut and goes on: a new split, for whoever is free. */
static sr_rc fs_reader_find(struct fs_reader *r, const struct fs_split *s, struct sr_poll *p,
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
static void fs_reader_let_go(struct fs_reader *r)
{
    const struct sr_host *h = r->host;
    const struct fs_split *s = &r->now->split;
    if (!r->input.file && s->offset < s->file.size_bytes && !s->is_packed) {
        h->log(h, SR_WARN, "%s is gone, and with it what was not read of it: %llu bytes were",
               s->path, (unsigned long long)s->offset);
        h->count(h, "files-vanished", 1);
    }
    fs_reader_finish(r);
}

/* The path of a followed split does not lead to its contents any more. Goes on where they are: then
 * *is_there, and the file is open. Or the split is over, or rests for a while. */
static sr_rc fs_reader_rotated(struct fs_reader *r, bool is_kept, bool *is_there, struct sr_poll *p,
                               struct sr_error *err)
{
    const struct sr_host *h = r->host;
    struct fs_reading *item = r->now;
    struct fs_split *s = &item->split;
    struct fs_rotated to = {0};
    sr_rc rc = fs_rotate_find(h, r->pattern, s, &to, err);
    if (rc == SR_OK && to.is_cut) { /* the same inode, other contents */
        rc = fs_reader_find(r, s, p, err);
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
        rc = rc == SR_OK ? fs_reader_identify(r, is_there, err) : rc;
        return rc == SR_EABSENT ? SR_OK : rc; /* moved on again: the next look follows */
    }
    int64_t now_us = h->mono_us(h);
    item->away_us = item->away_us > 0 ? item->away_us : now_us;
    int64_t away_us = now_us - item->away_us;
    bool is_over =
        to.is_cut || (away_us > FS_AWAY_US && away_us > 3 * r->conf->monitor_interval.us);
    if (rc == SR_OK && is_over) {
        fs_reader_let_go(r);
    } else if (rc == SR_OK && is_kept) {
        *is_there = true; /* what is still written to it is read */
    }
    return rc;
}

static void fs_reader_begin(struct fs_reader *r, struct fs_reading *item)
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
static sr_rc fs_reader_follow(struct fs_reader *r, struct sr_poll *p, struct sr_error *err)
{
    const struct sr_host *h = r->host;
    const struct fs_split *s = &r->now->split;
    struct sr_stat stat;
    sr_rc rc = SR_OK;
    bool is_kept = fs_reader_unkeep(r, r->now);
    if (!is_kept) {
        rc = fs_input_open(&r->input, h, s->path, err);
    }
    bool is_there = rc == SR_OK;
    if (rc == SR_OK) {
        rc = fs_reader_identify(r, &is_there, err);
    }
    if (rc == SR_OK && is_kept && is_there) { /* the file, but is it still what its path says? */
        is_there = h->files->stat(h->files, s->path, &stat, err) == SR_OK &&
                   stat.inode == s->file.inode && stat.device == s->file.device;
    }
    if ((rc == SR_OK || rc == SR_EABSENT) && !is_there) {
        rc = fs_reader_rotated(r, is_kept, &is_there, p, err);
    } else {
        r->now->away_us = 0;
    }
    if (rc == SR_OK && !is_there && r->now) { /* not there, not over: the next look tells */
        r->now->due_us = h->mono_us(h) + r->conf->monitor_interval.us;
        fs_reader_release(r);
    }
    return rc;
}

/* Opens the split's file where reading goes on. May leave it finished: r->now is NULL then. */
static sr_rc fs_reader_start(struct fs_reader *r, struct fs_reading *item, struct sr_poll *p,
                             struct sr_error *err)
{
    const struct sr_host *h = r->host;
    struct fs_split *s = &item->split;
    fs_reader_begin(r, item);
    if (s->is_aligned && s->offset >= s->end) {
        return fs_reader_end(r, err);
    }
    if (r->is_monitored) {
        return fs_reader_follow(r, p, err);
    }
    bool is_same = true;
    sr_rc rc = fs_input_open(&r->input, h, s->path, err);
    if (rc == SR_EABSENT && !fs_reader_has_begun(s)) {
        h->log(h, SR_WARN, "%s vanished before it was read", s->path);
        h->count(h, "files-vanished", 1);
        fs_reader_finish(r);
        return SR_OK;
    }
    if (rc == SR_EABSENT) {
        return h->fail(h, err, SR_EIO, "%s vanished while it was read (%llu bytes were)", s->path,
                       (unsigned long long)s->offset);
    }
    return rc == SR_OK ? fs_reader_identify(r, &is_same, err) : rc;
}

/* Is there anything new about a resting file? What it is, start tells. */
static bool fs_reader_has_news(const struct fs_reader *r, const struct fs_reading *item)
{
    const struct fs_split *s = &item->split;
    const struct sr_files *files = r->host->files;
    struct sr_stat stat;
    struct sr_error ignored;
    sr_rc rc = files->stat(files, s->path, &stat, &ignored);
    return rc != SR_OK || stat.size_bytes != s->file.size_bytes || stat.inode != s->file.inode ||
           stat.device != s->file.device || stat.modified_us != s->file.modified_us;
}

/* The first split that has something to read; NULL: none, and *due_us is when to look again. */
static struct fs_reading *fs_reader_pick(struct fs_reader *r, int64_t *due_us)
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
        if (item->due_us == 0 || (item->due_us <= soon_us && fs_reader_has_news(r, item))) {
            return item;
        }
        if (item->due_us <= soon_us) {
            item->due_us = now_us + r->conf->monitor_interval.us;
        }
        *due_us = item->due_us < *due_us ? item->due_us : *due_us;
    }
    return NULL;
}

/* --- Bytes ----------------------------------------------------------------------------------- */

/* A split of lines that does not begin the file ends behind the first newline at end - 1 or later:
 * cuts off what was read behind it. */
static void fs_reader_find_stop(struct fs_reader *r)
{
    const struct fs_split *s = &r->now->split;
    if (!r->is_lines || s->end == FS_SPLIT_OPEN || r->stop != FS_SPLIT_OPEN ||
        r->read_end <= r->searched) {
        return;
    }
    size_t len = (size_t)(r->read_end - r->searched);
    const uint8_t *from = r->block.buffer->data + r->block.end - len;
    const uint8_t *newline = memchr(from, '\n', len);
    r->searched = r->read_end;
    if (newline) {
        size_t surplus = len - (size_t)(newline - from) - 1;
        r->block.end -= (uint32_t)surplus;
        r->read_end -= surplus;
        r->stop = r->read_end;
    }
}

static sr_rc fs_reader_too_long(const struct fs_reader *r, struct sr_error *err)
{
    const struct fs_split *s = &r->now->split;
    return r->host->fail(r->host, err, SR_EDATA,
                         "%s: the record at byte %llu is longer than source.max-record-size, %llu "
                         "bytes",
                         s->path, (unsigned long long)s->offset,
                         (unsigned long long)r->conf->record_max.bytes);
}

/* Compressed data that end too early: for good, or until their writer is done with them. */
static sr_rc fs_reader_cut_short(struct fs_reader *r, size_t *got, struct sr_error *err)
{
    if (!r->is_monitored) {
        err->rc = SR_EFINAL;
        return SR_EFINAL;
    }
    *got = 0;
    return SR_OK;
}

/* Reads more behind what is there. *got is 0 at the end of the file. SR_ELIMIT, without words: the
 * record is too long. */
static sr_rc fs_reader_read(struct fs_reader *r, size_t *got, struct sr_error *err)
{
    const struct sr_host *h = r->host;
    const struct fs_split *s = &r->now->split;
    uint8_t *to = NULL;
    uint32_t room = 0;
    sr_rc rc = block_room(&r->block, &to, &room);
    if (rc == SR_ELIMIT) {
        return rc;
    }
    if (rc != SR_OK) {
        return h->fail(h, err, rc, "%s: out of memory for the record at byte %llu", s->path,
                       (unsigned long long)s->offset);
    }
    rc = fs_input_read(&r->input, to, room, r->read_end, got, err);
    if (rc == SR_ECLOSED) {
        return fs_reader_cut_short(r, got, err);
    }
    if (rc != SR_OK) {
        return rc;
    }
    if (*got == 0 && !fs_input_is_packed(&r->input) && r->read_end < s->file.size_bytes) {
        return h->fail(h, err, SR_EIO, "%s shrank from %llu to %llu bytes while it was read",
                       s->path, (unsigned long long)s->file.size_bytes,
                       (unsigned long long)r->read_end);
    }
    block_filled(&r->block, (uint32_t)*got);
    r->read_end += *got;
    return SR_OK;
}

/* Goes to the first record that begins in the split. Without one the split is finished (r->now is
 * NULL then), or rests until there may be one. */
static sr_rc fs_reader_align(struct fs_reader *r, struct sr_error *err)
{
    struct fs_split *s = &r->now->split;
    while (!s->is_aligned) {
        uint32_t len = block_length(&r->block);
        uint64_t at = r->read_end - len;
        const uint8_t *newline = len > 0 ? memchr(block_bytes(&r->block), '\n', len) : NULL;
        uint64_t begin = newline ? at + (uint64_t)(newline - block_bytes(&r->block)) + 1 : at + len;
        if (begin >= s->end) {
            s->offset = newline ? begin : s->offset; /* no line begins in it */
            s->is_aligned = newline != NULL;
            fs_reader_forget(r);
            return fs_reader_end(r, err);
        }
        block_consume(&r->block, (uint32_t)(begin - at));
        if (newline) {
            s->offset = begin;
            s->is_aligned = true;
            fs_reader_forget(r);
            break;
        }
        size_t got = 0;
        sr_rc rc = fs_reader_read(r, &got, err);
        if (rc != SR_OK) {
            return rc;
        }
        if (got == 0 && r->is_monitored) {
            fs_reader_rest(r);
            return SR_OK;
        }
        if (got == 0) {
            return fs_reader_end(r, err);
        }
    }
    fs_reader_find_stop(r);
    return SR_OK;
}

/* Is what is left worth decoding before more is read? */
static bool fs_reader_has_rest(const struct fs_reader *r)
{
    uint32_t len = block_length(&r->block);
    if (len == 0) {
        return false;
    }
    return r->read_end == r->stop ||
           (r->has_moved && (!r->is_lines || memchr(block_bytes(&r->block), '\n', len)));
}

/* The end of the file, for now: what lies there without its newline waits for it. */
static sr_rc fs_reader_leave(struct fs_reader *r, struct sr_error *err)
{
    if (!r->is_monitored) {
        return fs_reader_end(r, err);
    }
    fs_reader_rest(r);
    return SR_OK;
}

/* Goes on in a record that is too long, by one read, so that barriers need not wait for its end.
 * *passed: its bytes, once the split stands behind it. */
static sr_rc fs_reader_pass(struct fs_reader *r, uint64_t *passed, struct sr_error *err)
{
    bool is_over = false;
    r->passed = r->is_passing ? r->passed : 0;
    r->is_passing = true;
    r->passed += block_pass(&r->block, &is_over);
    size_t got = 0;
    sr_rc rc = is_over ? SR_OK : fs_reader_read(r, &got, err);
    if (rc != SR_OK) {
        return rc;
    }
    if (got > 0) {
        fs_reader_find_stop(r);
        return SR_OK;
    }
    if (!is_over && (r->is_monitored || r->goes_on)) {
        return fs_reader_leave(r, err); /* it may not even be whole: from its beginning again */
    }
    r->stop = is_over ? r->stop : r->read_end;
    r->now->split.offset += r->passed;
    fs_reader_forget(r);
    r->is_passing = false;
    r->has_moved = true;
    *passed = r->passed;
    return SR_OK;
}

/* Bytes for the format, or the split's end or rest: r->now is NULL then. */
static sr_rc fs_reader_fill(struct fs_reader *r, struct sr_poll *p, struct sr_error *err)
{
    if (r->is_passing) {
        return fs_reader_pass(r, &p->passed, err);
    }
    if (!r->now->split.is_aligned) {
        sr_rc rc = fs_reader_align(r, err);
        if (rc != SR_OK || !r->now) {
            return rc;
        }
        r->has_moved = true; /* what lies behind the newline has not been shown yet */
    }
    if (fs_reader_has_rest(r)) {
        return SR_OK;
    }
    if (r->read_end == r->stop) {
        return fs_reader_end(r, err);
    }
    size_t got = 0;
    sr_rc rc = fs_reader_read(r, &got, err);
    if (rc == SR_ELIMIT) {
        return p->may_pass && r->has_resync ? fs_reader_pass(r, &p->passed, err)
                                            : fs_reader_too_long(r, err);
    }
    if (rc != SR_OK) {
        return rc;
    }
    if (got > 0) {
        fs_reader_find_stop(r);
        return SR_OK;
    }
    if (r->is_monitored || r->goes_on) {
        return fs_reader_leave(r, err);
    }
    r->stop = r->read_end;
    return block_length(&r->block) > 0 ? SR_OK : fs_reader_end(r, err);
}

static enum sr_polled fs_reader_show(struct fs_reader *r, struct sr_poll *p)
{
    const struct fs_split *s = &r->now->split;
    p->split = r->now->number;
    p->at = (int64_t)s->offset;
    if (r->is_passing || p->passed > 0) {
        return SR_POLL_DATA; /* nothing to decode: what follows comes with the next poll */
    }
    r->has_moved = false;
    p->bytes = block_bytes(&r->block);
    p->len = block_length(&r->block);
    p->buffer = r->block.buffer;
    p->record = NULL;
    p->records = 0;
    p->at = (int64_t)s->offset;
    p->at_start = s->offset == 0;
    p->at_end = r->read_end == r->stop;
    return SR_POLL_DATA;
}

/* One round with a split: bytes of it, or it ends or rests, and is told. */
static sr_rc fs_reader_go_on(struct fs_reader *r, struct fs_reading *item, struct sr_poll *p,
                             struct sr_error *err)
{
    bool was_open = r->now != NULL;
    sr_rc rc = was_open ? SR_OK : fs_reader_start(r, item, p, err);
    if (rc == SR_OK && r->now && !was_open) {
        rc = fs_reader_tell(r, item, p, err);
    }
    if (rc == SR_OK && r->now) {
        rc = fs_reader_fill(r, p, err);
    }
    return rc == SR_OK && !r->now ? fs_reader_tell(r, item, p, err) : rc;
}

enum sr_polled fs_reader_poll(void *reader, struct sr_poll *p, struct sr_error *err)
{
    struct fs_reader *r = reader;
    free(r->found_id);
    r->found_id = NULL;
    for (;;) { /* ends: each round shows bytes, finishes a split, or lets one rest */
        int64_t due_us = INT64_MAX;
        struct fs_reading *item = r->now ? r->now : fs_reader_pick(r, &due_us);
        if (!item) {
            p->wait = (struct sr_wait){.fd = -1, .until_us = due_us};
            return SR_POLL_IDLE;
        }
        if (fs_reader_go_on(r, item, p, err) != SR_OK) {
            return SR_POLL_FAILED;
        }
        if (r->now) {
            return fs_reader_show(r, p);
        }
        if (item->split.is_finished) {
            p->split = item->number;
            return SR_POLL_SPLIT_END;
        }
        if (p->found || p->told) {
            p->wait = (struct sr_wait){.fd = -1, .until_us = 0}; /* called again at once */
            return SR_POLL_IDLE;
        }
    }
}

void fs_reader_consume(void *reader, uint32_t number, uint32_t used)
{
    struct fs_reader *r = reader;
    if (!r->now || r->now->number != number || used > block_length(&r->block)) {
        return; /* not what was shown: nothing moves, and the rows come again */
    }
    if (used > 0) {
        fs_reader_remember(r, block_bytes(&r->block), used);
    }
    block_consume(&r->block, used);
    r->now->split.offset += used;
    r->has_moved = r->has_moved || used > 0;
}

static void fs_reader_put_metadata(const struct fs_reader *r, enum fs_metadata m, uint32_t c,
                                   struct sr_builder *out)
{
    const struct fs_split *s = &r->now->split;
    const char *text = m == FS_METADATA_NAME ? fs_path_name(s->path) : s->path;
    switch (m) {
    case FS_METADATA_PATH:
    case FS_METADATA_NAME:
        sr_put_bytes(out, c, text, (uint32_t)strlen(text));
        break;
    case FS_METADATA_SIZE:
        sr_put_i64(out, c, (int64_t)s->file.size_bytes);
        break;
    case FS_METADATA_MODIFIED: /* in whole milliseconds, downwards before 1970 too */
        sr_put_i64(out, c, s->file.modified_us - (s->file.modified_us % 1000 + 1000) % 1000);
        break;
    }
}

sr_rc fs_reader_fill_metadata(void *reader, uint32_t number, const uint32_t *record, uint32_t rows,
                              struct sr_builder *out, struct sr_error *err)
{
    (void)record;
    struct fs_reader *r = reader;
    if (!r->now || r->now->number != number) {
        return r->host->fail(r->host, err, SR_EABSENT, "split %u is not being read", number);
    }
    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t k = 0; k < r->metadatas; k++) {
            if (out->wanted[r->columns + k]) {
                fs_reader_put_metadata(r, (enum fs_metadata)r->metadata[k], r->columns + k, out);
            }
        }
        sr_row_done(out);
    }
    return SR_OK;
}

sr_rc fs_reader_position(void *reader, uint32_t number, struct sr_out *note, struct sr_error *err)
{
    struct fs_reader *r = reader;
    for (uint32_t low = 0, high = r->count; low < high;) {
        uint32_t i = low + (high - low) / 2;
        if (r->item[i]->number < number) {
            low = i + 1;
        } else if (r->item[i]->number > number) {
            high = i;
        } else {
            if (r->item[i] == r->now) {
                fs_reader_mark(r);
            }
            sr_rc rc = fs_split_save(&r->item[i]->split, note);
            return rc == SR_OK ? rc : r->host->fail(r->host, err, rc, "out of memory for a note");
        }
    }
    return r->host->fail(r->host, err, SR_EABSENT, "split %u was never added", number);
}

void fs_reader_close(void *reader)
{
    struct fs_reader *r = reader;
    if (r->host) {
        fs_reader_release(r);
    }
    for (uint32_t i = 0; i < r->count; i++) {
        fs_input_close(&r->item[i]->kept);
        fs_split_done(&r->item[i]->split);
        free(r->item[i]->id);
        free(r->item[i]);
    }
    free((void *)r->item);
    free(r->found_id);
    note_free(&r->found_note);
    note_free(&r->told_note);
    free(r->pattern);
    *r = (struct fs_reader){0};
}
