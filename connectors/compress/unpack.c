#include "connectors/compress/unpack.h"

#include <bzlib.h>
#include <lz4frame.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST /* next_in takes what may not be written to */
#include <zlib.h>
#include <zstd.h>

#define UNPACK_GZIP_BITS (15 + 16)           /* the largest window, gzip's head and tail */
#define ZSTD_HEAD        18u                 /* bytes of the longest head of a frame */
#define UNPACK_ZSTD_LOG  27                  /* of the largest window: UNPACK_MEMORY_MAX */
#define UNPACK_SOME_MAX  (UINT32_C(1) << 30) /* bytes of a call: some libraries count in 32 bits */

struct unpack {
    enum unpack_kind kind;
    bool is_inside;  /* of a member */
    bool has_member; /* one was complete */
    bool is_begun;   /* `gzip`, `bzip2` or `xz` holds memory */
    z_stream gzip;
    ZSTD_DCtx *zstd;
    uint8_t head[ZSTD_HEAD]; /* of a frame of zstd: its first bytes */
    uint32_t head_len;
    uint64_t frame_made; /* of it */
    LZ4F_dctx *lz4;
    bz_stream bzip2;
    lzma_stream xz;
};

/* One library: how a member begins, and goes on. */
struct unpack_type {
    const char *name;
    sr_rc (*begin)(struct unpack *u);
    /* *is_end: the member is complete. */
    sr_rc (*step)(struct unpack *u, struct unpack_step *s, bool *is_end, const char **why);
    void (*close)(struct unpack *u);
};

static sr_rc unpack_wrong(const char **why, const char *words)
{
    *why = words;
    return SR_ECORRUPT;
}

/* --- gzip ------------------------------------------------------------------------------------- */

static sr_rc unpack_gzip_begin(struct unpack *u)
{
    int code = u->is_begun ? inflateReset(&u->gzip) : inflateInit2(&u->gzip, UNPACK_GZIP_BITS);
    u->is_begun = u->is_begun || code == Z_OK;
    return code == Z_OK ? SR_OK : SR_ENOMEM;
}

static sr_rc unpack_gzip_step(struct unpack *u, struct unpack_step *s, bool *is_end,
                              const char **why)
{
    z_stream *z = &u->gzip;
    z->next_in = s->in;
    z->avail_in = (uInt)s->len;
    z->next_out = s->out;
    z->avail_out = (uInt)s->room;
    int code = inflate(z, Z_NO_FLUSH);
    s->used = s->len - z->avail_in;
    s->made = s->room - z->avail_out;
    *is_end = code == Z_STREAM_END;
    if (code == Z_MEM_ERROR) {
        return SR_ENOMEM;
    }
    if (code == Z_STREAM_END || code == Z_OK || code == Z_BUF_ERROR) {
        return SR_OK;
    }
    bool is_check = z->msg && strcmp(z->msg, "incorrect data check") == 0;
    bool is_length = z->msg && strcmp(z->msg, "incorrect length check") == 0;
    return unpack_wrong(why, is_check    ? "CRC mismatch"
                             : is_length ? "length mismatch"
                             : z->msg    ? z->msg
                                         : "damaged data");
}

static void unpack_gzip_close(struct unpack *u)
{
    if (u->is_begun) {
        (void)inflateEnd(&u->gzip);
    }
}

/* --- zstd ------------------------------------------------------------------------------------- */

static sr_rc unpack_zstd_begin(struct unpack *u)
{
    if (!u->zstd) {
        u->zstd = ZSTD_createDCtx();
        if (!u->zstd ||
            ZSTD_isError(ZSTD_DCtx_setParameter(u->zstd, ZSTD_d_windowLogMax, UNPACK_ZSTD_LOG))) {
            return SR_ENOMEM;
        }
    }
    u->head_len = 0;
    u->frame_made = 0;
    size_t code = ZSTD_DCtx_reset(u->zstd, ZSTD_reset_session_only);
    return ZSTD_isError(code) ? SR_ENOMEM : SR_OK;
}

static sr_rc unpack_zstd_step(struct unpack *u, struct unpack_step *s, bool *is_end,
                              const char **why)
{
    ZSTD_inBuffer in = {s->in, s->len, 0};
    ZSTD_outBuffer out = {s->out, s->room, 0};
    uint8_t first = u->head_len > 0 ? u->head[0] : s->len > 0 ? s->in[0] : 0;
    /* Frames of before zstd 0.8 (1E, 22 to 27 where 28 stands today) are read by some builds of the
     * library, and give other bytes when they come in pieces. */
    if (first >= 0x1e && first <= 0x27) {
        return unpack_wrong(why, "no frame of zstd 0.8 or later");
    }
    size_t code = ZSTD_decompressStream(u->zstd, &out, &in);
    s->used = in.pos;
    s->made = out.pos;
    *is_end = code == 0;
    u->frame_made += out.pos;
    for (size_t i = 0; i < in.pos && u->head_len < ZSTD_HEAD; i++) {
        u->head[u->head_len++] = s->in[i];
    }
    if (ZSTD_isError(code)) {
        return unpack_wrong(why, ZSTD_getErrorName(code));
    }
    /* The library looks at it only where a frame comes as a whole. */
    unsigned long long said = *is_end ? ZSTD_getFrameContentSize(u->head, u->head_len) : 0;
    bool is_short = *is_end && said < ZSTD_CONTENTSIZE_ERROR && said != u->frame_made;
    return is_short ? unpack_wrong(why, "another length than the frame says") : SR_OK;
}

static void unpack_zstd_close(struct unpack *u) { (void)ZSTD_freeDCtx(u->zstd); }

/* --- lz4 -------------------------------------------------------------------------------------- */

static sr_rc unpack_lz4_begin(struct unpack *u)
{
    if (!u->lz4 && LZ4F_isError(LZ4F_createDecompressionContext(&u->lz4, LZ4F_VERSION))) {
        return SR_ENOMEM;
    }
    LZ4F_resetDecompressionContext(u->lz4);
    return SR_OK;
}

static sr_rc unpack_lz4_step(struct unpack *u, struct unpack_step *s, bool *is_end,
                             const char **why)
{
    s->used = s->len;
    s->made = s->room;
    size_t code = LZ4F_decompress(u->lz4, s->out, &s->made, s->in, &s->used, NULL);
    *is_end = code == 0;
    return LZ4F_isError(code) ? unpack_wrong(why, LZ4F_getErrorName(code)) : SR_OK;
}

static void unpack_lz4_close(struct unpack *u) { (void)LZ4F_freeDecompressionContext(u->lz4); }

/* --- bzip2 ------------------------------------------------------------------------------------ */

static void unpack_bzip2_close(struct unpack *u)
{
    if (u->is_begun) {
        (void)BZ2_bzDecompressEnd(&u->bzip2);
        u->is_begun = false;
    }
}

static sr_rc unpack_bzip2_begin(struct unpack *u)
{
    unpack_bzip2_close(u);
    u->bzip2 = (bz_stream){0};
    u->is_begun = BZ2_bzDecompressInit(&u->bzip2, 0, 0) == BZ_OK;
    return u->is_begun ? SR_OK : SR_ENOMEM;
}

static sr_rc unpack_bzip2_step(struct unpack *u, struct unpack_step *s, bool *is_end,
                               const char **why)
{
    bz_stream *z = &u->bzip2;
    union {
        const uint8_t *in;
        char *next; /* the library only reads it */
    } from = {s->in};
    z->next_in = from.next;
    z->avail_in = (unsigned)s->len;
    z->next_out = (char *)s->out;
    z->avail_out = (unsigned)s->room;
    int code = BZ2_bzDecompress(z);
    s->used = s->len - z->avail_in;
    s->made = s->room - z->avail_out;
    *is_end = code == BZ_STREAM_END;
    if (code == BZ_MEM_ERROR) {
        return SR_ENOMEM;
    }
    if (code == BZ_OK || code == BZ_STREAM_END) {
        return SR_OK;
    }
    return unpack_wrong(why,
                        code == BZ_DATA_ERROR ? "CRC mismatch or damaged data" : "no bzip2 data");
}

/* --- xz --------------------------------------------------------------------------------------- */

static sr_rc unpack_xz_begin(struct unpack *u)
{
    u->is_begun = true; /* initialising again reuses what is held */
    return lzma_stream_decoder(&u->xz, UNPACK_MEMORY_MAX, 0) == LZMA_OK ? SR_OK : SR_ENOMEM;
}

static sr_rc unpack_xz_step(struct unpack *u, struct unpack_step *s, bool *is_end, const char **why)
{
    u->xz.next_in = s->in;
    u->xz.avail_in = s->len;
    u->xz.next_out = s->out;
    u->xz.avail_out = s->room;
    lzma_ret code = lzma_code(&u->xz, LZMA_RUN);
    s->used = s->len - u->xz.avail_in;
    s->made = s->room - u->xz.avail_out;
    *is_end = code == LZMA_STREAM_END;
    if (code == LZMA_OK || code == LZMA_STREAM_END || code == LZMA_BUF_ERROR) {
        return SR_OK;
    }
    if (code == LZMA_MEM_ERROR) {
        return SR_ENOMEM;
    }
    return unpack_wrong(why, code == LZMA_MEMLIMIT_ERROR ? "it needs more than 128 MiB of memory"
                             : code == LZMA_DATA_ERROR   ? "CRC mismatch or damaged data"
                                                         : "no xz data that is understood");
}

static void unpack_xz_close(struct unpack *u)
{
    if (u->is_begun) {
        lzma_end(&u->xz);
    }
}

/* --- All of them ------------------------------------------------------------------------------ */

static const struct unpack_type unpack_types[UNPACK_COUNT] = {
    [UNPACK_NONE] = {.name = "none"},
    [UNPACK_GZIP] = {"gzip", unpack_gzip_begin, unpack_gzip_step, unpack_gzip_close},
    [UNPACK_ZSTD] = {"zstd", unpack_zstd_begin, unpack_zstd_step, unpack_zstd_close},
    [UNPACK_LZ4] = {"lz4", unpack_lz4_begin, unpack_lz4_step, unpack_lz4_close},
    [UNPACK_BZIP2] = {"bzip2", unpack_bzip2_begin, unpack_bzip2_step, unpack_bzip2_close},
    [UNPACK_XZ] = {"xz", unpack_xz_begin, unpack_xz_step, unpack_xz_close},
};

enum unpack_kind unpack_of_magic(const uint8_t *first, size_t len)
{
    static const struct {
        enum unpack_kind kind;
        uint32_t at, len; /* where the bytes stand */
        const char *bytes;
    } magics[] = {
        {UNPACK_GZIP, 0, 3, "\x1f\x8b\x08"},
        {UNPACK_ZSTD, 0, 4, "\x28\xb5\x2f\xfd"},
        {UNPACK_LZ4, 0, 4, "\x04\x22\x4d\x18"},
        {UNPACK_XZ, 0, 6,
         "\xfd"
         "7zXZ\0"},
        {UNPACK_BZIP2, 4, 6, "1AY&SY"},
        {UNPACK_BZIP2, 4, 6, "\x17rE8P\x90"}, /* of nothing at all */
    };
    for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
        if (len >= magics[i].at + magics[i].len &&
            memcmp(first + magics[i].at, magics[i].bytes, magics[i].len) == 0 &&
            (magics[i].kind != UNPACK_BZIP2 || memcmp(first, "BZh", 3) == 0)) {
            return magics[i].kind;
        }
    }
    return UNPACK_NONE;
}

const char *unpack_name(enum unpack_kind kind) { return unpack_types[kind].name; }

struct unpack *unpack_open(enum unpack_kind kind)
{
    struct unpack *u = calloc(1, sizeof(*u));
    if (u) {
        u->kind = kind;
        u->xz = (lzma_stream)LZMA_STREAM_INIT;
    }
    return u;
}

void unpack_close(struct unpack *u)
{
    if (u) {
        unpack_types[u->kind].close(u);
        free(u);
    }
}

/* Between members: zeros are passed over, anything else begins the next one. */
static sr_rc unpack_between(struct unpack *u, struct unpack_step *s)
{
    while (s->used < s->len && s->in[s->used] == 0 && u->has_member) {
        s->used++;
    }
    if (s->used == s->len) {
        s->is_over = s->at_end && u->has_member;
        return s->at_end && !u->has_member ? SR_EABSENT : SR_OK;
    }
    sr_rc rc = unpack_types[u->kind].begin(u);
    u->is_inside = rc == SR_OK;
    return rc;
}

/* One call of the library. *is_stuck: it can do nothing without more. */
static sr_rc unpack_inside(struct unpack *u, struct unpack_step *s, bool *is_stuck,
                           const char **why)
{
    size_t len = s->len - s->used, room = s->room - s->made;
    struct unpack_step now = {.in = s->in + s->used,
                              .len = len < UNPACK_SOME_MAX ? len : UNPACK_SOME_MAX,
                              .out = s->out + s->made,
                              .room = room < UNPACK_SOME_MAX ? room : UNPACK_SOME_MAX};
    bool is_end = false;
    sr_rc rc = unpack_types[u->kind].step(u, &now, &is_end, why);
    if (rc != SR_OK) {
        return rc;
    }
    s->used += now.used;
    s->made += now.made;
    u->is_inside = !is_end;
    u->has_member = u->has_member || is_end;
    *is_stuck = !is_end && now.used == 0 && now.made == 0;
    return SR_OK;
}

sr_rc unpack_step(struct unpack *u, struct unpack_step *s, const char **why)
{
    s->used = s->made = 0;
    s->is_over = false;
    for (;;) { /* ends: each round uses, makes, or is the last */
        if (!u->is_inside) {
            sr_rc rc = unpack_between(u, s);
            if (rc != SR_OK || !u->is_inside) {
                return rc;
            }
        }
        if (s->made == s->room) {
            return SR_OK;
        }
        bool is_stuck = false;
        sr_rc rc = unpack_inside(u, s, &is_stuck, why);
        if (rc != SR_OK) {
            return rc;
        }
        if (is_stuck) {
            return s->at_end && s->used == s->len ? SR_EABSENT : SR_OK;
        }
    }
}
