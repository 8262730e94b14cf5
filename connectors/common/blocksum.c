#include "connectors/common/blocksum.h"

#include <endian.h>
#include <stdlib.h>

void blocksum_chain(const struct sr_host *host, uint64_t chain[2], const uint64_t next[2])
{
    uint64_t both[4] = {htole64(chain[0]), htole64(chain[1]), htole64(next[0]), htole64(next[1])};
    host->digest(both, sizeof(both), chain);
}

static void blocksum_link(struct blocksum *c, const struct sr_host *host, const uint8_t *bytes,
                          size_t len)
{
    uint64_t digest[2];
    host->digest(bytes, len, digest);
    blocksum_chain(host, c->digest, digest);
}

void blocksum_add(struct blocksum *c, const struct sr_host *host, const uint8_t *block)
{
    blocksum_link(c, host, block, BLOCKSUM_BLOCK);
}

void blocksum_end(const struct blocksum *c, const struct sr_host *host, const uint8_t *rest,
                  size_t len, uint64_t out[2])
{
    struct blocksum copy = *c;
    if (len > 0) {
        blocksum_link(&copy, host, rest, len);
    }
    out[0] = copy.digest[0];
    out[1] = copy.digest[1];
}

/* SR_ECORRUPT, without words: the file ends before `length`. */
static sr_rc blocksum_read(const struct sr_host *host, struct sr_file *f, uint8_t *block,
                           uint64_t length, struct blocksum *c, struct sr_error *err)
{
    for (uint64_t at = 0; at < length;) {
        size_t want = length - at < BLOCKSUM_BLOCK ? (size_t)(length - at) : BLOCKSUM_BLOCK;
        size_t have = 0;
        while (have < want) {
            size_t got = 0;
            sr_rc rc = host->files->read(f, block + have, want - have, at + have, &got, err);
            if (rc != SR_OK || got == 0) {
                return rc != SR_OK ? rc : SR_ECORRUPT;
            }
            have += got;
        }
        blocksum_link(c, host, block, want);
        at += want;
    }
    return SR_OK;
}

sr_rc blocksum_file(const struct sr_host *host, const char *path, uint64_t length, uint64_t out[2],
                    struct sr_error *err)
{
    struct sr_file *f = NULL;
    sr_rc rc = host->files->open(host->files, path, SR_FILE_READ, &f, err);
    if (rc != SR_OK) {
        return rc;
    }
    struct blocksum c = {{0, 0}};
    uint8_t *block = malloc(BLOCKSUM_BLOCK);
    rc = block ? blocksum_read(host, f, block, length, &c, err)
               : host->fail(host, err, SR_ENOMEM, "out of memory to check %s", path);
    free(block);
    (void)host->files->close(f, NULL); /* only read */
    if (rc == SR_ECORRUPT) {
        return host->fail(host, err, rc, "%s is shorter than the %llu bytes that were written",
                          path, (unsigned long long)length);
    }
    if (rc != SR_OK) {
        return rc;
    }
    out[0] = c.digest[0];
    out[1] = c.digest[1];
    return SR_OK;
}
