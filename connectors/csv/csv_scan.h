/* Fields and records of csv, one after the other: RFC 4180, with an escape character if one is set.
 * A record ends with a newline, with a carriage return and a newline, or, as in Flink, with a
 * carriage return alone.
 *
 * Nothing is copied: a field is a slice of the bytes, which csv_scan_plain turns to what it means
 * when it holds doubled quotes or escapes.
 */
#ifndef SR_CSV_SCAN_H
#define SR_CSV_SCAN_H

#include "connectors/csv/csv.h"
#include "connectors/csv/csv_index.h"

enum csv_got {
    CSV_FIELD,      /* another field of the record follows */
    CSV_LAST,       /* the record ends behind this field */
    CSV_INCOMPLETE, /* the bytes end within the field, and more may come */
    CSV_UNCLOSED,   /* a quote is open at the end of all bytes */
    CSV_TRAILING    /* text stands behind a closing quote */
};

struct csv_field {
    uint32_t at, len;
    bool is_quoted;
    bool has_marks; /* doubled quotes or escapes are in it */
};

struct csv_scan {
    const struct csv_dialect *dialect;
    uint32_t pos;  /* first byte of the next field */
    bool is_whole; /* nothing follows the bytes */
    struct csv_index index;
};

struct csv_decoder {
    const struct sr_host *host;
    enum csv_header header;
    struct csv_dialect dialect;
    struct csv_columns columns;
    uint32_t wanted; /* columns up to the last one that is */
    uint32_t *pick;  /* the `picks` columns that are; room for all */
    uint32_t picks;
    char *scratch; /* for fields with doubled quotes or escapes */
    uint32_t scratch_size;
    struct csv_scan scan;
};

void csv_scan_init(struct csv_scan *s, const struct csv_dialect *d);
void csv_scan_start(struct csv_scan *s, const uint8_t *bytes, uint32_t from, uint32_t len,
                    bool is_whole);
/* The rest of csv_scan_field: the next character that matters, at p, ends no plain field. */
enum csv_got csv_scan_on(struct csv_scan *s, struct csv_field *f, uint32_t p);
/* Goes on behind the next line end (or to the end). False: there is none and more may come. */
bool csv_scan_line(struct csv_scan *s);
/* What the field means, to `to`, which has room for f->len bytes; answers how many. */
uint32_t csv_scan_plain(const struct csv_scan *s, const struct csv_field *f, char *to);

/* The next field of the record. */
static inline enum csv_got csv_scan_field(struct csv_scan *s, struct csv_field *f)
{
    *f = (struct csv_field){.at = s->pos};
    uint32_t p = csv_index_next(&s->index);
    if (__builtin_expect(p != CSV_INDEX_END, 1)) {
        uint8_t c = s->index.bytes[p];
        if (c == (uint8_t)s->dialect->delimiter) {
            f->len = p - f->at;
            s->pos = p + 1;
            return CSV_FIELD;
        }
        if (c == '\n') {
            f->len = p - f->at;
            s->pos = p + 1;
            return CSV_LAST;
        }
    }
    return csv_scan_on(s, f, p);
}

/* The fields to the end of the record, which nobody wants; *fields counts them. */
static inline enum csv_got csv_scan_rest(struct csv_scan *s, uint32_t *fields)
{
    const uint8_t *bytes = s->index.bytes;
    const uint8_t delimiter = (uint8_t)s->dialect->delimiter;
    for (;;) {
        uint32_t p = csv_index_next(&s->index);
        if (__builtin_expect(p != CSV_INDEX_END, 1) && bytes[p] == delimiter) {
            s->pos = p + 1;
            *fields += 1;
            continue;
        }
        struct csv_field f = {.at = s->pos};
        enum csv_got got = csv_scan_on(s, &f, p);
        *fields += got <= CSV_LAST ? 1 : 0;
        if (got != CSV_FIELD) {
            return got;
        }
    }
}

#endif
