/* Pieces of one size: none is given twice, what was put back is taken again, and regions grow. */
#include <stdbool.h>
#include <string.h>

#include "test/unit/unit.h"

#include "engine/state/slab.h"

#define PIECE  4096u
#define PIECES 5000u /* regions of all sizes up to the largest */

static bool is_filled(const uint8_t *piece, uint8_t with)
{
    for (uint32_t i = 0; i < PIECE; i++) {
        if (piece[i] != with) return false;
    }
    return true;
}

/* All pieces are there at once, and each keeps what is written into it. */
START_TEST(test_pieces_are_apart)
{
    static uint8_t *piece[PIECES];
    struct slab s;
    slab_init(&s, PIECE);
    for (uint32_t i = 0; i < PIECES; i++) {
        piece[i] = slab_take(&s);
        ck_assert_ptr_nonnull(piece[i]);
        memset(piece[i], (int)(i % 251), PIECE);
    }
    for (uint32_t i = 0; i < PIECES; i++) {
        ck_assert(is_filled(piece[i], (uint8_t)(i % 251)));
    }
    slab_done(&s);
}
END_TEST

/* What was put back is given again before the slab grows. */
START_TEST(test_pieces_come_back)
{
    void *piece[64];
    struct slab s;
    slab_init(&s, PIECE);
    for (uint32_t i = 0; i < 64; i++) {
        piece[i] = slab_take(&s);
    }
    uint32_t had = s.pieces;
    for (uint32_t round = 0; round < 1000; round++) {
        for (uint32_t i = round % 3; i < 64; i += 3) {
            slab_put(&s, piece[i]);
        }
        for (uint32_t i = round % 3; i < 64; i += 3) {
            piece[i] = slab_take(&s);
            memset(piece[i], 1, PIECE);
        }
    }
    ck_assert_uint_eq(s.pieces, had);
    slab_put(&s, NULL);
    slab_done(&s);
}
END_TEST

/* A small state takes one piece's memory, and pieces may be larger than the largest region. */
START_TEST(test_sizes)
{
    struct slab s;
    slab_init(&s, PIECE);
    ck_assert_ptr_nonnull(slab_take(&s));
    ck_assert_uint_eq(s.pieces, 1);
    slab_done(&s);
    slab_init(&s, (size_t)16 << 20);
    for (uint32_t i = 1; i < 4; i++) {
        ck_assert_ptr_nonnull(slab_take(&s));
        ck_assert_uint_eq(s.pieces, i);
    }
    slab_done(&s);
}
END_TEST

/* Much is had at once; what was left of the region before is not lost, nor is the next growth. */
START_TEST(test_reserved)
{
    struct slab s;
    void *memory = NULL;
    slab_init(&s, PIECE);
    ck_assert_uint_eq(slab_reserve(&s, 100, &memory), 0); /* not much */
    for (uint32_t i = 0; i < 5; i++) {
        ck_assert_ptr_nonnull(slab_take(&s)); /* of eight */
    }
    size_t size = slab_reserve(&s, 10003, &memory);
    ck_assert_uint_eq(size, (size_t)10000 * PIECE);
    ck_assert_uint_eq(s.pieces, 10008);
    uint32_t inside = 0;
    for (uint32_t i = 0; i < 10003; i++) {
        uint8_t *piece = slab_take(&s);
        memset(piece, 7, PIECE);
        inside += piece >= (uint8_t *)memory && piece < (uint8_t *)memory + size;
    }
    ck_assert_uint_eq(inside, 10000);
    ck_assert_uint_eq(s.pieces, 10008);
    ck_assert_uint_eq(slab_reserve(&s, UINT64_MAX, &memory), 0);
    ck_assert_ptr_nonnull(slab_take(&s));
    slab_done(&s);
}
END_TEST

UNIT_MAIN("state: slab", test_pieces_are_apart, test_pieces_come_back, test_sizes, test_reserved)
