/* The bytes of a stream that were read and not yet consumed, in a buffer shared with the columns.
 *
 * Columns may go on referring to bytes that were consumed, so these are never written over while
 * anybody but the block holds the buffer: reading goes on behind them, and only an unconsumed tail
 * moves, to the front of the next buffer (or of the same one when nobody else holds it).
 *
 *   block_room -> read into it -> block_filled -> block_consume ... -> block_drop
 */
#ifndef CONNECTORS_COMMON_BLOCK_H
#define CONNECTORS_COMMON_BLOCK_H

#include <streamrun/host.h>

#define BLOCK_BYTES (256u * 1024u) /* of a buffer, slack included, unless a record is longer */
#define BLOCK_SLACK 64u            /* readable bytes behind the last one, for wide loads */

struct block {
    const struct sr_host *host;
    struct sr_buffer *buffer; /* NULL: empty */
    uint32_t begin, end;      /* unconsumed bytes of buffer->data */
    uint32_t record_max;      /* bytes: a record that needs more fails */
};

static inline const uint8_t *block_bytes(const struct block *b)
{
    return b->buffer ? b->buffer->data + b->begin : NULL;
}
static inline uint32_t block_length(const struct block *b) { return b->end - b->begin; }

/* Where the next bytes may be read to, at least one. SR_ELIMIT: the unconsumed bytes are record_max
 * already; SR_ENOMEM. */
sr_rc block_room(struct block *b, uint8_t **to, uint32_t *len);
void block_filled(struct block *b, uint32_t len); /* that many were read to `to` */
void block_consume(struct block *b, uint32_t len);
/* Lets go of what is there of a record that is too long, up to its newline. Answers how many bytes;
 * *is_over: the newline was among them. */
uint32_t block_pass(struct block *b, bool *is_over);
void block_drop(struct block *b); /* lets go of the buffer: unconsumed bytes must be read again */

#endif
