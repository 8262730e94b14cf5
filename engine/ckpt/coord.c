#include "engine/ckpt/coord.h"

#include <stddef.h>

#include "engine/base/assert.h"

static const struct coord_cmd coord_nothing = {COORD_NOTHING, 0, COORD_CHECKPOINT};

static void coord_check(const struct coord *c)
{
    sr_assert(c->pendings <= c->conf.concurrent_max);
    sr_assert(c->shown <= c->newest);
    for (uint32_t i = 0; i < COORD_PENDING_MAX; i++) {
        const struct coord_pending *p = &c->pending[i];
        sr_assert((p->state == COORD_FREE) == (i >= c->pendings));
        if (i < c->pendings) {
            sr_assert(p->checkpoint > c->shown && p->checkpoint <= c->newest);
            sr_assert(i == 0 || p->checkpoint > p[-1].checkpoint);
            sr_assert(p->checkpoint - c->pending[0].checkpoint < COORD_PENDING_MAX);
            sr_assert(p->state != COORD_STORING || p->saved == c->conf.tasks);
        }
    }
}

static struct coord_pending *coord_find(struct coord *c, uint64_t checkpoint)
{
    for (uint32_t i = 0; i < c->pendings; i++) {
        if (c->pending[i].checkpoint == checkpoint) return &c->pending[i];
    }
    return NULL;
}

/* Forgets the first `count` pending ones from index `at` on. */
static void coord_forget(struct coord *c, uint32_t at, uint32_t count)
{
    sr_assert(at + count <= c->pendings);
    for (uint32_t i = at; i + count < c->pendings; i++) {
        c->pending[i] = c->pending[i + count];
    }
    for (uint32_t i = c->pendings - count; i < c->pendings; i++) {
        c->pending[i] = (struct coord_pending){.state = COORD_FREE};
    }
    c->pendings -= count;
}

/* Whether another one may start. */
static bool coord_has_room(const struct coord *c)
{
    if (c->pendings == 0) return true;
    enum coord_kind last = c->pending[c->pendings - 1].kind;
    return c->pendings < c->conf.concurrent_max && last != COORD_STOP && last != COORD_LAST &&
           c->newest + 1 - c->pending[0].checkpoint < COORD_PENDING_MAX;
}

/* One was shown: the next periodic one keeps its distance. */
static void coord_pause(struct coord *c, int64_t now_us)
{
    if (c->next_us != INT64_MAX && c->next_us < now_us + c->conf.min_pause_us) {
        c->next_us = now_us + c->conf.min_pause_us;
    }
}

static struct coord_cmd coord_fail(struct coord *c, const struct coord_pending *p)
{
    struct coord_cmd cmd = {COORD_DROP, p->checkpoint, p->kind};
    coord_forget(c, (uint32_t)(p - c->pending), 1);
    if (cmd.kind != COORD_SAVEPOINT && cmd.kind != COORD_STOP) {
        c->failures++;
        if (c->failures > c->conf.tolerable) cmd.what = COORD_FAIL;
    }
    coord_check(c);
    return cmd;
}

static struct coord_cmd coord_start(struct coord *c, enum coord_kind kind, int64_t now_us)
{
    sr_assert(coord_has_room(c));
    c->pending[c->pendings++] = (struct coord_pending){
        .state = COORD_RUNNING, .kind = kind, .checkpoint = ++c->newest, .started_us = now_us};
    coord_check(c);
    return (struct coord_cmd){COORD_INJECT, c->newest, kind};
}

/* 0: no periodic ones. */
static int64_t coord_interval(const struct coord *c)
{
    return c->is_backlog ? c->conf.backlog_us : c->conf.interval_us;
}

void coord_init(struct coord *c, const struct coord_conf *conf, int64_t now_us)
{
    sr_assert(conf->tasks > 0);
    sr_assert(conf->concurrent_max >= 1 && conf->concurrent_max <= COORD_PENDING_MAX);
    sr_assert(conf->interval_us >= 0 && conf->min_pause_us >= 0);
    sr_assert(conf->timeout_us > 0 && conf->tolerable >= 0);
    *c = (struct coord){.conf = *conf, .newest = conf->newest, .next_us = INT64_MAX};
    if (conf->interval_us > 0) c->next_us = now_us + conf->interval_us;
    coord_check(c);
}

struct coord_cmd coord_tick(struct coord *c, int64_t now_us)
{
    coord_check(c);
    for (uint32_t i = 0; i < c->pendings; i++) {
        struct coord_pending *p = &c->pending[i];
        if (p->state == COORD_RUNNING && now_us - p->started_us >= c->conf.timeout_us) {
            return coord_fail(c, p);
        }
    }
    if (c->is_stopped || now_us < c->next_us || !coord_has_room(c)) return coord_nothing;
    c->next_us = now_us + coord_interval(c);
    return coord_start(c, COORD_CHECKPOINT, now_us);
}

struct coord_cmd coord_request(struct coord *c, enum coord_kind kind, int64_t now_us)
{
    coord_check(c);
    if (!coord_has_room(c)) return coord_nothing;
    return coord_start(c, kind, now_us);
}

struct coord_cmd coord_saved(struct coord *c, uint64_t checkpoint)
{
    coord_check(c);
    struct coord_pending *p = coord_find(c, checkpoint);
    if (!p || p->state != COORD_RUNNING) return coord_nothing;
    p->saved++;
    sr_assert(p->saved <= c->conf.tasks);
    if (p->saved < c->conf.tasks) return coord_nothing;
    p->state = COORD_STORING;
    coord_check(c);
    return (struct coord_cmd){COORD_STORE, p->checkpoint, p->kind};
}

struct coord_cmd coord_declined(struct coord *c, uint64_t checkpoint)
{
    coord_check(c);
    struct coord_pending *p = coord_find(c, checkpoint);
    if (!p || p->state != COORD_RUNNING) return coord_nothing;
    return coord_fail(c, p);
}

struct coord_cmd coord_stored(struct coord *c, uint64_t checkpoint, bool is_ok, int64_t now_us)
{
    coord_check(c);
    struct coord_pending *p = coord_find(c, checkpoint);
    sr_assert(p && p->state == COORD_STORING);
    if (!is_ok) return coord_fail(c, p);
    struct coord_cmd cmd = {COORD_SHOW, p->checkpoint, p->kind};
    /* Older ones that still run are subsumed: what they would show, this one shows. */
    coord_forget(c, 0, (uint32_t)(p - c->pending) + 1);
    sr_assert(checkpoint > c->shown);
    c->shown = checkpoint;
    c->failures = 0;
    coord_pause(c, now_us);
    coord_check(c);
    return cmd;
}

struct coord_cmd coord_abandon(struct coord *c)
{
    coord_check(c);
    if (c->pendings == 0) return coord_nothing;
    struct coord_cmd cmd = {COORD_DROP, c->pending[0].checkpoint, c->pending[0].kind};
    sr_assert(c->pending[0].state == COORD_RUNNING);
    coord_forget(c, 0, 1);
    coord_check(c);
    return cmd;
}

void coord_backlog(struct coord *c, bool is_backlog, int64_t now_us)
{
    bool is_other = c->conf.interval_us > 0 && c->conf.backlog_us >= 0;
    if (!is_other || is_backlog == c->is_backlog) return;
    c->is_backlog = is_backlog;
    int64_t interval_us = coord_interval(c);
    if (interval_us == 0) {
        c->next_us = INT64_MAX;
    } else if (now_us + interval_us < c->next_us) {
        c->next_us = now_us + interval_us;
    }
    coord_check(c);
}

void coord_stop(struct coord *c) { c->is_stopped = true; }

int64_t coord_due_us(const struct coord *c)
{
    int64_t due = INT64_MAX;
    if (!c->is_stopped && coord_has_room(c)) due = c->next_us;
    for (uint32_t i = 0; i < c->pendings; i++) {
        const struct coord_pending *p = &c->pending[i];
        int64_t at = p->started_us + c->conf.timeout_us;
        if (p->state == COORD_RUNNING && at < due) due = at;
    }
    return due;
}
