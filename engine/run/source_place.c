/* Where rows were read from: makes and fills the origins of the views that a source hands on. */
#include <stdio.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/run/source_inner.h"

int64_t source_offset(const struct source *s)
{
    const struct source_block *b = &s->block;
    if (b->poll.at >= 0 && !b->poll.record) return b->poll.at + b->used;
    return source_find(s, b->poll.split)->split.done + (int64_t)(b->used - b->told);
}

sr_rc source_begin_origin(struct source *s, enum origin_kind kind, uint32_t before,
                          struct sr_error *err)
{
    if (before > 0) return SR_OK;
    origin_release(s->origin); /* of a block that gave no row */
    s->origin = NULL;
    const struct source_block *b = &s->block;
    struct source_split *own = source_find(s, b->poll.split);
    struct sr_origin *o = origin_new(s->home);
    if (!o) return error_set(err, SR_ENOMEM, "source '%s': out of memory", s->node->step);
    o->node = s->number;
    o->kind = kind;
    o->split = buffer_hold(own->id);
    o->base = source_offset(s);
    if (kind == ORIGIN_BYTES && s->has_lines && own->split.lines >= 0) {
        o->line = own->split.lines + 1;
    }
    if (kind != ORIGIN_ROWS && b->poll.buffer) {
        const uint8_t *from = b->poll.bytes + (kind == ORIGIN_BYTES ? b->used : 0);
        o->raw = buffer_hold(b->poll.buffer);
        o->raw_at = (uint32_t)(from - b->poll.buffer->data);
    }
    s->origin = o;
    return SR_OK;
}

sr_rc source_copy(struct source *s, struct sr_error *err)
{
    struct sr_poll *p = &s->block.poll;
    uint32_t len = p->record ? 0 : p->len;
    for (uint32_t i = 0; p->record && i < p->records; i++) {
        uint32_t end = p->record[i].at + p->record[i].len;
        if (end > len) len = end;
    }
    buffer_release(s->copy);
    s->copy = buffer_new(s->home, len > 0 ? len : 1);
    if (!s->copy) return error_set(err, SR_ENOMEM, "source '%s': out of memory", s->node->step);
    memcpy(s->copy->data, p->bytes, len);
    p->bytes = s->copy->data;
    p->buffer = s->copy;
    return SR_OK;
}

/* Whole records: which one of the poll each row was made of. */
static void source_place_records(struct source *s, uint32_t before, int64_t first)
{
    struct sr_origin *o = s->origin;
    const struct source_block *b = &s->block;
    const struct sr_span *record = b->poll.record;
    uint32_t k = b->used, last_at = 0;
    for (uint32_t r = before; r < s->rows.rows; r++) {
        uint32_t at = o->at[r];
        bool is_empty_done = r > before && at == last_at && record[k].len == 0;
        while (k + 1 < b->poll.records && (record[k].at < at || is_empty_done)) {
            k++;
            is_empty_done = false;
        }
        last_at = at;
        s->record_of[r] = k;
        o->end[r] = at + record[k].len;
        o->number[r] = (uint32_t)(first - o->base) + (k - b->used);
    }
}

/* The rows [before, rows) of the builder were decoded from `d`, whose first byte or record is
 * `first` in its split. A record ends where the next one begins, be that a row or a bad one. */
void source_place(struct source *s, const struct sr_decode *d, uint32_t before, int64_t first)
{
    struct sr_origin *o = s->origin;
    uint32_t rows = s->rows.rows;
    if (rows == before) return;
    if (d->record) {
        source_place_records(s, before, first);
        return;
    }
    uint32_t shift = (uint32_t)(first - o->base);
    for (uint32_t r = before; r < rows && shift > 0; r++) {
        o->at[r] += shift;
    }
    for (uint32_t r = before; r + 1 < rows; r++) {
        o->end[r] = o->at[r + 1];
    }
    o->end[rows - 1] = d->used + shift;
    for (uint32_t i = 0; i < d->bads; i++) {
        uint32_t r = d->bad[i].row;
        if (r > before && d->bad[i].at + shift < o->end[r - 1]) {
            o->end[r - 1] = d->bad[i].at + shift;
        }
    }
}

/* --- Poison ----------------------------------------------------------------------------------- */

/* Records one by one, or as many as a batch holds. */
static void source_narrow(struct source *s, bool is_narrow)
{
    if (s->is_narrow && !is_narrow && !pace_is_on(&s->pace)) s->rows.rows_max = SR_BATCH_ROWS;
    s->is_narrow = is_narrow;
    if (is_narrow && s->rows.rows == 0) s->rows.rows_max = 1;
}

bool source_is_suspect(struct source *s, int64_t from)
{
    if (!s->poison || (s->poison->suspects == 0 && !s->is_narrow)) return false;
    const struct source_block *b = &s->block;
    int64_t more = b->poll.record ? b->poll.records : b->poll.len;
    source_narrow(s, poison_has_suspect(s->poison, s->node->uid,
                                        source_find(s, b->poll.split)->split.id, from,
                                        from + more - b->used));
    return s->is_narrow;
}

void source_narrow_poll(struct source *s)
{
    if (!s->poison || (s->poison->suspects == 0 && !s->is_narrow)) return;
    bool is_narrow = false;
    for (uint32_t i = 0; i < s->splits && !is_narrow; i++) {
        const struct split *k = &s->split[i].split;
        is_narrow = poison_has_suspect(s->poison, s->node->uid, k->id, k->done, INT64_MAX);
    }
    source_narrow(s, is_narrow);
}

static sr_rc source_set_row_aside(struct source *s, const struct sr_view *v, uint32_t row,
                                  const struct poison_record *p, struct sr_error *err)
{
    char words[sizeof(LETTER_POISON_WORDS) + POISON_TEXT_MAX];
    struct letter one = letter_of_row(s->plan, s->node, v, row, p->words, strlen(p->words) + 1);
    int len = snprintf(words, sizeof(words), LETTER_POISON_WORDS "%s", p->words);
    one.words = words;
    one.words_len = len < (int)sizeof(words) ? len : (int)sizeof(words) - 1;
    one.step = *p->step ? p->step : one.step;
    one.schema = s->node->out;
    counters_add(&s->count, COUNTER_dead, 1);
    return letters_add(s->letters, &one, err);
}

sr_rc source_set_aside(struct source *s, struct sr_view *v, struct sr_error *err)
{
    const struct sr_origin *o = v->origin;
    if (!s->poison || s->poison->records == s->poison->suspects || !s->letters->node) return SR_OK;
    const char *split = (const char *)o->split->data;
    int64_t from = origin_offset(o, 0);
    if (!poison_has_any(s->poison, s->node->uid, split, from, origin_offset(o, v->rows - 1))) {
        return SR_OK;
    }
    uint32_t picked = 0;
    for (uint32_t r = 0; r < v->rows; r++) {
        const struct poison_record *p =
            poison_find(s->poison, s->node->uid, split, origin_offset(o, r));
        if (!p) {
            v->sel_space[picked++] = (uint16_t)r;
            continue;
        }
        sr_rc rc = source_set_row_aside(s, v, r, p, err);
        if (rc != SR_OK) return rc;
    }
    v->picked = picked;
    v->sel = v->sel_space;
    return SR_OK;
}
