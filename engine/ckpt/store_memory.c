/* Checkpoints in memory: they end with the process, and are there for restarts within it.
 *
 * Only the newest one is kept, and while that is pending the one before. The lock lies in the run
 * directory, so that a job runs once here too.
 */
#include <stdlib.h>

#include "engine/base/assert.h"
#include "engine/base/bytes.h"
#include "engine/base/error.h"
#include "engine/ckpt/store_type.h"

struct store_memory {
    struct arena *arena; /* of the newest one; NULL: there is none */
    struct manifest *newest;
    struct arena *before_arena; /* the same of the one before, while the newest is pending */
    struct manifest *before;
};

static sr_rc store_memory_lock(struct store *s, struct sr_error *err)
{
    if (!s->run_dir) {
        return SR_OK; /* nowhere to lie: a caller that does not mind */
    }
    const char *path = arena_printf(s->arena, "%s/%s.lock", s->run_dir, s->job_id);
    if (!path) {
        return error_set(err, SR_ENOMEM, "lock the job: out of memory");
    }
    return store_lock(s, path, err);
}

/* Nothing is left to count attempts with, and they must grow over processes: the wall clock
 * does. */
static void store_memory_take_attempt(struct store *s)
{
    int64_t now = s->env->wall_us(s->env);
    uint64_t attempt = now > 0 ? (uint64_t)now : 1;
    s->attempt = attempt > s->attempt ? attempt : s->attempt + 1;
}

static sr_rc store_memory_open(struct store *s, struct sr_error *err)
{
    s->own = calloc(1, sizeof(struct store_memory));
    if (!s->own) {
        return error_set(err, SR_ENOMEM, "open the checkpoint store: out of memory");
    }
    sr_rc rc = store_memory_lock(s, err);
    if (rc == SR_OK) {
        store_memory_take_attempt(s);
    }
    return rc;
}

static void store_memory_close(struct store *s)
{
    struct store_memory *own = s->own;
    if (own) {
        arena_free(own->arena);
        arena_free(own->before_arena);
        free(own);
    }
}

static sr_rc store_memory_next_attempt(struct store *s, struct sr_error *err)
{
    (void)err;
    store_memory_take_attempt(s);
    return SR_OK;
}

/* Copies the manifest by its encoded form, and the bytes of the parts. */
static sr_rc store_memory_copy(struct arena *a, const struct manifest *m, const void *metadata,
                               size_t len, struct manifest **out, struct sr_error *err)
{
    struct manifest *copy = NULL;
    sr_rc rc = manifest_decode(a, metadata, len, &copy, err);
    for (uint32_t i = 0; rc == SR_OK && i < copy->parts; i++) {
        copy->part[i].bytes = arena_copy(a, m->part[i].bytes, (size_t)m->part[i].len);
        if (!copy->part[i].bytes) {
            rc = error_set(err, SR_ENOMEM, "keep a checkpoint in memory: out of memory");
        }
    }
    if (rc == SR_OK) {
        *out = copy;
    }
    return rc;
}

static sr_rc store_memory_publish(struct store *s, const struct manifest *m,
                                  const struct sr_out *metadata, struct sr_error *err)
{
    struct store_memory *own = s->own;
    struct arena *a = arena_new();
    struct manifest *copy = NULL;
    if (!a) {
        return error_set(err, SR_ENOMEM, "keep a checkpoint in memory: out of memory");
    }
    sr_rc rc = store_memory_copy(a, m, metadata->data, metadata->len, &copy, err);
    if (rc != SR_OK) {
        arena_free(a);
        return rc;
    }
    if (copy->end == MANIFEST_PENDING) {
        sr_assert(!own->before);
        own->before_arena = own->arena;
        own->before = own->newest;
    } else {
        arena_free(own->arena);
    }
    own->arena = a;
    own->newest = copy;
    return SR_OK;
}

static sr_rc store_memory_retain(struct store *s, uint64_t lineage, uint64_t shown,
                                 struct sr_error *err)
{
    (void)s;
    (void)lineage;
    (void)shown;
    (void)err;
    return SR_OK;
}

static sr_rc store_memory_count(struct store *s, uint64_t lineage, uint64_t shown, uint32_t *count,
                                struct sr_error *err)
{
    const struct store_memory *own = s->own;
    (void)shown;
    (void)err;
    *count = own->newest && own->newest->lineage == lineage ? 1 : 0;
    return SR_OK;
}

static sr_rc store_memory_remove(struct store *s, uint64_t lineage, uint64_t number,
                                 struct sr_error *err)
{
    struct store_memory *own = s->own;
    const struct manifest *m = own->newest;
    bool is_victim = m && (number == 0 ? m->lineage == lineage : m->checkpoint == number);
    if (is_victim) {
        arena_free(own->arena);
        own->arena = NULL;
        own->newest = NULL;
    }
    if (!is_victim && number != 0) {
        return error_set(err, SR_EABSENT, "there is no such checkpoint in memory");
    }
    return SR_OK;
}

static sr_rc store_memory_mark_end(struct store *s, enum manifest_end end, struct sr_error *err)
{
    struct store_memory *own = s->own;
    if (!own->newest) {
        return error_set(err, SR_EABSENT, "there is no checkpoint to mark");
    }
    if (own->newest->end == MANIFEST_PENDING) {
        return store_is_pending(own->newest->checkpoint, err);
    }
    own->newest->end = end;
    return SR_OK;
}

static sr_rc store_memory_complete(struct store *s, uint64_t number, struct sr_error *err)
{
    struct store_memory *own = s->own;
    if (!own->newest || own->newest->checkpoint != number) {
        return error_set(err, SR_EABSENT, "there is no such checkpoint in memory");
    }
    if (own->newest->end == MANIFEST_PENDING) {
        own->newest->end = MANIFEST_RUNNING;
    }
    arena_free(own->before_arena);
    own->before_arena = NULL;
    own->before = NULL;
    return SR_OK;
}

static sr_rc store_memory_drop(struct store *s, uint64_t number, struct sr_error *err)
{
    struct store_memory *own = s->own;
    if (!own->newest || own->newest->checkpoint != number) {
        return error_set(err, SR_EABSENT, "there is no such checkpoint in memory");
    }
    if (own->newest->end != MANIFEST_PENDING) {
        return store_is_complete(number, err);
    }
    arena_free(own->arena);
    own->arena = own->before_arena;
    own->newest = own->before;
    own->before_arena = NULL;
    own->before = NULL;
    return SR_OK;
}

static sr_rc store_memory_check_fence(const struct store *s, struct sr_error *err)
{
    (void)s;
    (void)err;
    return SR_OK; /* nobody takes over what is in memory */
}

/* A copy, since the caller's may outlive the next publication. */
static sr_rc store_memory_load_newest(struct store *s, struct arena *a, struct manifest **out,
                                      struct sr_error *err)
{
    const struct store_memory *own = s->own;
    if (!own->newest) {
        return error_set(err, SR_EABSENT, "there is no checkpoint in memory");
    }
    struct sr_out metadata = bytes_out();
    sr_rc rc = manifest_encode(own->newest, &metadata)
                   ? store_memory_copy(a, own->newest, metadata.data, metadata.len, out, err)
                   : error_set(err, SR_ENOMEM, "load a checkpoint from memory: out of memory");
    bytes_free(&metadata);
    return rc;
}

const struct store_type store_memory_type = {
    .open = store_memory_open,
    .close = store_memory_close,
    .next_attempt = store_memory_next_attempt,
    .publish = store_memory_publish,
    .retain = store_memory_retain,
    .count = store_memory_count,
    .remove = store_memory_remove,
    .mark_end = store_memory_mark_end,
    .load_newest = store_memory_load_newest,
    .complete = store_memory_complete,
    .drop = store_memory_drop,
    .check_fence = store_memory_check_fence,
};
