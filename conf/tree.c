#include "conf/tree.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "conf/syntax.h"
#include "engine/base/assert.h"
#include "engine/base/room.h"

struct tree_frame {
    struct node *node; /* the container that is open */
    uint32_t base;     /* its first child in `pending` */
    uint32_t anchor;   /* 1 + index of its anchor; 0: none */
};

struct tree_anchor {
    const char *name;
    struct node *node; /* NULL while its container is open */
    struct place at;
};

/* Bytes to which YAML gave a meaning of its own: another one stands in their place, so that further
 * faults come to light. Whatever they are in has no value. */
struct tree_spared {
    uint32_t count, byte[TREE_SPARED_MAX];
};

/* What is needed while a tree is built. */
struct tree {
    struct arena *arena;
    struct page *page;
    struct faults *faults;
    yaml_parser_t parser;
    struct tree_frame frame[TREE_DEPTH_MAX];
    uint32_t depth;
    struct node **pending; /* children of all open containers, one after the other */
    uint32_t pendings, pending_space;
    struct tree_anchor *anchor;
    uint32_t anchors;
    uint32_t nodes, aliased;
    uint32_t documents;
    struct node *root;
    const struct tree_spared *spared;
    uint32_t byte; /* the parser ended at it; SYNTAX_END: it did not, or not because of one byte */
    sr_rc rc;      /* not SR_OK: reading ends */
};

bool node_is_null(const struct node *n)
{
    if (n->kind != NODE_SCALAR || n->style != NODE_PLAIN || n->has_variables || !n->page) {
        return false;
    }
    return n->len == 0 || strcmp(n->text, "~") == 0 || strcmp(n->text, "null") == 0;
}

bool node_is_nothing(const struct node *n)
{
    return node_is_null(n) || (n->kind == NODE_MAPPING && n->count == 0);
}

static uint32_t tree_offset(const struct tree *t, yaml_mark_t mark)
{
    return page_offset(t->page, mark.line, mark.column);
}

static struct place tree_place(const struct tree *t, yaml_mark_t mark)
{
    return page_place(t->page, tree_offset(t, mark));
}

static bool tree_is_spared(const struct tree *t, const struct node *n)
{
    for (uint32_t i = 0; i < t->spared->count; i++) {
        if (n->begin <= t->spared->byte[i] && t->spared->byte[i] < n->end) return true;
    }
    return false;
}

static void tree_out_of_memory(struct tree *t) { t->rc = SR_ENOMEM; }

static struct node *tree_new(struct tree *t, enum node_kind kind, const yaml_event_t *e)
{
    struct node *n = arena_get(t->arena, sizeof(*n));
    if (!n) {
        tree_out_of_memory(t);
        return NULL;
    }
    if (++t->nodes > TREE_NODES_MAX) {
        fault_add(t->faults, FAULT_ERROR, tree_place(t, e->start_mark), NULL,
                  "SR0107: the file has more than %u values", TREE_NODES_MAX);
        t->rc = SR_ECONFIG;
        return NULL;
    }
    n->kind = kind;
    n->page = t->page;
    n->begin = tree_offset(t, e->start_mark);
    n->end = tree_offset(t, e->end_mark);
    n->at = page_place(t->page, n->begin);
    n->weight = 1;
    n->height = 1;
    return n;
}

/* Appends a finished value to the open container, or makes it the root. */
static void tree_put(struct tree *t, struct node *n)
{
    if (t->depth == 0) {
        t->root = n;
        return;
    }
    struct node **grown =
        room_for_one(t->pending, t->pendings, &t->pending_space, sizeof(struct node *));
    if (!grown) {
        tree_out_of_memory(t);
        return;
    }
    t->pending = grown;
    t->pending[t->pendings++] = n;
}

/* Remembers an anchor; answers 1 + its index, 0: none. */
static uint32_t tree_anchor_add(struct tree *t, const yaml_char_t *name, struct node *n,
                                yaml_mark_t at)
{
    if (!name) {
        return 0;
    }
    if (t->anchors == TREE_ANCHORS_MAX) {
        fault_add(t->faults, FAULT_ERROR, tree_place(t, at), NULL, "SR0107: more than %u anchors",
                  TREE_ANCHORS_MAX);
        t->rc = SR_ECONFIG;
        return 0;
    }
    if (!t->anchor) {
        t->anchor = calloc(TREE_ANCHORS_MAX, sizeof(*t->anchor));
    }
    const char *copy = arena_text(t->arena, (const char *)name);
    if (!t->anchor || !copy) {
        tree_out_of_memory(t);
        return 0;
    }
    t->anchor[t->anchors++] = (struct tree_anchor){copy, n, tree_place(t, at)};
    return t->anchors;
}

/* A value that has none: reading goes on, so that further faults come to light. */
static void tree_alias_lost(struct tree *t, const yaml_event_t *e, const char *name)
{
    fault_add(t->faults, FAULT_ERROR, tree_place(t, e->start_mark),
              syntax_block_hint(t->page, tree_offset(t, e->start_mark)),
              "SR0105: alias '*%s' has no anchor '&%s' before it (YAML takes '*' at the "
              "beginning of a text as an alias)",
              name, name);
    struct node *n = tree_new(t, NODE_SCALAR, e);
    if (!n) return;
    n->text = n->written = "";
    n->has_fault = true;
    tree_put(t, n);
}

static void tree_alias(struct tree *t, const yaml_event_t *e)
{
    const char *name = (const char *)e->data.alias.anchor;
    struct place at = tree_place(t, e->start_mark);
    const struct tree_anchor *a = NULL;

    for (uint32_t i = t->anchors; i-- > 0 && !a;) { /* a later anchor of the same name counts */
        a = strcmp(t->anchor[i].name, name) == 0 ? &t->anchor[i] : NULL;
    }
    if (!a) {
        tree_alias_lost(t, e, name);
        return;
    }
    t->rc = SR_ECONFIG;
    if (!a->node) {
        fault_add(t->faults, FAULT_ERROR, at, NULL,
                  "SR0106: alias '*%s' stands inside its own anchor", name);
        return;
    }
    t->aliased += a->node->weight;
    if (t->aliased > TREE_ALIASED_MAX) {
        fault_add(t->faults, FAULT_ERROR, at, NULL, "SR0107: aliases stand for more than %u values",
                  TREE_ALIASED_MAX);
        return;
    }
    if (t->depth + a->node->height > TREE_DEPTH_MAX) {
        fault_add(t->faults, FAULT_ERROR, at, NULL, "SR0107: nested deeper than %u",
                  TREE_DEPTH_MAX);
        return;
    }
    t->rc = SR_OK;
    tree_put(t, a->node);
}

static void tree_check_tag(struct tree *t, const yaml_char_t *tag, yaml_mark_t at)
{
    if (tag) {
        fault_add(
            t->faults, FAULT_ERROR, tree_place(t, at),
            syntax_block_hint(t->page, tree_offset(t, at)),
            "SR0105: YAML takes '!' at the beginning of a text as a tag, and tags are not taken");
    }
}

/* A block's text begins in the line behind its header, at the first column of its own. */
static void tree_place_block(struct node *n)
{
    const struct page *p = n->page;
    uint32_t line = n->at.line; /* index of the line behind the header */
    uint32_t in_text = (uint32_t)strspn(n->text + strspn(n->text, "\n"), " ");

    if (line >= p->lines) {
        return;
    }
    uint32_t begin = p->line_at[line];
    for (uint32_t i = line; i < p->lines; i++) {
        const char *s = p->text + p->line_at[i];
        uint32_t spaces = (uint32_t)strspn(s, " ");
        if (s[spaces] != '\n' && s[spaces] != '\r' && s[spaces] != '\0') {
            n->indent = spaces > in_text ? spaces - in_text : 0;
            break;
        }
    }
    uint32_t first = n->text[0] == '\n' ? 0 : n->indent;
    n->at = page_place(p, begin + first);
}

static void tree_scalar(struct tree *t, const yaml_event_t *e)
{
    struct node *n = tree_new(t, NODE_SCALAR, e);
    if (!n) {
        return;
    }
    static const enum node_style styles[] = {
        [YAML_SINGLE_QUOTED_SCALAR_STYLE] = NODE_SINGLE,
        [YAML_DOUBLE_QUOTED_SCALAR_STYLE] = NODE_DOUBLE,
        [YAML_LITERAL_SCALAR_STYLE] = NODE_LITERAL,
        [YAML_FOLDED_SCALAR_STYLE] = NODE_FOLDED,
    };
    n->style = styles[e->data.scalar.style];
    n->text = arena_text_n(t->arena, (const char *)e->data.scalar.value, e->data.scalar.length);
    n->written = n->text;
    n->len = (uint32_t)e->data.scalar.length;
    n->has_fault = tree_is_spared(t, n);
    if (!n->text) {
        tree_out_of_memory(t);
        return;
    }
    if (n->style == NODE_SINGLE || n->style == NODE_DOUBLE) {
        n->at.column++;
    } else if (n->style == NODE_LITERAL || n->style == NODE_FOLDED) {
        tree_place_block(n);
    }
    if (memchr(n->text, '\0', n->len)) {
        fault_add(t->faults, FAULT_ERROR, n->at, NULL,
                  "SR0102: a text cannot have a zero byte in it");
        n->len = (uint32_t)strlen(n->text);
    }
    tree_check_tag(t, e->data.scalar.tag, e->start_mark);
    (void)tree_anchor_add(t, e->data.scalar.anchor, n, e->start_mark);
    tree_put(t, n);
}

static void tree_open(struct tree *t, enum node_kind kind, const yaml_event_t *e)
{
    bool is_map = kind == NODE_MAPPING;
    struct node *n = tree_new(t, kind, e);
    if (!n) {
        return;
    }
    if (t->depth == TREE_DEPTH_MAX) {
        fault_add(t->faults, FAULT_ERROR, n->at, NULL, "SR0107: nested deeper than %u",
                  TREE_DEPTH_MAX);
        t->rc = SR_ECONFIG;
        return;
    }
    n->is_flow = is_map ? e->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE
                        : e->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
    tree_check_tag(t, is_map ? e->data.mapping_start.tag : e->data.sequence_start.tag,
                   e->start_mark);
    uint32_t anchor =
        tree_anchor_add(t, is_map ? e->data.mapping_start.anchor : e->data.sequence_start.anchor,
                        NULL, e->start_mark);
    t->frame[t->depth++] = (struct tree_frame){n, t->pendings, anchor};
}

static bool tree_is_merge(const struct node *key)
{
    return key->style == NODE_PLAIN && strcmp(key->text, "<<") == 0;
}

static bool tree_check_key(struct tree *t, const struct node *key)
{
    if (key->kind != NODE_SCALAR) {
        fault_add(t->faults, FAULT_ERROR, key->at, NULL, "SR0109: a key must be a plain text");
        return false;
    }
    if (key->len == 0) {
        fault_add(t->faults, FAULT_ERROR, key->at, NULL, "SR0109: a key is empty");
        return false;
    }
    return true;
}

static int tree_compare_pairs(const void *a, const void *b)
{
    const struct node_pair *p = *(const struct node_pair *const *)a;
    const struct node_pair *q = *(const struct node_pair *const *)b;
    int by_text = strcmp(p->key->text, q->key->text);
    return by_text != 0 ? by_text : (p > q) - (p < q); /* of one array: in the order of the file */
}

/* The second of two equal keys is dropped, so that nobody reports it again. */
static void tree_drop_duplicates(struct tree *t, struct node *map)
{
    if (map->count < 2) {
        return;
    }
    struct node_pair **sorted = malloc(map->count * sizeof(struct node_pair *));
    if (!sorted) {
        tree_out_of_memory(t);
        return;
    }
    for (uint32_t i = 0; i < map->count; i++) {
        sorted[i] = &map->pair[i];
    }
    qsort(sorted, map->count, sizeof(struct node_pair *), tree_compare_pairs);
    uint32_t first = 0;
    for (uint32_t i = 1; i < map->count; i++) {
        if (strcmp(sorted[i]->key->text, sorted[first]->key->text) != 0) {
            first = i;
            continue;
        }
        fault_add(
            t->faults, FAULT_ERROR, sorted[i]->key->at,
            arena_printf(t->arena, "it is first written in line %u", sorted[first]->key->at.line),
            "SR0108: key '%s' is written twice", sorted[i]->key->text);
        sorted[i]->value = NULL;
    }
    free(sorted);
    uint32_t n = 0;
    for (uint32_t i = 0; i < map->count; i++) {
        if (map->pair[i].value) {
            map->pair[n++] = map->pair[i];
        }
    }
    map->count = n;
}

static bool tree_has_key(const struct node_pair *pair, uint32_t count, const char *text)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(pair[i].key->text, text) == 0) {
            return true;
        }
    }
    return false;
}

/* Adds what one merged mapping has and `map` has not; room for it was made. */
static void tree_merge_one(struct tree *t, struct node *map, const struct node *from,
                           struct place at)
{
    if (from->kind != NODE_MAPPING) {
        fault_add(t->faults, FAULT_ERROR, at, "as in `<<: *defaults`, or `<<: [*a, *b]`",
                  "SR0106: a merge key '<<' takes mappings only");
        return;
    }
    for (uint32_t i = 0; i < from->count; i++) {
        if (!tree_has_key(map->pair, map->count, from->pair[i].key->text)) {
            map->pair[map->count] = from->pair[i];
            map->pair[map->count++].is_merged = true;
        }
    }
}

static uint32_t tree_merge_room(const struct node *value)
{
    uint32_t room = value->kind == NODE_MAPPING ? value->count : 0;
    for (uint32_t i = 0; value->kind == NODE_SEQUENCE && i < value->count; i++) {
        room += value->item[i]->kind == NODE_MAPPING ? value->item[i]->count : 0;
    }
    return room;
}

/* Replaces the key `<<` by what it stands for; a mapping has one at most. */
static void tree_merge(struct tree *t, struct node *map)
{
    uint32_t at = 0;
    while (at < map->count && !tree_is_merge(map->pair[at].key)) {
        at++;
    }
    if (at == map->count) {
        return;
    }
    const struct node_pair merge = map->pair[at];
    uint32_t room = map->count + tree_merge_room(merge.value);
    struct node_pair *all = arena_array(t->arena, room, sizeof(*all));
    if (!all) {
        tree_out_of_memory(t);
        return;
    }
    memcpy(all, map->pair, at * sizeof(*all));
    memcpy(all + at, map->pair + at + 1, (map->count - at - 1) * sizeof(*all));
    map->pair = all;
    map->count--;
    if (merge.value->kind != NODE_SEQUENCE) {
        tree_merge_one(t, map, merge.value, merge.key->at);
        return;
    }
    for (uint32_t i = 0; i < merge.value->count; i++) {
        tree_merge_one(t, map, merge.value->item[i], merge.key->at);
    }
}

static void tree_close_mapping(struct tree *t, struct node *map, struct node **child,
                               uint32_t children)
{
    map->pair = arena_array(t->arena, children / 2 + 1, sizeof(*map->pair));
    if (!map->pair) {
        tree_out_of_memory(t);
        return;
    }
    for (uint32_t i = 0; i + 1 < children; i += 2) {
        if (tree_check_key(t, child[i])) {
            map->pair[map->count++] = (struct node_pair){child[i], child[i + 1], false};
        }
    }
    tree_drop_duplicates(t, map);
    tree_merge(t, map);
}

static void tree_close(struct tree *t, const yaml_event_t *e)
{
    sr_assert(t->depth > 0);
    struct tree_frame f = t->frame[--t->depth];
    struct node *n = f.node;
    struct node **child = t->pending + f.base;
    uint32_t children = t->pendings - f.base;

    n->end = tree_offset(t, e->end_mark);
    for (uint32_t i = 0; i < children; i++) {
        n->weight += child[i]->weight;
        n->height = child[i]->height >= n->height ? child[i]->height + 1 : n->height;
    }
    if (n->kind == NODE_MAPPING) {
        tree_close_mapping(t, n, child, children);
    } else {
        n->count = children;
        n->item = children ? arena_copy(t->arena, child, children * sizeof(struct node *)) : NULL;
        if (children && !n->item) {
            tree_out_of_memory(t);
        }
    }
    t->pendings = f.base;
    if (f.anchor > 0) {
        t->anchor[f.anchor - 1].node = n;
    }
    tree_put(t, n);
}

static void tree_document(struct tree *t, const yaml_event_t *e)
{
    if (++t->documents == 2) {
        fault_add(t->faults, FAULT_ERROR, tree_place(t, e->start_mark),
                  "one file is one job: put the second into a file of its own",
                  "SR0103: a second document begins here");
        t->rc = SR_ECONFIG;
    }
}

static void tree_take(struct tree *t, const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_DOCUMENT_START_EVENT:
        tree_document(t, e);
        break;
    case YAML_ALIAS_EVENT:
        tree_alias(t, e);
        break;
    case YAML_SCALAR_EVENT:
        tree_scalar(t, e);
        break;
    case YAML_SEQUENCE_START_EVENT:
        tree_open(t, NODE_SEQUENCE, e);
        break;
    case YAML_MAPPING_START_EVENT:
        tree_open(t, NODE_MAPPING, e);
        break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        tree_close(t, e);
        break;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        break;
    }
}

static void tree_parse(struct tree *t)
{
    bool has_more = true;
    while (has_more && t->rc == SR_OK) {
        yaml_event_t e;
        if (!yaml_parser_parse(&t->parser, &e)) {
            if (t->parser.error == YAML_MEMORY_ERROR) {
                tree_out_of_memory(t);
                return;
            }
            t->byte = syntax_fault(t->page, t->faults, &t->parser);
            t->rc = SR_ECONFIG;
            return;
        }
        has_more = e.type != YAML_STREAM_END_EVENT;
        tree_take(t, &e);
        yaml_event_delete(&e);
    }
}

/* Reads `text`, which is the page's but for the bytes that are spared. *byte: see struct tree. */
static sr_rc tree_read_once(struct page *page, struct faults *faults, const char *text,
                            const struct tree_spared *spared, struct node **root, uint32_t *byte)
{
    struct tree *t = calloc(1, sizeof(*t));
    if (!t || !yaml_parser_initialize(&t->parser)) {
        free(t);
        return SR_ENOMEM;
    }
    t->arena = page->arena;
    t->page = page;
    t->faults = faults;
    t->spared = spared;
    t->byte = SYNTAX_END;
    yaml_parser_set_encoding(&t->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&t->parser, (const unsigned char *)text, page->len);
    tree_parse(t);
    yaml_parser_delete(&t->parser);
    sr_rc rc = t->rc;
    *byte = t->byte;
    if (rc == SR_OK) {
        *root = t->root && node_is_null(t->root) ? NULL : t->root;
    }
    free(t->pending);
    free(t->anchor);
    free(t);
    return rc;
}

sr_rc tree_read(struct page *page, struct faults *faults, struct node **root)
{
    sr_assert(page && faults && root);
    struct tree_spared spared = {.count = 0};
    uint32_t byte = SYNTAX_END;
    sr_rc rc = tree_read_once(page, faults, page->text, &spared, root, &byte);
    char *text = byte == SYNTAX_END ? NULL : arena_text_n(page->arena, page->text, page->len);
    while (text && byte < page->len && spared.count < TREE_SPARED_MAX) {
        text[byte] = 'x';
        spared.byte[spared.count++] = byte;
        rc = tree_read_once(page, faults, text, &spared, root, &byte);
    }
    return rc;
}
