#include <string.h>

#include "engine/base/bytes.h"
#include "test/unit/unit.h"

START_TEST(numbers_are_little_endian_and_come_back)
{
    struct sr_out o = bytes_out();
    ck_assert(bytes_put_u8(&o, 7) && bytes_put_u32(&o, 0x01020304) &&
              bytes_put_u64(&o, UINT64_MAX - 1) && bytes_put_text(&o, "abc"));
    const uint8_t head[] = {7, 4, 3, 2, 1, 0xFE};
    ck_assert_mem_eq(o.data, head, sizeof(head));
    struct bytes_in in = bytes_in(o.data, o.len);
    ck_assert_uint_eq(bytes_get_u8(&in), 7);
    ck_assert_uint_eq(bytes_get_u32(&in), 0x01020304);
    ck_assert_uint_eq(bytes_get_u64(&in), UINT64_MAX - 1);
    struct sr_bytes b = bytes_get_blob(&in);
    ck_assert_uint_eq(b.len, 3);
    ck_assert_mem_eq(b.data, "abc", 3);
    ck_assert(!in.is_broken && in.at == in.end);
    bytes_free(&o);
    ck_assert_uint_eq(o.len, 0);
}
END_TEST

START_TEST(whatever_is_cut_reads_as_zeros_and_is_broken)
{
    struct sr_out o = bytes_out();
    ck_assert(bytes_put_u32(&o, 0xFFFFFFFF) && bytes_put_text(&o, "hello"));
    for (size_t len = 0; len < o.len; len++) {
        struct bytes_in in = bytes_in(o.data, len);
        uint32_t word = bytes_get_u32(&in);
        struct sr_bytes b = bytes_get_blob(&in);
        ck_assert(in.is_broken);
        ck_assert(len >= 4 || word == 0);
        ck_assert_ptr_null(b.data);
        ck_assert_uint_eq(bytes_get_u8(&in), 0);
    }
    /* A length beyond the end must not be believed. */
    struct bytes_in in = bytes_in(o.data, o.len);
    ck_assert_ptr_null(bytes_get_blob(&in).data);
    ck_assert(in.is_broken);
    bytes_free(&o);
}
END_TEST

UNIT_MAIN("bytes", numbers_are_little_endian_and_come_back,
          whatever_is_cut_reads_as_zeros_and_is_broken)
