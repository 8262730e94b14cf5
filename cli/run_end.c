/* What is said, noted and deleted when a run ends. */
#include <inttypes.h>
#include <string.h>

#include "cli/codes.h"
#include "cli/retention.h"
#include "cli/run_inner.h"
#include "cli/summary.h"

/* Those who stand by need not take over. */
static void run_say_end(struct run *r, const char *word)
{
    lease_stop(&r->lease);
    store_say_end(r->store, word);
}

void run_mark(struct run *r, enum manifest_end end)
{
    struct sr_error err = {0};
    if (end != MANIFEST_SUSPENDED) run_say_end(r, manifest_end_name(end));
    sr_rc rc = store_mark_end(r->store, end, &err);
    if (rc != SR_OK && rc != SR_EABSENT) { /* absent: no checkpoint was taken that could be told */
        cli_note(r->c, "warning: the end of the run could not be noted: %s", err.words);
    }
}

bool run_goes_on(const struct run *r)
{
    return r->loaded.plan->is_bounded && store_is_durable(r->store) &&
           args_has(r->args, "continue") && !args_has(r->args, "drain");
}

void run_retire(const struct run *r, enum run_end end)
{
    if (run_goes_on(r)) return;
    retention_apply(r->c, &r->loaded.job->settings, r->store, r->lineage, end);
}

void run_leave_begin(const struct run *r)
{
    struct store_entry e;
    struct sr_error err = {0};
    bool has_others = store_peek(&r->c->env, &r->store_conf, r->c->arena, &e, &err) == SR_OK &&
                      e.lineage != r->lineage;
    if (r->is_fenced || !has_others) return;
    if (store_claim(r->store, NULL, 0, false, &err) != SR_OK) {
        cli_note(r->c, "warning: %s", err.words);
    }
}

static bool run_has_windows(const struct plan *p)
{
    for (uint32_t i = 0; i < p->nodes; i++) {
        const struct plan_node *n = &p->node[i];
        if (n->kind == PLAN_OP && n->op->is_keyed && strstr(n->op->name, "window")) return true;
    }
    return false;
}

static enum cli_exit run_finished(struct run *r, const struct run_status *s)
{
    run_mark(r, MANIFEST_FINISHED);
    if (run_goes_on(r) && run_has_windows(r->loaded.plan)) {
        cli_note(r->c, "windows that are still open wait in the state for the next --continue; "
                       "--continue --drain closes them");
    }
    run_retire(r, RUN_FINISHED);
    int64_t aside = summary_print(r->c, r->loaded.plan, s);
    return aside > 0 && args_has(r->args, "fail-on-dead-letter") ? CLI_DIVERTED : CLI_OK;
}

static enum cli_exit run_suspended(struct run *r, const struct run_status *s)
{
    bool is_durable = store_is_durable(r->store);
    if (is_durable) run_mark(r, MANIFEST_SUSPENDED);
    if (!r->loaded.plan->is_bounded) return CLI_OK;
    (void)summary_print(r->c, r->loaded.plan, s);
    if (!is_durable) {
        return cli_fail(r->c, CLI_UNSAVED, "ended before its end, and no state was kept");
    }
    cli_note(r->c, "ended before its end, saved as checkpoint %" PRIu64 "; --continue goes on",
             s->checkpoint_shown);
    return CLI_SUSPENDED;
}

static enum cli_exit run_failed(struct run *r, const struct run_status *s, const struct sr_error *e)
{
    (void)cli_fail(r->c, CLI_FAILED, "%s: the job failed: %s", codes_of(e->rc), e->words);
    r->is_fenced = e->rc == SR_EFENCED;
    if (r->is_fenced) return CLI_BUSY;
    if (e->rc != SR_EUNKNOWN) run_say_end(r, "failed");
    if (*s->first_cause && strcmp(s->first_cause, e->words) != 0) {
        (void)cli_fail(r->c, CLI_FAILED, "its first cause, %u restarts before: %s", s->restarts,
                       s->first_cause);
    }
    bool is_kept = !retention_deletes(&r->loaded.job->settings, RUN_FAILED);
    if (store_is_durable(r->store) && s->checkpoint_shown > 0 && is_kept) {
        cli_note(r->c, "its state is kept as checkpoint %" PRIu64 "; --continue goes on from there",
                 s->checkpoint_shown);
    }
    run_retire(r, RUN_FAILED);
    run_leave_begin(r);
    bool is_state = e->rc == SR_EMISFIT || e->rc == SR_ECORRUPT;
    return is_state ? CLI_STATE : CLI_FAILED;
}

enum cli_exit run_ended(struct run *r, struct supervise *job, enum run_end end,
                        const struct sr_error *err)
{
    struct run_status s;
    supervise_status(job, r->c->arena, &s);
    r->note.ended_as = jobstore_state(end);
    r->note.checkpoint = s.checkpoint_shown > 0 ? s.checkpoint_shown : s.restored_from;
    r->note.cause = arena_text(r->c->arena, *s.first_cause ? s.first_cause : err->words);
    switch (end) {
    case RUN_FINISHED:
        return run_finished(r, &s);
    case RUN_STOPPED:
        run_mark(r, MANIFEST_STOPPED);
        run_retire(r, RUN_STOPPED);
        return CLI_OK;
    case RUN_CANCELED:
        run_mark(r, MANIFEST_CANCELED);
        run_retire(r, RUN_CANCELED);
        run_leave_begin(r);
        return CLI_OK;
    case RUN_SUSPENDED:
        return run_suspended(r, &s);
    case RUN_UNSAVED:
        return cli_fail(r->c, CLI_UNSAVED, "ended by a signal, the last checkpoint failed: %s",
                        err->words);
    case RUN_FAILED:
        return run_failed(r, &s, err);
    case RUN_CLOSED:
        return CLI_CLOSED;
    }
    return CLI_FAILED;
}
