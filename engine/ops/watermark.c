#include <string.h>

#include "engine/base/error.h"
#include "engine/expr/program.h"
#include "engine/expr/steps.h"
#include "engine/ops/emit.h"
#include "engine/ops/moment.h"
#include "engine/ops/ops.h"

/* Stamps every row with the watermark that it suggests; the source task makes one of them. */
struct watermark {
    struct program *program;
    struct sr_home *home;
};

static sr_rc watermark_open(void *op, const struct sr_op_open *o, struct sr_error *err)
{
    struct watermark *w = op;
    const struct watermark_step *step = o->conf;
    struct program_conf conf = {
        .in = o->in[0], .out = &step->at, .outs = 1, .time_zone = step->time_zone, .host = o->host};
    w->home = o->home;
    if (!moment_is_time(&step->at->type)) {
        return error_set(err, SR_ECONFIG,
                         "a watermark is a TIMESTAMP or TIMESTAMP_LTZ of at most 3 digits");
    }
    return program_new(&w->program, &conf, err);
}

static void watermark_stamp(const struct sr_column *at, const struct sr_view *out, int64_t *stamp)
{
    const int64_t *us = at->values;
    for (uint32_t r = 0; r < out->rows; r++) {
        stamp[r] = SR_WATERMARK_NONE;
    }
    SR_EACH_ROW(out, r) {
        if (sr_is_valid(at, r)) {
            stamp[r] = moment_ms(us[r]);
        }
    }
}

static enum sr_step watermark_process(void *op, struct sr_op_io *io, struct sr_error *err)
{
    struct watermark *w = op;
    struct sr_column *at = NULL;
    struct program_result r = {.col = &at, .bad = io->bad};
    if (program_run(w->program, w->home, io->in, io->from, &r, err) != SR_OK) {
        return SR_STEP_FAILED;
    }
    struct sr_view *out = view_share(w->home, io->in);
    struct sr_buffer *stamp =
        buffer_new(w->home, io->in->rows ? io->in->rows * (uint32_t)sizeof(int64_t) : 1);
    if (!out || !stamp) {
        column_release(at);
        view_release(out);
        buffer_release(stamp);
        (void)error_set(err, SR_ENOMEM, "out of memory");
        return SR_STEP_FAILED;
    }
    if (r.sel) {
        memcpy(out->sel_space, r.sel, r.picked * sizeof(*r.sel));
    }
    out->sel = r.sel ? out->sel_space : NULL;
    out->picked = r.picked;
    buffer_release(out->watermark);
    out->watermark = stamp;
    watermark_stamp(at, out, (int64_t *)(void *)stamp->data);
    column_release(at);
    io->used = r.used;
    io->bads = r.bads;
    return emit_end(io, out);
}

static void watermark_close(void *op)
{
    struct watermark *w = op;
    program_free(w->program);
}

const struct sr_op_type watermark_type = {
    .size = sizeof(struct sr_op_type),
    .name = "watermark",
    .doc = "Stamps each row with the watermark that its time attribute suggests.",
    .instance_size = sizeof(struct watermark),
    .open = watermark_open,
    .process = watermark_process,
    .close = watermark_close,
};
