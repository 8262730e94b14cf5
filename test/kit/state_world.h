/* A state, one map in it, and what its rows look like: for the kits of keyed state.
 *
 * Rows are texts as in rows.h, of the map's columns: keys, sorts, values.
 */
#ifndef TEST_KIT_STATE_WORLD_H
#define TEST_KIT_STATE_WORLD_H

#include "test/kit/rows.h"
#include "test/kit/state_kit.h"

struct world {
    struct arena *arena;
    struct sr_home *home;
    struct sr_state *state;
    struct sr_map *map;
    const struct sr_schema *schema; /* keys, sorts, values: the columns of the map */
    struct sr_map_def def;
};

extern const uint32_t world_columns[]; /* 0, 1, 2 ... */

struct world world_of(enum sr_map_kind kind, const char *schema, uint32_t keys, uint32_t sorts,
                      uint32_t part, uint32_t parts);
void world_state(struct world *w, uint32_t part, uint32_t parts); /* a new, empty one by w->def */
void world_done(struct world *w);
struct sr_map_keys world_keys(const struct world *w, const struct sr_view *v,
                              const int64_t *spaces);
/* Puts the rows' values into their entries. */
void world_put_values(struct world *w, const struct sr_view *v, const uint32_t *slot);
/* Adds rows by the call that the kind of map takes. */
void world_add(struct world *w, const char *rows, const int64_t *spaces);
/* Entries as rows of all columns. */
const char *world_text(struct world *w, const uint32_t *slot, uint32_t count);
/* All entries of the key of the first of `rows`, from `find` on by `next`. */
const char *world_walk(struct world *w, const char *rows);
void world_remove(struct world *w, const char *rows);
struct sr_out world_saved(const struct world *w);
/* Saves, loads into a new state of one subtask, and goes on with that. */
void world_reborn(struct world *w);
void assert_same_bytes(const struct sr_out *a, const struct sr_out *b);

#endif
