#include "cli/levels.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "engine/base/assert.h"

#define LEVELS_NAME_BYTES 64u /* as who a line is from, cut */
#define LEVELS_AS_ALL     (-1)

const struct levels_part levels_parts[] = {{"checkpoints", "what is taken, dropped and shown"},
                                           {"ckpt", "the checkpoint store"},
                                           {"guard", "the process that restarts a killed one"},
                                           {"job", "failures and restarts"},
                                           {"poison", "records that failed the job"},
                                           {"state", "what is restored"},
                                           {NULL, NULL}};

struct levels_item {
    char name[LEVELS_NAME_BYTES];
    atomic_int level; /* LEVELS_AS_ALL: none of its own; relaxed: a line more or less */
};

struct levels {
    struct env out;     /* where lines went before */
    struct mutex *lock; /* of those who set */
    atomic_int base;
    atomic_uint count; /* release: the names below it are written */
    struct levels_item item[LEVELS_MAX];
};

struct levels *levels_new(struct arena *a, enum sr_level level)
{
    struct sr_error ignored;
    struct levels *l = arena_get(a, sizeof(*l));
    if (!l) return NULL;
    memset(l, 0, sizeof(*l));
    if (mutex_new(&l->lock, &ignored) != SR_OK) return NULL;
    atomic_init(&l->base, (int)level);
    atomic_init(&l->count, 0);
    return l;
}

void levels_free(struct levels *l)
{
    if (l) mutex_free(l->lock);
}

static struct levels_item *levels_find(struct levels *l, const char *who)
{
    uint32_t count = atomic_load_explicit(&l->count, memory_order_acquire);
    for (uint32_t i = 0; i < count; i++) {
        if (strncmp(l->item[i].name, who, LEVELS_NAME_BYTES - 1) == 0) return &l->item[i];
    }
    return NULL;
}

static void levels_log(const struct env *e, enum sr_level level, const char *who, const char *line)
{
    struct levels *l = e->ctx;
    struct levels_item *own = levels_find(l, who);
    int least = own ? atomic_load_explicit(&own->level, memory_order_relaxed) : LEVELS_AS_ALL;
    if (least == LEVELS_AS_ALL) least = atomic_load_explicit(&l->base, memory_order_relaxed);
    if ((int)level >= least) l->out.log(&l->out, level, who, line);
}

void levels_apply(struct levels *l, struct env *env)
{
    l->out = *env;
    env->ctx = l;
    env->log = levels_log;
}

static const char *const levels_names[] = {"DEBUG", "INFO", "WARN", "ERROR"};

bool levels_parse(const char *word, enum sr_level *level)
{
    for (int i = SR_DEBUG; i <= SR_LOG_ERROR; i++) {
        if (strcasecmp(word, levels_names[i]) == 0) {
            *level = (enum sr_level)i;
            return true;
        }
    }
    return false;
}

const char *levels_name(enum sr_level level) { return levels_names[level]; }

void levels_set_all(struct levels *l, enum sr_level level)
{
    mutex_lock(l->lock);
    uint32_t count = atomic_load_explicit(&l->count, memory_order_relaxed);
    atomic_store_explicit(&l->base, (int)level, memory_order_relaxed);
    for (uint32_t i = 0; i < count; i++) {
        atomic_store_explicit(&l->item[i].level, LEVELS_AS_ALL, memory_order_relaxed);
    }
    mutex_unlock(l->lock);
}

static sr_rc levels_set_one(struct levels *l, const char *component, enum sr_level level)
{
    struct levels_item *own = levels_find(l, component);
    uint32_t count = atomic_load_explicit(&l->count, memory_order_relaxed);
    if (own) {
        atomic_store_explicit(&own->level, (int)level, memory_order_relaxed);
        return SR_OK;
    }
    if (count == LEVELS_MAX) return SR_ELIMIT;
    (void)snprintf(l->item[count].name, LEVELS_NAME_BYTES, "%s", component);
    atomic_init(&l->item[count].level, (int)level);
    atomic_store_explicit(&l->count, count + 1, memory_order_release);
    return SR_OK;
}

sr_rc levels_set(struct levels *l, const char *component, enum sr_level level)
{
    mutex_lock(l->lock);
    sr_rc rc = levels_set_one(l, component, level);
    mutex_unlock(l->lock);
    return rc;
}

enum sr_level levels_base(const struct levels *l)
{
    return (enum sr_level)atomic_load_explicit(&l->base, memory_order_relaxed);
}

uint32_t levels_count(const struct levels *l)
{
    return atomic_load_explicit(&l->count, memory_order_acquire);
}

const char *levels_own(const struct levels *l, uint32_t i, enum sr_level *level)
{
    sr_assert(i < levels_count(l));
    int own = atomic_load_explicit(&l->item[i].level, memory_order_relaxed);
    *level = own == LEVELS_AS_ALL ? levels_base(l) : (enum sr_level)own;
    return own == LEVELS_AS_ALL ? NULL : l->item[i].name;
}
