/* What the engine lends to a plugin. Handed over at open; valid until close returns.
 *
 * Every service takes the host itself first, so that one set of functions serves all instances.
 * None may be called from a thread that is not running a call of the instance, but `log`, `fail`,
 * `digest`, the clocks and what `files` allows.
 */
#ifndef STREAMRUN_HOST_H
#define STREAMRUN_HOST_H

#include <streamrun/batch.h>
#include <streamrun/error.h>
#include <streamrun/files.h>

enum sr_level { SR_DEBUG, SR_INFO, SR_WARN, SR_LOG_ERROR };

struct sr_builder;
struct sr_out; /* growing bytes: format.h */

struct sr_host {
    uint32_t size;
    void *ctx;
    const struct sr_files *files;
    const char *sqlite_vfs; /* name for sqlite3_open_v2; NULL: the default one */
    const char *time_zone;  /* table.local-time-zone, "UTC" unless set */
    int64_t (*wall_us)(const struct sr_host *h); /* since the epoch; virtual under simulation */
    int64_t (*mono_us)(const struct sr_host *h);
    uint64_t (*random)(const struct sr_host *h);
    void (*log)(const struct sr_host *h, enum sr_level level, const char *fmt, ...) SR_PRINTF(3, 4);
    /* Fills err and answers rc: `return h->fail(h, err, SR_EIO, "cannot open %s", path);` */
    sr_rc (*fail)(const struct sr_host *h, struct sr_error *err, sr_rc rc, const char *fmt, ...)
        SR_PRINTF(4, 5);
    /* Shared bytes: one reference is the caller's. NULL: out of memory. */
    struct sr_buffer *(*buffer_new)(const struct sr_host *h, uint32_t capacity);
    void (*buffer_hold)(struct sr_buffer *b);    /* one more reference */
    void (*buffer_release)(struct sr_buffer *b); /* one fewer; NULL allowed */
    /* Makes room for `len` more bytes in text column `c` of a builder; false: out of memory. */
    bool (*builder_grow)(struct sr_builder *b, uint32_t c, uint32_t len);
    /* Column `c` of the builder refers to the bytes of `bytes` (held), instead of copies: values
     * are then put by sr_put_span. Only while no row is in the builder. A value that is not there
     * can still be put by sr_put_bytes: the column then turns to bytes of its own (col[c]->bytes is
     * no longer `bytes`; spans put so far are moved), and sr_put_span must not be used any more. */
    void (*builder_use)(struct sr_builder *b, uint32_t c, struct sr_buffer *bytes);
    /* Rows to bytes and back, in the engine's own versioned encoding (redo files). `used` says how
     * many bytes one encoded view took; the view that comes out is the caller's: view_release. */
    sr_rc (*rows_encode)(const struct sr_host *h, const struct sr_view *v, uint32_t from,
                         uint32_t count, struct sr_out *out, struct sr_error *err);
    sr_rc (*rows_decode)(const struct sr_host *h, const struct sr_schema *schema, const void *bytes,
                         size_t len, size_t *used, struct sr_view **out, struct sr_error *err);
    void (*view_release)(struct sr_view *v);
    /* A 128-bit digest of bytes (XXH3), for what a sink stores and must trust later. */
    void (*digest)(const void *bytes, size_t len, uint64_t out[2]);
    /* Adds to a counter of this instance that `status` shows; made at first use. */
    void (*count)(const struct sr_host *h, const char *name, int64_t by);
    /* For the inside of nested columns, called by the functions below. Room for one more element;
     * false: out of memory (b->is_broken), or SR_ELEMENTS_MAX of them are there. */
    bool (*builder_widen)(struct sr_builder *elements);
    void (*builder_null)(struct sr_builder *b, uint32_t c);   /* a NULL ROW, with all its fields */
    void (*builder_forget)(struct sr_builder *b, uint32_t c); /* what was put of the current row */
    bool (*builder_changes)(struct sr_builder *b); /* makes b->change; false: out of memory */
    /* What `status` shows of a split that is being read: what is read next, and where it ends at
     * present, both as its source counts. */
    void (*split_at)(const struct sr_host *h, const char *split, int64_t position, int64_t end);
};

/* Fills columns row by row, or column by column straight through `col[c]->values`.
 *
 * A row is all its sr_put_* calls, each column once, then sr_row_done. Columns that a projection
 * does not need have `wanted[c]` false; putting to them is allowed and does nothing useful, so a
 * fast decoder skips them.
 *
 * A column with children has a builder of its inside, `inner[c]`, whose columns are the children,
 * so that the same sr_put_* calls fill them. Its memory and its place belong to the builder around
 * it. A ROW's inside has the row number of the ROW, that of others counts its elements:
 *
 *   ROW                    f = sr_put_row(b, c); sr_put_*(f, 0, ...); sr_put_*(f, 1, ...);
 *   ARRAY, MULTISET, MAP   e = sr_put_begin(b, c);
 *                          { sr_put_room(e); sr_put_*(e, 0, ...); of a MAP sr_put_*(e, 1, ...) too;
 *                            sr_row_done(e); }*
 *                          sr_put_end(b, c);
 *
 * Each field of a ROW that is not NULL is put once. sr_put_null makes fields of a ROW NULL too.
 */
struct sr_builder {
    uint32_t size;
    uint32_t rows;     /* done */
    uint32_t rows_max; /* how many are asked for, at most SR_BATCH_ROWS */
    uint32_t cols;
    struct sr_column **col; /* owned by the builder until it is sealed */
    const bool *wanted;     /* by column */
    const struct sr_host *host;
    bool is_broken;                  /* memory ran out: the engine fails the call */
    struct sr_builder *const *inner; /* by column: of its inside, NULL for one that has none; NULL:
                                        no column has one */
    void *engine;
    struct sr_buffer *change; /* enum sr_change a row; NULL: all are SR_INSERT */
    bool must_seal;           /* what comes next does not fit beside the rows that are done */
};

#define SR_ELEMENTS_MAX (1u << 24) /* of all ARRAYs, MAPs or MULTISETs in one column of a batch */

static inline bool sr_builder_is_full(const struct sr_builder *b)
{
    return b->rows >= b->rows_max || b->must_seal;
}

/* Before a record of several rows: is there room for `rows` more? One that is more than was asked
 * for still has room when it goes alone. False: the builder counts as full from now on. */
static inline bool sr_builder_has_room(struct sr_builder *b, uint32_t rows)
{
    uint32_t room = b->rows == 0 ? SR_BATCH_ROWS : b->rows_max;
    if (room > b->rows && room - b->rows >= rows) {
        return true;
    }
    b->must_seal = b->rows > 0;
    return false;
}

/* What the current row does to the table; for each row of a source whose format carries changes. */
static inline void sr_put_change(struct sr_builder *b, enum sr_change kind)
{
    if (b->change || (kind != SR_INSERT && b->host->builder_changes(b))) {
        b->change->data[b->rows] = (uint8_t)kind;
    }
}

static inline void sr_put_null(struct sr_builder *b, uint32_t c)
{
    struct sr_column *k = b->col[c];
    uint32_t r = b->rows;
    if (k->type.kind == SR_ROW) {
        b->host->builder_null(b, c);
        return;
    }
    if (!k->valid) {
        for (uint32_t w = 0; w < (k->capacity + 63) / 64; w++) {
            k->valid_space[w] = UINT64_MAX;
        }
        k->valid = k->valid_space;
    }
    k->valid_space[r >> 6] &= ~(UINT64_C(1) << (r & 63));
    for (uint32_t i = 0, n = sr_value_size(&k->type); i < n; i++) {
        ((uint8_t *)k->values)[(size_t)r * n + i] = 0;
    }
}

static inline void sr_put_bool(struct sr_builder *b, uint32_t c, bool v)
{
    ((uint8_t *)b->col[c]->values)[b->rows] = v ? 1 : 0;
}

static inline void sr_put_i8(struct sr_builder *b, uint32_t c, int8_t v)
{
    ((int8_t *)b->col[c]->values)[b->rows] = v;
}

static inline void sr_put_i16(struct sr_builder *b, uint32_t c, int16_t v)
{
    ((int16_t *)b->col[c]->values)[b->rows] = v;
}

/* INT, DATE, TIME, INTERVAL_MONTH */
static inline void sr_put_i32(struct sr_builder *b, uint32_t c, int32_t v)
{
    ((int32_t *)b->col[c]->values)[b->rows] = v;
}

/* BIGINT, DECIMAL to 18 digits, TIMESTAMP to 6, INTERVAL_SECOND */
static inline void sr_put_i64(struct sr_builder *b, uint32_t c, int64_t v)
{
    ((int64_t *)b->col[c]->values)[b->rows] = v;
}

static inline void sr_put_f32(struct sr_builder *b, uint32_t c, float v)
{
    ((float *)b->col[c]->values)[b->rows] = v;
}

static inline void sr_put_f64(struct sr_builder *b, uint32_t c, double v)
{
    ((double *)b->col[c]->values)[b->rows] = v;
}

static inline void sr_put_span(struct sr_builder *b, uint32_t c, uint32_t at, uint32_t len)
{
    ((struct sr_span *)b->col[c]->values)[b->rows] = (struct sr_span){at, len};
}

/* Room for `len` bytes of the current row's text: write there, and the value is put. NULL: none. */
static inline uint8_t *sr_put_space(struct sr_builder *b, uint32_t c, uint32_t len)
{
    struct sr_column *k = b->col[c];
    if (!k->bytes || k->bytes->capacity - k->bytes_used < len) {
        if (!b->host->builder_grow(b, c, len)) {
            b->is_broken = true;
            sr_put_span(b, c, 0, 0);
            return NULL;
        }
        k = b->col[c];
    }
    sr_put_span(b, c, k->bytes_used, len);
    uint8_t *to = k->bytes->data + k->bytes_used;
    k->bytes_used += len;
    return to;
}

static inline void sr_put_bytes(struct sr_builder *b, uint32_t c, const void *bytes, uint32_t len)
{
    uint8_t *to = sr_put_space(b, c, len);
    if (to && len > 0) {
        __builtin_memcpy(to, bytes, len);
    }
}

/* The fields of a ROW that is not NULL. */
static inline struct sr_builder *sr_put_row(struct sr_builder *b, uint32_t c)
{
    struct sr_builder *fields = b->inner[c];
    fields->rows = b->rows;
    return fields;
}

/* The elements of an ARRAY or MULTISET, the keys and values of a MAP. */
static inline struct sr_builder *sr_put_begin(struct sr_builder *b, uint32_t c)
{
    struct sr_builder *elements = b->inner[c];
    sr_put_span(b, c, elements->rows, 0);
    return elements;
}

static inline void sr_put_end(struct sr_builder *b, uint32_t c)
{
    struct sr_span *s = &((struct sr_span *)b->col[c]->values)[b->rows];
    s->len = b->inner[c]->rows - s->at;
}

/* Before each element. False: out of memory, or SR_ELEMENTS_MAX are there. */
static inline bool sr_put_room(struct sr_builder *elements)
{
    return elements->rows < elements->rows_max || elements->host->builder_widen(elements);
}

static inline void sr_row_done(struct sr_builder *b) { b->rows++; }

/* Forgets what was put to column c of the current row, so that it can be put again. */
static inline void sr_put_forget(struct sr_builder *b, uint32_t c)
{
    if (b->inner && b->inner[c]) {
        b->host->builder_forget(b, c);
    } else if (b->col[c]->valid) {
        b->col[c]->valid_space[b->rows >> 6] |= UINT64_C(1) << (b->rows & 63);
    }
}

/* Forgets what was put of the current row: its NULLs must not be left to the next one. */
static inline void sr_row_drop(struct sr_builder *b)
{
    for (uint32_t c = 0; c < b->cols; c++) {
        sr_put_forget(b, c);
    }
}

#endif
