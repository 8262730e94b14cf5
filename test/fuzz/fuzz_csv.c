/* libFuzzer target: csv. The first two bytes choose dialect and schema, the rest is the file. */
#include "connectors/csv/csv.h"
#include "fuzz_format.h"

extern const struct sr_plugin sr_plugin_csv;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > 100000) {
        return 0;
    }
    uint8_t how = data[0], more = data[1];
    struct csv_conf conf = {.delimiter = how & 1 ? ";" : ",",
                            .quote = how & 2 ? "'" : "\"",
                            .escape = how & 4 ? "\\" : NULL,
                            .null_literal = how & 8 ? "NULL" : NULL,
                            .has_comments = (how & 16) != 0,
                            .is_lenient = (how & 32) != 0,
                            .is_scientific = (how & 64) != 0,
                            .is_quote_disabled = (more & 1) != 0,
                            .array_delimiter = more & 2 ? "||" : ";",
                            .header = {how & 128 ? CSV_HEADER_SKIP : CSV_HEADER_NONE}};
    struct arena *a = arena_new();
    struct sr_field field[6], nested[2];
    fuzz_field(a, &field[0], "a", "STRING");
    fuzz_field(a, &field[1], "b", "BIGINT");
    fuzz_field(a, &field[2], "c", "DOUBLE");
    fuzz_field(a, &field[3], "d", "DECIMAL(20, 3)");
    fuzz_field(a, &field[4], "e", "TIMESTAMP(9)");
    fuzz_field(a, &field[5], "f", "BYTES");
    fuzz_field(a, &nested[0], "a", "ARRAY<INT>");
    fuzz_field(a, &nested[1], "b", "ROW<x INT, y STRING>");
    struct fuzz_format f = {
        .type = sr_plugin_csv.formats[0], .conf = &conf, .may_refuse = (more & 9) != 0};
    f.schema = (struct sr_schema){.fields = how & 4 ? 6 : 2, .field = field, .rowtime = -1};
    if (more & 8) {
        f.schema = (struct sr_schema){.fields = 2, .field = nested, .rowtime = -1};
    }
    fuzz_format(&f, data + 2, (uint32_t)size - 2, 1, (how & 128) != 0);
    arena_free(a);
    return 0;
}
