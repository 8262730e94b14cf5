#include "cli/replay_place.h"

#include <jansson.h>
#include <string.h>

#include "engine/run/letter.h"

#define PLACE_STEPS_BETWEEN " + " /* names of steps that became one */

static const char *const place_ends[REPLAY_PLACES] = {[REPLAY_INPUT] = ".rows",
                                                      [REPLAY_GROUPED] = ".late",
                                                      [REPLAY_RESULTS] = ".results",
                                                      [REPLAY_SOURCE] = ".records",
                                                      [REPLAY_BRANCH] = ".records"};

/* --- Steps ------------------------------------------------------------------------------------ */

static bool place_is_name(const char *name, const char *text, size_t len)
{
    return strlen(name) == len && memcmp(name, text, len) == 0;
}

/* The step of that name, or the first one of several that became one: it takes their rows. */
static bool place_find(const struct job *job, const char *text, uint32_t *step)
{
    const char *end = strstr(text, PLACE_STEPS_BETWEEN);
    const size_t len[2] = {strlen(text), end ? (size_t)(end - text) : 0};
    for (uint32_t k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < job->steps && len[k] > 0; i++) {
            if (!place_is_name(job->step[i].name.text, text, len[k])) continue;
            *step = i;
            return true;
        }
    }
    return false;
}

/* Does the node do work of that step? */
static bool place_is_of(const struct plan_node *n, const char *name)
{
    const char *at = n->step;
    for (const char *end = strstr(at, PLACE_STEPS_BETWEEN); end;
         end = strstr(at, PLACE_STEPS_BETWEEN)) {
        if (place_is_name(name, at, (size_t)(end - at))) return true;
        at = end + sizeof(PLACE_STEPS_BETWEEN) - 1;
    }
    return strcmp(at, name) == 0 || strcmp(n->step, name) == 0;
}

/* The aggregate of a step; NULL: it has none. */
static const struct plan_node *place_aggregate(const struct plan *p, const char *name)
{
    for (uint32_t i = 0; i < p->nodes; i++) {
        const struct plan_node *n = &p->node[i];
        if (n->kind == PLAN_OP && n->op->is_keyed && place_is_of(n, name)) return n;
    }
    return NULL;
}

static bool place_has_window(const struct plan_node *n)
{
    return strcmp(n->op->name, "window-aggregate") == 0;
}

/* By node: later rows may change what earlier ones say. */
static bool *place_changes(struct arena *a, const struct plan *p)
{
    bool *changes = arena_array(a, (size_t)p->nodes + 1, sizeof(*changes));
    for (uint32_t i = 0; changes && i < p->nodes; i++) {
        const struct plan_node *n = &p->node[i];
        changes[i] = n->kind == PLAN_SOURCE
                         ? (n->format_flags & SR_FORMAT_CHANGES) != 0 || n->source_caps.upserts
                         : n->kind == PLAN_OP && n->op->is_keyed && !place_has_window(n);
        for (uint32_t k = 0; k < n->inputs; k++) {
            changes[i] = changes[i] || changes[n->input[k]];
        }
    }
    return changes;
}

/* Is what the step takes changed by later rows? */
static bool place_is_changed(struct arena *a, const struct plan *p, const char *name)
{
    const bool *changes = place_changes(a, p);
    for (uint32_t i = 0; changes && i < p->nodes; i++) {
        const struct plan_node *n = &p->node[i];
        for (uint32_t k = 0; k < n->inputs && place_is_of(n, name); k++) {
            const struct plan_node *in = &p->node[n->input[k]];
            if (changes[n->input[k]] && !place_is_of(in, name)) return true;
        }
    }
    return !changes;
}

/* Does a record of the source come to a sink without passing the step? Then that has it. */
static bool place_branches(struct arena *a, const struct plan *p, const char *source,
                           const char *step)
{
    bool *has = arena_array(a, (size_t)p->nodes + 1, sizeof(*has));
    for (uint32_t i = 0; has && i < p->nodes; i++) {
        const struct plan_node *n = &p->node[i];
        if (n->kind != PLAN_SOURCE && place_is_of(n, step)) continue;
        has[i] = n->kind == PLAN_SOURCE && strcmp(n->step, source) == 0;
        for (uint32_t k = 0; k < n->inputs; k++) {
            has[i] = has[i] || has[n->input[k]];
        }
        if (has[i] && n->kind == PLAN_SINK) return true;
    }
    return false;
}

/* --- Files ------------------------------------------------------------------------------------ */

/* A name of a step as a part of a file's. */
static const char *place_safe(struct arena *a, const char *name)
{
    char *safe = arena_array(a, 3 * strlen(name) + 1, 1);
    size_t len = 0;
    for (; safe && *name; name++) {
        bool is_plain = *name != '/' && *name != '%';
        const char *as = *name == '/' ? "%2f" : "%25";
        memcpy(safe + len, is_plain ? name : as, is_plain ? 1 : 3);
        len += is_plain ? 1 : 3;
    }
    return safe ? arena_text_n(a, safe, len) : NULL;
}

static bool place_has_end(const char *file, enum replay_at at)
{
    size_t len = strlen(file), end = strlen(place_ends[at]);
    return len > end && strcmp(file + len - end, place_ends[at]) == 0;
}

const char *replay_place_file(struct arena *a, const struct job *job, const struct replay_place *p)
{
    const char *step = place_safe(a, job->step[p->step].name.text);
    if (!step || p->at != REPLAY_BRANCH) {
        return step ? arena_printf(a, "%s%s", step, place_ends[p->at]) : NULL;
    }
    /* Names of steps have no dots. */
    const char *source = place_safe(a, job->step[p->source].name.text);
    return source ? arena_printf(a, "%s.%s%s", step, source, place_ends[p->at]) : NULL;
}

bool replay_place_find(struct arena *a, const struct job *job, const char *file,
                       struct replay_place *out)
{
    uint32_t steps = job->steps;
    for (uint32_t i = 0; i < steps * (REPLAY_BRANCH + steps); i++) {
        uint32_t kind = i / steps;
        struct replay_place p = {.step = i % steps};
        p.at = kind < REPLAY_BRANCH ? (enum replay_at)kind : REPLAY_BRANCH;
        p.source = kind < REPLAY_BRANCH ? 0 : kind - REPLAY_BRANCH;
        if (!place_has_end(file, p.at)) continue;
        const char *name = replay_place_file(a, job, &p);
        if (!name || strcmp(name, file) != 0) continue;
        *out = p;
        return true;
    }
    return false;
}

bool replay_place_equal(const struct replay_place *a, const struct replay_place *b)
{
    return a->at == b->at && a->step == b->step && a->source == b->source;
}

/* --- Letters ---------------------------------------------------------------------------------- */

/* A result has the bounds of its window and the names that the aggregate gives. */
static bool place_is_result(const struct plan_node *aggregate, const struct letter_row *l)
{
    json_t *row = json_loadb((const char *)l->raw, l->raw_len, 0, NULL);
    bool is_result = json_object_get(row, "window_start") && json_object_get(row, "window_end") &&
                     json_object_get(row, "window_time");
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach(row, name, value)
    {
        bool is_known = false;
        for (uint32_t c = 0; c < aggregate->out->fields && !is_known; c++) {
            is_known = strcmp(aggregate->out->field[c].name, name) == 0;
        }
        is_result = is_result && is_known;
    }
    json_decref(row);
    return is_result;
}

/* What a replay set aside is what it read: the file says what that is. */
static bool place_of_replay(struct arena *a, const struct job *job, const char *split,
                            struct replay_place *out)
{
    const char *name = strrchr(split, '/');
    bool is_one = false;
    for (uint32_t at = 0; name && strstr(split, ".replay-") && at < REPLAY_PLACES; at++) {
        is_one = is_one || place_has_end(name, (enum replay_at)at);
    }
    if (!is_one) return false;
    if (replay_place_find(a, job, name + 1, out)) return true;
    *out = (struct replay_place){
        .hurdle = "a replay set it aside, and the job has no longer the step that it went to"};
    return true;
}

/* A row that step `step` could not take. */
static struct replay_place place_of_row(struct arena *a, const struct plan *p,
                                        const struct letter_row *l, uint32_t step)
{
    const char *name = p->job->step[step].name.text;
    struct replay_place at = {.step = step, .at = REPLAY_INPUT};
    const struct plan_node *aggregate = place_aggregate(p, name);
    bool is_late = strcmp(l->error, LETTER_LATE_WORDS) == 0;
    if (is_late) {
        at.at = REPLAY_GROUPED;
        if (!aggregate || !place_has_window(aggregate)) at.hurdle = "its step has no window";
        return at;
    }
    bool is_own = aggregate && !*l->source;
    if (is_own && place_has_window(aggregate) && place_is_result(aggregate, l)) {
        at.at = REPLAY_RESULTS;
        return at;
    }
    if ((is_own && !place_has_window(aggregate)) || place_is_changed(a, p, name)) {
        at.hurdle = "later rows have changed what it says";
    }
    return at;
}

struct replay_place replay_place_of(struct arena *a, const struct plan *p,
                                    const struct letter_row *l)
{
    const struct job *job = p->job;
    struct replay_place at = {.at = REPLAY_SOURCE};
    uint32_t step = 0;
    bool has_step = place_find(job, l->step, &step);
    if (!l->raw) return (struct replay_place){.hurdle = "its bytes were not kept"};
    if (place_of_replay(a, job, l->split, &at)) return at;
    bool is_known = place_find(job, l->source, &at.step);
    const struct job_step *source = is_known ? &job->step[at.step] : NULL;
    if (*l->source && (!source || source->kind != JOB_SOURCE)) {
        return (struct replay_place){.hurdle = "the job has no source of that name"};
    }
    bool is_poison = strncmp(l->error, LETTER_POISON_WORDS, sizeof(LETTER_POISON_WORDS) - 1) == 0;
    if (source && source->format) {
        bool is_branch = has_step && job->step[step].kind != JOB_SOURCE && !is_poison &&
                         place_branches(a, p, source->name.text, job->step[step].name.text);
        if (is_branch) {
            at = (struct replay_place){.at = REPLAY_BRANCH, .step = step, .source = at.step};
        }
        return at;
    }
    if (!job->dead_letter.json) {
        return (struct replay_place){.hurdle = "there is no format to read its row with"};
    }
    bool is_source = source && ((has_step && step == at.step) || is_poison);
    if (is_source) return at;
    if (!has_step || job->step[step].kind == JOB_SOURCE) {
        return (struct replay_place){.hurdle = "the job has no step of that name"};
    }
    return place_of_row(a, p, l, step);
}
