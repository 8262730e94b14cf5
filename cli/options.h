/* Option tables for people: what a key is, its kind, its default, its range. */
#ifndef SR_CLI_OPTIONS_H
#define SR_CLI_OPTIONS_H

#include "cli/show.h"

/* "duration, default 10 min", "one of none, skip, match", "required". */
const char *option_nature(struct arena *a, const struct sr_opt *o);
/* Key, nature and doc of each option of a table; keys get `prefix` in front. */
void options_print(const struct cli *c, const struct sr_opt *opts, const char *prefix);
json_t *options_json(const struct sr_opt *opts, const char *prefix);
/* A long text, broken at words to `width` columns, each line behind `indent` spaces. */
void options_wrap(FILE *to, const char *text, int indent, int width);
/* The same behind a head, below whose end the further lines begin. */
void options_hang(FILE *to, const char *head, const char *text, int width);
/* The same as a comment of YAML or a shell: `# ` stands in front. */
void options_comment(FILE *to, const char *text, int indent, int width);

#endif
