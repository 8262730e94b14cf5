#include <string.h>

#include "engine/base/hash.h"
#include "test/unit/unit.h"

/* Published XXH3 vectors: saved state depends on these never changing. */
START_TEST(hashes_are_xxh3)
{
    ck_assert_uint_eq(hash64("", 0, 0), UINT64_C(0x2D06800538D394C2));
    char text[33];
    digest_text(digest_of("", 0), text);
    ck_assert_str_eq(text, "99aa06d3014798d86001c324468d497f");
}
END_TEST

START_TEST(a_stream_has_the_digest_of_its_bytes)
{
    char data[5000];
    for (size_t i = 0; i < sizeof(data); i++) {
        data[i] = (char)(i * 31);
    }
    struct digester *d = digester_new();
    for (size_t at = 0; at < sizeof(data); at += 777) {
        digester_add(d, data + at, sizeof(data) - at < 777 ? sizeof(data) - at : 777);
    }
    struct digest a = digester_get(d);
    struct digest b = digest_of(data, sizeof(data));
    ck_assert_uint_eq(a.low, b.low);
    ck_assert_uint_eq(a.high, b.high);
    data[4999] ^= 1;
    ck_assert(digest_of(data, sizeof(data)).low != b.low);
    digester_free(d);
    digester_free(NULL);
}
END_TEST

UNIT_MAIN("hash", hashes_are_xxh3, a_stream_has_the_digest_of_its_bytes)
