#include "engine/run/source_task.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/base/room.h"
#include "engine/data/builder.h"
#include "engine/run/source_inner.h"

/* --- Opening ---------------------------------------------------------------------------------- */

static sr_rc source_open_decoder(struct source *s, struct sr_error *err)
{
    const struct plan_node *n = s->node;
    if (n->source_caps.makes_rows) return SR_OK;
    sr_assert(n->format);
    s->decoder = calloc(1, n->format->decoder_size ? n->format->decoder_size : 1);
    s->bad = calloc(SR_BAD_MAX, sizeof(*s->bad));
    s->record_of = calloc(SR_BATCH_ROWS, sizeof(*s->record_of));
    if (!s->decoder || !s->bad || !s->record_of) {
        return error_set(err, SR_ENOMEM, "source '%s': out of memory", n->step);
    }
    struct sr_format_open o = {.size = sizeof(o),
                               .host = &s->host,
                               .conf = n->format_conf,
                               .schema = n->valued,
                               .metadata = n->format_metadata,
                               .metadatas = n->format_metadatas};
    s->is_decoding = true; /* or half so: it is closed in any case */
    sr_rc rc = n->format->decode_open(s->decoder, &o, err);
    return rc == SR_OK ? rc : error_wrap(err, "source '%s', format %s", n->step, n->format->name);
}

sr_rc source_open(struct source *s, const struct source_conf *conf, struct sr_error *err)
{
    const struct plan_node *n = conf->node;
    *s = (struct source){.node = n, .pool = conf->pool, .home = conf->home, .ending = -1};
    s->letters = conf->letters;
    s->poison = conf->poison;
    s->crumb = conf->crumb;
    s->keeps_raw = conf->plan->dead_letter != NULL;
    stamp_init(&s->stamp, n->stamp >= 0, n->idle_timeout_us, n->watermark_period_us);
    s->plan = conf->plan;
    s->number = (uint32_t)(n - conf->plan->node);
    s->has_lines = (n->format_flags & (SR_FORMAT_LINES | SR_FORMAT_RESYNC)) != 0;
    s->pace = pace_of(n->rate_limit, conf->parts);
    counters_init(&s->count);
    host_init(&s->host, &s->ctx, conf->env, conf->home, n->step);
    s->host.time_zone = conf->plan->job->settings.time_zone;
    s->reader = calloc(1, n->source->reader_size ? n->source->reader_size : 1);
    if (!s->reader) return error_set(err, SR_ENOMEM, "source '%s': out of memory", n->step);
    sr_rc rc = builder_open(&s->rows, conf->home, &s->host, n->read, n->wanted, err);
    if (rc != SR_OK) return rc;
    rc = source_open_decoder(s, err);
    if (rc == SR_OK) rc = source_keys_open(s, err);
    if (rc != SR_OK) return rc;
    struct sr_source_open o = {.size = sizeof(o),
                               .host = &s->host,
                               .conf = n->conf,
                               .schema = n->brought,
                               .format_flags = n->format_flags,
                               .part = conf->part,
                               .parts = conf->parts,
                               .metadata = n->metadata,
                               .metadatas = n->metadatas,
                               .is_checkpointed = conf->plan->job->settings.interval.us > 0,
                               .goes_on = conf->pool && conf->pool->goes_on,
                               .wants_keys = n->keyed != NULL};
    s->is_open = true; /* or half so: it is closed in any case */
    rc = n->source->open(s->reader, &o, err);
    return rc == SR_OK ? rc : error_wrap(err, "source '%s'", n->step);
}

void source_free_acks(struct source *s, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        free(s->ack[i].note);
    }
    for (uint32_t i = count; i < s->acks; i++) {
        s->ack[i - count] = s->ack[i];
    }
    s->acks -= count;
}

void source_close(struct source *s)
{
    if (!s->node) return; /* was never opened */
    if (s->is_open) s->node->source->close(s->reader);
    if (s->is_decoding) s->node->format->decode_close(s->decoder);
    source_keys_close(s);
    builder_close(&s->rows);
    for (uint32_t i = 0; i < s->splits; i++) {
        split_done(&s->split[i].split);
        buffer_release(s->split[i].id);
    }
    origin_release(s->origin);
    buffer_release(s->copy);
    split_list_done(&s->finished);
    stamp_done(&s->stamp);
    source_free_acks(s, s->acks);
    free(s->ack);
    free(s->split);
    free(s->reader);
    free(s->decoder);
    free(s->bad);
    free(s->record_of);
    *s = (struct source){.ending = -1};
}

/* --- Splits ----------------------------------------------------------------------------------- */

struct source_split *source_find(const struct source *s, uint32_t number)
{
    for (uint32_t i = 0; i < s->splits; i++) {
        if (s->split[i].number == number) return &s->split[i];
    }
    sr_assert_failed("the reader has the split that it named", __FILE__, __LINE__);
}

/* The reader gets to know what is decoded, and the split's count moves on. */
void source_settle(struct source *s)
{
    struct source_block *b = &s->block;
    if (b->used == b->told) return;
    uint32_t used = b->used - b->told;
    s->node->source->consume(s->reader, b->poll.split, used);
    source_find(s, b->poll.split)->split.done += used;
    b->told = b->used;
}

/* Takes k. */
static sr_rc source_add(struct source *s, struct split *k, int64_t now_us, struct sr_error *err)
{
    struct source_split *grown = room_for_one(s->split, s->splits, &s->capacity, sizeof(*grown));
    if (!grown) {
        split_done(k);
        return error_set(err, SR_ENOMEM, "source '%s': out of memory", s->node->step);
    }
    s->split = grown;
    k->state = SPLIT_READING;
    struct source_split *own = &s->split[s->splits++];
    *own = (struct source_split){.number = s->next_number++, .split = *k};
    size_t len = strlen(k->id) + 1;
    own->id = buffer_new(s->home, (uint32_t)len);
    if (own->id) memcpy(own->id->data, k->id, len);
#ifdef MUTANT_WATERMARK_UNRESTORED /* a row that was late is not late any more */
    k->watermark = SR_WATERMARK_NONE;
#endif
    if (!own->id || stamp_add(&s->stamp, own->number, k->watermark, now_us) != SR_OK) {
        return error_set(err, SR_ENOMEM, "source '%s': out of memory", s->node->step);
    }
    struct sr_split split = {.id = k->id,
                             .note = {k->note, k->note_len},
                             .order = k->order,
                             .size_bytes = k->size_bytes};
    sr_rc rc = s->node->source->add(s->reader, own->number, &split, err);
    if (rc != SR_OK) return error_wrap(err, "source '%s', split %s", s->node->step, split.id);
    return SR_OK;
}

/* The reader's note of where it is, into the split. */
sr_rc source_note(struct source *s, struct source_split *own, struct sr_error *err)
{
    struct sr_out note = bytes_out();
    sr_rc rc = s->node->source->position(s->reader, own->number, &note, err);
    if (rc != SR_OK) {
        bytes_free(&note);
        return error_wrap(err, "source '%s', split %s", s->node->step, own->split.id);
    }
    uint8_t *copy = malloc(note.len + 1);
    if (copy) {
        if (note.len > 0) memcpy(copy, note.data, note.len);
        free(own->split.note);
        own->split.note = copy;
        own->split.note_len = (uint32_t)note.len;
    }
    bytes_free(&note);
    own->split.watermark = stamp_of(&s->stamp, own->number);
    return copy ? SR_OK : error_set(err, SR_ENOMEM, "source '%s': out of memory", s->node->step);
}

sr_rc source_end_split(struct source *s, struct sr_error *err)
{
    struct source_split *own = source_find(s, (uint32_t)s->ending);
    source_settle(s);
    s->block.is_open = false;
    s->ending = -1;
    sr_rc rc = source_note(s, own, err);
    if (rc != SR_OK) return rc;
    own->split.state = SPLIT_FINISHED;
    stamp_remove(&s->stamp, own->number);
    rc = source_keep_ack(s, SOURCE_ACK_NEXT, own);
    if (rc != SR_OK) return error_set(err, rc, "source '%s': out of memory", s->node->step);
    rc = split_list_add(&s->finished, &own->split);
    buffer_release(own->id);
    *own = s->split[--s->splits];
    splits_ended(s->pool);
    return rc == SR_OK ? SR_OK
                       : error_set(err, SR_ENOMEM, "source '%s': out of memory", s->node->step);
}

/* --- Rows ------------------------------------------------------------------------------------- */

sr_rc source_seal(struct source *s, struct msg *m, struct sr_error *err)
{
    *m = (struct msg){.kind = MSG_NONE};
    if (s->rows.rows == 0) {
        s->must_seal = false;
        return SR_OK;
    }
    if (s->is_idle) {
        s->is_idle = false;
        m->kind = MSG_ACTIVE; /* the rows come next */
        return SR_OK;
    }
    struct sr_view *v = NULL;
    sr_rc rc = builder_seal(&s->rows, &v, err);
    if (rc != SR_OK) return rc;
    sr_assert(v && v->picked > 0);
    s->must_seal = false;
    v->split = s->rows_split;
    v->origin = s->origin;
    s->origin = NULL;
    v->watermark_end = SR_WATERMARK_NONE;
    rc = source_set_aside(s, v, err);
    if (rc != SR_OK || v->picked == 0) {
        view_release(v);
        return rc;
    }
    counters_add(&s->count, COUNTER_out, v->picked);
    *m = (struct msg){.kind = MSG_VIEW, .view = v};
    return SR_OK;
}

#define SOURCE_EMPTY_MAX 10000u         /* polls that may bring nothing, in a row */
#define SOURCE_EMPTY_US  INT64_C(10000) /* how soon such a source is asked again */

/* --- Polling ---------------------------------------------------------------------------------- */

/* The reader filled columns itself. */
static sr_rc source_took_rows(struct source *s, uint32_t before, struct sr_error *err)
{
    uint32_t rows = s->rows.rows - before;
    uint32_t bads = s->block.poll.bad ? 1 : 0;
    if (rows + bads == 0) return SR_OK;
    uint32_t number = s->block.poll.split;
    sr_rc rc = rows > 0 ? source_begin_origin(s, ORIGIN_ROWS, before, err) : SR_OK;
    if (rc == SR_OK) rc = source_fill_metadata(s, before, err);
    if (rc == SR_OK && bads > 0) rc = source_bad_row(s, rows, err);
    if (rc != SR_OK) return rc;
    s->node->source->consume(s->reader, number, rows + bads);
    source_find(s, number)->split.done += rows + bads;
    s->rows_split = number;
    counters_add(&s->count, COUNTER_in, rows + bads);
    pace_spend(&s->pace, rows + bads);
    /* The next poll may bring another split's rows, which must not get into the same view; and rows
     * of a view are numbered without a gap. */
    if (s->splits > 1 || bads > 0 || sr_builder_is_full(&s->rows)) {
        s->must_seal = s->rows.rows > 0;
    }
    return SR_OK;
}

/* Bytes came: they are decoded step by step. */
static sr_rc source_took_bytes(struct source *s, uint32_t before, struct sr_error *err)
{
    struct source_block *b = &s->block;
    struct split *split = &source_find(s, b->poll.split)->split;
    sr_rc rc = b->poll.passed > 0 ? source_passed(s, err) : SR_OK;
    if (rc != SR_OK) return rc;
    b->is_open = (b->poll.record ? b->poll.records : b->poll.len) > 0;
    if (b->is_open && b->poll.at_start && !b->poll.record) split->lines = 0;
    if (b->is_open && !b->poll.buffer && s->keeps_raw) rc = source_copy(s, err);
    /* Rows of another split, or that refer to other bytes, go first. */
    s->must_seal = before > 0 && (s->rows_split != b->poll.split || b->poll.buffer);
    return rc;
}

/* Said data, and brought none, again and again: a fault of the connector, which would keep a core
 * busy for nothing. It is asked less often then, and told of once. */
static bool source_is_empty(struct source *s, uint32_t before)
{
    const struct sr_poll *p = &s->block.poll;
    struct counts c;
    counters_get(&s->count, &c);
    int64_t mark = c.value[COUNTER_in] + c.value[COUNTER_bytes_in] + p->len + p->records +
                   (int64_t)p->passed + (s->rows.rows - before);
    bool is_news = mark != s->empty_mark || s->rows.rows > before || p->passed > 0 || p->bad;
    s->empty_mark = mark;
    s->empties = is_news ? 0 : s->empties + 1;
    if (s->empties < SOURCE_EMPTY_MAX) return false;
    if (s->empties == SOURCE_EMPTY_MAX) {
        env_log(s->ctx.env, SR_WARN, s->node->step,
                "connector %s said %u times in a row that there is data, and gave none: it is "
                "asked less often now; where nothing is there, its poll is to say idle",
                s->node->source->name, SOURCE_EMPTY_MAX);
    }
    return true;
}

static enum source_got source_poll(struct source *s, struct sr_wait *wait, struct sr_error *err)
{
    struct source_block *b = &s->block;
    bool is_empty = false;
    sr_rc rc = SR_OK;
    source_settle(s);
    if (s->node->source_caps.makes_rows && s->rows.rows == 0) source_narrow_poll(s);
    uint32_t before = s->rows.rows;
    *b = (struct source_block){.poll = {.rows = &s->rows,
                                        .wait = {.fd = -1, .until_us = INT64_MAX},
                                        .at = -1,
                                        .may_pass = s->node->on_error != JOB_FAIL},
                               .key_limit = UINT32_MAX};
    s->rows.cols = s->node->brought->fields;
    enum sr_polled polled = s->node->source->poll(s->reader, &b->poll, err);
    s->rows.cols = s->node->read->fields;
    if (b->poll.found && polled != SR_POLL_FAILED &&
        splits_found(s->pool, b->poll.found) != SR_OK) {
        (void)error_set(err, SR_ENOMEM, "source '%s': out of memory", s->node->step);
        return SOURCE_FAILED;
    }
    if (b->poll.told && polled != SR_POLL_FAILED &&
        splits_told(s->pool, b->poll.told, err) != SR_OK) {
        return SOURCE_FAILED;
    }
    switch (polled) {
    case SR_POLL_DATA:
        if (s->rows.is_broken) {
            (void)error_set(err, SR_ENOMEM, "source '%s': out of memory", s->node->step);
            return SOURCE_FAILED;
        }
        is_empty = source_is_empty(s, before);
        rc = s->node->source_caps.makes_rows ? source_took_rows(s, before, err)
                                             : source_took_bytes(s, before, err);
        if (rc != SR_OK) return SOURCE_FAILED;
        if (!is_empty || s->must_seal || s->block.is_open) return SOURCE_DID;
        wait->until_us = s->ctx.env->mono_us(s->ctx.env) + SOURCE_EMPTY_US;
        return SOURCE_WAIT;
    case SR_POLL_IDLE:
        *wait = b->poll.wait;
        if (s->rows.rows == 0) return SOURCE_WAIT;
        s->must_seal = true;
        return SOURCE_DID;
    case SR_POLL_SPLIT_END:
        s->ending = b->poll.split;
        s->must_seal = s->rows.rows > 0;
        return SOURCE_DID;
    case SR_POLL_FAILED:
        break;
    }
    (void)error_wrap(err, "source '%s'", s->node->step);
    return SOURCE_FAILED;
}

bool source_halt(struct source *s, bool is_halted)
{
    const struct sr_source_type *t = s->node->source;
    bool is_told = is_halted || s->is_halted;
    if (!SR_HAS_FIELD(t, struct sr_source_type, halt) || !t->halt || !is_told) return true;
    s->is_halted = is_halted;
    return t->halt(s->reader, is_halted) && !s->block.is_open;
}

static void source_sooner(struct sr_wait *wait, int64_t due_us)
{
    if (due_us < wait->until_us) wait->until_us = due_us;
}

/* Watermarks and idleness that move without a row. */
static bool source_news(struct source *s, int64_t now_us, struct msg *m, struct sr_wait *wait)
{
    if (!s->stamp.is_on) return false;
    bool is_bounded = s->node->source_caps.is_bounded;
    s->stamp.is_held = is_bounded && atomic_load_explicit(&s->pool->has_more, memory_order_relaxed);
    s->stamp.is_unfed =
        !is_bounded && !atomic_load_explicit(&s->pool->has_given, memory_order_relaxed);
    int64_t due_us = INT64_MAX;
    bool is_idle = stamp_look(&s->stamp, now_us, &due_us);
    bool has_moved = stamp_advance(&s->stamp, now_us, &due_us);
    source_sooner(wait, due_us);
    if (has_moved) {
        *m = (struct msg){.kind = MSG_WATERMARK, .watermark = s->stamp.watermark};
        return true;
    }
    if (is_bounded && s->splits == 0) is_idle = false; /* it is ending, or held back on purpose */
    if (is_idle && !s->is_idle) {
        s->is_idle = true;
        *m = (struct msg){.kind = MSG_IDLE};
        return true;
    }
    return false;
}

/* Asks the pool for a split. SOURCE_DID: there was one. */
static enum source_got source_take(struct source *s, int64_t now_us, struct sr_wait *wait,
                                   struct sr_error *err)
{
    const struct sr_source_caps *caps = &s->node->source_caps;
    if (caps->is_bounded && !caps->side_by_side && s->splits > 0) return SOURCE_WAIT;
    struct split k;
    switch (splits_take(s->pool, s->splits, now_us, &k, wait, err)) {
    case SPLITS_ONE:
        return source_add(s, &k, now_us, err) == SR_OK ? SOURCE_DID : SOURCE_FAILED;
    case SPLITS_LATER:
        return SOURCE_WAIT;
    case SPLITS_ALL:
        return s->splits == 0 ? SOURCE_END : SOURCE_WAIT;
    case SPLITS_FAILED:
        break;
    }
    return SOURCE_FAILED;
}

/* Makes room for as many rows as the pace allows. False: none before wait->until_us, and what is
 * there is handed on. */
static bool source_is_paced(struct source *s, int64_t now_us, struct sr_wait *wait)
{
    if (!pace_is_on(&s->pace)) return true;
    uint32_t quota = pace_quota(&s->pace, now_us, SR_BATCH_ROWS - s->rows.rows, &wait->until_us);
    s->rows.rows_max = s->rows.rows + quota;
    if (quota == 0 && s->rows.rows > 0) s->must_seal = true;
    return quota > 0;
}

/* The step that comes before any poll, if one is due; else SOURCE_WAIT, and the pace may have set
 * *wait. */
static enum source_got source_before_poll(struct source *s, int64_t now_us, struct msg *m,
                                          struct sr_wait *wait, struct sr_error *err)
{
    sr_rc rc = SR_OK;
    if (s->must_seal) {
        rc = source_seal(s, m, err);
        if (rc == SR_OK && m->kind != MSG_NONE) return SOURCE_MSG;
    } else if (s->block.is_open) {
        if (!source_is_paced(s, now_us, wait)) return s->must_seal ? SOURCE_DID : SOURCE_WAIT;
        if (now_us < s->block.due_us) {
            source_sooner(wait, s->block.due_us);
            return SOURCE_WAIT;
        }
        rc = source_decode(s, err);
    } else if (s->ending >= 0) {
        rc = source_end_split(s, err);
    } else {
        return SOURCE_WAIT;
    }
    return rc == SR_OK ? SOURCE_DID : SOURCE_FAILED;
}

enum source_got source_next(struct source *s, int64_t now_us, struct msg *m, struct sr_wait *wait,
                            struct sr_error *err)
{
    *m = (struct msg){.kind = MSG_NONE};
    *wait = (struct sr_wait){.fd = -1, .until_us = INT64_MAX};
    stamp_resume(&s->stamp, now_us);
    enum source_got got = source_before_poll(s, now_us, m, wait, err);
    if (got != SOURCE_WAIT || s->block.is_open) return got;
    struct sr_wait later = *wait;
    enum source_got took = source_take(s, now_us, &later, err);
    if (took == SOURCE_DID || took == SOURCE_FAILED) return took;
    if (source_news(s, now_us, m, &later)) return SOURCE_MSG;
    if (took == SOURCE_END) {
        counters_caught_up(&s->count, true);
        return SOURCE_END;
    }
    if (s->splits > 0 && source_is_paced(s, now_us, wait)) {
        got = source_poll(s, wait, err);
        counters_caught_up(&s->count, got == SOURCE_WAIT);
        if (got != SOURCE_WAIT) return got;
    } else {
        counters_caught_up(&s->count, s->splits == 0);
    }
    if (s->must_seal) return SOURCE_DID;
    source_sooner(wait, later.until_us);
    if (wait->fd < 0) {
        wait->fd = later.fd;
        wait->is_write = later.is_write;
    }
    return SOURCE_WAIT;
}
