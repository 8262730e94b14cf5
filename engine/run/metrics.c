#include "engine/run/metrics.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/assert.h"

void counters_init(struct counters *c)
{
    for (uint32_t i = 0; i < COUNTER_COUNT; i++) {
        atomic_init(&c->value[i], 0);
    }
    atomic_init(&c->bytes_total, -1);
    atomic_init(&c->watermark, SR_WATERMARK_NONE);
}

int64_t counters_lost(const struct counters *c, const struct plan_node *n)
{
    struct counts now;
    counters_get(c, &now);
    const int64_t *v = now.value;
    bool is_keyed = n->kind == PLAN_OP && n->op->is_keyed; /* what it gives are results */
    return v[COUNTER_in] - v[COUNTER_filtered] - v[COUNTER_late] - v[COUNTER_absorbed] -
           v[COUNTER_skipped] - v[COUNTER_dead] - (is_keyed ? 0 : v[COUNTER_out]);
}

void counters_get(const struct counters *c, struct counts *out)
{
    for (uint32_t i = 0; i < COUNTER_COUNT; i++) {
        out->value[i] = atomic_load_explicit(&c->value[i], memory_order_relaxed);
    }
}

void counts_add(struct counts *to, const struct counts *by)
{
    for (uint32_t i = 0; i < COUNTER_COUNT; i++) {
        to->value[i] += by->value[i];
    }
}

const char *counter_text(enum counter_name name)
{
    static const char *const texts[COUNTER_COUNT] = {
#define COUNTER_TEXT(name) #name,
        COUNTER_LIST(COUNTER_TEXT)
#undef COUNTER_TEXT
    };
    sr_assert(name < COUNTER_COUNT);
    return texts[name];
}

bool counter_path(const struct plan *p, uint32_t n, enum counter_name name, char *out, size_t size)
{
    sr_assert(n < p->nodes);
    uint32_t same = 1;
    for (uint32_t i = 0; i < n; i++) {
        if (strcmp(p->node[i].uid, p->node[n].uid) == 0) same++;
    }
    int len = same == 1 ? snprintf(out, size, "%s.%s", p->node[n].uid, counter_text(name))
                        : snprintf(out, size, "%s#%u.%s", p->node[n].uid, same, counter_text(name));
    return len > 0 && (size_t)len < size;
}
