/* From the values of key columns to a hash, a key group, a subtask.
 *
 * The hash is over a canonical form of the values (type kind, NULL or value bytes, text by its
 * bytes), so it is the same in every process and version: key groups of saved state depend on it.
 */
#ifndef SR_DATA_ROWHASH_H
#define SR_DATA_ROWHASH_H

#include <streamrun/batch.h>

#define KEY_GROUPS_DEFAULT 128u
#define KEY_GROUPS_MAX     32768u

/* hash[i] for the i-th live row from `from`, `count` of them. */
void rowhash(const struct sr_view *v, const uint32_t *cols, uint32_t ncols, uint32_t from,
             uint32_t count, uint64_t *hash);

static inline uint32_t key_group(uint64_t hash, uint32_t max_parallelism)
{
    return (uint32_t)(hash >> 32) % max_parallelism;
}

/* Which subtask owns a key group, and which groups a subtask owns: Flink's arithmetic. */
static inline uint32_t key_group_part(uint32_t group, uint32_t max_parallelism, uint32_t parts)
{
    return (uint32_t)((uint64_t)group * parts / max_parallelism);
}

static inline uint32_t key_group_first(uint32_t part, uint32_t max_parallelism, uint32_t parts)
{
    return (uint32_t)(((uint64_t)part * max_parallelism + parts - 1) / parts);
}

#endif
