#include "engine/run/report.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/base/room.h"
#include "engine/state/backend.h"

struct report *report_new(enum report_kind kind)
{
    struct report *r = calloc(1, sizeof(*r));
    if (r) r->kind = kind;
    return r;
}

void report_drop_parts(struct report *r)
{
    for (uint32_t i = 0; i < r->saved; i++) {
        bytes_free(&r->item[i].bytes);
        frozen_free(r->item[i].frozen);
    }
    r->saved = 0;
}

void report_free(struct report *r)
{
    if (!r) return;
    report_drop_parts(r);
    culprit_done(&r->culprit);
    free(r->item);
    free(r->count);
    free(r);
}

/* NULL: out of memory. */
static struct report_part *report_add(struct report *r, const char *uid, const char *name)
{
    struct report_part *grown = room_for_one(r->item, r->saved, &r->capacity, sizeof(*grown));
    if (!grown) return NULL;
    r->item = grown;
    struct report_part *p = &r->item[r->saved++];
    *p = (struct report_part){.uid = uid, .part = r->part, .parts = r->parts, .bytes = bytes_out()};
    int len = snprintf(p->name, sizeof(p->name), "%s", name);
    sr_assert(len > 0 && (size_t)len < sizeof(p->name));
    return p;
}

bool report_add_part(struct report *r, const char *uid, const char *name, struct sr_out *bytes)
{
    struct report_part *p = report_add(r, uid, name);
    if (!p) {
        bytes_free(bytes);
        return false;
    }
    p->bytes = *bytes;
    *bytes = bytes_out();
    return true;
}

bool report_add_frozen(struct report *r, const char *uid, const char *name, struct frozen *f)
{
    struct report_part *p = report_add(r, uid, name);
    if (!p) {
        frozen_free(f);
        return false;
    }
    p->frozen = f;
    return true;
}

bool report_is_frozen(const struct report *r)
{
    for (uint32_t i = 0; i < r->saved; i++) {
        if (r->item[i].frozen) return true;
    }
    return false;
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
