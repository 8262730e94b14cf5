#include "engine/base/assert.h"
#include "engine/state/map.h"

sr_rc chain_add(struct map *m, const struct sr_map_keys *k, uint32_t *slot)
{
    sr_rc rc = index_reserve(&m->index, k->count);
    record_hash(m, k);
    for (uint32_t i = 0; i < k->count && rc == SR_OK; i++) {
        rc = record_new(m, k, i, &slot[i]);
        if (rc != SR_OK) {
            break;
        }
        struct record_chain *own = record_chain(m, slot[i]);
        own->next = SR_SLOT_NONE;
        uint32_t first = record_indexed(m, k, i);
        if (first == SR_SLOT_NONE) {
            own->prev = slot[i];
            index_add(&m->index, map_state(m)->scratch.hash[i], slot[i]);
        } else {
            own->prev = record_chain(m, first)->prev;
            record_own(m, first);
            record_own(m, own->prev);
            record_chain(m, own->prev)->next = slot[i];
            record_chain(m, first)->prev = slot[i];
        }
    }
    return rc;
}

static bool chain_is_first(const struct map *m, uint32_t slot)
{
    return record_chain(m, record_chain(m, slot)->prev)->next == SR_SLOT_NONE;
}

void chain_remove(struct map *m, uint32_t slot)
{
    struct record_chain own = *record_chain(m, slot);
    uint32_t hash = record_at(m, slot)->hash;
    if (chain_is_first(m, slot)) {
        if (own.next == SR_SLOT_NONE) {
            index_remove(&m->index, hash, slot);
            return;
        }
        record_own(m, own.next);
        record_chain(m, own.next)->prev = own.prev;
        index_replace(&m->index, hash, slot, own.next);
        return;
    }
    uint32_t behind = own.next != SR_SLOT_NONE ? own.next : record_leader(m, slot);
    record_own(m, own.prev);
    record_own(m, behind);
    record_chain(m, own.prev)->next = own.next;
    record_chain(m, behind)->prev = own.prev;
}

uint32_t chain_next(const struct map *m, uint32_t slot) { return record_chain(m, slot)->next; }

uint32_t chain_prev(const struct map *m, uint32_t slot)
{
    return chain_is_first(m, slot) ? SR_SLOT_NONE : record_chain(m, slot)->prev;
}
