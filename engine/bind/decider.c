/* Sinks whose target's transaction decides about checkpoints: one transaction a job, and it must
 * outlive a checkpoint. */
#include <inttypes.h>
#include <string.h>

#include "engine/bind/binder.h"

static const struct job_step *decider_step(const struct binder *b, const struct plan_node *n)
{
    for (uint32_t i = 0; i < b->job->steps; i++) {
        if (b->job->step[i].name.text == n->step) return &b->job->step[i];
    }
    return b->job->dead_letter.step;
}

static bool decider_is_same(const struct plan_node *a, const struct plan_node *b)
{
    return a->sink->decider == b->sink->decider &&
           strcmp(a->sink_caps.decider, b->sink_caps.decider) == 0;
}

static void decider_check_one(struct binder *b, const struct plan_node *first,
                              const struct plan_node *n)
{
    const struct job_step *step = decider_step(b, n);
    if (!step || !plan_is_decided(n) || decider_is_same(first, n)) return;
    bind_fault_at(b, bind_connector_place(step),
                  "exactly-once.method: redo on one of them, where the connector has it; or "
                  "sink.delivery-guarantee: at-least-once",
                  "SR0512: sinks '%s' and '%s' write to %s and to %s, each in a transaction of its "
                  "own, and two cannot be committed in one step",
                  first->step, n->step, first->sink_caps.decider, n->sink_caps.decider);
}

/* Rows of a checkpoint are in the transaction from the one before on. */
static void decider_check_time(struct binder *b, const struct plan_node *n)
{
    int64_t interval_us = b->job->settings.interval.us, open_us = n->sink_caps.transaction_us;
    const struct job_step *step = decider_step(b, n);
    if (!step || open_us == 0 || interval_us < open_us) return;
    bind_fault_at(b, bind_connector_place(step),
                  "a shorter execution.checkpointing.interval, or a longer time-out of the sink's "
                  "transactions",
                  "SR0513: transactions of sink '%s' are aborted when they are open for %" PRId64
                  " ms, and a checkpoint comes every %" PRId64 " ms only",
                  n->step, open_us / 1000, interval_us / 1000);
}

void bind_check_deciders(struct binder *b, const struct plan *p)
{
    const struct plan_node *first = plan_decider(p);
    if (!first) return;
    for (uint32_t i = 0; i < p->nodes; i++) {
        decider_check_one(b, first, &p->node[i]);
        if (plan_is_decided(&p->node[i])) decider_check_time(b, &p->node[i]);
    }
    if (p->dead_letter) decider_check_one(b, first, &p->dead_letter->node);
}
