#include "engine/state/slab.h"

#include <sanitizer/asan_interface.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/huge.h"
#include "engine/base/warm.h"

#define SLAB_REGION_BYTES ((size_t)8 << 20) /* at most, unless a piece is larger */
#define SLAB_ALIGN        ((size_t)2 << 20) /* of large regions: so that huge pages fill them */

/* Beside its region, which is pieces from its first byte on. */
struct slab_region {
    struct slab_region *before;
    void *memory;
};

/* As many pieces as there are, so that a small state stays small; at least one. */
static size_t slab_next_pieces(const struct slab *s)
{
    size_t most = SLAB_REGION_BYTES / s->piece_bytes;
    size_t pieces = s->pieces < most ? s->pieces : most;
    return pieces > 0 ? pieces : 1;
}

static void *slab_memory(size_t bytes)
{
    if (bytes < SLAB_REGION_BYTES / 2) {
        return malloc(bytes);
    }
    void *memory = aligned_alloc(SLAB_ALIGN, (bytes + SLAB_ALIGN - 1) & ~(SLAB_ALIGN - 1));
    huge_advise(memory, bytes);
    return memory;
}

static void *slab_grow(struct slab *s, size_t pieces)
{
    struct slab_region *r = malloc(sizeof(*r));
    uint8_t *memory = r ? slab_memory(pieces * s->piece_bytes) : NULL;
    if (!memory) {
        free(r);
        return NULL;
    }
    *r = (struct slab_region){.before = s->region, .memory = memory};
    s->region = r;
    s->next = memory;
    s->end = memory + pieces * s->piece_bytes;
    s->pieces += (uint32_t)pieces;
    return memory;
}

void slab_init(struct slab *s, size_t piece_bytes)
{
    sr_assert(piece_bytes >= sizeof(void *) && piece_bytes % 16 == 0);
    *s = (struct slab){.piece_bytes = piece_bytes};
}

void slab_done(struct slab *s)
{
    for (struct slab_region *r = s->region; r;) {
        struct slab_region *before = r->before;
        free(r->memory);
        free(r);
        r = before;
    }
    *s = (struct slab){.piece_bytes = s->piece_bytes};
}

size_t slab_reserve(struct slab *s, uint64_t pieces, void **memory)
{
    uint64_t left = (size_t)(s->end - s->next) / s->piece_bytes;
    if (pieces <= left || (pieces - left) > UINT32_MAX / 2 - s->pieces ||
        (pieces - left) * s->piece_bytes < WARM_LEAST) {
        return 0;
    }
    while (s->next != s->end) { /* what is left of the region is the last that will be taken */
        s->next += s->piece_bytes;
        slab_put(s, s->next - s->piece_bytes);
    }
    *memory = slab_grow(s, (size_t)(pieces - left));
    return *memory ? (size_t)(s->end - s->next) : 0;
}

void *slab_take(struct slab *s)
{
    if (s->free) {
        void *piece = s->free;
        memcpy(&s->free, piece, sizeof(s->free));
        ASAN_UNPOISON_MEMORY_REGION(piece, s->piece_bytes);
        return piece;
    }
    if (s->next == s->end && !slab_grow(s, slab_next_pieces(s))) {
        return NULL;
    }
    void *piece = s->next;
    s->next += s->piece_bytes;
    return piece;
}

void slab_put(struct slab *s, void *piece)
{
    if (!piece) {
        return;
    }
    memcpy(piece, &s->free, sizeof(s->free));
    s->free = piece;
    ASAN_POISON_MEMORY_REGION((uint8_t *)piece + 16, s->piece_bytes - 16);
}
