/* ROW, ARRAY and MAP. */
#include <string.h>

#include "engine/data/schema.h"
#include "engine/expr/promote.h"
#include "test/unit/expr/slow/slow.h"

static bool nest_is(const struct slow_call *c, const char *name)
{
    return strcmp(c->name, name) == 0;
}

static void nest_add(struct slow_call *c, const struct box *v)
{
    struct box *more = arena_array(c->s->arena, c->out->items + 1u, sizeof(*more));
    memcpy(more, c->out->item ? c->out->item : more, c->out->items * sizeof(*more));
    more[c->out->items++] = *v;
    c->out->item = more;
}

static const struct sr_type *nest_element(const struct slow_call *c, uint32_t i)
{
    return &c->e->arg[i]->type.child[0].type;
}

/* The first element of `list` that is v; UINT32_MAX: none. */
static uint32_t nest_find(const struct sr_type *t, const struct box *list, const struct box *v)
{
    for (uint32_t i = 0; i < list->items; i++) {
        if (slow_is_same(t, &list->item[i], v)) {
            return i;
        }
    }
    return UINT32_MAX;
}

/* By its bits too: 0.0 is not -0.0. */
static bool nest_has_exactly(const struct sr_type *t, const struct box *list, const struct box *v)
{
    for (uint32_t i = 0; i < list->items; i++) {
        if (slow_is_same(t, &list->item[i], v) && slow_is_identical(t, &list->item[i], v)) {
            return true;
        }
    }
    return false;
}

static void nest_make_map(struct slow_call *c)
{
    const struct sr_type *key = &c->e->type.child[0].type;
    for (uint32_t i = 0; i < c->e->args; i += 2) {
        bool is_last = true;
        for (uint32_t k = i + 2; k < c->e->args; k += 2) {
            is_last = is_last && !(slow_is_same(key, &c->arg[i], &c->arg[k]) &&
                                   slow_is_identical(key, &c->arg[i], &c->arg[k]));
        }
        if (is_last) {
            nest_add(c, &c->arg[i]);
            nest_add(c, &c->arg[i + 1]);
        }
    }
}

static bool nest_make(struct slow_call *c)
{
    if (nest_is(c, "MAP")) {
        nest_make_map(c);
        return true;
    }
    for (uint32_t i = 0; i < c->e->args; i++) {
        nest_add(c, &c->arg[i]);
    }
    return true;
}

static bool nest_item(struct slow_call *c)
{
    const struct box *a = &c->arg[0], *at = &c->arg[1];
    bool is_map = c->e->arg[0]->type.kind == SR_MAP;
    c->out->is_null = true;
    if (a->is_null || at->is_null) {
        return true;
    }
    for (uint32_t i = 0; is_map && i < a->items; i += 2) {
        if (slow_is_same(nest_element(c, 0), &a->item[i], at)) {
            *c->out = a->item[i + 1];
            return true;
        }
    }
    if (!is_map && at->i >= 1 && at->i <= a->items) {
        *c->out = a->item[at->i - 1];
    }
    return true;
}

static bool nest_take(struct slow_call *c)
{
    const struct box *a = &c->arg[0];
    c->out->is_null = a->is_null;
    if (nest_is(c, "ITEM")) {
        return nest_item(c);
    }
    if (a->is_null) {
        return true;
    }
    if (nest_is(c, ".")) {
        *c->out = a->item[c->arg[1].i];
    } else if (nest_is(c, "CARDINALITY")) {
        c->out->i = a->items / c->e->arg[0]->type.children;
    } else if (a->items > 1) {
        slow_fail(c->s);
    } else if (a->items == 1) {
        *c->out = a->item[0];
    } else {
        c->out->is_null = true;
    }
    return true;
}

/* An array and a value, which may be NULL. */
static bool nest_with(struct slow_call *c)
{
    const struct box *a = &c->arg[0], *v = &c->arg[1];
    c->out->is_null = a->is_null;
    uint32_t at = a->is_null ? 0 : nest_find(nest_element(c, 0), a, v);
    if (nest_is(c, "ARRAY_CONTAINS")) {
        c->out->i = at != UINT32_MAX;
    } else if (nest_is(c, "ARRAY_POSITION")) {
        c->out->i = at == UINT32_MAX ? 0 : at + 1;
        c->out->is_null = a->is_null || v->is_null;
    } else {
        if (nest_is(c, "ARRAY_PREPEND")) {
            nest_add(c, v);
        }
        for (uint32_t i = 0; i < a->items; i++) {
            if (!nest_is(c, "ARRAY_REMOVE") || !slow_is_same(nest_element(c, 0), &a->item[i], v)) {
                nest_add(c, &a->item[i]);
            }
        }
        if (nest_is(c, "ARRAY_APPEND")) {
            nest_add(c, v);
        }
    }
    return true;
}

/* One array, or several; any NULL gives NULL. */
static bool nest_arrays(struct slow_call *c)
{
    bool is_all = nest_is(c, "ARRAY_CONCAT"), is_both = nest_is(c, "ARRAY_INTERSECT");
    bool is_set = nest_is(c, "ARRAY_DISTINCT") || nest_is(c, "ARRAY_UNION");
    for (uint32_t i = 0; i < c->e->args; i++) {
        c->out->is_null = c->out->is_null || c->arg[i].is_null;
    }
    uint32_t lists = is_all || is_set ? c->e->args : 1;
    for (uint32_t i = 0; i < lists && !c->out->is_null; i++) {
        for (uint32_t k = 0; k < c->arg[i].items; k++) {
            const struct box *v = &c->arg[i].item[k];
            const struct sr_type *t = nest_element(c, i);
            bool is_new = is_all || (is_set ? nest_find(t, c->out, v) == UINT32_MAX
                                            : !nest_has_exactly(t, c->out, v));
            bool is_wanted = is_all || is_set || nest_has_exactly(t, &c->arg[1], v) == is_both;
            if (is_new && is_wanted) {
                nest_add(c, v);
            }
        }
    }
    return true;
}

static bool nest_reverse(struct slow_call *c)
{
    c->out->is_null = c->arg[0].is_null;
    for (uint32_t i = c->arg[0].items; i > 0; i--) {
        nest_add(c, &c->arg[0].item[i - 1]);
    }
    return true;
}

static bool nest_extreme(struct slow_call *c)
{
    const struct box *a = &c->arg[0];
    const struct sr_type *t = nest_element(c, 0);
    c->out->is_null = true;
    for (uint32_t i = 0; i < a->items; i++) {
        bool is_nan =
            sr_is_approx(t->kind) && (a->item[i].d != a->item[i].d || c->out->d != c->out->d);
        int order = a->item[i].is_null || c->out->is_null || is_nan
                        ? 0
                        : slow_order(t, &a->item[i], c->out);
        bool is_better = !a->item[i].is_null &&
                         (c->out->is_null || (nest_is(c, "ARRAY_MAX") ? order > 0 : order < 0));
        *c->out = is_better ? a->item[i] : *c->out;
    }
    return true;
}

/* By inserting, in the order as written where two are the same. */
static bool nest_sort(struct slow_call *c)
{
    const struct sr_type *t = nest_element(c, 0);
    for (uint32_t i = 0; i < c->e->args; i++) {
        c->out->is_null = c->out->is_null || c->arg[i].is_null;
    }
    bool up = c->e->args < 2 || c->arg[1].i != 0, first = c->e->args < 3 ? up : c->arg[2].i != 0;
    for (uint32_t i = 0; i < c->arg[0].items && !c->out->is_null; i++) {
        struct box v = c->arg[0].item[i];
        nest_add(c, &v);
        uint32_t at = c->out->items - 1;
        for (; at > 0; at--) {
            const struct box *b = &c->out->item[at - 1];
            bool is_before = v.is_null || b->is_null ? v.is_null != b->is_null && v.is_null == first
                             : up                    ? slow_order(t, &v, b) < 0
                                                     : slow_order(t, &v, b) > 0;
            if (!is_before) {
                break;
            }
            c->out->item[at] = *b;
        }
        c->out->item[at] = v;
    }
    return true;
}

static bool nest_half(struct slow_call *c)
{
    c->out->is_null = c->arg[0].is_null;
    for (uint32_t i = nest_is(c, "MAP_KEYS") ? 0 : 1; i < c->arg[0].items; i += 2) {
        nest_add(c, &c->arg[0].item[i]);
    }
    return true;
}

bool slow_nest(struct slow_call *c)
{
    static const struct {
        const char *name;
        bool (*run)(struct slow_call *c);
    } known[] = {
        {"ARRAY", nest_make},
        {"MAP", nest_make},
        {"ROW", nest_make},
        {"ITEM", nest_take},
        {".", nest_take},
        {"CARDINALITY", nest_take},
        {"ELEMENT", nest_take},
        {"ARRAY_CONTAINS", nest_with},
        {"ARRAY_POSITION", nest_with},
        {"ARRAY_REMOVE", nest_with},
        {"ARRAY_APPEND", nest_with},
        {"ARRAY_PREPEND", nest_with},
        {"ARRAY_DISTINCT", nest_arrays},
        {"ARRAY_UNION", nest_arrays},
        {"ARRAY_CONCAT", nest_arrays},
        {"ARRAY_EXCEPT", nest_arrays},
        {"ARRAY_INTERSECT", nest_arrays},
        {"ARRAY_REVERSE", nest_reverse},
        {"ARRAY_MIN", nest_extreme},
        {"ARRAY_MAX", nest_extreme},
        {"ARRAY_SORT", nest_sort},
        {"MAP_KEYS", nest_half},
        {"MAP_VALUES", nest_half},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (nest_is(c, known[i].name)) {
            bool is_variant = c->e->args > 0 && c->e->arg[0]->type.kind == SR_VARIANT;
            return !is_variant && known[i].run(c); /* parts of a VARIANT: the engine's */
        }
    }
    return false;
}
