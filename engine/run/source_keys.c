/* Records with keys: what is in the key goes to columns of its own, and a record may have no value.
 *
 * Keys are read behind the values, one for each row, so that a record may be several rows or none.
 * A key that cannot be read takes back the rows of its call: they are decoded again up to that
 * record, which then has its fate as any bad one.
 *
 *   decode [used, limit) -> read their keys --all good--> rows
 *      ^                         | one is bad
 *      '--- limit = that one <---'     limit == used: it is judged, limit is free again
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/run/source_inner.h"

sr_rc source_keys_open(struct source *s, struct sr_error *err)
{
    const struct plan_keyed *k = s->node->keyed;
    if (!k) return SR_OK;
    struct source_keys *x = &s->keys;
    uint32_t cols = k->key.fields;
    x->decoder = calloc(1, k->how.key_format->decoder_size ? k->how.key_format->decoder_size : 1);
    x->col = calloc(cols + 1u, sizeof(struct sr_column *));
    x->inner = calloc(cols + 1u, sizeof(struct sr_builder *));
    x->wanted = calloc(cols + 1u, sizeof(*x->wanted));
    x->span = calloc(SR_BATCH_ROWS, sizeof(*x->span));
    x->row_at = calloc(SR_BATCH_ROWS, sizeof(*x->row_at));
    x->bad = calloc(SR_BAD_MAX, sizeof(*x->bad));
    if (!x->decoder || !x->col || !x->inner || !x->wanted || !x->span || !x->row_at || !x->bad) {
        return error_set(err, SR_ENOMEM, "source '%s': out of memory", s->node->step);
    }
    for (uint32_t i = 0; i < cols; i++) {
        x->wanted[i] = s->rows.wanted[k->how.key_column[i]];
    }
    struct sr_format_open o = {
        .size = sizeof(o), .host = &s->host, .conf = k->how.key_conf, .schema = &k->key};
    x->is_open = true; /* or half so: it is closed in any case */
    sr_rc rc = k->how.key_format->decode_open(x->decoder, &o, err);
    return rc == SR_OK ? rc
                       : error_wrap(err, "source '%s', key format %s", s->node->step,
                                    k->how.key_format->name);
}

void source_keys_close(struct source *s)
{
    struct source_keys *x = &s->keys;
    if (x->is_open) s->node->keyed->how.key_format->decode_close(x->decoder);
    free(x->decoder);
    free(x->col);
    free(x->inner);
    free(x->wanted);
    free(x->span);
    free(x->row_at);
    free(x->bad);
    *x = (struct source_keys){.decoder = NULL};
}

/* --- Which records come next ------------------------------------------------------------------ */

bool source_is_absent(const struct source *s)
{
    const struct sr_poll *p = &s->block.poll;
    return p->absent && s->block.used < p->records && p->absent[s->block.used];
}

uint32_t source_records_ahead(const struct source *s)
{
    const struct source_block *b = &s->block;
    uint32_t end = b->poll.records;
    if (b->key_limit < end) end = b->key_limit;
    uint32_t i = b->used;
    bool is_absent = source_is_absent(s);
    while (b->poll.absent && i < end && b->poll.absent[i] == is_absent) {
        i++;
    }
    return (b->poll.absent ? i : end) - b->used;
}

/* A row of NULLs, whose key is still to come. */
static void source_put_nulls(struct source *s)
{
    const struct plan_keyed *k = s->node->keyed;
    for (uint32_t c = 0; c < s->node->brought->fields; c++) {
        sr_put_null(&s->rows, c);
    }
    for (uint32_t i = 0; k && i < k->key.fields; i++) {
        sr_put_forget(&s->rows, k->how.key_column[i]);
    }
    if (s->node->source_caps.upserts) sr_put_change(&s->rows, SR_DELETE);
}

sr_rc source_put_absent(struct source *s, struct sr_decode *d, struct sr_error *err)
{
    const struct source_block *b = &s->block;
    bool is_row = s->node->source_caps.upserts || (s->node->format_flags & SR_FORMAT_ABSENT) != 0;
    uint32_t count = source_records_ahead(s);
    *d = (struct sr_decode){.bytes = b->poll.bytes,
                            .record = b->poll.record + b->used,
                            .records = count,
                            .out = &s->rows,
                            .row_at = s->origin->at,
                            .bad = s->bad,
                            .lines = UINT32_MAX};
    while (d->used < count && !sr_builder_is_full(&s->rows)) {
        if (is_row) {
            source_put_nulls(s);
            s->origin->at[s->rows.rows] = d->record[d->used].at;
            sr_row_done(&s->rows);
        } else {
            d->left_out++;
        }
        d->used++;
    }
    return s->rows.is_broken
               ? error_set(err, SR_ENOMEM, "source '%s': out of memory", s->node->step)
               : SR_OK;
}

/* --- Reading keys ----------------------------------------------------------------------------- */

/* A builder of the key's columns alone, which stands at row `row`. */
static struct sr_builder source_keys_builder(struct source *s, uint32_t row)
{
    struct source_keys *x = &s->keys;
    const struct plan_keyed *k = s->node->keyed;
    for (uint32_t i = 0; i < k->key.fields; i++) {
        x->col[i] = s->rows.col[k->how.key_column[i]];
        x->inner[i] = s->rows.inner ? s->rows.inner[k->how.key_column[i]] : NULL;
    }
    return (struct sr_builder){.size = sizeof(struct sr_builder),
                               .rows = row,
                               .rows_max = SR_BATCH_ROWS,
                               .cols = k->key.fields,
                               .col = x->col,
                               .wanted = x->wanted,
                               .host = s->rows.host,
                               .inner = s->rows.inner ? x->inner : NULL,
                               .engine = s->rows.engine};
}

/* Takes rows [from, b->rows) of a builder back. */
static void source_unput(struct sr_builder *b, uint32_t from)
{
    while (b->rows > from) {
        b->rows--;
        sr_row_drop(b);
    }
}

/* Puts the keys of x->span[0, count) to the builder's next rows, as far as each is one row.
 * *words: why the first one that is not could not be read; NULL: it was let go. */
static sr_rc source_keys_put(struct source *s, struct sr_builder *b, uint32_t count, uint32_t *done,
                             const char **words, struct sr_error *err)
{
    struct source_keys *x = &s->keys;
    const struct plan_keyed *k = s->node->keyed;
    uint32_t from = b->rows;
    struct sr_decode d = {.bytes = s->block.poll.bytes,
                          .buffer = s->block.poll.buffer,
                          .record = x->span,
                          .records = count,
                          .out = b,
                          .row_at = x->row_at,
                          .bad = x->bad,
                          .lines = UINT32_MAX};
    *words = NULL;
    sr_rc rc = k->how.key_format->decode(x->decoder, &d, err);
    s->rows.is_broken = s->rows.is_broken || b->is_broken;
    if (rc != SR_OK) {
        return error_wrap(err, "source '%s', key format %s", s->node->step,
                          k->how.key_format->name);
    }
    for (uint32_t i = 0; i < d.bads; i++) {
        x->bad[i].mark = 0; /* for the next call */
    }
    *done = b->rows - from;
    if (d.bads > 0) {
        *done = x->bad[0].row - from;
        *words = x->bad[0].words;
    }
    if (d.bads > 0 || *done != count || d.ignored + d.left_out > 0) source_unput(b, from);
    return SR_OK;
}

/* One by one: rows [from, upto), of which some has a key that is not one row. */
static sr_rc source_keys_each(struct source *s, struct sr_builder *b, uint32_t upto,
                              const char **words, struct sr_error *err)
{
    while (b->rows < upto) {
        uint32_t row = b->rows, done = 0;
        const struct sr_poll *p = &s->block.poll;
        s->keys.span[0] = p->key[s->record_of[row]];
        sr_rc rc = source_keys_put(s, b, 1, &done, words, err);
        if (rc != SR_OK) return rc;
        if (!*words && done > 1) *words = "it is more than one row";
        if (*words) return SR_OK; /* b->rows is that one */
        if (done == 0) {
            for (uint32_t c = 0; c < b->cols; c++) {
                sr_put_null(b, c);
            }
            sr_row_done(b);
        }
    }
    return SR_OK;
}

/* The rows from b->rows on as long as they have keys, or the ones that have none. */
static sr_rc source_keys_run(struct source *s, struct sr_builder *b, const char **words,
                             struct sr_error *err)
{
    const struct sr_poll *p = &s->block.poll;
    uint32_t from = b->rows, n = 0, done = 0;
    while (from + n < s->rows.rows && !(p->keyless && p->keyless[s->record_of[from + n]])) {
        s->keys.span[n] = p->key[s->record_of[from + n]];
        n++;
    }
    if (n == 0 && s->node->source_caps.upserts) {
        *words = "there is none, and it says which row is meant";
        return SR_OK;
    }
    if (n == 0) {
        for (uint32_t c = 0; c < b->cols; c++) {
            sr_put_null(b, c);
        }
        sr_row_done(b);
        return SR_OK;
    }
    sr_rc rc = source_keys_put(s, b, n, &done, words, err);
    if (rc != SR_OK || b->rows == from + n) return rc;
    return source_keys_each(s, b, from + n, words, err);
}

sr_rc source_read_keys(struct source *s, uint32_t before, bool *is_again, struct sr_error *err)
{
    struct source_block *b = &s->block;
    *is_again = false;
    if (!s->node->keyed || s->rows.rows == before) return SR_OK;
    if (!s->node->keyed->is_apart && !source_is_absent(s)) return SR_OK; /* the value has them */
    sr_assert(b->poll.key && b->poll.record);
    struct sr_builder keys = source_keys_builder(s, before);
    const char *words = NULL;
    sr_rc rc = SR_OK;
    while (rc == SR_OK && !words && keys.rows < s->rows.rows) {
        rc = source_keys_run(s, &keys, &words, err);
    }
    if (rc != SR_OK || !words) return rc;
    b->key_limit = s->record_of[keys.rows];
    (void)snprintf(b->key_words, sizeof(b->key_words), "key: %s", words); /* cut */
    source_unput(&s->rows, before);
    *is_again = true;
    return SR_OK;
}
