/* Bytes of any length for the records of one map: text and nested values.
 *
 * A block is named by 32 bits, so that a record holds it in eight bytes with its length. Blocks
 * come in size classes at most a quarter apart; a freed one waits in the list of its class, and a
 * class never gives its memory to another: a map whose texts change keeps its size. Blocks over
 * HEAP_SMALL_MAX have a chunk of their own, which goes back to the system.
 *
 * While a frozen view lives (freezer.h) no block is overwritten, and what is freed waits.
 */
#ifndef SR_STATE_HEAP_H
#define SR_STATE_HEAP_H

#include <streamrun/error.h>

#include "engine/state/freezer.h"
#include "engine/state/slab.h"

#define HEAP_SMALL_MAX  65536u
#define HEAP_CLASSES    52u
#define HEAP_CHUNK_MAX  (1u << 20) /* bytes of a piece of `slab` */
#define HEAP_CHUNKS_MAX 32767u /* 15 bits of a name; the other 17 are an offset in 8-byte steps */

struct heap_ref {
    uint32_t at;
    uint32_t len; /* 0: no block, `at` means nothing */
};

struct heap_chunk {
    uint8_t *data; /* NULL: the place is free */
    uint32_t capacity, used;
    bool is_of_slab; /* else it has memory of its own */
};

struct heap {
    struct heap_chunk *chunk;
    uint32_t chunks, room;
    uint32_t current; /* chunk that small blocks are cut from; chunks when there is none */
    uint32_t free[HEAP_CLASSES]; /* first free block of a class, plus one; 0: none */
    uint64_t bytes;              /* held */
    struct freezer *freezer;     /* NULL: never frozen */
    struct slab slab;            /* chunks of the largest size for small blocks */
    struct limbo limbo;          /* blocks that a view may read, and nobody else */
};

void heap_init(struct heap *h);
void heap_done(struct heap *h);
/* Replaces what *ref named by a copy of `len` bytes; on failure *ref is as before. `bytes` must not
 * lie in the heap. */
sr_rc heap_set(struct heap *h, struct heap_ref *ref, const void *bytes, uint32_t len);
void heap_clear(struct heap *h, struct heap_ref *ref);
const uint8_t *heap_bytes(const struct heap *h, struct heap_ref ref); /* good until set or clear */

#endif
