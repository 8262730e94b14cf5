/* libFuzzer target: an Avro schema, and a record of it. The schema ends at the first \0; what can
 * be read comes back when it is written and read again. */
#include "connectors/avro/avro_read.h"
#include "connectors/avro/avro_write.h"
#include "fuzz_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads a row into a view; NULL: it is bad. */
static struct sr_view *fuzz_row(struct fuzz_format *f, const struct avro_plan *p,
                                const uint8_t *bytes, uint32_t len)
{
    struct sr_builder b;
    struct sr_view *v = NULL;
    struct avro_fault fault;
    FUZZ_CHECK(builder_open(&b, f->home, &f->host, &f->schema, NULL, NULL) == SR_OK);
    if (avro_read_row(p, &b, bytes, len, &fault)) {
        sr_row_done(&b);
        FUZZ_CHECK(b.is_broken || builder_seal(&b, &v, NULL) == SR_OK);
    } else {
        FUZZ_CHECK(fault.why[0] != '\0' && fault.mark <= len);
    }
    builder_close(&b);
    return v;
}

static void fuzz_plan(struct fuzz_format *f, const struct avro_schema *s, const uint8_t *bytes,
                      uint32_t len)
{
    char why[160];
    struct avro_plan *reads = avro_plan_new(s, &f->schema, false, why);
    struct avro_plan *writes = avro_plan_new(s, &f->schema, true, why);
    struct sr_view *v = reads ? fuzz_row(f, reads, bytes, len) : NULL;
    struct sr_out out = bytes_out();
    if (v && writes && avro_write_row(writes, v->col, 0, &out, why)) {
        struct sr_view *again = fuzz_row(f, reads, out.data ? out.data : bytes, (uint32_t)out.len);
        struct sr_out x = bytes_out(), y = bytes_out();
        FUZZ_CHECK(again);
        for (uint32_t c = 0; c < v->cols; c++) {
            FUZZ_CHECK(codec_put(&x, v->col[c], 0) && codec_put(&y, again->col[c], 0));
        }
        FUZZ_CHECK(x.len == y.len && memcmp(x.data, y.data, x.len) == 0);
        bytes_free(&x);
        bytes_free(&y);
        view_release(again);
    }
    bytes_free(&out);
    view_release(v);
    avro_plan_free(reads);
    avro_plan_free(writes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const columns[][2] = {{"a", "INT"},
                                             {"b", "STRING"},
                                             {"c", "DECIMAL(20, 2)"},
                                             {"d", "ARRAY<MAP<STRING, BIGINT>>"},
                                             {"e", "ROW<a DOUBLE, b BYTES, e ROW<a TIMESTAMP(9)>>"},
                                             {"f", "TIME(3)"}};
    const uint8_t *end = size < 20000 ? memchr(data, '\0', size) : NULL;
    if (!end) {
        return 0;
    }
    struct arena *a = arena_new();
    struct sr_field field[6];
    for (uint32_t i = 0; i < 6; i++) {
        fuzz_field(a, &field[i], columns[i][0], columns[i][1]);
    }
    struct fuzz_format f = {.home = home_new(), .env = env_posix(SR_LOG_ERROR)};
    f.schema = (struct sr_schema){.fields = 6, .field = field, .rowtime = -1};
    host_init(&f.host, &f.ctx, &f.env, f.home, "fuzz");
    struct avro_schema s;
    char why[160];
    if (avro_schema_read(&s, (const char *)data, why)) {
        fuzz_plan(&f, &s, end + 1, (uint32_t)(size - (size_t)(end + 1 - data)));
    } else {
        FUZZ_CHECK(why[0] != '\0');
    }
    avro_schema_done(&s);
    home_close(f.home);
    arena_free(a);
    return 0;
}
