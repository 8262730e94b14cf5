#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/base/warm.h"
#include "engine/data/codec.h"
#include "engine/data/rowhash.h"
#include "engine/data/schema.h"
#include "engine/state/backend.h"
#include "engine/state/packed.h"
#include "engine/state/reader.h"
#include "engine/state/saved.h"

/* One batch of entries, decoded into m->borrowed. */
struct load_batch {
    uint32_t count;
    int64_t timer[SR_BATCH_ROWS];
    int64_t space[SR_BATCH_ROWS];
    bool is_new[SR_BATCH_ROWS];
    uint32_t slot[SR_BATCH_ROWS];
    const uint8_t *value[SR_BATCH_ROWS]; /* where its values begin, unless is_plain says no */
    uint32_t column[SR_MAP_COLUMNS_MAX]; /* 0, 1, 2 ... */
    struct sr_view view;
};

struct load {
    struct state *state;
    uint32_t values; /* value columns that were saved: the first of those that there are now */
    struct arena *arena;
    struct bytes_in in;
    struct load_batch *batch;
    bool is_plain; /* no value column of the map is nested: they go without columns between */
    struct warm *records, *texts; /* memory of the map that is made ready; NULL: none */
};

static sr_rc load_damaged(const struct state *s, const char *map, const char *what,
                          struct sr_error *err)
{
    return error_set(err, SR_ECORRUPT, "saved state '%s' of %s is damaged: %s", map, s->uid, what);
}

static sr_rc load_entry(struct load *l, struct map *m, struct bytes_in *in, uint32_t r)
{
    uint8_t flags = bytes_get_u8(in);
    if (in->is_broken || (flags & ~SAVED_FLAGS) != 0) {
        return SR_ECORRUPT;
    }
    l->batch->timer[r] = flags & SAVED_TIMER ? (int64_t)bytes_get_u64(in) : SR_TIMER_NONE;
    l->batch->space[r] = flags & SAVED_SPACE ? (int64_t)bytes_get_u64(in) : 0;
    sr_rc rc = SR_OK;
    uint32_t keys = m->head.keys + m->head.sorts;
    uint32_t columns = keys + l->values;
    uint32_t decoded = l->is_plain ? keys : columns;
    for (uint32_t c = 0; c < decoded && rc == SR_OK; c++) {
        rc = codec_get(in, l->state->home, m->borrowed[c], r);
        m->borrowed[c]->rows = r + 1;
    }
    l->batch->value[r] = in->at;
    for (uint32_t c = decoded; c < columns && rc == SR_OK && !in->is_broken; c++) {
        rc = packed_skip(in, &m->head.column[c].type);
    }
    return rc == SR_OK && in->is_broken ? SR_ECORRUPT : rc;
}

/* Were all keys really of this group? What is filed elsewhere would never be found again. */
static bool load_is_of_group(struct map *m, const struct sr_map_keys *k, uint32_t group)
{
    const struct state *s = map_state(m);
    record_hash(m, k);
    for (uint32_t i = 0; i < k->count; i++) {
        if (key_group(s->scratch.hash64[i], s->head.max_parallelism) != group) {
            return false;
        }
    }
    return true;
}

static sr_rc load_values(struct load *l, struct map *m)
{
    struct load_batch *b = l->batch;
    uint32_t first = m->head.keys + m->head.sorts;
    sr_rc rc = SR_OK;
    for (uint32_t c = first; c < first + l->values && rc == SR_OK && !l->is_plain; c++) {
        rc = field_put(m, b->slot, b->count, c, m->borrowed[c], NULL);
    }
    for (uint32_t i = 0; i < b->count && rc == SR_OK && l->is_plain; i++) {
        struct bytes_in in = bytes_in(b->value[i], 1); /* packed_skip has looked at the end */
        for (uint32_t c = first; c < first + l->values && rc == SR_OK; c++) {
            rc = packed_get(&in, m, b->slot[i], c);
        }
    }
    return rc;
}

/* Columns that were not saved hold NULL, as in any new entry, or 0. */
static void load_begin_new(const struct load *l, struct map *m)
{
    for (uint32_t v = l->values; v < m->head.values; v++) {
        for (uint32_t i = 0; m->begins_at_zero && m->begins_at_zero[v] && i < l->batch->count;
             i++) {
            sr_map_set_null(&m->head, l->batch->slot[i], m->head.keys + m->head.sorts + v, false);
        }
    }
}

/* Puts the decoded batch into the map. */
static sr_rc load_file(struct load *l, struct map *m, uint32_t group)
{
    struct load_batch *b = l->batch;
    b->view.col = m->borrowed;
    b->view.cols = m->head.keys + m->head.sorts + (l->is_plain ? 0 : m->head.values);
    b->view.rows = b->view.picked = b->count;
    struct sr_map_keys k = {.view = &b->view,
                            .key = b->column,
                            .sort = m->head.sorts > 0 ? b->column + m->head.keys : NULL,
                            .count = b->count,
                            .namespaces = b->space};
    if (!load_is_of_group(m, &k, group)) {
        return SR_ECORRUPT;
    }
    sr_rc rc;
    if (m->kind == SR_MAP_MULTI) {
        rc = map_calls.add(&m->head, &k, b->slot);
    } else {
        rc = map_calls.find_or_add(&m->head, &k, b->slot, b->is_new);
        for (uint32_t i = 0; i < b->count && rc == SR_OK; i++) {
            rc = b->is_new[i] ? SR_OK : SR_ECORRUPT; /* the same key twice */
        }
    }
    if (rc == SR_OK) {
        rc = load_values(l, m);
    }
    if (rc == SR_OK) {
        load_begin_new(l, m);
    }
    for (uint32_t i = 0; i < b->count && rc == SR_OK; i++) {
        rc = map_calls.set_timer(&m->head, b->slot[i], b->timer[i]);
    }
    return rc;
}

static sr_rc load_group(struct load *l, struct map *m, uint32_t group, uint32_t entries,
                        struct bytes_in *in)
{
    sr_rc rc = SR_OK;
    while (entries > 0 && rc == SR_OK) {
        uint32_t n = entries < SR_BATCH_ROWS ? entries : SR_BATCH_ROWS;
        rc = saved_borrow(m);
        if (rc != SR_OK) {
            return rc;
        }
        for (uint32_t r = 0; r < n && rc == SR_OK; r++) {
            rc = load_entry(l, m, in, r);
        }
        if (rc == SR_OK) {
            l->batch->count = n;
            rc = load_file(l, m, group);
        }
        saved_return(m);
        entries -= n;
    }
    if (rc == SR_OK && in->at != in->end) {
        rc = SR_ECORRUPT;
    }
    return rc;
}

static const char *load_text(struct load *l)
{
    struct sr_bytes b = bytes_get_blob(&l->in);
    return l->in.is_broken ? NULL : arena_text_n(l->arena, b.data, b.len);
}

/* The least that an entry takes where it was saved, apart from the bytes of texts. */
static uint64_t load_least(const struct load *l, const struct map *m, bool is_null)
{
    uint32_t columns = m->head.keys + m->head.sorts + l->values;
    uint64_t least = 1 + (uint64_t)columns;
    for (uint32_t c = 0; c < columns && !is_null; c++) {
        const struct sr_type *t = &m->head.column[c].type;
        least += value_class(t) == VALUE_FIXED ? value_size(t) : 4;
    }
    return least;
}

/* Room for records and texts at once, and somebody who makes it ready while it is filled. */
static void load_warm(struct load *l, struct map *m, uint64_t entries, uint64_t bytes)
{
    void *memory = NULL;
    size_t size = slab_reserve(&m->slab, entries >> m->head.shift, &memory);
    l->records = size > 0 ? warm_start(memory, size, WARM_AHEAD) : NULL;
    uint64_t fixed = entries * load_least(l, m, false);
    size =
        slab_reserve(&m->heap.slab, bytes > fixed ? (bytes - fixed) / HEAP_CHUNK_MAX : 0, &memory);
    l->texts = size > 0 ? warm_start(memory, size, WARM_AHEAD) : NULL;
}

static void load_cool(struct load *l)
{
    warm_stop(l->records);
    warm_stop(l->texts);
    l->records = l->texts = NULL;
}

/* Makes room for the entries of the groups that follow, so that nothing grows step by step. What
 * the bytes promise is believed as far as there are bytes. */
static void load_reserve(struct load *l, struct map *m, uint32_t groups)
{
    const struct state *s = l->state;
    struct bytes_in in = l->in;
    uint64_t more = 0, bytes = 0;
    for (uint32_t i = 0; i < groups && !in.is_broken; i++) {
        uint32_t group = bytes_get_u32(&in);
        uint32_t entries = bytes_get_u32(&in);
        uint64_t len = bytes_get_u64(&in);
        bool is_own = group >= s->group_first && group < s->group_end &&
                      entries <= len / load_least(l, m, true);
        if (bytes_get(&in, len) && is_own) {
            more += entries;
            bytes += len;
        }
    }
    if (more >= SR_MAP_ENTRIES_MAX) {
        return; /* it grows as it goes, up to its bound */
    }
    if (m->kind == SR_MAP_VALUE) {
        (void)index_reserve(&m->index, (uint32_t)more);
    }
    load_warm(l, m, more, bytes);
}

static bool load_is_plain(const struct map *m)
{
    for (uint32_t c = 0; c < m->head.keys + m->head.sorts + m->head.values; c++) {
        if (value_class(&m->head.column[c].type) == VALUE_NESTED) {
            return false;
        }
    }
    return true;
}

/* Groups of one map. Those of other subtasks are stepped over. */
static sr_rc load_groups(struct load *l, struct map *m, struct sr_error *err)
{
    l->is_plain = load_is_plain(m);
    const struct state *s = l->state;
    uint32_t groups = bytes_get_u32(&l->in);
    int64_t before = -1;
    if (l->in.is_broken) {
        return load_damaged(s, m->name, "its key groups are cut off", err);
    }
    load_reserve(l, m, groups);
    for (uint32_t i = 0; i < groups; i++) {
        uint32_t group = bytes_get_u32(&l->in);
        uint32_t entries = bytes_get_u32(&l->in);
        uint64_t len = bytes_get_u64(&l->in);
        const uint8_t *bytes = l->in.is_broken ? NULL : bytes_get(&l->in, len);
        if (!bytes || (int64_t)group <= before || group >= s->head.max_parallelism) {
            return load_damaged(s, m->name, "its key groups are cut off or out of order", err);
        }
        before = group;
        if (group < s->group_first || group >= s->group_end) {
            continue;
        }
        struct bytes_in in = bytes_in(bytes, len);
        sr_rc rc = load_group(l, m, group, entries, &in);
        if (rc == SR_ECORRUPT) {
            return load_damaged(s, m->name, "an entry cannot be read, or is of another key group",
                                err);
        }
        if (rc != SR_OK) {
            return error_set(err, rc, "state '%s' of %s cannot be loaded: %s", m->name, s->uid,
                             rc_words(rc));
        }
    }
    return SR_OK;
}

/* Are the map's columns those that were saved, and more values behind them? *grown names these. */
static sr_rc load_compare(struct load *l, const struct map *m, const char *signature, bool *fits)
{
    struct reader_map was = {.columns = 0}, is = {.columns = 0};
    const char *own = saved_signature(l->arena, m);
    sr_rc rc = own ? reader_parse(l->arena, signature, &was) : SR_ENOMEM;
    if (rc == SR_OK) {
        rc = reader_parse(l->arena, own, &is);
    }
    *fits = rc == SR_OK && was.columns > 0 && was.columns < is.columns && was.kind == is.kind &&
            was.keys == is.keys && was.sorts == is.sorts;
    for (uint32_t c = 0; *fits && c < was.columns; c++) {
        *fits = strcmp(was.field[c].name, is.field[c].name) == 0 &&
                type_equal(&was.field[c].type, &is.field[c].type, false);
    }
    if (!*fits) {
        return rc;
    }
    l->values = was.values;
    const char *grown = "";
    for (uint32_t c = was.columns; grown && c < is.columns; c++) {
        bool is_zero = m->begins_at_zero && m->begins_at_zero[c - is.keys - is.sorts];
        grown = arena_printf(l->state->arena, "%s%s%s (begins at %s)", grown, *grown ? ", " : "",
                             is.field[c].name, is_zero ? "0" : "NULL");
    }
    l->state->grown = grown;
    return grown ? SR_OK : SR_ENOMEM;
}

static sr_rc load_map(struct load *l, struct sr_error *err)
{
    const struct state *s = l->state;
    const char *name = load_text(l);
    const char *signature = load_text(l);
    if (arena_is_broken(l->arena)) {
        return error_set(err, SR_ENOMEM, "%s: out of memory", s->uid);
    }
    if (!name || !signature) {
        return load_damaged(s, name ? name : "?", "its name or columns are cut off", err);
    }
    struct map *m = NULL;
    for (uint32_t i = 0; i < s->maps; i++) {
        m = strcmp(s->map[i]->name, name) == 0 ? s->map[i] : m;
    }
    if (!m) {
        return error_set(err, SR_EMISFIT,
                         "%s: the saved state '%s' (%s) has no counterpart in this job", s->uid,
                         name, signature);
    }
    const char *own = saved_signature(l->arena, m);
    if (!own) {
        return error_set(err, SR_ENOMEM, "%s: out of memory", s->uid);
    }
    bool fits = true;
    l->values = m->head.values;
    if (strcmp(own, signature) != 0 && load_compare(l, m, signature, &fits) != SR_OK) {
        return error_set(err, SR_ENOMEM, "%s: out of memory", s->uid);
    }
    if (!fits) {
        return error_set(err, SR_EMISFIT, "%s: state '%s' was saved as %s; the job has %s", s->uid,
                         name, signature, own);
    }
    sr_rc rc = load_groups(l, m, err);
    load_cool(l);
    return rc;
}

static sr_rc load_all(struct load *l, struct sr_error *err)
{
    struct state *s = l->state;
    uint32_t magic = bytes_get_u32(&l->in);
    uint32_t version = bytes_get_u32(&l->in);
    uint32_t max_parallelism = bytes_get_u32(&l->in);
    int64_t watermark = (int64_t)bytes_get_u64(&l->in);
#ifdef MUTANT_WATERMARK_UNRESTORED
    watermark = SR_WATERMARK_NONE;
#endif
    uint32_t maps = bytes_get_u32(&l->in);
    if (l->in.is_broken || magic != SAVED_MAGIC) {
        return load_damaged(s, "", "it does not begin as state does", err);
    }
    if (version != SAVED_VERSION) {
        return error_set(err, SR_EMISFIT,
                         "%s: its state was saved in version %u, this streamrun reads version %u",
                         s->uid, version, SAVED_VERSION);
    }
    if (max_parallelism != s->head.max_parallelism) {
        return error_set(err, SR_EMISFIT,
                         "%s: its state was saved with pipeline.max-parallelism %u, the job has %u",
                         s->uid, max_parallelism, s->head.max_parallelism);
    }
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; i < maps && rc == SR_OK; i++) {
        rc = load_map(l, err);
    }
    if (rc == SR_OK && l->in.at != l->in.end) {
        rc = load_damaged(s, "", "bytes follow its end", err);
    }
    if (rc == SR_OK) {
        s->head.watermark =
            s->is_loaded && s->head.watermark < watermark ? s->head.watermark : watermark;
        s->is_loaded = true;
    }
    return rc;
}

sr_rc state_load(struct sr_state *s, const void *bytes, size_t len, struct sr_error *err)
{
    struct state *own = (struct state *)s;
    struct load l = {.state = own, .arena = arena_new(), .in = bytes_in(bytes, len)};
    l.batch = l.arena ? arena_get(l.arena, sizeof(*l.batch)) : NULL;
    if (!l.batch) {
        arena_free(l.arena);
        return error_set(err, SR_ENOMEM, "%s: out of memory", own->uid);
    }
    for (uint32_t c = 0; c < SR_MAP_COLUMNS_MAX; c++) {
        l.batch->column[c] = c;
    }
    sr_rc rc = load_all(&l, err);
    arena_free(l.arena);
    return rc;
}

const char *state_grown(const struct sr_state *s) { return ((const struct state *)s)->grown; }
