#include "connectors/common/block.h"

#include <string.h>

/* Bytes that a buffer of this capacity is filled with. */
static uint32_t block_fill_max(const struct sr_buffer *buffer)
{
    return buffer->capacity - BLOCK_SLACK;
}

static sr_rc block_begin(struct block *b, uint32_t bytes)
{
    struct sr_buffer *next = b->host->buffer_new(b->host, bytes);
    if (!next) {
        return SR_ENOMEM;
    }
    uint32_t rest = block_length(b);
    if (rest > 0) {
        memcpy(next->data, block_bytes(b), rest);
    }
    b->host->buffer_release(b->buffer);
    b->buffer = next;
    b->begin = 0;
    b->end = rest;
    return SR_OK;
}

static bool block_is_sole_owner(const struct block *b)
{
    /* Acquire: what the last other holder read lies before our writes. */
    return __atomic_load_n(&b->buffer->refs, __ATOMIC_ACQUIRE) == 1;
}

sr_rc block_room(struct block *b, uint8_t **to, uint32_t *len)
{
    uint32_t rest = block_length(b);
    if (rest >= b->record_max) {
        return SR_ELIMIT;
    }
    sr_rc rc = SR_OK;
    if (!b->buffer) {
        rc = block_begin(b, BLOCK_BYTES);
    } else if (block_fill_max(b->buffer) - b->end < BLOCK_BYTES / 4) { /* not worth a read */
        uint32_t size = BLOCK_BYTES;
        while (size / 2 < rest + BLOCK_SLACK) { /* at least half of it is for new bytes */
            size *= 2;
        }
        if (size <= b->buffer->capacity && block_is_sole_owner(b)) {
            memmove(b->buffer->data, block_bytes(b), rest);
            b->begin = 0;
            b->end = rest;
        } else {
            rc = block_begin(b, size);
        }
    }
    if (rc != SR_OK) {
        return rc;
    }
    *to = b->buffer->data + b->end;
    /* Never more than one record may have: so a longer one is found wherever reads are cut. */
    uint32_t room = block_fill_max(b->buffer) - b->end;
    *len = room < b->record_max - rest ? room : b->record_max - rest;
    return SR_OK;
}

void block_filled(struct block *b, uint32_t len) { b->end += len; }

void block_consume(struct block *b, uint32_t len)
{
    b->begin += len < block_length(b) ? len : block_length(b);
}

uint32_t block_pass(struct block *b, bool *is_over)
{
    uint32_t len = block_length(b);
    const uint8_t *newline = len > 0 ? memchr(block_bytes(b), '\n', len) : NULL;
    *is_over = newline != NULL;
    len = newline ? (uint32_t)(newline - block_bytes(b)) + 1 : len;
    block_consume(b, len);
    return len;
}

void block_drop(struct block *b)
{
    if (b->buffer) {
        b->host->buffer_release(b->buffer);
    }
    b->buffer = NULL;
    b->begin = b->end = 0;
}
