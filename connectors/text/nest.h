/* Visits a value and all that is inside it in the order in which texts show it: brackets too.
 *
 *   struct nest n;
 *   nest_begin(&n, column, row);
 *   while ((event = nest_next(&n)) != NEST_DONE) { ... value n.r of column n.c ... }
 *
 * NEST_OPEN and NEST_CLOSE come around the inside of an ARRAY, MAP, MULTISET or ROW that is not
 * NULL, NEST_VALUE for all else. A MAP gives key, value, key, value. No recursion: types are nested
 * to NEST_DEPTH_MAX at most.
 */
#ifndef SR_TEXT_NEST_H
#define SR_TEXT_NEST_H

#include <streamrun/batch.h>

#define NEST_DEPTH_MAX \
    17u /* containers within each other; types of more are refused by the engine */

enum nest_event { NEST_VALUE, NEST_OPEN, NEST_CLOSE, NEST_DONE };

struct nest_level {
    const struct sr_column *c; /* the container */
    uint32_t r;
    uint32_t at;          /* row of the children that comes next; of a ROW always its own */
    uint32_t next, count; /* children (ROW), elements, or keys and values that were visited */
};

struct nest {
    const struct sr_column *c; /* of the last event */
    uint32_t r;
    uint32_t child;  /* which child of its container's type it is: field, or 1 for a MAP's value */
    uint32_t nth;    /* values that came before it in its container */
    uint32_t depth;  /* containers around it */
    bool is_pending; /* the first event is to come, or an opened container's inside */
    bool is_bag_whole; /* a MULTISET is one NEST_VALUE: set behind nest_begin */
    struct nest_level level[NEST_DEPTH_MAX];
};

static inline void nest_begin(struct nest *n, const struct sr_column *c, uint32_t r)
{
    n->c = c;
    n->r = r;
    n->child = n->nth = n->depth = 0;
    n->is_pending = true;
    n->is_bag_whole = false;
}

/* What the value c, r begins: a container is entered. */
static inline enum nest_event nest_enter(struct nest *n)
{
    const struct sr_column *c = n->c;
    bool is_whole = n->is_bag_whole && c->type.kind == SR_MULTISET;
    if (!sr_is_nested(c->type.kind) || !sr_is_valid(c, n->r) || n->depth == NEST_DEPTH_MAX ||
        is_whole) {
        return NEST_VALUE;
    }
    struct nest_level *k = &n->level[n->depth];
    *k = (struct nest_level){.c = c, .r = n->r, .at = n->r, .count = c->children};
    if (c->type.kind != SR_ROW) {
        struct sr_span s = ((const struct sr_span *)c->values)[n->r];
        k->at = s.at;
        k->count = s.len * (c->type.kind == SR_MAP ? 2 : 1);
    }
    n->is_pending = true;
    return NEST_OPEN;
}

static inline enum nest_event nest_next(struct nest *n)
{
    if (n->depth == 0 && n->is_pending && n->nth == 0) {
        n->is_pending = false;
        n->nth = 1;
        return nest_enter(n);
    }
    if (n->is_pending) {
        n->is_pending = false;
        n->depth++;
    }
    if (n->depth == 0) {
        return NEST_DONE;
    }
    struct nest_level *k = &n->level[n->depth - 1];
    if (k->next == k->count) {
        n->c = k->c;
        n->r = k->r;
        n->depth--;
        return NEST_CLOSE;
    }
    enum sr_kind kind = k->c->type.kind;
    n->nth = k->next++;
    n->child = kind == SR_ROW ? n->nth : kind == SR_MAP ? n->nth & 1 : 0;
    n->c = k->c->child[n->child];
    n->r = k->at;
    k->at += kind == SR_ROW || (kind == SR_MAP && n->child == 0) ? 0 : 1;
    return nest_enter(n);
}

#endif
