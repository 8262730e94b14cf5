#include "engine/ops/emit.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/assert.h"

void emit_pick(struct sr_view *out, const struct sr_view *in, const uint16_t *sel, uint32_t picked)
{
    sr_assert(picked <= in->rows);
    out->rows = in->rows;
    out->picked = picked;
    out->split = in->split;
    if (sel && picked < in->rows) {
        memcpy(out->sel_space, sel, picked * sizeof(*sel));
        out->sel = out->sel_space;
    }
    out->change = in->change ? buffer_hold(in->change) : NULL;
    out->watermark = in->watermark ? buffer_hold(in->watermark) : NULL;
}

enum sr_step emit_end(struct sr_op_io *io, struct sr_view *out)
{
    if (out->picked == 0) {
        view_release(out);
        out = NULL;
    }
    io->out = out;
    return io->from + io->used == io->in->picked ? SR_STEP_DONE : SR_STEP_AGAIN;
}

#define EMIT_LOOP(type)                        \
    do {                                       \
        const type *from_ = from->values;      \
        type *to_ = to->values;                \
        for (uint32_t i = 0; i < count; i++) { \
            to_[at[i]] = from_[row[i]];        \
        }                                      \
    } while (0)

struct sr_column *emit_gather(struct sr_home *home, const struct sr_column *from,
                              const uint16_t *row, const uint16_t *at, uint32_t count,
                              uint32_t rows)
{
    struct sr_column *to = column_new(home, &from->type, SR_BATCH_ROWS);
    if (!to) {
        return NULL;
    }
    sr_assert(!sr_is_nested(from->type.kind));
    to->rows = rows;
    to->bytes = from->bytes ? buffer_hold(from->bytes) : NULL;
    to->bytes_used = from->bytes_used;
    switch (sr_value_size(&from->type)) {
    case 1:
        EMIT_LOOP(uint8_t);
        break;
    case 2:
        EMIT_LOOP(uint16_t);
        break;
    case 4:
        EMIT_LOOP(uint32_t);
        break;
    case 8:
        EMIT_LOOP(uint64_t);
        break;
    case 16:
        EMIT_LOOP(struct sr_wide);
        break;
    default:
        sr_assert(false);
    }
    for (uint32_t i = 0; from->valid && i < count; i++) {
        if (!sr_is_valid(from, row[i])) {
            column_set_null(to, at[i]);
        }
    }
    return to;
}

bool emit_same(const struct sr_column *c, uint32_t a, uint32_t b)
{
    if (!sr_is_valid(c, a) || !sr_is_valid(c, b)) {
        return !sr_is_valid(c, a) && !sr_is_valid(c, b);
    }
    if (sr_has_bytes(c->type.kind)) {
        uint32_t la, lb;
        const char *x = c->bytes ? sr_text(c, a, &la) : (la = 0, "");
        const char *y = c->bytes ? sr_text(c, b, &lb) : (lb = 0, "");
        return la == lb && memcmp(x, y, la) == 0;
    }
    size_t size = sr_value_size(&c->type);
    const uint8_t *values = c->values;
    return memcmp(values + a * size, values + b * size, size) == 0;
}

bool emit_bad(struct sr_op_io *io, uint32_t r, const char *words)
{
    if (io->bads == SR_BAD_ROWS_MAX) {
        return false;
    }
    struct sr_bad_row *bad = &io->bad[io->bads++];
    bad->row = (uint16_t)r;
    (void)snprintf(bad->words, sizeof(bad->words), "%s", words);
    return true;
}
