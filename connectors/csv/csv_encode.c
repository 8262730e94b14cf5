#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/csv/csv_nest.h"
#include "connectors/text/base64.h"

enum {
    CSV_MARK_QUOTE = 1u << 0, /* a field with this byte is quoted */
    CSV_MARK_TWICE = 1u << 1, /* within quotes: written twice */
    CSV_MARK_ESCAPE = 1u << 2 /* without quotes: needs an escape in front */
};

/* Numbers and times are written unquoted, unless the user's characters are some of theirs. */
static bool csv_encode_is_safe(const struct csv_dialect *d)
{
    static const char theirs[] =
        "0123456789+-.: abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const int special[] = {d->delimiter, d->quote, d->escape};
    for (unsigned i = 0; i < 3; i++) {
        if (special[i] != CSV_NONE && strchr(theirs, special[i])) {
            return false;
        }
    }
    return !d->null_literal || d->null_len == 0 || strcmp(d->null_literal, "NULL") == 0 ||
           strspn(d->null_literal, theirs) < d->null_len;
}

sr_rc csv_encode_open(void *enc, const struct sr_format_open *o, struct sr_error *err)
{
    struct csv_encoder *x = enc;
    const struct csv_conf *conf = o->conf;
    x->host = o->host;
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
    uint8_t delimiter = (uint8_t)d->delimiter;
    x->needles = (struct copy_needles){.has_controls = true};
    x->needles.needle[0] = x->needles.needle[1] = delimiter;
    x->needles.needle[2] = d->quote == CSV_NONE ? delimiter : (uint8_t)d->quote;
    x->needles.needle[3] = d->escape == CSV_NONE ? delimiter : (uint8_t)d->escape;
    x->is_safe = csv_encode_is_safe(d);
    return rc;
}

void csv_encode_close(void *enc)
{
    struct csv_encoder *x = enc;
    csv_columns_done(&x->columns);
    free(x->scratch);
    x->scratch = NULL;
    x->scratch_size = 0;
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
            c = (char)(c == '\n' ? 'n' : c);
            c = (char)(c == '\r' ? 'r' : c);
        }
        *to++ = c;
    }
    return to;
}

/* A text that may need quotes; `to` has room for twice the text and two quotes. */
static char *csv_encode_odd(const struct csv_encoder *x, char *to, const char *s, uint32_t len)
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
    if (len > 0) {
        memcpy(to, s, len);
    }
    return to + len;
}

static inline char *csv_encode_text(const struct csv_encoder *x, char *to, const char *s,
                                    uint32_t len)
{
    if ((copy_text(&x->needles, to, s, len) & COPY_HIT) != 0 || csv_encode_is_odd(x, s, len)) {
        return csv_encode_odd(x, to, s, len);
    }
    return to + len;
}

/* Numbers and times. */
static inline char *csv_encode_plain(const struct csv_encoder *x, char *to, const struct value *v,
                                     const struct sr_column *c, uint32_t r)
{
    enum value_decimal how = x->dialect.decimal;
    if (x->is_safe) {
        return to + value_print(v, c, r, how, to);
    }
    char text[VALUE_TEXT_MAX];
    return csv_encode_text(x, to, text, value_print(v, c, r, how, text));
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

static char *csv_encode_nested(const struct csv_encoder *x, char *to, uint32_t c,
                               const struct sr_column *column, uint32_t r)
{
    int64_t len = csv_nest_print(&x->dialect, &x->columns.node[c], column, r, x->scratch);
    return len < 0 ? NULL : csv_encode_text(x, to, x->scratch, (uint32_t)len);
}

static char *csv_encode_value(const struct csv_encoder *x, char *to, uint32_t column,
                              const struct sr_column *c, uint32_t r)
{
    const struct value *v = &x->columns.value[column];
    if (!sr_is_valid(c, r)) {
        return csv_encode_null(x, to);
    }
    if (v->op == VALUE_NESTED) {
        return csv_encode_nested(x, to, column, c, r);
    }
    if (v->op != VALUE_TEXT && v->op != VALUE_BYTES) {
        return csv_encode_plain(x, to, v, c, r);
    }
    uint32_t len = 0;
    const char *s = sr_text(c, r, &len);
    return v->op == VALUE_TEXT ? csv_encode_text(x, to, s, len) : csv_encode_bytes(x, to, s, len);
}

/* Bytes that the rows may take at most: texts twice their length. */
static size_t csv_encode_size(const struct csv_encoder *x, const struct sr_encode *e)
{
    size_t fixed = VALUE_TEXT_MAX + 4 + x->dialect.null_len;
    size_t size = (fixed * x->columns.count + 1) * e->count;
    for (uint32_t c = 0; c < x->columns.count; c++) {
        enum value_op op = x->columns.value[c].op;
        if (op != VALUE_TEXT && op != VALUE_BYTES) {
            continue;
        }
        const struct sr_span *span = e->view->col[c]->values;
        for (uint32_t i = 0; i < e->count; i++) {
            size += 2 * (size_t)span[sr_row(e->view, e->from + i)].len;
        }
    }
    return size;
}

/* What the nested values of the rows add; makes room for each of them. SIZE_MAX: out of memory. */
static size_t csv_encode_nested_size(struct csv_encoder *x, const struct sr_encode *e)
{
    size_t size = 0, largest = 0;
    for (uint32_t c = 0; c < x->columns.count; c++) {
        const struct sr_column *column = e->view->col[c];
        for (uint32_t i = 0; x->columns.value[c].op == VALUE_NESTED && i < e->count; i++) {
            uint32_t r = sr_row(e->view, e->from + i);
            size_t one = sr_is_valid(column, r) ? csv_nest_size(&x->dialect, column, r) : 0;
            largest = one > largest ? one : largest;
            size += 2 * one;
        }
    }
    if (largest > x->scratch_size) {
        char *grown = realloc(x->scratch, largest);
        if (!grown) {
            return SIZE_MAX;
        }
        x->scratch = grown;
        x->scratch_size = largest;
    }
    return size;
}

static sr_rc csv_encode_cannot(const struct csv_encoder *x, uint32_t c, struct sr_error *err)
{
    if (x->columns.value[c].op == VALUE_NESTED && x->dialect.quote != CSV_NONE) {
        return x->host->fail(x->host, err, SR_EDATA,
                             "csv: column '%s' holds a value with csv.array-element-delimiter in "
                             "it, or a single empty one, which could not be read again",
                             x->columns.value[c].name);
    }
    return x->host->fail(x->host, err, SR_EDATA,
                         "csv: column '%s' holds a delimiter or a newline, which cannot be written "
                         "without csv.quote-character or csv.escape-character",
                         x->columns.value[c].name);
}

/* One row and its newline. NULL: column *col cannot be written. */
static char *csv_encode_row(const struct csv_encoder *x, char *to, const struct sr_view *v,
                            uint32_t r, uint32_t *col)
{
    const char delimiter = (char)x->dialect.delimiter;
    for (uint32_t c = 0; c < x->columns.count; c++) {
        to = csv_encode_value(x, to, c, v->col[c], r);
        if (!to) {
            *col = c;
            return NULL;
        }
        *to++ = delimiter;
    }
    to[-1] = '\n'; /* where the last delimiter stands */
    return to;
}

sr_rc csv_encode(void *enc, struct sr_encode *e, struct sr_error *err)
{
    struct csv_encoder *x = enc;
    e->done = 0;
    size_t nested = x->columns.has_nested ? csv_encode_nested_size(x, e) : 0;
    char *base =
        nested == SIZE_MAX ? NULL : (char *)sr_out_room(e->out, csv_encode_size(x, e) + nested);
    if (!base && e->count > 0) {
        return x->host->fail(x->host, err, SR_ENOMEM, "csv: out of memory");
    }
    char *to = base;
    const size_t len = e->out->len;
    for (uint32_t i = 0; i < e->count; i++) {
        uint32_t col = 0;
        char *behind = csv_encode_row(x, to, e->view, sr_row(e->view, e->from + i), &col);
        if (!behind) {
            return csv_encode_cannot(x, col, err);
        }
        to = behind;
        e->out->len = len + (size_t)(to - base);
        if (e->end) {
            e->end[i] = e->out->len;
        }
        e->done = i + 1;
    }
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
