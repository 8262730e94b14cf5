#include "connectors/http/http_batch.h"

#include <stdlib.h>
#include <string.h>

#include "connectors/common/note.h"

#define HTTP_BATCH_ROWS 64u /* room that the first rows get */

struct http_batch *http_batch_new(uint64_t first)
{
    struct http_batch *b = calloc(1, sizeof(*b));
    if (b) {
        b->first = first;
        b->bytes = note_out();
        b->body = note_out();
    }
    return b;
}

void http_batch_free(struct http_batch *b)
{
    if (!b) {
        return;
    }
    note_free(&b->bytes);
    note_free(&b->body);
    free(b->end);
    free(b->words);
    free(b);
}

bool http_batch_room(struct http_batch *b, uint32_t rows)
{
    if (b->capacity - b->rows >= rows) {
        return true;
    }
    uint32_t capacity = b->capacity > 0 ? b->capacity : HTTP_BATCH_ROWS;
    while (capacity - b->rows < rows) {
        capacity *= 2;
    }
    size_t *grown = realloc(b->end, capacity * sizeof(*grown));
    if (!grown) {
        return false;
    }
    b->end = grown;
    b->capacity = capacity;
    return true;
}

static size_t http_batch_begin(const struct http_batch *b, uint32_t row)
{
    return row > 0 ? b->end[row - 1] : 0;
}

static bool http_batch_put(struct sr_out *out, const void *bytes, size_t len)
{
    uint8_t *to = len > 0 ? sr_out_room(out, len) : NULL;
    if (to) {
        memcpy(to, bytes, len);
        out->len += len;
    }
    return to || len == 0;
}

struct http_batch *http_batch_cut(struct http_batch *b, uint32_t rows)
{
    uint32_t rest = b->rows - rows;
    size_t from = http_batch_begin(b, rows), len = b->bytes.len - from;
    struct http_batch *tail = http_batch_new(b->first + rows);
    if (!tail || !http_batch_room(tail, rest) ||
        !http_batch_put(&tail->bytes, b->bytes.data + from, len)) {
        http_batch_free(tail);
        return NULL;
    }
    for (uint32_t i = 0; i < rest; i++) {
        tail->end[i] = b->end[rows + i] - from;
    }
    tail->rows = rest;
    tail->is_bare = b->is_bare;
    tail->since_us = b->since_us;
    tail->views = b->views; /* they are let go of with their last rows */
    b->views = 0;
    b->rows = rows;
    b->bytes.len = from;
    b->body.len = 0;
    return tail;
}

uint32_t http_batch_rows(const struct http_batch *b, size_t size)
{
    for (uint32_t i = 0; i < b->rows; i++) {
        if (b->end[i] >= size) {
            return i + 1;
        }
    }
    return b->rows;
}

/* A row's bytes without its line end. */
static size_t http_batch_bare(const struct http_batch *b, uint32_t row)
{
    size_t begin = http_batch_begin(b, row), end = b->end[row];
    if (b->is_bare) {
        return end - begin;
    }
    if (end > begin && b->bytes.data[end - 1] == '\n') {
        end--;
    }
    if (end > begin && b->bytes.data[end - 1] == '\r') {
        end--;
    }
    return end - begin;
}

static bool http_batch_bare_put(const struct http_batch *b, uint32_t row, struct sr_out *out)
{
    return http_batch_put(out, b->bytes.data + http_batch_begin(b, row), http_batch_bare(b, row));
}

bool http_batch_body(const struct http_batch *b, enum http_body kind, const struct sr_out *head,
                     struct sr_out *out)
{
    bool is_ok = true;
    switch (kind) {
    case HTTP_BODY_LINES:
        return http_batch_put(out, head->data, head->len) &&
               http_batch_put(out, b->bytes.data, b->bytes.len);
    case HTTP_BODY_ROW:
        for (uint32_t i = 0; i < b->rows && is_ok; i++) {
            is_ok = http_batch_bare_put(b, i, out);
        }
        return is_ok;
    case HTTP_BODY_ARRAY:
        for (uint32_t i = 0; i < b->rows && is_ok; i++) {
            is_ok = http_batch_put(out, i > 0 ? "," : "[", 1) && http_batch_bare_put(b, i, out);
        }
        return is_ok && http_batch_put(out, "]", 1);
    }
    return false;
}
