#include "cli/named.h"

#include <string.h>

#include "cli/control.h"
#include "cli/run.h"
#include "cli/rundir.h"
#include "engine/ckpt/manifest.h"
#include "engine/ckpt/store.h"

/* --- Running ---------------------------------------------------------------------------------- */

/* The file of a running job that is meant; NULL: it is another one, or has no file. */
static const char *named_file(const struct cli *c, const char *dir, const char *id,
                              const char *name)
{
    struct sr_error ignored = {0};
    struct sr_stat stat;
    json_t *answer = NULL;
    if (control_ask(c, dir, id, json_pack("{s:s}", "command", "status"), &answer, &ignored) !=
        SR_OK) {
        return NULL;
    }
    const json_t *status = json_object_get(answer, "status");
    const char *job = json_string_value(json_object_get(status, "name"));
    const char *file = json_string_value(json_object_get(status, "file"));
    bool is_meant = strcmp(id, name) == 0 || (job && strcmp(job, name) == 0);
    if (is_meant && file && c->env.files->stat(c->env.files, file, &stat, &ignored) == SR_OK) {
        file = arena_text(c->arena, file);
    } else {
        file = NULL;
    }
    json_decref(answer);
    return file;
}

static const char *named_running(const struct cli *c, const struct args *a, const char *name)
{
    struct sr_error ignored = {0};
    const char *dir = NULL, *file = NULL;
    if (rundir_open(c, args_value(a, "run-dir"), &dir, &ignored) != SR_OK) return NULL;
    const char *const *ids = rundir_ids(c, dir);
    for (uint32_t i = 0; ids && ids[i] && !file; i++) {
        file = named_file(c, dir, ids[i], name);
    }
    return file;
}

/* --- Kept ------------------------------------------------------------------------------------- */

/* The newest checkpoint of the job; several jobs of that name: CLI_USAGE. */
static enum cli_exit named_entry(struct cli *c, const struct store_list *list, const char *name,
                                 const struct store_entry **out)
{
    *out = NULL;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct store_entry *e = &list->entry[i];
        if (strcmp(e->job_id, name) != 0 && strcmp(e->job_name, name) != 0) continue;
        if (*out && strcmp((*out)->job_id, e->job_id) != 0) {
            return cli_fail(c, CLI_USAGE, "several jobs are named '%s', say which: %s, %s", name,
                            (*out)->job_id, e->job_id);
        }
        *out = e; /* the newest of a job is its last */
    }
    return *out ? CLI_OK : CLI_NO_JOB;
}

static enum cli_exit named_kept(struct cli *c, const char *name, struct named *out)
{
    struct sr_error err = {0};
    struct store_list list = {.count = 0};
    const struct store_entry *e = NULL;
    struct manifest *m = NULL;
    if (store_find(&c->env, out->dir, c->arena, &list, &err) != SR_OK) return CLI_NO_JOB;
    enum cli_exit code = named_entry(c, &list, name, &e);
    if (code != CLI_OK) return code;
    if (store_load(&c->env, e->path, c->arena, &m, &err) != SR_OK) {
        return cli_error(c, CLI_STATE, &err);
    }
    out->text = m->description;
    return CLI_OK;
}

enum cli_exit named_find(struct cli *c, const struct args *a, const char *name, struct named *out)
{
    const char *given = args_value(a, "checkpoints");
    *out = (struct named){.dir = given ? cli_absolute(c, given) : run_default_dir(c)};
    if (!given) out->path = named_running(c, a, name);
    return out->path ? CLI_OK : named_kept(c, name, out);
}
