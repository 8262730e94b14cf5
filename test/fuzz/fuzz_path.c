/* Any JSON path into any JSON: the first line is the path, the rest the text. */
#include <stdint.h>

#include "test/fuzz/fuzz_value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct expr *path, *json;
    if (size > 4096) {
        return 0;
    }
    struct arena *a = arena_new();
    fuzz_split(a, (const char *)data, size, &path, &json);
    (void)fuzz_call(a, "JSON_VALUE", json, path);
    (void)fuzz_call(a, "JSON_EXISTS", json, path);
    const char *part = fuzz_call(a, "JSON_QUERY", json, path);
    if (part) { /* what is found in JSON is JSON */
        const struct expr *e = expr_string(a, part, (uint32_t)strlen(part));
        const char *is_json = fuzz_call(a, "IS JSON", e, NULL);
        if (!is_json || strcmp(is_json, "TRUE") != 0) {
            __builtin_trap();
        }
    }
    (void)fuzz_call(a, "JSON_UNQUOTE", json, NULL);
    (void)fuzz_call(a, "IS JSON SCALAR", json, NULL);
    arena_free(a);
    return 0;
}
