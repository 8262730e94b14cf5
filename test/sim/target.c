#include "test/sim/target.h"

#include <stdlib.h>
#include <string.h>

static void target_end(struct target *t, uint32_t slot, enum target_fate fate, target_show show,
                       void *ctx)
{
    struct target_slot *s = &t->slot[slot];
    if (!s->is_open) {
        return;
    }
    for (uint32_t i = s->first; i < t->rows; i++) {
        struct target_row *r = &t->row[i];
        if (r->slot == slot && r->fate == TARGET_OPEN) {
            r->fate = fate;
            if (fate == TARGET_COMMITTED) {
                show(ctx, r->text);
            }
        }
    }
    if (fate == TARGET_COMMITTED && s->marker.lineage != 0) {
        t->marker = s->marker;
    }
    s->is_open = false;
    s->marker = (struct target_marker){.lineage = 0};
}

bool target_is_heard(const struct target *t, uint32_t slot, uint64_t epoch)
{
    return t->slot[slot].epoch == epoch;
}

void target_tick(struct target *t, int64_t now_us, target_show show, void *ctx)
{
    for (uint32_t i = 0; i < TARGET_DELAYS; i++) {
        struct target_delay *d = &t->delay[i];
        if (d->is_set && d->at_us <= now_us) {
            d->is_set = false;
            (void)target_commit(t, d->slot, d->epoch, show, ctx);
        }
    }
    for (uint32_t i = 0; i < TARGET_SLOTS && t->times_out; i++) {
        struct target_slot *s = &t->slot[i];
        if (s->is_open && now_us - s->since_us > TARGET_OPEN_US) {
            target_end(t, i, TARGET_ABORTED, show, ctx);
            s->epoch++; /* its producer notices by being fenced */
        }
    }
}

uint64_t target_init(struct target *t, uint32_t slot)
{
    target_end(t, slot, TARGET_ABORTED, NULL, NULL);
    return ++t->slot[slot].epoch;
}

static void target_begin(struct target *t, uint32_t slot, int64_t now_us)
{
    struct target_slot *s = &t->slot[slot];
    if (!s->is_open) {
        s->is_open = true;
        s->since_us = now_us;
        s->first = t->rows;
    }
}

bool target_produce(struct target *t, uint32_t slot, uint64_t epoch, int64_t now_us,
                    const char *row, uint32_t len)
{
    if (!target_is_heard(t, slot, epoch)) {
        return false;
    }
    target_begin(t, slot, now_us);
    if (t->rows == t->room) {
        t->room = t->room * 2 + 64;
        t->row = realloc(t->row, t->room * sizeof(*t->row));
    }
    t->row[t->rows++] = (struct target_row){.text = strndup(row, len), .slot = slot};
    return true;
}

bool target_mark(struct target *t, uint32_t slot, uint64_t epoch, int64_t now_us,
                 struct target_marker m)
{
    if (!target_is_heard(t, slot, epoch)) {
        return false;
    }
    target_begin(t, slot, now_us);
    t->slot[slot].marker = m;
    return true;
}

bool target_commit(struct target *t, uint32_t slot, uint64_t epoch, target_show show, void *ctx)
{
    if (!target_is_heard(t, slot, epoch)) {
        return false;
    }
    target_end(t, slot, TARGET_COMMITTED, show, ctx);
    return true;
}

void target_commit_later(struct target *t, uint32_t slot, uint64_t epoch, int64_t at_us)
{
    for (uint32_t i = 0; i < TARGET_DELAYS; i++) {
        if (!t->delay[i].is_set) {
            t->delay[i] =
                (struct target_delay){.is_set = true, .slot = slot, .epoch = epoch, .at_us = at_us};
            return;
        }
    }
}

uint32_t target_last(const struct target *t, uint32_t slot)
{
    if (!t->slot[slot].is_open) {
        return UINT32_MAX;
    }
    for (uint32_t i = t->rows; i > t->slot[slot].first; i--) {
        if (t->row[i - 1].slot == slot && t->row[i - 1].fate == TARGET_OPEN) {
            return i - 1;
        }
    }
    return UINT32_MAX;
}

void target_done(struct target *t)
{
    for (uint32_t i = 0; i < t->rows; i++) {
        free(t->row[i].text);
    }
    free(t->row);
}
