#include "cli/connect.h"

#include <poll.h>

#include "engine/base/error.h"
#include "engine/run/splits.h"

#define CONNECT_US      INT64_C(60000000) /* a source gives up by itself before */
#define CONNECT_TICK_MS 5

/* Until the first discovery is done, or has failed. */
static sr_rc connect_ask(struct cli *c, struct splits *s, uint32_t *splits, struct sr_error *err)
{
    const int64_t until_us = c->env.mono_us(&c->env) + CONNECT_US;
    for (;;) {
        struct sr_wait wait = {.fd = -1};
        struct split one;
        int64_t now_us = c->env.mono_us(&c->env);
        switch (splits_take(s, 0, now_us, &one, &wait, err)) {
        case SPLITS_ONE:
            split_done(&one);
            *splits = s->waiting.count + 1;
            return SR_OK;
        case SPLITS_ALL:
            *splits = 0;
            return SR_OK;
        case SPLITS_LATER:
            break;
        case SPLITS_FAILED:
            return err->rc;
        }
        if (now_us > until_us || wait.until_us > until_us) {
            *splits = 0; /* it has looked, and found none */
            return SR_OK;
        }
        (void)poll(NULL, 0, CONNECT_TICK_MS); /* a nap: sources look on threads of their own */
    }
}

/* Splits are looked for as in a run. */
static sr_rc connect_splits(struct cli *c, const struct plan *p, const struct plan_node *node,
                            struct connect_result *out)
{
    struct splits *s = NULL;
    struct sr_error err = {0};
    sr_rc rc = splits_new(&s, p, node, 1, &c->env, &err);
    if (rc == SR_OK) rc = splits_open(s, &err);
    if (rc == SR_OK) rc = connect_ask(c, s, &out->splits, &err);
    splits_free(s);
    if (rc == SR_OK) return SR_OK;
    out->asked.fault = arena_text(c->arena, err.words);
    return out->asked.fault ? SR_OK : SR_ENOMEM;
}

static sr_rc connect_source(struct cli *c, const struct plan *p, const struct plan_node *node,
                            struct connect_result *out)
{
    bool is_afar =
        SR_HAS_FIELD(node->source, struct sr_source_type, is_afar) && node->source->is_afar;
    *out = (struct connect_result){.step = node->step, .what = "source", .has_splits = is_afar};
    sr_rc rc = is_afar ? connect_splits(c, p, node, out) : SR_OK;
    if (rc == SR_OK && !out->asked.fault && ask_can_source(node)) {
        struct sr_ask a = {.question = SR_ASK_CONNECTED};
        rc = ask_source(c, p, node, &a, &out->asked);
    }
    return rc;
}

static sr_rc connect_sink(struct cli *c, const struct plan *p, const struct plan_node *node,
                          struct connect_result *out)
{
    struct sr_ask a = {.question = SR_ASK_CONNECTED, .job_id = p->job->id, .is_write = true};
    *out = (struct connect_result){.step = node->step, .what = "sink"};
    return ask_sink(c, p, node, &a, &out->asked);
}

static sr_rc connect_format(struct cli *c, const struct plan *p, const struct plan_node *node,
                            bool is_key, struct connect_result *out)
{
    struct sr_ask a = {.question = SR_ASK_CONNECTED, .job_id = p->job->id};
    *out = (struct connect_result){.step = node->step, .what = is_key ? "key.format" : "format"};
    return ask_format(c, p, node, is_key, &a, &out->asked);
}

#define CONNECT_PER_NODE 3u /* itself, its format, that of its keys */

static sr_rc connect_node(struct cli *c, const struct plan *p, const struct plan_node *node,
                          struct connect_result *list, uint32_t *n)
{
    bool is_afar = node->kind == PLAN_SOURCE &&
                   SR_HAS_FIELD(node->source, struct sr_source_type, is_afar) &&
                   node->source->is_afar;
    sr_rc rc = SR_OK;
    if (is_afar || ask_can_source(node)) rc = connect_source(c, p, node, &list[(*n)++]);
    if (rc == SR_OK && ask_can_sink(node)) rc = connect_sink(c, p, node, &list[(*n)++]);
    for (uint32_t is_key = 0; is_key < 2 && rc == SR_OK && node->kind != PLAN_OP; is_key++) {
        if (ask_can_format(node, is_key > 0)) {
            rc = connect_format(c, p, node, is_key > 0, &list[(*n)++]);
        }
    }
    return rc;
}

sr_rc connect_all(struct cli *c, const struct plan *p, struct connect_result **out, uint32_t *count,
                  struct sr_error *err)
{
    struct connect_result *list =
        arena_array(c->arena, ((size_t)p->nodes + 1) * CONNECT_PER_NODE, sizeof(*list));
    uint32_t n = 0;
    sr_rc rc = list ? SR_OK : SR_ENOMEM;
    for (uint32_t i = 0; rc == SR_OK && i < p->nodes; i++) {
        rc = connect_node(c, p, &p->node[i], list, &n);
    }
    if (rc == SR_OK && p->dead_letter) rc = connect_node(c, p, &p->dead_letter->node, list, &n);
    if (rc != SR_OK) return error_set(err, rc, "out of memory");
    *out = list;
    *count = n;
    return SR_OK;
}
