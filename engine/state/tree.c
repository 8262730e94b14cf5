/* Entries of one key in a treap: a search tree by sort columns that is at the same time a heap by a
 * number that follows from the slot, which keeps it shallow whatever the order of arrival. */
#include "engine/base/assert.h"
#include "engine/state/map.h"

static uint32_t tree_rank(uint32_t slot)
{
    uint32_t x = (slot + 1) * 0x9e3779b1u;
    x ^= x >> 15;
    x *= 0x85ebca77u;
    return x ^ x >> 13;
}

/* The row's sort columns against an entry's. */
static int tree_compare(const struct map *m, const struct sr_map_keys *k, uint32_t i, uint32_t slot)
{
    for (uint32_t s = 0; s < m->head.sorts; s++) {
        uint32_t c = m->head.keys + s;
        struct value row = value_of(k->view->col[k->sort[s]], keys_row(k, i));
        int order = value_compare(&m->head.column[c].type, row, record_value(m, slot, c));
        if (order != 0) {
            return m->is_descending && m->is_descending[s] ? -order : order;
        }
    }
    return 0;
}

/* What named `slot` as its child (or the index, as root) now names `by`. */
static void tree_hang(struct map *m, uint32_t parent, uint32_t slot, uint32_t by)
{
    if (parent == SR_SLOT_NONE) {
        index_replace(&m->index, record_at(m, slot)->hash, slot, by);
    } else {
        record_own(m, parent);
        struct record_tree *p = record_tree(m, parent);
        p->child[p->child[1] == slot] = by;
    }
    if (by != SR_SLOT_NONE) {
        record_own(m, by);
        record_tree(m, by)->parent = parent;
    }
}

/* Turns `slot` and its parent about, so that slot is above. */
static void tree_rotate(struct map *m, uint32_t slot)
{
    record_own(m, slot);
    struct record_tree *own = record_tree(m, slot);
    uint32_t parent = own->parent;
    record_own(m, parent);
    struct record_tree *p = record_tree(m, parent);
    uint32_t side = p->child[1] == slot;
    tree_hang(m, p->parent, parent, slot);
    uint32_t middle = own->child[!side];
    p->child[side] = middle;
    if (middle != SR_SLOT_NONE) {
        record_own(m, middle);
        record_tree(m, middle)->parent = parent;
    }
    own->child[!side] = parent;
    p->parent = slot;
}

uint32_t tree_end(const struct map *m, uint32_t root, uint32_t side)
{
    uint32_t at = root;
    while (record_tree(m, at)->child[side] != SR_SLOT_NONE) {
        at = record_tree(m, at)->child[side];
    }
    return at;
}

uint32_t tree_step(const struct map *m, uint32_t slot, uint32_t side)
{
    const struct record_tree *own = record_tree(m, slot);
    if (own->child[side] != SR_SLOT_NONE) {
        return tree_end(m, own->child[side], !side);
    }
    uint32_t at = slot;
    while (own->parent != SR_SLOT_NONE && record_tree(m, own->parent)->child[side] == at) {
        at = own->parent;
        own = record_tree(m, at);
    }
    return own->parent;
}

static sr_rc tree_insert(struct map *m, const struct sr_map_keys *k, uint32_t i, uint32_t *slot)
{
    sr_rc rc = record_new(m, k, i, slot);
    if (rc == SR_OK) {
        struct record_tree *own = record_tree(m, *slot);
        own->child[0] = own->child[1] = own->parent = SR_SLOT_NONE;
    }
    return rc;
}

static sr_rc tree_find_or_add_one(struct map *m, const struct sr_map_keys *k, uint32_t i,
                                  uint32_t *slot, bool *is_new)
{
    uint32_t at = record_indexed(m, k, i);
    uint32_t parent = SR_SLOT_NONE;
    uint32_t side = 0;
    while (at != SR_SLOT_NONE) {
        int order = tree_compare(m, k, i, at);
        if (order == 0) {
            *slot = at;
            *is_new = false;
            return SR_OK;
        }
        parent = at;
        side = order > 0;
        at = record_tree(m, at)->child[side];
    }
    sr_rc rc = tree_insert(m, k, i, slot);
    if (rc != SR_OK) {
        return rc;
    }
    *is_new = true;
    if (parent == SR_SLOT_NONE) {
        index_add(&m->index, map_state(m)->scratch.hash[i], *slot);
        return SR_OK;
    }
    record_own(m, parent);
    record_tree(m, parent)->child[side] = *slot;
    record_tree(m, *slot)->parent = parent;
    while (record_tree(m, *slot)->parent != SR_SLOT_NONE &&
           tree_rank(*slot) > tree_rank(record_tree(m, *slot)->parent)) {
        tree_rotate(m, *slot);
    }
    return SR_OK;
}

sr_rc tree_find_or_add(struct map *m, const struct sr_map_keys *k, uint32_t *slot, bool *is_new)
{
    sr_rc rc = index_reserve(&m->index, k->count);
    record_hash(m, k);
    for (uint32_t i = 0; i < k->count && rc == SR_OK; i++) {
        rc = tree_find_or_add_one(m, k, i, &slot[i], &is_new[i]);
    }
    return rc;
}

static uint32_t tree_search(const struct map *m, const struct sr_map_keys *k, uint32_t i,
                            enum tree_seek how)
{
    uint32_t at = record_indexed(m, k, i);
    if (at == SR_SLOT_NONE) {
        return SR_SLOT_NONE;
    }
    if (how == TREE_FIRST || how == TREE_LAST) {
        return tree_end(m, at, how == TREE_LAST);
    }
    uint32_t not_before = SR_SLOT_NONE;
    while (at != SR_SLOT_NONE) {
        int order = tree_compare(m, k, i, at);
        if (order == 0) {
            return at;
        }
        if (order < 0) {
            not_before = at;
        }
        at = record_tree(m, at)->child[order > 0];
    }
    return how == TREE_NOT_BEFORE ? not_before : SR_SLOT_NONE;
}

sr_rc tree_seek(struct map *m, const struct sr_map_keys *k, enum tree_seek how, uint32_t *slot)
{
    record_hash(m, k);
    for (uint32_t i = 0; i < k->count; i++) {
        slot[i] = tree_search(m, k, i, how);
    }
    return SR_OK;
}

void tree_remove(struct map *m, uint32_t slot)
{
    record_own(m, slot); /* rotations then leave `own` where it is */
    const struct record_tree *own = record_tree(m, slot);
    while (own->child[0] != SR_SLOT_NONE && own->child[1] != SR_SLOT_NONE) {
        tree_rotate(m, own->child[tree_rank(own->child[1]) > tree_rank(own->child[0])]);
    }
    uint32_t child = own->child[own->child[0] == SR_SLOT_NONE];
    if (own->parent == SR_SLOT_NONE && child == SR_SLOT_NONE) {
        index_remove(&m->index, record_at(m, slot)->hash, slot);
        return;
    }
    tree_hang(m, own->parent, slot, child);
}
