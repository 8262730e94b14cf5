#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/data/codec.h"
#include "engine/state/backend.h"
#include "engine/state/saved.h"

/* Indexed entries of a map by key group: those of group g are leader[start[g]] to
 * leader[start[g + 1] - 1], each hash << 32 | slot. */
struct save_order {
    uint64_t *leader;
    uint32_t *start;
};

/* Entries of one group in order: each leader, then what follows it under its key. */
struct save_walk {
    const struct map *map;
    const uint64_t *leader, *end;
    uint32_t at; /* next entry under the same key; SR_SLOT_NONE: on to the next leader */
};

static int save_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static int save_compare_records(const void *a, const void *b, void *map)
{
    return record_compare(map, (uint32_t) * (const uint64_t *)a, (uint32_t) * (const uint64_t *)b);
}

/* By hash first, a plain number, which costs no look at records; then the few that share one. */
static void save_sort(struct map *m, uint64_t *leader, uint32_t count)
{
    qsort(leader, count, sizeof(*leader), save_compare);
    for (uint32_t i = 0; i < count;) {
        uint32_t end = i + 1;
        while (end < count && leader[end] >> 32 == leader[i] >> 32) {
            end++;
        }
        if (end - i > 1) {
            qsort_r(leader + i, end - i, sizeof(*leader), save_compare_records, m);
        }
        i = end;
    }
}

static sr_rc save_collect(struct map *m, struct save_order *out)
{
    const struct state *s = map_state(m);
    uint32_t groups = s->group_end - s->group_first;
    const struct index *x = &m->index;
    out->leader = malloc(((size_t)x->count + 1) * sizeof(*out->leader));
    out->start = calloc((size_t)groups + 2, sizeof(*out->start));
    if (!out->leader || !out->start) {
        return SR_ENOMEM;
    }
    /* Counted two places up, so that after the sum start[g + 1] is where group g is filled next. */
    for (uint32_t p = 0; p <= x->mask; p++) {
        if (x->entry[p].slot != INDEX_NONE) {
            out->start[record_at(m, x->entry[p].slot)->group - s->group_first + 2]++;
        }
    }
    for (uint32_t g = 1; g < groups + 2; g++) {
        out->start[g] += out->start[g - 1];
    }
    for (uint32_t p = 0; p <= x->mask; p++) {
        if (x->entry[p].slot != INDEX_NONE) {
            uint32_t g = record_at(m, x->entry[p].slot)->group - s->group_first;
            out->leader[out->start[g + 1]++] = (uint64_t)x->entry[p].hash << 32 | x->entry[p].slot;
        }
    }
    for (uint32_t g = 0; g < groups; g++) {
        save_sort(m, out->leader + out->start[g], out->start[g + 1] - out->start[g]);
    }
    return SR_OK;
}

static uint32_t save_next(struct save_walk *w, uint32_t *slot, uint32_t max)
{
    const struct map *m = w->map;
    uint32_t n = 0;
    while (n < max) {
        if (w->at == SR_SLOT_NONE) {
            if (w->leader == w->end) {
                break;
            }
            w->at = (uint32_t)*w->leader++;
            w->at = m->kind == SR_MAP_ORDERED ? tree_end(m, w->at, 0) : w->at;
        }
        slot[n++] = w->at;
        w->at = map_calls.next(&m->head, w->at);
    }
    return n;
}

static bool save_entry(const struct map *m, uint32_t slot, uint32_t r, struct sr_out *out)
{
    const struct record *record = record_at(m, slot);
    bool has_timer = record->timer != SR_TIMER_NONE;
    bool has_space = record->space != 0;
    uint8_t flags = (uint8_t)((has_timer ? SAVED_TIMER : 0) | (has_space ? SAVED_SPACE : 0));
    bool is_ok = bytes_put_u8(out, flags);
    if (has_timer) {
        is_ok = is_ok && bytes_put_u64(out, (uint64_t)record->timer);
    }
    if (has_space) {
        is_ok = is_ok && bytes_put_u64(out, (uint64_t)record->space);
    }
    for (uint32_t c = 0; c < m->head.keys + m->head.sorts + m->head.values && is_ok; c++) {
        is_ok = codec_put(out, m->borrowed[c], r);
    }
    return is_ok;
}

/* One batch of entries: columns out of the records, then row by row. */
static sr_rc save_batch(struct map *m, const uint32_t *slot, uint32_t count, struct sr_out *out)
{
    sr_rc rc = saved_borrow(m);
    if (rc != SR_OK) {
        return rc;
    }
    for (uint32_t c = 0; c < m->head.keys + m->head.sorts + m->head.values && rc == SR_OK; c++) {
        rc = field_get(m, slot, count, c, map_state(m)->home, m->borrowed[c]);
    }
    for (uint32_t i = 0; i < count && rc == SR_OK; i++) {
        rc = save_entry(m, slot[i], i, out) ? SR_OK : SR_ENOMEM;
    }
    saved_return(m);
    return rc;
}

static void save_patch(struct sr_out *out, size_t at, uint64_t v, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        out->data[at + i] = (uint8_t)(v >> (8 * i));
    }
}

static sr_rc save_group(struct map *m, uint32_t group, struct save_walk *w, struct sr_out *out)
{
    uint32_t *slot = map_state(m)->scratch.slot;
    if (!bytes_put_u32(out, group) || !bytes_put_u32(out, 0) || !bytes_put_u64(out, 0)) {
        return SR_ENOMEM;
    }
    size_t begin = out->len;
    uint32_t entries = 0;
    sr_rc rc = SR_OK;
    for (uint32_t n; rc == SR_OK && (n = save_next(w, slot, SR_BATCH_ROWS)) > 0; entries += n) {
        rc = save_batch(m, slot, n, out);
    }
    save_patch(out, begin - 12, entries, 4);
    save_patch(out, begin - 8, out->len - begin, 8);
    return rc;
}

static sr_rc save_map(struct map *m, struct arena *a, struct sr_out *out)
{
    const struct state *s = map_state(m);
    uint32_t groups = s->group_end - s->group_first;
    const char *signature = saved_signature(a, m);
    struct save_order order = {0};
    if (!signature || !bytes_put_text(out, m->name) || !bytes_put_text(out, signature)) {
        return SR_ENOMEM;
    }
    sr_rc rc = save_collect(m, &order);
    uint32_t filled = 0;
    for (uint32_t g = 0; g < groups && rc == SR_OK; g++) {
        filled += order.start[g + 1] > order.start[g];
    }
    if (rc == SR_OK && !bytes_put_u32(out, filled)) {
        rc = SR_ENOMEM;
    }
    for (uint32_t g = 0; g < groups && rc == SR_OK; g++) {
        struct save_walk w = {.map = m,
                              .leader = order.leader + order.start[g],
                              .end = order.leader + order.start[g + 1],
                              .at = SR_SLOT_NONE};
        if (w.leader < w.end) {
            rc = save_group(m, s->group_first + g, &w, out);
        }
    }
    free(order.leader);
    free(order.start);
    return rc;
}

sr_rc state_save(const struct sr_state *s, struct sr_out *out, struct sr_error *err)
{
    const struct state *own = (const struct state *)s;
    struct arena *a = arena_new();
    bool is_ok = a && bytes_put_u32(out, SAVED_MAGIC) && bytes_put_u32(out, SAVED_VERSION) &&
                 bytes_put_u32(out, s->max_parallelism) &&
                 bytes_put_u64(out, (uint64_t)s->watermark) && bytes_put_u32(out, own->maps);
    sr_rc rc = is_ok ? SR_OK : SR_ENOMEM;
    for (uint32_t i = 0; i < own->maps && rc == SR_OK; i++) {
        rc = save_map(own->map[i], a, out);
    }
    arena_free(a);
    if (rc != SR_OK) {
        return error_set(err, rc, "%s: its state cannot be saved: %s", own->uid, rc_words(rc));
    }
    return SR_OK;
}
