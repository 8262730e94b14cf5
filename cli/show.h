/* Words in shape: faults with their place and a caret, tables, times, amounts. */
#ifndef SR_CLI_SHOW_H
#define SR_CLI_SHOW_H

#include <jansson.h>

#include "cli/cli.h"
#include "engine/base/fault.h"

/* All faults on stderr, or on stdout as JSON: file:line:column, words, the line, a caret, the
 * hint. */
void show_faults(const struct cli *c, struct faults *f);

#define SHOW_COLUMNS_MAX 16u
#define SHOW_CELL_MAX    40 /* a longer cell does not widen its column for the other rows */

/* Columns by content; the first row is the head, the first column always fits. Numbers (is_right)
 * stand right. */
struct show_table {
    uint32_t columns; /* at most SHOW_COLUMNS_MAX */
    const bool *is_right;
    uint32_t rows;
    const char *const *cell; /* rows x columns, head first; NULL is "" */
};
void show_table(FILE *to, const struct show_table *t);

void show_json(const struct cli *c, json_t *j); /* takes j; one line, then a newline */

const char *show_duration(struct arena *a, int64_t us); /* "340 ms", "2.1 s", "3 min 20 s" */
const char *show_size(struct arena *a, int64_t bytes);  /* "3.4 MiB" */
const char *show_count(struct arena *a, int64_t n);     /* "1,234,567" */
const char *show_many(struct arena *a, uint64_t n, const char *noun); /* "1 row", "2 rows" */

#endif
