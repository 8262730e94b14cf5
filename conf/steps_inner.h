/* Inside of steps: what steps.c, steps_connect.c and steps_opts.c share.
 */
#ifndef SR_CONF_STEPS_INNER_H
#define SR_CONF_STEPS_INNER_H

#include "conf/opts.h"
#include "conf/steps.h"

/* What the tables of steps_opts.c fill; texts and lists are read once more, with their places. */
struct steps_keys {
    const char *connector, *format, *uid;
    int64_t parallelism, flink_parallelism; /* 0: not written */
    int64_t rate_limit;
    sr_duration idle_timeout;
    sr_choice emit_strategy;
    sr_list from, primary_key, select, group_by;
    const char *schema, *watermark, *where, *window, *sql;
    sr_choice on_error, on_late, guarantee;
    int64_t total_max, minute_max; /* of dead letters */
    const char *value_format, *key_format, *key_prefix;
    sr_list key_fields;
    sr_choice value_include;
};

/* A step while it is read. */
struct steps_one {
    struct reader *rd;
    const char *name;
    const char *prefix; /* "sources.hits." */
    struct place at;
    uint32_t order;
    struct job_step *out;
    struct steps_keys keys;
    struct opts_words known;
    bool is_lenient; /* an unknown connector or format: its options cannot be known either */
};

extern const char *const steps_kind[]; /* "source", ... by enum job_step_kind */

/* The whole key, with the step's prefix. */
const char *steps_full(const struct steps_one *s, const char *key);
struct entry *steps_entry(const struct steps_one *s, const char *key); /* NULL: not written */
void steps_texts(const struct steps_one *s, const char *key, struct job_texts *out);

/* The connector of a step with its options, and the formats of its values and keys with theirs. */
void steps_connect(struct steps_one *s);

#endif
