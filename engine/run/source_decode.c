/* From bytes of a poll to rows in the builder; bad records by the job's policy. */
#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/run/source_inner.h"

#define SOURCE_DECODE_BYTES \
    SR_BATCH_BYTES /* given to a decoder at once, unless a record is larger */
#define SOURCE_SPAN_MAX \
    (INT64_C(1) << 30) /* bytes of a split from which the rows of one view are */

/* Where in its split a bad record lies: bytes of a stream, records of framed input. */
static int64_t source_bad_at(const struct source *s, const struct sr_bad *bad)
{
    const struct source_block *b = &s->block;
    int64_t done = source_find(s, b->poll.split)->split.done + (int64_t)(b->used - b->told);
    if (!b->poll.record) return done + bad->at;
    for (uint32_t i = b->used; i < b->poll.records; i++) {
        if (b->poll.record[i].at >= bad->at) return done + (i - b->used);
    }
    return done;
}

/* Records that did not decode: the job fails, or they are counted. */
static sr_rc source_bads(struct source *s, const struct sr_decode *d, struct sr_error *err)
{
    if (d->bads == 0) return SR_OK;
    sr_assert(d->bads <= SR_BAD_MAX);
    const struct sr_bad *bad = &s->bad[0];
    const char *id = source_find(s, s->block.poll.split)->split.id;
    long long at = (long long)source_bad_at(s, bad);
    const char *unit = s->block.poll.record ? "record" : "byte";
    if (s->node->on_error == JOB_FAIL) {
        return error_set(err, SR_EDATA, "source '%s', split %s, %s %lld: %.*s", s->node->step, id,
                         unit, at, (int)sizeof(bad->words), bad->words);
    }
    counters_add(&s->count, COUNTER_in, d->bads);
    counters_add(&s->count, COUNTER_skipped, d->bads);
    if (!s->has_said_bad) {
        s->has_said_bad = true;
        env_log(s->ctx.env, SR_WARN, s->node->step,
                "skipped a record of split %s at %s %lld: %.*s (further ones are only counted)", id,
                unit, at, (int)sizeof(bad->words), bad->words);
    }
    return SR_OK;
}

void source_passed(struct source *s)
{
    struct split *split = &source_find(s, s->block.poll.split)->split;
    counters_add(&s->count, COUNTER_in, 1);
    counters_add(&s->count, COUNTER_skipped, 1);
    counters_add(&s->count, COUNTER_bytes_in, (int64_t)s->block.poll.passed);
    if (!s->has_said_bad) {
        s->has_said_bad = true;
        env_log(s->ctx.env, SR_WARN, s->node->step,
                "skipped a record of split %s at byte %llu: it is longer than "
                "source.max-record-size (further ones are only counted)",
                split->id, (unsigned long long)split->done);
    }
    split->done += (int64_t)s->block.poll.passed;
    if (split->lines >= 0) split->lines++;
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
    split->lines += (int64_t)origin_lines(d->bytes, d->used);
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
                          .bad = s->bad};
    if (b->poll.record) {
        d.record = b->poll.record + b->used;
        d.records = b->poll.records - b->used;
        return d;
    }
    d.bytes += b->used;
    d.len -= b->used;
    if (d.len > bytes_max) {
        d.len = bytes_max;
        d.at_end = false;
    }
    return d;
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
    if (before > 0 && first - s->origin->base > SOURCE_SPAN_MAX) {
        s->must_seal = true; /* its rows count from there in 32 bits */
        return SR_OK;
    }
    enum origin_kind kind = b->poll.record ? ORIGIN_RECORDS : ORIGIN_BYTES;
    sr_rc rc = source_begin_origin(s, kind, before, err);
    if (rc != SR_OK) return rc;
    struct sr_decode d = source_decode_args(s, SOURCE_DECODE_BYTES);
    s->rows.cols = s->node->brought->fields; /* metadata are not the decoder's */
    rc = s->node->format->decode(s->decoder, &d, err);
    if (rc == SR_OK && d.used == 0 && d.bads == 0 && !d.record && d.len < all - b->used) {
        d = source_decode_args(s, UINT32_MAX); /* a record that is larger than what is usual */
        rc = s->node->format->decode(s->decoder, &d, err);
    }
    s->rows.cols = s->node->read->fields;
    const char *id = source_find(s, b->poll.split)->split.id;
    if (rc != SR_OK) return error_wrap(err, "source '%s', split %s", s->node->step, id);
    source_place(s, &d, before, first);
    rc = source_fill_metadata(s, before, err);
    if (rc != SR_OK) return rc;
    if (s->rows.is_broken) {
        return error_set(err, SR_ENOMEM, "source '%s': out of memory", s->node->step);
    }
    rc = source_bads(s, &d, err);
    if (rc != SR_OK) return rc;
    source_count_lines(s, &d);
    counters_add(&s->count, COUNTER_in, s->rows.rows - before);
    pace_spend(&s->pace, s->rows.rows - before + d.bads);
    counters_add(&s->count, COUNTER_bytes_in, (int64_t)source_used_bytes(&d));
    b->used += d.used;
    bool is_full = sr_builder_is_full(&s->rows);
    b->is_open = b->used < all && (d.used > 0 || is_full);
    if (b->used < all && !b->is_open && (d.at_end || d.record)) {
        return error_set(err, SR_EDATA, "source '%s', split %s: format %s left %u of it unread",
                         s->node->step, id, s->node->format->name, all - b->used);
    }
    /* Rows that refer to the block's bytes go before the next block comes. */
    if (is_full || (!b->is_open && b->poll.buffer)) s->must_seal = true;
    return SR_OK;
}
