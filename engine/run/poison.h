/* Records that fail the job again and again: counted over restarts and processes, and set aside
 * when it is enough.
 *
 *   a task fails for a record        --> poison_failed --.     the same one again: counted on;
 *   the process died working on some --> poison_crashed -'     another one: counted anew
 *
 *                                          count reaches the limit
 *   SUSPECTED -----------------------------------------------------> POISON
 *     row by row, where it is not known                                 set aside where it is read,
 *     yet which of a range it was                                       or the job ends
 *
 * The list lies in a file beside the checkpoints (or the sockets of running jobs, where there are
 * none), replaced as a whole; it goes when the job finishes. It belongs to the supervisor; each
 * region reads a copy while it runs.
 */
#ifndef SR_RUN_POISON_H
#define SR_RUN_POISON_H

#include "engine/base/env.h"

#define POISON_RECORDS_MAX  1000u /* that are set aside for ever */
#define POISON_SUSPECTS_MAX 64u
#define POISON_TEXT_MAX     4096u /* bytes of a split's id, or of why it failed */

struct poison_record {
    char *source;     /* uid */
    char *split;      /* id */
    char *step;       /* whose work failed last; "": not known */
    char *words;      /* why; "": not known */
    int64_t from, to; /* offsets in the split, both included: the same when it is known which one */
    uint32_t failures;
    bool is_crash;    /* the process died */
    bool is_decoding; /* of the record, which is to be passed over unread */
};

struct poison {
    const struct env *env;
    const char *path;      /* NULL: kept in memory only */
    uint32_t failures_max; /* 0: nothing is counted */
    struct poison_record *record;
    uint32_t records, capacity;
    uint32_t suspects; /* the last ones of `record`, which are no poison yet */
    bool is_damaged;   /* the file; it goes with what is forgotten */
};

/* Reads the file, if there is one; what cannot be read is said and forgotten. */
sr_rc poison_open(struct poison *p, const struct env *env, const char *path, uint32_t failures_max,
                  struct sr_error *err);
void poison_close(struct poison *p);
/* A copy to read only, which knows of no file; for poison_close. */
sr_rc poison_lend(struct poison *out, const struct poison *p, struct sr_error *err);

/* The job failed once more, for `one` or while it worked on any of several; texts are copied. They
 * take the place of whom was suspected before, and are counted on where they are the same. */
sr_rc poison_failed(struct poison *p, const struct poison_record *one, uint32_t count,
                    struct sr_error *err);
/* A suspect that has failed often enough; NULL: none. */
const struct poison_record *poison_proven(const struct poison *p);
/* Those become poison, to be set aside. */
sr_rc poison_condemn(struct poison *p, struct sr_error *err);
/* Those that are proven count one failure less: they will be tried once more. */
sr_rc poison_forgive(struct poison *p, struct sr_error *err);
/* The job has finished: nothing is suspected any more. */
void poison_forget(struct poison *p);

/* Is the record at `offset` to be set aside? NULL: no. */
const struct poison_record *poison_find(const struct poison *p, const char *source,
                                        const char *split, int64_t offset);
/* The first record at or behind `from` that is to be passed over unread; NULL: none. */
const struct poison_record *poison_next_unread(const struct poison *p, const char *source,
                                               const char *split, int64_t from);
/* Are there such records in [from, to] at all? */
bool poison_has_any(const struct poison *p, const char *source, const char *split, int64_t from,
                    int64_t to);
/* Are there suspects in [from, to]: to be read one by one? */
bool poison_has_suspect(const struct poison *p, const char *source, const char *split, int64_t from,
                        int64_t to);

#endif
