#include "connectors/text/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "connectors/text/base64.h"
#include "connectors/text/instant.h"
#include "connectors/text/number.h"
#include "connectors/text/real.h"

void value_type_name(const struct sr_type *t, char out[48])
{
    const char *word = sr_kind_word(t->kind);
    bool is_text = sr_is_string(t->kind);
    if (t->kind == SR_DECIMAL) {
        (void)snprintf(out, 48, "DECIMAL(%d, %d)", t->length, t->scale);
    } else if (is_text && t->length == SR_LENGTH_MAX) {
        (void)snprintf(out, 48, "%s", sr_is_text(t->kind) ? "STRING" : "BYTES");
    } else if (is_text || (t->kind >= SR_TIME && t->kind <= SR_TIMESTAMP_LTZ)) {
        (void)snprintf(out, 48, "%s(%d)", word, t->length);
    } else {
        (void)snprintf(out, 48, "%s", word);
    }
}

static bool value_op_of(enum sr_kind kind, enum value_op *op)
{
    static const int8_t ops[SR_KIND_COUNT] = {
        [SR_BOOLEAN] = VALUE_BOOL,
        [SR_TINYINT] = VALUE_I8,
        [SR_SMALLINT] = VALUE_I16,
        [SR_INT] = VALUE_I32,
        [SR_BIGINT] = VALUE_I64,
        [SR_FLOAT] = VALUE_F32,
        [SR_DOUBLE] = VALUE_F64,
        [SR_DECIMAL] = VALUE_DECIMAL,
        [SR_CHAR] = VALUE_TEXT,
        [SR_VARCHAR] = VALUE_TEXT,
        [SR_BINARY] = VALUE_BYTES,
        [SR_VARBINARY] = VALUE_BYTES,
        [SR_DATE] = VALUE_DATE,
        [SR_TIME] = VALUE_TIME,
        [SR_TIMESTAMP] = VALUE_STAMP,
        [SR_TIMESTAMP_LTZ] = VALUE_STAMP,
        [SR_INTERVAL_MONTH] = VALUE_I32,
        [SR_INTERVAL_SECOND] = VALUE_I64,
        [SR_ARRAY] = VALUE_NESTED,
        [SR_MAP] = VALUE_NESTED,
        [SR_MULTISET] = VALUE_NESTED,
        [SR_ROW] = VALUE_NESTED,
        [SR_NULL] = -1,
        [SR_VARIANT] = VALUE_JSON,
    };
    if (kind >= SR_KIND_COUNT || ops[kind] < 0) {
        return false;
    }
    *op = (enum value_op)ops[kind];
    return *op != VALUE_NESTED;
}

bool value_init(struct value *v, const struct sr_field *field, unsigned stamp, unsigned stamp_put)
{
    const struct sr_type *t = &field->type;
    *v = (struct value){.is_nullable = t->is_nullable,
                        .is_large = sr_value_size(t) == 16,
                        .length = t->length,
                        .scale = t->scale,
                        .nano_unit = 1,
                        .how = stamp & (MOMENT_SPACE | MOMENT_T),
                        .how_put = stamp_put,
                        .type = *t,
                        .name = field->name};
    if (t->kind == SR_TIMESTAMP_LTZ) {
        v->how |= (stamp & MOMENT_OFFSET) != 0 ? MOMENT_OFFSET : MOMENT_ZULU;
        v->how_put |= MOMENT_ZULU;
    }
    for (int32_t i = t->length; i < 9; i++) {
        v->nano_unit *= 10;
    }
    return value_op_of(t->kind, &v->op);
}

/* --- Reading --------------------------------------------------------------------------------- */

static enum value_rc value_from_number(enum number_rc rc)
{
    switch (rc) {
    case NUMBER_OK:
        return VALUE_OK;
    case NUMBER_BAD:
        return VALUE_BAD;
    case NUMBER_RANGE:
        return VALUE_RANGE;
    case NUMBER_INEXACT:
        return VALUE_INEXACT;
    }
    return VALUE_BAD;
}

static enum value_rc value_from_real(enum real_rc rc)
{
    if (rc == REAL_OK) {
        return VALUE_OK;
    }
    return rc == REAL_RANGE ? VALUE_RANGE : VALUE_BAD;
}

enum value_rc value_put_number(struct sr_builder *b, uint32_t c, const struct value *v, int64_t n)
{
    if (v->op == VALUE_I64) {
        sr_put_i64(b, c, n);
    } else if (v->op == VALUE_I32) {
        sr_put_i32(b, c, (int32_t)n);
        return n == (int32_t)n ? VALUE_OK : VALUE_RANGE;
    } else if (v->op == VALUE_I16) {
        sr_put_i16(b, c, (int16_t)n);
        return n == (int16_t)n ? VALUE_OK : VALUE_RANGE;
    } else {
        sr_put_i8(b, c, (int8_t)n);
        return n == (int8_t)n ? VALUE_OK : VALUE_RANGE;
    }
    return VALUE_OK;
}

static enum value_rc value_put_decimal(struct sr_builder *b, uint32_t c, const struct value *v,
                                       const char *s, uint32_t len)
{
    __int128 n = 0;
    enum number_rc rc = number_get_decimal(s, len, v->length, v->scale, &n);
    if (rc != NUMBER_OK) {
        return value_from_number(rc);
    }
    if (v->is_large) {
        ((struct sr_wide *)b->col[c]->values)[b->rows] = number_to_wide(n);
    } else {
        sr_put_i64(b, c, (int64_t)n);
    }
    return VALUE_OK;
}

static enum value_rc value_put_stamp(struct sr_builder *b, uint32_t c, const struct value *v,
                                     const char *s, uint32_t len)
{
    struct moment m = {0};
    if (!moment_get(s, len, v->how, &m)) {
        return VALUE_BAD;
    }
    m.nano -= m.nano % v->nano_unit;
    if (v->is_large) {
        ((struct sr_instant *)b->col[c]->values)[b->rows] =
            (struct sr_instant){.ms = m.seconds * 1000 + m.nano / 1000000, .ns = m.nano % 1000000};
    } else {
        sr_put_i64(b, c, m.seconds * 1000000 + m.nano / 1000);
    }
    return VALUE_OK;
}

static enum value_rc value_put_text(struct sr_builder *b, uint32_t c, const char *s, uint32_t len,
                                    const struct sr_buffer *buffer)
{
    if (buffer && b->col[c]->bytes == buffer) {
        sr_put_span(b, c, (uint32_t)((const uint8_t *)s - buffer->data), len);
        return VALUE_OK;
    }
    sr_put_bytes(b, c, s, len);
    return b->is_broken ? VALUE_MEMORY : VALUE_OK;
}

static enum value_rc value_put_base64(struct sr_builder *b, uint32_t c, const char *s, uint32_t len)
{
    uint8_t *to = sr_put_space(b, c, len / 4 * 3 + 3);
    if (!to) {
        return VALUE_MEMORY;
    }
    uint32_t size = 0;
    struct sr_column *k = b->col[c];
    struct sr_span *span = &((struct sr_span *)k->values)[b->rows];
    bool is_good = base64_get(s, len, to, &size);
    k->bytes_used -= span->len - size;
    span->len = size;
    return is_good ? VALUE_OK : VALUE_BAD;
}

/* Java's trim: what is not text may stand between blanks. */
static void value_trim(const char **s, uint32_t *len)
{
    while (*len > 0 && (unsigned char)(*s)[*len - 1] <= ' ') {
        --*len;
    }
    while (*len > 0 && (unsigned char)**s <= ' ') {
        ++*s;
        --*len;
    }
}

static enum value_rc value_put_integer(struct sr_builder *b, uint32_t c, const struct value *v,
                                       const char *s, uint32_t len)
{
    int64_t n = 0;
    enum number_rc rc = number_get_i64(s, len, &n);
    return rc == NUMBER_OK ? value_put_number(b, c, v, n) : value_from_number(rc);
}

enum value_rc value_put(struct sr_builder *b, uint32_t c, const struct value *v, const char *s,
                        uint32_t len, const struct sr_buffer *buffer)
{
    double f64 = 0;
    float f32 = 0;
    int32_t n = 0;
    enum value_rc rc = VALUE_OK;
    if (v->op == VALUE_TEXT) {
        return value_put_text(b, c, s, len, buffer);
    }
    if (len > 0 && ((unsigned char)s[0] <= ' ' || (unsigned char)s[len - 1] <= ' ')) {
        value_trim(&s, &len);
    }
    switch (v->op) {
    case VALUE_I8:
    case VALUE_I16:
    case VALUE_I32:
    case VALUE_I64:
        return value_put_integer(b, c, v, s, len);
    case VALUE_BOOL:
        /* Java's Boolean.parseBoolean, as Flink calls it: all but "true" is false. */
        sr_put_bool(b, c, len == 4 && strncasecmp(s, "true", 4) == 0);
        return VALUE_OK;
    case VALUE_F32:
        rc = value_from_real(real_get_f32(s, len, &f32));
        sr_put_f32(b, c, f32);
        return rc;
    case VALUE_F64:
        rc = value_from_real(real_get_f64(s, len, &f64));
        sr_put_f64(b, c, f64);
        return rc;
    case VALUE_DECIMAL:
        return value_put_decimal(b, c, v, s, len);
    case VALUE_BYTES:
        return value_put_base64(b, c, s, len);
    case VALUE_DATE:
        rc = moment_get_date(s, len, &n) ? VALUE_OK : VALUE_BAD;
        sr_put_i32(b, c, n);
        return rc;
    case VALUE_TIME:
        rc = moment_get_time(s, len, &n) ? VALUE_OK : VALUE_BAD;
        sr_put_i32(b, c, v->nano_unit > 1000000 ? n - n % (v->nano_unit / 1000000) : n);
        return rc;
    case VALUE_STAMP:
        return value_put_stamp(b, c, v, s, len);
    case VALUE_TEXT:
    case VALUE_JSON:
    case VALUE_NESTED:
        break;
    }
    return VALUE_BAD;
}

/* --- Words ----------------------------------------------------------------------------------- */

/* A hint for texts that are nearly right. */
static const char *value_hint(const struct value *v, const char *s, uint32_t len)
{
    bool is_iso = len > 10 && s[10] == 'T' && (v->how & (MOMENT_SPACE | MOMENT_T)) == MOMENT_SPACE;
    switch (v->op) {
    case VALUE_DATE:
        return " (yyyy-MM-dd)";
    case VALUE_TIME:
        return " (HH:mm:ss[.fraction])";
    case VALUE_STAMP:
        if (is_iso) return " (timestamp-format.standard: ISO-8601 takes a T)";
        if (v->type.kind == SR_TIMESTAMP_LTZ) {
            return (v->how & MOMENT_SPACE) != 0 ? " (yyyy-MM-dd HH:mm:ss[.fraction]Z)"
                                                : " (yyyy-MM-ddTHH:mm:ss[.fraction]Z)";
        }
        return (v->how & MOMENT_SPACE) != 0 ? " (yyyy-MM-dd HH:mm:ss[.fraction])"
                                            : " (yyyy-MM-ddTHH:mm:ss[.fraction])";
    case VALUE_BYTES:
        return " (base64)";
    case VALUE_BOOL:
    case VALUE_I8:
    case VALUE_I16:
    case VALUE_I32:
    case VALUE_I64:
    case VALUE_F32:
    case VALUE_F64:
    case VALUE_DECIMAL:
    case VALUE_TEXT:
    case VALUE_JSON:
    case VALUE_NESTED:
        return "";
    }
    return "";
}

#define VALUE_SHOWN_MAX 40u /* bytes of a refused text that are shown */

/* The text as people may see it: cut, and without control characters or half characters. */
static void value_shown(char out[VALUE_SHOWN_MAX + 4], const char *s, uint32_t len)
{
    uint32_t n = len < VALUE_SHOWN_MAX ? len : VALUE_SHOWN_MAX;
    for (uint32_t i = 0; i < n; i++) {
        bool is_plain = (unsigned char)s[i] >= 0x20 && (unsigned char)s[i] < 0x7F;
        out[i] = (char)(is_plain ? s[i] : '?');
    }
    (void)snprintf(out + n, VALUE_SHOWN_MAX + 4 - n, "%s", len > n ? "..." : "");
}

void value_words(char *words, size_t size, const struct value *v, enum value_rc rc, const char *s,
                 uint32_t len)
{
    char shown[VALUE_SHOWN_MAX + 4];
    char type[48];
    value_shown(shown, s, len);
    value_type_name(&v->type, type);
    switch (rc) {
    case VALUE_OK:
    case VALUE_BAD:
        (void)snprintf(words, size, "column '%.40s': '%s' is not a value of type %s%s", v->name,
                       shown, type, value_hint(v, s, len));
        break;
    case VALUE_RANGE:
        (void)snprintf(words, size, "column '%.40s': '%s' is out of the range of %s", v->name,
                       shown, type);
        break;
    case VALUE_INEXACT:
        (void)snprintf(words, size, "column '%.40s': '%s' is not an integer, as %s needs", v->name,
                       shown, type);
        break;
    case VALUE_UTF8:
        (void)snprintf(words, size, "column '%.40s': the text is not valid UTF-8", v->name);
        break;
    case VALUE_MISSING:
        (void)snprintf(words, size, "column '%.40s' is NOT NULL, and there is no value", v->name);
        break;
    case VALUE_MEMORY:
        (void)snprintf(words, size, "out of memory");
        break;
    }
}

/* --- Writing --------------------------------------------------------------------------------- */

static uint32_t value_print_decimal(const struct value *v, const struct sr_column *c, uint32_t r,
                                    enum value_decimal decimal, char *to)
{
    __int128 n = number_of_row(c, r);
    if (decimal == VALUE_DECIMAL_FULL) {
        return number_put_decimal(to, n, v->scale);
    }
    return number_put_stripped(to, n, v->scale, decimal == VALUE_DECIMAL_PLAIN);
}

static uint32_t value_print_bool(bool v, char *to)
{
    static const char yes[] = {'t', 'r', 'u', 'e'};
    static const char no[] = {'f', 'a', 'l', 's', 'e'};
    memcpy(to, v ? yes : no, v ? sizeof(yes) : sizeof(no));
    return v ? sizeof(yes) : sizeof(no);
}

uint32_t value_print(const struct value *v, const struct sr_column *c, uint32_t r,
                     enum value_decimal decimal, char *to)
{
    const void *values = c->values;
    switch (v->op) {
    case VALUE_BOOL:
        return value_print_bool(((const uint8_t *)values)[r] != 0, to);
    case VALUE_I8:
        return number_put_i64(to, ((const int8_t *)values)[r]);
    case VALUE_I16:
        return number_put_i64(to, ((const int16_t *)values)[r]);
    case VALUE_I32:
        return number_put_i64(to, ((const int32_t *)values)[r]);
    case VALUE_I64:
        return number_put_i64(to, ((const int64_t *)values)[r]);
    case VALUE_F32:
        return real_put_f32(to, ((const float *)values)[r]);
    case VALUE_F64:
        return real_put_f64(to, ((const double *)values)[r]);
    case VALUE_DECIMAL:
        return value_print_decimal(v, c, r, decimal, to);
    case VALUE_DATE:
        return moment_put_date(to, ((const int32_t *)values)[r]);
    case VALUE_TIME:
        return moment_put_time(to, ((const int32_t *)values)[r]);
    case VALUE_STAMP:
        return moment_put(to, instant_of_row(c, r), v->how_put);
    case VALUE_TEXT:
    case VALUE_BYTES:
    case VALUE_JSON:
    case VALUE_NESTED:
        break;
    }
    return 0;
}

/* --- Fields of a schema ---------------------------------------------------------------------- */

sr_rc value_check_schema(const struct sr_schema *schema, const char *format, struct sr_error *err)
{
    for (uint32_t i = 0; i < schema->fields; i++) {
        struct value v;
        if (value_init(&v, &schema->field[i], 0, 0)) {
            continue;
        }
        char type[48];
        value_type_name(&schema->field[i].type, type);
        if (err) {
            err->rc = SR_ECONFIG;
            (void)snprintf(err->words, sizeof(err->words),
                           "format %s: column '%s': type %s is not supported by this format; "
                           "declare it STRING to get its text",
                           format, schema->field[i].name, type);
        }
        return SR_ECONFIG;
    }
    return SR_OK;
}

void value_use_buffer(struct sr_builder *b, const struct value *values, struct sr_buffer *buffer)
{
    if (!buffer || b->rows > 0) {
        return;
    }
    for (uint32_t c = 0; c < b->cols; c++) {
        if (b->wanted[c] && values[c].op == VALUE_TEXT && b->col[c]->bytes != buffer) {
            b->host->builder_use(b, c, buffer);
        }
    }
}

struct sr_bad *value_bad(struct sr_decode *d, uint32_t at, uint32_t len)
{
    if (d->bads >= SR_BAD_MAX) {
        return NULL;
    }
    struct sr_bad *bad = &d->bad[d->bads++];
    bad->at = at;
    bad->len = len;
    bad->row = d->out->rows;
    bad->words[0] = '\0';
    return bad;
}
