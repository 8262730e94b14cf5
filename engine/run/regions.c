/* Regions of a job that fail and start again on their own, while the others go on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/run/supervise_inner.h"

/* "events -> table, letters -> file" */
static const char *regions_name(const struct supervise *s, const uint32_t *region_of, uint32_t one)
{
    const char *name = NULL;
    for (uint32_t i = 0; i < s->plan->vertices; i++) {
        if (region_of[i] != one) continue;
        const char *v = s->plan->vertex[i].name;
        name = name ? arena_printf(s->names, "%s, %s", name, v) : arena_text(s->names, v);
    }
    return name;
}

sr_rc regions_init(struct supervise *s, struct sr_error *err)
{
    uint32_t vertices = s->plan->vertices;
    s->names = arena_new();
    uint32_t *region_of = s->names ? arena_array(s->names, vertices, sizeof(*region_of)) : NULL;
    s->region = calloc(vertices, sizeof(*s->region));
    if (!region_of || !s->region) return error_set(err, SR_ENOMEM, "out of memory");
    s->regions = plan_regions(s->plan, region_of);
    for (uint32_t i = 0; i < s->regions; i++) {
        s->region[i].shown.name = regions_name(s, region_of, i);
    }
    return arena_is_broken(s->names) ? error_set(err, SR_ENOMEM, "out of memory") : SR_OK;
}

static bool regions_is_of(uint32_t region, uint32_t i) { return region == CREW_ALL || region == i; }

void regions_watch(struct supervise *s, uint32_t region, bool is_watched)
{
    mutex_lock(s->lock);
    if (!is_watched) status_count(s, s->last_counts);
    for (uint32_t i = 0; i < s->regions; i++) {
        if (regions_is_of(region, i)) s->region[i].is_watched = is_watched;
    }
    if (is_watched || region == CREW_ALL) s->watched = is_watched ? s->crew : NULL;
    mutex_unlock(s->lock);
}

void regions_note(struct supervise *s, uint32_t region, const struct sr_error *why)
{
    mutex_lock(s->lock);
    for (uint32_t i = 0; i < s->regions; i++) {
        struct run_region_status *shown = &s->region[i].shown;
        if (!regions_is_of(region, i) || *shown->first_cause) continue;
        (void)snprintf(shown->first_cause, sizeof(shown->first_cause), "%s", why->words);
    }
    mutex_unlock(s->lock);
}

bool regions_may_lay_down(const struct supervise *s, uint32_t region)
{
    /* Watermark +infinity cannot be taken back, nor what a job did that heads for its end. */
    bool is_draining = s->ck.stop && s->ck.stop->is_drain;
    /* Nobody knows which checkpoint it would begin with while one is pending. */
    return region != CREW_ALL && s->regions > 1 && s->phase == PHASE_RUNNING &&
           s->goal == GOAL_RUN && !is_draining && s->ck.deciding == 0;
}

void regions_lay_down(struct supervise *s, uint32_t region, const struct sr_error *why,
                      int64_t resume_us)
{
    struct crew *c = s->crew;
    s->sched->stop(s->sched, c, region);
    checkpointing_lay_down(s, region, why);
    regions_watch(s, region, false);
    for (uint32_t i = 0; i < c->tasks; i++) {
        if (!crew_is_of(c, i, region)) continue;
        s->drained -= c->told[i].has_drained ? 1 : 0;
        s->ended -= c->told[i].has_ended ? 1 : 0;
    }
    crew_close(c, region);
    deciding_close(s, region);
    s->region[region].resume_us = resume_us;
    s->down++;
    mutex_lock(s->lock);
    s->region[region].shown.is_down = true;
    mutex_unlock(s->lock);
}

static void regions_raise_one(struct supervise *s, uint32_t region)
{
    struct sr_error err = {.rc = SR_OK};
    enum decider_did did = deciding_settle(s, region, &s->region[region].resume_us, &err);
    if (did == DECIDER_BUSY && !atomic_load(&s->ask_suspend)) return;
    if (did == DECIDER_BUSY) (void)error_set(&err, SR_EBUSY, "its target was not ready");
    env_crash_point(s->env, "run: before a restart");
    s->down--;
    mutex_lock(s->lock);
    s->shown.restarts++;
    s->region[region].shown.restarts++;
    s->region[region].shown.is_down = false;
    mutex_unlock(s->lock);
    supervise_carry(s);
    sr_rc rc = did == DECIDER_DONE ? supervise_open(s, region, &err) : err.rc;
    if (rc == SR_OK) {
        checkpointing_raise(s, region);
        rc = s->sched->start(s->sched, s->crew, region, &err);
    }
    if (rc != SR_OK) supervise_failed(s, region, &err, BLAME_NOBODY);
}

bool regions_raise(struct supervise *s, int64_t now_us)
{
    bool is_urgent = atomic_load(&s->ask_suspend); /* there is to be a last checkpoint */
    for (uint32_t i = 0; i < s->regions && s->down > 0; i++) {
        const struct supervise_region *r = &s->region[i];
        if (!r->shown.is_down || (now_us < r->resume_us && !is_urgent)) continue;
        regions_raise_one(s, i);
        if (s->phase != PHASE_RUNNING) return false;
    }
    return true;
}

int64_t regions_due(const struct supervise *s)
{
    int64_t due = INT64_MAX;
    for (uint32_t i = 0; i < s->regions && s->down > 0; i++) {
        const struct supervise_region *r = &s->region[i];
        if (r->shown.is_down && r->resume_us < due) due = r->resume_us;
    }
    return due;
}
