#include "cli/codes.h"

#include <string.h>
#include <strings.h>

#include "conf/codes.h"
#include "engine/bind/codes.h"

/* By sr_rc: whatever fails at run time, in a plugin too, has one of these. */
static const struct code_page codes_run[] = {
    [SR_ENOMEM - 1] = {"SR1001", "Memory ran out.",
                       "State lies in memory: fewer keys, a window, or a larger machine help. The "
                       "last checkpoint is kept.",
                       NULL},
    [SR_ECONFIG - 1] = {"SR1002", "What was asked for is not valid.",
                        "The words say what is wrong; nothing was done.", NULL},
    [SR_EIO - 1] = {"SR1003", "Input or output failed.",
                    "A file, a disk or a connection answered with an error. The job restarts by "
                    "its strategy; when the cause is gone, --continue goes on.",
                    NULL},
    [SR_ENOSPC - 1] =
        {"SR1004", "No space is left.",
         "Make room where the words say. Nothing that was committed is harmed; --continue goes on.",
         NULL},
    [SR_EABSENT -
        1] = {"SR1005", "Something is not there.",
              "A file, a directory or a checkpoint that is named does not exist. Relative paths of "
              "a job start at its file, those of the command line at the working directory.",
              NULL},
    [SR_EEXISTS - 1] = {"SR1006", "Something is there already.",
                        "It is not overwritten, because it may be somebody else's.", NULL},
    [SR_EACCESS - 1] = {"SR1007", "Permission is denied.",
                        "Give the user who runs the job the right to it, or name another place.",
                        NULL},
    [SR_EBUSY - 1] = {"SR1008", "Another process holds it.",
                      "The same job is running, or a process has the store or table open. The "
                      "words name it where it is known.",
                      NULL},
    [SR_EDATA - 1] = {"SR1009", "A record could not be read, computed or written.",
                      "The words name the step, the file and the place. on-error: skip counts such "
                      "records and goes on, dead-letter keeps them aside.",
                      NULL},
    [SR_ECORRUPT - 1] = {"SR1010", "Stored data is damaged.",
                         "A digest does not fit its bytes. streamrun never goes on from an older "
                         "checkpoint by itself, because output would be repeated; `streamrun "
                         "checkpoints list` shows which are whole, resume --from takes one.",
                         NULL},
    [SR_EMISFIT - 1] = {"SR1011", "The state does not fit the job.",
                        "Steps, keys or types have changed since the checkpoint. State belongs to "
                        "the uid of a step; --allow-non-restored-state drops what no step claims.",
                        NULL},
    [SR_EFENCED - 1] = {"SR1012", "Another process has taken over.",
                        "A newer run of the same job has the store. This one has stopped before it "
                        "could commit anything more.",
                        NULL},
    [SR_EUNKNOWN -
        1] = {"SR1013", "Nobody can tell whether the last step was done.",
              "The process ends so that the next one finds out: start it again with --continue.",
              NULL},
    [SR_EABI - 1] = {"SR1014", "A plugin was built for another streamrun.",
                     "Build it again with the headers of this version.", NULL},
    [SR_ELIMIT - 1] = {"SR1015", "A fixed limit is reached.",
                       "LIMITS.md names every limit and what happens beyond it.", NULL},
    [SR_ECLOSED - 1] = {"SR1016", "The other end was closed.", "Whoever read or wrote it has gone.",
                        NULL},
    [SR_EFINAL - 1] = {"SR1017", "It failed for good.",
                       "What is to be read is not there, or the target takes no more (stdout is "
                       "full or broken, for one): a restart would end in the same way.",
                       NULL},
    {NULL, NULL, NULL, NULL}};
_Static_assert(sizeof(codes_run) / sizeof(codes_run[0]) == SR_RC_COUNT,
               "a page a code, and the end");

static const struct code_page codes_cli[] = {
    {"SR1101", "A command or option is unknown.",
     "`streamrun help` lists the commands, `streamrun help COMMAND` its options. Behind -- "
     "everything is taken as a word.",
     NULL},
    {"SR1102", "An unfinished run left its state.",
     "The newest checkpoint belongs to a run that was killed, failed or suspended, and a sink is "
     "exactly-once: plain `run` would write its output again. --continue goes on from there, "
     "--fresh starts again.",
     NULL},
    {"SR1103", "The job is running already.",
     "Two runs of a job would write each row twice. `streamrun status` shows the one that runs, "
     "`stop` and `cancel` end it.",
     NULL},
    {"SR1104", "No such job is running.",
     "`streamrun list` shows those that run; one that was started with another run directory is "
     "found by --run-dir.",
     NULL},
    {"SR1105", "The job's process was killed.",
     "By a fault of its own, as SIGSEGV or SIGABRT, by the kernel for want of memory, or from "
     "outside. The restart strategy allowed no further try. Its last checkpoint is kept, and "
     "--continue goes on. A record that kills it again and again is found and set aside "
     "(poison.max-failures, dead-letter).",
     NULL},
    {"SR1106", "It is the newest checkpoint of a run that has not ended.",
     "The run was killed, failed or suspended, and --continue would go on from there. With --force "
     "it is deleted; the job then begins afresh.",
     NULL},
    {NULL, NULL, NULL, NULL}};

static const struct code_page *const codes_all[] = {conf_codes, bind_codes, codes_run, codes_cli};

const struct code_page *codes_page(uint32_t i)
{
    for (size_t t = 0; t < sizeof(codes_all) / sizeof(codes_all[0]); t++) {
        for (const struct code_page *p = codes_all[t]; p->code; p++) {
            if (i-- == 0) return p;
        }
    }
    return NULL;
}

const struct code_page *codes_find(const char *code)
{
    const struct code_page *p;
    for (uint32_t i = 0; (p = codes_page(i)) != NULL; i++) {
        if (strcasecmp(p->code, code) == 0) return p;
    }
    return NULL;
}

const char *codes_of(sr_rc rc)
{
    return rc > SR_OK && rc < SR_RC_COUNT ? codes_run[rc - 1].code : "";
}
