#include "engine/data/origin.h"

#include "engine/base/assert.h"

#define ORIGIN_CHUNK 192u /* bytes counted before a lane of the sum could overflow */

uint64_t origin_lines(const uint8_t *bytes, size_t len)
{
    uint64_t lines = 0;
    for (size_t from = 0; from < len; from += ORIGIN_CHUNK) {
        size_t count = len - from < ORIGIN_CHUNK ? len - from : ORIGIN_CHUNK;
        uint8_t some = 0;
        for (size_t i = 0; i < count; i++) {
            some = (uint8_t)(some + (bytes[from + i] == '\n'));
        }
        lines += some;
    }
    return lines;
}

int64_t origin_offset(const struct sr_origin *o, uint32_t row)
{
    sr_assert(row < SR_BATCH_ROWS);
    switch (o->kind) {
    case ORIGIN_ROWS:
        return o->base + row;
    case ORIGIN_BYTES:
        return o->base + o->at[row];
    case ORIGIN_RECORDS:
        return o->base + o->number[row];
    }
    return o->base;
}

const uint8_t *origin_raw(const struct sr_origin *o, uint32_t row, uint32_t *len)
{
    sr_assert(row < SR_BATCH_ROWS);
    if (!o->raw) {
        *len = 0;
        return NULL;
    }
    sr_assert(o->end[row] >= o->at[row]);
    const uint8_t *raw = o->raw->data + o->raw_at + o->at[row];
    *len = o->end[row] - o->at[row];
    if (o->kind != ORIGIN_BYTES) {
        return raw; /* a message is what it is */
    }
    while (*len > 0 && (raw[*len - 1] == '\n' || raw[*len - 1] == '\r')) {
        (*len)--;
    }
    return raw;
}

int64_t origin_line(const struct sr_origin *o, uint32_t row)
{
    if (o->line == 0 || o->kind != ORIGIN_BYTES || !o->raw) {
        return 0;
    }
    return o->line + (int64_t)origin_lines(o->raw->data + o->raw_at, o->at[row]);
}
