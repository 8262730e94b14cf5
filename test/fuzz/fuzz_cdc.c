/* libFuzzer target: the formats of changes in JSON. The first byte chooses dialect and options. */
#include "connectors/json/cdc.h"
#include "fuzz_format.h"

extern const struct sr_plugin sr_plugin_json;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > 100000) {
        return 0;
    }
    static const struct sr_format_type *const types[] = {&cdc_debezium_type, &cdc_maxwell_type,
                                                         &cdc_canal_type, &cdc_ogg_type};
    uint8_t how = data[0];
    struct cdc_conf conf = {.json = {.is_lenient = (how & 4) != 0, .drops_nulls = (how & 8) != 0},
                            .has_schema = (how & 19) == 16,
                            .database = (how & 32) != 0 ? "d+|e" : NULL,
                            .table = (how & 64) != 0 ? "(t.?)*" : NULL};
    struct arena *a = arena_new();
    struct sr_field field[4 + CDC_METADATA_MAX];
    static const uint32_t metadata[CDC_METADATA_MAX] = {0, 1, 2, 3, 4, 5, 6, 7};
    fuzz_field(a, &field[0], "a", "STRING");
    fuzz_field(a, &field[1], "b", "BIGINT");
    fuzz_field(a, &field[2], "c", "ROW<d INT, e ARRAY<STRING>>");
    fuzz_field(a, &field[3], "f", "MAP<STRING, INT>");
    struct fuzz_format f = {.type = types[how & 3], .conf = &conf};
    f.schema = (struct sr_schema){.fields = how & 128 ? 4 : 2, .field = field, .rowtime = -1};
    while ((how & 8) != 0 && f.type->metadata[f.metadatas].name) {
        const struct sr_metadata *m = &f.type->metadata[f.metadatas++];
        field[f.schema.fields++] = (struct sr_field){m->name, m->type};
    }
    f.metadata = metadata;
    bool is_other = conf.has_schema || conf.database || conf.table ||
                    f.metadatas > 0; /* than what is written */
    fuzz_format(&f, data + 1, (uint32_t)size - 1, 1, is_other);
    arena_free(a);
    return 0;
}
