#include "cli/restore_from.h"

#include <inttypes.h>
#include <string.h>

/* Names the newest of each job: entries are in order of jobs, then numbers. */
static enum cli_exit restore_from_several(const struct cli *c, const char *path,
                                          const struct store_list *l)
{
    (void)cli_fail(c, CLI_STATE, "%s holds checkpoints of several jobs; name one of these:", path);
    for (uint32_t i = 0; i < l->count; i++) {
        const struct store_entry *e = &l->entry[i], *next = e + 1;
        bool is_newest = i + 1 == l->count || strcmp(e->job_id, next->job_id) != 0;
        if (is_newest && !e->damage) fprintf(c->err, "  %s (%s)\n", e->path, e->job_name);
    }
    return CLI_STATE;
}

static bool restore_from_has_several(const struct store_list *l)
{
    const char *known = "";
    for (uint32_t i = 0; i < l->count; i++) {
        const char *id = l->entry[i].job_id; /* "": damage hides whose it is */
        if (*id && *known && strcmp(id, known) != 0) return true;
        known = *id ? id : known;
    }
    return false;
}

/* Where an entry stands among others: numbers never go back, so the highest is the newest; an entry
 * of which not even the number is known is most likely it. */
static uint64_t restore_from_rank(const struct store_entry *e)
{
    return e->checkpoint == 0 ? UINT64_MAX : e->checkpoint;
}

/* The newest of those older than `rank`; NULL: none. */
static const struct store_entry *restore_from_next(const struct store_list *l, uint64_t rank,
                                                   bool is_first)
{
    const struct store_entry *newest = NULL;
    for (uint32_t i = 0; i < l->count; i++) {
        const struct store_entry *e = &l->entry[i];
        uint64_t own = restore_from_rank(e);
        if ((is_first || own < rank) && (!newest || own > restore_from_rank(newest))) newest = e;
    }
    return newest;
}

static sr_rc restore_from_load(struct cli *c, const struct store_entry *e, struct manifest **out,
                               struct sr_error *err)
{
    sr_rc rc = SR_ECORRUPT;
    if (e->damage) {
        *err = (struct sr_error){.rc = SR_ECORRUPT};
        (void)snprintf(err->words, sizeof(err->words), "%s: %s", e->path, e->damage);
    } else {
        rc = store_load(&c->env, e->path, c->arena, out, err);
    }
    return rc;
}

enum cli_exit restore_from_find(struct cli *c, const char *path, bool may_fall_back,
                                struct restore_from *out)
{
    struct sr_error err = {0};
    struct store_list l = {0};
    if (store_find(&c->env, cli_absolute(c, path), c->arena, &l, &err) != SR_OK) {
        return cli_error(c, CLI_STATE, &err);
    }
    if (restore_from_has_several(&l)) return restore_from_several(c, path, &l);
    const struct store_entry *e = restore_from_next(&l, 0, true);
    for (bool is_older = false; e; is_older = true) {
        struct manifest *m = NULL;
        sr_rc rc = restore_from_load(c, e, &m, &err);
        if (rc == SR_OK) {
            *out = (struct restore_from){.path = e->path, .manifest = m, .is_older = is_older};
            if (is_older) {
                cli_note(c, "going back to %s: what was written after it will be written again",
                         e->path);
            }
            return CLI_OK;
        }
        const struct store_entry *next = restore_from_next(&l, restore_from_rank(e), false);
        if (rc != SR_ECORRUPT || (!may_fall_back && next)) {
            return cli_fail(c, CLI_STATE, "%s%s", err.words,
                            rc == SR_ECORRUPT ? "\n  --allow-fallback takes the newest one that is "
                                                "whole, and writes what came after it again"
                                              : "");
        }
        (void)cli_fail(c, CLI_STATE, "%s", err.words);
        e = next;
    }
    return cli_fail(c, CLI_STATE, "%s: no checkpoint there is whole", path);
}
