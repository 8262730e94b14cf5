#include "engine/state/map.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/data/rowhash.h"
#include "engine/data/schema.h"

#define MAP_PAGE_BYTES 4096u /* what a freeze makes the next write to a record copy */
#define MAP_SHIFT_MIN  3u
#define MAP_SHIFT_MAX  10u

static uint32_t map_columns(const struct map *m)
{
    return m->head.keys + m->head.sorts + m->head.values;
}

/* --- Declaring ------------------------------------------------------------------------------- */

static sr_rc map_check_fields(const struct sr_map_def *def, const struct sr_field *field,
                              uint32_t fields, bool may_nest, struct sr_error *err)
{
    for (uint32_t i = 0; i < fields; i++) {
        if (!may_nest && sr_is_nested(field[i].type.kind)) {
            return error_set(err, SR_ECONFIG,
                             "state '%s': column '%s' is an ARRAY, MAP, MULTISET or ROW, which "
                             "cannot be a key",
                             def->name, field[i].name);
        }
    }
    return SR_OK;
}

static sr_rc map_check(const struct state *s, const struct sr_map_def *def, struct sr_error *err)
{
    for (uint32_t i = 0; i < s->maps; i++) {
        if (strcmp(s->map[i]->name, def->name) == 0) {
            return error_set(err, SR_EEXISTS, "state '%s' is declared twice", def->name);
        }
    }
    if (s->maps == SR_MAPS_MAX) {
        return error_set(err, SR_ELIMIT, "an operator has at most %u states", SR_MAPS_MAX);
    }
    if ((uint64_t)def->keys + def->sorts + def->values > SR_MAP_COLUMNS_MAX) {
        return error_set(err, SR_ELIMIT, "state '%s' has more than %u columns", def->name,
                         SR_MAP_COLUMNS_MAX);
    }
    sr_assert((def->kind == SR_MAP_ORDERED) == (def->sorts > 0));
    sr_rc rc = map_check_fields(def, def->key, def->keys, false, err);
    if (rc == SR_OK) {
        rc = map_check_fields(def, def->sort, def->sorts, false, err);
    }
    return rc;
}

static uint32_t map_links_size(enum sr_map_kind kind)
{
    switch (kind) {
    case SR_MAP_VALUE:
        return 0;
    case SR_MAP_MULTI:
        return sizeof(struct record_chain);
    case SR_MAP_ORDERED:
        return sizeof(struct record_tree);
    }
    return 0;
}

/* Widest columns first, so that none needs padding; then the NULL bits, where there are many. */
static void map_lay_out(struct map *m, struct sr_map_column *column)
{
    uint32_t at = (uint32_t)sizeof(struct record) + map_links_size(m->kind);
    uint32_t columns = map_columns(m);
    for (uint32_t size = 16; size > 0; size /= 2) {
        for (uint32_t c = 0; c < columns; c++) {
            if (value_size(&column[c].type) == size) {
                column[c].offset = at;
                at += size;
            }
        }
    }
    m->head.namespace_at = offsetof(struct record, space);
    bool is_narrow = columns <= 8;
    m->head.nulls = is_narrow ? (uint32_t)offsetof(struct record, nulls) : at;
    m->head.stride = (at + (is_narrow ? 0 : (columns + 7) / 8) + 7) & ~7u;
    m->head.shift = MAP_SHIFT_MIN;
    while (m->head.shift < MAP_SHIFT_MAX &&
           m->head.stride << (m->head.shift + 1) <= MAP_PAGE_BYTES) {
        m->head.shift++;
    }
}

static void map_copy_fields(struct arena *a, struct sr_map_column *column,
                            const struct sr_field *field, uint32_t fields)
{
    for (uint32_t i = 0; i < fields && !arena_is_broken(a); i++) {
        column[i].name = arena_text(a, field[i].name);
        column[i].type = type_copy(a, &field[i].type);
    }
}

static sr_rc map_declare(struct state *s, struct map *m, const struct sr_map_def *def)
{
    struct arena *a = s->arena;
    uint32_t columns = def->keys + def->sorts + def->values;
    m->kind = def->kind;
    m->name = arena_text(a, def->name);
    m->head.state = &s->head;
    m->head.keys = def->keys;
    m->head.sorts = def->sorts;
    m->head.values = def->values;
    m->free = SR_SLOT_NONE;
    m->freezer = &s->freezer;
    m->has_seen_null = arena_array(a, columns + 1, sizeof(bool));
    m->borrowed = arena_array(a, columns + 1, sizeof(struct sr_column *));
    struct sr_map_column *column = arena_array(a, columns + 1, sizeof(*column));
    if (arena_is_broken(a)) {
        return SR_ENOMEM;
    }
    if (def->sort_is_descending) {
        m->is_descending = arena_copy(a, def->sort_is_descending, def->sorts * sizeof(bool));
    }
    if (SR_HAS_FIELD(def, struct sr_map_def, value_begins_at_zero) && def->value_begins_at_zero) {
        m->begins_at_zero = arena_copy(a, def->value_begins_at_zero, def->values * sizeof(bool));
    }
    map_copy_fields(a, column, def->key, def->keys);
    map_copy_fields(a, column + def->keys, def->sort, def->sorts);
    map_copy_fields(a, column + def->keys + def->sorts, def->value, def->values);
    if (arena_is_broken(a)) {
        return SR_ENOMEM;
    }
    map_lay_out(m, column);
    m->head.column = column;
    slab_init(&m->slab, (size_t)m->head.stride << m->head.shift);
    heap_init(&m->heap);
    m->heap.freezer = m->freezer;
    return index_init(&m->index);
}

sr_rc map_new(struct state *s, const struct sr_map_def *def, struct map **out, struct sr_error *err)
{
    sr_rc rc = map_check(s, def, err);
    if (rc != SR_OK) {
        return rc;
    }
    struct map *m = calloc(1, sizeof(*m));
    if (!m || map_declare(s, m, def) != SR_OK) {
        free(m);
        return error_set(err, SR_ENOMEM, "state '%s': out of memory", def->name);
    }
    s->map[s->maps++] = m;
    *out = m;
    return SR_OK;
}

void map_free(struct map *m)
{
    if (!m) {
        return;
    }
    free(m->head.page);
    free(m->born);
    limbo_forget(&m->old_page);
    slab_done(&m->slab);
    index_done(&m->index);
    heap_done(&m->heap);
    timers_done(&m->timers);
    free(m);
}

uint64_t map_bytes(const struct map *m)
{
    return ((uint64_t)m->pages * m->head.stride << m->head.shift) +
           ((uint64_t)m->index.mask + 1) * sizeof(struct index_entry) + m->heap.bytes +
           (uint64_t)m->timers.room * sizeof(struct timer);
}

/* --- Timers ---------------------------------------------------------------------------------- */

static bool map_timer_is_live(const void *ctx, const struct timer *one)
{
    const struct record *r = record_at(ctx, one->slot);
    return r->is_used && r->timer == one->ms && r->hash == one->hash;
}

static sr_rc map_set_timer(struct sr_map *head, uint32_t slot, int64_t ms)
{
    struct map *m = map_of(head);
    record_own(m, slot);
    struct record *r = record_at(m, slot);
    sr_assert_hot(r->is_used);
    if (r->timer == ms) {
        return SR_OK;
    }
    if (ms == SR_TIMER_NONE) {
        r->timer = ms;
        m->timers.armed--;
        return SR_OK;
    }
    timers_trim(&m->timers, map_timer_is_live, m);
    sr_rc rc = timers_reserve(&m->timers, 1);
    if (rc != SR_OK) {
        return rc;
    }
    m->timers.armed += r->timer == SR_TIMER_NONE;
    r->timer = ms;
    timers_push(&m->timers, (struct timer){.ms = ms, .hash = r->hash, .slot = slot});
    return SR_OK;
}

static int map_compare_timers(const void *a, const void *b, void *ctx)
{
    return record_compare(ctx, ((const struct timer *)a)->slot, ((const struct timer *)b)->slot);
}

/* Takes the live timers that share the time and hash of the first. They lie in order in the heap's
 * room from *from on, `*end` excluded: each pop has just made a place free there. */
static void map_pop_ties(struct map *m, uint32_t *from, uint32_t *end)
{
    struct timers *t = &m->timers;
    struct timer first = t->heap[0];
    *from = *end = t->count;
    while (t->count > 0 && !timers_before(&first, &t->heap[0])) {
        struct timer one = timers_pop(t);
        if (map_timer_is_live(m, &one)) {
            t->heap[--*from] = one;
        }
    }
    if (*end - *from > 1) {
        qsort_r(&t->heap[*from], *end - *from, sizeof(struct timer), map_compare_timers, m);
    }
}

/* Takes as many of the timers in [from, end) of the heap's room as `max` allows, answers how many.
 * The others go back. */
static uint32_t map_take_due(struct map *m, uint32_t from, uint32_t end, uint32_t max,
                             struct timer *out)
{
    uint32_t n = 0;
    for (uint32_t at = from; at < end; at++) {
        struct timer one = m->timers.heap[at];
        if (n == max) {
            timers_push(&m->timers, one);
        } else if (map_timer_is_live(m, &one)) { /* not twice, when it was set twice */
            record_own(m, one.slot);
            record_at(m, one.slot)->timer = SR_TIMER_NONE;
            m->timers.armed--;
            out[n++] = one;
        }
    }
    return n;
}

static sr_rc map_due(struct sr_map *head, int64_t until, uint32_t max, uint32_t *slot, int64_t *ms,
                     uint32_t *count)
{
    struct map *m = map_of(head);
    record_settle(m, 4 * max);
    struct timer *due = map_state(m)->scratch.due;
    uint32_t n = 0;
    max = max < SR_BATCH_ROWS ? max : SR_BATCH_ROWS;
    while (n < max && m->timers.count > 0 && m->timers.heap[0].ms <= until) {
        uint32_t from, end;
        map_pop_ties(m, &from, &end);
        n += map_take_due(m, from, end, max - n, due + n);
    }
    for (uint32_t i = 0; i < n; i++) {
        slot[i] = due[i].slot;
        if (ms) {
            ms[i] = due[i].ms;
        }
    }
    *count = n;
    return SR_OK;
}

/* --- Entries --------------------------------------------------------------------------------- */

/* Entries that are handed out may be written to without a word, so they leave frozen views now. */
static sr_rc map_hand_out(struct map *m, const uint32_t *slot, uint32_t count)
{
    for (uint32_t i = 0; m->freezer->frozen != 0 && i < count; i++) {
        if (slot[i] != SR_SLOT_NONE) {
            record_own(m, slot[i]);
        }
    }
    return SR_OK;
}

/* Reading a map may move its pages, which nobody sees. */
static struct map *map_mutable(const struct sr_map *head)
{
    union {
        const struct sr_map *read;
        struct map *write;
    } as = {.read = head};
    return as.write;
}

static sr_rc map_find_or_add(struct sr_map *head, const struct sr_map_keys *k, uint32_t *slot,
                             bool *is_new)
{
    struct map *m = map_of(head);
    sr_assert(m->kind != SR_MAP_MULTI);
    record_settle(m, 4 * k->count);
    sr_rc rc = m->kind == SR_MAP_VALUE ? lookup_find_or_add(m, k, slot, is_new)
                                       : tree_find_or_add(m, k, slot, is_new);
    return rc == SR_OK ? map_hand_out(m, slot, k->count) : rc;
}

static sr_rc map_find(struct sr_map *head, const struct sr_map_keys *k, uint32_t *slot)
{
    struct map *m = map_of(head);
    record_settle(m, 4 * k->count);
    sr_rc rc = m->kind == SR_MAP_ORDERED ? tree_seek(m, k, k->sort ? TREE_EXACT : TREE_FIRST, slot)
                                         : lookup_find(m, k, slot);
    return rc == SR_OK ? map_hand_out(m, slot, k->count) : rc;
}

static sr_rc map_add(struct sr_map *head, const struct sr_map_keys *k, uint32_t *slot)
{
    struct map *m = map_of(head);
    sr_assert(m->kind == SR_MAP_MULTI);
    record_settle(m, 4 * k->count);
    return chain_add(m, k, slot);
}

static sr_rc map_seek(struct sr_map *head, const struct sr_map_keys *k, uint32_t *slot)
{
    struct map *m = map_of(head);
    sr_assert(m->kind == SR_MAP_ORDERED && k->sort != NULL);
    sr_rc rc = tree_seek(m, k, TREE_NOT_BEFORE, slot);
    return rc == SR_OK ? map_hand_out(m, slot, k->count) : rc;
}

static sr_rc map_last(struct sr_map *head, const struct sr_map_keys *k, uint32_t *slot)
{
    struct map *m = map_of(head);
    sr_assert(m->kind == SR_MAP_ORDERED);
    sr_rc rc = tree_seek(m, k, TREE_LAST, slot);
    return rc == SR_OK ? map_hand_out(m, slot, k->count) : rc;
}

uint32_t map_step(const struct map *m, uint32_t slot, uint32_t side)
{
    switch (m->kind) {
    case SR_MAP_VALUE:
        return SR_SLOT_NONE;
    case SR_MAP_MULTI:
        return side ? chain_next(m, slot) : chain_prev(m, slot);
    case SR_MAP_ORDERED:
        return tree_step(m, slot, side);
    }
    return SR_SLOT_NONE;
}

static uint32_t map_next(const struct sr_map *head, uint32_t slot)
{
    uint32_t next = map_step(map_of_const(head), slot, 1);
    (void)map_hand_out(map_mutable(head), &next, 1);
    return next;
}

static uint32_t map_prev(const struct sr_map *head, uint32_t slot)
{
    uint32_t prev = map_step(map_of_const(head), slot, 0);
    (void)map_hand_out(map_mutable(head), &prev, 1);
    return prev;
}

static void map_unlink(struct map *m, uint32_t slot)
{
    switch (m->kind) {
    case SR_MAP_VALUE:
        index_remove(&m->index, record_at(m, slot)->hash, slot);
        return;
    case SR_MAP_MULTI:
        chain_remove(m, slot);
        return;
    case SR_MAP_ORDERED:
        tree_remove(m, slot);
        return;
    }
}

static void map_remove(struct sr_map *head, const uint32_t *slot, uint32_t count)
{
    struct map *m = map_of(head);
    for (uint32_t i = 0; i < count; i++) {
        sr_assert(slot[i] < m->used && record_at(m, slot[i])->is_used);
        map_unlink(m, slot[i]);
        record_free(m, slot[i]);
    }
}

/* The entry's key columns as row 0 of a view, in m->borrowed. The caller lets go of them. */
static sr_rc map_borrow_keys(struct map *m, uint32_t slot)
{
    struct sr_home *home = map_state(m)->home;
    sr_rc rc = SR_OK;
    for (uint32_t c = 0; c < m->head.keys; c++) {
        m->borrowed[c] = NULL;
    }
    for (uint32_t c = 0; c < m->head.keys && rc == SR_OK; c++) {
        m->borrowed[c] = column_new(home, &m->head.column[c].type, 1);
        rc = m->borrowed[c] ? field_get(m, &slot, 1, c, home, m->borrowed[c]) : SR_ENOMEM;
    }
    return rc;
}

static sr_rc map_rekey_to(struct map *m, uint32_t slot, const struct sr_map_keys *k)
{
    record_hash(m, k);
    if (record_indexed(m, k, 0) != SR_SLOT_NONE) {
        return SR_EEXISTS;
    }
    record_own(m, slot);
    struct record *r = record_at(m, slot);
    int64_t timer = r->timer;
    sr_rc rc = timers_reserve(&m->timers, 1);
    if (rc != SR_OK) {
        return rc;
    }
    (void)map_set_timer(&m->head, slot, SR_TIMER_NONE); /* clearing cannot fail */
    index_remove(&m->index, r->hash, slot);
    r->hash = map_state(m)->scratch.hash[0];
    r->space = k->namespaces[0];
    index_add(&m->index, r->hash, slot);
    return map_set_timer(&m->head, slot, timer);
}

static sr_rc map_rekey(struct sr_map *head, uint32_t slot, int64_t to)
{
    struct map *m = map_of(head);
    sr_assert(m->kind == SR_MAP_VALUE);
    if (record_at(m, slot)->space == to) {
        return SR_OK;
    }
    sr_rc rc = map_borrow_keys(m, slot);
    if (rc == SR_OK) {
        struct sr_view view = {.rows = 1, .picked = 1, .cols = m->head.keys, .col = m->borrowed};
        uint32_t key[SR_MAP_COLUMNS_MAX];
        for (uint32_t c = 0; c < m->head.keys; c++) {
            key[c] = c;
        }
        struct sr_map_keys k = {.view = &view, .key = key, .count = 1, .namespaces = &to};
        rc = map_rekey_to(m, slot, &k);
    }
    for (uint32_t c = 0; c < m->head.keys; c++) {
        column_release(m->borrowed[c]);
    }
    return rc;
}

static uint32_t map_each(const struct sr_map *head, uint64_t *cursor, uint32_t *slot, uint32_t max)
{
    const struct map *m = map_of_const(head);
    uint32_t n = 0;
    while (n < max && *cursor < m->used) {
        uint32_t at = (uint32_t)(*cursor)++;
        if (record_at(m, at)->is_used) {
            slot[n++] = at;
        }
    }
    (void)map_hand_out(map_mutable(head), slot, n);
    return n;
}

/* --- Columns --------------------------------------------------------------------------------- */

static sr_rc map_get(const struct sr_map *head, const uint32_t *slot, uint32_t count, uint32_t c,
                     struct sr_home *home, struct sr_column *to)
{
    return field_get(map_of_const(head), slot, count, c, home, to);
}

static sr_rc map_put(struct sr_map *head, const uint32_t *slot, uint32_t count, uint32_t c,
                     const struct sr_column *from, const uint16_t *row)
{
    return field_put(map_of(head), slot, count, c, from, row);
}

static const uint8_t *map_text(const struct sr_map *head, uint32_t slot, uint32_t c, uint32_t *len)
{
    const struct map *m = map_of_const(head);
    sr_assert(value_class(&head->column[c].type) == VALUE_TEXT);
    struct heap_ref ref = *(const struct heap_ref *)sr_map_at(head, slot, c);
    *len = ref.len;
    return heap_bytes(&m->heap, ref);
}

static sr_rc map_set_text(struct sr_map *head, uint32_t slot, uint32_t c, const void *bytes,
                          uint32_t len)
{
    struct map *m = map_of(head);
    sr_assert(value_class(&head->column[c].type) == VALUE_TEXT && c >= head->keys + head->sorts);
    sr_rc rc = heap_set(&m->heap, sr_map_at(head, slot, c), bytes, len);
    if (rc == SR_OK) {
        sr_map_set_null(head, slot, c, false);
    }
    return rc;
}

static sr_rc map_declared(struct sr_state *s, const struct sr_map_def *def, struct sr_map **out,
                          struct sr_error *err)
{
    struct map *m = NULL;
    sr_rc rc = map_new((struct state *)s, def, &m, err);
    if (rc == SR_OK) {
        *out = &m->head;
    }
    return rc;
}

const struct sr_state_calls map_calls = {
    .size = sizeof(struct sr_state_calls),
    .map = map_declared,
    .find_or_add = map_find_or_add,
    .find = map_find,
    .add = map_add,
    .seek = map_seek,
    .last = map_last,
    .next = map_next,
    .prev = map_prev,
    .remove = map_remove,
    .rekey = map_rekey,
    .each = map_each,
    .get = map_get,
    .put = map_put,
    .text = map_text,
    .set_text = map_set_text,
    .set_timer = map_set_timer,
    .due = map_due,
};
