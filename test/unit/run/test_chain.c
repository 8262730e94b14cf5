#include <stdio.h>
#include <string.h>

#include "test/unit/unit.h"

#include "test/unit/run/world.h"

#include "engine/run/chain.h"

/* An operator that is what its conf says. */
struct script {
    uint32_t step;     /* rows a call */
    uint32_t drop_nth; /* every n-th row is filtered; 0: none */
    uint32_t bad_nth;  /* every n-th row cannot be computed; 0: none */
    uint32_t fires;    /* views of one row that a watermark lets go of */
    char log[400];     /* "v3 w10 " */
};

struct scripted {
    struct script *s;
    struct sr_home *home;
    uint32_t fired;
    uint64_t seen;
};

static sr_rc scripted_open(void *op, const struct sr_op_open *o, struct sr_error *err)
{
    (void)err;
    struct scripted *p = op;
    union {
        const void *in;
        struct script *out;
    } u = {.in = o->conf};
    *p = (struct scripted){.s = u.out, .home = o->home};
    return SR_OK;
}

static void say(struct script *s, const char *what, long long n)
{
    size_t at = strlen(s->log);
    snprintf(s->log + at, sizeof(s->log) - at, "%s%lld ", what, n);
}

static enum sr_step scripted_process(void *op, struct sr_op_io *io, struct sr_error *err)
{
    (void)err;
    struct scripted *p = op;
    uint32_t left = io->in->picked - io->from;
    uint32_t count = p->s->step && p->s->step < left ? p->s->step : left;
    struct sr_view *v = view_slice(p->home, io->in, io->from, count);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint16_t r = (uint16_t)sr_row(io->in, io->from + i);
        p->seen++;
        if (p->s->bad_nth && p->seen % p->s->bad_nth == 0) {
            io->bad[io->bads].row = r;
            snprintf(io->bad[io->bads++].words, 126, "row %u is bad", r);
        } else if (p->s->drop_nth && p->seen % p->s->drop_nth == 0) {
            io->filtered++;
        } else {
            v->sel_space[kept++] = r;
        }
    }
    v->sel = v->sel_space;
    v->picked = kept;
    io->used = count;
    if (kept == 0) {
        view_release(v);
    } else {
        io->out = v;
    }
    say(p->s, "v", count);
    return count == left ? SR_STEP_DONE : SR_STEP_AGAIN;
}

static struct sr_view *one_row(struct sr_home *home)
{
    struct sr_view *v = view_new(home, 0);
    v->rows = v->picked = 1;
    v->watermark_end = SR_WATERMARK_NONE;
    return v;
}

static enum sr_step scripted_watermark(void *op, int64_t ms, struct sr_op_io *io,
                                       struct sr_error *err)
{
    (void)err;
    struct scripted *p = op;
    if (p->fired < p->s->fires) {
        p->fired++;
        io->out = one_row(p->home);
        if (p->fired < p->s->fires) return SR_STEP_AGAIN;
    }
    p->fired = 0;
    say(p->s, "w", ms);
    return SR_STEP_DONE;
}

static void scripted_close(void *op) { (void)op; }

static const struct sr_op_type plain = {.size = sizeof(plain),
                                        .name = "plain",
                                        .instance_size = sizeof(struct scripted),
                                        .open = scripted_open,
                                        .process = scripted_process,
                                        .close = scripted_close};
static const struct sr_op_type timed = {.size = sizeof(timed),
                                        .name = "timed",
                                        .instance_size = sizeof(struct scripted),
                                        .open = scripted_open,
                                        .process = scripted_process,
                                        .watermark = scripted_watermark,
                                        .close = scripted_close};

struct fixture {
    struct world w;
    struct plan plan;
    struct plan_node node[2];
    struct plan_vertex vertex;
    struct script script[2];
    struct chain chain;
    struct sr_home *home;
    struct sr_error err;
};

static void begin(struct fixture *f, const struct sr_op_type *a, const struct sr_op_type *b)
{
    static const uint32_t numbers[] = {0, 1};
    world_init(&f->w, 1);
    (void)world_plan(&f->w);
    f->plan = (struct plan){.job = &f->w.job, .nodes = 2, .node = f->node, .max_parallelism = 128};
    f->vertex = (struct plan_vertex){.name = "v", .nodes = 2, .node = numbers, .parallelism = 1};
    for (uint32_t i = 0; i < 2; i++) {
        f->node[i] = (struct plan_node){.kind = PLAN_OP,
                                        .uid = i == 0 ? "a" : "b",
                                        .name = i == 0 ? "a" : "b",
                                        .step = i == 0 ? "a" : "b",
                                        .out = &world_schema,
                                        .on_error = JOB_SKIP,
                                        .op = i == 0 ? a : b,
                                        .op_conf = &f->script[i]};
    }
    f->home = home_new();
    struct chain_conf conf = {
        .plan = &f->plan, .vertex = &f->vertex, .env = &f->w.env, .home = f->home};
    ck_assert_int_eq(chain_open(&f->chain, &conf, &f->err), SR_OK);
}

static void end(struct fixture *f)
{
    chain_close(&f->chain);
    home_close(f->home);
    world_done(&f->w);
}

static void put(struct fixture *f, uint32_t rows, int64_t ms_end)
{
    struct sr_view *v = one_row(f->home);
    v->rows = v->picked = rows;
    v->watermark_end = ms_end;
    chain_put(&f->chain, 0, &(struct msg){.kind = MSG_VIEW, .view = v}, 0);
}

/* What comes out, as "v<rows>[@watermark_end]" and "w<ms>". */
static const char *drain(struct fixture *f)
{
    static char out[400];
    out[0] = '\0';
    for (;;) {
        struct msg m;
        size_t at = strlen(out);
        if (chain_run(&f->chain, 0, &m, &f->err) != SR_OK) return f->err.words;
        if (m.kind == MSG_NONE) break;
        if (m.kind == MSG_WATERMARK) {
            snprintf(out + at, sizeof(out) - at, "w%lld ", (long long)m.watermark);
            continue;
        }
        if (m.view->watermark_end == SR_WATERMARK_NONE) {
            snprintf(out + at, sizeof(out) - at, "v%u ", m.view->picked);
        } else {
            snprintf(out + at, sizeof(out) - at, "v%u@%lld ", m.view->picked,
                     (long long)m.view->watermark_end);
        }
        view_release(m.view);
    }
    ck_assert(chain_is_empty(&f->chain));
    return out;
}

/* Each piece goes through the whole chain before the next one is made, and the watermark stays
 * behind the last one. */
START_TEST(test_pieces_in_order)
{
    struct fixture f = {.script = {{.step = 2}, {.step = 1}}};
    begin(&f, &plain, &plain);
    put(&f, 5, 70);
    ck_assert_str_eq(drain(&f), "v1 v1 v1 v1 v1@70 ");
    ck_assert_str_eq(f.script[1].log, "v1 v1 v1 v1 v1 ");
    end(&f);
}
END_TEST

/* A watermark passes even when the rows that moved it were all filtered away. */
START_TEST(test_watermark_outlives_its_rows)
{
    struct fixture f = {.script = {{.drop_nth = 1}}};
    begin(&f, &plain, &plain);
    put(&f, 3, 40);
    ck_assert_str_eq(drain(&f), "w40 ");
    put(&f, 3, 40); /* it does not move again */
    ck_assert_str_eq(drain(&f), "");
    struct counts n;
    counters_get(&f.chain.level[0].count, &n);
    ck_assert_int_eq(n.value[COUNTER_in], 6);
    ck_assert_int_eq(n.value[COUNTER_filtered], 6);
    ck_assert_int_eq(n.value[COUNTER_out], 0);
    end(&f);
}
END_TEST

/* An operator that waits for time is told behind the view, and what it lets go of comes before the
 * watermark on the way down. */
START_TEST(test_told_behind_the_view)
{
    struct fixture f = {.script = {{.fires = 2}, {.fires = 0}}};
    begin(&f, &timed, &timed);
    put(&f, 3, 10);
    ck_assert_str_eq(drain(&f), "v3 v1 v1 w10 ");
    ck_assert_str_eq(f.script[0].log, "v3 w10 ");
    ck_assert_str_eq(f.script[1].log, "v3 v1 v1 w10 ");
    chain_put(&f.chain, 0, &(struct msg){.kind = MSG_WATERMARK, .watermark = SR_WATERMARK_END}, 0);
    ck_assert_str_eq(drain(&f), "v1 v1 w9223372036854775807 ");
    end(&f);
}
END_TEST

/* Rows that cannot be computed are counted and left out, or fail the job with the step, the
 * number of the row and the reason. */
START_TEST(test_bad_rows)
{
    struct fixture f = {.script = {{.bad_nth = 4}, {.step = 0}}};
    begin(&f, &plain, &plain);
    put(&f, 6, SR_WATERMARK_NONE);
    ck_assert_str_eq(drain(&f), "v5 ");
    struct counts n;
    counters_get(&f.chain.level[0].count, &n);
    ck_assert_int_eq(n.value[COUNTER_skipped], 1);
    f.node[0].on_error = JOB_FAIL;
    put(&f, 6, SR_WATERMARK_NONE); /* rows 7 to 12 of the input; the 8th is bad */
    ck_assert_str_eq(drain(&f), "step 'a', row 8 of its input: row 1 is bad");
    ck_assert_int_eq(f.err.rc, SR_EDATA);
    end(&f);
}
END_TEST

/* A chain that is closed in the middle of its work gives everything back. */
START_TEST(test_closed_in_the_middle)
{
    struct fixture f = {.script = {{.step = 1}, {.step = 1}}};
    struct msg m;
    begin(&f, &plain, &plain);
    put(&f, 9, 5);
    ck_assert_int_eq(chain_run(&f.chain, 0, &m, &f.err), SR_OK);
    view_release(m.view);
    ck_assert(!chain_is_empty(&f.chain));
    end(&f); /* LeakSanitizer looks */
}
END_TEST

UNIT_MAIN("run: chain", test_pieces_in_order, test_watermark_outlives_its_rows,
          test_told_behind_the_view, test_bad_rows, test_closed_in_the_middle)
