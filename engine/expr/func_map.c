/* Functions over maps. */
#include "engine/expr/elements.h"
#include "engine/expr/family.h"
#include "engine/expr/nest.h"

static void map_half(struct call *k, uint32_t which)
{
    CALL_EACH_ROW(k, r)
    {
        struct sr_span s = elements_has_all(k, r) ? elements_at(k, 0, r) : (struct sr_span){0, 0};
        for (uint32_t n = s.at; n < s.at + s.len; n++) {
            elements_add(k, r, k->arg[0]->child[which], n);
        }
    }
}
static void map_keys(struct call *k) { map_half(k, 0); }
static void map_values(struct call *k) { map_half(k, 1); }
static const struct kernel map_k_half[2] = {{.run = map_keys, .flags = KERNEL_NULLS},
                                            {.run = map_values, .flags = KERNEL_NULLS}};

static bool map_bind_half(struct bind_call *b)
{
    const struct sr_type *t = &b->arg[0]->type;
    if (t->kind != SR_MAP) {
        return false;
    }
    struct sr_type array = nest_type(b->arena, t->child[b->func->data].type, NULL);
    array.is_nullable = t->is_nullable;
    return elements_settle(b, array, &map_k_half[b->func->data]);
}

static void map_of_arrays(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        if (!elements_has_all(k, r)) {
            continue;
        }
        struct sr_span keys = elements_at(k, 0, r), values = elements_at(k, 1, r);
        if (keys.len != values.len) {
            call_fail(k, r, "MAP_FROM_ARRAYS takes a value for each key, not %u for %u", values.len,
                      keys.len);
            continue;
        }
        for (uint32_t n = 0; n < keys.len; n++) {
            elements_add(k, r, k->arg[0]->child[0], keys.at + n);
            if (!nest_append(k->home, k->out, 1, k->arg[1]->child[0], values.at + n)) {
                call_broken(k, SR_ENOMEM);
            }
        }
    }
}
static const struct kernel map_k_of_arrays = {.run = map_of_arrays,
                                              .flags = KERNEL_NULLS | KERNEL_FAILS};

static bool map_bind_of_arrays(struct bind_call *b)
{
    const struct sr_type *x = &b->arg[0]->type, *y = &b->arg[1]->type;
    if (x->kind != SR_ARRAY || y->kind != SR_ARRAY) {
        return false;
    }
    struct sr_type t = nest_type(b->arena, x->child[0].type, &y->child[0].type);
    t.is_nullable = bind_any_nullable(b);
    return elements_settle(b, t, &map_k_of_arrays);
}

/* --- The table. ------------------------------------------------------------------------------- */

#define MAP_ROW(title, low, high, binds, what, form, words)                            \
    {                                                                                  \
        .name = title, .family = "collection", .bind = binds, .min = low, .max = high, \
        .data = what, .forms = form, .doc = words                                      \
    }

static const struct func map_funcs[] = {
    MAP_ROW("MAP_KEYS", 1, 1, map_bind_half, 0, "MAP_KEYS(map)", "The keys, as an array."),
    MAP_ROW("MAP_VALUES", 1, 1, map_bind_half, 1, "MAP_VALUES(map)", "The values, as an array."),
    MAP_ROW("MAP_FROM_ARRAYS", 2, 2, map_bind_of_arrays, 0, "MAP_FROM_ARRAYS(keys, values)",
            "A map of two arrays of the same length."),
};

const struct func_family func_map = {map_funcs, sizeof(map_funcs) / sizeof(map_funcs[0])};
