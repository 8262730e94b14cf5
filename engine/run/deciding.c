/* What a target decides about checkpoints, carried out by the supervisor: before an attempt opens
 * its tasks, and for each checkpoint behind its publication. ARCHITECTURE.md draws it. */
#include "engine/base/arena.h"
#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/run/supervise_inner.h"

static void deciding_wake(void *ctx)
{
    const struct supervise *s = ctx;
    parker_wake(s->parker);
}

sr_rc deciding_init(struct supervise *s, struct sr_error *err)
{
    struct deciding *k = &s->deciding;
    sr_rc rc = decider_init(&k->decider, s->plan, s->env, err);
    k->decider.wake = deciding_wake;
    k->decider.wake_ctx = s;
    k->region = CREW_ALL;
    uint32_t *region_of = arena_array(s->names, s->plan->vertices, sizeof(*region_of));
    if (rc != SR_OK || !k->decider.node) return rc;
    if (!region_of) return error_set(err, SR_ENOMEM, "out of memory");
    (void)plan_regions(s->plan, region_of);
    for (uint32_t i = 0; i < s->plan->vertices; i++) {
        if (plan_has_decider(s->plan, &s->plan->vertex[i])) k->region = region_of[i];
    }
    return SR_OK;
}

void deciding_free(struct supervise *s)
{
    decider_done(&s->deciding.decider);
    arena_free(s->deciding.back_arena);
}

static bool deciding_is_of(const struct supervise *s, uint32_t region)
{
    const struct deciding *k = &s->deciding;
    return k->decider.node && (region == CREW_ALL || region == k->region);
}

void deciding_close(struct supervise *s, uint32_t region)
{
    if (!deciding_is_of(s, region)) return;
    decider_close(&s->deciding.decider);
    s->deciding.step = DECIDING_CLOSED;
    s->deciding.has_restore = false;
    s->is_renewed = false;
}

sr_rc deciding_restore(struct supervise *s, uint32_t region, const struct manifest **out,
                       struct sr_error *err)
{
    const struct deciding *k = &s->deciding;
    if (deciding_is_of(s, region) && k->has_restore) {
        *out = k->restore;
        return SR_OK;
    }
    sr_rc rc = supervise_find_restore(s, out, err);
    if (rc == SR_OK && *out && (*out)->end == MANIFEST_PENDING && !k->decider.node) {
        return error_set(err, SR_EMISFIT,
                         "checkpoint %llu is pending, and the job has no sink any more whose "
                         "target could tell what became of its transaction",
                         (unsigned long long)(*out)->checkpoint);
    }
    return rc;
}

/* --- Settling --------------------------------------------------------------------------------- */

/* What the lineage begins with, where the checkpoint that the caller gave was dropped. */
static sr_rc deciding_go_back(struct supervise *s, struct sr_error *err)
{
    struct deciding *k = &s->deciding;
    bool is_owned = false;
    const char *path = store_begun_with(s->conf.store, 0, &is_owned);
    struct manifest *m = NULL;
    k->is_back = true;
    if (!path) return SR_OK;
    k->back_arena = arena_new();
    if (!k->back_arena) return error_set(err, SR_ENOMEM, "out of memory");
    sr_rc rc = store_load(s->env, path, k->back_arena, &m, err);
    k->back = m;
    return rc;
}

/* Once the pending checkpoint that was to be dropped is gone, the one before is the newest again:
 * in the store, or where the lineage began. A drop that failed, or what had to follow it, may have
 * been done all the same: so an attempt begins with this too. */
sr_rc deciding_fall_back(struct supervise *s, struct sr_error *err)
{
    struct deciding *k = &s->deciding;
    struct manifest *newest = NULL;
    struct sr_error why = {.rc = SR_OK};
    const struct manifest *given = s->conf.restore;
    if (k->dropping == 0) return SR_OK;
    struct arena *a = arena_new();
    if (!a) return error_set(err, SR_ENOMEM, "out of memory");
    sr_rc rc = store_load_newest(s->conf.store, a, &newest, &why);
    bool is_own = rc == SR_OK && newest->lineage == s->conf.lineage;
    uint64_t is = is_own ? newest->checkpoint : 0;
    arena_free(a);
    if (rc != SR_OK && rc != SR_EABSENT) {
        *err = why;
        return rc;
    }
    if (is == k->dropping) return SR_OK; /* it is still there, to be decided about anew */
    bool is_given = given && given->checkpoint == k->dropping && given->lineage == s->conf.lineage;
    s->ck.published = is;
    rc = !is_own && is_given ? deciding_go_back(s, err) : SR_OK;
    const struct manifest *begin = supervise_begin_of(s);
    if (!is_own && begin) is = begin->checkpoint;
    if (rc == SR_OK && is != k->before_dropping) {
        rc = error_set(err, SR_ECORRUPT,
                       "checkpoint %llu is not to be gone on from, and checkpoint %llu, which was "
                       "before it, is not there",
                       (unsigned long long)k->dropping, (unsigned long long)k->before_dropping);
    }
    if (rc == SR_OK) k->dropping = 0;
    return rc;
}

/* The pending checkpoint becomes complete, or goes; a base marker follows where there is none. */
static sr_rc deciding_carry_out(struct supervise *s, bool is_kept, struct sr_error *err)
{
    struct deciding *k = &s->deciding;
    const struct manifest *m = k->restore;
    sr_rc rc;
    sr_assert(m);
    if (is_kept) {
        rc = store_complete(s->conf.store, m->checkpoint, err);
        if (rc == SR_OK) s->ck.published = m->checkpoint;
    } else {
        k->dropping = m->checkpoint;
        k->before_dropping = k->note.previous;
        rc = store_drop(s->conf.store, m->checkpoint, err);
        if (rc == SR_OK) rc = deciding_fall_back(s, err);
        k->has_restore = false; /* what is to be gone on from is another one now */
    }
    if (rc != SR_OK) return rc;
    k->decided = is_kept ? m->checkpoint : k->note.previous;
    bool is_untold = k->marker.lineage == 0 && k->note.evidence.len == 0;
    env_log(s->env, SR_INFO, "checkpoints",
            "checkpoint %llu was pending: its transaction was %s; the job goes on from checkpoint "
            "%llu",
            (unsigned long long)m->checkpoint,
            is_kept     ? "committed"
            : is_untold ? "without a row"
                        : "not committed",
            (unsigned long long)k->decided);
    k->step = k->marker.lineage == 0 ? DECIDING_BASE : DECIDING_SETTLED;
    return SR_OK;
}

static sr_rc deciding_stop(const struct supervise *s, struct sr_error *err)
{
    const struct deciding *k = &s->deciding;
    const struct manifest *m = k->restore;
    sr_assert(m);
    if (m->lineage != s->conf.lineage) {
        return error_set(err, SR_EMISFIT,
                         "checkpoint %llu is pending: only the run that it belongs to can find out "
                         "what became of its transaction (--continue); older ones can be gone on "
                         "from by --from PATH",
                         (unsigned long long)m->checkpoint);
    }
    return error_set(err, SR_EMISFIT,
                     "the target of sink '%s' (%s) tells that checkpoint %llu of lineage %llx was "
                     "written last, and the store holds checkpoint %llu of lineage %llx: they do "
                     "not belong together (a copied store, or another job of that name); --fresh "
                     "begins again, and writes its output again",
                     k->decider.node->step, k->decider.node->sink_caps.decider,
                     (unsigned long long)k->marker.checkpoint,
                     (unsigned long long)k->marker.lineage, (unsigned long long)m->checkpoint,
                     (unsigned long long)m->lineage);
}

static sr_rc deciding_judge(struct supervise *s, struct sr_error *err)
{
    struct deciding *k = &s->deciding;
    const struct manifest *m = NULL;
    sr_rc rc = supervise_find_restore(s, &m, err);
    if (rc == SR_OK) rc = decider_note_load(m, &k->note, err);
    if (rc != SR_OK) return rc;
    k->restore = m;
    k->has_restore = true;
    k->decided = m ? m->checkpoint : 0;
    if (m && m->end == MANIFEST_PENDING && !k->note.is_there) {
        return error_set(err, SR_ECORRUPT, "checkpoint %llu is pending, and does not say of what",
                         (unsigned long long)m->checkpoint);
    }
    switch (decider_judge(&k->marker, s->conf.lineage, m, &k->note)) {
    case VERDICT_GO_ON:
        k->step = DECIDING_SETTLED;
        break;
    case VERDICT_BASE:
        k->step = DECIDING_BASE;
        if (m && m->lineage == s->conf.lineage && k->note.is_there) {
            env_log(s->env, SR_WARN, "checkpoints",
                    "%s does not tell any more which checkpoint was written last; nothing is "
                    "pending, so it is told again: checkpoint %llu",
                    k->decider.node->sink_caps.decider, (unsigned long long)k->decided);
        }
        break;
    case VERDICT_PROMOTE:
        return deciding_carry_out(s, true, err);
    case VERDICT_DROP:
        return deciding_carry_out(s, false, err);
    case VERDICT_LOOK:
        k->step = DECIDING_LOOK;
        break;
    case VERDICT_STOP:
        return deciding_stop(s, err);
    }
    return SR_OK;
}

static sr_rc deciding_believe(struct supervise *s, enum sr_evidence evidence, struct sr_error *err)
{
    switch (evidence) {
    case SR_EVIDENCE_SHOWN:
        return deciding_carry_out(s, true, err);
    case SR_EVIDENCE_ABORTED:
        return deciding_carry_out(s, false, err);
    case SR_EVIDENCE_GONE:
        break;
    }
    return error_set(err, SR_EMISFIT,
                     "checkpoint %llu is pending, %s does not tell any more whether its rows were "
                     "written, and the row that could tell is gone too: look whether they are "
                     "there; if they are, go on by --continue --pending complete, else by "
                     "--continue --pending drop",
                     (unsigned long long)s->deciding.restore->checkpoint,
                     s->deciding.decider.node->sink_caps.decider);
}

/* A new instance: its first call ends what older ones left, so this run must be the job's. */
static sr_rc deciding_open(struct supervise *s, struct sr_error *err)
{
    struct deciding *k = &s->deciding;
    sr_rc rc = supervise_next_attempt(s, err);
    if (rc == SR_OK) rc = store_check_fence(s->conf.store, err);
    if (rc == SR_OK) {
        rc = decider_open(&k->decider, s->conf.lineage, store_attempt(s->conf.store), err);
    }
    if (rc == SR_OK) k->step = DECIDING_RECOVER;
    return rc;
}

static enum decider_did deciding_step(struct supervise *s, int64_t *until_us, struct sr_error *err)
{
    struct deciding *k = &s->deciding;
    enum decider_did did = DECIDER_DONE;
    enum sr_evidence evidence;
    sr_rc rc = SR_OK;
    switch (k->step) {
    case DECIDING_CLOSED:
        rc = deciding_open(s, err);
        break;
    case DECIDING_RECOVER:
        did = decider_recover(&k->decider, &k->marker, until_us, err);
        if (did == DECIDER_DONE) rc = deciding_judge(s, err);
        break;
    case DECIDING_LOOK:
        did = decider_look(&k->decider, k->note.evidence, &evidence, until_us, err);
        if (did == DECIDER_DONE) rc = deciding_believe(s, evidence, err);
        break;
    case DECIDING_BASE:
#ifndef MUTANT_DECIDER_BASELESS /* a marker that is not there may never have been */
        did = decider_base(&k->decider, k->decided, until_us, err);
#endif
        if (did == DECIDER_DONE) k->step = DECIDING_SETTLED;
        break;
    case DECIDING_SETTLED:
        break;
    }
    return rc == SR_OK ? did : DECIDER_FAILED;
}

enum decider_did deciding_settle(struct supervise *s, uint32_t region, int64_t *until_us,
                                 struct sr_error *err)
{
    struct deciding *k = &s->deciding;
    if (!deciding_is_of(s, region)) return DECIDER_DONE;
    while (k->step != DECIDING_SETTLED) {
        enum decider_did did = deciding_step(s, until_us, err);
        if (did != DECIDER_DONE) return did;
    }
    env_crash_point(s->env, "run: settled what was pending");
    return DECIDER_DONE;
}
