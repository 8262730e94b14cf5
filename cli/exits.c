#include "cli/exits.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_SIGNALS "128+n"

const struct exit_doc exit_docs[] = {
    {"0", "finished; or ended as asked, with its state saved",
     "A bounded job was read to its end and all its output is committed; an unbounded one was "
     "ended by stop, cancel or a signal, with its state saved where that was asked for. Of "
     "commands that answer: the answer stands on stdout."},
    {"1", "the job failed",
     "A source, a sink or an expression gave up and the restart strategy allowed no further try, "
     "or a file could not be read or written. The message names the step and the place. State "
     "that was saved is kept: mend the cause, then run with --continue."},
    {"2", "wrong usage of the command line",
     "An unknown command or option, a word too many, a job that is not named although several run. "
     "Nothing was done."},
    {"3", "faults in the job file or configuration",
     "The job is not valid: each fault is shown with its file, line and column. `validate "
     "--strict` answers 3 for warnings too; `savepoint` when no directory is set; `eval` when the "
     "expression is not valid. Nothing was done."},
    {"4", "the state is missing, damaged, does not fit, or waits for a decision",
     "The checkpoint to start from is not there, is damaged, or does not fit the job; or an "
     "unfinished run left its state: --continue goes on from it, --fresh starts again. streamrun "
     "never goes on from an older checkpoint by itself, because that would repeat output."},
    {"5", "the job is running already, or its state is held",
     "Another process runs a job of this id, or holds its checkpoint store; the message names it."},
    {"6", "finished, but records were set aside (with --fail-on-dead-letter)",
     "All is read and committed, but some records were skipped or went to the dead letters."},
    {"7", "ended by a signal without saving the state it promised",
     "The last checkpoint could not be taken, or there is no place that outlives the process. Rows "
     "since the last checkpoint are read again by --continue."},
    {"8", "no such running job",
     "savepoint, stop, cancel, status or wait found no running job of that name. It may listen in "
     "another run directory: --run-dir."},
    {"9", "a bounded job was ended by a signal, state saved: --continue goes on",
     "The input was not read to its end; the last checkpoint holds where it stands."},
    {"124", "wait: the time was over",
     "What `wait` was to wait for did not come within its --timeout; the job is untouched."},
    {"141", "stdout was closed",
     "Whoever read the output went away, as in `streamrun ... | head`: the job ended quietly."},
    {EXIT_SIGNALS, "ended at once by a second signal n",
     "A first SIGTERM or SIGINT takes a last checkpoint; the second, half a second later or more, "
     "ends "
     "the process at once: 130 for SIGINT, 143 for SIGTERM. State is as after a kill."},
    {NULL, NULL, NULL}};

/* 129 to 192: one code stands for all of them. */
static bool exit_is_signal(const char *code)
{
    if (strlen(code) != 3 || strspn(code, "0123456789") != 3) return false;
    long number = strtol(code, NULL, 10);
    return number > 128 && number < 193;
}

const struct exit_doc *exit_find(const char *code)
{
    const struct exit_doc *signals = NULL;
    for (const struct exit_doc *d = exit_docs; d->code; d++) {
        if (strcmp(d->code, code) == 0) return d;
        if (strcmp(d->code, EXIT_SIGNALS) == 0) signals = d;
    }
    return exit_is_signal(code) ? signals : NULL;
}
