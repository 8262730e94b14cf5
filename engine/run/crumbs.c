#include "engine/run/crumbs.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/assert.h"

#define CRUMBS_MAGIC UINT64_C(0x31424d5243525300)

sr_rc crumbs_take(struct crumbs *c, struct poison *p, struct sr_error *err)
{
    struct poison_record suspect[CRUMBS_MAX];
    char words[] = "the process died while it worked on it";
    uint32_t count = 0;
    bool has_died = c->magic == CRUMBS_MAGIC && atomic_load(&c->is_running) == 1;
    for (uint32_t i = 0; has_died && i < CRUMBS_MAX; i++) {
        struct crumb *b = &c->crumb[i];
        bool is_whole = memchr(b->source, '\0', sizeof(b->source)) &&
                        memchr(b->step, '\0', sizeof(b->step)) &&
                        memchr(b->split, '\0', sizeof(b->split)) && b->from <= b->to;
        if (atomic_load(&b->is_busy) != 1 || !is_whole) continue;
        suspect[count++] = (struct poison_record){.source = b->source,
                                                  .split = b->split,
                                                  .step = b->step,
                                                  .words = words,
                                                  .from = b->from,
                                                  .to = b->to,
                                                  .is_decoding = b->is_decoding == 1,
                                                  .is_crash = true};
    }
    if (count == 0 || p->failures_max == 0) return SR_OK;
    for (uint32_t i = 0; i < count; i++) {
        env_log(p->env, SR_WARN, suspect[i].step,
                "the last run died while it worked on %s, offset %lld to %lld: read one by one "
                "now",
                suspect[i].split, (long long)suspect[i].from, (long long)suspect[i].to);
    }
    return poison_failed(p, suspect, count, err);
}

void crumbs_begin(struct crumbs *c)
{
    /* A new file is all zeros, and its pages need not be touched. */
    for (uint32_t i = 0; i < CRUMBS_MAX && c->magic == CRUMBS_MAGIC; i++) {
        atomic_store(&c->crumb[i].is_busy, 0);
    }
    c->magic = CRUMBS_MAGIC;
    atomic_store(&c->is_running, 1);
}

void crumbs_end(struct crumbs *c) { atomic_store(&c->is_running, 0); }

static bool crumbs_is_first(const struct crumbs *c, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++) {
        if (atomic_load(&c->crumb[k].is_busy) == 1 &&
            strncmp(c->crumb[k].step, c->crumb[i].step, sizeof(c->crumb[i].step)) == 0) {
            return false;
        }
    }
    return true;
}

void crumbs_where(const struct crumbs *c, char *out, size_t size)
{
    uint32_t steps = 0;
    size_t len = 0;
    *out = '\0';
    if (c->magic != CRUMBS_MAGIC || atomic_load(&c->is_running) != 1) return;
    for (uint32_t i = 0; i < CRUMBS_MAX; i++) {
        const struct crumb *b = &c->crumb[i];
        bool is_named = atomic_load(&b->is_busy) == 1 && memchr(b->step, '\0', sizeof(b->step));
        if (!is_named || !crumbs_is_first(c, i)) continue;
        int n = snprintf(out + len, size - len, "%s'%s'", steps > 0 ? ", " : "", b->step);
        if (n < 0 || (size_t)n >= size - len) break; /* cut */
        len += (size_t)n;
        steps++;
    }
    if (steps == 0) return;
    char names[400]; /* more steps than fit are cut */
    (void)snprintf(names, sizeof(names), "%s", out);
    (void)snprintf(out, size, "in %s %s", steps > 1 ? "one of the steps" : "step", names);
}

/* Mostly the texts are the same as before: then they are not written. */
static void crumbs_write(struct crumb *c, const struct crumb_place *at)
{
    sr_assert(atomic_load_explicit(&c->is_busy, memory_order_relaxed) == 0);
    c->from = at->from;
    c->to = at->to;
    if (strcmp(c->split, at->split) != 0) {
        (void)snprintf(c->split, sizeof(c->split), "%s", at->split);
    }
    if (strcmp(c->source, at->source) != 0) {
        (void)snprintf(c->source, sizeof(c->source), "%s", at->source);
    }
    if (strcmp(c->step, at->step) != 0) {
        (void)snprintf(c->step, sizeof(c->step), "%s", at->step);
    }
    atomic_store_explicit(&c->is_busy, 1, memory_order_release);
}

void crumbs_set(struct crumb *c, const struct plan *p, const char *step, const struct sr_view *v)
{
    if (!c || !v->origin || v->picked == 0) return;
    const struct sr_origin *o = v->origin;
    struct crumb_place at = {.source = p->node[o->node].uid,
                             .step = step,
                             .split = (const char *)o->split->data,
                             .from = origin_offset(o, sr_row(v, 0)),
                             .to = origin_offset(o, sr_row(v, v->picked - 1))};
    c->is_decoding = 0;
    crumbs_write(c, &at);
}

void crumbs_decoding(struct crumb *c, const struct crumb_place *at)
{
    if (!c) return;
    c->is_decoding = 1;
    crumbs_write(c, at);
}

void crumbs_clear(struct crumb *c)
{
    if (c) atomic_store_explicit(&c->is_busy, 0, memory_order_release);
}
