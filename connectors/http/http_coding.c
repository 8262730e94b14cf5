#include "connectors/http/http_coding.h"

#include <microhttpd.h>
#include <strings.h>

#include "connectors/compress/unpack.h"

#define HTTP_UNPACK_BYTES (64u << 10) /* made at once */

static bool http_coding_kind(const char *coding, enum unpack_kind *kind)
{
    static const struct {
        const char *name;
        enum unpack_kind kind;
    } all[] = {{"identity", UNPACK_NONE}, {"gzip", UNPACK_GZIP}, {"x-gzip", UNPACK_GZIP},
               {"zstd", UNPACK_ZSTD},     {"lz4", UNPACK_LZ4},   {"bzip2", UNPACK_BZIP2},
               {"xz", UNPACK_XZ}};
    *kind = UNPACK_NONE;
    if (!coding || !coding[0]) {
        return true;
    }
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (strcasecmp(coding, all[i].name) == 0) {
            *kind = all[i].kind;
            return true;
        }
    }
    return false;
}

/* One step. *is_over: all is there. */
static sr_rc http_coding_step(struct unpack *u, const struct sr_out *body, size_t *used,
                              struct sr_out *out, bool *is_over)
{
    const char *why = NULL;
    uint8_t *to = sr_out_room(out, HTTP_UNPACK_BYTES);
    if (!to) {
        return SR_ENOMEM;
    }
    struct unpack_step s = {.in = body->data + *used,
                            .len = body->len - *used,
                            .at_end = true,
                            .out = to,
                            .room = HTTP_UNPACK_BYTES};
    sr_rc rc = unpack_step(u, &s, &why);
    out->len += s.made;
    *used += s.used;
    *is_over = s.is_over;
    return rc;
}

struct http_answer http_decode(const char *coding, const struct sr_out *body, uint64_t most,
                               struct sr_out *out)
{
    static const struct http_answer good = {0, ""};
    enum unpack_kind kind;
    if (!http_coding_kind(coding, &kind)) {
        return (struct http_answer){MHD_HTTP_UNSUPPORTED_MEDIA_TYPE,
                                    "Content-Encoding is not known: gzip, zstd, lz4, bzip2, xz\n"};
    }
    if (kind == UNPACK_NONE || body->len == 0) {
        return good;
    }
    struct unpack *u = unpack_open(kind);
    size_t used = 0;
    bool is_over = false;
    sr_rc rc = u ? SR_OK : SR_ENOMEM;
    while (rc == SR_OK && !is_over && out->len <= most) {
        rc = http_coding_step(u, body, &used, out, &is_over);
    }
    unpack_close(u);
    if (rc == SR_ENOMEM) {
        return (struct http_answer){MHD_HTTP_SERVICE_UNAVAILABLE, "no memory is left\n"};
    }
    if (rc != SR_OK) {
        return (struct http_answer){MHD_HTTP_BAD_REQUEST,
                                    "the body is not what its Content-Encoding says\n"};
    }
    if (out->len > most) {
        return (struct http_answer){MHD_HTTP_CONTENT_TOO_LARGE, "the body is too large\n"};
    }
    return good;
}
