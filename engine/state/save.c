#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/assert.h"
#include "engine/state/frozen.h"
#include "engine/state/packed.h"
#include "engine/state/saved.h"

#define SAVE_SLOTS      16384u /* records passed over in a step */
#define SAVE_AHEAD      16u    /* entries whose memory is asked for before they are saved */
#define SAVE_GROUP_HEAD 16u    /* bytes */

/* --- Order ------------------------------------------------------------------------------------ */

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

/* Room that an entry takes at most. */
static size_t save_room(const struct map *m, uint32_t slot)
{
    size_t room = 1 + 2 * sizeof(uint64_t);
    for (uint32_t c = 0; c < m->head.keys + m->head.sorts + m->head.values; c++) {
        room += packed_room(m, slot, c);
    }
    return room;
}

/* Is it the entry that the index would lead to? */
static bool save_is_leader(const struct map *m, uint32_t slot)
{
    if (!record_at(m, slot)->is_used) {
        return false;
    }
    switch (m->kind) {
    case SR_MAP_VALUE:
        return true;
    case SR_MAP_MULTI:
        return chain_prev(m, slot) == SR_SLOT_NONE;
    case SR_MAP_ORDERED:
        return record_tree(m, slot)->parent == SR_SLOT_NONE;
    }
    return false;
}

/* --- Entries ---------------------------------------------------------------------------------- */

static uint32_t save_next(struct save *s, const struct map *m, uint32_t *slot, uint32_t max)
{
    uint32_t n = 0;
    while (n < max) {
        if (s->at == SR_SLOT_NONE) {
            if (s->next == s->end) {
                break;
            }
            s->at = (uint32_t)*s->next++;
            s->at = m->kind == SR_MAP_ORDERED ? tree_end(m, s->at, 0) : s->at;
        }
        slot[n++] = s->at;
        s->at = map_step(m, s->at, 1);
    }
    return n;
}

static uint8_t *save_u64(uint8_t *to, uint64_t v)
{
    v = htole64(v);
    return (uint8_t *)memcpy(to, &v, sizeof(v)) + sizeof(v);
}

static void save_prefetch_texts(const struct map *m, uint32_t slot)
{
    for (uint32_t c = 0; c < m->head.keys + m->head.sorts + m->head.values; c++) {
        if (value_class(&m->head.column[c].type) != VALUE_FIXED) {
            const uint8_t *bytes =
                heap_bytes(&m->heap, *(const struct heap_ref *)sr_map_at(&m->head, slot, c));
            __builtin_prefetch(bytes);
            __builtin_prefetch(bytes + 64);
        }
    }
}

static bool save_entry(const struct map *m, uint32_t slot, struct sr_out *out)
{
    const struct record *record = record_at(m, slot);
    bool has_timer = record->timer != SR_TIMER_NONE;
    bool has_space = record->space != 0;
    uint8_t *to = sr_out_room(out, save_room(m, slot));
    if (!to) {
        return false;
    }
    *to++ = (uint8_t)((has_timer ? SAVED_TIMER : 0) | (has_space ? SAVED_SPACE : 0));
    if (has_timer) {
        to = save_u64(to, (uint64_t)record->timer);
    }
    if (has_space) {
        to = save_u64(to, (uint64_t)record->space);
    }
    for (uint32_t c = 0; c < m->head.keys + m->head.sorts + m->head.values; c++) {
        to = packed_put(to, m, slot, c);
    }
    out->len = (size_t)(to - out->data);
    return true;
}

static void save_patch(struct sr_out *out, size_t at, uint64_t v, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        out->data[at + i] = (uint8_t)(v >> (8 * i));
    }
}

/* --- Steps ------------------------------------------------------------------------------------ */

static sr_rc save_head(struct frozen *f, struct sr_out *out)
{
    bool is_ok = bytes_put_u32(out, SAVED_MAGIC) && bytes_put_u32(out, SAVED_VERSION) &&
                 bytes_put_u32(out, f->head.max_parallelism) &&
                 bytes_put_u64(out, (uint64_t)f->head.watermark) && bytes_put_u32(out, f->maps);
    f->save.phase = f->maps > 0 ? SAVE_MAP : SAVE_DONE;
    return is_ok ? SR_OK : SR_ENOMEM;
}

static sr_rc save_map(struct frozen *f, const struct map *m, struct sr_out *out)
{
    struct save *s = &f->save;
    struct arena *a = arena_new();
    const char *signature = a ? saved_signature(a, m) : NULL;
    bool is_ok = signature && bytes_put_text(out, m->name) && bytes_put_text(out, signature);
    arena_free(a);
    s->start = calloc((size_t)f->groups + 2, sizeof(*s->start));
    s->slot = s->group = 0;
    s->room = 0;
    s->phase = SAVE_COUNT;
    return is_ok && s->start ? SR_OK : SR_ENOMEM;
}

/* The groups' places are known: start[g + 1] is where group g is filled next. */
static sr_rc save_counted(struct frozen *f, struct sr_out *out)
{
    struct save *s = &f->save;
    uint32_t filled = 0;
    for (uint32_t g = 1; g < f->groups + 2; g++) {
        filled += s->start[g] > 0;
        s->start[g] += s->start[g - 1];
    }
    s->leader = malloc(((size_t)s->start[f->groups + 1] + 1) * sizeof(*s->leader));
    s->slot = 0;
    s->phase = SAVE_FILL;
    /* All at once, because growing moves it, and the kernel stops the whole process for that. Where
     * so much is not to be had it grows all the same. */
    (void)sr_out_room(out, s->room + (size_t)filled * SAVE_GROUP_HEAD + sizeof(filled));
    return s->leader && bytes_put_u32(out, filled) ? SR_OK : SR_ENOMEM;
}

/* Passes over some records: counts the leaders of each group two places up, or files them. */
static sr_rc save_pass(struct frozen *f, const struct map *m, struct sr_out *out)
{
    struct save *s = &f->save;
    uint32_t end = m->used - s->slot > SAVE_SLOTS ? s->slot + SAVE_SLOTS : m->used;
    for (uint32_t slot = s->slot; slot < end; slot++) {
        const struct record *r = record_at(m, slot);
        s->room += r->is_used && s->phase == SAVE_COUNT ? save_room(m, slot) : 0;
        if (!save_is_leader(m, slot)) {
            continue;
        }
        uint32_t g = r->group - f->group_first;
        if (s->phase == SAVE_COUNT) {
            s->start[g + 2]++;
        } else {
            s->leader[s->start[g + 1]++] = (uint64_t)r->hash << 32 | slot;
        }
    }
    s->slot = end;
    if (end < m->used) {
        return SR_OK;
    }
    if (s->phase == SAVE_COUNT) {
        return save_counted(f, out);
    }
    s->phase = SAVE_GROUP;
    return SR_OK;
}

/* Begins the next group that has entries, or goes on to the next map. */
static sr_rc save_group(struct frozen *f, struct map *m, struct sr_out *out)
{
    struct save *s = &f->save;
    while (s->group < f->groups && s->start[s->group + 1] == s->start[s->group]) {
        s->group++;
    }
    if (s->group == f->groups) {
        save_done(s);
        s->map++;
        s->phase = s->map < f->maps ? SAVE_MAP : SAVE_DONE;
        return SR_OK;
    }
    uint64_t *first = s->leader + s->start[s->group];
    uint32_t count = s->start[s->group + 1] - s->start[s->group];
    save_sort(m, first, count);
    s->next = first;
    s->end = first + count;
    s->at = SR_SLOT_NONE;
    s->entries = 0;
    s->phase = SAVE_ENTRIES;
    bool is_ok = bytes_put_u32(out, f->group_first + s->group++) && bytes_put_u32(out, 0) &&
                 bytes_put_u64(out, 0);
    s->group_at = out->len;
    return is_ok ? SR_OK : SR_ENOMEM;
}

static sr_rc save_entries(struct frozen *f, const struct map *m, struct sr_out *out)
{
    struct save *s = &f->save;
    uint32_t slot[SR_BATCH_ROWS];
    uint32_t n = save_next(s, m, slot, SR_BATCH_ROWS);
    for (uint32_t i = 0; i < n; i++) {
        if (i + 2 * SAVE_AHEAD < n) {
            __builtin_prefetch(record_at(m, slot[i + 2 * SAVE_AHEAD]));
        }
        if (i + SAVE_AHEAD < n) {
            save_prefetch_texts(m, slot[i + SAVE_AHEAD]);
        }
        if (!save_entry(m, slot[i], out)) {
            return SR_ENOMEM;
        }
    }
    s->entries += n;
    if (n < SR_BATCH_ROWS) {
        save_patch(out, s->group_at - 12, s->entries, 4);
        save_patch(out, s->group_at - 8, out->len - s->group_at, 8);
        s->phase = SAVE_GROUP;
    }
    return SR_OK;
}

sr_rc save_step(struct frozen *f, struct sr_out *out)
{
    struct map *m = &f->map[f->save.map];
    switch (f->save.phase) {
    case SAVE_HEAD:
        return save_head(f, out);
    case SAVE_MAP:
        return save_map(f, m, out);
    case SAVE_COUNT:
    case SAVE_FILL:
        return save_pass(f, m, out);
    case SAVE_GROUP:
        return save_group(f, m, out);
    case SAVE_ENTRIES:
        return save_entries(f, m, out);
    case SAVE_DONE:
        break;
    }
    return SR_OK;
}

void save_done(struct save *s)
{
    free(s->leader);
    free(s->start);
    s->leader = NULL;
    s->start = NULL;
}
