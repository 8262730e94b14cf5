/* Dead letters as they lie there: JSON lines in a directory or a file, or a table of SQLite.
 *
 * A letter's id is made of when and where it was set aside, not of its bytes: so that a record
 * which was mended by hand is still the same letter.
 */
#ifndef SR_CLI_LETTER_LIST_H
#define SR_CLI_LETTER_LIST_H

#include "cli/cli.h"

struct letter_row {
    char id[13];
    const char *time, *step, *source, *split, *error; /* "": not known */
    int64_t offset, line, attempt;                    /* -1: not known */
    const uint8_t *raw;                               /* NULL: none, or no base64 */
    size_t raw_len;
};

struct letter_list {
    const char *path; /* absolute */
    bool is_dir;
    uint32_t count, capacity;
    struct letter_row *item; /* in the arena */
};

/* What is at `path`; `table` of a SQLite file, NULL: the one that has the columns. SR_EABSENT,
 * SR_EDATA: see err. */
sr_rc letter_list_read(const struct cli *c, const char *path, const char *table,
                       struct letter_list *out, struct sr_error *err);
const struct letter_row *letter_list_find(const struct letter_list *l, const char *id);

#endif
