/* Maps in memory: how records, the index, texts and timers of one map belong together.
 *
 *   record.c   records: pages, free list, keys written and compared
 *   lookup.c   find and find_or_add of value maps, vectorised
 *   chain.c    entries of one key by arrival (multimap)
 *   tree.c     entries of one key by sort columns (ordered map)
 *   field.c    columns of records in and out
 *   map.c      declaring one, removing, timers
 *   frozen.c, save.c, load.c   views, all of it to bytes and back
 *
 * The index leads from the hash of key and namespace to the key's entry: the only one of a value
 * map, the first of a multimap, the root of an ordered map's tree.
 */
#ifndef SR_STATE_MAP_H
#define SR_STATE_MAP_H

#include <streamrun/state.h>

#include "engine/data/pool.h"
#include "engine/state/freezer.h"
#include "engine/state/heap.h"
#include "engine/state/index.h"
#include "engine/state/timers.h"
#include "engine/state/value.h"

/* What every record begins with. */
struct record {
    uint32_t hash; /* of key and namespace; in a free record the next free slot */
    uint16_t group;
    uint8_t is_used;
    uint8_t nulls; /* the NULL bits of a map of few columns; others have them behind the columns */
    int64_t timer; /* SR_TIMER_NONE: none */
    int64_t space; /* the namespace */
};

/* Behind it: a multimap's neighbours, or an ordered map's place in its tree. */
struct record_chain {
    uint32_t next; /* SR_SLOT_NONE behind the last */
    uint32_t prev; /* the first one's is the last one */
};

struct record_tree {
    uint32_t child[2]; /* before, behind */
    uint32_t parent;   /* SR_SLOT_NONE: the root */
    uint32_t unused;
};

struct map {
    struct sr_map head;
    enum sr_map_kind kind;
    const char *name;
    const bool *is_descending;  /* by sort; NULL: none */
    const bool *begins_at_zero; /* by value; NULL: none */
    bool *has_seen_null;        /* by column: compares of keys without NULLs are shorter */
    uint32_t pages, pages_room;
    uint32_t *born;        /* by page: the epoch it was made in */
    struct slab slab;      /* of pages, old ones too */
    struct limbo old_page; /* that a view may read, and the map has no more */
    struct freezer *freezer;
    uint32_t used; /* slots from this one on were never used */
    uint32_t free; /* first free record, or SR_SLOT_NONE */
    struct index index;
    struct heap heap;
    struct timers timers;
    struct sr_column **borrowed; /* room for a pointer a column, during one call */
};

/* Room that the calls of all maps of a state share; nothing in it outlives a call. */
struct scratch {
    struct sr_view view; /* rows of a call, as rowhash wants them */
    uint64_t hash64[SR_BATCH_ROWS];
    uint32_t hash[SR_BATCH_ROWS];
    uint32_t candidate[SR_BATCH_ROWS]; /* slots whose keys are to be compared */
    uint8_t is_other[SR_BATCH_ROWS];
    struct timer due[SR_BATCH_ROWS];
};

struct state {
    struct sr_state head;
    const char *uid;
    struct arena *arena;
    struct sr_home *home; /* columns of save, load and rekey */
    uint32_t group_first, group_end;
    bool is_loaded;    /* from at least one subtask: its watermark counts */
    const char *grown; /* for people: columns that were added since it was saved; NULL: none */
    struct map *map[SR_MAPS_MAX];
    uint32_t maps;
    struct freezer freezer;
    atomic_uint refs; /* the owner's, and one a view; the last one frees */
    struct scratch scratch;
};

static inline struct map *map_of(struct sr_map *m) { return (struct map *)m; }

static inline const struct map *map_of_const(const struct sr_map *m)
{
    return (const struct map *)m;
}

static inline struct state *map_state(const struct map *m) { return (struct state *)m->head.state; }

static inline struct record *record_at(const struct map *m, uint32_t slot)
{
    return (struct record *)(void *)sr_map_record(&m->head, slot);
}

static inline struct record_chain *record_chain(const struct map *m, uint32_t slot)
{
    return (struct record_chain *)(void *)(sr_map_record(&m->head, slot) + sizeof(struct record));
}

static inline struct record_tree *record_tree(const struct map *m, uint32_t slot)
{
    return (struct record_tree *)(void *)(sr_map_record(&m->head, slot) + sizeof(struct record));
}

/* Row number of the i-th row of a call. */
static inline uint32_t keys_row(const struct sr_map_keys *k, uint32_t i)
{
    return k->row ? k->row[i] : i;
}

static inline int64_t keys_space(const struct sr_map_keys *k, uint32_t i)
{
    return k->namespaces ? k->namespaces[i] : 0;
}

void state_unref(struct state *s); /* any thread */

/* Part of the order of timers and of saved bytes: may never change. */
static inline uint32_t map_hash(uint64_t key_hash, int64_t space)
{
    uint64_t h = key_hash ^ (uint64_t)space * UINT64_C(0x9e3779b97f4a7c15);
    h ^= h >> 32;
    h *= UINT64_C(0xd6e8feb86659fd93);
    return (uint32_t)(h >> 32);
}

/* --- record.c --------------------------------------------------------------------------------- */

/* Hashes of the rows' keys into scratch->hash64 and, with namespaces, scratch->hash. */
void record_hash(struct map *m, const struct sr_map_keys *k);
/* A new record that holds the keys (and sorts) of row i; scratch holds its hashes. Not indexed. */
sr_rc record_new(struct map *m, const struct sr_map_keys *k, uint32_t i, uint32_t *slot);
void record_free(struct map *m, uint32_t slot);
struct value record_value(const struct map *m, uint32_t slot, uint32_t c); /* not nested */
void record_own_page(struct map *m, uint32_t page);
/* Whoever writes to a record calls this first: it moves its page away from views that are read.
 * Pointers into the page are good no more, if it was not owned since the last freeze. */
static inline void record_own(struct map *m, uint32_t slot)
{
    if (m->freezer->frozen != 0) {
        record_own_page(m, slot >> m->head.shift);
    }
}
/* Frees some of what views do not hold any more. */
void record_settle(struct map *m, uint32_t count);
bool record_has_keys(const struct map *m, uint32_t slot, const struct sr_map_keys *k, uint32_t i);
/* An order of entries: by hash, namespace, key columns, then sort columns or arrival. */
int record_compare(const struct map *m, uint32_t a, uint32_t b);
/* The key's entry in the index, or SR_SLOT_NONE; scratch holds the hashes. */
uint32_t record_indexed(const struct map *m, const struct sr_map_keys *k, uint32_t i);
/* The indexed entry with the keys that `slot` has. */
uint32_t record_leader(const struct map *m, uint32_t slot);

/* --- lookup.c --------------------------------------------------------------------------------- */

sr_rc lookup_find(struct map *m, const struct sr_map_keys *k, uint32_t *slot);
sr_rc lookup_find_or_add(struct map *m, const struct sr_map_keys *k, uint32_t *slot, bool *is_new);

/* --- chain.c ---------------------------------------------------------------------------------- */

sr_rc chain_add(struct map *m, const struct sr_map_keys *k, uint32_t *slot);
void chain_remove(struct map *m, uint32_t slot); /* out of chain and index, not freed */
uint32_t chain_next(const struct map *m, uint32_t slot);
uint32_t chain_prev(const struct map *m, uint32_t slot);

/* --- tree.c ----------------------------------------------------------------------------------- */

sr_rc tree_find_or_add(struct map *m, const struct sr_map_keys *k, uint32_t *slot, bool *is_new);
enum tree_seek { TREE_EXACT, TREE_FIRST, TREE_LAST, TREE_NOT_BEFORE };
sr_rc tree_seek(struct map *m, const struct sr_map_keys *k, enum tree_seek how, uint32_t *slot);
void tree_remove(struct map *m, uint32_t slot); /* out of tree and index, not freed */
uint32_t tree_step(const struct map *m, uint32_t slot, uint32_t side); /* 0: back, 1: forth */
uint32_t tree_end(const struct map *m, uint32_t root, uint32_t side);

/* --- field.c ---------------------------------------------------------------------------------- */

sr_rc field_get(const struct map *m, const uint32_t *slot, uint32_t count, uint32_t c,
                struct sr_home *home, struct sr_column *to);
sr_rc field_put(struct map *m, const uint32_t *slot, uint32_t count, uint32_t c,
                const struct sr_column *from, const uint16_t *row);

/* --- map.c ------------------------------------------------------------------------------------ */

sr_rc map_new(struct state *s, const struct sr_map_def *def, struct map **out,
              struct sr_error *err);
void map_free(struct map *m); /* NULL allowed; no view is left */
uint64_t map_bytes(const struct map *m);
/* The neighbour under the same key; 0: back, 1: forth. */
uint32_t map_step(const struct map *m, uint32_t slot, uint32_t side);
extern const struct sr_state_calls map_calls;

#endif
