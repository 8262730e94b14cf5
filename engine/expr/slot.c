#include "engine/expr/slot.h"

#include "engine/base/assert.h"
#include "engine/expr/bits.h"

void slot_base(struct slot *s, const struct sr_view *v, uint32_t from)
{
    s->n = v->picked - from;
    s->has_rows = true;
    s->has_bits = false;
    if (v->sel) {
        s->sel = v->sel + from;
    } else if (from == 0) {
        s->sel = NULL;
    } else {
        for (uint32_t i = 0; i < s->n; i++) {
            s->space[i] = (uint16_t)(from + i);
        }
        s->sel = s->space;
    }
}

const struct slot *slot_open(struct slot *s, uint32_t rows)
{
    if (s->has_rows) {
        return s;
    }
    s->sel = NULL;
    if (s->n < rows) {
        uint32_t n = bits_rows(s->bits, rows, s->space);
        sr_assert(n == s->n);
        s->sel = s->space;
    }
    s->has_rows = true;
    return s;
}

static const uint64_t *slot_bits(struct slot *s, uint32_t rows)
{
    if (s->has_bits) {
        return s->bits;
    }
    memset(s->bits, s->sel ? 0 : 0xFF, BITS_OF(rows) * sizeof(*s->bits));
    for (uint32_t i = 0; s->sel && i < s->n; i++) {
        s->bits[s->sel[i] >> 6] |= UINT64_C(1) << (s->sel[i] & 63);
    }
    if (!s->sel && rows % 64 > 0) {
        s->bits[rows / 64] = (UINT64_C(1) << (rows % 64)) - 1;
    }
    s->has_bits = true;
    return s->bits;
}

static void slot_count(struct slot *s, uint32_t rows)
{
    s->n = bits_count(s->bits, rows);
    s->has_bits = true;
    s->has_rows = false;
}

void slot_meet(struct slot *from, const uint64_t *bits, struct slot *to, uint32_t rows)
{
    const uint64_t *all = slot_bits(from, rows);
    for (uint32_t w = 0; w < BITS_OF(rows); w++) {
        to->bits[w] = all[w] & bits[w];
    }
    slot_count(to, rows);
}

void slot_take(struct slot *to, uint32_t n, const uint64_t *valid, uint32_t rows)
{
    to->n = n;
    if (valid) {
        to->n = 0;
        for (uint32_t i = 0; i < n; i++) {
            uint16_t r = to->space[i];
            to->space[to->n] = r;
            to->n += valid_bit(valid, r) ? 1 : 0;
        }
    }
    to->sel = to->n == rows ? NULL : to->space;
    to->has_rows = true;
    to->has_bits = false;
}

/* A word of 64 rows, of which bit i says whether the value is as `by` says. */
static inline uint64_t slot_word(uint64_t value, uint64_t valid, enum pick_by by)
{
    switch (by) {
    case PICK_TRUE:
        return value & valid;
    case PICK_NOT_FALSE:
        return value | ~valid;
    case PICK_NOT_TRUE:
        return ~value | ~valid;
    case PICK_VALID:
        return valid;
    }
    return 0;
}

static void slot_pick_all(struct slot *from, const struct sr_column *c, enum pick_by by,
                          struct slot *to, struct slot *rest, uint32_t rows)
{
    uint64_t value[SR_BATCH_WORDS] = {0};
    const uint64_t *all = slot_bits(from, rows);
    if (by != PICK_VALID) {
        bits_pack(c->values, rows, value);
    }
    for (uint32_t w = 0; w < BITS_OF(rows); w++) {
        value[w] = slot_word(value[w], c->valid ? c->valid[w] : UINT64_MAX, by);
    }
    for (uint32_t w = 0; rest && w < BITS_OF(rows); w++) {
        rest->bits[w] = all[w] & ~value[w];
    }
    if (rest) {
        slot_count(rest, rows);
    }
    slot_meet(from, value, to, rows);
}

void slot_pick(struct slot *from, const struct sr_column *c, enum pick_by by, struct slot *to,
               struct slot *rest, uint32_t rows)
{
    if (slot_is_dense(from, rows)) {
        slot_pick_all(from, c, by, to, rest, rows);
        return;
    }
    const uint8_t *value = c->values;
    uint32_t n = 0, m = 0;
    (void)slot_open(from, rows);
    for (uint32_t i = 0; i < from->n; i++) {
        uint32_t r = slot_row(from, i);
        uint64_t word = slot_word(by == PICK_VALID ? 0 : value[r], valid_bit(c->valid, r), by) & 1;
        to->space[n] = (uint16_t)r;
        n += (uint32_t)word;
        if (rest) {
            rest->space[m] = (uint16_t)r;
            m += (uint32_t)(word ^ 1);
        }
    }
    slot_take(to, n, NULL, rows);
    if (rest) {
        slot_take(rest, m, NULL, rows);
    }
}
