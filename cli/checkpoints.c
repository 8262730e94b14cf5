/* checkpoints list | show | verify PATH: what lies there, what is in it, whether it is whole. Names
 * in JSON are those of Flink's REST API where it has them. */
#include <inttypes.h>
#include <string.h>

#include "cli/checkpoints.h"
#include "cli/codes.h"
#include "cli/commands.h"
#include "cli/show.h"
#include "engine/base/calendar.h"
#include "engine/ckpt/store.h"

static const char *checkpoints_kind(const struct store_entry *e)
{
    return e->kind == MANIFEST_SAVEPOINT ? "savepoint" : "checkpoint";
}

const char *checkpoints_end(enum manifest_end end)
{
    switch (end) {
    case MANIFEST_RUNNING:
        return "running or killed";
    case MANIFEST_SUSPENDED:
        return "suspended";
    case MANIFEST_STOPPED:
        return "stopped";
    case MANIFEST_CANCELED:
        return "canceled";
    case MANIFEST_FINISHED:
        return "finished";
    case MANIFEST_PENDING:
        return "pending";
    }
    return "?";
}

/* How the run behind it ended: noted beside checkpoints, never beside savepoints. */
static const char *checkpoints_run(const struct store_entry *e)
{
    if (e->damage) return "";
    return e->kind == MANIFEST_SAVEPOINT ? "-" : checkpoints_end(e->end);
}

/* In Flink's words. */
static const char *checkpoints_status(const struct store_entry *e)
{
    if (e->damage) return "FAILED";
    return e->end == MANIFEST_PENDING ? "IN_PROGRESS" : "COMPLETED";
}

static json_t *checkpoints_json(const struct store_entry *e)
{
    char when[25];
    civil_iso_ms(e->ended_us, when);
    json_int_t bytes = (json_int_t)e->bytes, begin = e->started_us / 1000, end = e->ended_us / 1000;
    json_t *j = json_pack("{s:s, s:s, s:s, s:I, s:s, s:s, s:s, s:I}", "path", e->path, "job",
                          e->job_id ? e->job_id : "", "name", e->job_name ? e->job_name : "", "id",
                          (json_int_t)e->checkpoint, "kind", checkpoints_kind(e), "completed", when,
                          "run", checkpoints_end(e->end), "size", bytes);
    json_t *rest =
        json_pack("{s:s, s:b, s:I, s:I, s:I, s:I, s:I, s:s}", "status", checkpoints_status(e),
                  "is_savepoint", e->kind == MANIFEST_SAVEPOINT, "trigger_timestamp", begin,
                  "latest_ack_timestamp", end, "end_to_end_duration", end - begin,
                  "checkpointed_size", bytes, "state_size", bytes, "external_path", e->path);
    json_object_update_new(j, rest);
    json_object_set_new(j, "is_retired", json_boolean(e->is_retired));
    if (e->damage) json_object_set_new(j, "damage", json_string(e->damage));
    return j;
}

static void checkpoints_print(struct cli *c, const struct store_list *l)
{
    enum { COLUMNS = 7 };
    const char **cell = arena_array(c->arena, (size_t)(l->count + 1) * COLUMNS, sizeof(*cell));
    static const bool is_right[COLUMNS] = {true, false, false, true, false, false, false};
    static const char *const head[COLUMNS] = {"id",  "kind", "completed", "size",
                                              "run", "job",  "path"};
    if (!cell) return;
    memcpy(cell, head, sizeof(head));
    for (uint32_t i = 0; i < l->count; i++) {
        const struct store_entry *e = &l->entry[i];
        const char **row = cell + (size_t)(i + 1) * COLUMNS;
        char when[25];
        civil_iso_ms(e->ended_us, when);
        row[0] = arena_printf(c->arena, "%" PRIu64, e->checkpoint);
        row[1] = checkpoints_kind(e);
        row[2] = e->damage ? "DAMAGED" : arena_text(c->arena, when);
        row[3] = show_size(c->arena, (int64_t)e->bytes);
        row[4] = checkpoints_run(e);
        row[5] = e->job_name;
        row[6] = e->path;
    }
    show_table(c->out, &(struct show_table){COLUMNS, is_right, l->count + 1, cell});
}

static enum cli_exit checkpoints_list(struct cli *c, const struct store_list *l)
{
    bool is_damaged = false;
    json_t *list = json_array();
    for (uint32_t i = 0; i < l->count; i++) {
        is_damaged = is_damaged || l->entry[i].damage;
        json_array_append_new(list, checkpoints_json(&l->entry[i]));
    }
    if (c->is_json) {
        show_json(c, list);
    } else {
        json_decref(list);
        checkpoints_print(c, l);
    }
    for (uint32_t i = 0; i < l->count; i++) {
        if (l->entry[i].damage) {
            (void)cli_fail(c, CLI_STATE, "%s: %s", l->entry[i].path, l->entry[i].damage);
        }
    }
    return is_damaged ? CLI_STATE : CLI_OK;
}

static enum cli_exit checkpoints_shown(struct cli *c, const struct store_list *l)
{
    const struct store_entry *e = &l->entry[l->count - 1];
    struct sr_error err = {0};
    struct manifest *m = NULL;
    if (store_load(&c->env, e->path, c->arena, &m, &err) != SR_OK) {
        return cli_error(c, CLI_STATE, &err);
    }
    if (!c->is_json) {
        checkpoints_show(c, e, m);
        return CLI_OK;
    }
    const char *text = manifest_json(c->arena, m);
    if (!text) return cli_fail(c, CLI_FAILED, "out of memory");
    fprintf(c->out, "%s\n", text);
    return CLI_OK;
}

static enum cli_exit checkpoints_verify(struct cli *c, const struct store_list *l)
{
    enum cli_exit code = CLI_OK;
    json_t *list = json_array();
    for (uint32_t i = 0; i < l->count; i++) {
        const struct store_entry *e = &l->entry[i];
        struct arena *arena = arena_new(); /* one checkpoint's bytes at a time */
        struct sr_error err = {0};
        struct manifest *m = NULL;
        sr_rc rc = arena ? store_load(&c->env, e->path, arena, &m, &err) : SR_ENOMEM;
        if (c->is_json) {
            json_t *j = json_pack("{s:s, s:I, s:s, s:b}", "external_path", e->path, "id",
                                  (json_int_t)e->checkpoint, "path", e->path, "whole", rc == SR_OK);
            if (rc != SR_OK) json_object_set_new(j, "damage", json_string(err.words));
            json_array_append_new(list, j);
        } else if (rc == SR_OK) {
            fprintf(c->out, "%s: whole, %u parts, %s\n", e->path, m->parts,
                    show_size(c->arena, (int64_t)e->bytes));
        }
        if (rc != SR_OK) code = cli_error(c, CLI_STATE, &err);
        arena_free(arena);
    }
    if (c->is_json) {
        show_json(c, list);
    } else {
        json_decref(list);
    }
    return code;
}

/* Nothing in a directory, but there may be SQLite stores in it: they are meant, then. */
static enum cli_exit checkpoints_absent(const struct cli *c, const char *path,
                                        const struct sr_error *why)
{
    const struct sr_files *fs = c->env.files;
    struct sr_error ignored;
    char **names = NULL;
    const char *stores = NULL;
    if (fs->list(fs, cli_absolute(c, path), &names, &ignored) == SR_OK) {
        for (char **n = names; *n; n++) {
            size_t len = strlen(*n);
            if (len <= 3 || strcmp(*n + len - 3, ".db") != 0) continue;
            stores = arena_printf(c->arena, "%s%s%s", stores ? stores : "", stores ? ", " : "", *n);
        }
        fs->names_free(fs, names);
    }
    return cli_fail(c, CLI_STATE, "%s: %s%s%s", codes_of(why->rc), why->words,
                    stores ? "; name one of the files there: " : "", stores ? stores : "");
}

enum cli_exit checkpoints_one(struct cli *c, const char *what, const struct store_list *l)
{
    if (l->count == 1) return CLI_OK;
    (void)cli_fail(c, CLI_USAGE, "checkpoints %s takes one of these:", what);
    for (uint32_t i = 0; i < l->count; i++) {
        fprintf(c->err, "  %s\n", l->entry[i].path);
    }
    return CLI_USAGE;
}

enum cli_exit command_checkpoints(struct cli *c, const struct args *a)
{
    const char *what = a->words > 0 ? a->word[0] : "";
    if (strcmp(what, "diff") == 0) {
        return a->words == 3 ? checkpoints_diff(c, a)
                             : cli_fail(c, CLI_USAGE, "checkpoints diff: name two checkpoints");
    }
    if (a->words != 2) {
        return cli_fail(c, CLI_USAGE,
                        "checkpoints: list, show, verify, delete or diff, then a path");
    }
    bool is_list = strcmp(what, "list") == 0, is_show = strcmp(what, "show") == 0;
    bool is_delete = strcmp(what, "delete") == 0;
    if (!is_list && !is_show && !is_delete && strcmp(what, "verify") != 0) {
        return cli_fail(c, CLI_USAGE,
                        "checkpoints: '%s' is none of list, show, verify, delete, diff", what);
    }
    if (args_has(a, "force") && !is_delete) {
        return cli_fail(c, CLI_USAGE, "checkpoints %s: --force belongs to delete", what);
    }
    struct sr_error err = {0};
    struct store_list l = {0};
    sr_rc rc = store_find(&c->env, cli_absolute(c, a->word[1]), c->arena, &l, &err);
    if (rc == SR_EABSENT) return checkpoints_absent(c, a->word[1], &err);
    if (rc != SR_OK) return cli_error(c, CLI_STATE, &err);
    if (l.count == 0) return cli_fail(c, CLI_STATE, "%s: no checkpoint lies there", a->word[1]);
    if (is_delete) return checkpoints_delete(c, a, &l);
    return is_list   ? checkpoints_list(c, &l)
           : is_show ? checkpoints_shown(c, &l)
                     : checkpoints_verify(c, &l);
}
