/* kafka transactions | offsets: what the brokers know of a job. */
#include "cli/kafka.h"

#include <inttypes.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/named.h"
#include "cli/restore_from.h"
#include "cli/run.h"
#include "cli/show.h"
#include "engine/base/assert.h"
#include "engine/run/splits.h"

static bool kafka_is_file(const struct cli *c, const char *word)
{
    struct sr_error ignored;
    struct sr_stat stat;
    size_t len = strlen(word);
    bool has_ending = (len > 5 && strcmp(word + len - 5, ".yaml") == 0) ||
                      (len > 4 && strcmp(word + len - 4, ".yml") == 0);
    return has_ending ||
           c->env.files->stat(c->env.files, cli_absolute(c, word), &stat, &ignored) == SR_OK;
}

enum cli_exit kafka_load(struct cli *c, const struct args *a, const char *word, struct loaded *l)
{
    struct named from = {.path = word};
    enum cli_exit code = CLI_OK;
    *l = (struct loaded){.job = NULL};
    if (!kafka_is_file(c, word)) code = named_find(c, a, word, &from);
    if (code == CLI_NO_JOB) {
        return cli_fail(c, CLI_NO_JOB,
                        "no job '%s' runs or has a checkpoint in %s (--checkpoints looks "
                        "elsewhere), and there is no such file",
                        word, from.dir);
    }
    if (code == CLI_OK) code = load_job(c, a, from.path, from.text, l);
    if (code == CLI_USAGE) return code;
    if (l->faults && l->faults->errors > 0) show_faults(c, l->faults);
    return code == CLI_OK && !l->plan ? CLI_CONFIG : code;
}

/* --- offsets ---------------------------------------------------------------------------------- */

/* The newest checkpoint of the job, or that of --from; manifest NULL: there is none. */
static enum cli_exit kafka_checkpoint(struct cli *c, const struct args *a, const struct loaded *l,
                                      struct restore_from *out)
{
    sr_assert(l->job);
    const struct settings *s = &l->job->settings;
    const char *from = args_value(a, "from");
    struct store_entry e;
    struct sr_error err = {0};
    *out = (struct restore_from){.path = NULL};
    if (from) return restore_from_find(c, from, false, out);
    const struct store_conf conf = {.url = s->dir ? s->dir : run_default_dir(c),
                                    .job_id = l->job->id,
                                    .job_name = l->job->name,
                                    .retained = 1,
                                    .is_flat = !s->has_subdir};
    if (s->storage.index == STORAGE_JOBMANAGER) return CLI_OK;
    sr_rc rc = store_peek(&c->env, &conf, c->arena, &e, &err);
    if (rc == SR_EABSENT) return CLI_OK;
    if (rc == SR_OK && e.damage) return cli_fail(c, CLI_STATE, "%s: %s", e.path, e.damage);
    if (rc == SR_OK) rc = store_load(&c->env, e.path, c->arena, &out->manifest, &err);
    out->path = rc == SR_OK ? e.path : NULL;
    return rc == SR_OK ? CLI_OK : cli_error(c, CLI_STATE, &err);
}

static sr_rc kafka_ask_positions(struct cli *c, const struct loaded *l, const struct plan_node *n,
                                 const struct manifest *m, struct asked *out, struct sr_error *err)
{
    struct split_list list = {.count = 0};
    sr_rc rc = m ? splits_saved(m, n->uid, &list, err) : SR_OK;
    struct sr_split *split = arena_array(c->arena, list.count + 1u, sizeof(*split));
    for (uint32_t i = 0; split && i < list.count; i++) {
        const struct split *k = &list.item[i];
        split[i] = (struct sr_split){.id = k->id,
                                     .note = {k->note, k->note_len},
                                     .order = k->order,
                                     .size_bytes = k->size_bytes};
    }
    struct sr_ask a = {.question = SR_ASK_POSITIONS,
                       .job_id = l->job->id,
                       .split = split,
                       .splits = list.count,
                       .has_checkpoint = m != NULL};
    if (rc == SR_OK) rc = split ? ask_source(c, l->plan, n, &a, out) : SR_ENOMEM;
    split_list_done(&list);
    return rc;
}

static json_t *kafka_offsets_json(const struct plan_node *n, const struct asked *k)
{
    json_t *rows = json_array();
    for (uint32_t i = 0; i < k->rows; i++) {
        json_array_append_new(rows, asked_row_json(k, i));
    }
    return json_pack("{s:s, s:s?, s:o, s:o}", "source", n->step, "fault", k->fault, "partitions",
                     rows, "notes", asked_words_json(k, SR_INFO));
}

static void kafka_offsets_print(const struct cli *c, const struct plan_node *n,
                                const struct asked *k)
{
    fprintf(c->out, "%s\n", n->step);
    asked_table(c, k);
    asked_tell(c, n->step, k);
    if (k->fault) (void)cli_fail(c, CLI_FAILED, "%s: %s", n->step, k->fault);
}

static void kafka_offsets_head(const struct cli *c, const struct restore_from *from)
{
    const struct manifest *m = from->manifest;
    if (!m) {
        fprintf(c->out, "no checkpoint: a first run would begin\n");
        return;
    }
    fprintf(c->out, "checkpoint %" PRIu64 "%s, %s\n", m->checkpoint,
            m->end == MANIFEST_PENDING ? " (pending)" : "", from->path);
}

struct kafka_places {
    json_t *list; /* NULL: printed as they come */
    uint32_t asked;
    bool is_faulted;
};

/* Of one source. */
static enum cli_exit kafka_offsets_of(struct cli *c, const struct loaded *l,
                                      const struct plan_node *n, const struct manifest *m,
                                      struct kafka_places *to)
{
    struct asked k;
    struct sr_error err = {0};
    if (kafka_ask_positions(c, l, n, m, &k, &err) != SR_OK) {
        return err.rc != SR_OK ? cli_error(c, CLI_STATE, &err)
                               : cli_fail(c, CLI_FAILED, "out of memory");
    }
    to->asked++;
    to->is_faulted = to->is_faulted || k.fault;
    if (to->list) {
        json_array_append_new(to->list, kafka_offsets_json(n, &k));
    } else {
        kafka_offsets_print(c, n, &k);
    }
    return CLI_OK;
}

static enum cli_exit kafka_offsets_all(struct cli *c, const struct loaded *l,
                                       const struct manifest *m, struct kafka_places *to)
{
    sr_assert(l->plan);
    enum cli_exit code = CLI_OK;
    for (uint32_t i = 0; i < l->plan->nodes && code == CLI_OK; i++) {
        const struct plan_node *n = &l->plan->node[i];
        bool is_kafka = n->kind == PLAN_SOURCE && strstr(n->source->name, "kafka");
        if (is_kafka && ask_can_source(n)) code = kafka_offsets_of(c, l, n, m, to);
    }
    return code;
}

enum cli_exit kafka_offsets(struct cli *c, const struct args *a)
{
    struct loaded l = {.job = NULL};
    struct restore_from from = {.path = NULL};
    enum cli_exit code = kafka_load(c, a, a->word[1], &l);
    if (code == CLI_OK) code = kafka_checkpoint(c, a, &l, &from);
    if (code != CLI_OK) return code;
    const struct manifest *m = from.manifest;
    struct kafka_places to = {.list = c->is_json ? json_array() : NULL};
    if (!c->is_json) kafka_offsets_head(c, &from);
    code = kafka_offsets_all(c, &l, m, &to);
    if (code == CLI_OK && to.asked == 0) {
        code = cli_fail(c, CLI_CONFIG, "%s: the job has no kafka source", a->word[1]);
    }
    if (code == CLI_OK && to.list) {
        show_json(c, json_pack("{s:s?, s:o, s:b, s:O}", "path", from.path, "checkpoint",
                               m ? json_integer((json_int_t)m->checkpoint) : json_null(), "pending",
                               m && m->end == MANIFEST_PENDING, "sources", to.list));
    }
    json_decref(to.list);
    return code == CLI_OK && to.is_faulted ? CLI_FAILED : code;
}

enum cli_exit command_kafka(struct cli *c, const struct args *a)
{
    const char *what = a->words > 0 ? a->word[0] : "";
    if (strcmp(what, "transactions") == 0) return kafka_transactions(c, a);
    if (strcmp(what, "offsets") == 0 && a->words == 2) return kafka_offsets(c, a);
    return cli_fail(c, CLI_USAGE,
                    strcmp(what, "offsets") == 0
                        ? "kafka offsets: which job?"
                        : "kafka: transactions list, transactions abort, or offsets JOB");
}
