#include "connectors/compress/pack.h"

#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST /* next_in takes what may not be written to */
#include <zlib.h>
#include <zstd.h>

#define PACK_ROOM       ((size_t)32 * 1024) /* made in `out` at a time */
#define PACK_WINDOW_LOG 18 /* of zstd: 256 KiB, so that many files can be written at once */
#define PACK_ZSTD_LEVEL 3  /* zstd's and gzip's own defaults */
#define PACK_GZIP_BITS  (15 + 16)

struct pack {
    enum pack_kind kind;
    bool has_bytes; /* since the member began */
    z_stream gzip;
    bool has_gzip;
    ZSTD_CCtx *zstd;
};

struct pack *pack_open(enum pack_kind kind)
{
    struct pack *p = calloc(1, sizeof(*p));
    if (!p) {
        return NULL;
    }
    p->kind = kind;
    if (kind == PACK_ZSTD) {
        p->zstd = ZSTD_createCCtx();
        bool is_set =
            p->zstd &&
            !ZSTD_isError(
                ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, PACK_ZSTD_LEVEL)) &&
            !ZSTD_isError(ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_windowLog, PACK_WINDOW_LOG)) &&
            !ZSTD_isError(ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_checksumFlag, 1));
        if (is_set) {
            return p;
        }
    } else if (deflateInit2(&p->gzip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, PACK_GZIP_BITS, 8,
                            Z_DEFAULT_STRATEGY) == Z_OK) {
        p->has_gzip = true;
        return p;
    }
    pack_close(p);
    return NULL;
}

static bool pack_gzip(struct pack *p, const void *bytes, size_t len, int flush, struct sr_out *out)
{
    const uint8_t *at = bytes;
    for (;;) {
        size_t some = len < UINT32_MAX / 2 ? len : UINT32_MAX / 2;
        uint8_t *to = sr_out_room(out, PACK_ROOM);
        if (!to) {
            return false;
        }
        p->gzip.next_in = at;
        p->gzip.avail_in = (uInt)some;
        p->gzip.next_out = to;
        p->gzip.avail_out = PACK_ROOM;
        int code = deflate(&p->gzip, flush);
        out->len += PACK_ROOM - p->gzip.avail_out;
        at += some - p->gzip.avail_in;
        len -= some - p->gzip.avail_in;
        if (code == Z_STREAM_ERROR) {
            return false;
        }
        if (flush == Z_FINISH ? code == Z_STREAM_END : len == 0 && p->gzip.avail_out > 0) {
            return true;
        }
    }
}

static bool pack_zstd(struct pack *p, const void *bytes, size_t len, ZSTD_EndDirective how,
                      struct sr_out *out)
{
    ZSTD_inBuffer in = {.src = bytes, .size = len};
    for (;;) {
        uint8_t *room = sr_out_room(out, PACK_ROOM);
        if (!room) {
            return false;
        }
        ZSTD_outBuffer to = {.dst = room, .size = PACK_ROOM};
        size_t left = ZSTD_compressStream2(p->zstd, &to, &in, how);
        out->len += to.pos;
        if (ZSTD_isError(left)) {
            return false;
        }
        if (how == ZSTD_e_end ? left == 0 : in.pos == in.size) {
            return true;
        }
    }
}

bool pack_add(struct pack *p, const void *bytes, size_t len, struct sr_out *out)
{
    if (len == 0) {
        return true;
    }
    p->has_bytes = true;
    return p->kind == PACK_ZSTD ? pack_zstd(p, bytes, len, ZSTD_e_continue, out)
                                : pack_gzip(p, bytes, len, Z_NO_FLUSH, out);
}

bool pack_end(struct pack *p, struct sr_out *out)
{
    if (!p->has_bytes) {
        return true;
    }
    bool is_done = p->kind == PACK_ZSTD
                       ? pack_zstd(p, NULL, 0, ZSTD_e_end, out)
                       : pack_gzip(p, "", 0, Z_FINISH, out) && deflateReset(&p->gzip) == Z_OK;
    p->has_bytes = p->has_bytes && !is_done;
    return is_done;
}

void pack_close(struct pack *p)
{
    if (!p) {
        return;
    }
    if (p->has_gzip) {
        (void)deflateEnd(&p->gzip); /* Z_DATA_ERROR: a member was left open, and is not wanted */
    }
    (void)ZSTD_freeCCtx(p->zstd);
    free(p);
}

const char *pack_suffix(enum pack_kind kind)
{
    switch (kind) {
    case PACK_GZIP:
        return ".gz";
    case PACK_ZSTD:
        return ".zst";
    case PACK_NONE:
        break;
    }
    return "";
}

enum pack_kind pack_of_name(const char *name)
{
    size_t len = strlen(name);
    for (enum pack_kind k = PACK_GZIP; k <= PACK_ZSTD; k++) {
        size_t end = strlen(pack_suffix(k));
        if (len > end && strcmp(name + len - end, pack_suffix(k)) == 0) {
            return k;
        }
    }
    return PACK_NONE;
}
