/* What words a command takes, read from its line of usage, so that nobody has to say it twice.
 *
 * "list | show PATH" takes one of two words, then a path. Options and their values are no words.
 */
#ifndef SR_CLI_USAGE_H
#define SR_CLI_USAGE_H

#include "cli/commands.h"

#define USAGE_WORDS_MAX 16u /* alternatives of one position */

/* Names of what may stand at `position` (from 0): "PATH", or the word itself in lower case. The
 * last position stands for all behind it where the usage ends in dots. Answers how many. */
uint32_t usage_words(struct arena *a, const struct command *k, uint32_t position,
                     const char *word[USAGE_WORDS_MAX]);
/* The option that a word begins, -x, --name or --name=value; NULL: none. */
const struct args_option *usage_option(const struct command *k, const char *word);

#endif
