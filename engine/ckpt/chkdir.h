/* One checkpoint or savepoint as a directory: `_metadata` and, beside it, `state` with its
 * parts. */
#ifndef SR_CKPT_CHKDIR_H
#define SR_CKPT_CHKDIR_H

#include "engine/ckpt/store_type.h"

#define CHKDIR_METADATA "_metadata"
#define CHKDIR_STATE    "state"

/* Fills a new directory: data, sync, the directory, `_metadata` last, sync, the directory again.
 * The directory's own name is the caller's to publish. After a failure the directory is waste. */
sr_rc chkdir_write(const struct env *env, const char *dir, const struct manifest *m,
                   const struct sr_out *metadata, struct sr_error *err);
/* The manifest alone, and the digest of all of `_metadata`; `state` must have the right size. */
sr_rc chkdir_read(const struct env *env, const char *dir, struct arena *a, struct manifest **out,
                  struct digest *digest, struct sr_error *err);
/* With all parts, each digest checked. */
sr_rc chkdir_load(const struct env *env, const char *dir, struct arena *a, struct manifest **out,
                  struct digest *digest, struct sr_error *err);

#endif
