#include "engine/data/builder.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/data/inner.h"
#include "engine/data/pool.h"

/* Behind the columns that are filled, b->col has as many places again: for a column that is not
 * wanted, the all-NULL column of SR_BATCH_ROWS rows that full views share. What a decoder puts to
 * an unwanted column goes to a scratch column that nobody sees. Behind those lie the flags that
 * `wanted` points to. */

static bool builder_has_bytes(const struct sr_type *t) { return sr_has_bytes(t->kind); }

/* A column of NULLs; every value is zero, so that code which looks at all rows sees sane spans. */
static struct sr_column *builder_nulls(struct sr_home *h, const struct sr_type *type, uint32_t rows)
{
    struct sr_column *c = column_new(h, type, SR_BATCH_ROWS);
    if (!c || !column_finish(h, c, rows)) {
        column_release(c);
        return NULL;
    }
    struct sr_column *todo = c; /* it and fields of ROWs, linked by `next` */
    while (todo) {
        struct sr_column *k = todo;
        todo = k->next;
        k->next = NULL;
        memset(k->valid_space, 0, SR_BATCH_WORDS * sizeof(uint64_t));
        memset(k->values, 0, (size_t)rows * sr_value_size(&k->type));
        k->valid = k->valid_space;
        for (uint32_t i = 0; k->type.kind == SR_ROW && i < k->children; i++) {
            k->child[i]->next = todo;
            todo = k->child[i];
        }
    }
    return c;
}

sr_rc builder_open(struct sr_builder *b, struct sr_home *home, const struct sr_host *host,
                   const struct sr_schema *schema, const bool *wanted, struct sr_error *err)
{
    uint32_t cols = schema->fields;
    *b = (struct sr_builder){
        .size = sizeof(*b), .rows_max = SR_BATCH_ROWS, .cols = cols, .host = host};
    b->col = calloc((size_t)cols + 1, 2 * sizeof(struct sr_column *) + sizeof(bool));
    if (!b->col) {
        return error_set(err, SR_ENOMEM, "make room for rows: out of memory");
    }
    bool *flags = (bool *)(b->col + 2 * (size_t)cols);
    for (uint32_t c = 0; c < cols; c++) {
        flags[c] = !wanted || wanted[c];
        b->col[c] = column_new(home, &schema->field[c].type, SR_BATCH_ROWS);
        bool is_short = !b->col[c];
        if (!flags[c] && !is_short) {
            b->col[cols + c] = builder_nulls(home, &schema->field[c].type, SR_BATCH_ROWS);
            is_short = !b->col[cols + c];
        }
        if (is_short) {
            builder_close(b);
            return error_set(err, SR_ENOMEM, "make room for rows: out of memory");
        }
    }
    b->wanted = flags;
    if (!inner_open(b, home)) {
        builder_close(b);
        return error_set(err, SR_ENOMEM, "make room for rows: out of memory");
    }
    return SR_OK;
}

void builder_close(struct sr_builder *b)
{
    if (!b || !b->col) {
        return;
    }
    for (uint32_t c = 0; c < 2 * b->cols; c++) {
        column_release(b->col[c]);
    }
    free(b->col);
    buffer_release(b->change);
    inner_close(b);
    *b = (struct sr_builder){.size = sizeof(*b)};
}

/* The column that stands for c in a view of b->rows rows; the builder keeps its own. NULL: no
 * memory. For wanted ones: the empty column that takes the filled one's place. */
static struct sr_column *builder_other(struct sr_builder *b, uint32_t c)
{
    struct sr_column *k = b->col[c];
    if (b->wanted[c]) {
        return column_new(k->home, &k->type, SR_BATCH_ROWS);
    }
    struct sr_column *nulls = b->col[b->cols + c];
    return b->rows == nulls->rows ? column_hold(nulls) : builder_nulls(k->home, &k->type, b->rows);
}

/* Starts the scratch column of an unwanted one again. */
static void builder_wipe(struct sr_column *scratch)
{
    struct sr_column *todo = scratch; /* linked by `next` */
    scratch->next = NULL;
    while (todo) {
        struct sr_column *k = todo;
        todo = k->next;
        k->next = NULL;
        k->valid = NULL;
        k->bytes_used = 0;
        buffer_release(k->bytes);
        k->bytes = NULL;
        for (uint32_t i = 0; i < k->children; i++) {
            k->child[i]->next = todo;
            todo = k->child[i];
        }
    }
}

sr_rc builder_seal(struct sr_builder *b, struct sr_view **out, struct sr_error *err)
{
    if (b->is_broken) {
        return error_set(err, SR_ENOMEM, "fill rows: out of memory");
    }
    *out = NULL;
    if (b->rows == 0) {
        return SR_OK;
    }
    sr_assert(b->rows <= SR_BATCH_ROWS && b->cols > 0);
    inner_end(b);
    struct sr_view *v = view_new(b->col[0]->home, b->cols);
    bool is_short = !v;
    for (uint32_t c = 0; !is_short && c < b->cols; c++) {
        v->col[c] = builder_other(b, c);
        is_short = !v->col[c] || !column_finish(b->col[c]->home, b->col[c], b->rows);
    }
    if (is_short) {
        view_release(v);
        return error_set(err, SR_ENOMEM, "hand rows on: out of memory");
    }
    for (uint32_t c = 0; c < b->cols; c++) {
        if (!b->wanted[c]) {
            builder_wipe(b->col[c]);
            continue;
        }
        struct sr_column *full = b->col[c];
        b->col[c] = v->col[c];
        v->col[c] = full;
    }
    v->rows = b->rows;
    v->picked = b->rows;
    v->change = b->change;
    b->change = NULL;
    b->rows = 0;
    b->must_seal = false;
    inner_begin(b);
    *out = v;
    return SR_OK;
}

/* The column referred to somebody's bytes (or its own are exactly full): the values so far move to
 * bytes of its own, with as much room again. */
static bool builder_move_bytes(struct sr_builder *b, struct sr_column *k, uint32_t len)
{
    struct sr_span *span = k->values;
    uint64_t need = len;
    for (uint32_t r = 0; r < b->rows; r++) {
        need += span[r].len;
    }
    if (need * 2 > COLUMN_BYTES_MAX) {
        return false;
    }
    struct sr_buffer *own = buffer_new(k->home, (uint32_t)(need * 2));
    if (!own) {
        return false;
    }
    uint32_t used = 0;
    for (uint32_t r = 0; r < b->rows; r++) {
        memcpy(own->data + used, k->bytes->data + span[r].at, span[r].len);
        span[r].at = used;
        used += span[r].len;
    }
    buffer_release(k->bytes);
    k->bytes = own;
    k->bytes_used = used;
    return true;
}

bool builder_grow(struct sr_builder *b, uint32_t c, uint32_t len)
{
    sr_assert(c < b->cols);
    struct sr_column *k = b->col[c];
    sr_assert(builder_has_bytes(&k->type));
    bool is_full = k->bytes && k->bytes_used == k->bytes->capacity;
    if (is_full ? builder_move_bytes(b, k, len) : column_grow_bytes(k->home, k, len)) {
        return true;
    }
    inner_break(b);
    return false;
}

void builder_use(struct sr_builder *b, uint32_t c, struct sr_buffer *bytes)
{
    sr_assert(c < b->cols && b->rows == 0);
    struct sr_column *k = b->col[c];
    sr_assert(builder_has_bytes(&k->type));
    buffer_release(k->bytes);
    k->bytes = buffer_hold(bytes);
    k->bytes_used = bytes->capacity; /* nothing can be appended: builder_grow is asked first */
}

bool builder_changes(struct sr_builder *b)
{
    b->change = buffer_new(b->col[0]->home, SR_BATCH_ROWS);
    if (!b->change) {
        inner_break(b);
        return false;
    }
    memset(b->change->data, SR_INSERT, SR_BATCH_ROWS);
    return true;
}
