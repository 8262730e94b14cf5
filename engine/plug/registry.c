#include "engine/plug/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/base/nearest.h"
#include "engine/base/room.h"
#include "engine/plug/load.h"
#include "engine/plug/whole.h"

#define REGISTRY_KINDS     4u
#define REGISTRY_TYPES_MAX 4096u /* of one kind */
#define REGISTRY_NAME_MAX  64u   /* bytes of a name that may name a module file */

struct registry_entry {
    struct registry_item item;
    const void *type;
    char *title; /* owned: what item.title points to */
};

/* Sorted by name. */
struct registry_table {
    struct registry_entry *entry;
    uint32_t count, capacity;
};

struct registry {
    struct registry_table table[REGISTRY_KINDS];
    char *dir;
    char *home;               /* of our own modules */
    const char *const *names; /* of these; borrowed */
    struct sr_error fault;
    bool has_fault;
};

static const char *const registry_words[REGISTRY_KINDS] = {"source", "sink", "format", "operator"};
static const char *const registry_titles[REGISTRY_KINDS] = {"connector", "connector", "format",
                                                            "operator"};

struct registry *registry_new(void) { return calloc(1, sizeof(struct registry)); }

void registry_free(struct registry *r)
{
    if (!r) {
        return;
    }
    for (uint32_t k = 0; k < REGISTRY_KINDS; k++) {
        for (uint32_t i = 0; i < r->table[k].count; i++) {
            free(r->table[k].entry[i].title);
        }
        free(r->table[k].entry);
    }
    free(r->dir);
    free(r->home);
    free(r);
}

static int registry_compare(const void *key, const void *entry)
{
    return strcmp(key, ((const struct registry_entry *)entry)->item.name);
}

static const struct registry_entry *registry_find(const struct registry *r, enum registry_kind kind,
                                                  const char *name)
{
    const struct registry_table *t = &r->table[kind];
    if (t->count == 0) {
        return NULL;
    }
    return bsearch(name, t->entry, t->count, sizeof(*t->entry), registry_compare);
}

/* One entry at its place in the order of names. */
static sr_rc registry_put(struct registry *r, enum registry_kind kind,
                          const struct registry_entry *e, struct sr_error *err)
{
    struct registry_table *t = &r->table[kind];
    uint32_t at = t->count;

    if (t->count == REGISTRY_TYPES_MAX) {
        return error_set(err, SR_ELIMIT, "more than %u %ss", REGISTRY_TYPES_MAX,
                         registry_words[kind]);
    }
    struct registry_entry *grown = room_for_one(t->entry, t->count, &t->capacity, sizeof(*grown));
    if (!grown) {
        return error_set(err, SR_ENOMEM, "out of memory");
    }
    t->entry = grown;
    size_t len = strlen(registry_titles[kind]) + strlen(e->item.name) + 2;
    char *title = malloc(len);
    if (!title) {
        return error_set(err, SR_ENOMEM, "out of memory");
    }
    (void)snprintf(title, len, "%s %s", registry_titles[kind], e->item.name);
    while (at > 0 && strcmp(grown[at - 1].item.name, e->item.name) > 0) {
        at--;
    }
    memmove(&grown[at + 1], &grown[at], (t->count - at) * sizeof(*grown));
    grown[at] = *e;
    grown[at].title = title;
    grown[at].item.title = title;
    t->count++;
    return SR_OK;
}

static void registry_take(struct registry *r, enum registry_kind kind, const char *name)
{
    struct registry_table *t = &r->table[kind];
    for (uint32_t i = 0; i < t->count; i++) {
        if (strcmp(t->entry[i].item.name, name) == 0) {
            free(t->entry[i].title);
            memmove(&t->entry[i], &t->entry[i + 1], (t->count - i - 1) * sizeof(*t->entry));
            t->count--;
            return;
        }
    }
}

static struct registry_entry registry_of_source(const struct sr_source_type *t, const char *plugin)
{
    return (struct registry_entry){.item = {.name = t->name,
                                            .doc = t->doc,
                                            .keeps = t->keeps,
                                            .opts = t->opts,
                                            .plugin = plugin},
                                   .type = t};
}

static struct registry_entry registry_of_sink(const struct sr_sink_type *t, const char *plugin)
{
    return (struct registry_entry){.item = {.name = t->name,
                                            .doc = t->doc,
                                            .keeps = t->keeps,
                                            .opts = t->opts,
                                            .plugin = plugin},
                                   .type = t};
}

static struct registry_entry registry_of_format(const struct sr_format_type *t, const char *plugin)
{
    return (struct registry_entry){
        .item = {.name = t->name, .doc = t->doc, .opts = t->opts, .plugin = plugin}, .type = t};
}

static struct registry_entry registry_of_op(const struct sr_op_type *t, const char *plugin)
{
    return (struct registry_entry){
        .item = {.name = t->name, .doc = t->doc, .opts = NULL, .plugin = plugin}, .type = t};
}

/* The i-th type of a kind in a plugin, and the size that its maker knew; false behind the last. */
static bool registry_brought(const struct sr_plugin *p, enum registry_kind kind, uint32_t i,
                             struct registry_entry *out, bool *is_whole)
{
    switch (kind) {
    case REGISTRY_SOURCE:
        if (!p->sources || !p->sources[i]) {
            return false;
        }
        *is_whole = p->sources[i]->size >= sizeof(struct sr_source_type);
        *out = registry_of_source(p->sources[i], p->name);
        return true;
    case REGISTRY_SINK:
        if (!p->sinks || !p->sinks[i]) {
            return false;
        }
        *is_whole = p->sinks[i]->size >= sizeof(struct sr_sink_type);
        *out = registry_of_sink(p->sinks[i], p->name);
        return true;
    case REGISTRY_FORMAT:
        if (!p->formats || !p->formats[i]) {
            return false;
        }
        *is_whole = p->formats[i]->size >= sizeof(struct sr_format_type);
        *out = registry_of_format(p->formats[i], p->name);
        return true;
    case REGISTRY_OP:
        if (!p->ops || !p->ops[i]) {
            return false;
        }
        *is_whole = p->ops[i]->size >= sizeof(struct sr_op_type);
        *out = registry_of_op(p->ops[i], p->name);
        return true;
    }
    return false;
}

static sr_rc registry_check_abi(const struct sr_plugin *p, struct sr_error *err)
{
    /* While the major version is 0, any minor one may break. */
    bool is_ours = p->abi_major == SR_ABI_MAJOR &&
                   (SR_ABI_MAJOR > 0 ? p->abi_minor <= SR_ABI_MINOR : p->abi_minor == SR_ABI_MINOR);
    if (!is_ours) {
        return error_set(err, SR_EABI,
                         "plugin '%s' was built for plugin interface %u.%u, this streamrun has "
                         "%u.%u: build it again with the headers of this version",
                         p->abi_major == SR_ABI_MAJOR && p->name ? p->name : "?", p->abi_major,
                         p->abi_minor, SR_ABI_MAJOR, SR_ABI_MINOR);
    }
    if (!p->name || !p->name[0]) {
        return error_set(err, SR_EABI, "a plugin without a name");
    }
    return SR_OK;
}

static sr_rc registry_add_entry(struct registry *r, enum registry_kind kind,
                                const struct registry_entry *e, bool is_whole, struct sr_error *err)
{
    if (!e->item.name || !e->item.name[0] || !is_whole) {
        return error_set(err, SR_EABI,
                         "plugin '%s': %s '%s' lacks a name, or its struct is too "
                         "small for plugin interface %u.%u",
                         e->item.plugin, registry_words[kind], e->item.name ? e->item.name : "",
                         SR_ABI_MAJOR, SR_ABI_MINOR);
    }
    const struct registry_entry *other = registry_find(r, kind, e->item.name);
    if (other) {
        return error_set(err, SR_EEXISTS, "plugin '%s': %s '%s' is there already, from plugin '%s'",
                         e->item.plugin, registry_words[kind], e->item.name, other->item.plugin);
    }
    return registry_put(r, kind, e, err);
}

/* Takes back the first `count` types of a plugin that could not be added as a whole. */
static void registry_remove(struct registry *r, const struct sr_plugin *p, uint32_t count)
{
    struct registry_entry e;
    bool is_whole;

    for (uint32_t k = 0; k < REGISTRY_KINDS; k++) {
        for (uint32_t i = 0; registry_brought(p, (enum registry_kind)k, i, &e, &is_whole); i++) {
            if (count-- == 0) {
                return;
            }
            registry_take(r, (enum registry_kind)k, e.item.name);
        }
    }
}

sr_rc registry_add(struct registry *r, const struct sr_plugin *p, struct sr_error *err)
{
    struct registry_entry e;
    bool is_whole;
    uint32_t added = 0;

    sr_assert(r && p);
    sr_rc rc = registry_check_abi(p, err);
    for (uint32_t k = 0; rc == SR_OK && k < REGISTRY_KINDS; k++) {
        for (uint32_t i = 0; registry_brought(p, (enum registry_kind)k, i, &e, &is_whole); i++) {
            rc = registry_add_entry(r, (enum registry_kind)k, &e, is_whole, err);
            if (rc != SR_OK) {
                break;
            }
            added++;
        }
    }
    if (rc != SR_OK) {
        registry_remove(r, p, added);
    }
    return rc;
}

sr_rc registry_add_op(struct registry *r, const struct sr_op_type *t, struct sr_error *err)
{
    sr_assert(r && t);
    struct registry_entry e = registry_of_op(t, "streamrun");
    return registry_add_entry(r, REGISTRY_OP, &e, t->size >= sizeof(*t), err);
}

/* The member that the type of an entry lacks; operators come from the engine only. */
static const char *registry_missing(enum registry_kind kind, const struct registry_entry *e)
{
    switch (kind) {
    case REGISTRY_SOURCE:
        return whole_source(e->type);
    case REGISTRY_SINK:
        return whole_sink(e->type);
    case REGISTRY_FORMAT:
        return whole_format(e->type);
    case REGISTRY_OP:
        break;
    }
    return NULL;
}

static sr_rc registry_check_whole(const struct sr_plugin *p, struct sr_error *err)
{
    struct registry_entry e;
    bool is_whole;

    sr_rc rc = registry_check_abi(p, err);
    for (uint32_t k = 0; rc == SR_OK && k < REGISTRY_KINDS; k++) {
        enum registry_kind kind = (enum registry_kind)k;
        for (uint32_t i = 0; registry_brought(p, kind, i, &e, &is_whole); i++) {
            const char *missing = is_whole ? registry_missing(kind, &e) : NULL;
            if (missing) {
                return error_set(err, SR_EABI, "plugin '%s': %s '%s' has no '%s'", p->name,
                                 registry_words[kind], e.item.name ? e.item.name : "", missing);
            }
        }
    }
    return rc;
}

sr_rc registry_load(struct registry *r, const char *path, struct sr_error *err)
{
    const struct sr_plugin *p = NULL;

    sr_assert(r && path);
    sr_rc rc = load_module(path, &p, err);
    if (rc == SR_OK) {
        rc = registry_check_whole(p, err);
        rc = rc == SR_OK ? registry_add(r, p, err) : rc;
        if (rc != SR_OK) {
            rc = error_wrap(err, "%s", path);
        }
    }
    return rc;
}

sr_rc registry_set_dir(struct registry *r, const char *dir, struct sr_error *err)
{
    sr_assert(r);
    char *copy = dir ? strdup(dir) : NULL;
    if (dir && !copy) {
        return error_set(err, SR_ENOMEM, "out of memory");
    }
    free(r->dir);
    r->dir = copy;
    return SR_OK;
}

sr_rc registry_set_home(struct registry *r, const char *home, const char *const *names,
                        struct sr_error *err)
{
    sr_assert(r && home && names);
    char *copy = strdup(home);
    if (!copy) {
        return error_set(err, SR_ENOMEM, "out of memory");
    }
    free(r->home);
    r->home = copy;
    r->names = names;
    return SR_OK;
}

/* A name of a job file must not lead out of the module directory. */
static bool registry_is_file_name(const char *name)
{
    size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_");
    return len > 0 && len <= REGISTRY_NAME_MAX && name[len] == '\0';
}

static bool registry_has(const struct registry *r, const char *name)
{
    bool has = false;
    for (uint32_t k = 0; k < REGISTRY_KINDS; k++) {
        has = has || registry_find(r, (enum registry_kind)k, name);
    }
    return has;
}

/* Adds DIR/<name>.so; SR_EABSENT: there is no such file. */
static sr_rc registry_load_name(struct registry *r, const char *dir, const char *name)
{
    size_t len = strlen(dir) + strlen(name) + sizeof("/.so");
    char *path = malloc(len);
    if (!path) {
        return error_set(&r->fault, SR_ENOMEM, "out of memory");
    }
    (void)snprintf(path, len, "%s/%s.so", dir, name);
    sr_rc rc = registry_load(r, path, &r->fault);
    if (rc == SR_OK && !registry_has(r, name)) {
        rc = error_set(&r->fault, SR_ECONFIG, "%s brings nothing of the name '%s'", path, name);
    }
    free(path);
    return rc;
}

/* The file, without .so, of our own module that brings this name; NULL: none does. */
static const char *registry_own(const struct registry *r, const char *name)
{
    for (uint32_t i = 0; r->names && r->names[i]; i++) {
        const char *entry = r->names[i];
        size_t len = strcspn(entry, ":");
        if (strlen(name) == len && memcmp(entry, name, len) == 0) {
            return entry[len] ? entry + len + 1 : entry;
        }
    }
    return NULL;
}

/* Adds the module of that name, if there is one. */
static void registry_try_module(struct registry *r, const char *name)
{
    const char *own = registry_own(r, name);
    if (own) {
        sr_rc rc = registry_load_name(r, r->home, own);
        if (rc == SR_EABSENT) {
            (void)error_set(&r->fault, rc, "it is a module of streamrun, and %s has no %s.so",
                            r->home, own);
        }
        /* Already there: the module was loaded before, and brings no type of this kind. */
        r->has_fault = rc != SR_OK && rc != SR_EEXISTS;
    } else if (r->dir && registry_is_file_name(name)) {
        sr_rc rc = registry_load_name(r, r->dir, name);
        r->has_fault = rc != SR_OK && rc != SR_EABSENT && rc != SR_EEXISTS;
    }
}

static const void *registry_get(struct registry *r, enum registry_kind kind, const char *name)
{
    sr_assert(r && name);
    r->has_fault = false;
    const struct registry_entry *e = registry_find(r, kind, name);
    if (!e) {
        registry_try_module(r, name);
        e = registry_find(r, kind, name);
    }
    return e ? e->type : NULL;
}

const struct sr_source_type *registry_source(struct registry *r, const char *name)
{
    return registry_get(r, REGISTRY_SOURCE, name);
}

const struct sr_sink_type *registry_sink(struct registry *r, const char *name)
{
    return registry_get(r, REGISTRY_SINK, name);
}

const struct sr_format_type *registry_format(struct registry *r, const char *name)
{
    return registry_get(r, REGISTRY_FORMAT, name);
}

const struct sr_op_type *registry_op(struct registry *r, const char *name)
{
    return registry_get(r, REGISTRY_OP, name);
}

const struct sr_error *registry_fault(const struct registry *r)
{
    return r->has_fault ? &r->fault : NULL;
}

void registry_load_home(struct registry *r)
{
    sr_assert(r);
    for (uint32_t i = 0; r->names && r->names[i]; i++) {
        bool is_file = !strchr(r->names[i], ':'); /* else it comes with another one */
        if (is_file && !registry_has(r, r->names[i])) {
            registry_try_module(r, r->names[i]);
        }
    }
    r->has_fault = false; /* whoever names one is told */
}

bool registry_item(const struct registry *r, enum registry_kind kind, uint32_t i,
                   struct registry_item *out)
{
    const struct registry_table *t = &r->table[kind];
    if (i >= t->count) {
        return false;
    }
    *out = t->entry[i].item;
    return true;
}

const char *registry_nearest(const struct registry *r, enum registry_kind kind, const char *name)
{
    const struct registry_table *t = &r->table[kind];
    const char **words = calloc(t->count + 1u, sizeof(*words));
    if (!words) {
        return NULL; /* only a hint is lost */
    }
    for (uint32_t i = 0; i < t->count; i++) {
        words[i] = t->entry[i].item.name;
    }
    const char *nearest = nearest_word(name, words);
    free(words);
    return nearest;
}
