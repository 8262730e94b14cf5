/* Compressed bytes, coming in: gzip, zstd, lz4 (frames), bzip2, xz.
 *
 * Such data are a series of members (frames, streams), which are joined; zeros between them and at
 * the end are padding, as gzip and tar leave it. Each member's own check is verified. Where the
 * data end within a member, or something else follows, it is said: that is never an end.
 *
 *   unpack_open -> unpack_step* -> unpack_close
 */
#ifndef CONNECTORS_COMPRESS_UNPACK_H
#define CONNECTORS_COMPRESS_UNPACK_H

#include <streamrun/error.h>

enum unpack_kind {
    UNPACK_NONE,
    UNPACK_GZIP,
    UNPACK_ZSTD,
    UNPACK_LZ4,
    UNPACK_BZIP2,
    UNPACK_XZ,
    UNPACK_COUNT
};

#define UNPACK_MAGIC_BYTES 10u /* that tell what it is */
/* Memory of one decoder: what asks for more was made for another purpose, or to do harm. */
#define UNPACK_MEMORY_MAX (UINT64_C(128) << 20)

struct unpack; /* up to UNPACK_MEMORY_MAX, a few hundred KiB as a rule */

struct unpack_step {
    /* in */
    const uint8_t *in;
    size_t len;
    bool at_end; /* nothing follows `in` */
    uint8_t *out;
    size_t room; /* at least 1 */
    /* out */
    size_t used, made;
    bool is_over; /* at_end, and the last member is complete */
};

/* What the first bytes of a file say, whatever it is called. */
enum unpack_kind unpack_of_magic(const uint8_t *first, size_t len);
const char *unpack_name(enum unpack_kind kind); /* "gzip" */

/* kind: not UNPACK_NONE. NULL: out of memory. */
struct unpack *unpack_open(enum unpack_kind kind);
/* Goes on until the room is full, all of `in` is used, or it is over. SR_ECORRUPT: *why says what
 * is wrong, "CRC mismatch"; SR_EABSENT: the data end within a member; SR_ENOMEM. */
sr_rc unpack_step(struct unpack *u, struct unpack_step *s, const char **why);
void unpack_close(struct unpack *u); /* NULL allowed */

#endif
