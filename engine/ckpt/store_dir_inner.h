/* What the files of the directory store share. store_dir.c says what it consists of. */
#ifndef SR_CKPT_STORE_DIR_INNER_H
#define SR_CKPT_STORE_DIR_INNER_H

#include "engine/ckpt/jobdir.h"

struct store_dir {
    const char *counters, *trash; /* paths */
    const char *build;            /* .ep-E of this attempt */
    const char *draft;            /* a file in it, to be renamed to where it belongs */
    struct sr_stat build_is;      /* its identity when it was made */
    uint64_t trashed;             /* names given in trash/ so far */
    bool has_named_others;        /* what older lineages leave was logged */
};

sr_rc store_dir_no_memory(struct sr_error *err);
sr_rc store_dir_check_fence(const struct store *s, struct sr_error *err);
/* Something of ours is gone: because the attempt was sealed, or for a reason of its own. */
sr_rc store_dir_absent(const struct store *s, sr_rc rc, struct sr_error *err);

/* Moves one name of the job's directory to `dir`: trash/, or our .ep-E, which is refused when we
 * were taken over. Not durable yet. */
sr_rc store_dir_move(struct store *s, const char *path, const char *dir, struct sr_error *err);
/* Both ends of such moves become durable; then what lies in `dir` may be removed. */
sr_rc store_dir_sync_move(const struct store *s, const char *dir, struct sr_error *err);
sr_rc store_dir_empty(const struct store *s, const char *dir, struct sr_error *err);
/* A checkpoint with the mark of its end, to .ep-E. */
sr_rc store_dir_trash_checkpoint(struct store *s, uint64_t number, struct sr_error *err);

sr_rc store_dir_read_counters(const struct store *s, struct counters *c, struct sr_error *err);
sr_rc store_dir_write_counters(const struct store *s, const struct counters *c,
                               struct sr_error *err);
sr_rc store_dir_newest_path(const struct store *s, struct arena *a, const char **path,
                            uint64_t *number, struct sr_error *err);

/* --- store_dir_end.c: of store_type ----------------------------------------------------------- */

sr_rc store_dir_remove(struct store *s, uint64_t lineage, uint64_t number, struct sr_error *err);
sr_rc store_dir_mark_end(struct store *s, enum manifest_end end, struct sr_error *err);
sr_rc store_dir_complete(struct store *s, uint64_t number, struct sr_error *err);
sr_rc store_dir_drop(struct store *s, uint64_t number, struct sr_error *err);

#endif
