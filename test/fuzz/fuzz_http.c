/* libFuzzer target: what the http source reads that others wrote: places to listen at, packed
 * bodies, and requests in its journal. The first byte says which. */
#include <stdlib.h>
#include <string.h>

#include "connectors/http/http_coding.h"
#include "connectors/http/http_known.h"
#include "connectors/http/http_listen.h"

#define FUZZ_CHECK(e)   ((e) ? (void)0 : abort())
#define FUZZ_BODY_MAX   100000u
#define FUZZ_OUT_MARGIN (128u << 10) /* made by one step more */

static void fuzz_place(const uint8_t *data, size_t size)
{
    const char *why = NULL;
    char *text = strndup((const char *)data, size);
    FUZZ_CHECK(text);
    FUZZ_CHECK(http_listen_is_place(text, &why) || why);
    free(text);
}

static void fuzz_body(const uint8_t *data, size_t size)
{
    static const char *const coding[] = {"gzip", "zstd",     "lz4", "bzip2",
                                         "xz",   "identity", "br",  ""};
    struct sr_out body = note_out(), plain = note_out();
    size_t which = size > 0 ? data[0] % (sizeof(coding) / sizeof(coding[0])) : 0;
    body.data = malloc(size + 1);
    FUZZ_CHECK(body.data);
    memcpy(body.data, data, size);
    body.len = body.capacity = size;
    const struct sr_out packed = {.data = body.data + (size > 0 ? 1 : 0),
                                  .len = size > 0 ? size - 1 : 0};
    struct http_answer a = http_decode(coding[which], &packed, FUZZ_BODY_MAX, &plain);
    FUZZ_CHECK(a.status != 0 || plain.len <= FUZZ_BODY_MAX);
    FUZZ_CHECK(plain.len <= FUZZ_BODY_MAX + FUZZ_OUT_MARGIN);
    note_free(&plain);
    free(body.data);
}

static void fuzz_envelope(const uint8_t *data, size_t size)
{
    uint8_t fixed[HTTP_POST_FIXED];
    struct http_known known = {0};
    if (size < sizeof(fixed)) {
        return;
    }
    memcpy(fixed, data, sizeof(fixed));
    if (!http_post_is_one(fixed)) {
        return;
    }
    struct http_post *p = http_post_blank(fixed);
    if (p && p->len <= size) {
        memcpy(p->bytes, data, p->len);
        if (http_known_read(&known, p) == SR_OK) {
            FUZZ_CHECK(known.method && known.path && known.headers <= HTTP_HEADERS_MAX);
        }
        http_known_done(&known);
    }
    http_post_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    static void (*const what[])(const uint8_t *, size_t) = {fuzz_place, fuzz_body, fuzz_envelope};
    what[data[0] % 3](data + 1, size - 1);
    return 0;
}
