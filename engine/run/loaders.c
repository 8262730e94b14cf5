#include "engine/run/loaders.h"

#include <stdlib.h>

#include "engine/base/error.h"
#include "engine/base/thread.h"

struct loaders {
    const struct manifest *m;
    struct task **task;
    struct sr_error *error; /* by task; rc SR_OK: it is loaded, or was not begun */
    uint32_t count;
    _Atomic uint32_t next;   /* task that nobody has taken; any order, the work itself is apart */
    _Atomic bool has_failed; /* what is not begun need not be; any order */
};

static void loaders_work(void *arg)
{
    struct loaders *l = arg;
    while (!l->has_failed) {
        uint32_t i = l->next++;
        if (i >= l->count) break;
        if (task_load(l->task[i], l->m, &l->error[i]) != SR_OK) l->has_failed = true;
    }
}

/* Tasks with keyed state: others have nothing to load that takes time. */
static uint32_t loaders_useful(const struct loaders *l)
{
    uint32_t useful = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        bool has_state = false;
        for (uint32_t k = 0; k < l->task[i]->chain.levels; k++) {
            has_state = has_state || l->task[i]->chain.level[k].state;
        }
        useful += has_state;
    }
    return useful;
}

/* A thread that cannot be had is not missed. */
static void loaders_all(struct loaders *l, struct thread **helper, uint32_t helpers)
{
    uint32_t started = 0;
    struct sr_error ignored;
    while (started < helpers &&
           thread_start(&helper[started], "loader", loaders_work, l, &ignored) == SR_OK) {
        started++;
    }
    loaders_work(l);
    for (uint32_t i = 0; i < started; i++) {
        thread_join(helper[i]);
    }
}

sr_rc loaders_run(struct crew *c, uint32_t region, const struct manifest *m, uint32_t threads,
                  struct sr_error *err)
{
    struct loaders l = {.m = m,
                        .task = calloc((size_t)c->tasks + 1, sizeof(struct task *)),
                        .error = calloc((size_t)c->tasks + 1, sizeof(struct sr_error))};
    struct thread **helper = calloc((size_t)threads + 1, sizeof(struct thread *));
    sr_rc rc = l.task && l.error && helper ? SR_OK : error_set(err, SR_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < c->tasks && rc == SR_OK; i++) {
        if (crew_is_of(c, i, region)) l.task[l.count++] = &c->task[i];
    }
    if (rc == SR_OK) {
        uint32_t useful = loaders_useful(&l);
        uint32_t at_once = useful < threads ? useful : threads;
        loaders_all(&l, helper, at_once > 1 ? at_once - 1 : 0);
    }
    for (uint32_t i = 0; i < l.count && rc == SR_OK; i++) {
        rc = l.error[i].rc;
        if (rc != SR_OK) *err = l.error[i];
    }
    free(helper);
    free(l.error);
    free(l.task);
    return rc;
}
