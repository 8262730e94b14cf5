#include "engine/state/freezer.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/room.h"

/* --- Limbo ------------------------------------------------------------------------------------ */

bool limbo_put(struct limbo *l, const struct limbo_item *item)
{
    if (l->first > 0 && l->first >= l->count && l->first + l->count == l->space) {
        memmove(l->item, l->item + l->first, l->count * sizeof(*l->item));
        l->first = 0;
    }
    struct limbo_item *list = room_for_one(l->item, l->first + l->count, &l->space, sizeof(*list));
    if (!list) {
        return false;
    }
    l->item = list;
    sr_assert_hot(l->count == 0 || list[l->first + l->count - 1].epoch <= item->epoch);
    list[l->first + l->count++] = *item;
    return true;
}

bool limbo_take(struct limbo *l, uint32_t oldest, struct limbo_item *out)
{
    if (l->count == 0 || l->item[l->first].epoch > oldest) {
        return false;
    }
    *out = l->item[l->first++];
    if (--l->count == 0) {
        free(l->item);
        *l = (struct limbo){.item = NULL};
    }
    return true;
}

void limbo_done(struct limbo *l)
{
    for (uint32_t i = 0; i < l->count; i++) {
        free(l->item[l->first + i].memory);
    }
    limbo_forget(l);
}

void limbo_forget(struct limbo *l)
{
    free(l->item);
    *l = (struct limbo){.item = NULL};
}

/* --- Views ------------------------------------------------------------------------------------ */

sr_rc freezer_init(struct freezer *f, struct sr_error *err)
{
    *f = (struct freezer){.epoch = 1, .oldest = UINT32_MAX};
    return mutex_new(&f->lock, err);
}

void freezer_done(struct freezer *f)
{
    for (uint32_t i = 0; i < f->views; i++) {
        sr_assert(atomic_load(&f->view[i]->is_left));
        free(f->view[i]);
    }
    mutex_free(f->lock);
    *f = (struct freezer){.epoch = 0};
}

static void freezer_look(struct freezer *f)
{
    f->oldest = UINT32_MAX;
    f->frozen = 0;
    for (uint32_t i = 0; i < f->views; i++) {
        if (!f->view[i]->is_broken) { /* only this thread breaks */
            f->oldest = f->oldest < f->view[i]->epoch ? f->oldest : f->view[i]->epoch;
            f->frozen = f->view[i]->epoch;
        }
    }
}

void freezer_reap(struct freezer *f)
{
    uint32_t live = 0;
    for (uint32_t i = 0; i < f->views; i++) {
        /* Acquire: what the reader read comes before what is written from now on. */
        if (atomic_load_explicit(&f->view[i]->is_left, memory_order_acquire)) {
            free(f->view[i]);
        } else {
            f->view[live++] = f->view[i];
        }
    }
    if (live != f->views) {
        f->views = live;
        freezer_look(f);
    }
}

sr_rc freezer_enter(struct freezer *f, struct freezer_view *v)
{
    freezer_reap(f);
    if (f->views == FREEZER_VIEWS_MAX) {
        return SR_ELIMIT;
    }
    sr_assert(f->epoch < UINT32_MAX - 1);
    *v = (struct freezer_view){.epoch = f->epoch++, .owner = f};
    atomic_init(&v->is_left, false);
    f->view[f->views++] = v;
    freezer_look(f);
    return SR_OK;
}

void freezer_leave(struct freezer_view *v)
{
    atomic_store_explicit(&v->is_left, true, memory_order_release);
}

void freezer_break(struct freezer *f)
{
    mutex_lock(f->lock);
    for (uint32_t i = 0; i < f->views; i++) {
        f->view[i]->is_broken = true;
    }
    mutex_unlock(f->lock);
    freezer_look(f);
}

bool freezer_begin_step(struct freezer_view *v)
{
    mutex_lock(v->owner->lock);
    if (v->is_broken) {
        mutex_unlock(v->owner->lock);
        return false;
    }
    return true;
}

void freezer_end_step(struct freezer_view *v) { mutex_unlock(v->owner->lock); }
