/* Stable codes of faults and errors, as in "SR0412: there is no connector 'kafka'".
 *
 * A code stands in front of the words where they are made, so it travels with them through every
 * layer that only passes words on, and through plugins. Whoever shows the words takes it out again:
 * people see `... [SR0412]` at the end of the line, `streamrun help SR0412` explains it.
 */
#ifndef SR_BASE_CODE_H
#define SR_BASE_CODE_H

#define CODE_LEN 6u /* bytes of "SR0412" */

/* What `help` says of a code. A room has one table of its codes; a code never changes its meaning.
 */
struct code_page {
    const char *code;    /* NULL ends a table */
    const char *title;   /* a sentence */
    const char *page;    /* what it means, and how to mend it */
    const char *example; /* as it is, lines and all; NULL: none */
};

/* Takes every "SRnnnn: " out of `words`, in place, and keeps the first: "SR0412", or "" when there
 * is none. */
void code_take(char *words, char code[CODE_LEN + 1]);

#endif
