/* The target of dead letters: any sink, of fixed columns. */
#include <string.h>

#include "engine/bind/binder.h"

/* Options and columns fit, and the format too where one is needed. */
static bool dead_letter_check(struct binder *b, struct plan_node *n, const struct job_step *step)
{
    struct sr_error err = {0};
    if (step->sink->check && step->sink->check(step->conf, n->out, &n->sink_caps, &err) != SR_OK) {
        bind_fault_at(b, bind_connector_place(step), NULL, "SR0609: dead-letter: %s", err.words);
        return false;
    }
    if (n->sink_caps.makes_rows) {
        n->format = NULL;
        n->format_conf = NULL;
        if (step->format) {
            bind_fault_at(b, step->format_at, NULL,
                          "SR0608: connector '%s' writes rows itself, it takes no format",
                          step->sink->name);
        }
        return !step->format;
    }
    if (!n->format || n->format->encoder_size == 0) {
        bind_fault_at(
            b, step->format_at.line ? step->format_at : bind_connector_place(step), "format: json",
            "SR0608: dead-letter: connector '%s' needs a format that can write", step->sink->name);
        return false;
    }
    if (n->format->check &&
        n->format->check(n->format_conf, n->out, true, &n->format_flags, &err) != SR_OK) {
        bind_fault_at(b, step->format_at, NULL, "SR0609: format '%s': %s", n->format->name,
                      err.words);
        return false;
    }
    return true;
}

void bind_dead_letter(struct binder *b)
{
    const struct job_dead_letter *from = &b->job->dead_letter;
    const struct job_step *step = from->step;
    if (!step || !step->sink) {
        return; /* none, or faulted */
    }
    struct plan_dead_letter *to = arena_get(b->arena, sizeof(*to));
    if (!to) {
        (void)bind_no_memory(b);
        return;
    }
    *to = (struct plan_dead_letter){.row_format = from->json,
                                    .row_format_conf = from->json_conf,
                                    .total_max = from->total_max,
                                    .minute_max = from->minute_max};
    to->node =
        (struct plan_node){.kind = PLAN_SINK,
                           .uid = step->uid,
                           .name = arena_printf(b->arena, "dead-letter: sink %s", step->sink->name),
                           .step = step->name.text,
                           .out = &plan_aside_schema,
                           .on_error = JOB_FAIL,
                           .stamp = -1,
                           .sink = step->sink,
                           .conf = step->conf,
                           .format = step->format ? step->format : from->json,
                           .format_conf = step->format ? step->format_conf : from->json_conf};
    if (dead_letter_check(b, &to->node, step)) {
        to->node.guarantee = to->node.sink_caps.guarantee;
        b->graph->dead_letter = to;
    }
}

/* What depends on where the job's tasks are. */
void bind_check_dead_letter(struct binder *b, const struct plan *p)
{
    if (!p->dead_letter) {
        return;
    }
    const struct plan_node *n = &p->dead_letter->node;
    const struct job_step *step = b->job->dead_letter.step;
    uint32_t writers = plan_aside_writers(p);
    if (n->sink_caps.parts_max > 0 && writers > n->sink_caps.parts_max) {
        bind_fault_at(
            b, bind_connector_place(step),
            "name a directory, or another connector; or run with parallelism 1",
            "SR0508: dead-letter: connector '%s' so can have %u writer%s, but %u tasks of this job "
            "may set records aside",
            n->sink->name, n->sink_caps.parts_max, n->sink_caps.parts_max > 1 ? "s" : "", writers);
    }
    if (n->sink_caps.is_bounded_only && !p->is_bounded) {
        bind_fault_at(
            b, bind_connector_place(step), "name a directory, or read bounded sources only",
            "SR0508: dead-letter: this target is complete only at the end of a bounded job, and "
            "this job has no end");
    }
}
