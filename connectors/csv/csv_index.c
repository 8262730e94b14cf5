#include "connectors/csv/csv_index.h"

#include <string.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

/* One pass, for any way to make a mask of 64 bytes: bit i is set where byte i is a needle. A macro,
 * because each way needs a function of its own target, and the mask must be inlined into it. */
#define CSV_INDEX_FILL(mask_of, put)                                \
    uint32_t n = 0, pos = x->scanned;                               \
    while (n < x->enough && pos < x->len) {                         \
        uint32_t step = x->len - pos < 64 ? x->len - pos : 64;      \
        uint8_t tail[64];                                           \
        const uint8_t *p = x->bytes + pos;                          \
        if (step < 64) {                                            \
            memset(tail, 0, sizeof(tail));                          \
            memcpy(tail, p, step);                                  \
            p = tail;                                               \
        }                                                           \
        uint64_t mask = mask_of(p, x->needle, &x->has_high);        \
        mask &= step < 64 ? (UINT64_C(1) << step) - 1 : UINT64_MAX; \
        n = put(x->at, n, pos, mask);                               \
        pos += step;                                                \
    }                                                               \
    x->scanned = pos;                                               \
    x->next = 0;                                                    \
    x->count = n

/* gcc would gather the four places into a vector, which is slower than to store each. */
#if defined(__GNUC__) && !defined(__clang__)
#define CSV_INDEX_AVX2 __attribute__((target("avx2,bmi,popcnt"), optimize("no-tree-slp-vectorize")))
#else
#define CSV_INDEX_AVX2 __attribute__((target("avx2,bmi,popcnt")))
#endif

/* The places of the bits of a mask, from at[n] on; answers the next n. */
static inline uint32_t csv_index_put(uint32_t *at, uint32_t n, uint32_t pos, uint64_t mask)
{
    for (; mask != 0; mask &= mask - 1) {
        at[n++] = pos + (uint32_t)__builtin_ctzll(mask);
    }
    return n;
}

#ifdef __SSE2__
static inline uint64_t csv_index_mask_sse2(const uint8_t *p,
                                           const uint8_t needle[CSV_INDEX_NEEDLES], bool *has_high)
{
    const __m128i a = _mm_set1_epi8((char)needle[0]), b = _mm_set1_epi8((char)needle[1]);
    const __m128i c = _mm_set1_epi8((char)needle[2]), d = _mm_set1_epi8((char)needle[3]);
    const __m128i e = _mm_set1_epi8((char)needle[4]);
    uint64_t mask = 0;
    int high = 0;
    for (unsigned i = 0; i < 4; i++) {
        __m128i v = _mm_loadu_si128((const void *)(p + (size_t)16 * i));
        __m128i ab = _mm_or_si128(_mm_cmpeq_epi8(v, a), _mm_cmpeq_epi8(v, b));
        __m128i cd = _mm_or_si128(_mm_cmpeq_epi8(v, c), _mm_cmpeq_epi8(v, d));
        __m128i any = _mm_or_si128(_mm_or_si128(ab, cd), _mm_cmpeq_epi8(v, e));
        high |= _mm_movemask_epi8(v);
        mask |= (uint64_t)(uint32_t)_mm_movemask_epi8(any) << (16 * i);
    }
    *has_high |= high != 0;
    return mask;
}

__attribute__((target("avx2"))) static inline uint64_t csv_index_mask_avx2(
    const uint8_t *p, const uint8_t needle[CSV_INDEX_NEEDLES], bool *has_high)
{
    const __m256i a = _mm256_set1_epi8((char)needle[0]), b = _mm256_set1_epi8((char)needle[1]);
    const __m256i c = _mm256_set1_epi8((char)needle[2]), d = _mm256_set1_epi8((char)needle[3]);
    const __m256i e = _mm256_set1_epi8((char)needle[4]);
    uint64_t mask = 0;
    int high = 0;
    for (unsigned i = 0; i < 2; i++) {
        __m256i v = _mm256_loadu_si256((const void *)(p + (size_t)32 * i));
        __m256i ab = _mm256_or_si256(_mm256_cmpeq_epi8(v, a), _mm256_cmpeq_epi8(v, b));
        __m256i cd = _mm256_or_si256(_mm256_cmpeq_epi8(v, c), _mm256_cmpeq_epi8(v, d));
        __m256i any = _mm256_or_si256(_mm256_or_si256(ab, cd), _mm256_cmpeq_epi8(v, e));
        high |= _mm256_movemask_epi8(v);
        mask |= (uint64_t)(uint32_t)_mm256_movemask_epi8(any) << (32 * i);
    }
    *has_high |= high != 0;
    return mask;
}

/* The first four are put whether there are so many or not: no branch to be guessed wrong. */
CSV_INDEX_AVX2 static inline uint32_t csv_index_put_avx2(uint32_t *at, uint32_t n, uint32_t pos,
                                                         uint64_t mask)
{
    uint32_t end = n + (uint32_t)__builtin_popcountll(mask);
    for (uint32_t i = 0; i < 4; i++) {
        at[n + i] = pos + (uint32_t)_tzcnt_u64(mask);
        mask &= mask - 1;
    }
    if (mask != 0) {
        (void)csv_index_put(at, n + 4, pos, mask);
    }
    return end;
}

CSV_INDEX_AVX2 static void csv_index_fill_avx2(struct csv_index *x)
{
    CSV_INDEX_FILL(csv_index_mask_avx2, csv_index_put_avx2);
}

static void csv_index_fill_plain(struct csv_index *x)
{
    CSV_INDEX_FILL(csv_index_mask_sse2, csv_index_put);
}

void csv_index_fill(struct csv_index *x)
{
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
        __builtin_cpu_supports("popcnt")) {
        csv_index_fill_avx2(x);
    } else {
        csv_index_fill_plain(x);
    }
}
#else
static inline uint64_t csv_index_mask_any(const uint8_t *p, const uint8_t needle[CSV_INDEX_NEEDLES],
                                          bool *has_high)
{
    uint64_t mask = 0;
    uint8_t high = 0;
    for (unsigned i = 0; i < 64; i++) {
        uint8_t v = p[i];
        bool is_hit =
            v == needle[0] || v == needle[1] || v == needle[2] || v == needle[3] || v == needle[4];
        mask |= (uint64_t)is_hit << i;
        high |= v;
    }
    *has_high |= high >= 0x80;
    return mask;
}

void csv_index_fill(struct csv_index *x) { CSV_INDEX_FILL(csv_index_mask_any, csv_index_put); }
#endif
