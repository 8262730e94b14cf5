/* Visits a value and, for ARRAY, MAP, MULTISET and ROW, all values inside it: parents first.
 *
 *   struct walk w;
 *   walk_begin(&w, column, row);
 *   while (walk_next(&w, &c, &r)) { ... value r of column c ... }
 *
 * No recursion: the depth of types is limited by TYPE_DEPTH_MAX.
 */
#ifndef SR_DATA_WALK_H
#define SR_DATA_WALK_H

#include <streamrun/batch.h>

#include "engine/base/assert.h"
#include "engine/data/schema.h"

struct walk_level {
    const struct sr_column *c; /* the parent */
    uint32_t child;            /* which of its children is visited */
    uint32_t r, end;           /* rows of that child that are left */
    uint32_t at, len;          /* the parent's rows in each child */
};

struct walk {
    const struct sr_column *c; /* the value of the last walk_next */
    uint32_t r;
    bool is_begun;
    uint32_t depth;
    struct walk_level level[TYPE_DEPTH_MAX];
};

static inline void walk_begin(struct walk *w, const struct sr_column *c, uint32_t r)
{
    w->c = c;
    w->r = r;
    w->is_begun = false;
    w->depth = 0;
}

/* Goes down into the value visited last, if it has an inside. */
static inline void walk_down(struct walk *w)
{
    const struct sr_column *c = w->c;
    if (c->children == 0 || !sr_is_valid(c, w->r)) {
        return;
    }
    struct sr_span s = {.at = w->r, .len = 1};
    if (c->type.kind != SR_ROW) {
        s = ((const struct sr_span *)c->values)[w->r];
    }
    sr_assert(w->depth < TYPE_DEPTH_MAX);
    w->level[w->depth++] =
        (struct walk_level){.c = c, .r = s.at, .end = s.at + s.len, .at = s.at, .len = s.len};
}

static inline bool walk_next(struct walk *w, const struct sr_column **c, uint32_t *r)
{
    if (!w->is_begun) {
        w->is_begun = true;
        *c = w->c;
        *r = w->r;
        return true;
    }
    walk_down(w);
    while (w->depth > 0) {
        struct walk_level *k = &w->level[w->depth - 1];
        if (k->r < k->end) {
            *c = w->c = k->c->child[k->child];
            *r = w->r = k->r++;
            return true;
        }
        if (++k->child < k->c->children) {
            k->r = k->at;
            k->end = k->at + k->len;
        } else {
            w->depth--;
        }
    }
    return false;
}

#endif
