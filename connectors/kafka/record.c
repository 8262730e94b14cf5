#include "connectors/kafka/record.h"

#include <stdlib.h>
#include <string.h>

#include "connectors/common/note.h"

/* --- Types of what is written beside the value ------------------------------------------------ */

#define RECORD_TEXT                                 \
    {                                               \
        .kind = SR_VARCHAR, .length = SR_LENGTH_MAX \
    }
#define RECORD_BYTES                                                       \
    {                                                                      \
        .kind = SR_VARBINARY, .is_nullable = true, .length = SR_LENGTH_MAX \
    }

static const struct sr_field record_header[] = {{"", RECORD_TEXT}, {"", RECORD_BYTES}};
static const struct sr_field record_pair[] = {{"key", RECORD_TEXT}, {"value", RECORD_BYTES}};
static const struct sr_field record_pairs[] = {
    {"", {.kind = SR_ROW, .children = 2, .child = record_pair}}};

const struct sr_metadata record_metadata[] = {
    [RECORD_HEADERS] =
        {"headers",
         {.kind = SR_MAP, .is_nullable = true, .children = 2, .child = record_header},
         "Headers of the record, each name once."},
    [RECORD_HEADER_LIST] =
        {"header-list",
         {.kind = SR_ARRAY, .is_nullable = true, .children = 1, .child = record_pairs},
         "Headers of the record in their order; a name may come again."},
    [RECORD_TIMESTAMP] = {"timestamp",
                          {.kind = SR_TIMESTAMP_LTZ, .is_nullable = true, .length = 3},
                          "Timestamp of the record; the time of writing where it is NULL."},
    [RECORD_TOPIC] = {"topic",
                      {.kind = SR_VARCHAR, .is_nullable = true, .length = SR_LENGTH_MAX},
                      "Topic that the record goes to: one of those of `topic`."},
    {NULL, {.kind = SR_NULL}, NULL}};

/* --- Opening ---------------------------------------------------------------------------------- */

static sr_rc record_no_memory(const struct sr_host *host, struct sr_error *err)
{
    return host->fail(host, err, SR_ENOMEM, "kafka: out of memory");
}

static void record_part_close(struct record_part *p)
{
    encoder_close(&p->encoder);
    note_free(&p->bytes);
    free(p->col);
    free(p->view);
    free(p->begin);
    free(p->end);
    free(p->absent);
}

/* `o` names the format and its columns as those of the sink. */
static sr_rc record_part_open(struct record_part *p, const struct sr_sink_open *o,
                              const uint32_t *column, struct sr_error *err)
{
    p->fields = o->schema->fields;
    p->column = column;
    p->is_raw = strcmp(o->format->name, "raw") == 0;
    p->bytes = note_out();
    p->col = calloc((size_t)p->fields + 1, sizeof(struct sr_column *));
    p->view = calloc(1, sizeof(*p->view));
    p->begin = calloc(SR_BATCH_ROWS, sizeof(*p->begin));
    p->end = calloc(SR_BATCH_ROWS, sizeof(*p->end));
    p->absent = calloc(SR_BATCH_ROWS, sizeof(*p->absent));
    bool has_all = p->col && p->view && p->begin && p->end && p->absent;
    return has_all ? encoder_open(&p->encoder, o, err) : record_no_memory(o->host, err);
}

sr_rc records_open(struct records *r, const struct sr_sink_open *o, bool is_upsert,
                   struct sr_error *err)
{
    r->host = o->host;
    r->is_upsert = is_upsert;
    for (uint32_t m = 0; m < RECORD_METADATA; m++) {
        r->metadata[m] = -1;
    }
    for (uint32_t c = 0; o->keyed->metadata && c < o->schema->fields; c++) {
        if (o->keyed->metadata[c] >= 0) {
            r->metadata[o->keyed->metadata[c]] = (int32_t)c;
        }
    }
    struct sr_sink_open part = *o;
    part.schema = o->keyed->value;
    sr_rc rc = record_part_open(&r->value, &part, o->keyed->value_column, err);
    if (rc == SR_OK && o->keyed->key_format) {
        part.schema = o->keyed->key;
        part.format = o->keyed->key_format;
        part.format_conf = o->keyed->key_conf;
        rc = record_part_open(&r->key, &part, o->keyed->key_column, err);
    }
    return rc;
}

void records_close(struct records *r)
{
    record_part_close(&r->value);
    record_part_close(&r->key);
    *r = (struct records){.host = NULL};
}

/* --- Encoding --------------------------------------------------------------------------------- */

/* Behind the row's text: most formats end it as a line, which a record is not. */
static size_t record_trimmed(const uint8_t *bytes, size_t begin, size_t end, uint32_t delimiter)
{
    if (delimiter == SR_NO_DELIMITER) {
        return end;
    }
    if (delimiter > 0) {
        return end - begin >= delimiter ? end - delimiter : end;
    }
    return end > begin && bytes[end - 1] == '\n' ? end - 1 : end;
}

/* Live rows [from, from + count) of the part's view, which are no record's absence; *done of them
 * were encoded, also when it fails. */
static sr_rc record_part_run(struct record_part *p, uint32_t from, uint32_t count, uint32_t at,
                             uint32_t *done, struct sr_error *err)
{
    size_t begin = p->bytes.len;
    struct sr_encode e = {
        .view = p->view, .from = from, .count = count, .out = &p->bytes, .end = p->end + at};
    sr_rc rc = count > 0 ? encoder_some(&p->encoder, &e, err) : SR_OK;
    for (uint32_t i = at; i < at + e.done; i++) {
        size_t behind = p->end[i];
        p->begin[i] = begin;
        p->end[i] = record_trimmed(p->bytes.data, begin, behind, e.delimiter);
        begin = behind;
    }
    *done = e.done;
    return rc;
}

static bool record_is_absent(const struct records *r, const struct record_part *p,
                             const struct sr_view *v, uint32_t row)
{
    enum sr_change change = sr_change_of(v, row);
    bool is_gone = change == SR_DELETE || change == SR_UPDATE_BEFORE;
    return (r->is_upsert && p == &r->value && is_gone) ||
           (p->is_raw && !sr_is_valid(p->view->col[0], row));
}

/* Rows [from, from + *count) of v; *count says how many could be. */
static sr_rc record_part_take(struct records *r, struct record_part *p, const struct sr_view *v,
                              uint32_t from, uint32_t *count, struct sr_error *err)
{
    uint32_t done = 0;
    sr_rc rc = SR_OK;
    p->bytes.len = 0;
    p->view->size = sizeof(*p->view);
    p->view->rows = v->rows;
    p->view->picked = v->picked;
    p->view->cols = p->fields;
    p->view->col = p->col;
    p->view->sel = v->sel;
    p->view->change = r->is_upsert ? NULL : v->change;
    for (uint32_t f = 0; f < p->fields; f++) {
        p->col[f] = v->col[p->column[f]];
    }
    for (uint32_t i = 0; rc == SR_OK && i < *count;) {
        uint32_t begun = i, ran = 0;
        while (i < *count && !record_is_absent(r, p, v, sr_row(v, from + i))) {
            p->absent[i++] = false;
        }
        rc = record_part_run(p, from + begun, i - begun, begun, &ran, err);
        if (rc == SR_OK && i < *count) {
            p->absent[i++] = true; /* what ended the run */
        }
        done = rc == SR_OK ? i : begun + ran;
    }
    *count = done;
    return rc;
}

sr_rc records_take(struct records *r, const struct sr_view *v, uint32_t from, struct sr_error *err)
{
    if (r->of == v && from > r->from && from < r->from + r->count) {
        return SR_OK; /* the rest of what was encoded already */
    }
    uint32_t count = v->picked - from;
    r->of = v;
    r->from = from;
    sr_rc rc = record_part_take(r, &r->value, v, from, &count, err);
    if ((rc == SR_OK || rc == SR_EDATA) && r->key.fields > 0 && count > 0) {
        struct sr_error of_key;
        sr_rc key = record_part_take(r, &r->key, v, from, &count, &of_key);
        *err = key != SR_OK ? of_key : *err;
        rc = key != SR_OK ? key : rc;
    }
    r->count = count;
    return rc;
}

/* --- One record ------------------------------------------------------------------------------- */

static void record_text(const struct record_part *p, uint32_t i, void **text, size_t *len)
{
    bool is_there = p->fields > 0 && !p->absent[i];
    void *none = p->end; /* any place will do for what is empty */
    *text = !is_there ? NULL : p->bytes.data ? p->bytes.data + p->begin[i] : none;
    *len = is_there ? p->end[i] - p->begin[i] : 0;
}

static bool record_header_add(rd_kafka_headers_t *headers, const struct sr_column *name,
                              const struct sr_column *value, uint32_t r)
{
    uint32_t name_len = 0, value_len = 0;
    const char *n = sr_text(name, r, &name_len);
    const char *v = sr_is_valid(value, r) ? sr_text(value, r, &value_len) : NULL;
    return sr_is_valid(name, r) &&
           rd_kafka_header_add(headers, n, (ssize_t)name_len, v, (ssize_t)value_len) == 0;
}

static sr_rc record_headers(const struct records *r, const struct sr_column *c, uint32_t row,
                            bool is_list, struct record *out, struct sr_error *err)
{
    struct sr_span span = ((const struct sr_span *)c->values)[row];
    const struct sr_column *names = is_list ? c->child[0]->child[0] : c->child[0];
    const struct sr_column *values = is_list ? c->child[0]->child[1] : c->child[1];
    out->headers = out->headers ? out->headers : rd_kafka_headers_new(span.len);
    for (uint32_t i = span.at; i < span.at + span.len; i++) {
        bool is_there = !is_list || sr_is_valid(c->child[0], i);
        if (!is_there || !record_header_add(out->headers, names, values, i)) {
            rd_kafka_headers_destroy(out->headers);
            out->headers = NULL;
            return r->host->fail(r->host, err, SR_EDATA, "kafka: a header has no name");
        }
    }
    return SR_OK;
}

static sr_rc record_beside(const struct records *r, enum record_metadata m, uint32_t row,
                           struct record *out, struct sr_error *err)
{
    const struct sr_column *c = r->metadata[m] >= 0 ? r->of->col[r->metadata[m]] : NULL;
    if (!c || !sr_is_valid(c, row)) {
        return SR_OK;
    }
    switch (m) {
    case RECORD_HEADERS:
    case RECORD_HEADER_LIST:
        return record_headers(r, c, row, m == RECORD_HEADER_LIST, out, err);
    case RECORD_TOPIC:
        out->topic = sr_text(c, row, &out->topic_len);
        break;
    case RECORD_TIMESTAMP: {
        int64_t us = ((const int64_t *)c->values)[row];
        out->timestamp_ms = us / 1000 - (us % 1000 < 0 ? 1 : 0);
        break;
    }
    case RECORD_METADATA:
        break;
    }
    return SR_OK;
}

sr_rc records_get(const struct records *r, uint32_t i, struct record *out, struct sr_error *err)
{
    uint32_t row = sr_row(r->of, i), at = i - r->from;
    sr_rc rc = SR_OK;
    *out = (struct record){.timestamp_ms = RECORD_NOW};
    out->is_none = r->is_upsert && sr_change_of(r->of, row) == SR_UPDATE_BEFORE;
    record_text(&r->value, at, &out->value, &out->value_len);
    record_text(&r->key, at, &out->key, &out->key_len);
    for (uint32_t m = 0; rc == SR_OK && m < RECORD_METADATA && !out->is_none; m++) {
        rc = record_beside(r, (enum record_metadata)m, row, out, err);
    }
    return rc;
}
