#include "engine/run/splits.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/base/room.h"

#define SPLITS_LOOK_US INT64_C(1000000) /* until the next discovery, where a source does not say */

/* --- One split -------------------------------------------------------------------------------- */

void split_done(struct split *s)
{
    free(s->id);
    free(s->note);
    *s = (struct split){.id = NULL};
}

bool split_put(struct sr_out *o, const struct split *s)
{
    return bytes_put_u8(o, (uint8_t)s->state) && bytes_put_text(o, s->id) &&
           bytes_put_blob(o, s->note, s->note_len) && bytes_put_u64(o, (uint64_t)s->order) &&
           bytes_put_u64(o, (uint64_t)s->size_bytes) && bytes_put_u64(o, (uint64_t)s->done) &&
           bytes_put_u64(o, (uint64_t)s->watermark) && bytes_put_u64(o, (uint64_t)s->lines);
}

/* Copies; a split always has a note that is not NULL. */
static sr_rc split_make(struct split *out, struct sr_bytes id, struct sr_bytes note)
{
    *out = (struct split){.watermark = SR_WATERMARK_NONE, .lines = -1};
    out->id = malloc((size_t)id.len + 1);
    out->note = malloc((size_t)note.len + 1);
    if (!out->id || !out->note) {
        split_done(out);
        return SR_ENOMEM;
    }
    if (id.len > 0) memcpy(out->id, id.data, id.len);
    out->id[id.len] = '\0';
    if (note.len > 0) memcpy(out->note, note.data, note.len);
    out->note_len = note.len;
    return SR_OK;
}

sr_rc split_get(struct bytes_in *in, struct split *out)
{
    uint8_t state = bytes_get_u8(in);
    struct sr_bytes id = bytes_get_blob(in);
    struct sr_bytes note = bytes_get_blob(in);
    if (in->is_broken || state > SPLIT_FINISHED || memchr(id.data, '\0', id.len)) {
        return SR_ECORRUPT;
    }
    sr_rc rc = split_make(out, id, note);
    if (rc != SR_OK) return rc;
    out->state = (enum split_state)state;
    out->order = (int64_t)bytes_get_u64(in);
    out->size_bytes = (int64_t)bytes_get_u64(in);
    out->done = (int64_t)bytes_get_u64(in);
    out->watermark = (int64_t)bytes_get_u64(in);
    out->lines = (int64_t)bytes_get_u64(in);
    if (!in->is_broken) return SR_OK;
    split_done(out);
    return SR_ECORRUPT;
}

/* Makes room for `more` splits, so that adding them cannot fail. */
static bool split_list_reserve(struct split_list *l, uint32_t more)
{
    struct split *grown = room_for(l->item, l->count, more, &l->capacity, sizeof(*grown));
    if (!grown) return false;
    l->item = grown;
    return true;
}

sr_rc split_list_add(struct split_list *l, struct split *s)
{
    if (!split_list_reserve(l, 1)) {
        split_done(s);
        return SR_ENOMEM;
    }
    l->item[l->count++] = *s;
    *s = (struct split){.id = NULL};
    return SR_OK;
}

void split_list_done(struct split_list *l)
{
    for (uint32_t i = 0; i < l->count; i++) {
        split_done(&l->item[i]);
    }
    free(l->item);
    *l = (struct split_list){.count = 0};
}

bool splits_is_part(const struct manifest_part *p, const char *uid)
{
    return strcmp(p->uid, uid) == 0 &&
           (strcmp(p->name, "splits") == 0 || strcmp(p->name, "waiting") == 0);
}

sr_rc splits_read(const struct manifest_part *p, struct split_list *out, int64_t *watermark)
{
    bool has_watermark = strcmp(p->name, "splits") == 0;
    struct bytes_in in = bytes_in(p->bytes, p->len);
    *watermark = has_watermark ? (int64_t)bytes_get_u64(&in) : SR_WATERMARK_END;
    uint32_t count = bytes_get_u32(&in);
    for (uint32_t i = 0; i < count && !in.is_broken; i++) {
        struct split k;
        sr_rc rc = split_get(&in, &k);
        if (rc == SR_OK) rc = split_list_add(out, &k);
        if (rc != SR_OK) return rc;
    }
    return in.is_broken || in.at != in.end ? SR_ECORRUPT : SR_OK;
}

/* --- Opening ---------------------------------------------------------------------------------- */

sr_rc splits_new(struct splits **out, const struct plan *p, const struct plan_node *node,
                 uint32_t parts, const struct env *env, struct sr_error *err)
{
    struct splits *s = calloc(1, sizeof(*s));
    if (!s) return error_set(err, SR_ENOMEM, "source '%s': out of memory", node->step);
    s->node = node;
    s->parts = parts;
    s->next = (struct sr_wait){.fd = -1, .until_us = INT64_MIN};
    atomic_init(&s->has_more, true);
    atomic_init(&s->has_given, false);
    sr_rc rc = mutex_new(&s->lock, err);
    if (rc != SR_OK) goto out;
    s->home = home_new();
    s->discoverer = calloc(1, node->source->discoverer_size ? node->source->discoverer_size : 1);
    if (!s->home || !s->discoverer) {
        rc = error_set(err, SR_ENOMEM, "source '%s': out of memory", node->step);
        goto out;
    }
    host_init(&s->host, &s->ctx, env, s->home, node->step);
    s->host.time_zone = p->job->settings.time_zone;
    *out = s;
out:
    if (rc != SR_OK) splits_free(s);
    return rc;
}

void splits_free(struct splits *s)
{
    if (!s) return;
    if (s->is_open && s->node->source->discover_close) {
        s->node->source->discover_close(s->discoverer);
    }
    split_list_done(&s->waiting);
    split_list_done(&s->finished);
    free(s->discoverer);
    home_close(s->home);
    mutex_free(s->lock);
    free(s);
}

static int split_compare_ids(const void *a, const void *b)
{
    const struct split *x = a;
    const struct split *y = b;
    int by_id = strcmp(x->id, y->id);
    if (by_id != 0) return by_id;
    /* The same split twice: the one that got further comes first. */
    if (x->state != y->state) return x->state > y->state ? -1 : 1;
    return x->done > y->done ? -1 : x->done < y->done;
}

/* Given out from the end of the array: the oldest comes last. */
static int split_compare_order(const void *a, const void *b)
{
    const struct split *x = a;
    const struct split *y = b;
    if (x->order != y->order) return x->order > y->order ? -1 : 1;
    return -strcmp(x->id, y->id);
}

sr_rc splits_restore(struct splits *s, const struct manifest_part *p, int64_t *watermark)
{
    sr_assert(!s->is_open);
    return splits_read(p, &s->waiting, watermark);
}

/* Keeps of each id what got furthest, and moves what is finished to its own list. */
static sr_rc splits_settle(struct splits *s)
{
    struct split_list *all = &s->waiting;
    if (all->count == 0) return SR_OK;
    if (!split_list_reserve(&s->finished, all->count)) return SR_ENOMEM;
    if (all->count > 1) qsort(all->item, all->count, sizeof(*all->item), split_compare_ids);
    const char *last = NULL;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        struct split k = all->item[i];
        if (last && strcmp(last, k.id) == 0) {
            split_done(&k);
            continue;
        }
        last = k.id;
        if (k.state == SPLIT_FINISHED) {
            s->finished.item[s->finished.count++] = k;
        } else {
            all->item[kept++] = k;
        }
    }
    all->count = kept;
    return SR_OK;
}

sr_rc splits_saved(const struct manifest *m, const char *uid, struct split_list *out,
                   struct sr_error *err)
{
    struct splits s = {.parts = 1};
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; i < m->parts && rc == SR_OK; i++) {
        int64_t watermark;
        const struct manifest_part *p = &m->part[i];
        if (splits_is_part(p, uid)) rc = splits_read(p, &s.waiting, &watermark);
    }
    if (rc == SR_OK) rc = splits_settle(&s);
    for (uint32_t i = 0; i < s.finished.count && rc == SR_OK; i++) {
        rc = split_list_add(&s.waiting, &s.finished.item[i]);
    }
    if (rc == SR_OK && s.waiting.count > 1) {
        qsort(s.waiting.item, s.waiting.count, sizeof(*s.waiting.item), split_compare_ids);
    }
    split_list_done(&s.finished);
    if (rc == SR_OK) {
        *out = s.waiting;
        return SR_OK;
    }
    split_list_done(&s.waiting);
    return error_set(err, rc, "the splits of %s cannot be read", uid);
}

static void splits_count_bytes(struct splits *s, int64_t size_bytes)
{
    if (size_bytes <= 0) s->bytes_total = -1;
    if (s->bytes_total >= 0) s->bytes_total += size_bytes;
}

static void splits_know(struct splits *s, const struct split_list *l, uint32_t first)
{
    const struct sr_source_type *t = s->node->source;
    for (uint32_t i = 0; i < l->count; i++) {
        const struct split *k = &l->item[i];
        struct sr_split known = {.id = k->id,
                                 .note = {k->note, k->note_len},
                                 .order = k->order,
                                 .size_bytes = k->size_bytes};
        if (SR_HAS_FIELD(t, struct sr_source_type, restored) && t->restored) {
            t->restored(s->discoverer, first + i, &known, k->state == SPLIT_FINISHED);
        } else if (t->known) {
            t->known(s->discoverer, &known);
        }
        splits_count_bytes(s, k->size_bytes);
    }
}

sr_rc splits_open(struct splits *s, struct sr_error *err)
{
    if (splits_settle(s) != SR_OK) {
        return error_set(err, SR_ENOMEM, "source '%s': out of memory for splits", s->node->step);
    }
    struct sr_source_open o = {.size = sizeof(o),
                               .host = &s->host,
                               .conf = s->node->conf,
                               .schema = s->node->brought,
                               .format_flags = s->node->format_flags,
                               .parts = s->parts,
                               .goes_on = s->goes_on};
    s->is_open = true; /* or half so: it is closed in any case */
    sr_rc rc = s->node->source->discover_open(s->discoverer, &o, err);
    if (rc != SR_OK) return error_wrap(err, "source '%s'", s->node->step);
    splits_know(s, &s->finished, 0);
    splits_know(s, &s->waiting, s->finished.count);
    s->restored[0] = s->finished.count;
    s->restored[1] = s->waiting.count;
    return SR_OK;
}

/* --- Discovery -------------------------------------------------------------------------------- */

struct splits_adder {
    struct sr_splits base;
    struct splits *splits;
};

static sr_rc splits_add(struct sr_splits *base, const struct sr_split *split)
{
    struct splits *s = ((struct splits_adder *)(void *)base)->splits;
    struct split k;
    struct sr_bytes id = {split->id, (uint32_t)strlen(split->id)};
    sr_rc rc = split_make(&k, id, split->note);
    if (rc != SR_OK) return rc;
    k.order = split->order;
    k.size_bytes = split->size_bytes;
    splits_count_bytes(s, k.size_bytes);
    s->is_sorted = false;
    return split_list_add(&s->waiting, &k);
}

/* The restored split of that number; its place is empty then (no id). */
static struct split splits_take_restored(struct splits *s, uint32_t number)
{
    bool is_finished = number < s->restored[0];
    uint32_t at = is_finished ? number : number - s->restored[0];
    sr_assert(at < s->restored[is_finished ? 0 : 1]);
    struct split *place = is_finished ? &s->finished.item[at] : &s->waiting.item[at];
    struct split k = *place;
    sr_assert(k.id); /* once only */
    *place = (struct split){.id = NULL};
    return k;
}

static sr_rc splits_change(struct sr_splits *base, uint32_t number, const struct sr_split *now,
                           bool is_finished)
{
    struct splits *s = ((struct splits_adder *)(void *)base)->splits;
    struct split k = splits_take_restored(s, number);
    uint8_t *note = malloc((size_t)now->note.len + 1);
    if (!note) {
        split_done(&k);
        return SR_ENOMEM;
    }
    if (now->note.len > 0) memcpy(note, now->note.data, now->note.len);
    free(k.note);
    k.note = note;
    k.note_len = now->note.len;
    k.order = now->order;
    if (s->bytes_total >= 0) s->bytes_total -= k.size_bytes;
    splits_count_bytes(s, now->size_bytes);
    k.size_bytes = now->size_bytes;
    k.state = is_finished ? SPLIT_FINISHED : SPLIT_WAITING;
    s->is_sorted = false;
    return split_list_add(is_finished ? &s->finished : &s->waiting, &k);
}

static void splits_forget(struct sr_splits *base, uint32_t number)
{
    struct splits *s = ((struct splits_adder *)(void *)base)->splits;
    struct split k = splits_take_restored(s, number);
    if (s->bytes_total >= 0) s->bytes_total -= k.size_bytes;
    split_done(&k);
}

/* Closes the gaps that changes left. */
static void splits_close_up(struct split_list *l)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        if (l->item[i].id) l->item[kept++] = l->item[i];
    }
    l->count = kept;
}

static sr_rc splits_discover(struct splits *s, int64_t now_us, struct sr_error *err)
{
    if (s->is_all || now_us < s->next.until_us) return SR_OK;
    struct splits_adder adder = {
        .base = {.add = splits_add, .change = splits_change, .forget = splits_forget}, .splits = s};
    struct sr_wait wait = {.fd = -1, .until_us = now_us + SPLITS_LOOK_US};
    enum sr_discovered found = s->node->source->discover(s->discoverer, &adder.base, &wait, err);
    s->restored[0] = s->restored[1] = 0;
    splits_close_up(&s->finished);
    splits_close_up(&s->waiting);
    switch (found) {
    case SR_DISCOVERED_ALL:
        s->is_all = true;
        break;
    case SR_DISCOVERED_SOFAR:
        s->next = wait;
        break;
    case SR_DISCOVER_FAILED:
        return error_wrap(err, "source '%s'", s->node->step);
    }
    return SR_OK;
}

/* --- Giving out ------------------------------------------------------------------------------- */

static bool splits_may_take(const struct splits *s, uint32_t held)
{
    if (s->waiting.count == 0) return false;
    const struct sr_source_caps *caps = &s->node->source_caps;
    if (caps->is_bounded && !caps->side_by_side) return held == 0;
    uint32_t all = s->given + s->waiting.count;
    return held < (all + s->parts - 1) / s->parts;
}

static void splits_pop(struct splits *s, struct split *out)
{
    if (!s->is_sorted) {
        qsort(s->waiting.item, s->waiting.count, sizeof(*s->waiting.item), split_compare_order);
        s->is_sorted = true;
    }
    *out = s->waiting.item[--s->waiting.count];
    s->given++;
}

enum splits_got splits_take(struct splits *s, uint32_t held, int64_t now_us, struct split *out,
                            struct sr_wait *wait, struct sr_error *err)
{
    enum splits_got got = SPLITS_LATER;
    mutex_lock(s->lock);
    if (splits_discover(s, now_us, err) != SR_OK) {
        got = SPLITS_FAILED;
    } else if (splits_may_take(s, held)) {
        splits_pop(s, out);
        atomic_store_explicit(&s->has_given, true, memory_order_relaxed);
        got = SPLITS_ONE;
    } else if (s->is_all && s->waiting.count == 0) {
        got = SPLITS_ALL;
    }
    bool has_more = !s->is_all || s->waiting.count > 0;
    atomic_store_explicit(&s->has_more, has_more, memory_order_relaxed);
    *wait = s->is_all ? (struct sr_wait){.fd = -1, .until_us = INT64_MAX} : s->next;
    mutex_unlock(s->lock);
    return got;
}

sr_rc splits_found(struct splits *s, const struct sr_split *split)
{
    struct splits_adder adder = {.splits = s};
    mutex_lock(s->lock);
    sr_rc rc = splits_add(&adder.base, split);
    atomic_store_explicit(&s->has_more, true, memory_order_relaxed);
    mutex_unlock(s->lock);
    return rc;
}

sr_rc splits_told(struct splits *s, const struct sr_split *split, struct sr_error *err)
{
    const struct sr_source_type *t = s->node->source;
    if (!SR_HAS_FIELD(t, struct sr_source_type, told) || !t->told) return SR_OK;
    mutex_lock(s->lock);
    sr_rc rc = t->told(s->discoverer, split, err);
    mutex_unlock(s->lock);
    return rc == SR_OK ? rc : error_wrap(err, "source '%s'", s->node->step);
}

int64_t splits_bytes(struct splits *s)
{
    mutex_lock(s->lock);
    int64_t bytes = s->bytes_total;
    mutex_unlock(s->lock);
    return bytes;
}

void splits_ended(struct splits *s)
{
    mutex_lock(s->lock);
    sr_assert(s->given > 0);
    s->given--;
    mutex_unlock(s->lock);
}

static bool splits_put_all(struct sr_out *o, const struct split_list *l)
{
    for (uint32_t i = 0; i < l->count; i++) {
        if (!split_put(o, &l->item[i])) return false;
    }
    return true;
}

sr_rc splits_save(struct splits *s, uint64_t n, struct sr_out *out)
{
    bool is_ok = true;
    mutex_lock(s->lock);
    if (s->saved < n) {
        s->saved = n;
        is_ok = bytes_put_u32(out, s->waiting.count + s->finished.count) &&
                splits_put_all(out, &s->waiting) && splits_put_all(out, &s->finished);
    }
    mutex_unlock(s->lock);
    return is_ok ? SR_OK : SR_ENOMEM;
}
