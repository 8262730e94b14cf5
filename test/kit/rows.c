#include "test/kit/rows.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/data/schema.h"

struct sr_schema *rows_schema(struct arena *a, const char *text)
{
    struct sr_schema *s = arena_get(a, sizeof(*s));
    struct sr_field *field = arena_array(a, 64, sizeof(*field));
    *s = (struct sr_schema){.field = field, .rowtime = -1};
    char *copy = arena_text(a, text);
    uint32_t depth = 0;
    for (char *at = copy; *at;) {
        at += strspn(at, " ");
        char *name_end = strchr(at, ' ');
        ck_assert_ptr_nonnull(name_end);
        field[s->fields].name = arena_text_n(a, at, (size_t)(name_end - at));
        char *end = name_end;
        while (*end && (*end != ',' || depth > 0)) {
            depth += *end == '(' || *end == '<';
            depth -= *end == ')' || *end == '>';
            end++;
        }
        const char *type = arena_text_n(a, name_end + 1, (size_t)(end - name_end - 1));
        struct sr_error err = {0};
        uint32_t where = 0;
        ck_assert_msg(type_parse(a, type, &field[s->fields].type, &where, &err) == SR_OK, "%s: %s",
                      type, err.words);
        s->fields++;
        at = *end ? end + 1 : end;
    }
    return s;
}

struct sr_view *rows_empty(struct sr_home *home, const struct sr_schema *schema)
{
    struct sr_view *v = view_new(home, schema->fields);
    ck_assert_ptr_nonnull(v);
    for (uint32_t c = 0; c < schema->fields; c++) {
        v->col[c] = column_new(home, &schema->field[c].type, SR_BATCH_ROWS);
        ck_assert_ptr_nonnull(v->col[c]);
    }
    return v;
}

static bool rows_is_time(enum sr_kind k) { return k == SR_TIMESTAMP || k == SR_TIMESTAMP_LTZ; }

static void rows_put(struct sr_home *home, struct sr_column *c, uint32_t r, const char *text)
{
    long long n = atoll(text);
    if (strcmp(text, "NULL") == 0) {
        column_set_null(c, r);
    } else if (sr_has_bytes(c->type.kind)) {
        ck_assert(column_put_bytes(home, c, r, text, (uint32_t)strlen(text)));
    } else if (c->type.kind == SR_DOUBLE) {
        ((double *)c->values)[r] = atof(text);
    } else if (c->type.kind == SR_FLOAT) {
        ((float *)c->values)[r] = (float)atof(text);
    } else if (sr_value_size(&c->type) == 16) {
        ((struct sr_wide *)c->values)[r] = (struct sr_wide){(uint64_t)n, n < 0 ? -1 : 0};
    } else if (rows_is_time(c->type.kind)) {
        ((int64_t *)c->values)[r] = n * 1000;
    } else {
        switch (sr_value_size(&c->type)) {
        case 1:
            ((int8_t *)c->values)[r] = (int8_t)n;
            break;
        case 2:
            ((int16_t *)c->values)[r] = (int16_t)n;
            break;
        case 4:
            ((int32_t *)c->values)[r] = (int32_t)n;
            break;
        default:
            ((int64_t *)c->values)[r] = n;
        }
    }
}

static const char *const rows_changes[] = {"+I", "-U", "+U", "-D"};

/* Leaves *at behind a change kind, if one stands there. */
static uint8_t rows_change(const char **at)
{
    for (uint8_t k = 0; k < 4; k++) {
        if (strncmp(*at, rows_changes[k], 2) == 0) {
            *at += 2 + strspn(*at + 2, " ");
            return k;
        }
    }
    return SR_INSERT;
}

struct sr_view *rows_view(struct sr_home *home, const struct sr_schema *schema, const char *text)
{
    struct sr_view *v = rows_empty(home, schema);
    v->change = buffer_new(home, SR_BATCH_ROWS);
    bool has_change = false;
    uint32_t r = 0;
    for (const char *at = text + strspn(text, " "); *at; r++) {
        ck_assert_uint_lt(r, SR_BATCH_ROWS);
        v->change->data[r] = rows_change(&at);
        has_change = has_change || v->change->data[r] != SR_INSERT;
        for (uint32_t c = 0; c < schema->fields; c++) {
            char value[4096];
            size_t len = strcspn(at, ",;");
            ck_assert_uint_lt(len, sizeof(value));
            memcpy(value, at, len);
            value[len] = '\0';
            rows_put(home, v->col[c], r, value);
            at += len;
            ck_assert_msg(c + 1 == schema->fields || *at == ',', "too few values: %s", text);
            at += *at == ',';
        }
        at += strspn(at, "; ");
    }
    v->rows = v->picked = r;
    for (uint32_t c = 0; c < schema->fields; c++) {
        v->col[c]->rows = r;
    }
    if (!has_change) {
        buffer_release(v->change);
        v->change = NULL;
    }
    return v;
}

static void rows_value(char *out, size_t size, const struct sr_column *c, uint32_t r)
{
    long long n = 0;
    if (!sr_is_valid(c, r)) {
        (void)snprintf(out, size, "NULL");
        return;
    }
    if (sr_has_bytes(c->type.kind)) {
        uint32_t len = ((const struct sr_span *)c->values)[r].len;
        (void)snprintf(out, size, "%.*s", (int)len, len > 0 ? sr_text(c, r, &len) : "");
        return;
    }
    if (c->type.kind == SR_DOUBLE || c->type.kind == SR_FLOAT) {
        double d = c->type.kind == SR_FLOAT ? (double)((const float *)c->values)[r]
                                            : ((const double *)c->values)[r];
        (void)snprintf(out, size, "%g", d);
        return;
    }
    switch (sr_value_size(&c->type)) {
    case 1:
        n = ((const int8_t *)c->values)[r];
        break;
    case 2:
        n = ((const int16_t *)c->values)[r];
        break;
    case 4:
        n = ((const int32_t *)c->values)[r];
        break;
    case 16:
        n = (long long)((const struct sr_wide *)c->values)[r].low;
        break;
    default:
        n = ((const int64_t *)c->values)[r];
    }
    (void)snprintf(out, size, "%lld", rows_is_time(c->type.kind) ? n / 1000 : n);
}

const char *rows_text(struct arena *a, const struct sr_view *v)
{
    size_t room = 4096, len = 0;
    char *text = malloc(room);
    text[0] = '\0';
    uint32_t n = 0;
    SR_EACH_ROW(v, r) {
        len += (size_t)snprintf(text + len, room - len, "%s%s ", n++ > 0 ? "; " : "",
                                rows_changes[sr_change_of(v, r)]);
        for (uint32_t c = 0; c < v->cols; c++) {
            char value[4096];
            rows_value(value, sizeof(value), v->col[c], r);
            if (room - len < 2 * sizeof(value)) {
                room *= 2;
                text = realloc(text, room + 2 * sizeof(value));
                room += 2 * sizeof(value);
            }
            len += (size_t)snprintf(text + len, room - len, "%s%s", c > 0 ? "," : "", value);
        }
    }
    const char *copy = arena_text(a, text);
    free(text);
    return copy;
}

void rows_set_watermarks(struct sr_home *home, struct sr_view *v, const int64_t *ms)
{
    buffer_release(v->watermark);
    v->watermark = buffer_new(home, SR_BATCH_ROWS * sizeof(int64_t));
    memcpy(v->watermark->data, ms, v->rows * sizeof(int64_t));
}
