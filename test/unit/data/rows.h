/* Rows of every type for the tests of this room: random, from a seed. */
#ifndef TEST_UNIT_DATA_ROWS_H
#define TEST_UNIT_DATA_ROWS_H

#include <stdio.h>
#include <string.h>

#include "engine/data/pool.h"
#include "engine/data/schema.h"

static inline uint64_t rows_random(uint64_t *seed)
{
    uint64_t z = (*seed += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* A value of a type that is not nested; some are NULL. */
static inline void rows_put(struct sr_home *h, struct sr_column *c, uint32_t r, uint64_t *seed)
{
    uint64_t x = rows_random(seed);
    uint64_t wide[2] = {x, rows_random(seed)};
    if (x % 5 == 0) {
        column_set_null(c, r);
    } else if (sr_has_bytes(c->type.kind)) {
        char text[40];
        int n = snprintf(text, sizeof(text), "%llx", (unsigned long long)x);
        (void)column_put_bytes(h, c, r, text, (uint32_t)n % 17);
    } else if (c->type.kind == SR_BOOLEAN) {
        ((uint8_t *)c->values)[r] = x & 1;
    } else if (sr_value_size(&c->type) == 16 && c->type.kind != SR_DECIMAL) {
        ((struct sr_instant *)c->values)[r] =
            (struct sr_instant){.ms = (int64_t)wide[1], .ns = (int32_t)(x % 1000000)};
    } else {
        uint32_t size = sr_value_size(&c->type);
        memcpy((uint8_t *)c->values + (size_t)r * size, wide, size);
    }
    c->rows = r + 1;
}

/* One column of each type without children. */
static inline struct sr_view *rows_view(struct sr_home *h, const struct sr_schema *s, uint32_t rows,
                                        uint64_t seed)
{
    struct sr_view *v = view_new(h, s->fields);
    for (uint32_t c = 0; c < s->fields; c++) {
        v->col[c] = column_new(h, &s->field[c].type, SR_BATCH_ROWS);
        for (uint32_t r = 0; r < rows; r++) {
            rows_put(h, v->col[c], r, &seed);
        }
        v->col[c]->rows = rows;
    }
    v->rows = v->picked = rows;
    return v;
}

static inline struct sr_schema rows_schema(struct arena *a)
{
    static const char *const types[] = {"BOOLEAN",
                                        "TINYINT",
                                        "SMALLINT",
                                        "INT",
                                        "BIGINT",
                                        "FLOAT",
                                        "DOUBLE",
                                        "DECIMAL(18, 2)",
                                        "DECIMAL(38, 10)",
                                        "CHAR(3)",
                                        "STRING",
                                        "BINARY(4)",
                                        "BYTES",
                                        "DATE",
                                        "TIME(3)",
                                        "TIMESTAMP(3)",
                                        "TIMESTAMP(9)",
                                        "TIMESTAMP_LTZ(6)",
                                        "TIMESTAMP_LTZ(9)",
                                        "INTERVAL MONTH",
                                        "INTERVAL SECOND"};
    uint32_t n = sizeof(types) / sizeof(types[0]);
    struct sr_field *f = arena_array(a, n, sizeof(*f));
    for (uint32_t i = 0; i < n; i++) {
        f[i].name = types[i];
        (void)!type_parse(a, types[i], &f[i].type, NULL, NULL);
    }
    return (struct sr_schema){.fields = n, .field = f, .rowtime = -1};
}

/* Equal as values: both NULL, or the same bytes. */
static inline bool rows_same(const struct sr_column *a, uint32_t r, const struct sr_column *b,
                             uint32_t k)
{
    if (!sr_is_valid(a, r) || !sr_is_valid(b, k)) {
        return sr_is_valid(a, r) == sr_is_valid(b, k);
    }
    if (sr_has_bytes(a->type.kind)) {
        uint32_t x = 0, y = 0;
        const char *s = sr_text(a, r, &x);
        const char *t = sr_text(b, k, &y);
        return x == y && memcmp(s, t, x) == 0;
    }
    size_t size = sr_value_size(&a->type);
    size_t used = size == 16 && a->type.kind != SR_DECIMAL ? 12 : size;
    return memcmp((uint8_t *)a->values + r * size, (uint8_t *)b->values + k * size, used) == 0;
}

#endif
