/* kafka transactions list | abort: what a job left open, and keeps readers of committed rows from
 * what lies behind.
 *
 * A transaction is ended as a job that recovers ends it (connectors/kafka/transactions.h): one that
 * was decided is committed, so that no checkpoint can miss it. So it may be done whatever state the
 * job is in; only one that runs would lose its producer, and start again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/ask.h"
#include "cli/kafka.h"
#include "cli/rundir.h"
#include "cli/show.h"

#define KAFKA_JOB_DIGITS 8u /* of a job's id in its transactional ids, at least */

/* --- Which cluster, and which prefix ---------------------------------------------------------- */

/* A text as YAML takes it, in quotes. */
static const char *kafka_quoted(struct cli *c, const char *text)
{
    json_t *j = json_string(text);
    char *quoted = j ? json_dumps(j, JSON_ENCODE_ANY) : NULL;
    const char *kept = arena_text(c->arena, quoted);
    free(quoted);
    json_decref(j);
    return kept;
}

static const char *kafka_add_property(struct cli *c, const char *text, const char *line)
{
    const char *equals = strpbrk(line, "=:");
    size_t len = equals ? (size_t)(equals - line) : 0;
    while (len > 0 && (line[len - 1] == ' ' || line[len - 1] == '\t')) {
        len--;
    }
    if (len == 0) return NULL;
    const char *value = equals + 1 + strspn(equals + 1, " \t");
    const char *name = arena_text_n(c->arena, line, len);
    return arena_printf(c->arena, "%s    properties.%s: %s\n", text, name, kafka_quoted(c, value));
}

/* A file as Kafka's own tools take by --command-config: NAME=VALUE lines, # and ! comments, and
 * lines that go on behind a backslash. NULL with a message. */
static const char *kafka_read_properties(struct cli *c, const char *path, const char *text)
{
    FILE *in = fopen(cli_absolute(c, path), "re");
    char *line = NULL;
    size_t room = 0;
    const char *whole = "";
    if (!in) {
        (void)cli_fail(c, CLI_FAILED, "cannot open %s: %s", path, strerror(errno));
        return NULL;
    }
    while (text && whole && getline(&line, &room, in) >= 0) {
        line[strcspn(line, "\r\n")] = '\0';
        const char *begin = line + strspn(line, " \t");
        size_t left = strlen(begin);
        bool goes_on = left > 0 && begin[left - 1] == '\\';
        whole = arena_printf(c->arena, "%s%.*s", whole, (int)(left - (goes_on ? 1 : 0)), begin);
        if (goes_on || !whole) continue;
        if (*whole && *whole != '#' && *whole != '!') {
            const char *more = kafka_add_property(c, text, whole);
            if (!more) (void)cli_fail(c, CLI_USAGE, "%s: '%s' is no NAME=VALUE", path, begin);
            text = more;
        }
        whole = "";
    }
    free(line);
    (void)fclose(in); /* read-only */
    return text;
}

/* A job that only names the cluster and the prefix, so that properties are read as in any job. */
static enum cli_exit kafka_make_job(struct cli *c, const struct args *a, struct loaded *l)
{
    const char *servers = args_value(a, "bootstrap-servers");
    const char *prefix = args_value(a, "prefix"), *file = args_value(a, "command-config");
    const char *text = arena_printf(
        c->arena,
        "pipeline.name: kafka-transactions\n"
        "sources:\n  nothing: {connector: datagen, number-of-rows: 1, schema: {v: STRING}}\n"
        "sinks:\n  asked:\n    from: nothing\n    connector: kafka\n    topic: nothing\n"
        "    format: raw\n    sink.delivery-guarantee: exactly-once\n"
        "    sink.transactional-id-prefix: %s\n",
        kafka_quoted(c, prefix));
    if (text && servers) {
        text = arena_printf(c->arena, "%s    properties.bootstrap.servers: %s\n", text,
                            kafka_quoted(c, servers));
    }
    if (text && file) text = kafka_read_properties(c, file, text);
    if (!text) return file ? CLI_USAGE : cli_fail(c, CLI_FAILED, "out of memory");
    for (uint32_t i = 0; args_each(a, "property", i); i++) {
        text = kafka_add_property(c, text, args_each(a, "property", i));
        if (!text) {
            return cli_fail(c, CLI_USAGE, "--property %s: write it as NAME=VALUE",
                            args_each(a, "property", i));
        }
    }
    enum cli_exit code = load_job(c, a, "the command line", text, l);
    if (code != CLI_USAGE && l->faults->errors > 0) show_faults(c, l->faults);
    return code;
}

/* --- Whether it runs -------------------------------------------------------------------------- */

static bool kafka_listens(const struct cli *c, const char *dir, const char *id)
{
    struct sr_error ignored;
    int fd = -1;
    sr_rc rc = rundir_connect(c, dir, id, &fd, &ignored);
    if (rc == SR_OK) (void)close(fd); /* only asked whether it is there */
    return rc == SR_OK || rc == SR_EBUSY;
}

/* The id of a running job whose first digits these are; NULL: none runs here. */
static const char *kafka_running(const struct cli *c, const char *dir, const char *digits)
{
    size_t len = strlen(digits);
    const char *const *ids = rundir_ids(c, dir);
    for (uint32_t i = 0; ids && ids[i] && len >= KAFKA_JOB_DIGITS; i++) {
        if (strncmp(ids[i], digits, len) == 0 && kafka_listens(c, dir, ids[i])) return ids[i];
    }
    return NULL;
}

/* CLI_BUSY when a job runs here that one of the transactions is of. */
static enum cli_exit kafka_check_idle(const struct cli *c, const char *dir, const struct asked *k)
{
    for (uint32_t i = 0; i < k->rows; i++) {
        const struct sr_fact *job = asked_find(k, i, "job");
        const struct sr_fact *id = asked_find(k, i, "transactional_id");
        const char *running = job && job->text ? kafka_running(c, dir, job->text) : NULL;
        if (running) {
            return cli_fail(c, CLI_BUSY,
                            "transaction %s is of job %s, which runs: stop or cancel it first",
                            id && id->text ? id->text : "", running);
        }
    }
    return CLI_OK;
}

/* --- Asking ----------------------------------------------------------------------------------- */

struct kafka_answers {
    json_t *list;
    uint32_t asked, rows;
    enum cli_exit code;
};

static enum cli_exit kafka_ask_one(struct cli *c, const struct loaded *l, const struct plan_node *n,
                                   enum sr_question question, const char *job_id, struct asked *out)
{
    struct sr_ask a = {.question = question, .job_id = job_id};
    if (ask_sink(c, l->plan, n, &a, out) != SR_OK) return cli_fail(c, CLI_FAILED, "out of memory");
    if (out->fault) return cli_fail(c, CLI_FAILED, "%s: %s", n->step, out->fault);
    return CLI_OK;
}

static enum cli_exit kafka_ask_sink(struct cli *c, const struct args *a, const struct loaded *l,
                                    const struct plan_node *n, const char *dir,
                                    struct kafka_answers *to)
{
    bool is_abort = strcmp(a->word[1], "abort") == 0;
    const char *job_id = args_has(a, "all") || a->words == 2 ? NULL : l->job->id;
    struct asked k;
    enum cli_exit code = kafka_ask_one(c, l, n, SR_ASK_TRANSACTIONS, job_id, &k);
    if (code == CLI_OK && is_abort) code = kafka_check_idle(c, dir, &k);
    if (code == CLI_OK && is_abort && k.rows > 0) {
        code = kafka_ask_one(c, l, n, SR_ASK_ABORT, job_id, &k);
    }
    if (code != CLI_OK) return code;
    to->asked++;
    to->rows += k.rows;
    for (uint32_t i = 0; i < k.rows && c->is_json; i++) {
        json_array_append_new(to->list, asked_row_json(&k, i));
    }
    if (c->is_json) return CLI_OK;
    asked_table(c, &k);
    asked_tell(c, a->words > 2 ? n->step : args_value(a, "prefix"), &k);
    return CLI_OK;
}

/* Sinks that share a transaction are asked once. */
static enum cli_exit kafka_ask_sinks(struct cli *c, const struct args *a, const struct loaded *l,
                                     const char *dir, struct kafka_answers *to)
{
    const struct plan_node *decider = plan_decider(l->plan);
    enum cli_exit code = CLI_OK;
    for (uint32_t i = 0; i < l->plan->nodes && code == CLI_OK; i++) {
        const struct plan_node *n = &l->plan->node[i];
        bool is_again = n->kind == PLAN_SINK && plan_is_decided(n) && n != decider;
        if (n->kind != PLAN_SINK || !strstr(n->sink->name, "kafka") || is_again ||
            !ask_can_sink(n) || n->sink_caps.guarantee != SR_EXACTLY_ONCE) {
            continue;
        }
        code = kafka_ask_sink(c, a, l, n, dir, to);
    }
    return code;
}

enum cli_exit kafka_transactions(struct cli *c, const struct args *a)
{
    const char *what = a->words > 1 ? a->word[1] : "", *dir = NULL;
    const char *prefix = args_value(a, "prefix");
    struct loaded l = {.job = NULL};
    struct sr_error err = {0};
    if (strcmp(what, "list") != 0 && strcmp(what, "abort") != 0) {
        return cli_fail(c, CLI_USAGE, "kafka transactions: list or abort");
    }
    if ((a->words == 3) == (prefix != NULL) || a->words > 3) {
        return cli_fail(c, CLI_USAGE,
                        "kafka transactions %s: the job, or --prefix PREFIX with "
                        "--bootstrap-servers HOST:PORT or --command-config FILE",
                        what);
    }
    enum cli_exit code = prefix ? kafka_make_job(c, a, &l) : kafka_load(c, a, a->word[2], &l);
    if (code != CLI_OK) return code;
    const char *run_dir = args_value(a, "run-dir");
    if (!run_dir) run_dir = l.job->settings.run_dir;
    if (rundir_open(c, run_dir, &dir, &err) != SR_OK) return cli_error(c, CLI_FAILED, &err);
    if (!prefix && strcmp(what, "abort") == 0 && kafka_running(c, dir, l.job->id)) {
        return cli_fail(c, CLI_BUSY, "job %s (%s) runs: stop or cancel it first", l.job->name,
                        l.job->id);
    }
    struct kafka_answers to = {.list = json_array()};
    code = kafka_ask_sinks(c, a, &l, dir, &to);
    if (code == CLI_OK && to.asked == 0) {
        code = cli_fail(c, CLI_CONFIG, "%s: no kafka sink of the job is exactly-once",
                        a->words > 2 ? a->word[2] : prefix);
    }
    if (code == CLI_OK && c->is_json) {
        show_json(c, json_incref(to.list));
    } else if (code == CLI_OK && to.rows == 0) {
        cli_note(c, "no transaction is open");
    }
    json_decref(to.list);
    return code;
}
