/* The contents of a file, whether it is compressed or not.
 *
 * What its first bytes say decides, not its name. Offsets count uncompressed bytes; in a compressed
 * file, going back, or to an offset far ahead, reads and drops everything before it.
 *
 *   fs_input_open -> fs_input_read* -> fs_input_close
 */
#ifndef CONNECTORS_FILESYSTEM_FS_INPUT_H
#define CONNECTORS_FILESYSTEM_FS_INPUT_H

#include <streamrun/host.h>

#include "connectors/compress/unpack.h"

struct fs_input {
    const struct sr_host *host;
    const char *path;     /* the caller's */
    struct sr_file *file; /* NULL: not open */
    enum unpack_kind kind;
    /* where it is compressed: */
    struct unpack *unpack; /* NULL until read */
    uint8_t *in;           /* compressed bytes; from `in_at` on not used yet */
    size_t in_at, in_len;
    uint64_t file_at; /* offset of what follows them in the file */
    uint64_t at;      /* offset of the next byte that comes out */
    bool is_over;
};

static inline bool fs_input_is_packed(const struct fs_input *f) { return f->kind != UNPACK_NONE; }

/* path: good until the close. SR_EABSENT, without a word in the log. */
sr_rc fs_input_open(struct fs_input *f, const struct sr_host *host, const char *path,
                    struct sr_error *err);
/* Reads up to len bytes at `at`; *got is 0 at the end of the contents only. SR_EFINAL: compressed
 * data are damaged; SR_ECLOSED: they end too early, so the file may not be whole yet. */
sr_rc fs_input_read(struct fs_input *f, void *to, size_t len, uint64_t at, size_t *got,
                    struct sr_error *err);
void fs_input_close(struct fs_input *f); /* and empty again */

/* Is it the file that made a call fail: it is gone, forbidden or damaged? Then it does not hold
 * what is sought, and its reader tells, if it is given to one. Any other failure says nothing of
 * it. */
bool fs_input_is_at_fault(sr_rc rc);

#endif
