#include "engine/run/saver.h"

#include "engine/base/assert.h"
#include "engine/state/backend.h"

sr_rc saver_init(struct saver *s, const struct env *env, struct reports *reports,
                 struct sr_error *err)
{
    *s = (struct saver){.env = env, .reports = reports};
    atomic_init(&s->is_busy, false);
    return mutex_new(&s->lock, err);
}

void saver_done(struct saver *s)
{
    report_free(s->current);
    while (s->first) {
        struct report *r = s->first;
        s->first = r->next;
        report_free(r);
    }
    mutex_free(s->lock);
    *s = (struct saver){.first = NULL};
}

void saver_put(struct saver *s, struct report *r)
{
    sr_assert(report_is_frozen(r) && !r->next);
    mutex_lock(s->lock);
    if (s->last) {
        s->last->next = r;
    } else {
        s->first = r;
    }
    s->last = r;
    atomic_store(&s->is_busy, true);
    mutex_unlock(s->lock);
    if (s->wake) s->wake(s->ctx);
}

static bool saver_take(struct saver *s)
{
    mutex_lock(s->lock);
    struct report *r = s->first;
    if (r) {
        s->first = r->next;
        if (!s->first) s->last = NULL;
        r->next = NULL;
    } else {
        atomic_store(&s->is_busy, false);
    }
    mutex_unlock(s->lock);
    s->current = r;
    s->part = 0;
    s->started_us = s->env->mono_us(s->env);
    return r != NULL;
}

/* All its parts are bytes, or r->error says why not. */
static void saver_tell(struct saver *s)
{
    struct report *r = s->current;
    s->current = NULL;
    r->async_us = s->env->mono_us(s->env) - s->started_us;
    if (r->error.rc != SR_OK) report_drop_parts(r);
    reports_put(s->reports, r);
}

bool saver_step(struct saver *s)
{
    if (!s->current && !saver_take(s)) return false;
    struct report *r = s->current;
    while (s->part < r->saved && !r->item[s->part].frozen) {
        s->part++;
    }
    if (s->part == r->saved) {
        saver_tell(s);
        return true;
    }
    struct report_part *p = &r->item[s->part];
    bool is_done = false;
    if (frozen_save(p->frozen, &p->bytes, &is_done, &r->error) != SR_OK) {
        saver_tell(s);
    } else if (is_done) {
        frozen_free(p->frozen);
        p->frozen = NULL;
    }
    return true;
}
