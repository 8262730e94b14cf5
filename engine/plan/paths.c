/* The guarantee of each path from a source to a sink, and its weakest link. */
#include "engine/plan/plan.h"

const char *plan_guarantee_words(enum sr_guarantee g)
{
    switch (g) {
    case SR_NO_GUARANTEE:
        return "no guarantee";
    case SR_AT_LEAST_ONCE:
        return "at-least-once";
    case SR_EXACTLY_ONCE:
        return "exactly-once";
    }
    return "";
}

const char *plan_path_words(const struct plan_path *path)
{
    if (path->guarantee == SR_EXACTLY_ONCE && path->is_decided) {
        return "exactly-once, decided by the target's own transaction";
    }
    return plan_guarantee_words(path->guarantee);
}

static void paths_cap(struct plan_path *path, enum sr_guarantee g, const char *why)
{
    if (g < path->guarantee) {
        path->guarantee = g;
        path->weakest = why;
    }
}

/* What the settings allow. A bounded job without an interval commits everything at its end, or
 * nothing: run again after a crash, it gives each row once. */
static void paths_cap_settings(struct plan_path *path, const struct plan *p)
{
    const struct settings *s = &p->job->settings;
    bool has_interval = s->interval.us >= 0;
    if (!has_interval && !p->is_bounded) {
        paths_cap(path, SR_AT_LEAST_ONCE,
                  "checkpointing is off: execution.checkpointing.interval is not written");
    }
    if (has_interval && s->storage.index == STORAGE_JOBMANAGER) {
        paths_cap(path, SR_AT_LEAST_ONCE,
                  "checkpoints are kept in memory and die with the process "
                  "(execution.checkpointing.storage: jobmanager)");
    }
    if (s->mode.index == MODE_AT_LEAST_ONCE) {
        paths_cap(path, SR_AT_LEAST_ONCE, "execution.checkpointing.mode is at-least-once");
    }
}

static void paths_judge(struct arena *a, const struct plan *p, const struct plan_node *sink,
                        struct plan_path *path)
{
    const struct plan_node *source = &p->node[path->source_node];
    path->guarantee = SR_EXACTLY_ONCE;
    path->weakest = NULL;
    path->is_decided = plan_is_decided(sink);
    if (source->source_caps.resends && !source->source_caps.can_rewind) {
        paths_cap(path, SR_AT_LEAST_ONCE,
                  arena_printf(a, "source '%s' (%s) takes again what its senders send again",
                               source->step, source->source->name));
    } else if (!source->source_caps.can_rewind) {
        paths_cap(path, SR_NO_GUARANTEE,
                  arena_printf(a, "source '%s' (%s) cannot go back to read a row again",
                               source->step, source->source->name));
    }
    paths_cap_settings(path, p);
    paths_cap(path, sink->sink_caps.guarantee,
              arena_printf(a, "sink '%s' (%s) can keep no more", sink->step, sink->sink->name));
}

/* Marks every node whose rows reach `sink`. */
static void paths_reach(const struct plan *p, uint32_t sink, bool *reaches)
{
    for (uint32_t n = 0; n < p->nodes; n++) {
        reaches[n] = n == sink;
    }
    for (uint32_t n = p->nodes; n > 0; n--) {
        const struct plan_node *node = &p->node[n - 1];
        for (uint32_t i = 0; i < node->inputs && reaches[n - 1]; i++) {
            reaches[node->input[i]] = true;
        }
    }
}

uint32_t plan_paths(struct arena *a, const struct plan *p, const struct plan_path **out)
{
    uint32_t sources = 0, sinks = 0, count = 0;
    for (uint32_t n = 0; n < p->nodes; n++) {
        sources += p->node[n].kind == PLAN_SOURCE;
        sinks += p->node[n].kind == PLAN_SINK;
    }
    struct plan_path *path = arena_array(a, (size_t)sources * sinks + 1, sizeof(*path));
    bool *reaches = arena_array(a, (size_t)p->nodes + 1, sizeof(*reaches));
    if (!path || !reaches) {
        return 0;
    }
    for (uint32_t sink = 0; sink < p->nodes; sink++) {
        if (p->node[sink].kind != PLAN_SINK) {
            continue;
        }
        paths_reach(p, sink, reaches);
        for (uint32_t n = 0; n < p->nodes; n++) {
            if (reaches[n] && p->node[n].kind == PLAN_SOURCE) {
                path[count].source_node = n;
                path[count].sink_node = sink;
                paths_judge(a, p, &p->node[sink], &path[count++]);
            }
        }
    }
    *out = path;
    return count;
}

enum sr_guarantee plan_aside_guarantee(struct arena *a, const struct plan *p, const char **weakest)
{
    enum sr_guarantee least = SR_EXACTLY_ONCE;
    *weakest = NULL;
    for (uint32_t n = 0; n < p->nodes; n++) {
        struct plan_path path = {.source_node = n};
        if (p->node[n].kind != PLAN_SOURCE) {
            continue;
        }
        paths_judge(a, p, &p->dead_letter->node, &path);
        if (path.guarantee < least) {
            least = path.guarantee;
            *weakest = path.weakest;
        }
    }
    return least;
}
