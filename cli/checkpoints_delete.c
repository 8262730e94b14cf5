/* checkpoints delete PATH: one checkpoint or savepoint, for good. */
#include <inttypes.h>
#include <string.h>

#include "cli/checkpoints.h"
#include "cli/codes.h"
#include "cli/show.h"

/* All that lies in the store of an entry, so that it can be told whether it is the newest. A
 * savepoint, and a checkpoint that was copied elsewhere, are alone. */
static sr_rc delete_siblings(struct cli *c, const struct store_entry *e, struct store_list *out,
                             struct sr_error *err)
{
    const char *hash = strrchr(e->path, '#');
    const char *end = hash ? hash : strrchr(e->path, '/');
    const char *place = arena_text_n(c->arena, e->path, (size_t)(end - e->path));
    if (!place) return SR_ENOMEM;
    return store_find(&c->env, place, c->arena, out, err);
}

/* Is it what a run that has not ended by itself is to go on from? */
static enum cli_exit delete_check(struct cli *c, const struct store_entry *e)
{
    struct store_list l = {0};
    struct sr_error err = {0};
    if (e->kind == MANIFEST_SAVEPOINT || e->is_retired) return CLI_OK;
    if (delete_siblings(c, e, &l, &err) != SR_OK) return cli_error(c, CLI_STATE, &err);
    for (uint32_t i = 0; i < l.count; i++) {
        if (strcmp(l.entry[i].job_id, e->job_id) == 0 && l.entry[i].kind == MANIFEST_CHECKPOINT &&
            l.entry[i].checkpoint > e->checkpoint) {
            return CLI_OK;
        }
    }
    if (!e->damage && manifest_is_over(e->end)) return CLI_OK;
    return cli_fail(c, CLI_STATE,
                    "SR1106: %s is the newest checkpoint of a run that has not ended\n"
                    "  --force deletes it; older ones are then only gone on from by --from PATH",
                    e->path);
}

enum cli_exit checkpoints_delete(struct cli *c, const struct args *a, const struct store_list *l)
{
    struct sr_error err = {0};
    enum cli_exit code = checkpoints_one(c, "delete", l);
    const struct store_entry *e = &l->entry[0];
    if (code == CLI_OK && !args_has(a, "force")) code = delete_check(c, e);
    if (code != CLI_OK) return code;
    sr_rc rc = store_remove(&c->env, e, &err);
    if (rc == SR_EBUSY) return cli_error(c, CLI_BUSY, &err);
    if (rc == SR_ECORRUPT || rc == SR_EABSENT) return cli_error(c, CLI_STATE, &err);
    if (rc != SR_OK) return cli_error(c, CLI_FAILED, &err);
    if (c->is_json) {
        show_json(c, json_pack("{s:s, s:b}", "path", e->path, "deleted", 1));
    } else {
        fprintf(c->out, "%s\n", e->path);
    }
    return CLI_OK;
}
