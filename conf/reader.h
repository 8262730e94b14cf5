/* What the files of this room share while one job is read: whoever reads, where to, and the faults.
 */
#ifndef SR_CONF_READER_H
#define SR_CONF_READER_H

#include "conf/conf.h"
#include "conf/entry.h"

#define READER_STEPS_MAX 1000u

/* What `-D key=value` looks like, for faults. */
struct define_line {
    const char *key, *value;
    const struct node *node; /* knows whether the value is a secret; NULL: the key is wrong */
};

struct reader {
    const struct conf_input *in;
    struct registry *registry;
    struct faults *faults;
    struct arena *arena;               /* the faults' */
    struct page *job_page, *conf_page; /* NULL: not read */
    const char *job_file;              /* absolute; NULL: a text */
    struct define_line *define;
    struct entries entries;
    bool is_unreadable;       /* a text is not YAML, or no mapping: no use in looking further */
    bool has_holes;           /* a transform has faults: more would follow from them */
    struct conf_value *value; /* for `streamrun config` */
    uint32_t values, value_space;
};

/* A fault of level error. */
void reader_fault(struct reader *rd, struct place at, const char *hint, const char *fmt, ...)
    SR_PRINTF(4, 5);
/* What may be shown of a scalar. */
const char *reader_shown(const struct entry *e, const struct node *n);
/* Reads a file whose size has a limit into `buf`, which has room for size_max + 1 bytes: *len is
 * above size_max when the file is larger. */
sr_rc reader_load(const struct reader *rd, const char *path, char *buf, size_t size_max,
                  size_t *len, struct sr_error *err);
/* An absolute path, or an URI with one, from what stands in a directory `dir`. */
const char *reader_absolute(struct arena *a, const char *dir, const char *path);

#endif
