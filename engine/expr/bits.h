/* Rows as bits, a word for 64 of them, as validity is kept: to and from bytes of 0 and 1, and to
 * row numbers. */
#ifndef SR_EXPR_BITS_H
#define SR_EXPR_BITS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define BITS_OF(rows) (((rows) + 63u) / 64u) /* words */

/* The lowest bits of eight bytes, the first byte's lowest. */
static inline uint64_t bits_of_eight(const uint8_t *bytes)
{
    uint64_t x;
    memcpy(&x, bytes, sizeof(x));
    return ((x & UINT64_C(0x0101010101010101)) * UINT64_C(0x0102040810204080)) >> 56;
}

/* Eight bytes of 0 or 1 of the lowest eight bits. */
static inline void bits_to_eight(uint64_t bits, uint8_t *bytes)
{
    uint64_t x = (bits & 255) * UINT64_C(0x0101010101010101) & UINT64_C(0x8040201008040201);
    x = (x + UINT64_C(0x7F7F7F7F7F7F7F7F)) >> 7 & UINT64_C(0x0101010101010101);
    memcpy(bytes, &x, sizeof(x));
}

/* bits = the lowest bits of so many bytes; bits behind the last row are clear. */
static inline void bits_pack(const uint8_t *bytes, uint32_t rows, uint64_t *bits)
{
    uint32_t r = 0;
    memset(bits, 0, BITS_OF(rows) * sizeof(*bits));
    for (; r + 8 <= rows; r += 8) {
        bits[r / 64] |= bits_of_eight(bytes + r) << (r % 64);
    }
    for (; r < rows; r++) {
        bits[r / 64] |= (uint64_t)(bytes[r] & 1) << (r % 64);
    }
}

/* bytes[r] = bit r. `bytes` has room for a multiple of 64. */
static inline void bits_spread(const uint64_t *bits, uint32_t rows, uint8_t *bytes)
{
    for (uint32_t w = 0; w < BITS_OF(rows); w++) {
        for (uint32_t i = 0; i < 8; i++) {
            bits_to_eight(bits[w] >> (i * 8), bytes + (size_t)w * 64 + (size_t)i * 8);
        }
    }
}

static inline uint32_t bits_count(const uint64_t *bits, uint32_t rows)
{
    uint32_t n = 0;
    for (uint32_t w = 0; w < BITS_OF(rows); w++) {
        n += (uint32_t)__builtin_popcountll(bits[w]);
    }
    return n;
}

/* Numbers of the rows whose bits are set, ascending, with room for all rows and a multiple of four;
 * bits behind the last row are clear. Answers how many. Four rows at a time: which of them are set
 * says what is written, so that no branch is mispredicted. */
static inline uint32_t bits_rows(const uint64_t *bits, uint32_t rows, uint16_t *to)
{
    /* The numbers of the bits that are set in four, as four uint16_t. */
    static const uint64_t places[16] = {
        UINT64_C(0x0),     UINT64_C(0x0),         UINT64_C(0x1),         UINT64_C(0x10000),
        UINT64_C(0x2),     UINT64_C(0x20000),     UINT64_C(0x20001),     UINT64_C(0x200010000),
        UINT64_C(0x3),     UINT64_C(0x30000),     UINT64_C(0x30001),     UINT64_C(0x300010000),
        UINT64_C(0x30002), UINT64_C(0x300020000), UINT64_C(0x300020001), UINT64_C(0x3000200010000)};
    static const uint8_t counts[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
    uint32_t n = 0;
    for (uint32_t r = 0; r < rows; r += 4) {
        uint32_t four = (uint32_t)(bits[r / 64] >> (r % 64)) & 15;
        uint64_t numbers = places[four] + UINT64_C(0x0001000100010001) * r;
        memcpy(to + n, &numbers, sizeof(numbers));
        n += counts[four];
    }
    return n;
}

#endif
