#include "test/unit/expr/batch.h"

#include <stdio.h>
#include <string.h>

#include "engine/expr/promote.h"
#include "engine/expr/value_text.h"
#include "test/unit/unit.h"

uint64_t batch_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static void batch_text(struct batch *b, struct sr_column *c, uint32_t r, uint64_t *seed)
{
    static const char *const words[] = {"",
                                        "a",
                                        "abc",
                                        "12",
                                        "-7",
                                        "x,y,z",
                                        "Ärger",
                                        "日本語",
                                        " pad ",
                                        "2020-02-29",
                                        "true",
                                        "1.5",
                                        "\xff\xfe",
                                        "a\xe6\x97",
                                        "stra\xc3\x9f"
                                        "e"};
    const char *w = words[batch_random(seed) % (sizeof(words) / sizeof(words[0]))];
    ck_assert(column_put_bytes(b->home, c, r, w, (uint32_t)strlen(w)));
}

static void batch_fill(struct batch *b, uint32_t column, uint32_t r, uint64_t *seed)
{
    struct sr_column *c = b->view->col[column];
    uint64_t x = batch_random(seed);
    switch (column) {
    case BATCH_I:
        ((int32_t *)c->values)[r] = (int32_t)(x % 21) - 10;
        break;
    case BATCH_L:
        ((int64_t *)c->values)[r] = x % 5 == 0 ? (int64_t)x : (int64_t)(x % 2001) - 1000;
        break;
    case BATCH_D:
        ((double *)c->values)[r] = (double)((int64_t)(x % 4001) - 2000) / 8.0;
        break;
    case BATCH_S:
        batch_text(b, c, r, seed);
        break;
    case BATCH_B:
        ((uint8_t *)c->values)[r] = x & 1;
        break;
    case BATCH_N:
        ((int64_t *)c->values)[r] = (int64_t)(x % 200001) - 100000;
        break;
    case BATCH_O:
        ((struct sr_instant *)c->values)[r] = (struct sr_instant){
            .ms = (int64_t)(x % 100) * 10000000000 - 300000000000, .ns = (int32_t)(x % 3)};
        break;
    default:
        ((int64_t *)c->values)[r] = ((int64_t)(x % 4000000000u) - 1000000000) * 1000000;
        break;
    }
}

void batch_open(struct batch *b, uint32_t rows, uint64_t seed, bool with_nulls)
{
    *b = (struct batch){.home = home_new(), .arena = arena_new()};
    const struct sr_type types[BATCH_COLS] = {type_of(SR_INT),
                                              type_of(SR_BIGINT),
                                              type_of(SR_DOUBLE),
                                              type_with(SR_VARCHAR, SR_LENGTH_MAX, 0),
                                              type_of(SR_BOOLEAN),
                                              type_with(SR_DECIMAL, 10, 2),
                                              type_with(SR_TIMESTAMP, 3, 0),
                                              type_with(SR_TIMESTAMP, 9, 0)};
    b->view = view_new(b->home, BATCH_COLS);
    ck_assert_ptr_nonnull(b->view);
    b->view->rows = rows;
    b->view->picked = rows;
    for (uint32_t c = 0; c < BATCH_COLS; c++) {
        b->field[c] = (struct sr_field){.name = "x", .type = types[c]};
        b->field[c].type.is_nullable = with_nulls;
        b->view->col[c] = column_new(b->home, &b->field[c].type, SR_BATCH_ROWS);
        ck_assert_ptr_nonnull(b->view->col[c]);
        b->view->col[c]->rows = rows;
        for (uint32_t r = 0; r < rows; r++) {
            batch_fill(b, c, r, &seed);
            if (with_nulls && batch_random(&seed) % 6 == 0) {
                column_set_null(b->view->col[c], r);
            }
        }
    }
    b->schema = (struct sr_schema){.fields = BATCH_COLS, .field = b->field, .rowtime = -1};
}

void batch_close(struct batch *b)
{
    view_release(b->view);
    home_close(b->home);
    arena_free(b->arena);
}

const struct expr *batch_col(struct batch *b, char letter)
{
    return expr_column(b->arena, &b->schema, (uint32_t)(strchr("ildsbnto", letter) - "ildsbnto"));
}

const struct expr *batch_num(struct batch *b, const char *text)
{
    struct sr_error err = {0};
    const struct expr *e = expr_number(b->arena, text, &err);
    ck_assert_msg(e != NULL, "%s", err.words);
    return e;
}

const struct expr *batch_str(struct batch *b, const char *text)
{
    return expr_string(b->arena, text, (uint32_t)strlen(text));
}

const struct expr *batch_call(struct batch *b, const char *name, const struct expr *x,
                              const struct expr *y, const struct expr *z)
{
    struct sr_error err = {0};
    const struct expr *arg[3] = {x, y, z};
    const struct expr *e = expr_call(b->arena, name, arg, z ? 3 : y ? 2 : 1, &err);
    ck_assert_msg(e != NULL, "%s: %s", name, err.words);
    return e;
}

const struct expr *batch_cast(struct batch *b, const struct expr *e, const char *type)
{
    struct sr_error err = {0};
    struct sr_type t;
    uint32_t at;
    ck_assert_int_eq(type_parse(b->arena, type, &t, &at, &err), SR_OK);
    e = expr_cast(b->arena, e, &t, false, &err);
    ck_assert_msg(e != NULL, "%s", err.words);
    return e;
}

const char *batch_value(const struct sr_column *c, uint32_t r, char *buffer, size_t room)
{
    uint32_t len;
    if (!sr_is_valid(c, r)) {
        return "NULL";
    }
    if (sr_has_bytes(c->type.kind)) {
        const char *s = sr_text(c, r, &len);
        (void)snprintf(buffer, room, "%.*s", (int)len, s);
        return buffer;
    }
    ck_assert_uint_gt(room, VALUE_TEXT_MAX);
    buffer[value_text(c, r, buffer)] = '\0';
    return buffer;
}
