/* Reads saved state (saved.h) without the job that saved it: its maps say what their columns are.
 *
 *   struct reader r;
 *   reader_begin(&r, home, bytes, len)
 *   while (reader_map(&r))            r.map is the next one
 *       while (reader_batch(&r))      some of its entries: columns, and the bytes that they lay in
 *   reader_end(&r)                    after a failure too
 *
 * A map whose columns cannot be told from their text, because a name in it looks like a type, has
 * no batches: its map.columns is 0.
 */
#ifndef SR_STATE_READER_H
#define SR_STATE_READER_H

#include <streamrun/state.h>

#include "engine/base/arena.h"
#include "engine/base/bytes.h"
#include "engine/data/pool.h"

struct reader_map {
    const char *name;
    const char *signature; /* "value map: keys (page STRING), values (rows BIGINT)" */
    enum sr_map_kind kind;
    uint32_t keys, sorts, values;
    uint32_t columns;             /* all of them; 0: not known */
    const struct sr_field *field; /* keys, sorts, values */
};

struct reader_entry {
    uint32_t group;
    int64_t timer; /* SR_TIMER_NONE: none */
    int64_t space; /* the namespace */
    const uint8_t *key, *value;
    uint32_t key_len, value_len; /* bytes of keys and sorts; of values */
};

struct reader {
    struct sr_home *home;
    struct arena *arena;
    struct bytes_in in;    /* of the whole */
    struct bytes_in group; /* of the group that is being read */
    uint32_t maps, groups; /* that are still to come */
    uint32_t entries;      /* of the group, still to come */
    uint32_t number;       /* of the group */
    uint32_t max_parallelism;
    int64_t watermark;
    struct reader_map map;
    struct sr_column **col; /* of the batch */
    struct reader_entry *entry;
    uint32_t rows;
    sr_rc rc; /* SR_OK, SR_ECORRUPT, SR_ENOMEM */
};

/* What a signature says; map->columns is 0 when it cannot be told. SR_ENOMEM. */
sr_rc reader_parse(struct arena *a, const char *signature, struct reader_map *map);
/* The bytes must outlive it. */
sr_rc reader_begin(struct reader *r, struct sr_home *home, const void *bytes, size_t len);
bool reader_map(struct reader *r);   /* false: no more, or r->rc says what failed */
bool reader_batch(struct reader *r); /* the same, of the map's entries; good until the next call */
void reader_end(struct reader *r);

#endif
