/* From YAML text to struct job, or every fault in it at once.
 */
#ifndef SR_CONF_CONF_H
#define SR_CONF_CONF_H

#include "engine/base/env.h"
#include "engine/plan/job.h"
#include "engine/plug/registry.h"

struct conf_define {
    const char *key, *value; /* -D key=value */
    const char *shown;       /* the option that stands for it: "-p"; NULL: -D */
};

struct conf_input {
    const struct env *env;
    const char *path;      /* of the job file, as the user wrote it; "-": text */
    const char *text;      /* the job itself when it does not come from a file (a checkpoint) */
    const char *conf_path; /* --conf FILE or a file of $STREAMRUN_CONF_DIR; NULL: none */
    const char *work_dir;  /* absolute: relative paths of -D start here */
    const struct conf_define *define;
    uint32_t defines;
    const char *(*variable)(const char *name); /* ${NAME}: getenv in cli, a stub in tests */
};

/* Reads, interpolates, checks and fills. *out lives in faults->arena. SR_ECONFIG: see faults;
 * SR_EABSENT: the job file is not there (a fault too).
 * With SR_ECONFIG *out may be set all the same, so that bind can look for more faults: `source` or
 * `sink` is then NULL in steps that have some. Such a job has no description and never runs. */
sr_rc conf_read(const struct conf_input *in, struct registry *registry, struct faults *faults,
                struct job **out);

/* `streamrun config`: every effective key, its value (secrets masked), where it came from. */
struct conf_value {
    const char *key, *value, *origin; /* "job.yaml:12", "-D", "default", "flink-conf.yaml:3" */
    const char *note;                 /* "Flink's default is ..."; NULL: none */
};
uint32_t conf_values(const struct job *job, struct arena *a, const struct conf_value **out);

/* `streamrun help KEY`: the option of that key in any table; false: there is none. `where` names
 * the table: "job", "connector filesystem", "format csv". The i-th such match. */
bool conf_option(const struct registry *r, const char *key, uint32_t i, const struct sr_opt **opt,
                 const char **where);
/* The i-th key of all tables, as a user writes it (`csv.header`), in the arena; false behind the
 * last. A key that several tables have comes several times. */
bool conf_key(const struct registry *r, struct arena *a, uint32_t i, const char **key,
              const struct sr_opt **opt);
const char *conf_nearest_key(const struct registry *r, struct arena *a, const char *key);

bool conf_is_secret_key(const char *key); /* password, secret, token, jaas, api-key, credential */

#endif
