/* Decompression: however bytes are cut, every kind; what is damaged is never taken for an end. */
#include "test/unit/unit.h"

#include <bzlib.h>
#include <lz4frame.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "connectors/compress/unpack.h"

#define ROOM 65536u

struct bytes {
    uint8_t data[ROOM];
    size_t len;
};

/* One member of some kind, appended. */
static void pack(struct bytes *to, enum unpack_kind kind, const char *text)
{
    size_t len = strlen(text);
    uint8_t *out = to->data + to->len;
    size_t room = ROOM - to->len, made = 0;
    unsigned small = (unsigned)room;
    z_stream z = {.next_in = (uint8_t *)(uintptr_t)text,
                  .avail_in = (uInt)len,
                  .next_out = out,
                  .avail_out = (uInt)room};
    LZ4F_preferences_t sums = {.frameInfo = {.contentChecksumFlag = LZ4F_contentChecksumEnabled}};
    ZSTD_CCtx *zstd = NULL;
    switch (kind) {
    case UNPACK_GZIP:
        ck_assert_int_eq(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
        ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
        made = z.total_out;
        (void)deflateEnd(&z);
        break;
    case UNPACK_ZSTD:
        zstd = ZSTD_createCCtx();
        (void)ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
        made = ZSTD_compress2(zstd, out, room, text, len);
        (void)ZSTD_freeCCtx(zstd);
        break;
    case UNPACK_LZ4:
        made = LZ4F_compressFrame(out, room, text, len, &sums);
        break;
    case UNPACK_BZIP2:
        ck_assert_int_eq(BZ2_bzBuffToBuffCompress((char *)out, &small, (char *)(uintptr_t)text,
                                                  (unsigned)len, 1, 0, 0),
                         BZ_OK);
        made = small;
        break;
    case UNPACK_XZ:
        ck_assert_int_eq(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, (const uint8_t *)text,
                                                 len, out, &made, room),
                         LZMA_OK);
        break;
    case UNPACK_NONE:
    case UNPACK_COUNT:
        ck_abort();
    }
    to->len += made;
}

/* Decompresses all of it, `in` bytes given and `out` bytes taken at a time. */
static sr_rc unpack(const struct bytes *from, enum unpack_kind kind, size_t in, size_t out,
                    struct bytes *to)
{
    struct unpack *u = unpack_open(kind);
    size_t at = 0, given = 0;
    sr_rc rc = SR_OK;
    bool is_over = false;
    to->len = 0;
    while (rc == SR_OK && !is_over) {
        if (at == given) {
            given = given + in < from->len ? given + in : from->len;
        }
        ck_assert_uint_lt(to->len, ROOM);
        size_t room = ROOM - to->len < out ? ROOM - to->len : out;
        struct unpack_step s = {.in = from->data + at,
                                .len = given - at,
                                .at_end = given == from->len,
                                .out = to->data + to->len,
                                .room = room};
        const char *why = NULL;
        rc = unpack_step(u, &s, &why);
        ck_assert(rc != SR_ECORRUPT || why);
        at += s.used;
        to->len += s.made;
        is_over = s.is_over;
        ck_assert_msg(rc != SR_OK || is_over || s.used > 0 || s.made > 0 || s.len == 0,
                      "a step that does nothing");
    }
    unpack_close(u);
    return rc;
}

static const char first[] = "one, two and three; one, two and three; one, two and three\n";
static const char second[] = "and more\n";

#define EACH_KIND(k) for (enum unpack_kind k = UNPACK_GZIP; k < UNPACK_COUNT; k++)

/* Members, an empty one too, are joined, and zeros between and behind them pass. */
START_TEST(members_are_joined_however_they_are_cut)
{
    static const size_t sizes[] = {1, 2, 3, 7, 64, ROOM};
    struct bytes in, out;
    EACH_KIND(kind)
    {
        in.len = 0;
        pack(&in, kind, first);
        pack(&in, kind, "");
        memset(in.data + in.len, 0, 8);
        in.len += 8;
        pack(&in, kind, second);
        memset(in.data + in.len, 0, 512);
        in.len += 512;
        ck_assert_int_eq(unpack_of_magic(in.data, UNPACK_MAGIC_BYTES), kind);
        for (size_t i = 0; i < 6; i++) {
            for (size_t o = 0; o < 6; o++) {
                ck_assert_int_eq(unpack(&in, kind, sizes[i], sizes[o], &out), SR_OK);
                ck_assert_uint_eq(out.len, strlen(first) + strlen(second));
                ck_assert_int_eq(memcmp(out.data, first, strlen(first)), 0);
                ck_assert_int_eq(memcmp(out.data + strlen(first), second, strlen(second)), 0);
            }
        }
    }
}
END_TEST

/* Wherever the data are cut within a member, that is no end. */
START_TEST(data_cut_short_are_no_end)
{
    struct bytes in, out;
    EACH_KIND(kind)
    {
        in.len = 0;
        pack(&in, kind, first);
        size_t whole = in.len;
        pack(&in, kind, second);
        for (size_t all = in.len - 1; all > 0; all--) {
            in.len = all;
            sr_rc rc = unpack(&in, kind, 16, 16, &out);
            ck_assert_msg(rc == (all == whole ? SR_OK : SR_EABSENT), "%s cut at %zu of %zu: %d",
                          unpack_name(kind), all, whole, rc);
        }
    }
}
END_TEST

/* No byte of a member can be another one without that being seen, or without meaning nothing. */
START_TEST(a_flipped_byte_is_seen)
{
    struct bytes in, out;
    uint32_t seen = 0, all = 0;
    EACH_KIND(kind)
    {
        in.len = 0;
        pack(&in, kind, first);
        for (size_t at = 0; at < in.len; at++) {
            in.data[at] ^= 0x10;
            sr_rc rc = unpack(&in, kind, ROOM, ROOM, &out);
            bool is_same = out.len == strlen(first) && memcmp(out.data, first, out.len) == 0;
            ck_assert_msg(rc != SR_OK || is_same, "%s: byte %zu", unpack_name(kind), at);
            seen += rc != SR_OK;
            all++;
            in.data[at] ^= 0x10;
        }
    }
    ck_assert_uint_gt(seen, all * 9 / 10);
}
END_TEST

START_TEST(junk_behind_a_member_is_seen)
{
    struct bytes in, out;
    EACH_KIND(kind)
    {
        in.len = 0;
        pack(&in, kind, first);
        memcpy(in.data + in.len, "junk and more of it, 32 bytes...", 32);
        in.len += 32;
        ck_assert_int_eq(unpack(&in, kind, 5, 5, &out), SR_ECORRUPT);
        ck_assert_uint_eq(out.len, strlen(first));
    }
}
END_TEST

/* A frame of zstd 0.5, which some builds of the library still read; and one that says 61 bytes and
 * has none. */
START_TEST(frames_that_the_library_may_take_are_refused)
{
    static const struct {
        uint8_t data[14];
        size_t len;
    } of[] = {
        {{0x25, 0xb5, 0x2f, 0xfd, 4, 0x58, 0x2b, 0xe2, 8, 0xce, 0x3a, 0x60, 0x31, 0x25}, 14},
        {{0x28, 0xb5, 0x2f, 0xfd, 0x30, 0x3d, 1, 0, 0}, 9},
    };
    static struct bytes from, to;
    for (size_t k = 0; k < 2; k++) {
        from.len = of[k].len;
        memcpy(from.data, of[k].data, from.len);
        for (size_t in = 1; in <= from.len; in++) {
            ck_assert_int_eq(unpack(&from, UNPACK_ZSTD, in, 64, &to), SR_ECORRUPT);
        }
    }
}
END_TEST

START_TEST(what_is_not_compressed_is_known)
{
    static const char *const texts[] = {"", "a", "BZh9 is a name,1\n", "1,2,3,4,5,6\n", "\x1f\x8b"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        ck_assert_int_eq(unpack_of_magic((const uint8_t *)texts[i], strlen(texts[i])), UNPACK_NONE);
    }
}
END_TEST

UNIT_MAIN("unpack", members_are_joined_however_they_are_cut, data_cut_short_are_no_end,
          a_flipped_byte_is_seen, junk_behind_a_member_is_seen,
          frames_that_the_library_may_take_are_refused, what_is_not_compressed_is_known)
