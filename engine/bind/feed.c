/* What a replay puts in: rows that a step could not take, beside its input; and records of a source
 * that goes on to other steps too, on a way of their own to the step that could not take them.
 *
 *   in ----------------------.
 *   SOURCE -> CALC columns -> UNION -> CALC -> the step
 *
 * They have the columns of `in`. Event time stays event time without a watermark of theirs, so none
 * is late, and windows wait for the last one; time of processing is the replay's own.
 */
#include "engine/bind/binder.h"
#include "engine/data/schema.h"

static struct logic *feed_source(struct binder *b, const struct job_step *feed,
                                 const struct sr_schema *columns)
{
    struct sr_error err = {0};
    struct logic *n = logic_add(b->graph, LOGIC_SOURCE, feed, NULL, 0);
    struct sr_schema *read = arena_copy(b->arena, columns, sizeof(*read));
    if (!n || !read) {
        (void)bind_no_memory(b);
        return NULL;
    }
    read->rowtime = -1;
    read->keys = 0;
    n->out = read;
    n->on_error = feed->on_error;
    if (feed->source->check(feed->conf, read, &n->source_caps, &err) != SR_OK ||
        (feed->format->check &&
         feed->format->check(feed->format_conf, read, false, &n->format_flags, &err) != SR_OK)) {
        bind_fault_at(b, feed->name.at, "replay the other letters by their ids",
                      "SR0609: rows that were set aside at '%s' cannot be read back: %s",
                      feed->name.text, err.words);
        return NULL;
    }
    return n;
}

/* The columns as the step knows them. */
static struct logic *feed_columns(struct binder *b, struct logic *source, const struct logic *in)
{
    struct sr_error err = {0};
    struct logic *n = logic_add_identity(b->graph, source->step, source);
    struct sr_schema *out = arena_copy(b->arena, in->out, sizeof(*out));
    if (!n || !out) {
        (void)bind_no_memory(b);
        return NULL;
    }
    out->keys = 0;
    n->out = out;
    n->on_error = in->on_error;
    for (uint32_t c = 0; c < out->fields; c++) {
        if (!logic_is_proctime(in, c)) continue;
        n->expr[c] = expr_call(b->arena, "PROCTIME", NULL, 0, &err);
        if (!n->expr[c]) {
            (void)bind_no_memory(b);
            return NULL;
        }
    }
    return n;
}

/* `in` and `more`, of the same columns, as one; NULL with faults. */
static struct logic *feed_join(struct binder *b, const struct job_step *step, struct logic *in,
                               struct logic *more)
{
    struct logic *both[2] = {logic_add_identity(b->graph, step, in), more};
    struct logic *n = both[0] ? logic_add(b->graph, LOGIC_UNION, step, both, 2) : NULL;
    struct sr_schema *out = arena_copy(b->arena, in->out, sizeof(*out));
    if (!n || !out) {
        (void)bind_no_memory(b);
        return NULL;
    }
    out->keys = 0;
    n->out = out;
    n->on_error = in->on_error;
    n->is_updating = in->is_updating;
    struct logic *calc = logic_add_identity(b->graph, step, n);
    if (!calc) (void)bind_no_memory(b);
    return calc;
}

struct logic *bind_feed(struct binder *b, const struct job_step *step, struct logic *in,
                        enum job_feed_at at)
{
    const struct job_step *feed = step->feed[at];
    if (!feed) return in;
    if (in->is_updating) {
        bind_fault(b, &step->name, 0, NULL,
                   "SR0510: rows that were set aside at '%s' cannot come again: others have "
                   "changed what they stood for",
                   step->name.text);
        return NULL;
    }
    struct logic *source = feed_source(b, feed, in->out);
    struct logic *rows = source ? feed_columns(b, source, in) : NULL;
    return rows ? feed_join(b, step, in, rows) : NULL;
}

/* --- Records ---------------------------------------------------------------------------------- */

/* Sets is_on[number] of the nodes on the ways from the source to `in`; false: memory is out. */
static bool replay_find_way(struct binder *b, const struct logic *in, const struct job_step *of,
                            bool *is_on)
{
    bool *is_before = arena_array(b->arena, (size_t)in->number + 1, sizeof(*is_before));
    if (!is_before) return bind_no_memory(b);
    is_before[in->number] = true;
    for (uint32_t i = in->number + 1; i-- > 0;) {
        const struct logic *n = b->graph->node[i];
        for (uint32_t k = 0; k < n->inputs && is_before[i]; k++) {
            is_before[n->input[k]->number] = true;
        }
    }
    for (uint32_t i = 0; i <= in->number; i++) {
        const struct logic *n = b->graph->node[i];
        is_on[i] = is_before[i] && n->kind == LOGIC_SOURCE && n->step == of;
        for (uint32_t k = 0; k < n->inputs && is_before[i]; k++) {
            is_on[i] = is_on[i] || is_on[n->input[k]->number];
        }
    }
    return true;
}

/* A node that does what n does, behind copies of those of its inputs that have one. */
static struct logic *replay_copy(struct binder *b, const struct logic *n, struct logic *const *copy,
                                 const struct job_replay *r)
{
    struct logic **input = arena_array(b->arena, (size_t)n->inputs + 1, sizeof(struct logic *));
    uint32_t inputs = 0;
    for (uint32_t k = 0; input && k < n->inputs; k++) {
        struct logic *in = copy[n->input[k]->number];
        if (in) input[inputs++] = in;
    }
    struct logic *made = input ? logic_add(b->graph, n->kind, n->step, input, inputs) : NULL;
    if (!made) return NULL;
    struct logic own = *made;
    *made = *n;
    made->number = own.number;
    made->input = own.input;
    made->inputs = own.inputs;
    made->step = n->step == r->of ? r->source : n->step;
    if (n->expr) { /* rewrites change it where it lies */
        made->expr = arena_copy(b->arena, n->expr, n->out->fields * sizeof(struct expr *));
        if (!made->expr && n->out->fields > 0) return NULL;
    }
    return made;
}

/* Another way from the source to where the step reads, read by nobody else; NULL with faults. */
static struct logic *replay_way(struct binder *b, const struct job_step *step,
                                const struct logic *in, const struct job_replay *r)
{
    bool *is_on = arena_array(b->arena, (size_t)in->number + 1, sizeof(*is_on));
    struct logic **copy = arena_array(b->arena, (size_t)in->number + 1, sizeof(struct logic *));
    if (!is_on || !copy || !replay_find_way(b, in, r->of, is_on)) {
        (void)bind_no_memory(b);
        return NULL;
    }
    for (uint32_t i = 0; i <= in->number; i++) {
        const struct logic *n = b->graph->node[i];
        if (!is_on[i]) continue;
        if (n->kind == LOGIC_AGGREGATE) break;
        copy[i] = replay_copy(b, n, copy, r);
        if (copy[i]) continue;
        (void)bind_no_memory(b);
        return NULL;
    }
    if (!copy[in->number]) {
        bind_fault(b, &step->name, 0, "replay the other letters by their ids",
                   "SR0510: records of '%s' that were set aside at '%s' find no way there",
                   r->of->name.text, step->name.text);
    }
    return copy[in->number];
}

struct logic *bind_replays(struct binder *b, const struct job_step *step, struct logic *in)
{
    struct logic *all = in;
    for (const struct job_replay *r = step->replay; r && all; r = r->next) {
        struct logic *way = replay_way(b, step, in, r);
        all = way ? feed_join(b, step, all, way) : NULL;
    }
    return all;
}
