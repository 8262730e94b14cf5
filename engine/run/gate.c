#include "engine/run/gate.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"

sr_rc gate_init(struct gate *g, uint32_t inputs, struct sr_error *err)
{
    sr_assert(inputs > 0);
    *g = (struct gate){.inputs = inputs};
    g->watermark = g->watermark_end = SR_WATERMARK_NONE;
    g->input = calloc(inputs, sizeof(*g->input));
    if (!g->input) return error_set(err, SR_ENOMEM, "out of memory for %u inputs", inputs);
    for (uint32_t i = 0; i < inputs; i++) {
        g->input[i].watermark = SR_WATERMARK_NONE;
        g->input[i].watermark_end = SR_WATERMARK_NONE;
    }
    return SR_OK;
}

void gate_done(struct gate *g)
{
    free(g->input);
    *g = (struct gate){.inputs = 0};
}

/* --- Watermarks ------------------------------------------------------------------------------- */

static bool gate_counts(const struct gate_input *in) { return !in->is_ended && !in->is_idle; }

/* The minimum over inputs that count but `without`; SR_WATERMARK_END when there is none. */
static int64_t gate_lowest(const struct gate *g, const struct gate_input *without)
{
    int64_t lowest = SR_WATERMARK_END;
    for (uint32_t i = 0; i < g->inputs; i++) {
        const struct gate_input *in = &g->input[i];
        if (in != without && gate_counts(in) && in->watermark < lowest) lowest = in->watermark;
    }
    return lowest;
}

static bool gate_has_live(const struct gate *g)
{
    for (uint32_t i = 0; i < g->inputs; i++) {
        if (gate_counts(&g->input[i])) return true;
    }
    return false;
}

static void gate_raise(struct gate_input *in, int64_t ms)
{
    if (ms <= in->watermark) return;
    in->watermark = ms;
    if (ms != SR_WATERMARK_END) in->watermark_end = ms;
}

static bool gate_all_ended(const struct gate *g)
{
    for (uint32_t i = 0; i < g->inputs; i++) {
        if (!g->input[i].is_ended) return false;
    }
    return true;
}

/* The maximum over idle inputs. */
static int64_t gate_highest(const struct gate *g)
{
    int64_t highest = SR_WATERMARK_NONE;
    for (uint32_t i = 0; i < g->inputs; i++) {
        const struct gate_input *in = &g->input[i];
        if (!in->is_ended && in->watermark > highest) highest = in->watermark;
    }
    return highest;
}

/* Moves the merged watermark up to the minimum; true when it moved. With every input idle it is as
 * far as the one that got furthest, as in Flink: so the order in which they fell idle does not
 * matter. */
static bool gate_advance(struct gate *g)
{
    bool is_idle = !gate_has_live(g) && !gate_all_ended(g);
    if (!is_idle && !gate_has_live(g)) return false;
    int64_t lowest = is_idle ? gate_highest(g) : gate_lowest(g, NULL);
#ifdef MUTANT_WATERMARK_HIGHEST /* rows of a slower input come late */
    lowest = gate_highest(g);
#endif
    if (lowest <= g->watermark) return false;
    g->watermark = lowest;
    if (lowest != SR_WATERMARK_END) g->watermark_end = lowest;
    return true;
}

/* By row: the merged watermark in force when the row arrives, from the input's own. The array
 * may be shared with other receivers, so a new one is made. */
static sr_rc gate_merge_rows(struct gate *g, struct sr_view *v, int64_t others,
                             struct sr_error *err)
{
    const int64_t *own = (const int64_t *)(const void *)v->watermark->data;
    struct sr_buffer *merged = buffer_new(g->home, v->rows * (uint32_t)sizeof(int64_t));
    if (!merged) return error_set(err, SR_ENOMEM, "out of memory for watermarks of a batch");
    int64_t *out = (int64_t *)(void *)merged->data;
    int64_t floor = g->watermark;
    for (uint32_t r = 0; r < v->rows; r++) {
        int64_t ms = own[r] < others ? own[r] : others;
        out[r] = ms > floor ? ms : floor;
    }
    buffer_release(v->watermark);
    v->watermark = merged;
    return SR_OK;
}

static sr_rc gate_merge_view(struct gate *g, struct gate_input *in, struct sr_view *v,
                             struct sr_error *err)
{
    int64_t others = gate_lowest(g, in);
    if (v->watermark) {
        if (others <= g->watermark) {
            /* Another input holds the merged watermark where it is: no row of this view moves
             * it. */
            buffer_release(v->watermark);
            v->watermark = NULL;
        } else if (g->inputs > 1) {
            sr_rc rc = gate_merge_rows(g, v, others, err);
            if (rc != SR_OK) return rc;
        }
    }
    if (v->watermark_end != SR_WATERMARK_NONE) {
        gate_raise(in, v->watermark_end);
        v->watermark_end = gate_advance(g) ? g->watermark : SR_WATERMARK_NONE;
    }
    return SR_OK;
}

int64_t gate_restored(struct gate *g)
{
    (void)gate_advance(g);
    return g->watermark;
}

/* --- Barriers --------------------------------------------------------------------------------- */

static bool gate_holds(const struct gate *g, const struct gate_input *in)
{
#ifdef MUTANT_GATE_READS_ON /* breaks alignment: rows behind the barrier get into the checkpoint */
    (void)g;
    (void)in;
    return false;
#else
    return g->aligning != 0 && in->barrier == g->aligning && !g->is_at_least_once;
#endif
}

static bool gate_is_aligned(const struct gate *g)
{
    if (g->aligning == 0) return false;
#ifdef MUTANT_GATE_WAITS_FOR_ONE /* rows before the other barriers are in no checkpoint */
    return true;
#endif
    for (uint32_t i = 0; i < g->inputs; i++) {
        const struct gate_input *in = &g->input[i];
        if (!in->is_ended && in->barrier < g->aligning) return false;
    }
    return true;
}

/* Files one that waits for its turn. Too many: the oldest of them were dropped up the stream. */
static void gate_add_later(struct gate *g, const struct msg *m)
{
    uint32_t at = g->laters;
    while (at > 0 && g->later[at - 1].checkpoint > m->checkpoint) {
        at--;
    }
    if (at > 0 && g->later[at - 1].checkpoint == m->checkpoint) return;
    if (g->laters == GATE_LATER_MAX) {
        if (at == 0) return;
        memmove(g->later, g->later + 1, (--at) * sizeof(*g->later));
    } else {
        memmove(g->later + at + 1, g->later + at, (g->laters - at) * sizeof(*g->later));
        g->laters++;
    }
    g->later[at] = (struct gate_barrier){m->checkpoint, m->flags};
}

static void gate_show(struct gate *g, struct gate_input *in, const struct msg *m)
{
#ifndef MUTANT_GATE_TAKES_DROPPED /* waits for a checkpoint that others gave up */
    if (m->checkpoint <= g->passed || m->checkpoint <= in->barrier) return;
#endif
    in->barrier = m->checkpoint;
    if (m->checkpoint <= g->aligning) return;
    if (g->aligning != 0 && g->is_at_least_once) {
        gate_add_later(g, m);
    } else {
        g->aligning = m->checkpoint;
        g->flags = m->flags;
    }
}

/* What comes behind the one that was passed on or dropped. */
static void gate_align_next(struct gate *g)
{
    uint32_t past = 0;
    while (past < g->laters && g->later[past].checkpoint <= g->passed) {
        past++;
    }
    g->aligning = 0;
    if (past < g->laters) {
        g->aligning = g->later[past].checkpoint;
        g->flags = g->later[past++].flags;
    }
    g->laters -= past;
    memmove(g->later, g->later + past, g->laters * sizeof(*g->later));
}

static struct msg gate_pass(struct gate *g)
{
    struct msg m = {.kind = MSG_BARRIER, .flags = g->flags, .checkpoint = g->aligning};
    sr_assert(g->aligning > g->passed);
    g->passed = g->aligning;
    gate_align_next(g);
    return m;
}

void gate_drop(struct gate *g, uint64_t n)
{
#ifdef MUTANT_DROP_UNHEARD /* holds inputs for a checkpoint that never comes */
    return;
#endif
    if (n > g->passed) g->passed = n;
    if (g->aligning <= n) gate_align_next(g);
}

/* --- Reading ---------------------------------------------------------------------------------- */

/* What has to be told after an input ended or changed between idle and active, or moved its
 * watermark: MSG_NONE, a watermark, idle or active. */
static struct msg gate_news(struct gate *g)
{
    bool is_idle = !gate_has_live(g) && !gate_all_ended(g);
    bool must_wake = g->is_idle && !is_idle;
    if (!must_wake && gate_advance(g)) {
        return (struct msg){.kind = MSG_WATERMARK, .watermark = g->watermark};
    }
    if (is_idle != g->is_idle) {
        g->is_idle = is_idle;
        return (struct msg){.kind = is_idle ? MSG_IDLE : MSG_ACTIVE};
    }
    return (struct msg){.kind = MSG_NONE};
}

/* Takes what one input said. m is then what the task should know of it, or MSG_NONE. */
static sr_rc gate_hear(struct gate *g, struct gate_input *in, struct msg *m, struct sr_error *err)
{
    switch (m->kind) {
    case MSG_VIEW: {
        sr_rc rc = gate_merge_view(g, in, m->view, err);
        if (rc != SR_OK) view_release(m->view);
        return rc;
    }
    case MSG_WATERMARK:
        gate_raise(in, m->watermark);
        break;
    case MSG_IDLE:
        in->is_idle = true;
        break;
    case MSG_ACTIVE:
        in->is_idle = false;
        break;
    case MSG_BARRIER:
        gate_show(g, in, m);
        break;
    case MSG_END:
        in->is_ended = true;
        break;
    case MSG_NONE:
        sr_assert(m->kind != MSG_NONE);
        break;
    }
    *m = (struct msg){.kind = MSG_NONE};
    return SR_OK;
}

/* Something that is due without reading on: a barrier, news, the end. */
static bool gate_due(struct gate *g, struct msg *m)
{
    if (gate_is_aligned(g)) {
        *m = gate_pass(g);
        return true;
    }
    *m = gate_news(g);
    if (m->kind != MSG_NONE) return true;
    if (!g->is_ended && gate_all_ended(g)) {
        g->is_ended = true;
        *m = (struct msg){.kind = MSG_END};
        return true;
    }
    return false;
}

/* Reads one message of one input. *was_read: one was there. */
static sr_rc gate_read(struct gate *g, struct msg *m, uint32_t *port, bool *was_read,
                       struct sr_error *err)
{
    *was_read = false;
    for (uint32_t n = 0; n < g->inputs; n++) {
        uint32_t i = (g->turn + n) % g->inputs;
        struct gate_input *in = &g->input[i];
        if (in->is_ended || gate_holds(g, in) || !ring_take(in->ring, m)) continue;
        g->turn = (i + 1) % g->inputs;
        *port = in->port;
        *was_read = true;
        return gate_hear(g, in, m, err);
    }
    return SR_OK;
}

sr_rc gate_next(struct gate *g, struct msg *m, uint32_t *port, struct sr_error *err)
{
    sr_rc rc = SR_OK;
    bool was_read = true;
    while (was_read) {
        if (gate_due(g, m)) return SR_OK;
        rc = gate_read(g, m, port, &was_read, err);
        if (rc != SR_OK) return rc;
        if (was_read && m->kind == MSG_VIEW) return SR_OK;
    }
    *m = (struct msg){.kind = MSG_NONE};
    return SR_OK;
}
