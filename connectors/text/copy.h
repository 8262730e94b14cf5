/* Copies text and looks at it on the way: most of what is written needs neither quotes nor escapes,
 * and to know that must not cost a second pass.
 */
#ifndef SR_TEXT_COPY_H
#define SR_TEXT_COPY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Copies len bytes to `to`. Answers COPY_HIT when one of them is a needle (or, with `has_controls`,
 * below 0x20), COPY_HIGH when one is above 0x7F. Needles may repeat. */
enum { COPY_HIT = 1, COPY_HIGH = 2 };

struct copy_needles {
    uint8_t needle[4];
    bool has_controls;
};

static inline unsigned copy_byte(const struct copy_needles *n, uint8_t c)
{
    bool is_hit = c == n->needle[0] || c == n->needle[1] || c == n->needle[2] ||
                  c == n->needle[3] || (n->has_controls && c < 0x20);
    return (is_hit ? COPY_HIT : 0u) | (c >= 0x80 ? COPY_HIGH : 0u);
}

#ifdef __SSE2__
static inline unsigned copy_16(const struct copy_needles *n, __m128i v)
{
    __m128i ab = _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8((char)n->needle[0])),
                              _mm_cmpeq_epi8(v, _mm_set1_epi8((char)n->needle[1])));
    __m128i cd = _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8((char)n->needle[2])),
                              _mm_cmpeq_epi8(v, _mm_set1_epi8((char)n->needle[3])));
    __m128i hit = _mm_or_si128(ab, cd);
    if (n->has_controls) { /* unsigned v <= 0x1F: v is its own minimum with 0x1F */
        hit = _mm_or_si128(hit, _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1F)), v));
    }
    return (_mm_movemask_epi8(hit) != 0 ? COPY_HIT : 0u) |
           (_mm_movemask_epi8(v) != 0 ? COPY_HIGH : 0u);
}
#endif

static inline unsigned copy_text(const struct copy_needles *n, char *to, const char *s,
                                 uint32_t len)
{
    unsigned found = 0;
    uint32_t i = 0;
#ifdef __SSE2__
    if (len >= 16) {
        for (; i + 16 <= len; i += 16) {
            __m128i v = _mm_loadu_si128((const void *)(s + i));
            _mm_storeu_si128((void *)(to + i), v);
            found |= copy_16(n, v);
        }
        if (i < len) { /* the last 16 once more, in part */
            __m128i v = _mm_loadu_si128((const void *)(s + len - 16));
            _mm_storeu_si128((void *)(to + len - 16), v);
            found |= copy_16(n, v);
        }
        return found;
    }
    if (len >= 8) { /* two words that may overlap, as one vector */
        __m128i a = _mm_loadl_epi64((const void *)s);
        __m128i b = _mm_loadl_epi64((const void *)(s + len - 8));
        _mm_storel_epi64((void *)to, a);
        _mm_storel_epi64((void *)(to + len - 8), b);
        return copy_16(n, _mm_unpacklo_epi64(a, b));
    }
    if (len >= 4) {
        uint32_t word[4];
        memcpy(&word[0], s, 4);
        memcpy(&word[1], s + len - 4, 4);
        memcpy(to, &word[0], 4);
        memcpy(to + len - 4, &word[1], 4);
        word[2] = word[3] = word[0];
        return copy_16(n, _mm_loadu_si128((const void *)word));
    }
#endif
    for (; i < len; i++) {
        to[i] = s[i];
        found |= copy_byte(n, (uint8_t)s[i]);
    }
    return found;
}

#endif
