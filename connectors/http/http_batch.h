/* Encoded rows that go in one request.
 *
 * A batch knows where each row's bytes end, so that it can be cut: at the row that makes it large
 * enough, and in halves when the server refuses it. Its rows are numbered on from `first`.
 */
#ifndef CONNECTORS_HTTP_HTTP_BATCH_H
#define CONNECTORS_HTTP_HTTP_BATCH_H

#include "connectors/http/http_sink.h"

struct http_batch {
    struct http_batch *next; /* the list's */
    uint64_t first;          /* number of its first row */
    uint32_t rows, capacity;
    size_t *end; /* by row: bytes up to behind it */
    struct sr_out bytes;
    bool is_bare;     /* rows end without a newline, whatever their last byte is */
    uint32_t views;   /* that begin in it */
    int64_t since_us; /* when its first row came */
    /* once it is to be sent */
    struct sr_out body; /* what is sent; empty: not made yet */
    char key[33];       /* Idempotency-Key */
    bool is_sent;       /* on the way */
    uint32_t tries;
    int64_t first_try_us, due_us; /* monotonic; due_us: not before */
    char *words;                  /* why it is refused; owned; NULL: it is not */
};

struct http_batch *http_batch_new(uint64_t first); /* NULL: out of memory */
void http_batch_free(struct http_batch *b);        /* NULL allowed */
/* Room for `rows` more in `end`. False: out of memory. */
bool http_batch_room(struct http_batch *b, uint32_t rows);
/* Rows from `rows` on become a batch of their own. NULL: out of memory, nothing has changed. */
struct http_batch *http_batch_cut(struct http_batch *b, uint32_t rows);
/* How many rows there are up to the one that makes `size` bytes; all if none does. */
uint32_t http_batch_rows(const struct http_batch *b, size_t size);
/* Appends what a request holds. False: out of memory. */
bool http_batch_body(const struct http_batch *b, enum http_body kind, const struct sr_out *head,
                     struct sr_out *out);

#endif
