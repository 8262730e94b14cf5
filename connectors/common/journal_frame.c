#include "connectors/common/journal_frame.h"

#include <endian.h>
#include <string.h>

#define JOURNAL_MAGIC  0x4c4a5253u /* "SRJL" */
#define JOURNAL_DIGEST 32u         /* where it lies in the head */
#define JOURNAL_CHECK  12u         /* and the check */
#define JOURNAL_SECTOR 512u        /* bytes that a disk writes as a whole, or not at all */

static void journal_put_u32(uint8_t *to, uint32_t v)
{
    v = htole32(v);
    memcpy(to, &v, sizeof(v));
}

static void journal_put_u64(uint8_t *to, uint64_t v)
{
    v = htole64(v);
    memcpy(to, &v, sizeof(v));
}

static uint32_t journal_get_u32(const uint8_t *from)
{
    uint32_t v;
    memcpy(&v, from, sizeof(v));
    return le32toh(v);
}

static uint64_t journal_get_u64(const uint8_t *from)
{
    uint64_t v;
    memcpy(&v, from, sizeof(v));
    return le64toh(v);
}

static void journal_frame_digest(const struct sr_host *host, const uint8_t *head,
                                 const uint8_t *bytes, uint32_t len, uint8_t out[16])
{
    uint64_t digest[2];
    uint8_t both[JOURNAL_DIGEST + 16];
    host->digest(bytes, len, digest);
    memcpy(both, head, JOURNAL_DIGEST);
    journal_put_u64(both + JOURNAL_DIGEST, digest[0]);
    journal_put_u64(both + JOURNAL_DIGEST + 8, digest[1]);
    host->digest(both, sizeof(both), digest);
    journal_put_u64(out, digest[0]);
    journal_put_u64(out + 8, digest[1]);
}

/* Of the head but for itself and the digest; never 0. */
static uint32_t journal_frame_check(const struct sr_host *host, const uint8_t *head)
{
    uint8_t numbers[JOURNAL_DIGEST];
    uint64_t digest[2];
    memcpy(numbers, head, sizeof(numbers));
    journal_put_u32(numbers + JOURNAL_CHECK, 0);
    host->digest(numbers, sizeof(numbers), digest);
    return (uint32_t)digest[0] != 0 ? (uint32_t)digest[0] : 1;
}

void journal_frame_put(const struct sr_host *host, const struct journal_frame *f,
                       const uint8_t *bytes, uint8_t head[JOURNAL_HEAD])
{
    journal_put_u32(head, JOURNAL_MAGIC);
    journal_put_u32(head + 4, (uint32_t)f->kind);
    journal_put_u32(head + 8, f->len);
    journal_put_u64(head + 16, f->session);
    journal_put_u64(head + 24, f->offset);
    journal_put_u32(head + JOURNAL_CHECK, journal_frame_check(host, head));
    journal_frame_digest(host, head, bytes, f->len, head + JOURNAL_DIGEST);
}

bool journal_frame_get(const uint8_t head[JOURNAL_HEAD], struct journal_frame *out)
{
    uint32_t kind = journal_get_u32(head + 4), len = journal_get_u32(head + 8);
    if (journal_get_u32(head) != JOURNAL_MAGIC || kind < JOURNAL_BEGIN || kind > JOURNAL_ACKED ||
        len > JOURNAL_FRAME_MAX) {
        return false;
    }
    *out = (struct journal_frame){.kind = (enum journal_kind)kind,
                                  .len = len,
                                  .session = journal_get_u64(head + 16),
                                  .offset = journal_get_u64(head + 24)};
    return true;
}

bool journal_frame_is_whole(const struct sr_host *host, const uint8_t head[JOURNAL_HEAD],
                            const uint8_t *bytes)
{
    uint8_t digest[16];
    journal_frame_digest(host, head, bytes, journal_get_u32(head + 8), digest);
    return memcmp(digest, head + JOURNAL_DIGEST, sizeof(digest)) == 0;
}

/* Is a sector, or what of it lies in these bytes, nothing but zeros? */
static bool journal_frame_has_gap(const uint8_t *bytes, size_t len, uint64_t at)
{
    for (size_t i = 0; i < len;) {
        size_t end = i + JOURNAL_SECTOR - (size_t)((at + i) % JOURNAL_SECTOR);
        end = end < len ? end : len;
        bool is_gap = true;
        for (; i < end; i++) {
            is_gap = is_gap && bytes[i] == 0;
        }
        if (is_gap) {
            return true;
        }
    }
    return false;
}

bool journal_frame_was_whole(const struct sr_host *host, const uint8_t *bytes, size_t len,
                             uint64_t at)
{
    struct journal_frame f;
    if (len < JOURNAL_HEAD || journal_frame_has_gap(bytes, len, at)) {
        return false;
    }
    if (!journal_frame_get(bytes, &f)) {
        return true; /* a head that was written was one */
    }
    uint32_t check = journal_get_u32(bytes + JOURNAL_CHECK);
    bool is_checked = check != 0 && check == journal_frame_check(host, bytes);
    return len - JOURNAL_HEAD >= f.len || (check != 0 && !is_checked);
}

bool journal_frame_is_within(const struct sr_host *host, uint64_t session, const uint8_t *bytes,
                             size_t len)
{
    uint8_t magic[4];
    journal_put_u32(magic, JOURNAL_MAGIC);
    for (size_t at = 0; at + JOURNAL_HEAD <= len; at++) {
        const uint8_t *head = memmem(bytes + at, len - at, magic, sizeof(magic));
        at = head ? (size_t)(head - bytes) : len;
        struct journal_frame f;
        if (head && len - at >= JOURNAL_HEAD && journal_frame_get(head, &f) &&
            f.session == session && f.len <= len - at - JOURNAL_HEAD &&
            journal_frame_is_whole(host, head, head + JOURNAL_HEAD)) {
            return true;
        }
    }
    return false;
}
