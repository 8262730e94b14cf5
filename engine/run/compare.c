#include "engine/run/compare.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/base/room.h"
#include "engine/run/source_task.h"
#include "engine/state/reader.h"

/* An entry, as far as it is compared: entries with the same key digest are the same entry. */
struct compare_entry {
    struct digest key, whole;
    uint32_t bytes;
};

struct compare_list {
    struct compare_entry *item;
    uint32_t count, capacity;
};

struct compare_work {
    struct arena *arena;
    const struct manifest *side[2];
    struct sr_home *home;
    struct compare out;
    uint32_t states_room, splits_room, parts_room;
    struct compare_list list[2]; /* entries of the map that is being compared, by side */
};

static sr_rc compare_no_memory(struct sr_error *err)
{
    return error_set(err, SR_ENOMEM, "compare checkpoints: out of memory");
}

static bool compare_is_part(const struct manifest_part *p, const char *uid, const char *name)
{
    return strcmp(p->uid, uid) == 0 && strcmp(p->name, name) == 0;
}

/* --- State ------------------------------------------------------------------------------------ */

static sr_rc compare_add_entry(struct compare_list *l, const struct reader *r,
                               const struct reader_entry *e)
{
    struct compare_entry *grown = room_for_one(l->item, l->count, &l->capacity, sizeof(*grown));
    if (!grown) return SR_ENOMEM;
    l->item = grown;
    /* Those of a multimap are told apart by their values as well. */
    uint32_t len = r->map.kind == SR_MAP_MULTI ? e->key_len + e->value_len : e->key_len;
    struct digest key = digest_of(e->key, len);
    key.low ^= (uint64_t)e->space * UINT64_C(0x9e3779b97f4a7c15);
    struct digest whole = digest_of(e->key, (size_t)e->key_len + e->value_len);
    whole.low ^= (uint64_t)e->timer * UINT64_C(0xd6e8feb86659fd93);
    l->item[l->count++] = (struct compare_entry){key, whole, e->key_len + e->value_len};
    return SR_OK;
}

static int compare_entries(const void *a, const void *b)
{
    const struct compare_entry *x = a, *y = b;
    if (x->key.high != y->key.high) return x->key.high < y->key.high ? -1 : 1;
    return x->key.low < y->key.low ? -1 : x->key.low > y->key.low;
}

static struct compare_amount compare_total(const struct compare_list *l)
{
    struct compare_amount sum = {l->count, 0};
    for (uint32_t i = 0; i < l->count; i++) {
        sum.bytes += l->item[i].bytes;
    }
    return sum;
}

static void compare_count(struct compare_amount *to, const struct compare_entry *e)
{
    to->entries++;
    to->bytes += e->bytes;
}

static void compare_lists(struct compare_work *w, struct compare_state *s)
{
    struct compare_list *old = &w->list[0], *new = &w->list[1];
    qsort(old->item, old->count, sizeof(*old->item), compare_entries);
    qsort(new->item, new->count, sizeof(*new->item), compare_entries);
    s->old = compare_total(old);
    s->new = compare_total(new);
    uint32_t i = 0, k = 0;
    while (i < old->count || k < new->count) {
        int order = i == old->count   ? 1
                    : k == new->count ? -1
                                      : compare_entries(&old->item[i], &new->item[k]);
        if (order < 0) {
            compare_count(&s->removed, &old->item[i++]);
        } else if (order > 0) {
            compare_count(&s->added, &new->item[k++]);
        } else {
            const struct digest a = old->item[i++].whole, b = new->item[k].whole;
            if (a.low != b.low || a.high != b.high) compare_count(&s->changed, &new->item[k]);
            k++;
        }
    }
}

/* Entries of the map that the reader stands at; and its columns. */
static sr_rc compare_read(struct compare_work *w, uint32_t side, struct compare_state *s,
                          struct reader *r)
{
    const char *columns = arena_text(w->arena, r->map.signature);
    *(side == 0 ? &s->before : &s->after) = columns;
    sr_rc rc = columns ? SR_OK : SR_ENOMEM;
    while (rc == SR_OK && reader_batch(r)) {
        for (uint32_t row = 0; row < r->rows && rc == SR_OK; row++) {
            rc = compare_add_entry(&w->list[side], r, &r->entry[row]);
        }
    }
    return rc == SR_OK ? r->rc : rc;
}

/* Gathers the entries of a map from all subtasks of one side. */
static sr_rc compare_gather(struct compare_work *w, uint32_t side, struct compare_state *s,
                            struct sr_error *err)
{
    const struct manifest *m = w->side[side];
    w->list[side].count = 0;
    for (uint32_t i = 0; i < m->parts; i++) {
        const struct manifest_part *p = &m->part[i];
        if (!compare_is_part(p, s->uid, MANIFEST_STATE)) continue;
        struct reader r;
        sr_rc rc = reader_begin(&r, w->home, p->bytes, (size_t)p->len);
        while (rc == SR_OK && reader_map(&r)) {
            if (strcmp(r.map.name, s->name) == 0) rc = compare_read(w, side, s, &r);
        }
        rc = rc == SR_OK ? r.rc : rc;
        reader_end(&r);
        if (rc != SR_OK) return error_set(err, rc, "the state of %s cannot be read", p->uid);
    }
    return SR_OK;
}

static bool compare_has_state(const struct compare_work *w, const char *uid, const char *name)
{
    for (uint32_t i = 0; i < w->out.states; i++) {
        const struct compare_state *s = &w->out.state[i];
        if (strcmp(s->uid, uid) == 0 && strcmp(s->name, name) == 0) return true;
    }
    return false;
}

static sr_rc compare_add_state(struct compare_work *w, const char *uid, const char *name,
                               struct sr_error *err)
{
    if (compare_has_state(w, uid, name)) return SR_OK;
    struct compare_state *grown =
        room_for_one(w->out.state, w->out.states, &w->states_room, sizeof(*grown));
    if (!grown) return compare_no_memory(err);
    w->out.state = grown;
    struct compare_state *s = &grown[w->out.states++];
    *s = (struct compare_state){.uid = uid, .name = arena_text(w->arena, name)};
    sr_rc rc = s->name ? compare_gather(w, 0, s, err) : compare_no_memory(err);
    if (rc == SR_OK) rc = compare_gather(w, 1, s, err);
    if (rc == SR_OK) compare_lists(w, s);
    return rc;
}

static sr_rc compare_maps(struct compare_work *w, const struct manifest_part *p,
                          struct sr_error *err)
{
    struct reader r;
    sr_rc rc = reader_begin(&r, w->home, p->bytes, (size_t)p->len);
    while (rc == SR_OK && reader_map(&r)) {
        rc = compare_add_state(w, p->uid, r.map.name, err);
    }
    if (rc == SR_OK && r.rc != SR_OK) {
        rc = error_set(err, r.rc, "the state of %s cannot be read", p->uid);
    }
    reader_end(&r);
    return rc;
}

/* --- Splits ----------------------------------------------------------------------------------- */

static struct compare_split *compare_find_split(struct compare_work *w, const char *uid,
                                                const char *id)
{
    for (uint32_t i = 0; i < w->out.splits; i++) {
        struct compare_split *s = &w->out.split[i];
        if (strcmp(s->uid, uid) == 0 && strcmp(s->id, id) == 0) return s;
    }
    struct compare_split *grown =
        room_for_one(w->out.split, w->out.splits, &w->splits_room, sizeof(*grown));
    if (!grown) return NULL;
    w->out.split = grown;
    struct compare_split *s = &grown[w->out.splits++];
    *s = (struct compare_split){.uid = uid, .id = arena_text(w->arena, id)};
    return s->id ? s : NULL;
}

/* A split may stand in several subtasks' parts (splits.h): the furthest counts. */
static sr_rc compare_split(struct compare_work *w, uint32_t side, const char *uid,
                           const struct split *k)
{
    struct compare_split *s = compare_find_split(w, uid, k->id);
    if (!s) return SR_ENOMEM;
    if (side == 0) {
        s->before = !s->was_there || k->done > s->before ? k->done : s->before;
        s->was_there = true;
    } else {
        s->after = !s->is_there || k->done > s->after ? k->done : s->after;
        s->is_there = true;
        s->is_finished = s->is_finished || k->state == SPLIT_FINISHED;
    }
    return SR_OK;
}

static sr_rc compare_splits(struct compare_work *w, uint32_t side, const struct manifest_part *p,
                            struct sr_error *err)
{
    struct split_list list = {.count = 0};
    int64_t watermark;
    sr_rc rc = splits_read(p, &list, &watermark);
    for (uint32_t i = 0; i < list.count && rc == SR_OK; i++) {
        rc = compare_split(w, side, p->uid, &list.item[i]);
    }
    split_list_done(&list);
    return rc == SR_OK ? rc : error_set(err, rc, "the splits of %s cannot be read", p->uid);
}

/* --- The rest --------------------------------------------------------------------------------- */

static uint64_t compare_part_bytes(const struct manifest *m, const char *uid, const char *name,
                                   struct digest *digest)
{
    uint64_t bytes = 0;
    *digest = digest_of("", 0);
    for (uint32_t i = 0; i < m->parts; i++) {
        const struct manifest_part *p = &m->part[i];
        if (!compare_is_part(p, uid, name)) continue;
        bytes += p->len;
        digest->low = digest->low * 31 + p->digest.low;
        digest->high = digest->high * 31 + p->digest.high;
    }
    return bytes;
}

static sr_rc compare_add_part(struct compare_work *w, const char *uid, const char *name,
                              struct sr_error *err)
{
    for (uint32_t i = 0; i < w->out.parts; i++) {
        const struct compare_part *p = &w->out.part[i];
        if (strcmp(p->uid, uid) == 0 && strcmp(p->name, name) == 0) return SR_OK;
    }
    struct compare_part *grown =
        room_for_one(w->out.part, w->out.parts, &w->parts_room, sizeof(*grown));
    if (!grown) return compare_no_memory(err);
    w->out.part = grown;
    struct digest a, b;
    struct compare_part *p = &grown[w->out.parts++];
    *p = (struct compare_part){.uid = uid, .name = name};
    p->before = compare_part_bytes(w->side[0], uid, name, &a);
    p->after = compare_part_bytes(w->side[1], uid, name, &b);
    p->is_same = a.low == b.low && a.high == b.high;
    return SR_OK;
}

static sr_rc compare_side(struct compare_work *w, uint32_t side, struct sr_error *err)
{
    const struct manifest *m = w->side[side];
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; i < m->parts && rc == SR_OK; i++) {
        const struct manifest_part *p = &m->part[i];
        if (strcmp(p->name, MANIFEST_STATE) == 0) {
            rc = compare_maps(w, p, err);
        } else if (splits_is_part(p, p->uid)) {
            rc = compare_splits(w, side, p, err);
        } else {
            rc = compare_add_part(w, p->uid, p->name, err);
        }
    }
    return rc;
}

/* Into the arena, so that nobody has to free them. */
static void *compare_keep(struct arena *a, void *items, size_t bytes)
{
    void *copy = arena_copy(a, items ? items : "", bytes);
    free(items);
    return copy;
}

sr_rc compare_checkpoints(struct arena *a, const struct manifest *old, const struct manifest *new,
                          struct compare *out, struct sr_error *err)
{
    struct compare_work w = {.arena = a, .side = {old, new}, .home = home_new()};
    sr_rc rc = w.home ? compare_side(&w, 0, err) : compare_no_memory(err);
    if (rc == SR_OK) rc = compare_side(&w, 1, err);
    for (uint32_t i = 0; i < w.out.splits; i++) {
        struct compare_split *s = &w.out.split[i];
        s->is_moved = s->was_there != s->is_there || s->before != s->after;
    }
    w.out.state = compare_keep(a, w.out.state, w.out.states * sizeof(*w.out.state));
    w.out.split = compare_keep(a, w.out.split, w.out.splits * sizeof(*w.out.split));
    w.out.part = compare_keep(a, w.out.part, w.out.parts * sizeof(*w.out.part));
    free(w.list[0].item);
    free(w.list[1].item);
    home_close(w.home);
    if (rc == SR_OK && arena_is_broken(a)) rc = compare_no_memory(err);
    if (rc == SR_OK) *out = w.out;
    return rc;
}
