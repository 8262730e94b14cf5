/* Nodes and names of the simulated disk, each in two views: as seen, and as durable. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "test/sim/disk_impl.h"

/* --- Content ---------------------------------------------------------------------------------- */

static size_t disk_sectors(size_t size) { return (size + DISK_SECTOR - 1) / DISK_SECTOR; }

static void disk_content_resize(struct disk_content *c, size_t size)
{
    if (size > c->capacity) {
        size_t capacity = c->capacity < 1024 ? 2048 : c->capacity * 2;
        c->capacity = capacity < size ? size : capacity;
        c->bytes = disk_alloc(c->bytes, c->capacity);
    }
    if (size > c->size) {
        memset(c->bytes + c->size, 0, size - c->size);
    }
    c->size = size;
}

static void disk_node_mark(struct disk_node *n, size_t from, size_t to)
{
    size_t need = disk_sectors(to);
    if (need > n->dirties) {
        n->dirty = disk_alloc(n->dirty, need);
        memset(n->dirty + n->dirties, 0, need - n->dirties);
        n->dirties = need;
    }
    for (size_t s = from / DISK_SECTOR; s < need; s++) {
        n->dirty[s] = 1;
    }
}

struct disk_node *disk_node_new(struct disk *d, enum sr_file_kind kind)
{
    struct disk_node *n = disk_alloc(NULL, sizeof(*n));
    memset(n, 0, sizeof(*n));
    n->number = ++d->next_number;
    n->kind = kind;
    n->modified_us = d->now_us;
    return n;
}

void disk_node_hold(struct disk_node *n) { n->refs++; }

/* A directory that goes lets go of what it names. */
void disk_node_drop(struct disk *d, struct disk_node *n)
{
    sr_assert(n->refs > 0);
    if (--n->refs > 0) {
        return;
    }
    d->used -= n->now.size;
    disk_names_clear(d, &n->names);
    disk_names_clear(d, &n->names_kept);
    free(n->now.bytes);
    free(n->kept.bytes);
    free(n->dirty);
    free(n);
}

void disk_node_resize(struct disk *d, struct disk_node *n, size_t size)
{
    size_t before = n->now.size;
    d->used = d->used - before + size;
    disk_content_resize(&n->now, size);
    if (size > before) {
        disk_node_mark(n, before, size);
    }
    n->is_resized = true;
    n->modified_us = d->now_us;
}

void disk_node_write(struct disk *d, struct disk_node *n, const void *bytes, size_t len, size_t at)
{
    if (len == 0) {
        return;
    }
    if (at + len > n->now.size) {
        disk_node_resize(d, n, at + len);
    }
    memcpy(n->now.bytes + at, bytes, len);
    disk_node_mark(n, at, at + len);
    n->modified_us = d->now_us;
}

bool disk_node_is_dirty(const struct disk_node *n)
{
    for (size_t s = 0; s < n->dirties; s++) {
        if (n->dirty[s]) {
            return true;
        }
    }
    return n->is_resized && n->now.size != n->kept.size;
}

/* Sector `s` of what is seen becomes durable, as far as the durable size reaches. */
static void disk_node_keep_sector(struct disk_node *n, size_t s)
{
    size_t at = s * DISK_SECTOR;
    size_t end = at + DISK_SECTOR;
    end = end < n->now.size ? end : n->now.size;
    end = end < n->kept.size ? end : n->kept.size;
    if (at < end) {
        memcpy(n->kept.bytes + at, n->now.bytes + at, end - at);
    }
}

void disk_node_sync(struct disk_node *n)
{
    disk_content_resize(&n->kept, n->now.size);
    for (size_t s = 0; s < n->dirties; s++) {
        if (n->dirty[s]) {
            disk_node_keep_sector(n, s);
            n->dirty[s] = 0;
        }
    }
    n->is_resized = false;
}

static size_t disk_node_draw_size(struct disk *d, const struct disk_node *n, enum disk_mercy mercy)
{
    size_t old = n->kept.size;
    size_t new = n->now.size;
    if (!n->is_resized || mercy == DISK_NOTHING) {
        return old;
    }
    uint64_t draw = disk_random(&d->random);
    if (mercy == DISK_EVERYTHING || draw % 4 == 0) {
        return new;
    }
    if (draw % 4 == 1 || new <= old) {
        return old; /* a cut is done or not done */
    }
    return old + (draw >> 8) % (new - old + 1);
}

void disk_node_sync_some(struct disk *d, struct disk_node *n, enum disk_mercy mercy)
{
    sr_assert(mercy != DISK_BY_SEED);
    disk_content_resize(&n->kept, disk_node_draw_size(d, n, mercy));
    for (size_t s = 0; s < n->dirties; s++) {
        bool is_kept = mercy == DISK_EVERYTHING;
        if (n->dirty[s] && mercy == DISK_SOME) {
            is_kept = disk_random(&d->random) % 2 == 0;
        }
        if (n->dirty[s] && is_kept) {
            disk_node_keep_sector(n, s);
        }
        n->dirty[s] = 0;
    }
    n->is_resized = false;
}

void disk_node_revert(struct disk *d, struct disk_node *n)
{
    d->used = d->used - n->now.size + n->kept.size;
    disk_content_resize(&n->now, n->kept.size);
    if (n->kept.size > 0) {
        memcpy(n->now.bytes, n->kept.bytes, n->kept.size);
    }
}

/* --- Names ------------------------------------------------------------------------------------ */

static uint32_t disk_names_place(const struct disk_names *l, const char *name, bool *is_there)
{
    uint32_t at = 0;
    int order = -1;
    while (at < l->count && (order = strcmp(l->name[at].name, name)) < 0) {
        at++;
    }
    *is_there = at < l->count && order == 0;
    return at;
}

struct disk_node *disk_names_get(const struct disk_names *l, const char *name)
{
    bool is_there = false;
    uint32_t at = disk_names_place(l, name, &is_there);
    return is_there ? l->name[at].node : NULL;
}

static void disk_names_insert(struct disk_names *l, uint32_t at, const char *name,
                              struct disk_node *node)
{
    if (l->count == l->capacity) {
        l->capacity = l->capacity == 0 ? 8 : l->capacity * 2;
        l->name = disk_alloc(l->name, l->capacity * sizeof(*l->name));
    }
    memmove(&l->name[at + 1], &l->name[at], (l->count - at) * sizeof(*l->name));
    size_t len = strlen(name) + 1;
    l->name[at] = (struct disk_name){.name = disk_alloc(NULL, len), .node = node};
    memcpy(l->name[at].name, name, len);
    l->count++;
}

void disk_names_set(struct disk *d, struct disk_names *l, const char *name, struct disk_node *node)
{
    bool is_there = false;
    uint32_t at = disk_names_place(l, name, &is_there);
    struct disk_node *old = is_there ? l->name[at].node : NULL;
    if (node) {
        disk_node_hold(node);
    }
    if (node && is_there) {
        l->name[at].node = node;
    } else if (node) {
        disk_names_insert(l, at, name, node);
    } else if (is_there) {
        free(l->name[at].name);
        l->count--;
        memmove(&l->name[at], &l->name[at + 1], (l->count - at) * sizeof(*l->name));
    }
    if (old) {
        disk_node_drop(d, old);
    }
}

/* Recursion by way of disk_node_drop goes no deeper than directories are nested: DISK_PATH_MAX. */
void disk_names_clear(struct disk *d, struct disk_names *l)
{
    for (uint32_t i = 0; i < l->count; i++) {
        free(l->name[i].name);
        disk_node_drop(d, l->name[i].node);
    }
    free(l->name);
    *l = (struct disk_names){0};
}

void disk_names_copy(struct disk *d, struct disk_names *to, const struct disk_names *from)
{
    struct disk_names old = *to;
    *to = (struct disk_names){0};
    for (uint32_t i = 0; i < from->count; i++) {
        disk_node_hold(from->name[i].node);
        disk_names_insert(to, i, from->name[i].name, from->name[i].node);
    }
    disk_names_clear(d, &old);
}

struct disk_node *disk_find_dir(const struct disk *d, const char *path, const char **name)
{
    struct disk_node *dir = d->root;
    if (path[0] != '/' || strlen(path) >= DISK_PATH_MAX) {
        return NULL;
    }
    const char *at = path + 1;
    for (const char *slash = strchr(at, '/'); slash; slash = strchr(at, '/')) {
        char part[DISK_PATH_MAX];
        size_t len = (size_t)(slash - at);
        memcpy(part, at, len);
        part[len] = '\0';
        at = slash + 1;
        dir = len == 0 ? dir : disk_names_get(&dir->names, part);
        if (!dir || dir->kind != SR_FILE_DIRECTORY) {
            return NULL;
        }
    }
    *name = at;
    return dir;
}

struct disk_node *disk_find(const struct disk *d, const char *path)
{
    const char *name = NULL;
    struct disk_node *dir = disk_find_dir(d, path, &name);
    if (!dir) {
        return NULL;
    }
    return name[0] == '\0' ? dir : disk_names_get(&dir->names, name);
}

/* --- Changes of names ------------------------------------------------------------------------- */

static char *disk_copy_text(const char *s)
{
    return s ? memcpy(disk_alloc(NULL, strlen(s) + 1), s, strlen(s) + 1) : NULL;
}

static void disk_change_free(struct disk *d, struct disk_change *c)
{
    free(c->name);
    free(c->from_name);
    struct disk_node *held[] = {c->dir, c->node, c->from_dir};
    for (size_t i = 0; i < 3; i++) {
        if (held[i]) {
            disk_node_drop(d, held[i]);
        }
    }
    *c = (struct disk_change){0};
}

/* Removes the changes whose `name` was cleared, keeping the order. */
static void disk_change_compact(struct disk *d)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->changes; i++) {
        if (d->change[i].name) {
            d->change[n++] = d->change[i];
        }
    }
    d->changes = n;
}

void disk_change_now(struct disk *d, const struct disk_change *c)
{
    if (d->changes == d->changes_capacity) {
        d->changes_capacity = d->changes_capacity == 0 ? 16 : d->changes_capacity * 2;
        d->change = disk_alloc(d->change, d->changes_capacity * sizeof(*d->change));
    }
    struct disk_change copy = *c;
    copy.name = disk_copy_text(c->name);
    copy.from_name = disk_copy_text(c->from_name);
    struct disk_node *held[] = {c->dir, c->node, c->from_dir};
    for (size_t i = 0; i < 3; i++) {
        if (held[i]) {
            disk_node_hold(held[i]);
        }
    }
    d->change[d->changes++] = copy;
    disk_names_set(d, &copy.dir->names, copy.name, copy.node);
    if (copy.from_dir) {
        disk_names_set(d, &copy.from_dir->names, copy.from_name, NULL);
    }
}

/* What was pending for the name that a rename leaves is overtaken by the rename: it must not come
 * back later and give the node a second name. An overtaken rename leaves its own old name too. */
static void disk_change_overtake(struct disk *d, uint32_t rename)
{
    struct disk_change key = d->change[rename]; /* from_dir, from_name: the name that is left */
    struct disk_change *last = NULL;
    for (uint32_t i = rename; i > 0 && key.from_dir; i--) {
        struct disk_change *c = &d->change[i - 1];
        if (!c->name || c->dir != key.from_dir || strcmp(c->name, key.from_name) != 0) {
            continue;
        }
        if (c->from_dir) {
            disk_names_set(d, &c->from_dir->names_kept, c->from_name, NULL);
        }
        key = *c;
        if (last) {
            disk_change_free(d, last);
        }
        last = c;
    }
    if (last) {
        disk_change_free(d, last);
    }
}

static void disk_change_keep(struct disk *d, uint32_t i)
{
    const struct disk_change c = d->change[i];
    disk_names_set(d, &c.dir->names_kept, c.name, c.node);
    if (c.from_dir) {
        disk_change_overtake(d, i);
        disk_names_set(d, &c.from_dir->names_kept, c.from_name, NULL);
    }
    disk_change_free(d, &d->change[i]);
}

void disk_change_sync(struct disk *d, struct disk_node *dir)
{
    for (uint32_t i = 0; i < d->changes; i++) {
        if (d->change[i].name && d->change[i].dir == dir) {
            disk_change_keep(d, i);
        }
    }
    disk_change_compact(d);
}

/* The coins first: a rename that survives must still find what it overtakes. */
void disk_change_settle(struct disk *d, enum disk_mercy mercy)
{
    sr_assert(mercy != DISK_BY_SEED);
    for (uint32_t i = 0; i < d->changes; i++) {
        d->change[i].is_lost =
            mercy == DISK_NOTHING || (mercy == DISK_SOME && disk_random(&d->random) % 2 != 0);
    }
    for (uint32_t i = 0; i < d->changes; i++) {
        if (d->change[i].name && !d->change[i].is_lost) {
            disk_change_keep(d, i);
        }
    }
    for (uint32_t i = 0; i < d->changes; i++) {
        if (d->change[i].name) {
            disk_change_free(d, &d->change[i]);
        }
    }
    d->changes = 0;
}
