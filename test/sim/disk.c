#include "test/sim/disk_impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"

uint64_t disk_random(uint64_t *stream)
{
    *stream += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = *stream;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

void *disk_alloc(void *old, size_t size)
{
    void *p = realloc(old, size > 0 ? size : 1);
    sr_assert(p != NULL);
    return p;
}

sr_rc disk_fail(struct sr_error *err, sr_rc rc, const char *operation, const char *path)
{
    return error_set(err, rc, "%s %s: %s (simulated)", operation, path, rc_words(rc));
}

/* --- Dying and coming back -------------------------------------------------------------------- */

void disk_crash(struct disk *d, enum disk_crash kind)
{
    d->is_off = true;
    d->kind = kind;
    d->will_crash = false;
}

void disk_crash_in(struct disk *d, uint64_t n, enum disk_crash kind)
{
    d->will_crash = true;
    d->crash_at = d->steps + n;
    d->kind = kind;
}

void disk_crash_never(struct disk *d) { d->will_crash = false; }

bool disk_is_off(const struct disk *d) { return d->is_off; }

uint64_t disk_steps(const struct disk *d) { return d->steps; }

/* Every node that is reached from the root, once, in an order that only names decide. `from_kept`:
 * by the durable names. The caller frees the array. */
static struct disk_node **disk_walk(const struct disk *d, bool from_kept, uint32_t *count)
{
    uint32_t n = 1;
    uint32_t capacity = 16;
    struct disk_node **list = disk_alloc(NULL, capacity * sizeof(struct disk_node *));
    list[0] = d->root;
    for (uint32_t i = 0; i < n; i++) {
        const struct disk_names *names = from_kept ? &list[i]->names_kept : &list[i]->names;
        for (uint32_t k = 0; k < names->count; k++) {
            if (n == capacity) {
                capacity *= 2;
                list = disk_alloc(list, capacity * sizeof(struct disk_node *));
            }
            list[n++] = names->name[k].node;
        }
    }
    *count = n;
    return list;
}

static void disk_release_locks(struct disk *d)
{
    uint32_t count = 0;
    struct disk_node **list = disk_walk(d, false, &count);
    for (uint32_t i = 0; i < count; i++) {
        list[i]->lock = NULL;
        list[i]->shared = 0;
        list[i]->reserved = list[i]->pending = list[i]->exclusive = NULL;
    }
    free(list);
}

/* One draw decides how merciful the loss is as a whole: all or nothing are the cases that a coin
 * for each sector would hardly ever give. */
static enum disk_mercy disk_draw_mercy(struct disk *d)
{
    switch (disk_random(&d->random) % 4) {
    case 0:
        return DISK_NOTHING;
    case 1:
        return DISK_EVERYTHING;
    default:
        return DISK_SOME;
    }
}

static void disk_lose_power(struct disk *d, enum disk_mercy mercy)
{
    if (mercy == DISK_BY_SEED) {
        mercy = disk_draw_mercy(d);
    }
    disk_change_settle(d, mercy);
    uint32_t count = 0;
    struct disk_node **list = disk_walk(d, true, &count);
    for (uint32_t i = 0; i < count; i++) {
        disk_node_hold(list[i]);
        if (list[i]->kind == SR_FILE_REGULAR) {
            disk_node_sync_some(d, list[i], mercy);
            disk_node_revert(d, list[i]);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        disk_names_copy(d, &list[i]->names, &list[i]->names_kept);
    }
    for (uint32_t i = 0; i < count; i++) {
        disk_node_drop(d, list[i]);
    }
    free(list);
}

void disk_restart(struct disk *d, enum disk_mercy mercy)
{
    sr_assert(d->is_off);
    if (d->kind == DISK_POWER_LOSS) {
        disk_lose_power(d, mercy);
    }
    disk_release_locks(d);
    d->is_off = false;
    d->will_crash = false;
    d->will_fail = false;
    d->generation++;
}

void disk_break_locks(struct disk *d) { disk_release_locks(d); }

/* --- Faults --------------------------------------------------------------------------------- */

void disk_fail_in(struct disk *d, enum disk_fault what, uint64_t n)
{
    d->will_fail = what != DISK_FAULT_NONE;
    d->fault = what;
    d->fault_in = n;
}

bool disk_fail_pending(const struct disk *d) { return d->will_fail; }

void disk_set_chances(struct disk *d, const struct disk_chances *chances) { d->chances = *chances; }

void disk_set_capacity(struct disk *d, uint64_t bytes) { d->capacity = bytes; }

uint64_t disk_used(const struct disk *d) { return d->used; }

void disk_set_time(struct disk *d, int64_t us) { d->now_us = us; }

static bool disk_can_strike(enum disk_fault what, enum disk_call call)
{
    switch (what) {
    case DISK_FAULT_EIO:
        return call != DISK_CALL_SYNC;
    case DISK_FAULT_ENOSPC:
        return call == DISK_CALL_GROW;
    case DISK_FAULT_SYNC:
        return call == DISK_CALL_SYNC;
    case DISK_FAULT_NONE:
        return false;
    }
    return false;
}

static bool disk_strikes(struct disk *d, enum disk_fault what, enum disk_call call, uint32_t ppm)
{
    if (!disk_can_strike(what, call)) {
        return false;
    }
    if (d->will_fail && d->fault == what) {
        d->will_fail = d->fault_in > 0;
        if (d->fault_in-- == 0) {
            return true;
        }
    }
    return ppm > 0 && disk_random(&d->luck) % 1000000 < ppm;
}

sr_rc disk_enter(struct disk *d, enum disk_call call, const char *operation, const char *path,
                 struct sr_error *err)
{
    if (!d->is_off && call != DISK_CALL_READ) {
        if (d->will_crash && d->steps >= d->crash_at) {
            disk_crash(d, d->kind);
        } else {
            d->steps++;
        }
    }
    if (d->is_off) {
        return disk_fail(err, SR_EIO, operation, path);
    }
    if (disk_strikes(d, DISK_FAULT_ENOSPC, call, d->chances.enospc_ppm)) {
        return disk_fail(err, SR_ENOSPC, operation, path);
    }
    if (disk_strikes(d, DISK_FAULT_EIO, call, d->chances.eio_ppm) ||
        disk_strikes(d, DISK_FAULT_SYNC, call, d->chances.sync_ppm)) {
        return disk_fail(err, SR_EIO, operation, path);
    }
    return SR_OK;
}

bool disk_is_alive(const struct sr_file *f)
{
    return !f->disk->is_off && f->generation == f->disk->generation;
}

/* --- For tests -------------------------------------------------------------------------------- */

const uint8_t *disk_bytes(const struct disk *d, const char *path, uint64_t *size_bytes)
{
    static const uint8_t nothing[1] = {0};
    const struct disk_node *n = disk_find(d, path);
    if (!n || n->kind != SR_FILE_REGULAR) {
        return NULL;
    }
    *size_bytes = n->now.size;
    return n->now.size > 0 ? n->now.bytes : nothing;
}

sr_rc disk_put(struct disk *d, const char *path, const void *bytes, size_t len)
{
    const char *name = NULL;
    struct disk_node *dir = disk_find_dir(d, path, &name);
    if (!dir) {
        return SR_EABSENT;
    }
    struct disk_node *n = disk_names_get(&dir->names, name);
    if (!n) {
        n = disk_node_new(d, SR_FILE_REGULAR);
        disk_change_now(d, &(struct disk_change){.dir = dir, .node = n, .name = (char *)name});
        disk_change_sync(d, dir);
    }
    disk_node_resize(d, n, len);
    disk_node_write(d, n, bytes, len, 0);
    disk_node_sync(n);
    return SR_OK;
}

uint64_t disk_hash(const struct disk *d)
{
    uint64_t hash = 0;
    uint32_t count = 0;
    struct disk_node **list = disk_walk(d, false, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct disk_node *n = list[i];
        hash = hash64(n->now.bytes ? n->now.bytes : (const uint8_t *)"", n->now.size, hash + 1);
        for (uint32_t k = 0; k < n->names.count; k++) {
            hash = hash64(n->names.name[k].name, strlen(n->names.name[k].name), hash);
        }
    }
    free(list);
    return hash;
}

static void disk_dump_names(const struct disk_node *dir, const char *path, FILE *to)
{
    for (uint32_t k = 0; k < dir->names.count; k++) {
        const struct disk_node *n = dir->names.name[k].node;
        const char *name = dir->names.name[k].name;
        const char *safe =
            disk_names_get(&dir->names_kept, name) == n ? "" : "  (name not durable)";
        if (n->kind == SR_FILE_DIRECTORY) {
            fprintf(to, "%s/%s/%s\n", path, name, safe);
        } else {
            fprintf(to, "%s/%s  %zu bytes, %zu durable%s%s\n", path, name, n->now.size,
                    n->kept.size, disk_node_is_dirty(n) ? ", dirty" : "", safe);
        }
    }
    for (uint32_t k = 0; k < dir->names_kept.count; k++) {
        if (!disk_names_get(&dir->names, dir->names_kept.name[k].name)) {
            fprintf(to, "%s/%s  gone, but not durably\n", path, dir->names_kept.name[k].name);
        }
    }
}

static char *disk_join(const char *dir, const char *name)
{
    size_t size = strlen(dir) + strlen(name) + 2;
    char *path = disk_alloc(NULL, size);
    (void)snprintf(path, size, "%s%s%s", dir, name[0] != '\0' ? "/" : "", name);
    return path;
}

void disk_dump(const struct disk *d, FILE *to)
{
    uint32_t count = 0;
    struct disk_node **list = disk_walk(d, false, &count);
    char **path = disk_alloc(NULL, count * sizeof(char *));
    path[0] = disk_join("", "");
    uint32_t next = 1;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < list[i]->names.count; k++, next++) {
            path[next] = disk_join(path[i], list[i]->names.name[k].name);
        }
        disk_dump_names(list[i], path[i], to);
    }
    for (uint32_t i = 0; i < next; i++) {
        free(path[i]);
    }
    fprintf(to, "%" PRIu32 " changes of names are pending\n", d->changes);
    free(path);
    free(list);
}
