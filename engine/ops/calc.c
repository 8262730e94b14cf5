#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/expr/program.h"
#include "engine/expr/steps.h"
#include "engine/ops/emit.h"
#include "engine/ops/ops.h"

/* WHERE and SELECT: the condition picks rows, the outputs are columns; no value is copied. */
struct calc {
    struct program *program;
    struct sr_home *home;
    uint32_t outs;
};

static sr_rc calc_open(void *op, const struct sr_op_open *o, struct sr_error *err)
{
    struct calc *calc = op;
    const struct calc_step *step = o->conf;
    struct program_conf conf = {.in = o->in[0],
                                .condition = step->condition,
                                .out = step->out,
                                .outs = step->outs,
                                .time_zone = step->time_zone,
                                .host = o->host};
    calc->home = o->home;
    calc->outs = step->outs;
    return program_new(&calc->program, &conf, err);
}

static enum sr_step calc_process(void *op, struct sr_op_io *io, struct sr_error *err)
{
    struct calc *calc = op;
    struct sr_view *out = view_new(calc->home, calc->outs);
    if (!out) {
        (void)error_set(err, SR_ENOMEM, "out of memory");
        return SR_STEP_FAILED;
    }
    struct program_result r = {
        .col = out->col, .bad = io->bad, .has_watermark = true, .watermark = io->watermark};
    if (program_run(calc->program, calc->home, io->in, io->from, &r, err) != SR_OK) {
        view_release(out);
        return SR_STEP_FAILED;
    }
    emit_pick(out, io->in, r.sel, r.picked);
    io->used = r.used;
    io->filtered = r.filtered;
    io->bads = r.bads;
    return emit_end(io, out);
}

static void calc_close(void *op)
{
    struct calc *calc = op;
    program_free(calc->program);
}

const struct sr_op_type calc_type = {
    .size = sizeof(struct sr_op_type),
    .name = "calc",
    .doc = "Drops rows by WHERE and computes the columns of SELECT.",
    .instance_size = sizeof(struct calc),
    .open = calc_open,
    .process = calc_process,
    .close = calc_close,
};
