/* Digests and hashes: XXH3 by libxxhash. Values are part of saved state and must never change. */
#ifndef SR_BASE_HASH_H
#define SR_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash64(const void *data, size_t len, uint64_t seed);

/* 128 bits over everything fed: the digest of stored bytes. */
struct digest {
    uint64_t low, high;
};

struct digest digest_of(const void *data, size_t len);
struct digester;                     /* for streams */
struct digester *digester_new(void); /* NULL: out of memory */
void digester_add(struct digester *d, const void *data, size_t len);
struct digest digester_get(const struct digester *d);
void digester_free(struct digester *d);
void digest_text(struct digest d, char out[33]); /* 32 hex digits and \0 */

#endif
