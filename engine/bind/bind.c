#include "engine/bind/bind.h"

#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/base/nearest.h"
#include "engine/bind/binder.h"
#include "engine/plan/make.h"

static const char *bind_kind_words(enum job_step_kind kind)
{
    switch (kind) {
    case JOB_SOURCE:
        return "source";
    case JOB_TRANSFORM:
        return "transform";
    case JOB_SINK:
        return "sink";
    }
    return "";
}

/* --- Names ------------------------------------------------------------------------------------ */

static const char *bind_uid(const struct job_step *s) { return s->uid ? s->uid : s->name.text; }

static void bind_check_names(struct binder *b)
{
    for (uint32_t i = 0; i < b->steps; i++) {
        const struct job_step *s = b->step[i].step;
        if (b->job->dead_letter.step && strcmp(bind_uid(s), "dead-letter") == 0) {
            bind_fault(b, &s->name, 0, "give it another name or uid",
                       "SR0502: 'dead-letter' is the uid of the job's dead letters");
        }
        for (uint32_t k = 0; k < i; k++) {
            const struct job_step *other = b->step[k].step;
            if (strcmp(s->name.text, other->name.text) == 0) {
                bind_fault(b, &s->name, 0, "give one of them another name",
                           "SR0502: %s '%s' has the name of a %s", bind_kind_words(s->kind),
                           s->name.text, bind_kind_words(other->kind));
            } else if (strcmp(bind_uid(s), bind_uid(other)) == 0) {
                bind_fault(b, &s->name, 0, "state belongs to a uid: each step needs its own",
                           "SR0502: '%s' and '%s' have the same uid '%s'", other->name.text,
                           s->name.text, bind_uid(s));
            }
        }
    }
}

static struct bound *bind_find(struct binder *b, const char *name)
{
    for (uint32_t i = 0; i < b->steps; i++) {
        if (strcmp(b->step[i].step->name.text, name) == 0) {
            return &b->step[i];
        }
    }
    return NULL;
}

/* The step that was meant counts as read, so that one slip is not told twice. */
static const char *bind_near_step(struct binder *b, const char *name)
{
    const char **names = arena_array(b->arena, (size_t)b->steps + 1, sizeof(*names));
    uint32_t count = 0;
    for (uint32_t i = 0; names && i < b->steps; i++) {
        if (b->step[i].step->kind != JOB_SINK) {
            names[count++] = b->step[i].step->name.text;
        }
    }
    if (strchr(name, '.')) {
        return "a dot ends the name of a step, and a key follows: write the name without one";
    }
    const char *near = names ? nearest_word(name, names) : NULL;
    if (!near) {
        return NULL;
    }
    bind_find(b, near)->is_read = true;
    return arena_printf(b->arena, "did you mean '%s'?", near);
}

/* The step that `name`, at byte `at` of t, reads. */
static void bind_read(struct binder *b, struct bound *s, const char *name, const struct job_text *t,
                      uint32_t at)
{
    struct bound *from = bind_find(b, name);
    if (!from) {
        bind_fault(b, t, at, bind_near_step(b, name),
                   "SR0501: there is no source or transform '%s'", name);
        s->has_failed = true;
        return;
    }
    if (from->step->kind == JOB_SINK) {
        bind_fault(b, t, at, "read what the sink reads",
                   "SR0501: '%s' is a sink: nothing comes out of it", name);
        from->is_read = true;
        s->has_failed = true;
        return;
    }
    from->is_read = true;
    s->from[s->froms++] = from;
    s->waiting++;
}

static void bind_read_query(struct binder *b, struct bound *s)
{
    s->query = bind_parse(b, PARSE_QUERY, &s->step->sql);
    if (!s->query) {
        s->has_failed = true;
        b->is_unsure = true;
        return;
    }
    const struct ast *from = s->query->item[AST_FROM];
    const struct ast *table = from->kind == AST_WINDOW ? from->item[0] : from;
    bind_read(b, s, table->name, &s->step->sql, table->at);
}

static void bind_check_from(struct binder *b, struct bound *s)
{
    const struct job_step *step = s->step;
    if (step->kind == JOB_SOURCE) {
        return;
    }
    s->from = arena_array(b->arena, (size_t)step->from.count + 1, sizeof(struct bound *));
    if (!s->from) {
        (void)bind_no_memory(b);
        return;
    }
    if (step->kind == JOB_TRANSFORM && step->sql.text) {
        bind_read_query(b, s);
        if (step->from.count > 0 || step->select.count > 0 || step->where.text ||
            step->window.text || step->group_by.count > 0) {
            bind_fault(
                b, &step->name, 0, "sql: says all of it",
                "SR0304: transform '%s' has sql: and from, where, select, window or group-by",
                step->name.text);
        }
        return;
    }
    if (step->from.count == 0) {
        bind_fault(b, &step->name, 0, "from: the name of a source or transform",
                   "SR0505: %s '%s' reads nothing: `from` is not written",
                   bind_kind_words(step->kind), step->name.text);
        s->has_failed = true;
    }
    for (uint32_t i = 0; i < step->from.count; i++) {
        bind_read(b, s, step->from.item[i].text, &step->from.item[i], 0);
    }
}

static void bind_check_unused(struct binder *b)
{
    uint32_t sinks = 0;
    for (uint32_t i = 0; i < b->steps; i++) {
        const struct bound *s = &b->step[i];
        sinks += s->step->kind == JOB_SINK;
        if (s->step->kind != JOB_SINK && !s->is_read && !b->is_unsure) {
            bind_fault(b, &s->step->name, 0, "name it in `from`, or take it out",
                       "SR0503: %s '%s' is not used", bind_kind_words(s->step->kind),
                       s->step->name.text);
        }
    }
    if (sinks == 0) {
        const struct job *job =
            b->job; /* told already, in these words, where it was read from a file */
        const char *file = job->steps > 0 ? job->step[0].name.at.file : job->file;
        bind_fault_at(b, (struct place){.file = file}, "sinks: where rows go",
                      "SR0301: the job has no sinks");
    }
}

/* --- Order ------------------------------------------------------------------------------------ */

/* The next step all of whose inputs are bound; NULL: none. */
static struct bound *bind_next(struct binder *b, const bool *is_done)
{
    for (uint32_t i = 0; i < b->steps; i++) {
        if (!is_done[i] && b->step[i].waiting == 0) {
            return &b->step[i];
        }
    }
    return NULL;
}

static void bind_tell_readers(struct binder *b, const struct bound *done)
{
    for (uint32_t i = 0; i < b->steps; i++) {
        struct bound *s = &b->step[i];
        for (uint32_t k = 0; k < s->froms; k++) {
            s->waiting -= s->from[k] == done;
        }
    }
}

/* Of a step that waits for ever, the input that waits too. */
static struct bound *bind_stuck_input(const struct bound *s)
{
    for (uint32_t k = 0; k < s->froms; k++) {
        if (s->from[k]->waiting > 0) {
            return s->from[k];
        }
    }
    return NULL;
}

/* Every step left waits for another: going back long enough ends inside a cycle. */
static void bind_say_cycle(struct binder *b, struct bound *s)
{
    for (uint32_t i = 0; i < b->steps; i++) {
        s = bind_stuck_input(s);
        sr_assert(s != NULL);
    }
    const struct bound *first = s;
    for (uint32_t i = 0; i < b->steps; i++) { /* once around: begin at the one written first */
        s = bind_stuck_input(s);
        first = s < first ? s : first;
    }
    while (s != first) {
        s = bind_stuck_input(s);
    }
    const char *text = first->step->name.text;
    do {
        s = bind_stuck_input(s);
        text = arena_printf(b->arena, "%s <- %s", text ? text : "", s->step->name.text);
    } while (s != first);
    bind_fault(b, &first->step->name, 0, NULL, "SR0504: steps read each other in a circle: %s",
               text ? text : "");
}

static void bind_one(struct binder *b, struct bound *s)
{
    switch (s->step->kind) {
    case JOB_SOURCE:
        bind_source(b, s);
        break;
    case JOB_TRANSFORM:
        bind_transform(b, s);
        break;
    case JOB_SINK:
        bind_sink(b, s);
        break;
    }
}

static void bind_steps(struct binder *b)
{
    bool *is_done = arena_array(b->arena, (size_t)b->steps + 1, sizeof(*is_done));
    uint32_t done = 0;
    struct bound *s = NULL;
    while (is_done && (s = bind_next(b, is_done))) {
        bool had_failed = s->has_failed; /* in its names */
        bind_one(b, s);
        s->has_failed = s->has_failed || had_failed;
        is_done[s - b->step] = true;
        bind_tell_readers(b, s);
        done++;
    }
    for (uint32_t i = 0; is_done && i < b->steps && done < b->steps; i++) {
        if (!is_done[i]) {
            bind_say_cycle(b, &b->step[i]);
            return;
        }
    }
}

/* --- The job's own checks --------------------------------------------------------------------- */

static const struct job_step *bind_step_of(const struct job *job, const struct plan_node *n)
{
    for (uint32_t i = 0; i < job->steps; i++) {
        if (job->step[i].name.text == n->step) {
            return &job->step[i];
        }
    }
    return NULL;
}

/* A sink may not claim more than the path to it keeps. */
static void bind_check_guarantees(struct binder *b, const struct plan *p)
{
    const struct plan_path *path = NULL;
    uint32_t paths = plan_paths(b->arena, p, &path);
    for (uint32_t i = 0; i < paths; i++) {
        const struct job_step *sink = bind_step_of(b->job, &p->node[path[i].sink_node]);
        if (sink && sink->guarantee > path[i].guarantee) {
            bind_fault_at(
                b, sink->guarantee_at.line ? sink->guarantee_at : sink->name.at, path[i].weakest,
                "SR0507: sink '%s' claims %s, but rows from '%s' have %s", sink->name.text,
                plan_guarantee_words(sink->guarantee), p->node[path[i].source_node].step,
                plan_guarantee_words(path[i].guarantee));
        }
    }
}

static void bind_check_bounded(struct binder *b, const struct plan *p)
{
    for (uint32_t n = 0; n < p->nodes && !p->is_bounded; n++) {
        const struct plan_node *node = &p->node[n];
        const struct job_step *sink = bind_step_of(b->job, node);
        if (node->kind == PLAN_SINK && node->sink_caps.is_bounded_only && sink) {
            bind_fault_at(
                b, bind_connector_place(sink), "name a directory, or read bounded sources only",
                "SR0508: sink '%s' is complete only at the end of a bounded job, and this job "
                "has no end",
                node->step);
        }
    }
}

/* What one sink alone may write is named by no other. */
static void bind_check_exclusive(struct binder *b, const struct plan *p)
{
    for (uint32_t n = 0; n < p->nodes; n++) {
        const struct plan_node *node = &p->node[n];
        const char *target = node->kind == PLAN_SINK ? node->sink_caps.exclusive : NULL;
        for (uint32_t k = 0; target && k < n; k++) {
            const struct plan_node *other = &p->node[k];
            const struct job_step *sink = bind_step_of(b->job, node);
            if (other->kind == PLAN_SINK && other->sink_caps.exclusive && sink &&
                strcmp(other->sink_caps.exclusive, target) == 0) {
                bind_fault_at(
                    b, bind_connector_place(sink),
                    "name another place, or give one sink both inputs: `from: [a, b]`",
                    "SR0509: sinks '%s' and '%s' both write %s, and only one of them would remain",
                    other->step, node->step, target);
            }
        }
    }
}

/* Do both name something that one source alone may use? */
static const char *bind_shared(const struct sr_source_caps *a, const struct sr_source_caps *b)
{
    enum { EXCLUSIVES = sizeof(a->exclusive) / sizeof(a->exclusive[0]) };
    for (uint32_t i = 0; i < EXCLUSIVES; i++) {
        for (uint32_t k = 0; k < EXCLUSIVES && a->exclusive[i]; k++) {
            if (b->exclusive[k] && strcmp(a->exclusive[i], b->exclusive[k]) == 0) {
                return a->exclusive[i];
            }
        }
    }
    return NULL;
}

/* What one source alone may use is named by no other: each would get a part of it. */
static void bind_check_shared(struct binder *b, const struct plan *p)
{
    for (uint32_t n = 0; n < p->nodes; n++) {
        const struct plan_node *node = &p->node[n];
        for (uint32_t k = 0; node->kind == PLAN_SOURCE && k < n; k++) {
            const struct plan_node *other = &p->node[k];
            const struct job_step *source = bind_step_of(b->job, node);
            const char *what = other->kind == PLAN_SOURCE
                                   ? bind_shared(&other->source_caps, &node->source_caps)
                                   : NULL;
            if (!what || !source) continue;
            bind_fault_at(b, bind_connector_place(source),
                          "name another one, or have one source: any number of steps may name it "
                          "in `from`",
                          "SR0509: sources '%s' and '%s' both use %s, which one alone can",
                          other->step, node->step, what);
        }
    }
}

static bool bind_prepare(struct binder *b)
{
    b->graph = logic_graph_new(b->arena, b->job);
    b->step = arena_array(b->arena, (size_t)b->job->steps + 1, sizeof(*b->step));
    if (!b->graph || !b->step) {
        return bind_no_memory(b);
    }
    b->steps = b->job->steps;
    for (uint32_t i = 0; i < b->steps; i++) {
        b->step[i].step = &b->job->step[i];
    }
    return true;
}

/* A setting that nothing in the job can make use of. */
static void bind_check_backlog(struct binder *b, const struct plan *p)
{
    bool has_one = false;
    for (uint32_t i = 0; i < p->nodes; i++) {
        has_one = has_one || p->node[i].source_caps.has_backlog;
    }
    if (has_one || b->job->settings.backlog_interval.us < 0) return;
    fault_add(b->faults, FAULT_WARNING, (struct place){.file = b->job->file},
              "filesystem with source.monitor-interval can, and sqlite where it looks for more",
              "'execution.checkpointing.interval-during-backlog' has no effect: no source of this "
              "job can tell that it works off a backlog");
}

static void bind_plan(struct binder *b, const struct plan **out)
{
    struct sr_error err = {0};
    if (plan_make(b->graph, b->registry, out, &err) != SR_OK) {
        const struct job_step *culprit = b->graph->culprit;
        bind_fault_at(b, culprit ? culprit->name.at : (struct place){.file = b->job->file}, NULL,
                      "SR0510: %s", err.words);
        return;
    }
    bind_check_guarantees(b, *out);
    bind_check_bounded(b, *out);
    bind_check_dead_letter(b, *out);
    bind_check_exclusive(b, *out);
    bind_check_shared(b, *out);
    bind_check_deciders(b, *out);
    bind_check_backlog(b, *out);
}

sr_rc bind_job(const struct job *job, struct registry *registry, struct faults *faults,
               const struct plan **out)
{
    struct binder b = {.arena = job->arena, .job = job, .registry = registry, .faults = faults};
    uint32_t before = faults->errors;
    const struct plan *p = NULL;
    if (bind_prepare(&b)) {
        bind_check_names(&b);
        for (uint32_t i = 0; i < b.steps; i++) {
            bind_check_from(&b, &b.step[i]);
        }
        bind_check_unused(&b);
        bind_steps(&b);
        bind_dead_letter(&b);
    }
    /* Only a graph without holes can be planned. Faults that were there before are the reader's: a
     * step that has one may have lost its connector. */
    if (faults->errors == before && before == 0) {
        bind_plan(&b, &p);
    }
    faults_sort(faults);
    if (faults->errors > 0) {
        return SR_ECONFIG;
    }
    sr_assert(p != NULL);
    *out = p;
    return SR_OK;
}

sr_rc bind_constant(struct arena *a, const char *text, const struct expr **out,
                    struct sr_error *err)
{
    struct faults *faults = arena_get(a, sizeof(*faults));
    if (!faults) {
        return error_set(err, SR_ENOMEM, "out of memory");
    }
    faults_init(faults, a);
    struct job_text t = {.text = text, .len = (uint32_t)strlen(text), .at = {NULL, 1, 1}};
    struct binder b = {.arena = a, .faults = faults};
    const struct ast *n = bind_parse(&b, PARSE_EXPR, &t);
    struct scope s = {.binder = &b, .text = &t};
    const struct expr *e = n ? bind_expr(&s, n) : NULL;
    if (!e && faults->count > 0) {
        const struct fault *f = &faults->fault[0];
        return error_set(err, arena_is_broken(a) ? SR_ENOMEM : SR_ECONFIG,
                         "%s%sline %u, column %u: %s%s%s%s", f->code, *f->code ? ": " : "",
                         f->at.line, f->at.column, f->words, f->hint ? " (" : "",
                         f->hint ? f->hint : "", f->hint ? ")" : "");
    }
    if (!e) {
        return error_set(err, SR_ENOMEM, "out of memory");
    }
    *out = expr_as_column(a, e);
    return *out ? SR_OK : error_set(err, SR_ENOMEM, "out of memory");
}
