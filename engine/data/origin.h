/* Where the stored rows of a view were read from: split, offset, line, and the bytes themselves.
 *
 * The source makes one for each batch that it hands on; views of the same stored rows refer to it,
 * through filters, projections, splits by key and rings, so that a row which cannot be computed or
 * written far behind the source can still be named and set aside as it was read. The bytes are not
 * copied: the reader's buffer is held, as text columns hold it.
 *
 * It is filled by the source before the view is handed on, read-only from then on, and let go by
 * any thread.
 */
#ifndef SR_DATA_ORIGIN_H
#define SR_DATA_ORIGIN_H

#include "engine/data/pool.h"

enum origin_kind {
    ORIGIN_ROWS,   /* the source made the rows itself: the offset is a row's number in its split */
    ORIGIN_BYTES,  /* of a stream: the offset is in bytes */
    ORIGIN_RECORDS /* whole records (messages): the offset is a record's number */
};

struct sr_origin {
    uint32_t refs; /* by __atomic builtins only */
    uint32_t node; /* of the plan: the source */
    enum origin_kind kind;
    struct sr_buffer *split; /* its id, ends with \0; held */
    int64_t base;            /* offset in the split that at[], number[] and rows count from */
    int64_t line;            /* of the byte at `base`, from 1; 0: not known */
    struct sr_buffer *raw;   /* holds the records; NULL: they are not kept */
    uint32_t raw_at;         /* in raw->data: what at[] and end[] count from */
    struct sr_home *home;
    uint32_t at[SR_BATCH_ROWS],
        end[SR_BATCH_ROWS];         /* by stored row: its record, but for ORIGIN_ROWS */
    uint32_t number[SR_BATCH_ROWS]; /* ORIGIN_RECORDS: which record */
};

struct sr_origin *origin_new(struct sr_home *h); /* refs 1, nothing known; NULL: out of memory */
struct sr_origin *origin_hold(struct sr_origin *o);
void origin_release(struct sr_origin *o); /* NULL allowed; any thread */

int64_t origin_offset(const struct sr_origin *o, uint32_t row);
int64_t origin_line(const struct sr_origin *o, uint32_t row); /* 0: not known */
/* The record that the row was made of, without the newline behind it; NULL: not kept. */
const uint8_t *origin_raw(const struct sr_origin *o, uint32_t row, uint32_t *len);
uint64_t origin_lines(const uint8_t *bytes, size_t len); /* newlines in it */

#endif
