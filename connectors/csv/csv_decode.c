#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/csv/csv_nest.h"
#include "connectors/csv/csv_plain.h"
#include "connectors/text/utf8.h"

/* Why a record was refused; the column's words are made only when they are needed. */
struct csv_fault {
    enum value_rc rc;
    const struct value *value; /* NULL: the words are of the record */
    const char *around;        /* the column that the value is in, when it is inside of one */
    const char *words;
    const char *text; /* of the field; may lie in the scratch */
    uint32_t len;
    uint32_t mark; /* 1 + the field's first byte; 0: it is of the record */
};

sr_rc csv_decode_open(void *dec, const struct sr_format_open *o, struct sr_error *err)
{
    struct csv_decoder *x = dec;
    const struct csv_conf *conf = o->conf;
    x->host = o->host;
    x->header = (enum csv_header)conf->header.index;
    sr_rc rc = csv_dialect_init(&x->dialect, conf, err);
    if (rc == SR_OK) {
        rc = csv_columns_init(&x->columns, o, err);
    }
    csv_scan_init(&x->scan, &x->dialect);
    x->pick = calloc(o->schema->fields + 1, sizeof(*x->pick));
    if (rc == SR_OK && !x->pick) {
        rc = x->host->fail(x->host, err, SR_ENOMEM, "csv: out of memory");
    }
    return rc;
}

void csv_decode_close(void *dec)
{
    struct csv_decoder *x = dec;
    csv_columns_done(&x->columns);
    free(x->scratch);
    free(x->pick);
    x->scratch = NULL;
    x->pick = NULL;
    x->scratch_size = 0;
}

static bool csv_decode_room(struct csv_decoder *x, uint32_t size)
{
    if (size <= x->scratch_size) {
        return true;
    }
    char *grown = realloc(x->scratch, (size_t)size * 2);
    if (!grown) {
        return false;
    }
    x->scratch = grown;
    x->scratch_size = size * 2;
    return true;
}

/* NULL where the field says so; VALUE_BAD: it does not. */
static bool csv_decode_is_null(const struct csv_decoder *x, const struct csv_field *f,
                               const struct value *v, const char *text)
{
    const struct csv_dialect *d = &x->dialect;
    if (d->null_literal && !f->is_quoted && f->len == d->null_len &&
        memcmp(text, d->null_literal, f->len) == 0) {
        return true;
    }
    if (f->len > 0 || v->op == VALUE_TEXT || v->op == VALUE_NESTED) {
        return false;
    }
    return v->op != VALUE_BYTES || !f->is_quoted;
}

/* What the field means: itself, or what is then in the scratch. NULL: out of memory. */
static const char *csv_decode_text(struct csv_decoder *x, const struct csv_field *f, uint32_t *len)
{
    if (!f->has_marks) {
        *len = f->len;
        return (const char *)x->scan.index.bytes + f->at;
    }
    if (!csv_decode_room(x, f->len)) {
        return NULL;
    }
    *len = csv_scan_plain(&x->scan, f, x->scratch);
    return x->scratch;
}

static enum value_rc csv_decode_nested(struct csv_decoder *x, struct sr_decode *d, uint32_t c,
                                       struct csv_inside *inside, struct csv_fault *fault)
{
    enum value_rc rc = csv_nest_put(&x->dialect, &x->columns.node[c], d->out, c, inside);
    if (rc != VALUE_OK) {
        *fault = (struct csv_fault){.value = inside->value,
                                    .around = x->columns.value[c].name,
                                    .words = inside->words,
                                    .text = inside->text,
                                    .len = inside->len};
    }
    return rc;
}

static enum value_rc csv_decode_value(struct csv_decoder *x, struct sr_decode *d, uint32_t c,
                                      const struct csv_field *f, struct csv_fault *fault)
{
    const struct value *v = &x->columns.value[c];
    if (csv_decode_is_null(x, f, v, (const char *)d->bytes + f->at)) {
        return value_put_null(d->out, c, v);
    }
    uint32_t len = 0;
    const char *text = csv_decode_text(x, f, &len);
    if (!text) {
        return VALUE_MEMORY;
    }
    bool is_text = v->op == VALUE_TEXT || v->op == VALUE_NESTED;
    if (is_text && x->scan.index.has_high && !utf8_is_valid(text, len)) {
        return VALUE_UTF8;
    }
    if (v->op == VALUE_NESTED) {
        struct csv_inside inside = {.text = text, .len = len};
        return csv_decode_nested(x, d, c, &inside, fault);
    }
    return value_put(d->out, c, v, text, len, f->has_marks ? NULL : d->buffer);
}

/* The value was refused: NULL where errors are ignored, else the fault of the record. */
static void csv_decode_refused(struct csv_decoder *x, struct sr_decode *d, uint32_t c,
                               const struct csv_field *f, struct csv_fault *fault)
{
    const struct value *v = &x->columns.value[c];
    bool is_whole =
        !fault->around; /* a ROW with a NULL where there may be none can be NULL itself */
    bool is_fatal = fault->rc == VALUE_MEMORY || (fault->rc == VALUE_MISSING && is_whole);
    if (x->dialect.is_lenient && !is_fatal) {
        fault->rc = value_put_null(d->out, c, v);
    }
    if (fault->around) {
        return;
    }
    fault->value = v;
    fault->text = csv_decode_text(x, f, &fault->len);
    if (!fault->text) {
        fault->rc = VALUE_MEMORY;
    }
}

/* Puts the field, or notes the first fault of the record. */
static inline void csv_decode_field(struct csv_decoder *x, struct sr_decode *d, uint32_t c,
                                    const struct csv_field *f, struct csv_fault *fault)
{
    if (fault->rc != VALUE_OK || !d->out->wanted[c]) {
        return;
    }
    /* Most fields: text that stays where it is. */
    if (x->columns.value[c].op == VALUE_TEXT && !f->has_marks && !x->dialect.null_literal &&
        !x->scan.index.has_high && d->buffer && d->out->col[c]->bytes == d->buffer) {
        sr_put_span(d->out, c, (uint32_t)(d->bytes - d->buffer->data) + f->at, f->len);
        return;
    }
    enum value_rc rc = csv_decode_value(x, d, c, f, fault);
    fault->rc = rc;
    if (rc != VALUE_OK) {
        fault->mark = f->at + 1;
        csv_decode_refused(x, d, c, f, fault);
    }
}

/* Columns that a short record does not have. */
static void csv_decode_short(struct csv_decoder *x, struct sr_decode *d, uint32_t from,
                             struct csv_fault *fault)
{
    if (!x->dialect.is_lenient) {
        *fault = (struct csv_fault){.rc = VALUE_BAD, .words = "fields are missing"};
        return;
    }
    for (uint32_t c = from; c < x->columns.count && fault->rc == VALUE_OK; c++) {
        if (d->out->wanted[c] && value_put_null(d->out, c, &x->columns.value[c]) != VALUE_OK) {
            *fault = (struct csv_fault){.rc = VALUE_MISSING, .value = &x->columns.value[c]};
        }
    }
}

/* Puts one record; the scan stands behind it, but for CSV_INCOMPLETE. *fields: how many it had. */
static enum csv_got csv_decode_record(struct csv_decoder *x, struct sr_decode *d, uint32_t *fields,
                                      struct csv_fault *fault)
{
    uint32_t c = 0;
    enum csv_got got = CSV_FIELD;
    while (got == CSV_FIELD) {
        if (c == x->wanted) {
            got = csv_scan_rest(&x->scan, &c);
            break;
        }
        struct csv_field f;
        got = csv_scan_field(&x->scan, &f);
        if (got > CSV_LAST) {
            break;
        }
        if (c < x->columns.count) {
            csv_decode_field(x, d, c, &f, fault);
        }
        c++;
    }
    *fields = c;
    if (got == CSV_UNCLOSED) {
        *fault = (struct csv_fault){.rc = VALUE_BAD, .words = "a quote is not closed"};
    } else if (got == CSV_TRAILING) {
        *fault = (struct csv_fault){.rc = VALUE_BAD, .words = "text stands behind a closing quote"};
    } else if (got == CSV_LAST && fault->rc == VALUE_OK && c < x->columns.count) {
        csv_decode_short(x, d, c, fault);
    } else if (got == CSV_LAST && fault->rc == VALUE_OK && c > x->columns.count) {
        *fault = (struct csv_fault){.rc = VALUE_BAD, .words = "there are too many fields"};
    }
    return got;
}

static void csv_decode_words(const struct csv_decoder *x, struct sr_bad *bad, uint32_t fields,
                             const struct csv_fault *fault)
{
    char path[90];
    if (fault->value && fault->around) {
        struct value named = *fault->value;
        bool is_field = named.name[0] != '\0' && strcmp(named.name, fault->around) != 0;
        (void)snprintf(path, sizeof(path), "%.40s%s%.40s", fault->around, is_field ? "." : "",
                       is_field ? named.name : "");
        named.name = path;
        value_words(bad->words, sizeof(bad->words), &named, fault->rc, fault->text, fault->len);
    } else if (fault->around) {
        (void)snprintf(bad->words, sizeof(bad->words), "column '%.40s': %s", fault->around,
                       fault->words);
    } else if (fault->value) {
        value_words(bad->words, sizeof(bad->words), fault->value, fault->rc, fault->text,
                    fault->len);
    } else if (fields != x->columns.count && fault->rc == VALUE_BAD) {
        (void)snprintf(bad->words, sizeof(bad->words), "%s: %u, and the schema has %u columns",
                       fault->words, fields, x->columns.count);
    } else {
        (void)snprintf(bad->words, sizeof(bad->words), "%s", fault->words);
    }
}

/* Ends the current row: done, bad or skipped. False: no room to note a bad one. */
static bool csv_decode_finish(struct csv_decoder *x, struct sr_decode *d, uint32_t at, uint32_t len,
                              uint32_t fields, const struct csv_fault *fault)
{
    struct sr_builder *b = d->out;
    if (fault->rc == VALUE_OK) {
        d->row_at[b->rows] = at;
        sr_row_done(b);
        return true;
    }
    sr_row_drop(b);
    if (x->dialect.is_lenient) {
        d->ignored++;
        return true;
    }
    struct sr_bad *bad = value_bad(d, at, len);
    if (bad) {
        csv_decode_words(x, bad, fields, fault);
        bad->mark = fault->mark > at ? fault->mark - at : 0;
    }
    return bad != NULL;
}

/* Length of a record without its newline, for the bytes of a bad one. */
static uint32_t csv_decode_length(const struct sr_decode *d, uint32_t at, uint32_t end)
{
    if (end > at && d->bytes[end - 1] == '\n') {
        end--;
    }
    if (end > at && d->bytes[end - 1] == '\r') {
        end--;
    }
    return end - at;
}

/* Blank lines (where a record has several fields) and comments are no records. */
static bool csv_decode_is_record(const struct csv_decoder *x, const struct sr_decode *d,
                                 uint32_t at)
{
    if (x->dialect.has_comments && d->bytes[at] == '#') {
        return false;
    }
    if (x->columns.count == 1) {
        return true;
    }
    return d->bytes[at] != '\n' && d->bytes[at] != '\r';
}

/* One record of a stream at d->used. *is_over: the call ends here. */
static sr_rc csv_decode_next(struct csv_decoder *x, struct sr_decode *d, bool *is_over,
                             struct sr_error *err)
{
    struct csv_scan *s = &x->scan;
    uint32_t at = d->used;
    if (!csv_decode_is_record(x, d, at)) {
        if (csv_scan_line(s)) {
            d->used = s->pos;
            d->skipped++;
        } else {
            *is_over = true;
        }
        return SR_OK;
    }
    struct csv_fault fault = {0};
    uint32_t fields = 0;
    enum csv_got got = csv_decode_record(x, d, &fields, &fault);
    if (got == CSV_INCOMPLETE && d->len - at < CSV_RECORD_BYTES_MAX) {
        sr_row_drop(d->out);
        *is_over = true;
        return SR_OK;
    }
    if (got == CSV_INCOMPLETE || got == CSV_UNCLOSED) {
        /* The quote is given up: its line is bad, and what follows is read as if it were not. */
        fault = (struct csv_fault){.rc = VALUE_BAD, .words = "a quote is not closed"};
        s->pos = at;
    }
    if (got > CSV_LAST) {
        fields = x->columns.count;
        if (!csv_scan_line(s)) { /* how much of a line is read, the source decides */
            sr_row_drop(d->out);
            *is_over = true;
            return SR_OK;
        }
    }
    if (fault.rc == VALUE_MEMORY) {
        return x->host->fail(x->host, err, SR_ENOMEM, "csv: out of memory");
    }
    if (csv_decode_finish(x, d, at, csv_decode_length(d, at, s->pos), fields, &fault)) {
        d->used = s->pos;
    } else {
        *is_over = true;
    }
    return SR_OK;
}

/* --- Header ---------------------------------------------------------------------------------- */

static sr_rc csv_decode_match(struct csv_decoder *x, const struct csv_field *f, uint32_t c,
                              struct sr_error *err)
{
    if (!csv_decode_room(x, f->len + 1)) {
        return x->host->fail(x->host, err, SR_ENOMEM, "csv: out of memory");
    }
    uint32_t len = f->len;
    if (f->has_marks) {
        len = csv_scan_plain(&x->scan, f, x->scratch);
    } else {
        memcpy(x->scratch, x->scan.index.bytes + f->at, len);
    }
    x->scratch[len] = '\0';
    if (len == 0) {
        return x->host->fail(x->host, err, SR_EDATA, "csv: field %u of the header has no name",
                             c + 1);
    }
    for (uint32_t i = 0; i < c && i < x->columns.count; i++) {
        if (strcmp(x->scratch, x->columns.value[i].name) == 0) {
            return x->host->fail(x->host, err, SR_EDATA,
                                 "csv: the header has two columns '%s', fields %u and %u",
                                 x->scratch, i + 1, c + 1);
        }
    }
    if (c >= x->columns.count) {
        return x->host->fail(x->host, err, SR_EDATA,
                             "csv: the header has a field '%s' behind the schema's %u columns",
                             x->scratch, x->columns.count);
    }
    if (strcmp(x->scratch, x->columns.value[c].name) != 0) {
        return x->host->fail(x->host, err, SR_EDATA,
                             "csv: field %u of the header is '%s', and the schema's column there "
                             "is '%s'; csv.header: skip reads by place",
                             c + 1, x->scratch, x->columns.value[c].name);
    }
    return SR_OK;
}

/* The header line at d->used, if there is a whole one. */
static sr_rc csv_decode_header(struct csv_decoder *x, struct sr_decode *d, bool *is_over,
                               struct sr_error *err)
{
    uint32_t c = 0;
    enum csv_got got = CSV_FIELD;
    while (got == CSV_FIELD) {
        struct csv_field f;
        got = csv_scan_field(&x->scan, &f);
        if (got == CSV_INCOMPLETE) {
            *is_over = true;
            return SR_OK;
        }
        if (got > CSV_LAST) {
            return x->host->fail(x->host, err, SR_EDATA, "csv: the header's quotes are not closed");
        }
        sr_rc rc = x->header == CSV_HEADER_MATCH ? csv_decode_match(x, &f, c, err) : SR_OK;
        if (rc != SR_OK) {
            return rc;
        }
        c++;
    }
    if (x->header == CSV_HEADER_MATCH && c < x->columns.count) {
        return x->host->fail(x->host, err, SR_EDATA,
                             "csv: the header ends before the schema's column '%s'",
                             x->columns.value[c].name);
    }
    d->used = x->scan.pos;
    d->skipped++;
    return SR_OK;
}

/* What may stand before the first record: a byte order mark, and a header. */
static sr_rc csv_decode_start(struct csv_decoder *x, struct sr_decode *d, bool *is_over,
                              struct sr_error *err)
{
    static const uint8_t mark[] = {0xEF, 0xBB, 0xBF};
    uint32_t n = d->len < 3 ? d->len : 3;
    if (n > 0 && memcmp(d->bytes, mark, n) == 0) {
        if (n < 3 && !d->at_end) {
            *is_over = true;
            return SR_OK;
        }
        d->used = n == 3 ? 3 : 0;
    }
    csv_scan_start(&x->scan, d->bytes, d->used, d->len, d->at_end);
    while (x->header != CSV_HEADER_NONE && d->used < d->len && !*is_over) {
        if (csv_decode_is_record(x, d, d->used)) {
            return csv_decode_header(x, d, is_over, err);
        }
        if (!csv_scan_line(&x->scan)) {
            *is_over = true;
            break;
        }
        d->used = x->scan.pos;
        d->skipped++;
    }
    *is_over = *is_over || (x->header != CSV_HEADER_NONE && d->used >= d->len);
    return SR_OK;
}

/* --- Calls ----------------------------------------------------------------------------------- */

/* Newlines from `at` on in what is used. */
static uint32_t csv_decode_lines(const struct sr_decode *d, uint32_t at)
{
    uint32_t lines = 0;
    for (uint32_t i = at; i < d->used; i++) {
        lines += d->bytes[i] == '\n' ? 1 : 0;
    }
    return lines;
}

static sr_rc csv_decode_stream(struct csv_decoder *x, struct sr_decode *d, struct sr_error *err)
{
    bool is_over = false;
    sr_rc rc = SR_OK;
    csv_scan_start(&x->scan, d->bytes, 0, d->len, d->at_end);
    if (d->at_start) {
        rc = csv_decode_start(x, d, &is_over, err);
    }
    uint32_t begin = d->used;
    if (is_over && !d->at_end) {
        d->used = d->skipped = 0; /* the header is not whole: the split still stands at its start */
    }
    d->lines = csv_decode_lines(d, 0);
    while (rc == SR_OK && !is_over && d->used < d->len && !sr_builder_is_full(d->out)) {
        if (!x->dialect.null_literal) {
            uint32_t before = d->out->rows;
            csv_plain_records(x, d);
            d->lines += d->out->rows - before; /* a line each */
        }
        if (d->used < d->len && !sr_builder_is_full(d->out)) {
            uint32_t at = d->used;
            rc = csv_decode_next(x, d, &is_over, err);
            d->lines += csv_decode_lines(d, at);
        }
    }
    bool is_only_mark = d->at_start && d->used == begin && d->used < d->len && d->skipped == 0;
    if (is_only_mark) {
        d->used = d->lines = 0;
    }
    return rc;
}

/* A message is one record. */
static sr_rc csv_decode_message(struct csv_decoder *x, struct sr_decode *d, bool *is_over,
                                struct sr_error *err)
{
    struct sr_span m = d->record[d->used];
    csv_scan_start(&x->scan, d->bytes, m.at, m.at + m.len, true);
    if (m.len == 0 || !csv_decode_is_record(x, d, m.at)) {
        d->skipped++;
        d->used++;
        return SR_OK;
    }
    struct csv_fault fault = {0};
    uint32_t fields = 0;
    enum csv_got got = csv_decode_record(x, d, &fields, &fault);
    fields = got > CSV_LAST ? x->columns.count : fields;
    if (got == CSV_LAST && x->scan.pos < m.at + m.len) {
        fault = (struct csv_fault){.rc = VALUE_BAD, .words = "the message has more than one line"};
        fields = x->columns.count;
    }
    if (fault.rc == VALUE_MEMORY) {
        return x->host->fail(x->host, err, SR_ENOMEM, "csv: out of memory");
    }
    if (csv_decode_finish(x, d, m.at, m.len, fields, &fault)) {
        d->used++;
    } else {
        *is_over = true;
    }
    return SR_OK;
}

sr_rc csv_decode(void *dec, struct sr_decode *d, struct sr_error *err)
{
    struct csv_decoder *x = dec;
    d->used = d->bads = d->skipped = d->ignored = d->left_out = 0;
    x->scan.index.has_high = false;
    x->picks = 0;
    for (uint32_t c = 0; c < x->columns.count; c++) {
        if (d->out->wanted[c]) {
            x->pick[x->picks++] = c;
        }
    }
    x->wanted = x->picks > 0 ? x->pick[x->picks - 1] + 1 : 0;
    value_use_buffer(d->out, x->columns.value, d->buffer);
    if (!d->record) {
        return csv_decode_stream(x, d, err);
    }
    bool is_over = false;
    sr_rc rc = SR_OK;
    while (rc == SR_OK && !is_over && d->used < d->records && !sr_builder_is_full(d->out)) {
        rc = csv_decode_message(x, d, &is_over, err);
    }
    return rc;
}
