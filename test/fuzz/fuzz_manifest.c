/* libFuzzer: any bytes as `_metadata`. As they are, and with length and digest made right, so that
 * the fields behind them are reached. What decodes must encode to the same bytes, and be shown. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/bytes.h"
#include "engine/ckpt/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_decode(const void *bytes, size_t len)
{
    struct arena *a = arena_new();
    struct manifest *m = NULL;
    struct sr_error err;
    sr_assert(a != NULL);
    sr_rc rc = manifest_decode(a, bytes, len, &m, &err);
    if (rc == SR_OK) {
        struct sr_out again = bytes_out();
        sr_assert(manifest_check(m, &err) == SR_OK && manifest_encode(m, &again));
        sr_assert(again.len == len && memcmp(again.data, bytes, len) == 0);
        sr_assert(manifest_json(a, m) != NULL);
        bytes_free(&again);
    } else {
        sr_assert(err.words[0] != '\0');
    }
    arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_decode(data, size);
    struct sr_out o = bytes_out();
    static const char head[] = "SRCHKPT\n\1\0\0\0";
    sr_assert(bytes_put(&o, head, sizeof(head) - 1) && bytes_put(&o, data, size));
    sr_assert(bytes_put_u64(&o, o.len));
    struct digest d = digest_of(o.data, o.len);
    sr_assert(bytes_put_u64(&o, d.low) && bytes_put_u64(&o, d.high));
    fuzz_decode(o.data, o.len);
    bytes_free(&o);
    return 0;
}
