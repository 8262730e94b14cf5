/* Errors: a code that every caller must look at, and words for whoever reads them.
 *
 * A function that can fail returns sr_rc. Slow paths (parse, bind, open, checkpoint) take a struct
 * sr_error last and fill it exactly once when they fail; callers add context in front of the words.
 */
#ifndef STREAMRUN_ERROR_H
#define STREAMRUN_ERROR_H

#include <streamrun/abi.h>

/* name, who can act, words */
#define SR_RC_LIST(X)                                                             \
    X(SR_OK, SR_FATE_NONE, "ok")                                                  \
    X(SR_ENOMEM, SR_FATE_JOB, "out of memory")                                    \
    X(SR_ECONFIG, SR_FATE_USER, "the configuration is not valid")                 \
    X(SR_EIO, SR_FATE_RETRY, "input or output failed")                            \
    X(SR_ENOSPC, SR_FATE_RETRY, "no space is left")                               \
    X(SR_EABSENT, SR_FATE_USER, "not found")                                      \
    X(SR_EEXISTS, SR_FATE_JOB, "already there")                                   \
    X(SR_EACCESS, SR_FATE_USER, "permission denied")                              \
    X(SR_EBUSY, SR_FATE_RETRY, "held by another process")                         \
    X(SR_EDATA, SR_FATE_ROW, "a record could not be read, computed or written")   \
    X(SR_ECORRUPT, SR_FATE_JOB, "stored data is damaged")                         \
    X(SR_EMISFIT, SR_FATE_USER, "the state does not fit the job")                 \
    X(SR_EFENCED, SR_FATE_JOB, "another process has taken over")                  \
    X(SR_EUNKNOWN, SR_FATE_JOB, "the outcome is unknown, only recovery can tell") \
    X(SR_EABI, SR_FATE_USER, "the plugin was built for another streamrun")        \
    X(SR_ELIMIT, SR_FATE_JOB, "a fixed limit was reached")                        \
    X(SR_ECLOSED, SR_FATE_JOB, "the other end was closed")                        \
    X(SR_EFINAL, SR_FATE_USER, "it failed for good: no restart can mend it")

/* Who can act: the row is set aside, the call is tried again, the user edits, the job stops. */
enum sr_fate { SR_FATE_NONE, SR_FATE_ROW, SR_FATE_RETRY, SR_FATE_USER, SR_FATE_JOB };

typedef enum sr_rc {
#define SR_RC_NAME(name, fate, words) name,
    SR_RC_LIST(SR_RC_NAME)
#undef SR_RC_NAME
        SR_RC_COUNT
} sr_rc;

struct sr_error {
    sr_rc rc;
    char words[508]; /* "while doing this: while doing that: it failed", cut, never empty */
};

#endif
