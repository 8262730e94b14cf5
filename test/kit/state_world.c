#include "test/kit/state_world.h"

#include <string.h>

#include "test/kit/rows.h"
#include "test/unit/unit.h"

const uint32_t world_columns[] = {0, 1, 2, 3, 4, 5, 6, 7};

void world_state(struct world *w, uint32_t part, uint32_t parts)
{
    struct sr_error err = {0};
    struct state_conf conf = {
        .max_parallelism = 128, .part = part, .parts = parts, .uid = "totals"};
    ck_assert_int_eq(state_kit_backend.make(&w->state, &conf, &err), SR_OK);
    ck_assert_msg(w->state->calls->map(w->state, &w->def, &w->map, &err) == SR_OK, "%s", err.words);
}

struct world world_of(enum sr_map_kind kind, const char *schema, uint32_t keys, uint32_t sorts,
                      uint32_t part, uint32_t parts)
{
    struct world w = {.arena = arena_new(), .home = home_new()};
    w.schema = rows_schema(w.arena, schema);
    w.def = (struct sr_map_def){.size = sizeof(w.def),
                                .name = "groups",
                                .kind = kind,
                                .keys = keys,
                                .key = w.schema->field,
                                .sorts = sorts,
                                .sort = w.schema->field + keys,
                                .values = w.schema->fields - keys - sorts,
                                .value = w.schema->field + keys + sorts};
    world_state(&w, part, parts);
    return w;
}

void world_done(struct world *w)
{
    state_kit_backend.free(w->state);
    home_close(w->home);
    arena_free(w->arena);
}

struct sr_map_keys world_keys(const struct world *w, const struct sr_view *v, const int64_t *spaces)
{
    return (struct sr_map_keys){.view = v,
                                .key = world_columns,
                                .sort = w->def.sorts > 0 ? world_columns + w->def.keys : NULL,
                                .count = v->rows,
                                .namespaces = spaces};
}

/* Puts the rows' values into their entries. */
void world_put_values(struct world *w, const struct sr_view *v, const uint32_t *slot)
{
    for (uint32_t c = w->def.keys + w->def.sorts; c < w->schema->fields; c++) {
        ck_assert_int_eq(w->state->calls->put(w->map, slot, v->rows, c, v->col[c], NULL), SR_OK);
    }
}

/* Adds rows "key,...,value..." by the call that the kind of map takes. */
void world_add(struct world *w, const char *rows, const int64_t *spaces)
{
    struct sr_view *v = rows_view(w->home, w->schema, rows);
    struct sr_map_keys k = world_keys(w, v, spaces);
    uint32_t slot[SR_BATCH_ROWS];
    bool is_new[SR_BATCH_ROWS];
    sr_rc rc = w->def.kind == SR_MAP_MULTI ? w->state->calls->add(w->map, &k, slot)
                                           : w->state->calls->find_or_add(w->map, &k, slot, is_new);
    ck_assert_int_eq(rc, SR_OK);
    world_put_values(w, v, slot);
    view_release(v);
}

/* Entries as rows of all columns. */
const char *world_text(struct world *w, const uint32_t *slot, uint32_t count)
{
    struct sr_view *v = rows_empty(w->home, w->schema);
    v->rows = v->picked = count;
    for (uint32_t c = 0; c < w->schema->fields; c++) {
        ck_assert_int_eq(w->state->calls->get(w->map, slot, count, c, w->home, v->col[c]), SR_OK);
    }
    const char *text = rows_text(w->arena, v);
    view_release(v);
    return text;
}

/* All entries of the key of the first of `rows`, from `find` on by `next`. */
const char *world_walk(struct world *w, const char *rows)
{
    struct sr_view *v = rows_view(w->home, w->schema, rows);
    struct sr_map_keys k = world_keys(w, v, NULL);
    k.sort = NULL;
    uint32_t slot[SR_BATCH_ROWS], first[SR_BATCH_ROWS];
    uint32_t n = 0;
    ck_assert_int_eq(w->state->calls->find(w->map, &k, first), SR_OK);
    uint32_t before = SR_SLOT_NONE;
    for (uint32_t s = first[0]; s != SR_SLOT_NONE; s = w->state->calls->next(w->map, s)) {
        ck_assert_uint_eq(w->state->calls->prev(w->map, s), before);
        before = slot[n++] = s;
    }
    view_release(v);
    return world_text(w, slot, n);
}

void world_remove(struct world *w, const char *rows)
{
    struct sr_view *v = rows_view(w->home, w->schema, rows);
    struct sr_map_keys k = world_keys(w, v, NULL);
    uint32_t slot[SR_BATCH_ROWS];
    ck_assert_int_eq(w->state->calls->find(w->map, &k, slot), SR_OK);
    ck_assert_uint_ne(slot[0], SR_SLOT_NONE);
    w->state->calls->remove(w->map, slot, 1);
    view_release(v);
}

struct sr_out world_saved(const struct world *w)
{
    struct sr_out out = bytes_out();
    struct sr_error err = {0};
    ck_assert_int_eq(state_kit_backend.save(w->state, &out, &err), SR_OK);
    return out;
}

void assert_same_bytes(const struct sr_out *a, const struct sr_out *b)
{
    ck_assert_uint_eq(a->len, b->len);
    ck_assert_int_eq(memcmp(a->data, b->data, a->len), 0);
}

/* Saves, loads into a new state of one subtask, and goes on with that. */
void world_reborn(struct world *w)
{
    struct sr_out out = world_saved(w);
    struct sr_error err = {0};
    state_kit_backend.free(w->state);
    world_state(w, 0, 1);
    ck_assert_msg(state_kit_backend.load(w->state, out.data, out.len, &err) == SR_OK, "%s",
                  err.words);
    struct sr_out again = world_saved(w);
    assert_same_bytes(&out, &again);
    bytes_free(&again);
    bytes_free(&out);
}
