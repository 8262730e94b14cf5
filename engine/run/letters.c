#include "engine/run/letters.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/base64.h"
#include "engine/base/error.h"
#include "engine/base/shown.h"
#include "engine/data/builder.h"

#define LETTERS_MINUTE_US INT64_C(60000000)
#define LETTERS_ROWS      (SR_BATCH_ROWS / 2) /* in hand: then they are written */

/* --- Opening ---------------------------------------------------------------------------------- */

sr_rc letters_open(struct letters *l, const struct letters_conf *conf, struct sr_error *err)
{
    const struct plan_dead_letter *to = conf->plan->dead_letter;
    sr_assert(to && !l->node);
    l->plan = conf->plan;
    l->node = &to->node;
    l->env = conf->env;
    l->ledger = conf->ledger;
    l->attempt = conf->attempt;
    l->json = bytes_out();
    l->sink.ask = conf->ask;
    l->sink.ask_ctx = conf->ask_ctx;
    host_init(&l->host, &l->ctx, conf->env, conf->home, to->node.step);
    l->host.time_zone = conf->plan->job->settings.time_zone;
    sr_rc rc = builder_open(&l->rows, conf->home, &l->host, &plan_aside_schema, NULL, err);
    if (rc != SR_OK) return rc;
    l->has_rows = true;
    struct sink_conf sink = {.plan = conf->plan,
                             .node = &to->node,
                             .env = conf->env,
                             .home = conf->home,
                             .open = conf->open};
    return sink_open(&l->sink, &sink, err);
}

static void letters_close_encoder(struct letters *l)
{
    if (l->encoder) l->plan->dead_letter->row_format->encode_close(l->encoder);
    free(l->encoder);
    l->encoder = NULL;
}

void letters_close(struct letters *l)
{
    culprit_done(&l->culprit);
    if (!l->node) return;
    sink_close(&l->sink);
    letters_close_encoder(l);
    for (uint32_t i = 0; i < l->fulls; i++) {
        view_release(l->full[i]);
    }
    if (l->has_rows) builder_close(&l->rows);
    bytes_free(&l->json);
    *l = (struct letters){.node = NULL};
}

/* --- Text ------------------------------------------------------------------------------------- */

/* Puts text that may hold anything: what is no UTF-8 is written \xNN, so that any format can carry
 * it. */
static void letters_put_text(struct letters *l, uint32_t column, const char *text, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t clean[4096];
    uint32_t used = 0;
    for (size_t i = 0; i < len && used + 8 < sizeof(clean);) {
        uint32_t wide = shown_character((const uint8_t *)text + i, len - i);
        if (wide > 0) {
            memcpy(clean + used, text + i, wide);
            used += wide;
            i += wide;
            continue;
        }
        uint8_t c = (uint8_t)text[i++];
        uint8_t shown[4] = {'\\', 'x', (uint8_t)digits[c >> 4], (uint8_t)digits[c & 15]};
        memcpy(clean + used, shown, sizeof(shown));
        used += sizeof(shown);
    }
    sr_put_bytes(&l->rows, column, clean, used);
}

/* Opens the format for rows of this schema, unless it is open for them. */
static sr_rc letters_open_encoder(struct letters *l, const struct sr_schema *schema,
                                  struct sr_error *err)
{
    const struct plan_dead_letter *to = l->plan->dead_letter;
    if (l->encoder && l->encoder_schema == schema) return SR_OK;
    letters_close_encoder(l);
    uint32_t size = to->row_format->encoder_size;
    l->encoder = calloc(1, size ? size : 1);
    l->encoder_schema = schema;
    if (!l->encoder) return error_set(err, SR_ENOMEM, "dead letters: out of memory");
    struct sr_format_open o = {
        .size = sizeof(o), .host = &l->host, .conf = to->row_format_conf, .schema = schema};
    sr_rc rc = to->row_format->encode_open(l->encoder, &o, err);
    return rc == SR_OK ? rc : error_wrap(err, "dead letters: a row as JSON");
}

/* The row of the step's input as JSON into l->json; empty when it cannot be written so. */
static sr_rc letters_row(struct letters *l, const struct letter *one, struct sr_error *err)
{
    const struct plan_dead_letter *to = l->plan->dead_letter;
    l->json.len = 0;
    if (!one->view || !one->schema || !to->row_format) return SR_OK;
    sr_rc rc = letters_open_encoder(l, one->schema, err);
    if (rc != SR_OK) return rc;
    uint32_t at = 0; /* its place among the live rows */
    while (at < one->view->picked && sr_row(one->view, at) != one->row) {
        at++;
    }
    if (at == one->view->picked) return SR_OK;
    struct sr_encode e = {.view = one->view, .from = at, .count = 1, .out = &l->json};
    struct sr_error why = {.rc = SR_OK};
    rc = to->row_format->encode(l->encoder, &e, &why);
    if (rc == SR_OK || rc == SR_EDATA) {
        while (l->json.len > 0 && l->json.data[l->json.len - 1] == '\n') {
            l->json.len--;
        }
        if (rc == SR_EDATA) l->json.len = 0;
        return SR_OK;
    }
    *err = why;
    return rc;
}

static void letters_put_raw(struct letters *l, const uint8_t *raw, size_t len)
{
    if (!raw) {
        sr_put_null(&l->rows, ASIDE_RAW);
        return;
    }
    size_t size = base64_text_size(len);
    uint8_t *to = size <= UINT32_MAX ? sr_put_space(&l->rows, ASIDE_RAW, (uint32_t)size) : NULL;
    if (to) base64_write((char *)to, raw, len);
    l->rows.is_broken = l->rows.is_broken || !to;
    l->bytes += size;
}

static void letters_put_place(struct letters *l, const struct letter *one)
{
    if (!one->split) {
        sr_put_null(&l->rows, ASIDE_SOURCE);
        sr_put_null(&l->rows, ASIDE_SPLIT);
        sr_put_null(&l->rows, ASIDE_OFFSET);
    } else {
        letters_put_text(l, ASIDE_SOURCE, one->source->step, strlen(one->source->step));
        letters_put_text(l, ASIDE_SPLIT, one->split, strlen(one->split));
        sr_put_i64(&l->rows, ASIDE_OFFSET, one->offset);
    }
    if (one->split && one->line > 0) {
        sr_put_i64(&l->rows, ASIDE_LINE, one->line);
    } else {
        sr_put_null(&l->rows, ASIDE_LINE);
    }
}

/* --- Adding ----------------------------------------------------------------------------------- */

/* Counts it; too many, and the job ends: what they have in common is no single record's fault. */
static sr_rc letters_count(struct letters *l, const struct letter *one, struct sr_error *err)
{
    struct letters_ledger *g = l->ledger;
    int64_t now_us = l->env->mono_us(l->env);
    int64_t total = atomic_fetch_add_explicit(&g->total, 1, memory_order_relaxed) + 1;
    int64_t since = atomic_load_explicit(&g->minute_us, memory_order_relaxed);
    /* Two tasks that begin a minute at once may lose a few: the limit is about masses. */
    if (now_us - since >= LETTERS_MINUTE_US) {
        atomic_store_explicit(&g->minute_us, now_us, memory_order_relaxed);
        atomic_store_explicit(&g->minute_total, 0, memory_order_relaxed);
    }
    int64_t minute = atomic_fetch_add_explicit(&g->minute_total, 1, memory_order_relaxed) + 1;
    bool is_total = g->total_max > 0 && total > g->total_max;
    bool is_minute = g->minute_max > 0 && minute > g->minute_max;
    if (!is_total && !is_minute) return SR_OK;
    l->is_over = true;
    (void)letter_fail(one, err);
    err->rc = SR_ELIMIT;
    int64_t most = is_total ? g->total_max : g->minute_max;
    return error_wrap(err,
                      "more than %lld record%s%s were to be set aside (dead-letter.%s); the last",
                      (long long)most, most == 1 ? "" : "s", is_total ? "" : " within a minute",
                      is_total ? "max-total" : "max-rate");
}

static sr_rc letters_seal(struct letters *l, struct sr_error *err)
{
    if (l->rows.rows == 0) return SR_OK;
    sr_assert(l->fulls < LETTERS_VIEWS_MAX);
    struct sr_view *v = NULL;
    sr_rc rc = builder_seal(&l->rows, &v, err);
    if (rc != SR_OK) return error_wrap(err, "dead letters");
    l->full[l->fulls++] = v;
    l->bytes = 0;
    return SR_OK;
}

sr_rc letters_add(struct letters *l, const struct letter *one, struct sr_error *err)
{
    sr_assert(l->node);
    sr_rc rc = letters_count(l, one, err);
    if (rc == SR_OK && !one->raw) rc = letters_row(l, one, err);
    if (rc != SR_OK) return rc;
    const uint8_t *raw = one->raw;
    size_t len = one->raw_len;
    if (!raw && l->json.len > 0 && one->view) {
        raw = l->json.data;
        len = l->json.len;
    }
    sr_put_i64(&l->rows, ASIDE_TIME, l->env->wall_us(l->env) / 1000 * 1000);
    letters_put_text(l, ASIDE_STEP, one->step, strlen(one->step));
    letters_put_place(l, one);
    letters_put_text(l, ASIDE_ERROR, one->words, (size_t)one->words_len);
    letters_put_raw(l, raw, len);
    sr_put_i64(&l->rows, ASIDE_ATTEMPT, (int64_t)l->attempt);
    if (l->rows.is_broken) return error_set(err, SR_ENOMEM, "dead letters: out of memory");
    sr_row_done(&l->rows);
    return sr_builder_is_full(&l->rows) ? letters_seal(l, err) : SR_OK;
}

bool letters_is_full(const struct letters *l)
{
    return l->fulls > 0 || l->rows.rows >= LETTERS_ROWS || l->bytes >= SR_BATCH_BYTES;
}

void culprit_done(struct culprit *c)
{
    free(c->split);
    free(c->words);
    *c = (struct culprit){.source = NULL};
}

/* If memory is out the failure is only not counted. */
static void letters_accuse(struct letters *l, const struct letter *one)
{
    if (!l || !one->split) return;
    culprit_done(&l->culprit);
    l->culprit = (struct culprit){.source = one->source,
                                  .node = one->node,
                                  .split = strdup(one->split),
                                  .words = strndup(one->words, (size_t)one->words_len),
                                  .offset = one->offset};
    if (!l->culprit.split || !l->culprit.words) culprit_done(&l->culprit);
}

sr_rc letters_judge(struct letters *l, struct counters *count, const struct letter *one,
                    struct sr_error *err)
{
    switch (one->node->on_error) {
    case JOB_FAIL:
        letters_accuse(l, one);
        return letter_fail(one, err);
    case JOB_SKIP:
        counters_add(count, COUNTER_skipped, 1);
        return SR_OK;
    case JOB_DEAD_LETTER:
        counters_add(count, COUNTER_dead, 1);
        return letters_add(l, one, err);
    }
    return SR_EDATA;
}

/* --- Writing ---------------------------------------------------------------------------------- */

enum sink_did letters_write(struct letters *l, int64_t now_us, struct sr_wait *wait,
                            struct sr_error *err)
{
    if (letters_seal(l, err) != SR_OK) return SINK_FAILED;
    for (;;) {
        if (l->sink.view) {
            enum sink_did did = sink_write(&l->sink, NULL, now_us, wait, err);
            if (did != SINK_DONE) return did;
        }
        if (l->fulls == 0) return SINK_DONE;
        sink_put(&l->sink, l->full[0]);
        l->fulls--;
        for (uint32_t i = 0; i < l->fulls; i++) {
            l->full[i] = l->full[i + 1];
        }
    }
}
