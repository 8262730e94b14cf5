/* The hot path of keyed operators. A row costs one probe of the index by hash, then its keys are
 * compared column by column over the whole batch; only rows whose first candidate had the same
 * 32-bit hash but other keys (about one in 2^32 pairs) go the slow way, one by one. */
#include <string.h>

#include "engine/base/assert.h"
#include "engine/state/map.h"

#define LOOKUP_AHEAD 16u

/* is_other[i] is set where the record's bytes differ from the row's. */
static void lookup_compare_fixed(const struct map *m, const struct sr_map_keys *k,
                                 const uint32_t *slot, uint32_t c, uint8_t *is_other)
{
    const struct sr_column *col = k->view->col[k->key[c]];
    const uint8_t *values = col->values;
    uint32_t offset = m->head.column[c].offset;
    switch (value_size(&m->head.column[c].type)) {
#define LOOKUP_CASE(size)                                                                     \
    case size:                                                                                \
        for (uint32_t i = 0; i < k->count; i++) {                                             \
            if (slot[i] != SR_SLOT_NONE) {                                                    \
                is_other[i] |= memcmp(sr_map_record(&m->head, slot[i]) + offset,              \
                                      values + (size_t)keys_row(k, i) * (size), (size)) != 0; \
            }                                                                                 \
        }                                                                                     \
        break;
        LOOKUP_CASE(1)
        LOOKUP_CASE(2)
        LOOKUP_CASE(4)
        LOOKUP_CASE(8)
        LOOKUP_CASE(16)
#undef LOOKUP_CASE
    default:
        sr_assert(false);
    }
}

static void lookup_compare_text(const struct map *m, const struct sr_map_keys *k,
                                const uint32_t *slot, uint32_t c, uint8_t *is_other)
{
    const struct sr_column *col = k->view->col[k->key[c]];
    const struct sr_span *span = col->values;
    for (uint32_t i = 0; i < k->count; i++) {
        if (slot[i] == SR_SLOT_NONE) {
            continue;
        }
        struct sr_span s = span[keys_row(k, i)];
        const struct heap_ref *ref = sr_map_at(&m->head, slot[i], c);
        is_other[i] |=
            ref->len != s.len ||
            (s.len > 0 && memcmp(heap_bytes(&m->heap, *ref), col->bytes->data + s.at, s.len) != 0);
    }
}

static void lookup_compare_any(const struct map *m, const struct sr_map_keys *k,
                               const uint32_t *slot, uint32_t c, uint8_t *is_other)
{
    const struct sr_column *col = k->view->col[k->key[c]];
    for (uint32_t i = 0; i < k->count; i++) {
        if (slot[i] != SR_SLOT_NONE) {
            is_other[i] |= !value_equal(&m->head.column[c].type, record_value(m, slot[i], c),
                                        value_of(col, keys_row(k, i)));
        }
    }
}

/* Which candidates hold other keys than their rows. */
static void lookup_compare(struct map *m, const struct sr_map_keys *k, const uint32_t *slot)
{
    uint8_t *is_other = map_state(m)->scratch.is_other;
    memset(is_other, 0, k->count);
    for (uint32_t i = 0; i < k->count; i++) {
        uint32_t ahead = i + LOOKUP_AHEAD < k->count ? slot[i + LOOKUP_AHEAD] : SR_SLOT_NONE;
        if (ahead != SR_SLOT_NONE) {
            __builtin_prefetch(sr_map_record(&m->head, ahead));
        }
        if (slot[i] != SR_SLOT_NONE) {
            is_other[i] = sr_map_namespace(&m->head, slot[i]) != keys_space(k, i);
        }
    }
    for (uint32_t c = 0; c < m->head.keys; c++) {
        if (m->has_seen_null[c] || k->view->col[k->key[c]]->valid) {
            lookup_compare_any(m, k, slot, c, is_other);
        } else if (value_class(&m->head.column[c].type) == VALUE_TEXT) {
            lookup_compare_text(m, k, slot, c, is_other);
        } else {
            lookup_compare_fixed(m, k, slot, c, is_other);
        }
    }
}

/* Position of the first entry with the hash, or of the empty place behind. */
static uint32_t lookup_probe(const struct index *x, uint32_t hash)
{
    uint32_t p = index_home(x, hash);
    while (x->entry[p].slot != INDEX_NONE && x->entry[p].hash != hash) {
        p = index_next(x, p);
    }
    return p;
}

static void lookup_prefetch(const struct map *m, const uint32_t *hash, uint32_t i, uint32_t count)
{
    if (i + LOOKUP_AHEAD < count) {
        __builtin_prefetch(&m->index.entry[index_home(&m->index, hash[i + LOOKUP_AHEAD])]);
    }
}

sr_rc lookup_find(struct map *m, const struct sr_map_keys *k, uint32_t *slot)
{
    record_hash(m, k);
    const struct scratch *x = &map_state(m)->scratch;
    for (uint32_t i = 0; i < k->count; i++) {
        lookup_prefetch(m, x->hash, i, k->count);
        slot[i] = m->index.entry[lookup_probe(&m->index, x->hash[i])].slot;
    }
    lookup_compare(m, k, slot);
    for (uint32_t i = 0; i < k->count; i++) {
        if (x->is_other[i]) {
            slot[i] = record_indexed(m, k, i);
        }
    }
    return SR_OK;
}

/* The row's keys are not those of the first entry with its hash. */
static sr_rc lookup_slowly(struct map *m, const struct sr_map_keys *k, uint32_t i, uint32_t *slot,
                           bool *is_new)
{
    *slot = record_indexed(m, k, i);
    *is_new = *slot == SR_SLOT_NONE;
    if (!*is_new) {
        return SR_OK;
    }
    sr_rc rc = record_new(m, k, i, slot);
    if (rc == SR_OK) {
        index_add(&m->index, map_state(m)->scratch.hash[i], *slot);
    }
    return rc;
}

sr_rc lookup_find_or_add(struct map *m, const struct sr_map_keys *k, uint32_t *slot, bool *is_new)
{
    sr_rc rc = index_reserve(&m->index, k->count);
    record_hash(m, k);
    struct scratch *x = &map_state(m)->scratch;
    for (uint32_t i = 0; i < k->count && rc == SR_OK; i++) {
        lookup_prefetch(m, x->hash, i, k->count);
        struct index_entry *e = &m->index.entry[lookup_probe(&m->index, x->hash[i])];
        is_new[i] = e->slot == INDEX_NONE;
        if (is_new[i]) {
            rc = record_new(m, k, i, &slot[i]);
            if (rc == SR_OK) {
                *e = (struct index_entry){.hash = x->hash[i], .slot = slot[i]};
                m->index.count++;
            }
        } else {
            slot[i] = e->slot;
        }
        x->candidate[i] = is_new[i] ? SR_SLOT_NONE : slot[i];
    }
    if (rc != SR_OK) {
        return rc;
    }
    lookup_compare(m, k, x->candidate);
    for (uint32_t i = 0; i < k->count && rc == SR_OK; i++) {
        if (x->is_other[i]) {
            rc = lookup_slowly(m, k, i, &slot[i], &is_new[i]);
        }
    }
    return rc;
}
