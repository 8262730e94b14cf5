#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/csv/csv.h"
#include "connectors/text/base64.h"

enum {
    CSV_MARK_QUOTE = 1u << 0, /* a field with this byte is quoted */
    CSV_MARK_TWICE = 1u << 1, /* within quotes: written twice */
    CSV_MARK_ESCAPE = 1u << 2 /* without quotes: needs an escape in front */
};

sr_rc csv_encode_open(void *enc, const struct sr_format_open *o, struct sr_error *err)
{
    struct csv_encoder *x = enc;
    const struct csv_conf *conf = o->conf;
    x->host = o->host;
    x->is_scientific = conf->is_scientific;
    x->has_head = conf->has_head;
    sr_rc rc = csv_dialect_init(&x->dialect, conf, err);
    const struct csv_dialect *d = &x->dialect;
    if (rc == SR_OK) {
        rc = csv_columns_init(&x->columns, o, err);
    }
    const uint8_t either = CSV_MARK_QUOTE | CSV_MARK_ESCAPE;
    x->mark['\n'] = x->mark['\r'] = either;
    x->mark[(uint8_t)d->delimiter] = either;
    if (d->quote != CSV_NONE) {
        x->mark[(uint8_t)d->quote] = CSV_MARK_QUOTE | CSV_MARK_TWICE;
    }
    if (d->escape != CSV_NONE) {
        x->mark[(uint8_t)d->escape] = either | CSV_MARK_TWICE;
    }
    return rc;
}

void csv_encode_close(void *enc)
{
    struct csv_encoder *x = enc;
    csv_columns_done(&x->columns);
}

/* Texts that would be read as something else: nothing, NULL, a comment, a byte order mark. */
static bool csv_encode_is_odd(const struct csv_encoder *x, const char *s, uint32_t len)
{
    const struct csv_dialect *d = &x->dialect;
    if (len == 0 || (d->has_comments && s[0] == '#')) {
        return true;
    }
    if (d->null_literal && len == d->null_len && memcmp(s, d->null_literal, len) == 0) {
        return true;
    }
    return len >= 3 && memcmp(s, "\xEF\xBB\xBF", 3) == 0;
}

static char *csv_encode_quoted(const struct csv_encoder *x, char *to, const char *s, uint32_t len)
{
    *to++ = (char)x->dialect.quote;
    for (uint32_t i = 0; i < len; i++) {
        *to++ = s[i];
        if ((x->mark[(uint8_t)s[i]] & CSV_MARK_TWICE) != 0) {
            *to++ = s[i];
        }
    }
    *to++ = (char)x->dialect.quote;
    return to;
}

/* Without a quote character: by escapes. NULL: there is none, and one would be needed. */
static char *csv_encode_escaped(const struct csv_encoder *x, char *to, const char *s, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++) {
        char c = s[i];
        if ((x->mark[(uint8_t)c] & CSV_MARK_ESCAPE) != 0) {
            if (x->dialect.escape == CSV_NONE) {
                return NULL;
            }
            *to++ = (char)x->dialect.escape;
            c = c == '\n' ? 'n' : c;
            c = c == '\r' ? 'r' : c;
        }
        *to++ = c;
    }
    return to;
}

/* `to` has room for twice the text and two quotes. */
static char *csv_encode_text(const struct csv_encoder *x, char *to, const char *s, uint32_t len)
{
    if (x->dialect.quote == CSV_NONE) {
        return csv_encode_escaped(x, to, s, len);
    }
    uint8_t marks = 0;
    for (uint32_t i = 0; i < len; i++) {
        marks |= x->mark[(uint8_t)s[i]];
    }
    if (marks != 0 || csv_encode_is_odd(x, s, len)) {
        return csv_encode_quoted(x, to, s, len);
    }
    memcpy(to, s, len);
    return to + len;
}

/* Numbers and times, which need quotes only where the delimiter is one of their characters. */
static char *csv_encode_plain(const struct csv_encoder *x, char *to, const struct value *v,
                              const struct sr_column *c, uint32_t r)
{
    char text[VALUE_TEXT_MAX];
    uint32_t len =
        value_print(v, c, r, x->is_scientific ? VALUE_DECIMAL_JAVA : VALUE_DECIMAL_FULL, text);
    return csv_encode_text(x, to, text, len);
}

static char *csv_encode_bytes(const struct csv_encoder *x, char *to, const char *s, uint32_t len)
{
    if (len == 0 && x->dialect.quote != CSV_NONE) {
        *to++ = (char)x->dialect.quote;
        *to++ = (char)x->dialect.quote;
        return to;
    }
    base64_put(to, (const uint8_t *)s, len);
    return to + base64_put_size(len);
}

static char *csv_encode_null(const struct csv_encoder *x, char *to)
{
    if (x->dialect.null_len > 0) {
        memcpy(to, x->dialect.null_literal, x->dialect.null_len);
    }
    return to + x->dialect.null_len;
}

static char *csv_encode_value(const struct csv_encoder *x, char *to, const struct value *v,
                              const struct sr_column *c, uint32_t r)
{
    if (!sr_is_valid(c, r)) {
        return csv_encode_null(x, to);
    }
    if (v->op != VALUE_TEXT && v->op != VALUE_BYTES) {
        return csv_encode_plain(x, to, v, c, r);
    }
    uint32_t len = 0;
    const char *s = sr_text(c, r, &len);
    return v->op == VALUE_TEXT ? csv_encode_text(x, to, s, len) : csv_encode_bytes(x, to, s, len);
}

/* Bytes that a row may take at most. */
static size_t csv_encode_size(const struct csv_encoder *x, const struct sr_view *v, uint32_t r)
{
    size_t fixed = 2 * VALUE_TEXT_MAX + 4 + x->dialect.null_len;
    size_t size = fixed * x->columns.count + 1;
    for (uint32_t c = 0; c < x->columns.count; c++) {
        enum value_op op = x->columns.value[c].op;
        if (op == VALUE_TEXT || op == VALUE_BYTES) {
            size += 2 * (size_t)((const struct sr_span *)v->col[c]->values)[r].len;
        }
    }
    return size;
}

static sr_rc csv_encode_cannot(const struct csv_encoder *x, uint32_t c, struct sr_error *err)
{
    return x->host->fail(x->host, err, SR_EDATA,
                         "csv: column '%s' holds a delimiter or a newline, which cannot be written "
                         "without csv.quote-character or csv.escape-character",
                         x->columns.value[c].name);
}

sr_rc csv_encode(void *enc, const struct sr_view *v, uint32_t from, uint32_t count,
                 struct sr_out *out, size_t *end, uint32_t *done, struct sr_error *err)
{
    const struct csv_encoder *x = enc;
    for (uint32_t i = 0; i < count; i++) {
        *done = i;
        uint32_t r = sr_row(v, from + i);
        char *begin = (char *)sr_out_room(out, csv_encode_size(x, v, r));
        if (!begin) {
            return x->host->fail(x->host, err, SR_ENOMEM, "csv: out of memory");
        }
        char *to = begin;
        for (uint32_t c = 0; c < x->columns.count; c++) {
            if (c > 0) {
                *to++ = (char)x->dialect.delimiter;
            }
            to = csv_encode_value(x, to, &x->columns.value[c], v->col[c], r);
            if (!to) {
                return csv_encode_cannot(x, c, err);
            }
        }
        *to++ = '\n';
        out->len += (size_t)(to - begin);
        if (end) {
            end[i] = out->len;
        }
    }
    *done = count;
    return SR_OK;
}

sr_rc csv_encode_head(void *enc, struct sr_out *out, struct sr_error *err)
{
    const struct csv_encoder *x = enc;
    if (!x->has_head) {
        return SR_OK;
    }
    size_t size = 1;
    for (uint32_t c = 0; c < x->columns.count; c++) {
        size += 2 * strlen(x->columns.value[c].name) + 3;
    }
    char *begin = (char *)sr_out_room(out, size);
    if (!begin) {
        return x->host->fail(x->host, err, SR_ENOMEM, "csv: out of memory");
    }
    char *to = begin;
    for (uint32_t c = 0; c < x->columns.count; c++) {
        const char *name = x->columns.value[c].name;
        if (c > 0) {
            *to++ = (char)x->dialect.delimiter;
        }
        to = csv_encode_text(x, to, name, (uint32_t)strlen(name));
        if (!to) {
            return csv_encode_cannot(x, c, err);
        }
    }
    *to++ = '\n';
    out->len += (size_t)(to - begin);
    return SR_OK;
}
