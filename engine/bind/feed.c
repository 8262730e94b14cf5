/* Rows of a replay: those that a step could not take join its input again.
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
    struct logic *both[2] = {logic_add_identity(b->graph, step, in),
                             source ? feed_columns(b, source, in) : NULL};
    if (!both[0] || !both[1]) return NULL; /* told */
    struct logic *n = logic_add(b->graph, LOGIC_UNION, step, both, 2);
    struct sr_schema *out = arena_copy(b->arena, in->out, sizeof(*out));
    if (!n || !out) {
        (void)bind_no_memory(b);
        return NULL;
    }
    out->keys = 0;
    n->out = out;
    n->on_error = in->on_error;
    struct logic *calc = logic_add_identity(b->graph, step, n);
    if (!calc) (void)bind_no_memory(b);
    return calc;
}
