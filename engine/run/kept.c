#include "engine/run/kept.h"

#include <stdlib.h>

#include "engine/base/assert.h"
#include "engine/base/room.h"
#include "engine/data/pool.h"

/* Live rows [from, from + count) of a view; the first has this number. */
struct kept_view {
    struct sr_view *view; /* owned */
    uint64_t number;
    uint32_t from, count;
};

struct kept {
    struct sr_home *home;
    struct kept_view *item; /* in order of their numbers */
    uint32_t count, capacity;
    uint32_t first; /* items before it are gone */
    uint64_t taken; /* rows, in all */
};

struct kept *kept_new(struct sr_home *home)
{
    struct kept *k = calloc(1, sizeof(*k));
    if (k) k->home = home;
    return k;
}

void kept_free(struct kept *k)
{
    if (!k) return;
    kept_drop(k, UINT64_MAX);
    free(k->item);
    free(k);
}

/* Moves what is left to the front. */
static void kept_close_up(struct kept *k)
{
    for (uint32_t i = k->first; i < k->count; i++) {
        k->item[i - k->first] = k->item[i];
    }
    k->count -= k->first;
    k->first = 0;
}

/* The offered view, of which nothing was taken yet, is not kept. */
static void kept_unput(struct kept *k)
{
    if (k->count == k->first) return;
    struct kept_view *last = &k->item[k->count - 1];
    if (last->number + last->count <= k->taken) return;
    last->count = (uint32_t)(k->taken - last->number);
    if (last->count == 0) {
        view_release(last->view);
        k->count--;
    }
}

sr_rc kept_put(struct kept *k, const struct sr_view *v, uint32_t from)
{
    sr_assert(from < v->picked);
    kept_unput(k);
    if (k->first > k->count / 2) kept_close_up(k);
    struct kept_view *grown = room_for_one(k->item, k->count, &k->capacity, sizeof(*grown));
    if (!grown) return SR_ENOMEM;
    k->item = grown;
    struct sr_view *own = view_share(k->home, v);
    if (!own) return SR_ENOMEM;
    k->item[k->count++] = (struct kept_view){
        .view = own, .number = k->taken, .from = from, .count = v->picked - from};
    return SR_OK;
}

void kept_taken(struct kept *k, uint32_t rows)
{
    k->taken += rows;
    kept_unput(k);
}

const struct sr_view *kept_find(const struct kept *k, uint64_t number, uint32_t *row)
{
    for (uint32_t i = k->first; i < k->count; i++) {
        const struct kept_view *one = &k->item[i];
        if (number >= one->number && number - one->number < one->count) {
            *row = sr_row(one->view, one->from + (uint32_t)(number - one->number));
            return one->view;
        }
    }
    return NULL;
}

void kept_drop(struct kept *k, uint64_t number)
{
    while (k->first < k->count) {
        struct kept_view *one = &k->item[k->first];
        bool is_offered = one->number + one->count > k->taken;
        if (number != UINT64_MAX && (is_offered || one->number + one->count > number)) return;
        view_release(one->view);
        k->first++;
    }
}
