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

static sr_rc connect_one(struct cli *c, const struct plan *p, const struct plan_node *node,
                         struct connect_result *out)
{
    struct splits *s = NULL;
    struct sr_error err = {0};
    *out = (struct connect_result){.step = node->step};
    sr_rc rc = splits_new(&s, p, node, 1, &c->env, &err);
    if (rc == SR_OK) rc = splits_open(s, &err);
    if (rc == SR_OK) rc = connect_ask(c, s, &out->splits, &err);
    splits_free(s);
    if (rc == SR_OK) return SR_OK;
    out->fault = arena_text(c->arena, err.words);
    return out->fault ? SR_OK : SR_ENOMEM;
}

sr_rc connect_sources(struct cli *c, const struct plan *p, struct connect_result **out,
                      uint32_t *count, struct sr_error *err)
{
    struct connect_result *list = arena_array(c->arena, p->nodes + 1u, sizeof(*list));
    uint32_t n = 0;
    sr_rc rc = list ? SR_OK : SR_ENOMEM;
    for (uint32_t i = 0; rc == SR_OK && i < p->nodes; i++) {
        const struct plan_node *node = &p->node[i];
        bool is_afar = node->kind == PLAN_SOURCE &&
                       SR_HAS_FIELD(node->source, struct sr_source_type, is_afar) &&
                       node->source->is_afar;
        rc = is_afar ? connect_one(c, p, node, &list[n]) : SR_OK;
        n += is_afar ? 1 : 0;
    }
    if (rc != SR_OK) return error_set(err, rc, "out of memory");
    *out = list;
    *count = n;
    return SR_OK;
}
