/* Every key of a job with its value, flat, whoever wrote it: `sources.hits.path` -> node.
 *
 * Nested mappings are flattened, so a key may be written `a.b: 1` or `a: {b: 1}`. What several
 * places say about one key is settled here: the highest rank wins; a key twice in the same file is
 * a fault. Sorted by key afterwards, so all keys of a step lie side by side.
 */
#ifndef SR_CONF_ENTRY_H
#define SR_CONF_ENTRY_H

#include "conf/tree.h"

#define ENTRY_KEY_MAX 512u /* bytes of a full key */

/* Sections of a job file that are mappings of names; ends with NULL. */
extern const char *const entry_sections[];
/* The section that a full key belongs to, or is; NULL: none. */
const char *entry_section(const char *key);

/* Who wrote it: a higher one wins. Merged by `<<`: before the file's own keys, after all else. */
enum entry_rank { RANK_CONF_MERGED, RANK_CONF, RANK_JOB_MERGED, RANK_JOB, RANK_DEFINE };

struct entry {
    const char *key;       /* full, with dots */
    struct node *name;     /* its last part, where it was written; of -D: the value */
    struct node *value;    /* scalar or sequence; of a group: mapping */
    const char *dir;       /* where a relative path in it starts */
    const char *canonical; /* the key that it is an older name of; else `key` */
    const char *effective; /* the value where it differs from the text: an absolute path */
    enum entry_rank rank;
    uint32_t order;  /* of the first place where the key was written */
    bool is_used;    /* some option or step took it */
    bool is_beaten;  /* by another name of the same option */
    bool is_off;     /* counts as not written */
    bool is_idle;    /* ignored, but one day it will mean something */
    bool is_ignored; /* a key of Flink without meaning here */
    bool is_secret;
};

struct entries {
    struct arena *arena;
    struct faults *faults;
    struct entry *item; /* after entries_settle: sorted by key, each key once */
    uint32_t count, space;
    struct entry *group; /* mappings by their full keys; sorted by key */
    uint32_t groups, group_space;
    uint32_t order;
    bool is_broken; /* out of memory */
};

/* Flattens one file; `rank` is that of its own keys. */
void entries_add_tree(struct entries *e, struct node *root, enum entry_rank rank);
void entries_add(struct entries *e, const struct entry *one); /* takes `order` from e */
/* Hides the values of keys that sound like secrets, in their pages too; before entries_settle. */
void entries_hide(struct entries *e);
void entries_settle(struct entries *e);
/* From now on nobody may see the value. */
void entry_hide(struct entry *one);

/* Compares two pointers to entries: by the order in which they were written. */
int entries_by_order(const void *a, const void *b);
struct entry *entries_find(const struct entries *e, const char *key);
/* The entries whose keys begin with `prefix`: [*from, *to). */
void entries_range(const struct entries *e, const char *prefix, uint32_t *from, uint32_t *to);
/* The mapping of that full key, or NULL. */
const struct entry *entries_group(const struct entries *e, const char *key);

#endif
