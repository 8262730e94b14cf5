#include "test/kit/op_world.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static void op_world_start(struct op_world *w)
{
    if (w->type->is_keyed) {
        struct state_conf conf = {.max_parallelism = 128, .part = 0, .parts = 1, .uid = "op"};
        ck_assert_int_eq(state_new(&w->state, &conf, &w->err), SR_OK);
    }
    w->op = calloc(1, w->type->instance_size);
}

static sr_rc op_world_open_op(struct op_world *w)
{
    struct sr_op_open o = {.size = sizeof(o),
                           .host = &w->host,
                           .conf = w->conf,
                           .home = w->home,
                           .state = w->state,
                           .in = &w->in,
                           .ports = 1,
                           .out = w->out,
                           .part = 0,
                           .parts = 1};
    return w->type->open(w->op, &o, &w->err);
}

void op_world_init(struct op_world *w)
{
    *w = (struct op_world){.arena = arena_new(), .home = home_new()};
    w->env = env_posix(SR_WARN);
}

sr_rc op_world_open(struct op_world *w, const struct sr_op_type *type, const void *conf,
                    const struct sr_schema *in, const char *out)
{
    w->type = type;
    w->conf = conf;
    w->in = in;
    w->out = rows_schema(w->arena, out);
    /* From here on the world stays where it is; until now it may have been a value. */
    host_init(&w->host, &w->ctx, &w->env, w->home, "op");
    op_world_start(w);
    return op_world_open_op(w);
}

static void op_world_stop(struct op_world *w)
{
    if (w->type->close && w->op) {
        w->type->close(w->op);
    }
    free(w->op);
    state_free(w->state);
    w->op = NULL;
    w->state = NULL;
}

void op_world_done(struct op_world *w)
{
    op_world_stop(w);
    home_close(w->home);
    arena_free(w->arena);
}

/* Takes the output of a call; the answer grows. */
static const char *op_world_take(struct op_world *w, const char *text, struct sr_view *out)
{
    if (!out) {
        return text;
    }
    ck_assert_uint_gt(out->picked, 0);
    ck_assert_uint_le(out->rows, SR_BATCH_ROWS);
    ck_assert_uint_eq(out->cols, w->out->fields);
    for (uint32_t c = 0; c < out->cols; c++) {
        ck_assert_uint_eq(out->col[c]->rows, out->rows);
    }
    text = arena_printf(w->arena, "%s%s%s", text, *text ? "; " : "", rows_text(w->arena, out));
    view_release(out);
    return text;
}

const char *op_world_view(struct op_world *w, struct sr_view *v)
{
    const char *text = "";
    uint32_t from = 0;
    enum sr_step step = SR_STEP_AGAIN;
    struct sr_bad_row bad[SR_BAD_ROWS_MAX];
    while (step == SR_STEP_AGAIN && v->picked > 0) {
        struct sr_op_io io = {.in = v, .from = from, .bad = bad};
        step = w->type->process(w->op, &io, &w->err);
        if (step == SR_STEP_FAILED) {
            view_release(v);
            return NULL;
        }
        ck_assert(step == SR_STEP_DONE || io.used > 0 || io.out);
        uint32_t named = io.filtered + io.late + io.absorbed + io.bads;
        ck_assert_uint_ge(io.used, named);
        uint32_t passed = io.out ? io.out->picked : 0;
        ck_assert(w->type->is_keyed || io.used - named == passed);
        from += io.used;
        w->used += io.used;
        w->filtered += io.filtered;
        w->late += io.late;
        w->absorbed += io.absorbed;
        w->bads += io.bads;
        if (io.bads > 0) {
            memcpy(w->bad_words, bad[io.bads - 1].words, sizeof(w->bad_words));
        }
        text = op_world_take(w, text, io.out);
    }
    ck_assert_uint_eq(from, v->picked);
    int64_t end = v->watermark_end;
    view_release(v);
    if (end != SR_WATERMARK_NONE && w->type->watermark) {
        const char *fired = op_world_tell(w, end);
        text = arena_printf(w->arena, "%s%s%s", text, *text && *fired ? "; " : "", fired);
    }
    return text;
}

const char *op_world_rows(struct op_world *w, const char *rows)
{
    return op_world_view(w, rows_view(w->home, w->in, rows));
}

const char *op_world_tell(struct op_world *w, int64_t ms)
{
    const char *text = "";
    enum sr_step step = SR_STEP_AGAIN;
    while (step == SR_STEP_AGAIN) {
        struct sr_op_io io = {.in = NULL};
        step = w->type->watermark(w->op, ms, &io, &w->err);
        ck_assert_msg(step != SR_STEP_FAILED, "%s", w->err.words);
        ck_assert(step == SR_STEP_DONE || io.out);
        text = op_world_take(w, text, io.out);
    }
    return text;
}

void op_world_reborn(struct op_world *w)
{
    struct sr_out out = bytes_out();
    ck_assert_int_eq(state_save(w->state, &out, &w->err), SR_OK);
    op_world_stop(w);
    op_world_start(w);
    ck_assert_int_eq(op_world_open_op(w), SR_OK);
    ck_assert_msg(state_load(w->state, out.data, out.len, &w->err) == SR_OK, "%s", w->err.words);
    bytes_free(&out);
}
