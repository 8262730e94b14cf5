/* The table of exit codes: what each says to a script, for help and the manual page. */
#ifndef SR_CLI_EXITS_H
#define SR_CLI_EXITS_H

struct exit_doc {
    const char *code;    /* "4", "128+n"; NULL ends the table */
    const char *meaning; /* one line */
    const char *doc;     /* when it comes, and what to do then */
};

extern const struct exit_doc exit_docs[];

/* NULL: no such code. 130 is one of 128+n. */
const struct exit_doc *exit_find(const char *code);

#endif
