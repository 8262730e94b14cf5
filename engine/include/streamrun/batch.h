/* Rows on the move: sealed columns, and views that refer to them.
 *
 * A column holds up to SR_BATCH_ROWS values of one type, in Arrow's manner but for text. It is
 * filled by one owner through a builder, sealed, and from then on read-only and shared by
 * reference; whoever lets go last sends its memory home to the pool that it came from.
 *
 * A view is what travels: references to columns, the rows of them that are alive, what each row
 * does to the table that the stream describes, and the watermark where it moved. A view has one
 * owner. A filter makes a view with another selection, a projection one with other columns; neither
 * copies a value. All columns of a view have the same stored rows, so row number `r` is good in
 * each.
 *
 * Layout of `values` by type (r is the row number):
 *
 *   BOOLEAN uint8_t 0|1          TINYINT int8_t    SMALLINT int16_t   INT int32_t    BIGINT int64_t
 *   FLOAT float  DOUBLE double   DATE int32_t days since 1970-01-01   TIME int32_t ms of the day
 *   TIMESTAMP(p), TIMESTAMP_LTZ(p): p <= 6: int64_t us since the epoch;
 *                                   p >  6: struct sr_instant (ms, and ns within the ms)
 *   DECIMAL(p, s): unscaled; p <= 18: int64_t; p > 18: struct sr_wide, two's complement
 *   INTERVAL_MONTH int32_t months     INTERVAL_SECOND int64_t ms
 *   CHAR, VARCHAR, BINARY, VARBINARY: struct sr_span into `bytes`
 *   VARIANT: likewise: JSON text without blanks, its keys in order, numbers as Flink writes them
 *   ARRAY, MULTISET: struct sr_span (first child row, count), child[0] elements
 *   MAP: struct sr_span, child[0] keys, child[1] values       ROW: none; child[i] its fields
 *
 * Text differs from Arrow on purpose: a span a row (Arrow's ListView for bytes) lets SUBSTRING,
 * SPLIT_INDEX, REGEXP_EXTRACT and decoders refer to the bytes where they already lie.
 * A row whose validity bit is clear is NULL; its value and span are defined, but mean nothing. The
 * fields of a NULL ROW are NULL too: child[i] alone says whether a field has a value. Rows of
 * child[0] that no span refers to mean nothing.
 */
#ifndef STREAMRUN_BATCH_H
#define STREAMRUN_BATCH_H

#include <streamrun/types.h>

#define SR_BATCH_ROWS  1024u      /* stored rows of a view, at most */
#define SR_BATCH_BYTES (1u << 20) /* bytes of a view, but for one larger record, which goes alone */
#define SR_BATCH_WORDS (SR_BATCH_ROWS / 64u)

#define SR_WATERMARK_NONE INT64_MIN /* no watermark yet */
#define SR_WATERMARK_END  INT64_MAX /* no row will follow */

/* What a row does to the table that a stream describes: +I -U +U -D. */
enum sr_change { SR_INSERT, SR_UPDATE_BEFORE, SR_UPDATE_AFTER, SR_DELETE };

struct sr_span {
    uint32_t at;  /* first byte in `bytes`, or first row in child[0] */
    uint32_t len; /* bytes or rows */
};

struct sr_instant {
    int64_t ms;
    int32_t ns; /* 0 to 999,999: within the millisecond */
    int32_t unused;
};

struct sr_wide {
    uint64_t low;
    int64_t high;
};

struct sr_home; /* where memory goes when the last holder lets go: engine/data/pool.h */

/* Bytes shared by reference. */
struct sr_buffer {
    uint32_t refs; /* by __atomic builtins only */
    uint32_t capacity;
    uint8_t *data;
    struct sr_home *home;
    struct sr_buffer *next; /* the home's, while idle */
};

struct sr_column {
    uint32_t refs; /* by __atomic builtins only */
    uint32_t rows; /* stored; SR_BATCH_ROWS is the limit but for children */
    struct sr_type type;
    const uint64_t *valid; /* bit r set: row r has a value; NULL: every row has */
    void *values;
    struct sr_buffer *bytes; /* CHAR to VARBINARY, VARIANT: what spans point into; else NULL */
    struct sr_column **child;
    uint32_t children;
    uint32_t bytes_used; /* by the builder that fills it; bytes behind it may be reused by nobody */
    uint64_t *valid_space; /* room for the bits, used by the builder */
    uint32_t capacity;     /* rows that there is room for */
    struct sr_home *home;
    struct sr_column *next; /* the home's, while idle */
};

struct sr_origin; /* where rows came from: engine/data/origin.h */

struct sr_view {
    uint32_t size;   /* sizeof as the maker knew it */
    uint32_t rows;   /* stored in each column */
    uint32_t picked; /* alive: entries of sel, or rows when sel is NULL */
    uint32_t cols;
    struct sr_column **col;
    const uint16_t *sel;      /* `picked` ascending row numbers; NULL: every stored row is alive */
    struct sr_buffer *change; /* uint8_t enum sr_change a stored row; NULL: all SR_INSERT */
    /* int64_t a stored row: ms in force when that row arrives, so moved by rows before it, filtered
     * ones too; NULL: as before the view. */
    struct sr_buffer *watermark;
    int64_t watermark_end; /* in force behind the last row; SR_WATERMARK_NONE: did not move */
    uint32_t split;        /* reader's number of the split that the rows came from; sources only */
    uint16_t sel_space[SR_BATCH_ROWS]; /* room that `sel` may point to */
    struct sr_home *home;
    struct sr_view *next; /* the home's, while idle */
    /* Place and bytes of the records that the stored rows were read from; NULL: not known, as
     * behind an operator that keeps state. Shared by all views of the same stored rows. */
    struct sr_origin *origin;
};

/* Visit the live rows. `r` is a row number, good for any column. */
#define SR_EACH_ROW(v, r)           \
    for (uint32_t sr_i_ = 0, r = 0; \
         sr_i_ < (v)->picked && ((r = (v)->sel ? (v)->sel[sr_i_] : sr_i_), true); sr_i_++)

/* Row number of the i-th live row. */
static inline uint32_t sr_row(const struct sr_view *v, uint32_t i)
{
    return v->sel ? v->sel[i] : i;
}

static inline bool sr_is_valid(const struct sr_column *c, uint32_t r)
{
    return !c->valid || (c->valid[r >> 6] >> (r & 63) & 1) != 0;
}

static inline enum sr_change sr_change_of(const struct sr_view *v, uint32_t r)
{
    return v->change ? (enum sr_change)v->change->data[r] : SR_INSERT;
}

static inline const char *sr_text(const struct sr_column *c, uint32_t r, uint32_t *len)
{
    struct sr_span s = ((const struct sr_span *)c->values)[r];
    *len = s.len;
    return (const char *)c->bytes->data + s.at;
}

/* Bytes of one value in `values`; 0 for ROW. */
static inline uint32_t sr_value_size(const struct sr_type *t)
{
    switch (t->kind) {
    case SR_BOOLEAN:
    case SR_TINYINT:
    case SR_NULL:
        return 1;
    case SR_SMALLINT:
        return 2;
    case SR_INT:
    case SR_FLOAT:
    case SR_DATE:
    case SR_TIME:
    case SR_INTERVAL_MONTH:
        return 4;
    case SR_BIGINT:
    case SR_DOUBLE:
    case SR_INTERVAL_SECOND:
    case SR_CHAR:
    case SR_VARCHAR:
    case SR_BINARY:
    case SR_VARBINARY:
    case SR_VARIANT:
    case SR_ARRAY:
    case SR_MAP:
    case SR_MULTISET:
        return 8;
    case SR_DECIMAL:
        return t->length <= SR_DECIMAL_SMALL ? 8 : 16;
    case SR_TIMESTAMP:
    case SR_TIMESTAMP_LTZ:
        return t->length <= 6 ? 8 : 16;
    case SR_ROW:
    case SR_KIND_COUNT:
        return 0;
    }
    return 0;
}

#endif
