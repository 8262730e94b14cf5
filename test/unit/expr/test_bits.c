/* Rows as bits: to and from bytes and row numbers, for every number of rows. */
#include "engine/expr/bits.h"

#include "test/unit/expr/batch.h"
#include "test/unit/unit.h"

struct sample {
    uint8_t bytes[SR_BATCH_ROWS];
    uint64_t bits[SR_BATCH_WORDS];
};

/* Bytes of 0 and 1, one in `one_in` of them 1. */
static void sample_fill(struct sample *s, uint64_t seed, uint32_t one_in)
{
    for (uint32_t r = 0; r < SR_BATCH_ROWS; r++) {
        s->bytes[r] = batch_random(&seed) % one_in == 0;
    }
}

/* Packing, counting, listing and spreading agree with a look at each byte. */
START_TEST(bits_are_the_bytes)
{
    static const uint32_t one_in[] = {1, 2, 7, 1000};
    for (uint32_t rows = 1; rows <= SR_BATCH_ROWS; rows += rows < 200 ? 1 : 59) {
        struct sample s;
        uint8_t back[SR_BATCH_ROWS];
        uint16_t list[SR_BATCH_ROWS];
        sample_fill(&s, rows, one_in[rows % 4]);
        bits_pack(s.bytes, rows, s.bits);
        bits_spread(s.bits, rows, back);
        uint32_t n = bits_rows(s.bits, rows, list), k = 0;
        ck_assert_uint_eq(n, bits_count(s.bits, rows));
        for (uint32_t r = 0; r < rows; r++) {
            ck_assert_uint_eq(s.bits[r / 64] >> (r % 64) & 1, s.bytes[r]);
            ck_assert_uint_eq(back[r], s.bytes[r]);
            ck_assert(!s.bytes[r] || list[k] == r);
            k += s.bytes[r];
        }
        ck_assert_uint_eq(k, n);
        ck_assert_uint_eq(rows % 64 ? s.bits[rows / 64] >> (rows % 64) : 0, 0);
    }
}
END_TEST

/* Of a byte that is neither 0 nor 1 the lowest bit counts. */
START_TEST(only_the_lowest_bit_counts)
{
    struct sample s;
    for (uint32_t r = 0; r < 100; r++) {
        s.bytes[r] = (uint8_t)(r * 37);
    }
    bits_pack(s.bytes, 100, s.bits);
    for (uint32_t r = 0; r < 100; r++) {
        ck_assert_uint_eq(s.bits[r / 64] >> (r % 64) & 1, s.bytes[r] & 1u);
    }
}
END_TEST

UNIT_MAIN("bits", bits_are_the_bytes, only_the_lowest_bit_counts)
