#include "test/bench/expr_columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/bind/binder.h"
#include "engine/data/schema.h"
#include "engine/expr/decimal.h"
#include "engine/expr/promote.h"

#define NULLS_IN 8u /* one value in so many is NULL */

static void columns_need(bool is_good, const char *what)
{
    if (!is_good) {
        (void)fprintf(stderr, "expressions: %s\n", what);
        exit(1);
    }
}

static uint64_t columns_random(uint64_t *seed)
{
    uint64_t z = (*seed += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* The text of one value; answers its length. */
static int columns_text(uint32_t column, uint64_t x, char *text, size_t room)
{
    static const char *const words[] = {"alpha", "Beta", "gamma ray", "d\u00e9j\u00e0 vu", "e"};
    switch (column) {
    case HAND_S:
        return snprintf(text, room, "https://%s.example.org/%s/%u%s", x % 2 ? "shop" : "www",
                        x % 3 ? "item" : "about", (unsigned)(x >> 32) % 100000,
                        x % 5 ? ".html" : "?from=mail");
    case HAND_U:
        return snprintf(text, room, "%d", (int32_t)x >> (x >> 60));
    case HAND_V:
        return snprintf(text, room, "%" PRId64, (int64_t)x >> (x & 31));
    case HAND_W:
        return snprintf(text, room, "%.*g", (int)(x % 12) + 3, (double)(int64_t)x / 1e12);
    case HAND_O:
        return snprintf(text, room,
                        "{\"id\": %u, \"name\": \"%s\", \"tags\": [\"a\", \"b\"], "
                        "\"at\": {\"x\": %u.5, \"y\": null}}",
                        (unsigned)(x >> 40), words[x % 5], (unsigned)(x >> 32) % 100);
    case HAND_P:
        return snprintf(text, room, "%s,%s,%s", words[x % 5], words[x / 5 % 5], words[x / 25 % 5]);
    default:
        return snprintf(text, room, "20%02u-%02u-%02u %02u:%02u:%02u", (unsigned)(x % 30),
                        (unsigned)(x >> 8) % 12 + 1, (unsigned)(x >> 16) % 28 + 1,
                        (unsigned)(x >> 24) % 24, (unsigned)(x >> 32) % 60,
                        (unsigned)(x >> 40) % 60);
    }
}

static void columns_put(struct columns_world *w, struct sr_column *c, uint32_t r, uint32_t column,
                        uint64_t *seed)
{
    uint64_t x = columns_random(seed);
    char text[160];
    if (sr_is_string(c->type.kind)) {
        int len = columns_text(column, x, text, sizeof(text));
        columns_need(column_put_bytes(w->home, c, r, text, (uint32_t)len), "out of memory");
    } else if (c->type.kind == SR_DATE) {
        ((int32_t *)c->values)[r] = (int32_t)(x % 20000);
    } else if (c->type.kind == SR_INT) {
        ((int32_t *)c->values)[r] = (int32_t)(x % 201) - 100;
    } else if (c->type.kind == SR_BIGINT) {
        ((int64_t *)c->values)[r] = (int64_t)(x % 2001) - 1000;
    } else if (c->type.kind == SR_DOUBLE) {
        ((double *)c->values)[r] = (double)((int64_t)(x % 4001) - 2000) / 8.0;
    } else if (c->type.kind == SR_DECIMAL) {
        ((struct sr_wide *)c->values)[r] = decimal_to_wide((decimal)(int64_t)x * 5);
    } else {
        ((int64_t *)c->values)[r] = (int64_t)(x % 1700000000000) * 1000;
    }
}

static void columns_fill(struct columns_world *w, uint32_t batch, uint32_t column, bool with_nulls)
{
    uint64_t seed = (uint64_t)batch * 100 + column + 1;
    struct sr_column *c = column_new(w->home, &w->field[column].type, SR_BATCH_ROWS);
    columns_need(c != NULL, "out of memory");
    w->view[batch]->col[column] = c;
    c->rows = SR_BATCH_ROWS;
    for (uint32_t r = 0; r < SR_BATCH_ROWS; r++) {
        columns_put(w, c, r, column, &seed);
        if (with_nulls && columns_random(&seed) % NULLS_IN == 0) {
            column_set_null(c, r);
        }
    }
}

void columns_open(struct columns_world *w, bool with_nulls)
{
    static const char letters[] = HAND_COLUMNS;
    static const char *const types[HAND_COLS] = {
        "INT",    "INT",    "INT",    "BIGINT",         "BIGINT",           "BIGINT",
        "DOUBLE", "DOUBLE", "DOUBLE", "DECIMAL(20, 4)", "DECIMAL(20, 4)",   "STRING",
        "STRING", "STRING", "STRING", "TIMESTAMP(3)",   "TIMESTAMP_LTZ(3)", "DATE",
        "STRING", "STRING", "STRING"};
    *w = (struct columns_world){.arena = arena_new(), .home = home_new()};
    columns_need(w->arena && w->home, "out of memory");
    for (uint32_t c = 0; c < HAND_COLS; c++) {
        struct sr_error err = {0};
        uint32_t at;
        w->field[c].name = arena_text_n(w->arena, &letters[c], 1);
        columns_need(type_parse(w->arena, types[c], &w->field[c].type, &at, &err) == SR_OK,
                     err.words);
        w->field[c].type.is_nullable = with_nulls;
    }
    w->schema = (struct sr_schema){.fields = HAND_COLS, .field = w->field, .rowtime = -1};
    for (uint32_t b = 0; b < COLUMNS_BATCHES; b++) {
        struct sr_view *v = view_new(w->home, HAND_COLS);
        columns_need(v != NULL, "out of memory");
        v->rows = SR_BATCH_ROWS;
        v->picked = SR_BATCH_ROWS;
        w->view[b] = v;
        for (uint32_t c = 0; c < HAND_COLS; c++) {
            columns_fill(w, b, c, with_nulls);
        }
    }
}

void columns_close(struct columns_world *w)
{
    for (uint32_t b = 0; b < COLUMNS_BATCHES; b++) {
        view_release(w->view[b]);
    }
    home_close(w->home);
    arena_free(w->arena);
}

static const struct expr *columns_bind(struct columns_world *w, const char *text,
                                       const char **words)
{
    struct faults *faults = arena_get(w->arena, sizeof(*faults));
    struct job_text *t = arena_get(w->arena, sizeof(*t));
    columns_need(faults && t, "out of memory");
    faults_init(faults, w->arena);
    *t = (struct job_text){.text = text, .len = (uint32_t)strlen(text), .at = {NULL, 1, 1}};
    struct binder b = {.arena = w->arena, .faults = faults};
    struct scope s = {.binder = &b, .text = t, .in = &w->schema};
    const struct ast *n = bind_parse(&b, PARSE_EXPR, t);
    const struct expr *e = n ? bind_expr(&s, n) : NULL;
    *words = faults->count > 0 ? faults->fault[0].words : "out of memory";
    return e;
}

const struct expr *columns_try(struct columns_world *w, const char *text)
{
    const char *words;
    return columns_bind(w, text, &words);
}

const struct expr *columns_expr(struct columns_world *w, const char *text)
{
    const char *words;
    const struct expr *e = columns_bind(w, text, &words);
    columns_need(e != NULL, words);
    return e;
}

static int64_t columns_wall_us(const struct sr_host *h)
{
    (void)h;
    return INT64_C(1700000000123456);
}

static uint64_t columns_chance(const struct sr_host *h)
{
    (void)h;
    return UINT64_C(0x9E3779B97F4A7C15);
}

/* A clock that stands still, and the same number each time. */
static const struct sr_host columns_host = {
    .size = sizeof(columns_host), .wall_us = columns_wall_us, .random = columns_chance};

struct program *columns_program(struct columns_world *w, const struct expr *condition,
                                const struct expr *out)
{
    struct program *p = NULL;
    struct sr_error err = {0};
    struct program_conf conf = {.in = &w->schema,
                                .condition = condition,
                                .out = &out,
                                .outs = out ? 1 : 0,
                                .time_zone = "Europe/Berlin",
                                .host = &columns_host};
    columns_need(program_new(&p, &conf, &err) == SR_OK, err.words);
    return p;
}
