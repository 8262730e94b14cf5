/* Completion of a command line: what may stand in place of its last word.
 *
 * The scripts for the shells only pass words on and take lines back, so that all of them know what
 * the tables know. A line is a word; one that begins with a colon says that the shell shall add
 * names of files (":files") or directories (":dirs"), for what is behind the last `=`.
 */
#ifndef SR_CLI_COMPLETE_H
#define SR_CLI_COMPLETE_H

#include "cli/cli.h"

/* `word`: what follows `streamrun`, the last one as far as it is written. Prints the lines. */
void complete_words(struct cli *c, const char *const *word, uint32_t words);

#endif
