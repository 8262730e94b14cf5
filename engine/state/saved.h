/* How saved state lies in bytes. Numbers as in base/bytes.h, values as in data/codec.h.
 *
 *   u32 magic, u32 version, u32 max_parallelism, u64 watermark, u32 maps
 *   a map:    text name, text signature (kind, columns: what must agree), u32 groups, then by
 *             ascending key group: u32 group, u32 entries, u64 bytes that follow, the entries
 *   an entry: u8 flags, [u64 timer], [u64 namespace], keys, sorts, values
 *
 * Within a group entries are ordered by hash, namespace and key, those of one key by sort columns
 * or arrival; so the same state gives the same bytes, however it came about.
 */
#ifndef SR_STATE_SAVED_H
#define SR_STATE_SAVED_H

#include "engine/state/map.h"

#define SAVED_MAGIC   0x54535253u /* "SRST" */
#define SAVED_VERSION 1u

enum { SAVED_TIMER = 1u << 0, SAVED_SPACE = 1u << 1, SAVED_FLAGS = 3u };

/* "value map: keys (page STRING), values (count BIGINT)"; NULL: out of memory. */
const char *saved_signature(struct arena *a, const struct map *m);
/* Columns of the map's types in m->borrowed, each with room for a batch; all or none. */
sr_rc saved_borrow(struct map *m);
void saved_return(struct map *m);

#endif
