#include "connectors/filesystem/fs_reader.h"

#include <stdlib.h>
#include <string.h>

sr_rc fs_reader_open(void *reader, const struct sr_source_open *o, struct sr_error *err)
{
    (void)err;
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
    return SR_OK;
}

sr_rc fs_reader_add(void *reader, uint32_t number, const struct sr_split *split,
                    struct sr_error *err)
{
    struct fs_reader *r = reader;
    const struct sr_host *h = r->host;
    if (r->count == r->capacity) {
        uint32_t more = r->capacity > 0 ? r->capacity * 2 : 16;
        void *moved = realloc((void *)r->item, more * sizeof(struct fs_reading *));
        if (!moved) {
            return h->fail(h, err, SR_ENOMEM, "out of memory for split %s", split->id);
        }
        r->item = moved;
        r->capacity = more;
    }
    struct fs_reading *item = calloc(1, sizeof(*item));
    sr_rc rc = item ? fs_split_load(&item->split, split->note) : SR_ENOMEM;
    if (rc != SR_OK) {
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

/* The digest of the first bytes, at most *bytes of them; *bytes: how many there were. Of the
 * contents, so that a file is known again when it was compressed meanwhile. */
static sr_rc fs_reader_print(struct fs_reader *r, uint32_t *bytes, uint64_t print[2],
                             struct sr_error *err)
{
    uint8_t first[FS_PRINT_BYTES];
    uint32_t have = 0;
    size_t got = 1;
    while (have < *bytes && got > 0) {
        sr_rc rc = fs_input_read(&r->input, first + have, *bytes - have, have, &got, err);
        if (rc == SR_ECLOSED) {
            break; /* what there is of it; reading comes to this place, and tells */
        }
        if (rc != SR_OK) {
            return rc;
        }
        have += (uint32_t)got;
    }
    *bytes = have;
    r->host->digest(first, have, print);
    return SR_OK;
}

/* The open file must be the one that was read before, and hold at least as much. */
static sr_rc fs_reader_identify(struct fs_reader *r, struct sr_error *err)
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
    uint64_t expected = s->file.size_bytes > s->offset ? s->file.size_bytes : s->offset;
    if (!fs_input_is_packed(&r->input) && stat.size_bytes < expected) {
        return h->fail(
            h, err, SR_EMISFIT,
            "%s shrank from %llu to %llu bytes: it was cut or replaced while the job was "
            "reading it",
            s->path, (unsigned long long)expected, (unsigned long long)stat.size_bytes);
    }
    uint64_t print[2] = {0, 0};
    uint32_t bytes = s->file.print_bytes;
    if (bytes > 0) {
        rc = fs_reader_print(r, &bytes, print, err);
        if (rc == SR_OK && (bytes != s->file.print_bytes || print[0] != s->file.print[0] ||
                            print[1] != s->file.print[1])) {
            rc = h->fail(h, err, SR_EMISFIT,
                         "%s does not begin as it did when it was read: it is another file now",
                         s->path);
        }
        if (rc != SR_OK) {
            return rc;
        }
    }
    bytes = FS_PRINT_BYTES;
    rc = fs_reader_print(r, &bytes, print, err);
    if (rc == SR_OK) {
        r->modified_us = stat.modified_us;
        s->file = (struct fs_identity){.device = stat.device,
                                       .inode = stat.inode,
                                       .size_bytes = stat.size_bytes,
                                       .print_bytes = bytes,
                                       .print = {print[0], print[1]}};
    }
    return rc;
}

/* --- From split to split --------------------------------------------------------------------- */

static void fs_reader_finish(struct fs_reader *r)
{
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
    if (r->input.file && h->files->stat(h->files, path, &stat, err) == SR_EABSENT) {
        return h->fail(h, err, SR_EIO, "%s vanished while it was read", path);
    }
    fs_reader_finish(r);
    return SR_OK;
}

/* Nothing more for now: looks again when the interval is over. */
static void fs_reader_rest(struct fs_reader *r)
{
    if (!fs_input_is_packed(&r->input)) {
        r->now->split.file.size_bytes = r->read_end;
    }
    r->now->due_us = r->host->mono_us(r->host) + r->conf->monitor_interval.us;
    fs_reader_release(r);
}

static bool fs_reader_has_begun(const struct fs_split *s) { return s->offset > s->begin; }

/* Opens the split's file where reading goes on. May leave it finished: r->now is NULL then. */
static sr_rc fs_reader_start(struct fs_reader *r, struct fs_reading *item, struct sr_error *err)
{
    const struct sr_host *h = r->host;
    struct fs_split *s = &item->split;
    r->now = item;
    r->stop = FS_SPLIT_OPEN;
    r->has_moved = r->is_passing = false;
    r->searched = s->end - 1;
    r->read_end = s->is_aligned ? s->offset : s->begin - 1;
    item->due_us = 0;
    if (s->is_aligned && s->offset >= s->end) {
        return fs_reader_end(r, err);
    }
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
    if (rc == SR_OK && fs_input_is_packed(&r->input)) {
        s->end = FS_SPLIT_OPEN; /* its size says nothing of its contents */
    }
    return rc == SR_OK ? fs_reader_identify(r, err) : rc;
}

/* Has the resting file more than when its end was seen? What is wrong with it, start tells. */
static bool fs_reader_has_grown(const struct fs_reader *r, const struct fs_reading *item)
{
    struct sr_stat stat;
    struct sr_error ignored;
    sr_rc rc = r->host->files->stat(r->host->files, item->split.path, &stat, &ignored);
    return rc != SR_OK || stat.size_bytes != item->split.file.size_bytes ||
           stat.inode != item->split.file.inode;
}

/* The first split that has something to read; NULL: none, and *due_us is when to look again. */
static struct fs_reading *fs_reader_pick(struct fs_reader *r, int64_t *due_us)
{
    int64_t now_us = r->is_monitored ? r->host->mono_us(r->host) : 0;
    *due_us = INT64_MAX;
    for (uint32_t i = r->first_live; i < r->count; i++) {
        struct fs_reading *item = r->item[i];
        if (item->split.is_finished) {
            continue;
        }
        if (item->due_us == 0 || (item->due_us <= now_us && fs_reader_has_grown(r, item))) {
            return item;
        }
        if (item->due_us <= now_us) {
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
            return fs_reader_end(r, err);
        }
        block_consume(&r->block, (uint32_t)(begin - at));
        if (newline) {
            s->offset = begin;
            s->is_aligned = true;
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
    if (!is_over && r->is_monitored) { /* it may not even be whole: from its beginning again */
        fs_reader_rest(r);
        return SR_OK;
    }
    r->stop = is_over ? r->stop : r->read_end;
    r->now->split.offset += r->passed;
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
    if (r->is_monitored) {
        fs_reader_rest(r);
        return SR_OK;
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
    p->at_start = s->offset == 0;
    p->at_end = r->read_end == r->stop;
    return SR_POLL_DATA;
}

enum sr_polled fs_reader_poll(void *reader, struct sr_poll *p, struct sr_error *err)
{
    struct fs_reader *r = reader;
    for (;;) { /* ends: each round shows bytes, finishes a split, or lets one rest */
        struct fs_reading *item = r->now;
        sr_rc rc = SR_OK;
        if (!item) {
            int64_t due_us = INT64_MAX;
            item = fs_reader_pick(r, &due_us);
            if (!item) {
                p->wait = (struct sr_wait){.fd = -1, .until_us = due_us};
                return SR_POLL_IDLE;
            }
            rc = fs_reader_start(r, item, err);
        }
        if (rc == SR_OK && r->now) {
            rc = fs_reader_fill(r, p, err);
        }
        if (rc != SR_OK) {
            return SR_POLL_FAILED;
        }
        if (r->now) {
            return fs_reader_show(r, p);
        }
        if (item->split.is_finished) {
            p->split = item->number;
            return SR_POLL_SPLIT_END;
        }
    }
}

void fs_reader_consume(void *reader, uint32_t number, uint32_t used)
{
    struct fs_reader *r = reader;
    if (!r->now || r->now->number != number || used > block_length(&r->block)) {
        return; /* not what was shown: nothing moves, and the rows come again */
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
        sr_put_i64(out, c, r->modified_us - (r->modified_us % 1000 + 1000) % 1000);
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
        fs_split_done(&r->item[i]->split);
        free(r->item[i]);
    }
    free((void *)r->item);
    *r = (struct fs_reader){0};
}
