#include "engine/run/chain.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/data/origin.h"

/* --- Opening ---------------------------------------------------------------------------------- */

static sr_rc chain_open_level(struct chain_level *l, const struct plan *p, uint32_t part,
                              uint32_t parts, struct sr_error *err)
{
    const struct plan_node *n = l->node;
    l->op = calloc(1, n->op->instance_size ? n->op->instance_size : 1);
    l->in = calloc(n->inputs ? n->inputs : 1, sizeof(const struct sr_schema *));
    if (!l->op || !l->in) return error_set(err, SR_ENOMEM, "%s: out of memory", n->name);
    for (uint32_t i = 0; i < n->inputs; i++) {
        l->in[i] = p->node[n->input[i]].out;
    }
    if (n->op->is_keyed) {
        struct state_conf conf = {
            .max_parallelism = p->max_parallelism, .part = part, .parts = parts, .uid = n->uid};
        sr_rc rc = state_new(&l->state, &conf, err);
        if (rc != SR_OK) return rc;
    }
    struct sr_op_open o = {.size = sizeof(o),
                           .host = &l->host,
                           .conf = n->op_conf,
                           .home = l->ctx.home,
                           .state = l->state,
                           .in = l->in,
                           .ports = n->inputs,
                           .out = n->out,
                           .part = part,
                           .parts = parts};
    l->was_opened = true;
    sr_rc rc = n->op->open(l->op, &o, err);
    return rc == SR_OK ? SR_OK : error_wrap(err, "%s", n->name);
}

sr_rc chain_open(struct chain *c, const struct chain_conf *conf, struct sr_error *err)
{
    const struct plan_vertex *v = conf->vertex;
    *c = (struct chain){.home = conf->home,
                        .plan = conf->plan,
                        .letters = conf->letters,
                        .stamp_level = UINT32_MAX};
    c->out_watermark = SR_WATERMARK_NONE;
    c->level = calloc(v->nodes, sizeof(*c->level));
    c->bad = calloc(SR_BAD_ROWS_MAX, sizeof(*c->bad));
    c->late_row = calloc(SR_BATCH_ROWS, sizeof(*c->late_row));
    if (!c->level || !c->bad || !c->late_row)
        return error_set(err, SR_ENOMEM, "%s: out of memory", v->name);
    for (uint32_t i = 0; i < v->nodes; i++) {
        const struct plan_node *n = &conf->plan->node[v->node[i]];
        if (n->kind != PLAN_OP) continue;
        struct chain_level *l = &c->level[c->levels++];
        l->node = n;
        l->watermark = l->told = SR_WATERMARK_NONE;
        l->wake_ms = n->op->wake ? INT64_MIN : SR_WAKE_NEVER;
        c->has_sleepers = c->has_sleepers || n->op->wake;
        counters_init(&l->count);
        host_init(&l->host, &l->ctx, conf->env, conf->home, n->step);
        l->host.time_zone = conf->plan->job->settings.time_zone;
        sr_rc rc = chain_open_level(l, conf->plan, conf->part, v->parallelism, err);
        if (rc != SR_OK) return rc;
    }
    return SR_OK;
}

void chain_close(struct chain *c)
{
    for (uint32_t i = 0; i < c->levels; i++) {
        struct chain_level *l = &c->level[i];
        view_release(l->view);
        if (l->was_opened && l->node->op->close) l->node->op->close(l->op);
        state_free(l->state);
        free(l->op);
        free(l->in);
    }
    if (c->out.kind == MSG_VIEW) view_release(c->out.view);
    free(c->level);
    free(c->bad);
    free(c->late_row);
    *c = (struct chain){.levels = 0};
}

/* --- Moving ----------------------------------------------------------------------------------- */

static void chain_pass_watermark(struct chain *c, uint32_t level, int64_t ms)
{
    if (level == c->levels) {
        c->out_watermark = ms;
        return;
    }
    struct chain_level *l = &c->level[level];
    if (ms <= l->told) return;
    l->watermark = ms;
    if (c->work <= level) c->work = level + 1;
}

/* Hands a view on to a level, or out. Nothing that has no live row travels. */
static void chain_pass_view(struct chain *c, uint32_t level, struct sr_view *v, uint32_t port)
{
    if (v->picked == 0) {
        int64_t ms = v->watermark_end;
        view_release(v);
        if (ms != SR_WATERMARK_NONE) chain_pass_watermark(c, level, ms);
        return;
    }
    if (level == c->levels) {
        sr_assert(c->out.kind == MSG_NONE);
        c->out = (struct msg){.kind = MSG_VIEW, .view = v};
        return;
    }
    struct chain_level *l = &c->level[level];
    sr_assert(!l->view && l->watermark == SR_WATERMARK_NONE);
    counters_add(&l->count, COUNTER_in, v->picked);
    l->view = v;
    l->from = 0;
    l->port = port;
    if (c->work <= level) c->work = level + 1;
}

void chain_put(struct chain *c, uint32_t level, const struct msg *m, uint32_t port)
{
    sr_assert(chain_is_empty(c));
    if (m->kind == MSG_VIEW) {
        chain_pass_view(c, level, m->view, port);
    } else {
        sr_assert(m->kind == MSG_WATERMARK);
        chain_pass_watermark(c, level, m->watermark);
    }
}

bool chain_is_empty(const struct chain *c)
{
    return c->work == 0 && c->out.kind == MSG_NONE && c->out_watermark == SR_WATERMARK_NONE;
}

/* --- Calling ---------------------------------------------------------------------------------- */

/* What became of the rows that were used up. For an operator without state every row but those
 * named comes out; one with state may emit what it likes. */
static void chain_account(struct chain_level *l, const struct sr_op_io *io)
{
    int64_t passed = (int64_t)io->used - io->filtered - io->late - io->absorbed - io->bads;
    int64_t out = io->out ? io->out->picked : 0;
    sr_assert(passed >= 0);
    sr_assert(l->node->op->is_keyed || passed == out);
    counters_add(&l->count, COUNTER_out, out);
    counters_add(&l->count, COUNTER_filtered, io->filtered);
    counters_add(&l->count, COUNTER_late, io->late);
    counters_add(&l->count, COUNTER_absorbed, io->absorbed);
}

/* The number of row `row` of the running view among all that the step took. */
static int64_t chain_row_number(const struct chain_level *l, uint32_t row)
{
    struct counts now;
    counters_get(&l->count, &now);
    uint32_t before = 0;
    while (before < l->view->picked && sr_row(l->view, before) < row) {
        before++;
    }
    return now.value[COUNTER_in] - l->view->picked + before + 1;
}

/* Rows that could not be computed: each has its fate. */
static sr_rc chain_bad_rows(struct chain *c, struct chain_level *l, const struct sr_op_io *io,
                            struct sr_error *err)
{
    sr_assert(io->bads <= SR_BAD_ROWS_MAX);
    for (uint32_t i = 0; i < io->bads; i++) {
        const struct sr_bad_row *bad = &io->bad[i];
        struct letter one =
            letter_of_row(c->plan, l->node, l->view, bad->row, bad->words, sizeof(bad->words));
        if (!one.split && l->node->on_error == JOB_FAIL) {
            one.number = chain_row_number(l, bad->row);
        }
        sr_rc rc = letters_judge(c->letters, &l->count, &one, err);
        if (rc != SR_OK) return rc;
    }
    return SR_OK;
}

/* Rows that came too late for their window, where the job wants them set aside. */
static sr_rc chain_late_rows(struct chain *c, const struct chain_level *l,
                             const struct sr_op_io *io, struct sr_error *err)
{
    static const char words[] = LETTER_LATE_WORDS;
    sr_assert(io->late <= SR_BATCH_ROWS);
    for (uint32_t i = 0; io->late_row && i < io->late; i++) {
        struct letter one =
            letter_of_row(c->plan, l->node, l->view, io->late_row[i], words, sizeof(words));
        sr_rc rc = letters_add(c->letters, &one, err);
        if (rc != SR_OK) return rc;
    }
    return SR_OK;
}

/* A stateless operator passes on the watermarks that its rows arrived under, and their origin. */
static void chain_keep(const struct chain_level *l, struct sr_view *out)
{
    const struct sr_view *in = l->view;
    if (l->node->op->is_keyed || out->rows != in->rows) return;
    if (!out->watermark && in->watermark) out->watermark = buffer_hold(in->watermark);
    if (!out->origin && in->origin) out->origin = origin_hold(in->origin);
}

/* The view is used up: the watermark that it moved comes next. `out` is its last output, or
 * NULL. */
static void chain_view_done(struct chain *c, uint32_t level, struct sr_view *out)
{
    struct chain_level *l = &c->level[level];
    int64_t ms = l->view->watermark_end;
    sr_assert(l->from == l->view->picked);
    view_release(l->view);
    l->view = NULL;
    if (ms == SR_WATERMARK_NONE || ms <= l->told) return;
    if (l->node->op->watermark) {
        l->watermark = ms; /* told next; passed on behind what that lets go of */
        return;
    }
    l->told = ms;
    counters_watermark(&l->count, ms);
    if (out) {
        out->watermark_end = ms;
    } else {
        chain_pass_watermark(c, level + 1, ms);
    }
}

static void chain_sleep(struct chain_level *l, const struct sr_op_io *io)
{
    if (io->wake_ms != 0 && io->wake_ms < l->wake_ms) l->wake_ms = io->wake_ms;
}

static sr_rc chain_process(struct chain *c, uint32_t level, int64_t now_us, struct sr_error *err)
{
    struct chain_level *l = &c->level[level];
    struct sr_op_io io = {
        .port = l->port, .in = l->view, .from = l->from, .watermark = l->told, .bad = c->bad};
    if (l->node->on_late == JOB_LATE_DEAD_LETTER) io.late_row = c->late_row;
    enum sr_step step = l->node->op->process(l->op, &io, err);
    if (step == SR_STEP_FAILED) return error_wrap(err, "step '%s'", l->node->step);
    l->from += io.used;
    sr_assert(l->from <= l->view->picked);
    sr_assert(step == SR_STEP_DONE || io.used > 0 || io.out); /* AGAIN must get on */
    chain_account(l, &io);
    chain_sleep(l, &io);
    sr_rc rc = chain_bad_rows(c, l, &io, err);
    if (rc == SR_OK) rc = chain_late_rows(c, l, &io, err);
    if (rc != SR_OK) {
        view_release(io.out);
        return rc;
    }
    struct sr_view *out = io.out;
    if (out) {
        chain_keep(l, out);
        out->watermark_end = SR_WATERMARK_NONE;
        out->split = l->view->split;
        if (level == c->stamp_level) stamp_view(c->stamp, out, now_us);
    }
    if (step == SR_STEP_DONE) chain_view_done(c, level, out);
    if (out) chain_pass_view(c, level + 1, out, 0);
    return SR_OK;
}

static sr_rc chain_tell(struct chain *c, uint32_t level, struct sr_error *err)
{
    struct chain_level *l = &c->level[level];
    int64_t ms = l->watermark;
    struct sr_op_io io = {.bad = c->bad};
    enum sr_step step = SR_STEP_DONE;
    if (l->node->op->watermark) step = l->node->op->watermark(l->op, ms, &io, err);
    if (step == SR_STEP_FAILED) return error_wrap(err, "step '%s'", l->node->step);
    sr_assert(step == SR_STEP_DONE || io.out); /* AGAIN must get on */
    sr_assert(io.used == 0 && io.bads == 0);
    if (io.out) {
        counters_add(&l->count, COUNTER_out, io.out->picked);
        io.out->watermark_end = SR_WATERMARK_NONE;
    }
    if (step == SR_STEP_DONE) {
        l->watermark = SR_WATERMARK_NONE;
        l->told = ms;
        counters_watermark(&l->count, ms);
        if (io.out) {
            io.out->watermark_end = ms;
        } else {
            chain_pass_watermark(c, level + 1, ms);
        }
    }
    if (io.out) chain_pass_view(c, level + 1, io.out, 0);
    return SR_OK;
}

static sr_rc chain_rouse(struct chain *c, uint32_t level, int64_t wall_ms, struct sr_error *err)
{
    struct chain_level *l = &c->level[level];
    struct sr_op_io io = {.bad = c->bad};
    enum sr_step step = l->node->op->wake(l->op, wall_ms, &io, err);
    if (step == SR_STEP_FAILED) return error_wrap(err, "step '%s'", l->node->step);
    sr_assert(step == SR_STEP_DONE || io.out); /* AGAIN must get on */
    sr_assert(io.used == 0 && io.bads == 0);
    if (step == SR_STEP_DONE) l->wake_ms = io.wake_ms != 0 ? io.wake_ms : SR_WAKE_NEVER;
    if (io.out) {
        counters_add(&l->count, COUNTER_out, io.out->picked);
        io.out->watermark_end = SR_WATERMARK_NONE;
        chain_pass_view(c, level + 1, io.out, 0);
    }
    return SR_OK;
}

sr_rc chain_wake(struct chain *c, int64_t wall_ms, bool *did, int64_t *next_ms,
                 struct sr_error *err)
{
    sr_assert(chain_is_empty(c));
    *did = false;
    *next_ms = SR_WAKE_NEVER;
    for (uint32_t i = c->levels; i-- > 0;) {
        const struct chain_level *l = &c->level[i];
        if (l->wake_ms <= wall_ms && l->node->op->wake) {
            *did = true;
            return chain_rouse(c, i, wall_ms, err);
        }
        if (l->wake_ms < *next_ms) *next_ms = l->wake_ms;
    }
    return SR_OK;
}

static bool chain_take(struct chain *c, struct msg *out)
{
    if (c->out.kind != MSG_NONE) {
        *out = c->out;
        c->out.kind = MSG_NONE;
        return true;
    }
    if (c->out_watermark != SR_WATERMARK_NONE) {
        *out = (struct msg){.kind = MSG_WATERMARK, .watermark = c->out_watermark};
        c->out_watermark = SR_WATERMARK_NONE;
        return true;
    }
    return false;
}

sr_rc chain_run(struct chain *c, int64_t now_us, struct msg *out, struct sr_error *err)
{
    while (!chain_take(c, out)) {
        if (c->work == 0 || (c->letters && letters_is_full(c->letters))) {
            *out = (struct msg){.kind = MSG_NONE};
            return SR_OK;
        }
        const struct chain_level *l = &c->level[c->work - 1];
        sr_rc rc = SR_OK;
        if (l->view) {
            rc = chain_process(c, c->work - 1, now_us, err);
        } else if (l->watermark != SR_WATERMARK_NONE) {
            rc = chain_tell(c, c->work - 1, err);
        } else {
            c->work--;
        }
        if (rc != SR_OK) return rc;
    }
    return SR_OK;
}
