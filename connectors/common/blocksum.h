/* A digest over bytes that come bit by bit, in blocks of BLOCKSUM_BLOCK bytes.
 *
 * Each whole block's digest is chained to that of the blocks before it; the rest, shorter than a
 * block, is added only when the digest is asked for. So a writer knows at any time the digest of
 * what it has written, keeps 16 bytes and its last block for it, and a reader can check any prefix.
 */
#ifndef CONNECTORS_COMMON_BLOCKSUM_H
#define CONNECTORS_COMMON_BLOCKSUM_H

#include <streamrun/host.h>

#define BLOCKSUM_BLOCK ((size_t)256 * 1024)

struct blocksum {
    uint64_t digest[2]; /* of the whole blocks so far; zeroes: none */
};

/* The digest of what `chain` is of and, behind it, what `next` is of. */
void blocksum_chain(const struct sr_host *host, uint64_t chain[2], const uint64_t next[2]);
/* Adds one whole block. */
void blocksum_add(struct blocksum *c, const struct sr_host *host, const uint8_t *block);
/* The digest of the whole blocks and a rest of less than a block. */
void blocksum_end(const struct blocksum *c, const struct sr_host *host, const uint8_t *rest,
                  size_t len, uint64_t out[2]);
/* The digest of the first `length` bytes of a file. SR_ECORRUPT when it is shorter. */
sr_rc blocksum_file(const struct sr_host *host, const char *path, uint64_t length, uint64_t out[2],
                    struct sr_error *err);

#endif
