/* Questions of people's commands to what a source, sink or format is connected to, outside of runs.
 *
 * One call a question, `ask` of the type, without an instance: it may wait, as nothing else in the
 * lobby may, but no longer than until_us. It answers by rows of facts, of which a command makes a
 * table, or JSON with --json, and by words for people. SR_OK: it was answered; else err says why
 * not. Nothing is written but by SR_ASK_ABORT.
 */
#ifndef STREAMRUN_ASK_H
#define STREAMRUN_ASK_H

#include <streamrun/connector.h>

enum sr_question {
    /* Is there what a run needs, and may it be used? What would stop a run is the error; what may
     * come to harm later is told as SR_WARN. Each row is one thing that is there. */
    SR_ASK_CONNECTED,
    /* Of a source: where the splits of a checkpoint are, beside what the other end knows. */
    SR_ASK_POSITIONS,
    /* Of a sink: transactions that are open under its name, by whichever job. */
    SR_ASK_TRANSACTIONS,
    /* The same, which are ended without their rows, so that none of them can be committed any more.
     * One whose commit was decided is let come to its end instead. */
    SR_ASK_ABORT
};

/* A value of a row; all rows of an answer have the same names in the same order. */
struct sr_fact {
    const char *name; /* words joined by '_', as JSON has it */
    const char *text; /* NULL: `number` */
    int64_t number;   /* SR_NO_NUMBER: not known */
};

#define SR_NO_NUMBER INT64_MIN

struct sr_ask {
    uint32_t size;
    enum sr_question question;
    const struct sr_host *host;
    const void *conf;               /* of the type that is asked */
    const struct sr_schema *schema; /* of the step */
    bool is_write;                  /* of a format: it would encode */
    const char *job_id;             /* 32 hex digits; NULL: of whichever job */
    int64_t interval_us;            /* of checkpoints; 0: none before the end */
    const struct sr_split *split;   /* SR_ASK_POSITIONS: of the checkpoint; by id, each once */
    uint32_t splits;
    bool has_checkpoint; /* SR_ASK_POSITIONS: there is one; else `split` is empty */
    int64_t until_us;    /* monotonic */
    /* Copies. SR_ENOMEM. */
    sr_rc (*row)(struct sr_ask *a, const struct sr_fact *fact, uint32_t facts);
    void (*tell)(struct sr_ask *a, enum sr_level level, const char *fmt, ...) SR_PRINTF(3, 4);
    void *engine;
};

#endif
