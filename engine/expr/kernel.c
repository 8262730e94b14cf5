#include "engine/expr/kernel.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/data/schema.h"
#include "engine/expr/run.h"

void call_null(struct call *k, uint32_t r)
{
    column_set_null(k->out, r);
    uint32_t size = sr_value_size(&k->out->type);
    if (size > 0) {
        memset((uint8_t *)k->out->values + (size_t)r * size, 0, size);
    }
}

void call_broken(struct call *k, sr_rc rc)
{
    if (k->run->rc == SR_OK) {
        k->run->rc = rc;
    }
}

void call_fail(struct call *k, uint32_t r, const char *fmt, ...)
{
    struct run *run = k->run;
    call_null(k, r);
    if (k->is_try || run_has_failed(run, r)) {
        return; /* the first reason is the one that is told */
    }
    if (!run->words) {
        run->words = malloc(sizeof(run_words) * SR_BATCH_ROWS);
        if (!run->words) {
            call_broken(k, SR_ENOMEM);
            return;
        }
    }
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(run->words[r], sizeof(run_words), fmt, ap);
    va_end(ap);
    run->failed[r >> 6] |= UINT64_C(1) << (r & 63);
    run->failures++;
}

const struct zone *call_zone(const struct call *k) { return k->run->zone; }

int64_t call_now_us(struct call *k)
{
    struct run *run = k->run;
    sr_assert(run->host != NULL);
    if (run->now_us == INT64_MIN) {
        run->now_us = run->host->wall_us(run->host);
    }
    return run->now_us;
}

int64_t call_watermark(const struct call *k, uint32_t r)
{
    return k->run->row_watermark ? k->run->row_watermark[r] : k->run->watermark;
}

uint64_t call_random(struct call *k)
{
    sr_assert(k->run->host != NULL);
    return k->run->host->random(k->run->host);
}

uint8_t *call_space(struct call *k, uint32_t r, uint32_t len)
{
    struct sr_column *c = k->out;
    if (!c->bytes || c->bytes->capacity - c->bytes_used < len) {
        if (!column_grow_bytes(k->home, c, len > 0 ? len : 1)) {
            call_broken(k, SR_ENOMEM);
            call_span(k, r, 0, 0);
            return NULL;
        }
    }
    call_span(k, r, c->bytes_used, len);
    uint8_t *to = c->bytes->data + c->bytes_used;
    c->bytes_used += len;
    return to;
}

void call_text(struct call *k, uint32_t r, const void *bytes, uint32_t len)
{
    uint8_t *to = call_space(k, r, len);
    if (to && len > 0) {
        memcpy(to, bytes, len);
    }
}

void call_share(struct call *k, uint32_t i)
{
    if (k->arg[i]->bytes && !k->out->bytes) {
        k->out->bytes = buffer_hold(k->arg[i]->bytes);
        k->out->bytes_used = k->out->bytes->capacity; /* not ours to write behind */
    }
}

void call_alias(struct call *k, uint32_t i)
{
    struct sr_column *from = k->arg[i], *to = k->out;
    if (!k->is_constant[i] && type_equal(&from->type, &to->type, false)) {
        column_release(to);
        k->out = column_hold(from);
        return;
    }
    memcpy(to->values, from->values, (size_t)sr_value_size(&to->type) * to->rows);
    if (from->valid) {
        memcpy(to->valid_space, from->valid, (to->rows + 63) / 64 * sizeof(uint64_t));
        to->valid = to->valid_space;
    }
    call_share(k, i);
}
