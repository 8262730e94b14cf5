/* Keyed memory that survives: maps from key columns to records, with a timer an entry.
 *
 * All that an operator must know again after a crash lies here. The engine saves it at a barrier
 * and loads it, at another parallelism too: every entry belongs to the key group of its key
 * columns. So an operator has no snapshot code, and cannot forget any.
 *
 *   value map    one entry a key                               running aggregates, windows
 *   multimap     any number of entries a key, by arrival       joins
 *   ordered map  entries of a key by their sort columns        Top-N, OVER, interval joins
 *
 * A key may carry a namespace, a number that takes no part in the key group: a window is a
 * namespace (its end), and merging windows re-keys entries. An entry has at most one timer, which
 * is saved with it and goes with it.
 *
 * An entry is named by its slot. Slots are good until the next call that adds an entry to the map
 * or removes that one, and no longer than the operator's own call: a checkpoint may come between
 * two. Whoever wrote through one owes nothing: entries that were handed out count as written.
 * Columns of a map are numbered: keys, then sorts, then values; a column of fixed size lies in the
 * entry's record, in the layout of batch.h; text and nested values go through calls.
 *
 *   open: { map }*  ->  process, watermark: { find_or_add | set_timer | due | remove | ... }*
 *
 * One state belongs to one operator instance and its thread. Calls that answer sr_rc fail with
 * SR_ENOMEM, or with SR_ELIMIT beyond SR_MAP_ENTRIES_MAX, and have changed nothing that is visible
 * but that rows before the failing one may have their entries.
 */
#ifndef STREAMRUN_STATE_H
#define STREAMRUN_STATE_H

#include <streamrun/batch.h>
#include <streamrun/error.h>

#define SR_SLOT_NONE       UINT32_MAX
#define SR_TIMER_NONE      INT64_MIN   /* no timer is set */
#define SR_MAP_ENTRIES_MAX 0x7fffffffu /* of one map in one subtask */
#define SR_MAP_COLUMNS_MAX 1024u       /* keys, sorts and values */
#define SR_MAPS_MAX        16u         /* of one operator */

struct sr_state;
struct sr_map;

enum sr_map_kind { SR_MAP_VALUE, SR_MAP_MULTI, SR_MAP_ORDERED };

/* What a map holds. Names and types are saved with it: state of other columns is a misfit, told
 * with both sides. The declaration is copied. Key and sort columns may not be nested. */
struct sr_map_def {
    uint32_t size;
    const char *name; /* unique in the operator: "groups" */
    enum sr_map_kind kind;
    uint32_t keys; /* 0: one key, the empty one, in key group 0 */
    const struct sr_field *key;
    uint32_t sorts; /* SR_MAP_ORDERED only, then at least 1 */
    const struct sr_field *sort;
    const bool *sort_is_descending; /* by sort; NULL: all ascend. NULLs come first when ascending */
    uint32_t values;
    const struct sr_field *value;
    /* By value: what it holds in entries that were saved before it was declared, behind those that
     * were: true: 0; false, or NULL for all: NULL. */
    const bool *value_begins_at_zero;
};

/* The keys of a call: `count` rows of a view. */
struct sr_map_keys {
    const struct sr_view *view;
    const uint32_t *key;       /* view columns that hold the key columns, in order and type */
    const uint32_t *sort;      /* likewise the sort columns; NULL when the map has none */
    const uint16_t *row;       /* row numbers; NULL: the rows 0 to count - 1 */
    uint32_t count;            /* at most SR_BATCH_ROWS */
    const int64_t *namespaces; /* by index into `row`; NULL: all 0 */
};

/* Where a column lies in a record. */
struct sr_map_column {
    const char *name;
    struct sr_type type;
    uint32_t offset;
};

struct sr_state_calls {
    uint32_t size;
    /* Declares a map; in open only. It belongs to the state. */
    sr_rc (*map)(struct sr_state *s, const struct sr_map_def *def, struct sr_map **out,
                 struct sr_error *err);

    /* Each row's entry; a new one holds NULL in every value column and zeroed records. The same key
     * twice gives the same slot, new the first time only. Ordered maps: by key and sort columns.
     * Not for multimaps. */
    sr_rc (*find_or_add)(struct sr_map *m, const struct sr_map_keys *k, uint32_t *slot,
                         bool *is_new);
    /* Each row's entry, or SR_SLOT_NONE. A multimap's or (with k->sort NULL) an ordered map's first
     * entry of the key: go on with `next`. */
    sr_rc (*find)(struct sr_map *m, const struct sr_map_keys *k, uint32_t *slot);
    /* Multimap: a new entry for every row, behind those of its key. */
    sr_rc (*add)(struct sr_map *m, const struct sr_map_keys *k, uint32_t *slot);
    /* Ordered map: the first entry of the key that is not before the sort columns; or NONE. */
    sr_rc (*seek)(struct sr_map *m, const struct sr_map_keys *k, uint32_t *slot);
    /* Ordered map: the last entry of the key; or NONE. */
    sr_rc (*last)(struct sr_map *m, const struct sr_map_keys *k, uint32_t *slot);
    /* Neighbours under the same key and namespace; SR_SLOT_NONE at either end. */
    uint32_t (*next)(const struct sr_map *m, uint32_t slot);
    uint32_t (*prev)(const struct sr_map *m, uint32_t slot);
    void (*remove)(struct sr_map *m, const uint32_t *slot, uint32_t count);
    /* Value map: moves an entry to another namespace of its key; SR_EEXISTS when one is there. */
    sr_rc (*rekey)(struct sr_map *m, uint32_t slot, int64_t to);
    /* Every entry once, at most `max` a call: *cursor is 0 at first; answers how many, 0 at the
     * end. The order means nothing: rows that go out are ordered by timers or an ordered map.
     * Removing entries that were visited is allowed, adding is not. */
    uint32_t (*each)(const struct sr_map *m, uint64_t *cursor, uint32_t *slot, uint32_t max);

    /* Column `c` of entries: behind the rows of a column that is being filled... */
    sr_rc (*get)(const struct sr_map *m, const uint32_t *slot, uint32_t count, uint32_t c,
                 struct sr_home *home, struct sr_column *to);
    /* ... and from rows of one (row NULL: rows 0 to count - 1); value columns only. */
    sr_rc (*put)(struct sr_map *m, const uint32_t *slot, uint32_t count, uint32_t c,
                 const struct sr_column *from, const uint16_t *row);
    /* Bytes of a text value; good until the next call that adds, removes or sets. */
    const uint8_t *(*text)(const struct sr_map *m, uint32_t slot, uint32_t c, uint32_t *len);
    sr_rc (*set_text)(struct sr_map *m, uint32_t slot, uint32_t c, const void *bytes, uint32_t len);

    /* Sets, moves or (SR_TIMER_NONE) clears the entry's timer; ms of event time. */
    sr_rc (*set_timer)(struct sr_map *m, uint32_t slot, int64_t ms);
    /* Takes the next entries whose timer is at or before `until`, at most `max` of them (and a
     * batch), and clears their timers; *count says how many, 0: none is due. They come by time,
     * then in an order of keys that is the same in every run; `ms`, by entry, may be NULL. */
    sr_rc (*due)(struct sr_map *m, int64_t until, uint32_t max, uint32_t *slot, int64_t *ms,
                 uint32_t *count);
};

struct sr_state {
    const struct sr_state_calls *calls;
    uint32_t max_parallelism;
    uint32_t part, parts;
    /* The last watermark that the operator was told, kept by the operator and saved with the rest;
     * SR_WATERMARK_NONE at first. After a restore the lowest of what the subtasks had. */
    int64_t watermark;
};

/* What lies in front of every backend's map. Read-only but for the records. */
struct sr_map {
    struct sr_state *state;
    uint8_t **page;  /* records, 1 << shift a page */
    uint32_t stride; /* bytes of a record; a multiple of 8 */
    uint32_t shift;
    uint32_t nulls;        /* offset of the null bits in a record: one a column, set: NULL */
    uint32_t namespace_at; /* offset of the int64_t namespace */
    uint32_t keys, sorts, values;
    const struct sr_map_column *column; /* keys, sorts, values */
    uint64_t entries;                   /* alive */
};

static inline uint8_t *sr_map_record(const struct sr_map *m, uint32_t slot)
{
    uint32_t in_page = slot & ((1u << m->shift) - 1u);
    return m->page[slot >> m->shift] + (size_t)in_page * m->stride;
}

/* Where column c of a fixed size lies; the record is aligned for every type of batch.h. */
static inline void *sr_map_at(const struct sr_map *m, uint32_t slot, uint32_t c)
{
    return sr_map_record(m, slot) + m->column[c].offset;
}

static inline int64_t sr_map_namespace(const struct sr_map *m, uint32_t slot)
{
    return *(const int64_t *)(const void *)(sr_map_record(m, slot) + m->namespace_at);
}

static inline bool sr_map_is_null(const struct sr_map *m, uint32_t slot, uint32_t c)
{
    return (sr_map_record(m, slot)[m->nulls + (c >> 3)] >> (c & 7) & 1) != 0;
}

/* Values of fixed size are written through sr_map_at, then said to be there or not. */
static inline void sr_map_set_null(struct sr_map *m, uint32_t slot, uint32_t c, bool is_null)
{
    uint8_t *bits = sr_map_record(m, slot) + m->nulls + (c >> 3);
    uint8_t bit = (uint8_t)(1u << (c & 7));
    *bits = is_null ? (uint8_t)(*bits | bit) : (uint8_t)(*bits & ~bit);
}

#endif
