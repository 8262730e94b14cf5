#include "connectors/common/blocksum.h"

#include <endian.h>
#include <stdlib.h>

static void chain_link(struct blocksum *c, const struct sr_host *host, const uint8_t *bytes,
                       size_t len)
{
    uint64_t of[2];
    host->digest(bytes, len, of);
    uint64_t both[4] = {htole64(c->digest[0]), htole64(c->digest[1]), htole64(of[0]),
                        htole64(of[1])};
    host->digest(both, sizeof(both), c->digest);
}

void blocksum_add(struct blocksum *c, const struct sr_host *host, const uint8_t *block)
{
    chain_link(c, host, block, BLOCKSUM_BLOCK);
}

void blocksum_end(const struct blocksum *c, const struct sr_host *host, const uint8_t *rest,
                  size_t len, uint64_t out[2])
{
    struct blocksum copy = *c;
    if (len > 0) {
        chain_link(&copy, host, rest, len);
    }
    out[0] = copy.digest[0];
    out[1] = copy.digest[1];
}

static sr_rc chain_read(const struct sr_host *host, struct sr_file *f, uint8_t *block,
                        uint64_t length, struct blocksum *c)
{
    struct sr_error ignored; /* the caller names the file */
    for (uint64_t at = 0; at < length;) {
        size_t want = length - at < BLOCKSUM_BLOCK ? (size_t)(length - at) : BLOCKSUM_BLOCK;
        size_t have = 0;
        while (have < want) {
            size_t got = 0;
            sr_rc rc = host->files->read(f, block + have, want - have, at + have, &got, &ignored);
            if (rc != SR_OK || got == 0) {
                return rc != SR_OK ? rc : SR_ECORRUPT;
            }
            have += got;
        }
        chain_link(c, host, block, want);
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
    rc = block ? chain_read(host, f, block, length, &c) : SR_ENOMEM;
    free(block);
    (void)host->files->close(f, NULL); /* only read */
    if (rc == SR_ECORRUPT) {
        return host->fail(host, err, rc, "%s is shorter than the %llu bytes that were written",
                          path, (unsigned long long)length);
    }
    if (rc != SR_OK) {
        return host->fail(host, err, rc, "cannot read %s again", path);
    }
    out[0] = c.digest[0];
    out[1] = c.digest[1];
    return SR_OK;
}
