#include "cli/summary.h"

#include <inttypes.h>
#include <string.h>

#include "cli/show.h"

/* Sums over the nodes that a sink's rows came through. */
struct summary_path {
    int64_t read, written, filtered, absorbed, late, dead, skipped;
    bool has_aggregate; /* rows end in state before they reach the sink */
    /* what aggregates gave, and what became of it before the sink had it */
    int64_t emitted, behind_filtered, behind_late, behind_dead, behind_skipped;
};

/* Marks every node that `sink` reads from, itself included; nodes are in topological order. */
static void summary_mark(const struct plan *p, uint32_t sink, bool *is_on_path)
{
    is_on_path[sink] = true;
    for (uint32_t i = sink + 1; i-- > 0;) {
        if (!is_on_path[i]) continue;
        for (uint32_t k = 0; k < p->node[i].inputs; k++) {
            is_on_path[p->node[i].input[k]] = true;
        }
    }
}

static bool summary_is_behind_aggregate(const struct plan *p, const bool *is_behind, uint32_t node)
{
    for (uint32_t k = 0; k < p->node[node].inputs; k++) {
        uint32_t input = p->node[node].input[k];
        if (is_behind[input] || (p->node[input].op && p->node[input].op->is_keyed)) return true;
    }
    return false;
}

static struct summary_path summary_path(const struct plan *p, const struct run_status *s,
                                        uint32_t sink, bool *is_on_path, bool *is_behind)
{
    struct summary_path sum = {0};
    summary_mark(p, sink, is_on_path);
    for (uint32_t i = 0; i <= sink; i++) {
        is_behind[i] = summary_is_behind_aggregate(p, is_behind, i);
        if (!is_on_path[i]) continue;
        const struct run_node_status *n = &s->node[i];
        if (p->node[i].op && p->node[i].op->is_keyed) {
            sum.has_aggregate = true;
            if (!is_behind[i]) sum.emitted += n->out;
        }
        if (n->kind == PLAN_SOURCE) sum.read += n->in;
        if (i == sink) sum.written = n->out;
        if (is_behind[i]) { /* these are results, not the rows that were read */
            sum.behind_filtered += n->filtered;
            sum.behind_late += n->late;
            sum.behind_dead += n->dead;
            sum.behind_skipped += n->skipped;
            continue;
        }
        sum.filtered += n->filtered;
        sum.absorbed += n->absorbed;
        sum.late += n->late;
        sum.dead += n->dead;
        sum.skipped += n->skipped;
    }
    return sum;
}

static void summary_results(const struct cli *c, const struct summary_path *s)
{
    const struct {
        const char *name;
        int64_t count;
    } lost[] = {{"filtered", s->behind_filtered},
                {"late", s->behind_late},
                {"dead-lettered", s->behind_dead},
                {"skipped", s->behind_skipped}};
    fprintf(c->err, "; aggregates emitted %s, written %s", show_count(c->arena, s->emitted),
            show_count(c->arena, s->written));
    for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++) {
        if (lost[i].count == 0) continue;
        fprintf(c->err, ", %s %s", lost[i].name, show_count(c->arena, lost[i].count));
    }
}

static void summary_line(const struct cli *c, const char *name, const struct summary_path *s)
{
    struct arena *a = c->arena;
    int64_t written = s->has_aggregate ? 0 : s->written;
    fprintf(c->err,
            "streamrun: %s%sread %s = written %s + filtered %s + aggregated %s + late %s + "
            "dead-lettered %s + skipped %s",
            name, *name ? ": " : "", show_count(a, s->read), show_count(a, written),
            show_count(a, s->filtered), show_count(a, s->absorbed), show_count(a, s->late),
            show_count(a, s->dead), show_count(a, s->skipped));
    if (s->has_aggregate) summary_results(c, s);
    int64_t rest = s->read - (written + s->filtered + s->absorbed + s->late + s->dead + s->skipped);
    if (rest > 0) fprintf(c->err, "; on the way %s", show_count(a, rest));
    if (rest < 0) {
        fprintf(c->err, "; %s too many: counted before the job was changed", show_count(a, -rest));
    }
}

int64_t summary_print(const struct cli *c, const struct plan *plan, const struct run_status *s)
{
    bool *flags = arena_array(c->arena, (size_t)plan->nodes * 2, sizeof(bool));
    uint32_t sinks = 0;
    int64_t aside = 0;
    for (uint32_t i = 0; i < plan->nodes; i++) {
        sinks += plan->node[i].kind == PLAN_SINK ? 1 : 0;
        aside += s->node[i].skipped + s->node[i].dead;
    }
    for (uint32_t i = 0; flags && !c->is_quiet && i < plan->nodes; i++) {
        if (plan->node[i].kind != PLAN_SINK) continue;
        memset(flags, 0, (size_t)plan->nodes * 2 * sizeof(bool));
        struct summary_path sum = summary_path(plan, s, i, flags, flags + plan->nodes);
        summary_line(c, sinks > 1 ? plan->node[i].step : "", &sum);
        fprintf(c->err, " (in all: %s, %s%s)\n", show_duration(c->arena, s->now_us - s->started_us),
                show_many(c->arena, s->checkpoints_shown, "checkpoint"),
                s->restored_from > 0 ? ", counted since the job's first run" : "");
    }
    return aside;
}
