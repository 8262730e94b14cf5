#include "engine/state/heap.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/room.h"

#define HEAP_OFFSET_BITS 17u
#define HEAP_CHUNK_MIN   4096u

/* Sizes 8, 16 ... 128, then four steps between powers of two. */
static uint32_t heap_class(uint32_t len, uint32_t *size)
{
    sr_assert_hot(len > 0 && len <= HEAP_SMALL_MAX);
    if (len <= 128) {
        uint32_t eights = (len + 7) / 8;
        *size = eights * 8;
        return eights - 1;
    }
    uint32_t power = 31u - (uint32_t)__builtin_clz(len - 1);
    uint32_t quarter = (len - 1) >> (power - 2); /* 4 to 7 */
    *size = (quarter + 1) << (power - 2);
    return 16 + (power - 7) * 4 + (quarter - 4);
}

static uint8_t *heap_block(const struct heap *h, uint32_t at)
{
    uint32_t chunk = at >> HEAP_OFFSET_BITS;
    uint32_t offset = (at & ((1u << HEAP_OFFSET_BITS) - 1)) * 8;
    sr_assert_hot(chunk < h->chunks && h->chunk[chunk].data != NULL);
    return h->chunk[chunk].data + offset;
}

/* A place for one more chunk: an empty one, or behind the last. */
static sr_rc heap_place(struct heap *h, uint32_t *place)
{
    for (uint32_t i = 0; i < h->chunks && h->chunks == h->room; i++) {
        if (!h->chunk[i].data) {
            *place = i;
            return SR_OK;
        }
    }
    if (h->chunks == HEAP_CHUNKS_MAX) {
        return SR_ELIMIT;
    }
    struct heap_chunk *chunk = room_for_one(h->chunk, h->chunks, &h->room, sizeof(*chunk));
    if (!chunk) {
        return SR_ENOMEM;
    }
    h->chunk = chunk;
    *place = h->chunks++;
    h->chunk[*place] = (struct heap_chunk){0};
    return SR_OK;
}

static void heap_free_chunk(struct heap *h, const struct heap_chunk *chunk)
{
    if (chunk->is_of_slab) {
        slab_put(&h->slab, chunk->data);
    } else {
        free(chunk->data);
    }
}

static sr_rc heap_add_chunk(struct heap *h, uint32_t capacity, bool is_of_slab, uint32_t *place)
{
    struct heap_chunk chunk = {.data = is_of_slab ? slab_take(&h->slab) : malloc(capacity),
                               .capacity = capacity,
                               .is_of_slab = is_of_slab};
    if (!chunk.data) {
        return SR_ENOMEM;
    }
    sr_rc rc = heap_place(h, place);
    if (rc != SR_OK) {
        heap_free_chunk(h, &chunk);
        return rc;
    }
    h->chunk[*place] = chunk;
    h->bytes += capacity;
    return SR_OK;
}

static sr_rc heap_take_small(struct heap *h, uint32_t len, uint32_t *at)
{
    uint32_t size;
    uint32_t class = heap_class(len, &size);
    if (h->free[class] != 0) {
        *at = h->free[class] - 1;
        memcpy(&h->free[class], heap_block(h, *at), sizeof(h->free[class]));
        return SR_OK;
    }
    if (h->current >= h->chunks ||
        h->chunk[h->current].capacity - h->chunk[h->current].used < size) {
        uint32_t capacity = HEAP_CHUNK_MIN;
        while (capacity < HEAP_CHUNK_MAX && (capacity < h->bytes || capacity < size)) {
            capacity *= 2;
        }
        uint32_t place;
        sr_rc rc = heap_add_chunk(h, capacity, capacity == HEAP_CHUNK_MAX, &place);
        if (rc != SR_OK) {
            return rc;
        }
        h->current = place;
    }
    struct heap_chunk *chunk = &h->chunk[h->current];
    *at = h->current << HEAP_OFFSET_BITS | chunk->used / 8;
    chunk->used += size;
    return SR_OK;
}

static sr_rc heap_take(struct heap *h, uint32_t len, uint32_t *at)
{
    if (len <= HEAP_SMALL_MAX) {
        return heap_take_small(h, len, at);
    }
    uint32_t place;
    sr_rc rc = heap_add_chunk(h, len, false, &place);
    if (rc == SR_OK) {
        h->chunk[place].used = len;
        *at = place << HEAP_OFFSET_BITS;
    }
    return rc;
}

static bool heap_fits(struct heap_ref ref, uint32_t len)
{
    if (ref.len == 0 || ref.len > HEAP_SMALL_MAX || len > HEAP_SMALL_MAX) {
        return false;
    }
    uint32_t size, other;
    return heap_class(ref.len, &size) == heap_class(len, &other);
}

static bool heap_is_frozen(const struct heap *h) { return h->freezer && h->freezer->frozen != 0; }

/* To the list of its class. */
static void heap_free_small(struct heap *h, uint32_t at, uint32_t len)
{
    uint32_t size;
    uint32_t class = heap_class(len, &size);
    memcpy(heap_block(h, at), &h->free[class], sizeof(h->free[class]));
    h->free[class] = at + 1;
}

/* Some of what no view can read any more. */
static void heap_settle(struct heap *h)
{
    struct limbo_item old;
    for (uint32_t n = 0; n < 4 && limbo_take(&h->limbo, h->freezer->oldest, &old); n++) {
        if (old.memory) {
            h->bytes -= old.len;
            free(old.memory);
        } else {
            heap_free_small(h, old.at, old.len);
        }
    }
}

/* False: nobody can read it, or no view can be read any more. */
static bool heap_put_aside(struct heap *h, const struct limbo_item *item)
{
    if (!heap_is_frozen(h)) {
        return false;
    }
    if (limbo_put(&h->limbo, item)) {
        return true;
    }
    freezer_break(h->freezer);
    return false;
}

void heap_init(struct heap *h)
{
    *h = (struct heap){0};
    slab_init(&h->slab, HEAP_CHUNK_MAX);
}

void heap_done(struct heap *h)
{
    for (uint32_t i = 0; i < h->chunks; i++) {
        heap_free_chunk(h, &h->chunk[i]);
    }
    free(h->chunk);
    slab_done(&h->slab);
    limbo_done(&h->limbo);
    heap_init(h);
}

void heap_clear(struct heap *h, struct heap_ref *ref)
{
    struct limbo_item old = {
        .at = ref->at, .len = ref->len, .epoch = h->freezer ? h->freezer->epoch : 0};
    if (ref->len > HEAP_SMALL_MAX) {
        struct heap_chunk *chunk = &h->chunk[ref->at >> HEAP_OFFSET_BITS];
        old.memory = chunk->data;
        if (!heap_put_aside(h, &old)) {
            h->bytes -= chunk->capacity;
            free(chunk->data);
        }
        *chunk = (struct heap_chunk){0};
    } else if (ref->len > 0 && !heap_put_aside(h, &old)) {
        heap_free_small(h, ref->at, ref->len);
    }
    *ref = (struct heap_ref){0};
}

sr_rc heap_set(struct heap *h, struct heap_ref *ref, const void *bytes, uint32_t len)
{
    if (h->limbo.count > 0) {
        heap_settle(h);
    }
    if (len == 0) {
        heap_clear(h, ref);
        return SR_OK;
    }
    if (!heap_fits(*ref, len) || heap_is_frozen(h)) {
        uint32_t at = 0;
        sr_rc rc = heap_take(h, len, &at);
        if (rc != SR_OK) {
            return rc;
        }
        heap_clear(h, ref);
        ref->at = at;
    }
    ref->len = len;
    memcpy(heap_block(h, ref->at), bytes, len);
    return SR_OK;
}

const uint8_t *heap_bytes(const struct heap *h, struct heap_ref ref)
{
    return ref.len > 0 ? heap_block(h, ref.at) : (const uint8_t *)"";
}
