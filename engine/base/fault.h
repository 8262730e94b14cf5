/* Faults of what a user wrote: all of them, each with its place, words and a hint.
 *
 * Kept in the order of their places, printed by cli. A fault is not an error of a call: functions
 * that collect faults answer SR_ECONFIG at the end when there was any.
 */
#ifndef SR_BASE_FAULT_H
#define SR_BASE_FAULT_H

#include "engine/base/arena.h"
#include "engine/base/code.h"

struct place {
    const char *file; /* as the user named it; "-D" for the command line, NULL: nowhere */
    uint32_t line;    /* from 1; 0: the whole file */
    uint32_t column;  /* from 1, in bytes; 0: the whole line */
};

enum fault_level { FAULT_NOTICE, FAULT_WARNING, FAULT_ERROR };

struct fault {
    enum fault_level level;
    struct place at;
    const char *words;       /* "unknown key 'paht'" */
    const char *hint;        /* "did you mean 'path'?"; NULL: none */
    const char *line;        /* text of the line, secrets masked, for the caret; NULL: none */
    char code[CODE_LEN + 1]; /* "SR0412"; "": none */
};

#define FAULTS_MAX 200u

struct faults {
    struct arena *arena;
    uint32_t count, errors, warnings;
    uint32_t dropped; /* beyond FAULTS_MAX */
    struct fault fault[FAULTS_MAX];
    /* Finds the text of a line, secrets masked; set by whoever read the file. NULL: no lines. */
    const char *(*line_of)(void *ctx, struct place at);
    void *ctx;
};

void faults_init(struct faults *f, struct arena *a);
/* Adds one; the same place and words twice count once. `hint` may be NULL. A
 * code that the words begin with is taken out of them. */
void fault_add(struct faults *f, enum fault_level level, struct place at, const char *hint,
               const char *fmt, ...) SR_PRINTF(5, 6);
void faults_sort(struct faults *f); /* by file, line, column */
/* Memory ran out for one of them: then the others may be none. */
bool faults_lack_memory(const struct faults *f);

#endif
