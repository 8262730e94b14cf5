/* What the tests of this room share: a registry with a test plugin, and one call that reads a job.
 */
#ifndef TEST_UNIT_CONF_KIT_H
#define TEST_UNIT_CONF_KIT_H

#include "conf/conf.h"

/* Options of connector `probe`: one of each kind. */
struct probe_conf {
    const char *path;
    const char *text;
    int64_t rows;
    double rate;
    bool is_loud;
    sr_duration every;
    sr_size room;
    sr_list topics;
    sr_pairs properties;
    sr_choice start;
    const char *pin; /* a secret by its flag, not by its name */
    const char *password;
};

/* Options of format `lines`. */
struct lines_conf {
    sr_choice header;
    const char *null_literal;
};

struct kit {
    struct env env;
    struct registry *registry;
    struct arena *arena;
    struct faults faults;
    struct job *job;  /* NULL: there were faults */
    struct job *half; /* what was given out in spite of faults */
    sr_rc rc;
};

/* A job around one text that stands in source `in`, so that a test shows only what it is about. */
#define KIT_SINK "sinks:\n  out:\n    from: in\n    connector: hole\n"
#define KIT_HEAD "sources:\n  in:\n    connector: probe\n"

void kit_open(struct kit *k);
void kit_close(struct kit *k);
/* A kit that was opened reads one text after the other; each read forgets the one before. */
sr_rc kit_read(struct kit *k, const char *yaml);
sr_rc kit_read_input(struct kit *k, struct conf_input *in);
/* Reads KIT_HEAD, then `more` (lines indented by four), then KIT_SINK. */
sr_rc kit_read_source(struct kit *k, const char *more);
const struct probe_conf *kit_probe(const struct kit *k);

/* The fault at line:column whose words contain `words`; NULL: there is none. Prints all when so. */
const struct fault *kit_fault(const struct kit *k, uint32_t line, uint32_t column,
                              const char *words);
/* The only fault of level error, with place and words; fails the test when it is another one. */
const struct fault *kit_only(const struct kit *k, uint32_t line, uint32_t column,
                             const char *words);
const char *kit_value(const struct kit *k, const char *key, const char **origin);

#endif
