/* Compressed bytes, going out: gzip members or zstd frames, one behind the other.
 *
 * What pack_end has closed is a whole member or frame: a file may end there, or go on with another,
 * also one that is made by another process. A reader joins them (RFC 1952, RFC 8878).
 *
 *   pack_open -> { pack_add* -> pack_end }* -> pack_close
 */
#ifndef CONNECTORS_COMPRESS_PACK_H
#define CONNECTORS_COMPRESS_PACK_H

#include <streamrun/format.h>

enum pack_kind { PACK_NONE, PACK_GZIP, PACK_ZSTD };

struct pack; /* a few hundred KiB while it is open */

/* kind: not PACK_NONE. NULL: out of memory. */
struct pack *pack_open(enum pack_kind kind);
/* Appends to `out` what bytes become; some may be held until pack_end. False: out of memory, and
 * the member is broken. */
bool pack_add(struct pack *p, const void *bytes, size_t len, struct sr_out *out);
/* Closes the member; nothing to close without bytes since the last. False: out of memory. */
bool pack_end(struct pack *p, struct sr_out *out);
void pack_close(struct pack *p);

/* What names of such files end with: ".gz", ".zst"; "" for PACK_NONE. */
const char *pack_suffix(enum pack_kind kind);
/* What the end of a name says. */
enum pack_kind pack_of_name(const char *name);

#endif
