#include "engine/run/report.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/base/room.h"

struct report *report_new(enum report_kind kind)
{
    struct report *r = calloc(1, sizeof(*r));
    if (r) r->kind = kind;
    return r;
}

void report_free(struct report *r)
{
    if (!r) return;
    for (uint32_t i = 0; i < r->saved; i++) {
        bytes_free(&r->item[i].bytes);
    }
    culprit_done(&r->culprit);
    free(r->item);
    free(r->count);
    free(r);
}

bool report_add_part(struct report *r, const char *uid, const char *name, struct sr_out *bytes)
{
    struct report_part *grown = room_for_one(r->item, r->saved, &r->capacity, sizeof(*grown));
    if (!grown) {
        bytes_free(bytes);
        return false;
    }
    r->item = grown;
    struct report_part *p = &r->item[r->saved++];
    *p = (struct report_part){.uid = uid, .part = r->part, .parts = r->parts, .bytes = *bytes};
    int len = snprintf(p->name, sizeof(p->name), "%s", name);
    sr_assert(len > 0 && (size_t)len < sizeof(p->name));
    *bytes = bytes_out();
    return true;
}

sr_rc reports_init(struct reports *q, struct sr_error *err)
{
    *q = (struct reports){.first = NULL};
    atomic_init(&q->is_lost, false);
    return mutex_new(&q->lock, err);
}

void reports_done(struct reports *q)
{
    while (q->first) {
        struct report *r = q->first;
        q->first = r->next;
        report_free(r);
    }
    mutex_free(q->lock);
    *q = (struct reports){.first = NULL};
}

void reports_put(struct reports *q, struct report *r)
{
    sr_assert(r && !r->next);
    mutex_lock(q->lock);
    if (q->last) {
        q->last->next = r;
    } else {
        q->first = r;
    }
    q->last = r;
    mutex_unlock(q->lock);
    if (q->wake) q->wake(q->ctx);
}

void reports_lose(struct reports *q)
{
    atomic_store(&q->is_lost, true);
    if (q->wake) q->wake(q->ctx);
}

struct report *reports_take(struct reports *q)
{
    mutex_lock(q->lock);
    struct report *r = q->first;
    if (r) {
        q->first = r->next;
        if (!q->first) q->last = NULL;
        r->next = NULL;
    }
    mutex_unlock(q->lock);
    return r;
}
