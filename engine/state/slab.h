/* Pieces of one size, cut from larger and larger regions.
 *
 * Large regions lie in huge pages: they are filled with few faults, read with few misses. A piece
 * that was put back is the next one to be taken: what a checkpoint's copies of pages needed once is
 * there for the next checkpoint, and touching it costs no fault. Nothing goes back to the system
 * before slab_done.
 */
#ifndef SR_STATE_SLAB_H
#define SR_STATE_SLAB_H

#include <stddef.h>
#include <stdint.h>

struct slab_region;

struct slab {
    size_t piece_bytes;         /* a multiple of 16 */
    struct slab_region *region; /* the newest first */
    uint8_t *next, *end;        /* of it: what was never taken */
    void *free;                 /* pieces that were put back, each with the address of another */
    uint32_t pieces;            /* that the regions have */
};

void slab_init(struct slab *s, size_t piece_bytes);
void slab_done(struct slab *s); /* pieces that are still out are gone too */
/* Room for `pieces` at once, if that is much; the region's memory, to be made ready (base/warm.h).
 * 0: slab_take will grow as it goes. */
size_t slab_reserve(struct slab *s, uint64_t pieces, void **memory);
void *slab_take(struct slab *s);            /* not cleared; NULL: out of memory */
void slab_put(struct slab *s, void *piece); /* NULL allowed */

#endif
