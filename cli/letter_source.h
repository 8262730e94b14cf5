/* The source of a replay: the bytes of dead letters, each one whole record.
 *
 * It stands in for the source that a letter came from. Records are framed, so that one may hold
 * newlines, or whatever its source ends records with. What that source knew beside the bytes (its
 * metadata) is not in a letter: columns of it are NULL, and the log says so.
 *
 * Its file is a series of records: bytes u32, little-endian | the bytes. One split; a position is a
 * byte of the file.
 */
#ifndef SR_CLI_LETTER_SOURCE_H
#define SR_CLI_LETTER_SOURCE_H

#include <streamrun/connector.h>

#include "engine/base/arena.h"

struct letter_source_conf {
    const char *path;
};

/* In place of `of`, with the same metadata; in the arena. NULL: out of memory. */
const struct sr_source_type *letter_source_type(struct arena *a, const struct sr_source_type *of);
/* Appends a record to what becomes the file. False: out of memory, or it is too long. */
bool letter_source_put(struct sr_out *file, const void *bytes, size_t len);

#endif
