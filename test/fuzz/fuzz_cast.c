/* Any text cast to any type: a value or a failure with words; and the value, written as text, is
 * read again as the same one. The first byte says the type. */
#include <stdint.h>

#include "engine/data/schema.h"
#include "test/fuzz/fuzz_value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Types in front of DATE are read again; years of more than four digits are not written whole. */
static const char *const types[] = {"BOOLEAN",       "TINYINT",
                                    "SMALLINT",      "INT",
                                    "BIGINT",        "FLOAT",
                                    "DOUBLE",        "DECIMAL(10,2)",
                                    "DECIMAL(38,0)", "DECIMAL(38,38)",
                                    "DECIMAL(18,6)", "DATE",
                                    "TIME",          "TIME(3)",
                                    "TIMESTAMP(0)",  "TIMESTAMP(3)",
                                    "TIMESTAMP(9)",  "TIMESTAMP_LTZ(3)",
                                    "CHAR(3)",       "VARCHAR(5)",
                                    "BINARY(4)",     "VARBINARY(3)",
                                    "BYTES"};
#define TYPES_AGAIN 11u

static const char *cast(struct arena *a, const char *text, uint32_t len, const char *type)
{
    struct sr_error err = {0};
    struct sr_type t;
    uint32_t at;
    if (type_parse(a, type, &t, &at, &err) != SR_OK) {
        __builtin_trap();
    }
    const struct expr *e = expr_string(a, text, len);
    return fuzz_value(a, expr_cast(a, e, &t, false, &err), &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > 4096) {
        return 0;
    }
    struct arena *a = arena_new();
    size_t type = data[0] % (sizeof(types) / sizeof(types[0]));
    const char *once = cast(a, (const char *)data + 1, (uint32_t)size - 1, types[type]);
    if (once && type < TYPES_AGAIN) {
        const char *twice = cast(a, once, (uint32_t)strlen(once), types[type]);
        if (!twice || strcmp(once, twice) != 0) {
            __builtin_trap();
        }
    }
    arena_free(a);
    return 0;
}
