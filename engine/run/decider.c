#include "engine/run/decider.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/bytes.h"
#include "engine/base/error.h"
#include "engine/data/pool.h"

#define DECIDER_NOTE_VERSION 1u
#define DECIDER_RETRY_US     INT64_C(1000) /* for a call that does not say when */

/* --- Life ------------------------------------------------------------------------------------- */

static void decider_add(struct decider *d, const struct plan_node *n)
{
    d->sink[d->sinks++] =
        (struct sr_decider_sink){.type = n->sink, .uid = n->uid, .conf = n->conf, .schema = n->out};
}

sr_rc decider_init(struct decider *d, const struct plan *plan, const struct env *env,
                   struct sr_error *err)
{
    *d = (struct decider){.plan = plan, .env = env, .node = plan_decider(plan)};
    if (!d->node) return SR_OK;
    d->type = d->node->sink->decider;
    d->sink = calloc((size_t)plan->nodes + 1, sizeof(*d->sink));
    if (!d->sink) return error_set(err, SR_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < plan->nodes; i++) {
        if (plan_is_decided(&plan->node[i])) decider_add(d, &plan->node[i]);
    }
    bool has_letters = plan->dead_letter && plan_is_decided(&plan->dead_letter->node);
    if (has_letters) decider_add(d, &plan->dead_letter->node);
    return SR_OK;
}

void decider_done(struct decider *d)
{
    decider_close(d);
    free(d->sink);
    d->sink = NULL;
    d->node = NULL;
}

static void decider_wake(const struct sr_decider_open *o)
{
    const struct decider *d = o->engine;
    d->wake(d->wake_ctx);
}

sr_rc decider_open(struct decider *d, uint64_t lineage, uint64_t attempt, struct sr_error *err)
{
    const struct settings *set = &d->plan->job->settings;
    sr_assert(d->node && !d->instance);
    d->home = home_new();
    d->instance = calloc(1, d->type->decider_size ? d->type->decider_size : 1);
    if (!d->home || !d->instance) {
        free(d->instance);
        d->instance = NULL;
        return error_set(err, SR_ENOMEM, "sink '%s': out of memory", d->node->step);
    }
    host_init(&d->host, &d->ctx, d->env, d->home, d->node->step);
    d->host.time_zone = set->time_zone;
    d->open = (struct sr_decider_open){.size = sizeof(d->open),
                                       .host = &d->host,
                                       .key = d->node->sink_caps.decider,
                                       .job_id = d->plan->job->id,
                                       .lineage = lineage,
                                       .attempt = attempt,
                                       .sinks = d->sinks,
                                       .sink = d->sink,
                                       .interval_us = set->interval.us > 0 ? set->interval.us : 0,
                                       .timeout_us = set->timeout.us,
                                       .wake = decider_wake,
                                       .engine = d};
    sr_rc rc = d->type->open(d->instance, &d->open, err);
    return rc == SR_OK ? rc : error_wrap(err, "sink '%s'", d->node->step);
}

void decider_close(struct decider *d)
{
    if (d->instance) d->type->close(d->instance);
    free(d->instance);
    d->instance = NULL;
    home_close(d->home);
    d->home = NULL;
}

/* --- Calls ------------------------------------------------------------------------------------ */

static struct sr_wait decider_no_wait(void)
{
    return (struct sr_wait){.fd = -1, .until_us = INT64_MAX};
}

static enum decider_did decider_answer(const struct decider *d, sr_rc rc,
                                       const struct sr_wait *wait, int64_t *until_us,
                                       struct sr_error *err)
{
    if (rc == SR_OK) return DECIDER_DONE;
    if (rc == SR_EBUSY) {
        int64_t soon_us = d->env->mono_us(d->env) + DECIDER_RETRY_US;
        *until_us = wait->until_us == INT64_MAX ? soon_us : wait->until_us;
        return DECIDER_BUSY;
    }
    (void)error_wrap(err, "sink '%s'", d->node->step);
    return DECIDER_FAILED;
}

enum decider_did decider_recover(struct decider *d, struct sr_marker *out, int64_t *until_us,
                                 struct sr_error *err)
{
    struct sr_wait wait = decider_no_wait();
    *out = (struct sr_marker){.lineage = 0};
    sr_rc rc = d->type->recover(d->instance, out, &wait, err);
    return decider_answer(d, rc, &wait, until_us, err);
}

enum decider_did decider_look(struct decider *d, struct sr_bytes evidence, enum sr_evidence *out,
                              int64_t *until_us, struct sr_error *err)
{
    struct sr_wait wait = decider_no_wait();
    *out = SR_EVIDENCE_GONE;
    sr_rc rc = d->type->look(d->instance, evidence, out, &wait, err);
    return decider_answer(d, rc, &wait, until_us, err);
}

enum decider_did decider_base(struct decider *d, uint64_t checkpoint, int64_t *until_us,
                              struct sr_error *err)
{
    struct sr_wait wait = decider_no_wait();
    struct sr_marker m = {.lineage = d->open.lineage, .checkpoint = checkpoint};
    sr_rc rc = d->type->base(d->instance, &m, &wait, err);
    return decider_answer(d, rc, &wait, until_us, err);
}

enum decider_did decider_decide(struct decider *d, uint64_t checkpoint, int64_t *until_us,
                                struct sr_error *err)
{
    struct sr_wait wait = decider_no_wait();
    struct sr_marker m = {.lineage = d->open.lineage, .checkpoint = checkpoint};
    sr_rc rc = d->type->decide(d->instance, &m, &wait, err);
    return decider_answer(d, rc, &wait, until_us, err);
}

void decider_drop(struct decider *d, uint64_t checkpoint)
{
    if (d->instance) d->type->drop(d->instance, checkpoint);
}

sr_rc decider_renew(struct decider *d, struct sr_error *err)
{
    sr_rc rc = d->type->renew(d->instance, err);
    return rc == SR_OK ? rc : error_wrap(err, "sink '%s'", d->node->step);
}

/* --- Notes ------------------------------------------------------------------------------------ */

sr_rc decider_note_save(struct decider *d, uint64_t checkpoint, uint64_t previous,
                        struct sr_out *out, struct sr_error *err)
{
    struct sr_out evidence = bytes_out();
    sr_rc rc = d->type->evidence(d->instance, checkpoint, &evidence, err);
    if (rc != SR_OK) {
        (void)error_wrap(err, "sink '%s'", d->node->step);
    } else if (!bytes_put_u8(out, DECIDER_NOTE_VERSION) || !bytes_put_u64(out, previous) ||
               !bytes_put_blob(out, evidence.data, (uint32_t)evidence.len)) {
        rc = error_set(err, SR_ENOMEM, "out of memory for a checkpoint");
    }
    bytes_free(&evidence);
    return rc;
}

sr_rc decider_note_load(const struct manifest *m, struct decider_note *out, struct sr_error *err)
{
    *out = (struct decider_note){.is_there = false};
    for (uint32_t i = 0; m && i < m->parts; i++) {
        const struct manifest_part *p = &m->part[i];
        if (strcmp(p->uid, DECIDER_PART) != 0 || strcmp(p->name, DECIDER_PART) != 0) continue;
        struct bytes_in in = bytes_in(p->bytes, p->len);
        uint8_t version = bytes_get_u8(&in);
        out->previous = bytes_get_u64(&in);
        out->evidence = bytes_get_blob(&in);
        out->is_there = true;
        if (in.is_broken || in.at != in.end || version != DECIDER_NOTE_VERSION) {
            return error_set(err, SR_ECORRUPT,
                             "checkpoint %llu: its note of what decides about it cannot be read",
                             (unsigned long long)m->checkpoint);
        }
    }
    return SR_OK;
}

/* --- Verdicts --------------------------------------------------------------------------------- */

static enum decider_verdict decider_judge_pending(const struct sr_marker *marker,
                                                  const struct manifest *m,
                                                  const struct decider_note *note)
{
#ifdef MUTANT_DECIDER_DROPS /* what is pending never counts, whatever the marker says */
    return VERDICT_DROP;
#endif
#ifdef MUTANT_DECIDER_PROMOTES /* what is pending always counts */
    return VERDICT_PROMOTE;
#endif
    /* A transaction without a row may count or not: nothing else was shown of its checkpoint. */
    if (marker->lineage == 0) return note->evidence.len > 0 ? VERDICT_LOOK : VERDICT_DROP;
    if (marker->lineage != m->lineage) return VERDICT_STOP;
    if (marker->checkpoint == m->checkpoint) return VERDICT_PROMOTE;
    return marker->checkpoint == note->previous ? VERDICT_DROP : VERDICT_STOP;
}

enum decider_verdict decider_judge(const struct sr_marker *marker, uint64_t lineage,
                                   const struct manifest *m, const struct decider_note *note)
{
    bool is_own = m && m->lineage == lineage;
    bool is_pending = m && m->end == MANIFEST_PENDING;
    /* What another lineage has pending, only that one can settle. */
    if (is_pending) return is_own ? decider_judge_pending(marker, m, note) : VERDICT_STOP;
    if (!is_own || !note->is_there || marker->lineage == 0) return VERDICT_BASE;
    bool is_last = marker->lineage == lineage && marker->checkpoint == m->checkpoint;
    return is_last ? VERDICT_GO_ON : VERDICT_STOP;
}
