#include "connectors/filesystem/fs_reader.h"

#include <stdlib.h>
#include <string.h>

#include "connectors/common/list.h"
#include "connectors/common/note.h"
#include "connectors/filesystem/fs_reading.h"

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
            fs_reading_forget(r);
            return fs_reading_end(r, err);
        }
        block_consume(&r->block, (uint32_t)(begin - at));
        if (newline) {
            s->offset = begin;
            s->is_aligned = true;
            fs_reading_forget(r);
            break;
        }
        size_t got = 0;
        sr_rc rc = fs_reader_read(r, &got, err);
        if (rc != SR_OK) {
            return rc;
        }
        if (got == 0 && r->is_monitored) {
            fs_reading_rest(r);
            return SR_OK;
        }
        if (got == 0) {
            return fs_reading_end(r, err);
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
        return fs_reading_end(r, err);
    }
    fs_reading_rest(r);
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
    fs_reading_forget(r);
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
        return fs_reading_end(r, err);
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
    return block_length(&r->block) > 0 ? SR_OK : fs_reading_end(r, err);
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
    sr_rc rc = was_open ? SR_OK : fs_reading_start(r, item, p, err);
    if (rc == SR_OK && r->now && !was_open) {
        rc = fs_reading_tell(r, item, p, err);
    }
    if (rc == SR_OK && r->now) {
        rc = fs_reader_fill(r, p, err);
    }
    return rc == SR_OK && !r->now ? fs_reading_tell(r, item, p, err) : rc;
}

enum sr_polled fs_reader_poll(void *reader, struct sr_poll *p, struct sr_error *err)
{
    struct fs_reader *r = reader;
    free(r->found_id);
    r->found_id = NULL;
    for (;;) { /* ends: each round shows bytes, finishes a split, or lets one rest */
        int64_t due_us = INT64_MAX;
        struct fs_reading *item = r->now ? r->now : fs_reading_pick(r, &due_us);
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
        fs_reading_remember(r, block_bytes(&r->block), used);
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
                fs_reading_mark(r);
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
        fs_reading_release(r);
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
