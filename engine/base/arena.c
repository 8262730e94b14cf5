#include "engine/base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/huge.h"

#define ARENA_BLOCK_BYTES ((size_t)8192)
#define ARENA_ALIGN       ((size_t)16)

struct arena_block {
    alignas(16) struct arena_block *next;
    size_t used, capacity;
    alignas(16) unsigned char space[];
};

struct arena {
    struct arena_block *block; /* the one that pieces are cut from; others behind it */
    bool is_broken;
};

struct arena *arena_new(void) { return calloc(1, sizeof(struct arena)); }

void arena_free(struct arena *a)
{
    if (!a) {
        return;
    }
    for (struct arena_block *b = a->block; b;) {
        struct arena_block *next = b->next;
        free(b);
        b = next;
    }
    free(a);
}

bool arena_is_broken(const struct arena *a) { return a->is_broken; }

static struct arena_block *arena_block_new(size_t capacity)
{
    struct arena_block *b = calloc(1, sizeof(*b) + capacity);
    if (b) {
        huge_advise(b, sizeof(*b) + capacity);
        b->capacity = capacity;
    }
    return b;
}

void *arena_get(struct arena *a, size_t size)
{
    if (size > SIZE_MAX / 2) {
        a->is_broken = true;
        return NULL;
    }
    size = (size + ARENA_ALIGN - 1) & ~(ARENA_ALIGN - 1);
    struct arena_block *b = a->block;
    if (b && b->capacity - b->used >= size) {
        void *piece = b->space + b->used;
        b->used += size;
        return piece;
    }
    bool is_large = size > ARENA_BLOCK_BYTES / 4;
    struct arena_block *fresh = arena_block_new(is_large ? size : ARENA_BLOCK_BYTES);
    if (!fresh) {
        a->is_broken = true;
        return NULL;
    }
    fresh->used = size;
    if (is_large && b) {
        /* A large piece has a block of its own, so that what is left of the current one is used. */
        fresh->next = b->next;
        b->next = fresh;
    } else {
        fresh->next = b;
        a->block = fresh;
    }
    return fresh->space;
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        a->is_broken = true;
        return NULL;
    }
    return arena_get(a, bytes);
}

void *arena_copy(struct arena *a, const void *from, size_t size)
{
    void *to = arena_get(a, size);
    if (to && size > 0) {
        memcpy(to, from, size);
    }
    return to;
}

/* A large piece is alone in its block. */
void arena_drop(struct arena *a, const void *piece)
{
    struct arena_block **at = &a->block;
    while (*at && (const void *)(*at)->space != piece) {
        at = &(*at)->next;
    }
    sr_assert(*at);
    struct arena_block *gone = *at;
    sr_assert(gone->used == gone->capacity && gone->capacity >= ARENA_DROP_LEAST);
    *at = gone->next;
    free(gone);
}

void *arena_more(struct arena *a, void *list, uint32_t count, uint32_t *space, size_t size)
{
    sr_assert(list || count == 0);
    if (count < *space) {
        return list;
    }
    uint32_t more = *space > 0 ? *space * 2 : 16;
    void *grown = arena_array(a, more, size);
    if (!grown) {
        return NULL;
    }
    if (count > 0) {
        memcpy(grown, list, count * size);
    }
    *space = more;
    return grown;
}

char *arena_text_n(struct arena *a, const char *s, size_t len)
{
    char *to = len < SIZE_MAX / 2 ? arena_get(a, len + 1) : NULL;
    if (!to) {
        a->is_broken = true;
        return NULL;
    }
    if (len > 0) {
        memcpy(to, s, len);
    }
    return to;
}

char *arena_text(struct arena *a, const char *s)
{
    return s ? arena_text_n(a, s, strlen(s)) : NULL;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    char *to = len >= 0 ? arena_get(a, (size_t)len + 1) : NULL;
    if (!to) {
        a->is_broken = true;
        return NULL;
    }
    va_start(args, fmt);
    (void)vsnprintf(to, (size_t)len + 1, fmt, args);
    va_end(args);
    return to;
}
