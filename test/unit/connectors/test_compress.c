/* Compressed bytes: whole members, one behind the other, that standard readers join. */
#include "test/unit/unit.h"

#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "connectors/common/note.h"
#include "connectors/compress/pack.h"

/* What zlib makes of all members; false: something is wrong with them. */
static bool gunzip(const struct sr_out *in, struct sr_out *out)
{
    z_stream z = {0};
    ck_assert_int_eq(inflateInit2(&z, 15 + 16), Z_OK);
    z.next_in = in->data;
    z.avail_in = (uInt)in->len;
    int code = Z_OK;
    while (z.avail_in > 0 && (code == Z_OK || code == Z_STREAM_END)) {
        if (code == Z_STREAM_END) {
            ck_assert_int_eq(inflateReset(&z), Z_OK);
        }
        z.next_out = sr_out_room(out, 65536);
        z.avail_out = 65536;
        code = inflate(&z, Z_NO_FLUSH);
        out->len += 65536 - z.avail_out;
    }
    inflateEnd(&z);
    return code == Z_STREAM_END && z.avail_in == 0;
}

static bool unzstd(const struct sr_out *in, struct sr_out *out)
{
    ZSTD_DCtx *d = ZSTD_createDCtx();
    ZSTD_inBuffer from = {.src = in->data, .size = in->len};
    size_t left = 0;
    while (from.pos < from.size && !ZSTD_isError(left)) {
        ZSTD_outBuffer to = {.dst = sr_out_room(out, 65536), .size = 65536};
        left = ZSTD_decompressStream(d, &to, &from);
        out->len += to.pos;
    }
    ZSTD_freeDCtx(d);
    return left == 0;
}

static bool unpack(enum pack_kind kind, const struct sr_out *in, struct sr_out *out)
{
    return kind == PACK_ZSTD ? unzstd(in, out) : gunzip(in, out);
}

/* Members of every size, some empty, come back as they went in, wherever one ended. */
START_TEST(members_are_joined)
{
    for (enum pack_kind kind = PACK_GZIP; kind <= PACK_ZSTD; kind++) {
        struct sr_out plain = note_out(), packed = note_out(), back = note_out();
        struct pack *p = pack_open(kind);
        ck_assert_ptr_nonnull(p);
        uint32_t seed = 7;
        for (uint32_t member = 0; member < 20; member++) {
            for (uint32_t i = 0; i < member * 3; i++) {
                char line[4000];
                uint32_t len = (seed = seed * 1664525 + 1013904223) >> 20;
                len = len < sizeof(line) ? len : sizeof(line);
                memset(line, 'a' + (int)(seed >> 8) % 26, len);
                ck_assert(pack_add(p, line, len, &packed));
                memcpy(sr_out_room(&plain, len + 1), line, len);
                plain.len += len;
            }
            ck_assert(pack_end(p, &packed));
            ck_assert(pack_end(p, &packed)); /* nothing to end any more */
            back.len = 0;
            ck_assert(packed.len == 0 || unpack(kind, &packed, &back));
            ck_assert_uint_eq(back.len, plain.len);
            ck_assert(back.len == 0 || memcmp(back.data, plain.data, plain.len) == 0);
        }
        pack_close(p);
        note_free(&plain);
        note_free(&packed);
        note_free(&back);
    }
}
END_TEST

/* Bytes that do not get smaller, more at once than any buffer, come back too. */
START_TEST(noise_comes_back)
{
    for (enum pack_kind kind = PACK_GZIP; kind <= PACK_ZSTD; kind++) {
        struct sr_out plain = note_out(), packed = note_out(), back = note_out();
        size_t len = 3000000;
        uint8_t *noise = sr_out_room(&plain, len);
        uint64_t seed = 1;
        for (size_t i = 0; i < len; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            noise[i] = (uint8_t)(seed >> 40);
        }
        struct pack *p = pack_open(kind);
        ck_assert(pack_add(p, noise, len, &packed));
        ck_assert(pack_end(p, &packed));
        ck_assert(unpack(kind, &packed, &back));
        ck_assert_uint_eq(back.len, len);
        ck_assert_int_eq(memcmp(back.data, noise, len), 0);
        pack_close(p);
        p = pack_open(kind); /* closed in the middle of a member */
        ck_assert(pack_add(p, noise, 1000, &packed));
        pack_close(p);
        note_free(&plain);
        note_free(&packed);
        note_free(&back);
    }
}
END_TEST

START_TEST(names_tell_the_kind)
{
    ck_assert_int_eq(pack_of_name("/a/b.csv.gz"), PACK_GZIP);
    ck_assert_int_eq(pack_of_name("b.zst"), PACK_ZSTD);
    ck_assert_int_eq(pack_of_name(".gz"), PACK_NONE);
    ck_assert_int_eq(pack_of_name("b.gzip"), PACK_NONE);
    ck_assert_str_eq(pack_suffix(PACK_NONE), "");
}
END_TEST

UNIT_MAIN("compress", members_are_joined, noise_comes_back, names_tell_the_kind)
