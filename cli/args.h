/* The command line, parsed by the table of its command.
 */
#ifndef SR_CLI_ARGS_H
#define SR_CLI_ARGS_H

#include <streamrun/error.h>

#include "engine/base/arena.h"

struct args_option {
    const char *name;  /* "from": written --from VALUE or --from=VALUE; NULL ends a table */
    const char *alias; /* Flink's spelling: "fromSavepoint"; NULL: none */
    char letter;       /* 's': written -s VALUE or -sVALUE; 0: none */
    const char *value; /* what the value is called in help; NULL: a switch */
    const char *doc;
};

#define ARGS_MAX 256u

struct args {
    uint32_t words; /* that are no options, in order */
    const char *word[ARGS_MAX];
    uint32_t options;
    struct {
        const struct args_option *option;
        const char *value; /* NULL for switches */
    } given[ARGS_MAX];
};

/* Parses argv[1..argc) after the command's name. SR_ECONFIG with words for a person. */
sr_rc args_parse(struct args *a, const struct args_option *options, int argc, char **argv,
                 struct sr_error *err);
bool args_has(const struct args *a, const char *name);
/* The last value of an option; NULL: not given. */
const char *args_value(const struct args *a, const char *name);
/* The i-th value of a repeated option; NULL behind the last. */
const char *args_each(const struct args *a, const char *name, uint32_t i);

#endif
