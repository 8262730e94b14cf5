/* From bytes of a poll to rows in the builder; bad records by the job's policy. */
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/run/source_inner.h"

#define SOURCE_DECODE_BYTES \
    SR_BATCH_BYTES /* given to a decoder at once, unless a record is larger */
#define SOURCE_SPAN_MAX \
    (INT64_C(1) << 30) /* bytes of a split from which the rows of one view are */

/* What is known of a record of the running poll at byte `at` behind `from`, of `len` bytes. */
static struct letter source_letter(const struct source *s, const uint8_t *from, uint32_t at,
                                   uint32_t len)
{
    const struct source_block *b = &s->block;
    const struct split *split = &source_find(s, b->poll.split)->split;
    struct letter one = {.node = s->node,
                         .step = s->node->step,
                         .source = s->node,
                         .split = split->id,
                         .kind = b->poll.record ? ORIGIN_RECORDS : ORIGIN_BYTES,
                         .offset = source_offset(s),
                         .raw = from ? from + at : NULL,
                         .raw_len = len};
    if (!b->poll.record) {
        one.offset += at;
        if (split->lines >= 0 && s->has_lines) {
            one.line = split->lines + 1 + (int64_t)origin_lines(from, from ? at : 0);
        }
        return one;
    }
    for (uint32_t i = b->used; i < b->poll.records; i++) {
        if (b->poll.record[i].at >= at) break;
        one.offset++;
    }
    return one;
}

/* The first one that is skipped is shown, so that nobody wonders. */
static void source_say_skipped(struct source *s, const struct letter *one)
{
    if (s->has_said_bad || s->node->on_error != JOB_SKIP) return;
    s->has_said_bad = true;
    char place[256];
    letter_place(one, place, sizeof(place));
    env_log(s->ctx.env, SR_WARN, s->node->step,
            "skipped a record, %s: %.*s (further ones are only counted)", place, one->words_len,
            one->words);
}

static void source_cut_line_end(struct letter *one)
{
    const uint8_t *raw = one->raw;
    while (raw && one->raw_len > 0 &&
           (raw[one->raw_len - 1] == '\n' || raw[one->raw_len - 1] == '\r')) {
        one->raw_len--;
    }
}

/* A bad record: what the job says, unless it has failed the job too often. */
static sr_rc source_judge(struct source *s, struct letter *one, struct sr_error *err)
{
    const struct poison_record *p =
        s->poison ? poison_find(s->poison, s->node->uid, one->split, one->offset) : NULL;
    if (!p || s->node->on_error != JOB_FAIL) return letters_judge(s->letters, &s->count, one, err);
    counters_add(&s->count, COUNTER_dead, 1);
    return letters_add(s->letters, one, err);
}

/* Records that did not decode: each has its fate. */
static sr_rc source_bads(struct source *s, const struct sr_decode *d, struct sr_error *err)
{
    sr_assert(d->bads <= SR_BAD_MAX);
    for (uint32_t i = 0; i < d->bads; i++) {
        struct sr_bad *bad = &s->bad[i];
        struct letter one = source_letter(s, d->bytes, bad->at, bad->len);
        one.mark = bad->mark;
        one.words = bad->words;
        one.words_len = (int)strnlen(bad->words, sizeof(bad->words));
        bad->mark = 0; /* for the next call */
        if (!d->record) source_cut_line_end(&one);
        sr_rc rc = source_judge(s, &one, err);
        if (rc != SR_OK) return rc;
        source_say_skipped(s, &one);
    }
    counters_add(&s->count, COUNTER_in, d->bads);
    return SR_OK;
}

sr_rc source_bad_row(struct source *s, uint32_t before, struct sr_error *err)
{
    const struct sr_poll *p = &s->block.poll;
    const struct split *split = &source_find(s, p->split)->split;
    struct letter one = {.node = s->node,
                         .step = s->node->step,
                         .source = s->node,
                         .split = split->id,
                         .kind = ORIGIN_ROWS,
                         .offset = split->done + before,
                         .raw = p->bytes ? p->bytes + p->bad->at : NULL,
                         .raw_len = p->bad->len,
                         .words = p->bad->words,
                         .words_len = (int)strnlen(p->bad->words, sizeof(p->bad->words))};
    sr_rc rc = source_judge(s, &one, err);
    if (rc == SR_OK) source_say_skipped(s, &one);
    return rc;
}

sr_rc source_passed(struct source *s, struct sr_error *err)
{
    static const char words[] = "it is longer than source.max-record-size; its bytes are not kept";
    struct split *split = &source_find(s, s->block.poll.split)->split;
    struct letter one = source_letter(s, NULL, 0, 0);
    one.words = words;
    one.words_len = (int)sizeof(words) - 1;
    if (s->block.poll.at >= 0) one.offset -= (int64_t)s->block.poll.passed;
    sr_rc rc = source_judge(s, &one, err);
    if (rc != SR_OK) return rc;
    source_say_skipped(s, &one);
    counters_add(&s->count, COUNTER_in, 1);
    counters_add(&s->count, COUNTER_bytes_in, (int64_t)s->block.poll.passed);
    split->done += (int64_t)s->block.poll.passed;
    if (split->lines >= 0) split->lines++;
    return SR_OK;
}

sr_rc source_fill_metadata(struct source *s, uint32_t before, struct sr_error *err)
{
    uint32_t rows = s->rows.rows - before;
    if (s->node->metadatas == 0 || rows == 0) return SR_OK;
    const uint32_t *record = s->block.poll.record ? s->record_of + before : NULL;
    s->rows.rows = before; /* the reader puts its columns to the same rows */
    sr_rc rc =
        s->node->source->fill_metadata(s->reader, s->block.poll.split, record, rows, &s->rows, err);
    if (rc != SR_OK) return error_wrap(err, "source '%s'", s->node->step);
    sr_assert(s->rows.rows == before + rows);
    return SR_OK;
}

/* What one call of the decoder used up, in bytes. */
static uint64_t source_used_bytes(const struct sr_decode *d)
{
    if (!d->record) return d->used;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < d->used; i++) {
        sum += d->record[i].len;
    }
    return sum;
}

/* Lines that were used up. Where a record is a line, they need not be looked for. */
static void source_count_lines(struct source *s, const struct sr_decode *d)
{
    struct split *split = &source_find(s, s->block.poll.split)->split;
    if (split->lines < 0 || !s->has_lines || d->record) return;
    split->lines += d->lines != UINT32_MAX ? d->lines : (int64_t)origin_lines(d->bytes, d->used);
}

/* Bytes in front of the next record that kills whoever decodes it; INT64_MAX: there is none. */
static int64_t source_unread_ahead(const struct source *s)
{
    const struct source_block *b = &s->block;
    if (!s->poison || s->poison->records == 0 || b->poll.record || !s->letters->node) {
        return INT64_MAX;
    }
    int64_t first = source_offset(s);
    const struct poison_record *p =
        poison_next_unread(s->poison, s->node->uid, source_find(s, b->poll.split)->split.id, first);
    return p ? p->from - first : INT64_MAX;
}

/* The record that comes next becomes a dead letter unread: it ends with its line. */
static sr_rc source_pass_unread(struct source *s, struct sr_error *err)
{
    struct source_block *b = &s->block;
    const uint8_t *from = b->poll.bytes + b->used;
    uint32_t rest = b->poll.len - b->used;
    const uint8_t *newline = memchr(from, '\n', rest);
    b->is_open = newline || b->poll.at_end;
    if (!b->is_open) return SR_OK; /* the next poll brings more of it */
    uint32_t len = newline ? (uint32_t)(newline - from) + 1 : rest;
    struct split *split = &source_find(s, b->poll.split)->split;
    struct letter one = source_letter(s, from, 0, len);
    const struct poison_record *p = poison_find(s->poison, s->node->uid, split->id, one.offset);
    sr_assert(p != NULL);
    one.words = p->words;
    one.words_len = (int)strlen(p->words);
    source_cut_line_end(&one);
    sr_rc rc = letters_add(s->letters, &one, err);
    if (rc != SR_OK) return rc;
    counters_add(&s->count, COUNTER_in, 1);
    counters_add(&s->count, COUNTER_dead, 1);
    counters_add(&s->count, COUNTER_bytes_in, len);
    if (split->lines >= 0) split->lines++;
    b->used += len;
    b->is_open = b->used < b->poll.len;
    if (!b->is_open && b->poll.buffer) s->must_seal = s->rows.rows > 0;
    return SR_OK;
}

static struct sr_decode source_decode_args(struct source *s, uint32_t bytes_max)
{
    struct source_block *b = &s->block;
    struct sr_decode d = {.buffer = b->poll.buffer,
                          .bytes = b->poll.bytes,
                          .len = b->poll.len,
                          .at_start = b->poll.at_start && b->used == 0,
                          .at_end = b->poll.at_end,
                          .out = &s->rows,
                          .row_at = s->origin->at,
                          .bad = s->bad,
                          .lines = UINT32_MAX};
    if (b->poll.record) {
        d.record = b->poll.record + b->used;
        d.records = source_records_ahead(s);
        d.may_wait = true;
        return d;
    }
    d.bytes += b->used;
    d.len -= b->used;
    int64_t ahead = source_unread_ahead(s);
    if (ahead < bytes_max) bytes_max = (uint32_t)ahead; /* what comes there is not for a decoder */
    if (d.len > bytes_max) {
        d.len = bytes_max;
        d.at_end = false;
    }
    return d;
}

/* Must the rows in hand go before more is decoded, from offset `first` on? */
static bool source_must_seal(struct source *s, int64_t first)
{
    bool has_rows = s->rows.rows > 0;
    bool is_suspect = source_is_suspect(s, first); /* then each goes alone */
    /* Rows of a view count from the first one in 32 bits. */
    return has_rows && (is_suspect || first - s->origin->base > SOURCE_SPAN_MAX);
}

/* If the process dies now, it was one of these. One by one, it is the first. */
static void source_leave_crumb(const struct source *s, const struct sr_decode *d)
{
    int64_t first = source_offset(s);
    int64_t more = s->is_narrow ? 1 : d->record ? d->records : d->len;
    struct crumb_place at = {.source = s->node->uid,
                             .step = s->node->step,
                             .split = source_find(s, s->block.poll.split)->split.id,
                             .from = first,
                             .to = first + (more > 0 ? more - 1 : 0)};
    crumbs_decoding(s->crumb, &at);
}

/* One call of the decoder, with all that there is if a record is larger than what is usual. */
static sr_rc source_call_decoder(struct source *s, uint32_t rest, struct sr_decode *d,
                                 struct sr_error *err)
{
    *d = source_decode_args(s, SOURCE_DECODE_BYTES);
    source_leave_crumb(s, d);
    s->rows.cols = s->node->valued->fields; /* the rest is not the decoder's */
    sr_rc rc = s->node->format->decode(s->decoder, d, err);
    if (rc == SR_OK && d->used == 0 && d->bads == 0 && !d->record && d->len < rest) {
        *d = source_decode_args(s, UINT32_MAX);
        rc = s->node->format->decode(s->decoder, d, err);
    }
    s->rows.cols = s->node->read->fields;
    crumbs_clear(s->crumb);
    if (rc == SR_OK) return rc;
    return error_wrap(err, "source '%s', split %s", s->node->step,
                      source_find(s, s->block.poll.split)->split.id);
}

/* The rows behind the first `before` are whole, and bad records have their fate. */
static sr_rc source_decoded(struct source *s, const struct sr_decode *d, uint32_t before,
                            struct sr_error *err)
{
    sr_rc rc = source_fill_metadata(s, before, err);
    if (rc == SR_OK && s->rows.is_broken) {
        rc = error_set(err, SR_ENOMEM, "source '%s': out of memory", s->node->step);
    }
    if (rc == SR_OK) rc = source_bads(s, d, err);
    if (rc == SR_OK) source_count_lines(s, d);
    return rc;
}

/* The next record has a key that could not be read. */
static sr_rc source_bad_key(struct source *s, struct sr_error *err)
{
    struct source_block *b = &s->block;
    const struct sr_span *record = b->poll.record + b->used;
    struct letter one = source_letter(s, b->poll.bytes, record->at, record->len);
    one.words = b->key_words;
    one.words_len = (int)strlen(b->key_words);
    sr_rc rc = source_judge(s, &one, err);
    if (rc != SR_OK) return rc;
    source_say_skipped(s, &one);
    counters_add(&s->count, COUNTER_in, 1);
    counters_add(&s->count, COUNTER_bytes_in, record->len);
    b->key_limit = UINT32_MAX;
    b->used++;
    b->is_open = b->used < b->poll.records;
    if (!b->is_open && b->poll.buffer) s->must_seal = s->rows.rows > 0;
    return SR_OK;
}

/* One call of the decoder, the keys of its records included. *is_again: to be made again. */
static sr_rc source_step(struct source *s, uint32_t rest, struct sr_decode *d, bool *is_again,
                         struct sr_error *err)
{
    uint32_t before = s->rows.rows;
    int64_t first = source_offset(s);
    sr_rc rc =
        source_is_absent(s) ? source_put_absent(s, d, err) : source_call_decoder(s, rest, d, err);
    if (rc != SR_OK) return rc;
    source_place(s, d, before, first);
    rc = source_read_keys(s, before, is_again, err);
    for (uint32_t i = 0; *is_again && i < d->bads; i++) {
        s->bad[i].mark = 0; /* they will be found again */
    }
    return rc != SR_OK || *is_again ? rc : source_decoded(s, d, before, err);
}

/* In front of a record for which the format waits: what is decoded goes on meanwhile. */
static void source_wait_for(struct source *s, int64_t wait_us)
{
    s->block.is_open = true;
    s->block.due_us = s->ctx.env->mono_us(s->ctx.env) + wait_us;
    s->must_seal = s->rows.rows > 0;
}

/* Decodes on in the block; what is left of it when nothing more can be read waits for the next
 * poll, which brings it again with what follows. */
sr_rc source_decode(struct source *s, struct sr_error *err)
{
    struct source_block *b = &s->block;
    uint32_t before = s->rows.rows;
    uint32_t all = b->poll.record ? b->poll.records : b->poll.len;
    s->rows_split = b->poll.split;
    int64_t first = source_offset(s);
    s->must_seal = source_must_seal(s, first);
    if (s->must_seal) return SR_OK;
    if (source_unread_ahead(s) == 0) return source_pass_unread(s, err);
    if (b->poll.record && b->key_limit == b->used) return source_bad_key(s, err);
    bool is_again = false;
    struct sr_decode d;
    sr_rc rc = source_begin_origin(s, b->poll.record ? ORIGIN_RECORDS : ORIGIN_BYTES, before, err);
    if (rc == SR_OK) rc = source_step(s, all - b->used, &d, &is_again, err);
    if (rc != SR_OK || is_again) return rc;
    uint32_t records = s->rows.rows - before + d.ignored + d.left_out;
    counters_add(&s->count, COUNTER_in, records);
    counters_add(&s->count, COUNTER_skipped, d.ignored);
    counters_add(&s->count, COUNTER_filtered, d.left_out);
    pace_spend(&s->pace, records + d.bads);
    counters_add(&s->count, COUNTER_bytes_in, (int64_t)source_used_bytes(&d));
    b->used += d.used;
    if (d.wait_us > 0 && b->used < all) {
        source_wait_for(s, d.wait_us);
        return SR_OK;
    }
    bool is_full = sr_builder_is_full(&s->rows);
    b->is_open = b->used < all && (d.used > 0 || is_full);
    if (b->used < all && !b->is_open && (d.at_end || d.record)) {
        return error_set(err, SR_EDATA, "source '%s', split %s: format %s left %u of it unread",
                         s->node->step, source_find(s, b->poll.split)->split.id,
                         s->node->format->name, all - b->used);
    }
    /* Rows that refer to the block's bytes go before the next block comes. */
    if (is_full || (!b->is_open && b->poll.buffer)) s->must_seal = true;
    return SR_OK;
}
