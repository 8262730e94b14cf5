#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/data/rowhash.h"
#include "engine/state/map.h"

#define RECORD_AHEAD 4u

void record_hash(struct map *m, const struct sr_map_keys *k)
{
    struct state *s = map_state(m);
    struct scratch *x = &s->scratch;
    sr_assert(k->count <= SR_BATCH_ROWS);
    if (m->head.keys == 0) {
        memset(x->hash64, 0, k->count * sizeof(x->hash64[0]));
    } else {
        x->view.rows = k->view->rows;
        x->view.cols = k->view->cols;
        x->view.col = k->view->col;
        x->view.sel = k->row;
        x->view.picked = k->count;
        rowhash(&x->view, k->key, m->head.keys, 0, k->count, x->hash64);
    }
    for (uint32_t i = 0; i < k->count; i++) {
        x->hash[i] = map_hash(x->hash64[i], keys_space(k, i));
    }
}

void record_own_page(struct map *m, uint32_t page)
{
    struct freezer *f = m->freezer;
    if (m->born[page] > f->frozen) {
        return;
    }
#ifdef MUTANT_FREEZE_NOTHING /* what is written behind a barrier gets into its checkpoint */
    return;
#endif
    size_t bytes = (size_t)m->head.stride << m->head.shift;
    struct limbo_item old = {.memory = m->head.page[page], .epoch = f->epoch};
    uint8_t *own = slab_take(&m->slab);
    if (!own || !limbo_put(&m->old_page, &old)) {
        slab_put(&m->slab, own);
        freezer_break(f);
        return;
    }
    m->head.page[page] = memcpy(own, old.memory, bytes);
    m->born[page] = f->epoch;
    f->copied_bytes += bytes;
}

void record_settle(struct map *m, uint32_t count)
{
    if (m->freezer->frozen == 0 && m->old_page.count == 0) {
        return;
    }
    freezer_reap(m->freezer);
    struct limbo_item old;
    while (count-- > 0 && limbo_take(&m->old_page, m->freezer->oldest, &old)) {
        slab_put(&m->slab, old.memory);
    }
}

/* One more page of records. */
static sr_rc record_add_page(struct map *m)
{
    uint32_t rows = 1u << m->head.shift;
    if (m->used > SR_MAP_ENTRIES_MAX - rows) {
        return SR_ELIMIT;
    }
    if (m->pages == m->pages_room) {
        uint32_t room = m->pages_room ? m->pages_room * 2 : 8;
        uint8_t **page = realloc(m->head.page, room * sizeof(*page));
        if (!page) {
            return SR_ENOMEM;
        }
        m->head.page = page;
        uint32_t *born = realloc(m->born, room * sizeof(*born));
        if (!born) {
            return SR_ENOMEM;
        }
        m->born = born;
        m->pages_room = room;
    }
    uint8_t *records = slab_take(&m->slab);
    if (!records) {
        return SR_ENOMEM;
    }
    m->born[m->pages] = m->freezer->epoch;
    m->head.page[m->pages++] = records;
    return SR_OK;
}

static sr_rc record_take(struct map *m, uint32_t *slot)
{
    if (m->free != SR_SLOT_NONE) {
        *slot = m->free;
        record_own(m, *slot);
        m->free = record_at(m, *slot)->hash;
        return SR_OK;
    }
    if (m->used == m->pages << m->head.shift) {
        sr_rc rc = record_add_page(m);
        if (rc != SR_OK) {
            return rc;
        }
    }
    *slot = m->used++;
    return SR_OK;
}

static sr_rc record_write(struct map *m, uint32_t slot, uint32_t c, struct value v)
{
    sr_map_set_null(&m->head, slot, c, v.at == NULL);
    if (!v.at) {
        m->has_seen_null[c] = true;
        return SR_OK;
    }
    const struct sr_type *t = &m->head.column[c].type;
    if (value_class(t) == VALUE_TEXT) {
        return heap_set(&m->heap, sr_map_at(&m->head, slot, c), v.bytes, v.len);
    }
    memcpy(sr_map_at(&m->head, slot, c), v.at, value_size(t));
    return SR_OK;
}

static void record_clear(struct map *m, uint32_t slot)
{
    uint8_t *record = sr_map_record(&m->head, slot);
    __builtin_prefetch(record + (size_t)RECORD_AHEAD * m->head.stride,
                       1); /* new ones lie in line */
    uint32_t columns = m->head.keys + m->head.sorts + m->head.values;
    memset(record, 0, m->head.stride);
    for (uint32_t c = m->head.keys + m->head.sorts; c < columns; c++) {
        sr_map_set_null(&m->head, slot, c, true);
    }
}

sr_rc record_new(struct map *m, const struct sr_map_keys *k, uint32_t i, uint32_t *slot)
{
    const struct state *s = map_state(m);
    uint32_t group = key_group(s->scratch.hash64[i], s->head.max_parallelism);
    /* A row of another subtask's group would be lost when the state is split anew. */
    sr_assert(group >= s->group_first && group < s->group_end);
    uint32_t taken;
    sr_rc rc = record_take(m, &taken);
    if (rc != SR_OK) {
        return rc;
    }
    record_clear(m, taken);
    struct record *r = record_at(m, taken);
    r->hash = s->scratch.hash[i];
    r->group = (uint16_t)group;
    r->is_used = 1;
    r->timer = SR_TIMER_NONE;
    r->space = keys_space(k, i);
    m->head.entries++;
    for (uint32_t c = 0; c < m->head.keys + m->head.sorts && rc == SR_OK; c++) {
        uint32_t from = c < m->head.keys ? k->key[c] : k->sort[c - m->head.keys];
        rc = record_write(m, taken, c, value_of(k->view->col[from], keys_row(k, i)));
    }
    if (rc != SR_OK) {
        record_free(m, taken);
        return rc;
    }
    *slot = taken;
    return SR_OK;
}

void record_free(struct map *m, uint32_t slot)
{
    record_own(m, slot);
    struct record *r = record_at(m, slot);
    sr_assert(r->is_used);
    uint32_t columns = m->head.keys + m->head.sorts + m->head.values;
    for (uint32_t c = 0; c < columns; c++) {
        if (value_class(&m->head.column[c].type) != VALUE_FIXED) {
            heap_clear(&m->heap, sr_map_at(&m->head, slot, c));
        }
    }
    if (r->timer != SR_TIMER_NONE) {
        m->timers.armed--;
    }
    r->is_used = 0;
    r->timer = SR_TIMER_NONE;
    r->hash = m->free;
    m->free = slot;
    m->head.entries--;
}

struct value record_value(const struct map *m, uint32_t slot, uint32_t c)
{
    if (sr_map_is_null(&m->head, slot, c)) {
        return (struct value){0};
    }
    struct value v = {.at = sr_map_at(&m->head, slot, c)};
    if (value_class(&m->head.column[c].type) != VALUE_FIXED) {
        struct heap_ref ref = *(const struct heap_ref *)v.at;
        v.bytes = heap_bytes(&m->heap, ref);
        v.len = ref.len;
    }
    return v;
}

bool record_has_keys(const struct map *m, uint32_t slot, const struct sr_map_keys *k, uint32_t i)
{
    if (sr_map_namespace(&m->head, slot) != keys_space(k, i)) {
        return false;
    }
    for (uint32_t c = 0; c < m->head.keys; c++) {
        struct value v = value_of(k->view->col[k->key[c]], keys_row(k, i));
        if (!value_equal(&m->head.column[c].type, record_value(m, slot, c), v)) {
            return false;
        }
    }
    return true;
}

uint32_t record_indexed(const struct map *m, const struct sr_map_keys *k, uint32_t i)
{
    const struct index *x = &m->index;
    uint32_t hash = map_state(m)->scratch.hash[i];
    for (uint32_t p = index_home(x, hash); x->entry[p].slot != INDEX_NONE; p = index_next(x, p)) {
        if (x->entry[p].hash == hash && record_has_keys(m, x->entry[p].slot, k, i)) {
            return x->entry[p].slot;
        }
    }
    return SR_SLOT_NONE;
}

/* By columns [from, to); sort columns in their direction. */
static int record_compare_columns(const struct map *m, uint32_t a, uint32_t b, uint32_t from,
                                  uint32_t to)
{
    for (uint32_t c = from; c < to; c++) {
        int order =
            value_compare(&m->head.column[c].type, record_value(m, a, c), record_value(m, b, c));
        if (order != 0) {
            bool is_down =
                c >= m->head.keys && m->is_descending && m->is_descending[c - m->head.keys];
            return is_down ? -order : order;
        }
    }
    return 0;
}

static int record_compare_keys(const struct map *m, uint32_t a, uint32_t b)
{
    const struct record *x = record_at(m, a);
    const struct record *y = record_at(m, b);
    if (x->hash != y->hash) {
        return x->hash < y->hash ? -1 : 1;
    }
    if (x->space != y->space) {
        return x->space < y->space ? -1 : 1;
    }
    return record_compare_columns(m, a, b, 0, m->head.keys);
}

uint32_t record_leader(const struct map *m, uint32_t slot)
{
    const struct index *x = &m->index;
    uint32_t hash = record_at(m, slot)->hash;
    uint32_t p = index_home(x, hash);
    while (x->entry[p].hash != hash || record_compare_keys(m, x->entry[p].slot, slot) != 0) {
        sr_assert(x->entry[p].slot != INDEX_NONE);
        p = index_next(x, p);
    }
    return x->entry[p].slot;
}

int record_compare(const struct map *m, uint32_t a, uint32_t b)
{
    int order = record_compare_keys(m, a, b);
    if (order != 0 || a == b) {
        return order;
    }
    if (m->kind == SR_MAP_ORDERED) {
        return record_compare_columns(m, a, b, m->head.keys, m->head.keys + m->head.sorts);
    }
    if (m->kind == SR_MAP_MULTI) {
        uint32_t at = a;
        while (at != SR_SLOT_NONE && at != b) {
            at = chain_next(m, at);
        }
        return at == b ? -1 : 1;
    }
    return 0;
}
