#include "conf/entry.h"

#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "engine/base/assert.h"

const char *const entry_sections[] = {"sources", "transforms", "sinks", "dead-letter", NULL};

const char *entry_section(const char *key)
{
    for (const char *const *s = entry_sections; *s; s++) {
        size_t len = strlen(*s);
        if (strncmp(key, *s, len) == 0 && (key[len] == '.' || key[len] == '\0')) {
            return *s;
        }
    }
    return NULL;
}

/* A mapping that is being flattened, and how far. */
struct entry_frame {
    const struct node *map;
    const char *prefix; /* "a.b." */
    uint32_t at;
    bool is_merged;
};

static void entries_put(struct entries *e, struct entry **list, uint32_t *count, uint32_t *space,
                        const struct entry *one)
{
    struct entry *grown = arena_more(e->arena, *list, *count, space, sizeof(*grown));
    if (!grown) {
        e->is_broken = true;
        return;
    }
    *list = grown;
    grown[(*count)++] = *one;
}

void entries_add(struct entries *e, const struct entry *one)
{
    struct entry copy = *one;
    copy.order = e->order++;
    copy.canonical = copy.key;
    entries_put(e, &e->item, &e->count, &e->space, &copy);
}

static void entries_add_group(struct entries *e, const struct entry *one)
{
    struct entry copy = *one;
    copy.order = e->order++;
    entries_put(e, &e->group, &e->groups, &e->group_space, &copy);
}

/* One pair of the mapping on top; a mapping below it becomes the new top. */
static void entries_flatten_pair(struct entries *e, struct entry_frame *frame, uint32_t *depth,
                                 enum entry_rank rank)
{
    struct entry_frame *top = &frame[*depth - 1];
    const struct node_pair *p = &top->map->pair[top->at++];
    bool is_merged = top->is_merged || p->is_merged;
    struct entry one = {.key = arena_printf(e->arena, "%s%s", top->prefix, p->key->text),
                        .name = p->key,
                        .value = p->value,
                        .dir = p->value->page->dir,
                        .rank = is_merged ? (enum entry_rank)(rank - 1) : rank};

    if (!one.key) {
        e->is_broken = true;
        return;
    }
    if (strlen(one.key) > ENTRY_KEY_MAX) {
        fault_add(e->faults, FAULT_ERROR, p->key->at, NULL, "SR0107: a key is longer than %u bytes",
                  ENTRY_KEY_MAX);
        return;
    }
    if (p->value->kind != NODE_MAPPING || p->value->count == 0) {
        entries_add(e, &one);
        return;
    }
    entries_add_group(e, &one);
    const char *prefix = arena_printf(e->arena, "%s.", one.key);
    if (!prefix) {
        e->is_broken = true;
        return;
    }
    sr_assert(*depth < TREE_DEPTH_MAX); /* tree.c has no deeper nesting */
    frame[(*depth)++] = (struct entry_frame){p->value, prefix, 0, is_merged};
}

void entries_add_tree(struct entries *e, struct node *root, enum entry_rank rank)
{
    struct entry_frame frame[TREE_DEPTH_MAX];
    uint32_t depth = 1;

    sr_assert(root->kind == NODE_MAPPING && rank > RANK_CONF_MERGED);
    frame[0] = (struct entry_frame){root, "", 0, false};
    while (depth > 0 && !e->is_broken) {
        if (frame[depth - 1].at == frame[depth - 1].map->count) {
            depth--;
        } else {
            entries_flatten_pair(e, frame, &depth, rank);
        }
    }
}

/* By key; of one key the strongest first: rank, then -D's last or a file's first. */
static int entries_compare(const void *a, const void *b)
{
    const struct entry *p = a;
    const struct entry *q = b;
    int by_key = strcmp(p->key, q->key);

    if (by_key != 0) {
        return by_key;
    }
    if (p->rank != q->rank) {
        return p->rank > q->rank ? -1 : 1;
    }
    int by_order = (p->order > q->order) - (p->order < q->order);
    return p->rank == RANK_DEFINE ? -by_order : by_order;
}

/* `one` lost against `best`, which has the same key. */
static void entries_lose(struct entries *e, struct entry *best, const struct entry *one)
{
    bool is_file = one->rank == RANK_JOB || one->rank == RANK_CONF;
    if (best->rank == one->rank && is_file) {
        fault_add(e->faults, FAULT_ERROR, one->name->at,
                  arena_printf(e->arena, "it is first written in line %u", best->name->at.line),
                  "SR0108: key '%s' is written twice", one->key);
    }
    best->order = one->order < best->order ? one->order : best->order;
}

void entry_hide(struct entry *one)
{
    struct node *v = one->value;

    one->is_secret = true;
    if (!v->page) {
        v->is_secret = true;
        return;
    }
    uint32_t count = v->kind == NODE_SEQUENCE ? v->count : 1;
    for (uint32_t i = 0; i < count; i++) {
        struct node *n = v->kind == NODE_SEQUENCE ? v->item[i] : v;
        n->is_secret = true;
        page_hide(n->page, n->begin, n->end);
    }
}

/* What of a full key names an option: behind `sources.NAME.`; nothing of a column's key. */
static const char *entry_option(const char *key)
{
    static const char *const sections[] = {"sources.", "transforms.", "sinks."};
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        size_t len = strlen(sections[i]);
        if (strncmp(key, sections[i], len) == 0) {
            const char *dot = strchr(key + len, '.');
            return !dot || strncmp(dot, ".schema.", 8) == 0 ? "" : dot + 1;
        }
    }
    return key;
}

void entries_hide(struct entries *e)
{
    for (uint32_t i = 0; i < e->count; i++) {
        if (conf_is_secret_key(entry_option(e->item[i].key))) {
            entry_hide(&e->item[i]);
        }
    }
}

void entries_settle(struct entries *e)
{
    uint32_t n = 0;

    if (e->groups > 1) {
        qsort(e->group, e->groups, sizeof(*e->group), entries_compare);
    }
    if (e->count > 1) {
        qsort(e->item, e->count, sizeof(*e->item), entries_compare);
    }
    for (uint32_t i = 0; i < e->count; i++) {
        if (n > 0 && strcmp(e->item[n - 1].key, e->item[i].key) == 0) {
            entries_lose(e, &e->item[n - 1], &e->item[i]);
        } else {
            e->item[n++] = e->item[i];
        }
    }
    e->count = n;
}

int entries_by_order(const void *a, const void *b)
{
    const struct entry *const *p = a;
    const struct entry *const *q = b;
    return ((*p)->order > (*q)->order) - ((*p)->order < (*q)->order);
}

static int entries_compare_key(const void *key, const void *item)
{
    return strcmp(key, ((const struct entry *)item)->key);
}

struct entry *entries_find(const struct entries *e, const char *key)
{
    if (e->count == 0) {
        return NULL;
    }
    return bsearch(key, e->item, e->count, sizeof(*e->item), entries_compare_key);
}

const struct entry *entries_group(const struct entries *e, const char *key)
{
    if (e->groups == 0) {
        return NULL;
    }
    return bsearch(key, e->group, e->groups, sizeof(*e->group), entries_compare_key);
}

void entries_range(const struct entries *e, const char *prefix, uint32_t *from, uint32_t *to)
{
    size_t len = strlen(prefix);
    uint32_t low = 0;
    uint32_t high = e->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (strncmp(e->item[middle].key, prefix, len) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *from = low;
    while (low < e->count && strncmp(e->item[low].key, prefix, len) == 0) {
        low++;
    }
    *to = low;
}
