#include "connectors/csv/csv_plain.h"

#include "connectors/csv/csv_nest.h"
#include "connectors/text/number.h"
#include "connectors/text/utf8.h"

/* A record as the index has it. */
struct csv_plain {
    uint32_t pos;       /* its first byte */
    uint32_t next;      /* first byte behind its line end */
    const uint32_t *at; /* by field: the byte behind it */
};

/* Is what begins at `pos` a record of so many fields? *places: how many of the index are its. */
static inline bool csv_plain_is(const struct csv_index *x, uint32_t fields, uint8_t delimiter,
                                struct csv_plain *p, uint32_t *places)
{
    const uint32_t *at = x->at + x->next;
    uint8_t differs = 0;
    for (uint32_t i = 0; i + 1 < fields; i++) {
        differs |= (uint8_t)(x->bytes[at[i]] ^ delimiter);
    }
    uint32_t end = at[fields - 1];
    bool is_pair = x->bytes[end] == '\r' && at[fields] == end + 1 && x->bytes[end + 1] == '\n';
    if (differs != 0 || (x->bytes[end] != '\n' && !is_pair)) {
        return false;
    }
    p->at = at;
    p->next = end + 1 + (is_pair ? 1 : 0);
    *places = fields + (is_pair ? 1 : 0);
    return true;
}

static inline enum value_rc csv_plain_text(const struct csv_decoder *x, struct sr_decode *d,
                                           uint32_t c, uint32_t at, uint32_t len)
{
    const char *s = (const char *)d->bytes + at;
    if (x->scan.index.has_high && !utf8_is_valid(s, len)) {
        return VALUE_UTF8;
    }
    if (d->buffer && d->out->col[c]->bytes == d->buffer) {
        sr_put_span(d->out, c, (uint32_t)(d->bytes - d->buffer->data) + at, len);
        return VALUE_OK;
    }
    return value_put(d->out, c, &x->columns.value[c], s, len, d->buffer);
}

static inline enum value_rc csv_plain_value(const struct csv_decoder *x, struct sr_decode *d,
                                            uint32_t c, uint32_t at, uint32_t len)
{
    const struct value *v = &x->columns.value[c];
    const char *s = (const char *)d->bytes + at;
    int64_t n = 0;
    if (v->op == VALUE_TEXT) {
        return csv_plain_text(x, d, c, at, len);
    }
    if (v->op == VALUE_NESTED) {
        struct csv_inside inside = {.text = s, .len = len};
        return x->scan.index.has_high && !utf8_is_valid(s, len)
                   ? VALUE_UTF8
                   : csv_nest_put(&x->dialect, &x->columns.node[c], d->out, c, &inside);
    }
    if (len == 0) {
        return value_put_null(d->out, c, v);
    }
    if (v->op == VALUE_I64 && number_get_i64(s, len, &n) == NUMBER_OK) {
        sr_put_i64(d->out, c, n);
        return VALUE_OK;
    }
    return value_put(d->out, c, v, s, len, d->buffer);
}

static inline bool csv_plain_values(const struct csv_decoder *x, struct sr_decode *d,
                                    const struct csv_plain *p)
{
    for (uint32_t i = 0; i < x->picks; i++) {
        uint32_t c = x->pick[i];
        uint32_t at = c == 0 ? p->pos : p->at[c - 1] + 1;
        if (csv_plain_value(x, d, c, at, p->at[c] - at) != VALUE_OK) {
            sr_row_drop(d->out);
            return false;
        }
    }
    return true;
}

void csv_plain_records(struct csv_decoder *x, struct sr_decode *d)
{
    struct csv_index *index = &x->scan.index;
    struct sr_builder *b = d->out;
    const uint32_t fields = x->columns.count;
    const uint8_t delimiter = (uint8_t)x->dialect.delimiter;
    struct csv_plain p = {.pos = d->used};
    /* One more place than fields: the newline behind a carriage return. */
    while (!sr_builder_is_full(b) && index->count - index->next > fields) {
        uint32_t places = 0;
        bool is_comment = x->dialect.has_comments && d->bytes[p.pos] == '#';
        if (is_comment || !csv_plain_is(index, fields, delimiter, &p, &places) ||
            !csv_plain_values(x, d, &p)) {
            break;
        }
        d->row_at[b->rows] = p.pos;
        sr_row_done(b);
        index->next += places;
        p.pos = p.next;
    }
    d->used = x->scan.pos = p.pos;
    csv_index_expect(index, (b->rows_max - b->rows + 1) * (fields + 1));
}
