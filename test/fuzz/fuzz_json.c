/* libFuzzer target: json. The first byte chooses the options, the rest is the file. */
#include "connectors/json/json.h"
#include "fuzz_format.h"

extern const struct sr_plugin sr_plugin_json;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > 100000) {
        return 0;
    }
    uint8_t how = data[0];
    struct json_conf conf = {.is_missing_fatal = (how & 3) == 1,
                             .is_lenient = (how & 3) == 2,
                             .is_decimal_plain = (how & 4) != 0,
                             .drops_nulls = (how & 8) != 0,
                             .stamp = {(how >> 4) % 3}};
    conf.drops_nulls = conf.drops_nulls && !conf.is_missing_fatal;
    struct arena *a = arena_new();
    struct sr_field field[11];
    fuzz_field(a, &field[0], "a", "STRING");
    fuzz_field(a, &field[1], "b", "BIGINT");
    fuzz_field(a, &field[2], "c", "DOUBLE");
    fuzz_field(a, &field[3], "d", "DECIMAL(20, 3)");
    fuzz_field(a, &field[4], "e", "TIMESTAMP_LTZ(9)");
    fuzz_field(a, &field[5], "f", "BYTES");
    fuzz_field(a, &field[6], "g", "BOOLEAN");
    fuzz_field(a, &field[7], "h", "ROW<a INT, b ARRAY<STRING>, c ROW<d DOUBLE>>");
    fuzz_field(a, &field[8], "i", "ARRAY<ARRAY<ROW<a STRING, b BIGINT NOT NULL>>>");
    fuzz_field(a, &field[9], "j", "MAP<STRING, MAP<STRING, STRING>>");
    fuzz_field(a, &field[10], "k", "MAP<STRING, ROW<a INT, b ARRAY<INT>>>");
    struct fuzz_format f = {.type = sr_plugin_json.formats[0], .conf = &conf};
    f.schema = (struct sr_schema){.fields = how & 128 ? 11 : 2, .field = field, .rowtime = -1};
    fuzz_format(&f, data + 1, (uint32_t)size - 1, 1, false);
    arena_free(a);
    return 0;
}
