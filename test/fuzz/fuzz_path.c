/* Any JSON path into any JSON: the first line is the path, the rest the text. */
#include <stdint.h>

#include "test/fuzz/fuzz_value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A VARIANT is JSON, unless a number in it is infinite, and so are its parts. */
static void fuzz_check_json(struct arena *a, const char *text)
{
    const struct expr *e = expr_string(a, text, (uint32_t)strlen(text));
    const char *is_json = fuzz_call(a, "IS JSON", e, NULL);
    if (!strstr(text, "Infinity") && (!is_json || strcmp(is_json, "TRUE") != 0)) {
        __builtin_trap();
    }
}

static void fuzz_variant(struct arena *a, const struct expr *json, const struct expr *key)
{
    struct sr_error err = {0};
    const struct expr *twins[2] = {json, expr_bool(a, true)};
    const struct expr *v = expr_call(a, "PARSE_JSON", twins, 2, &err);
    const char *text = fuzz_value(a, v, &err);
    if (!text) {
        return;
    }
    fuzz_check_json(a, text);
    const char *part = fuzz_call(a, "ITEM", v, key);
    part = part ? part : fuzz_call(a, "ITEM", v, expr_number(a, "2", &err));
    if (part) {
        fuzz_check_json(a, part);
    }
}

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
    fuzz_variant(a, json, path);
    (void)fuzz_call(a, "JSON_UNQUOTE", json, NULL);
    (void)fuzz_call(a, "IS JSON SCALAR", json, NULL);
    arena_free(a);
    return 0;
}
