/* Where the characters that matter are: the first pass over the bytes, 64 at a time.
 *
 * Delimiters, quotes, escapes and newlines are found by vector compares and their places kept in a
 * small array, so that the second pass goes from one to the next and looks at no byte between.
 */
#ifndef SR_CSV_INDEX_H
#define SR_CSV_INDEX_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define CSV_INDEX_PLACES 2048u
#define CSV_INDEX_END    UINT32_MAX

struct csv_index {
    const uint8_t *bytes;
    uint32_t len;     /* of bytes */
    uint32_t scanned; /* bytes before it are in the array, or were */
    uint32_t next, count;
    bool has_high;     /* a byte over 127 was seen */
    uint8_t needle[4]; /* what is looked for; may repeat */
    uint32_t at[CSV_INDEX_PLACES + 64];
};

static inline void csv_index_start(struct csv_index *x, const uint8_t *bytes, uint32_t from,
                                   uint32_t len)
{
    x->bytes = bytes;
    x->len = len;
    x->scanned = from;
    x->next = x->count = 0;
}

/* Bit i is set where byte i of the 64 is a needle. */
static inline uint64_t csv_index_mask(const uint8_t *p, const uint8_t needle[4], bool *has_high)
{
    uint64_t mask = 0;
#ifdef __SSE2__
    const __m128i a = _mm_set1_epi8((char)needle[0]);
    const __m128i b = _mm_set1_epi8((char)needle[1]);
    const __m128i c = _mm_set1_epi8((char)needle[2]);
    const __m128i d = _mm_set1_epi8((char)needle[3]);
    int high = 0;
    for (unsigned i = 0; i < 4; i++) {
        __m128i v = _mm_loadu_si128((const void *)(p + (size_t)16 * i));
        __m128i ab = _mm_or_si128(_mm_cmpeq_epi8(v, a), _mm_cmpeq_epi8(v, b));
        __m128i cd = _mm_or_si128(_mm_cmpeq_epi8(v, c), _mm_cmpeq_epi8(v, d));
        high |= _mm_movemask_epi8(v);
        mask |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_or_si128(ab, cd)) << (16 * i);
    }
    *has_high |= high != 0;
#else
    uint8_t high = 0;
    for (unsigned i = 0; i < 64; i++) {
        uint8_t v = p[i];
        bool is_hit = v == needle[0] || v == needle[1] || v == needle[2] || v == needle[3];
        mask |= (uint64_t)is_hit << i;
        high |= v;
    }
    *has_high |= high >= 0x80;
#endif
    return mask;
}

/* Scans on until the array is nearly full or the bytes are at their end. */
static inline void csv_index_fill(struct csv_index *x)
{
    uint32_t n = 0;
    uint32_t pos = x->scanned;
    while (n < CSV_INDEX_PLACES && pos < x->len) {
        uint64_t mask = 0;
        uint32_t step = x->len - pos;
        if (step >= 64) {
            step = 64;
            mask = csv_index_mask(x->bytes + pos, x->needle, &x->has_high);
        } else {
            uint8_t tail[64] = {0};
            memcpy(tail, x->bytes + pos, step);
            mask = csv_index_mask(tail, x->needle, &x->has_high);
            mask &= (UINT64_C(1) << step) - 1;
        }
        while (mask != 0) {
            x->at[n++] = pos + (uint32_t)__builtin_ctzll(mask);
            mask &= mask - 1;
        }
        pos += step;
    }
    x->scanned = pos;
    x->next = 0;
    x->count = n;
}

/* The place of the next one; CSV_INDEX_END: there is none. */
static inline uint32_t csv_index_next(struct csv_index *x)
{
    if (__builtin_expect(x->next == x->count, 0)) {
        if (x->scanned >= x->len) {
            return CSV_INDEX_END;
        }
        csv_index_fill(x);
        if (x->count == 0) {
            return CSV_INDEX_END;
        }
    }
    return x->at[x->next++];
}

/* The same without going on. */
static inline uint32_t csv_index_peek(struct csv_index *x)
{
    uint32_t p = csv_index_next(x);
    x->next -= p != CSV_INDEX_END ? 1 : 0;
    return p;
}

#endif
