/* Fingerprints of contents: by them a file is known again under another name, as a copy, or
 * compressed; and by them it is noticed that a file holds something else than what was read.
 */
#ifndef CONNECTORS_FILESYSTEM_FS_PRINT_H
#define CONNECTORS_FILESYSTEM_FS_PRINT_H

#include "connectors/filesystem/fs_input.h"
#include "connectors/filesystem/fs_split.h"
#include "connectors/filesystem/fs_walk.h"

/* Of up to `bytes` bytes from `at` on: fewer where the contents end. Compressed data that are cut
 * short end there. */
sr_rc fs_print_take(struct fs_input *in, uint64_t at, uint32_t bytes, struct fs_print *out,
                    struct sr_error *err);
/* Of the bytes before `offset`. */
sr_rc fs_print_tail(struct fs_input *in, uint64_t offset, struct fs_print *out,
                    struct sr_error *err);
/* Do the contents begin with what the split has read of them? *fits is set when it can be told. */
sr_rc fs_print_fits(struct fs_input *in, const struct fs_split *s, bool *fits,
                    struct sr_error *err);

/* Does the file end as the other one goes on at that place? An empty one does; what is at fault
 * (fs_input_is_at_fault) does not. */
sr_rc fs_print_is_part(const struct sr_host *host, const struct fs_found *file, const char *of,
                       bool *is_part, struct sr_error *err);

#endif
