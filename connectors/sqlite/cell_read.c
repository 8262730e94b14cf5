#include "connectors/sqlite/cell_read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "connectors/common/note.h"
#include "connectors/text/real.h"
#include "connectors/text/utf8.h"

#define CELL_SHOWN 200 /* bytes of a text that a bad row shows */

static enum value_rc cell_read_whole(struct sr_builder *b, uint32_t c, const struct value *v,
                                     int64_t n)
{
    char text[32];
    switch (v->op) {
    case VALUE_BOOL:
        sr_put_bool(b, c, n != 0);
        return n == 0 || n == 1 ? VALUE_OK : VALUE_RANGE;
    case VALUE_I8:
    case VALUE_I16:
    case VALUE_I32:
    case VALUE_I64:
    case VALUE_F32:
    case VALUE_F64:
    case VALUE_DECIMAL:
    case VALUE_TEXT:
        return value_put(b, c, v, text,
                         (uint32_t)snprintf(text, sizeof(text), "%lld", (long long)n), NULL);
    case VALUE_BYTES:
    case VALUE_DATE:
    case VALUE_TIME:
    case VALUE_STAMP:
    case VALUE_JSON:
    case VALUE_NESTED:
        break;
    }
    return VALUE_BAD;
}

static enum value_rc cell_read_real(struct sr_builder *b, uint32_t c, const struct value *v,
                                    double x)
{
    char text[REAL_TEXT_MAX];
    switch (v->op) {
    case VALUE_F32:
        sr_put_f32(b, c, (float)x);
        return VALUE_OK;
    case VALUE_F64:
        sr_put_f64(b, c, x);
        return VALUE_OK;
    case VALUE_DECIMAL:
    case VALUE_TEXT:
        return value_put(b, c, v, text, real_put_f64(text, x), NULL);
    case VALUE_I8:
    case VALUE_I16:
    case VALUE_I32:
    case VALUE_I64: /* 3.0 in a column of another affinity is a 3 */
        if (x == floor(x) && fabs(x) < 0x1p63) {
            return cell_read_whole(b, c, v, (int64_t)x);
        }
        return VALUE_INEXACT;
    case VALUE_BOOL:
    case VALUE_BYTES:
    case VALUE_DATE:
    case VALUE_TIME:
    case VALUE_STAMP:
    case VALUE_JSON:
    case VALUE_NESTED:
        break;
    }
    return VALUE_BAD;
}

static enum value_rc cell_read_blob(struct sr_builder *b, uint32_t c, const struct value *v,
                                    const void *bytes, uint32_t len)
{
    if (v->op != VALUE_BYTES || (v->type.kind == SR_BINARY && len != (uint32_t)v->length) ||
        len > (uint32_t)v->length) {
        return v->op == VALUE_BYTES ? VALUE_RANGE : VALUE_BAD;
    }
    sr_put_bytes(b, c, len > 0 ? bytes : "", len);
    return b->is_broken ? VALUE_MEMORY : VALUE_OK;
}

static enum value_rc cell_read_text(struct sr_builder *b, uint32_t c, const struct cell_type *t,
                                    const char *text, uint32_t len)
{
    if (t->value.op == VALUE_BYTES) {
        return VALUE_BAD; /* of which bytes? */
    }
    if (!utf8_is_valid(text, len)) {
        return VALUE_UTF8;
    }
    enum value_rc rc = value_put(b, c, &t->value, text, len, NULL);
    return rc == VALUE_BAD && t->may_have_zone ? value_put(b, c, &t->zoned, text, len, NULL) : rc;
}

bool cell_type_init(struct cell_type *t, const struct sr_field *field)
{
    const unsigned how = MOMENT_SPACE | MOMENT_T;
    struct sr_field plain = *field;
    *t = (struct cell_type){.is_nested = sr_is_nested(field->type.kind)};
    if (t->is_nested) {
        (void)value_init(&t->value, field, how, MOMENT_SPACE); /* not one text: op says so */
        return json_cells_check(field, NULL) == SR_OK;
    }
    t->may_have_zone = field->type.kind == SR_TIMESTAMP_LTZ;
    if (t->may_have_zone) {
        plain.type.kind = SR_TIMESTAMP;
    }
    return field->type.kind != SR_VARIANT && value_init(&t->value, &plain, how, MOMENT_SPACE) &&
           value_init(&t->zoned, field, how | MOMENT_OFFSET, MOMENT_SPACE);
}

/* The text of a value, for words. */
static uint32_t cell_show(sqlite3_stmt *s, int column, char *to, size_t size)
{
    int n = 0;
    switch (sqlite3_column_type(s, column)) {
    case SQLITE_INTEGER:
        n = snprintf(to, size, "%lld", (long long)sqlite3_column_int64(s, column));
        break;
    case SQLITE_FLOAT:
        return real_put_f64(to, sqlite3_column_double(s, column));
    case SQLITE_TEXT:
        n = snprintf(to, size, "%.*s", CELL_SHOWN / 2,
                     (const char *)sqlite3_column_text(s, column));
        break;
    case SQLITE_BLOB:
        n = snprintf(to, size, "a blob of %d bytes", sqlite3_column_bytes(s, column));
        break;
    default:
        break;
    }
    return n < (int)size ? (uint32_t)n : (uint32_t)size - 1;
}

bool cell_read(struct sr_builder *b, uint32_t c, const struct cell_type *t,
               struct json_cells *nested, sqlite3_stmt *s, char words[JSON_CELL_WORDS])
{
    const struct value *v = &t->value;
    enum value_rc rc = VALUE_OK;
    int column = (int)c;
    if (t->is_nested && sqlite3_column_type(s, column) == SQLITE_TEXT) {
        return json_cells_put(nested, b, c, (const char *)sqlite3_column_text(s, column),
                              (uint32_t)sqlite3_column_bytes(s, column), words);
    }
    switch (sqlite3_column_type(s, column)) {
    case SQLITE_NULL:
        rc = value_put_null(b, c, v);
        break;
    case SQLITE_INTEGER:
        rc = cell_read_whole(b, c, v, sqlite3_column_int64(s, column));
        break;
    case SQLITE_FLOAT:
        rc = cell_read_real(b, c, v, sqlite3_column_double(s, column));
        break;
    case SQLITE_BLOB:
        rc = cell_read_blob(b, c, v, sqlite3_column_blob(s, column),
                            (uint32_t)sqlite3_column_bytes(s, column));
        break;
    default:
        rc = cell_read_text(b, c, t, (const char *)sqlite3_column_text(s, column),
                            (uint32_t)sqlite3_column_bytes(s, column));
        break;
    }
    if (rc != VALUE_OK) {
        char shown[CELL_SHOWN];
        uint32_t len = cell_show(s, column, shown, sizeof(shown));
        value_words(words, JSON_CELL_WORDS, v, rc, shown, len);
    }
    return rc == VALUE_OK;
}

static bool cell_put(struct sr_out *out, const char *text, size_t len)
{
    uint8_t *to = sr_out_room(out, len);
    if (to) {
        memcpy(to, text, len);
        out->len += len;
    }
    return to != NULL;
}

static bool cell_put_quoted(struct sr_out *out, const char *text, size_t len)
{
    bool is_put = cell_put(out, "\"", 1);
    for (size_t i = 0; is_put && i < len; i++) {
        char escaped[8];
        uint8_t byte = (uint8_t)text[i];
        bool is_plain = byte >= ' ' && byte != '"' && byte != '\\';
        int n = is_plain ? 0 : snprintf(escaped, sizeof(escaped), "\\u%04x", byte);
        is_put = is_plain ? cell_put(out, &text[i], 1) : cell_put(out, escaped, (size_t)n);
    }
    return is_put && cell_put(out, "\"", 1);
}

bool cell_describe(sqlite3_stmt *s, int columns, struct sr_out *out)
{
    bool is_put = cell_put(out, "{", 1);
    for (int i = 0; is_put && i < columns; i++) {
        const char *name = sqlite3_column_name(s, i);
        char shown[CELL_SHOWN];
        int type = sqlite3_column_type(s, i);
        is_put = (i == 0 || cell_put(out, ",", 1)) &&
                 cell_put_quoted(out, name ? name : "", name ? strlen(name) : 0) &&
                 cell_put(out, ":", 1);
        if (type == SQLITE_TEXT) {
            is_put = is_put && cell_put_quoted(out, (const char *)sqlite3_column_text(s, i),
                                               (size_t)sqlite3_column_bytes(s, i));
        } else if (type == SQLITE_NULL) {
            is_put = is_put && cell_put(out, "null", 4);
        } else {
            uint32_t len = cell_show(s, i, shown, sizeof(shown));
            is_put = is_put && (type == SQLITE_BLOB ? cell_put_quoted(out, shown, len)
                                                    : cell_put(out, shown, len));
        }
    }
    return is_put && cell_put(out, "}", 1);
}
