/* libFuzzer target: raw. The first byte chooses type and charset, the rest is the file. */
#include "fuzz_format.h"

extern const struct sr_plugin sr_plugin_raw;

/* As the plugin has it. */
struct fuzz_raw_conf {
    const char *charset;
    sr_choice endianness;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const types[] = {"STRING", "BYTES",  "BOOLEAN", "TINYINT",
                                        "INT",    "BIGINT", "DOUBLE",  "STRING"};
    static const char *const charsets[] = {"UTF-8",    "ISO-8859-1",   "UTF-16LE", "UTF-16",
                                           "US-ASCII", "windows-1252", "GB18030",  "UTF-32"};
    if (size < 1 || size > 100000) {
        return 0;
    }
    struct fuzz_raw_conf conf = {.charset = charsets[data[0] >> 3 & 7],
                                 .endianness = {data[0] >> 6 & 1}};
    struct arena *a = arena_new();
    struct sr_field field;
    fuzz_field(a, &field, "a", types[data[0] & 7]);
    struct fuzz_format f = {.type = sr_plugin_raw.formats[0], .conf = &conf};
    f.schema = (struct sr_schema){.fields = 1, .field = &field, .rowtime = -1};
    /* What may hold line ends is not what was written, once it is read again. */
    bool is_framed_by_lines = (data[0] & 7) >= 2 && (data[0] & 7) <= 6;
    fuzz_format(&f, data + 1, (uint32_t)size - 1, 1, !is_framed_by_lines);
    arena_free(a);
    return 0;
}
