#include "cli/load.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/bind/bind.h"

static const char *load_variable(const char *name) { return getenv(name); }

/* A file of $STREAMRUN_CONF_DIR, Flink 2's name before Flink 1's; NULL: none. */
static const char *load_conf_path(struct cli *c, const struct args *a)
{
    const char *given = args_value(a, "conf");
    if (given) return cli_absolute(c, given);
    const char *dir = getenv("STREAMRUN_CONF_DIR");
    if (!dir || !*dir) return NULL;
    static const char *const names[] = {"config.yaml", "flink-conf.yaml"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *path = arena_printf(c->arena, "%s/%s", cli_absolute(c, dir), names[i]);
        struct sr_stat st;
        struct sr_error err;
        if (path && c->env.files->stat(c->env.files, path, &st, &err) == SR_OK) return path;
    }
    return NULL;
}

/* -D k=v and -p N as definitions; NULL with a message when one is malformed. */
static struct conf_define *load_defines(struct cli *c, const struct args *a, uint32_t *count)
{
    struct conf_define *d = arena_array(c->arena, ARGS_MAX + 2, sizeof(*d));
    uint32_t n = 0;
    const char *p = args_value(a, "parallelism");
    if (!d) return NULL; /* without a message */
    if (p) d[n++] = (struct conf_define){.key = "parallelism.default", .value = p, .shown = "-p"};
    const char *claim = args_value(a, "claim-mode");
    if (claim) {
        d[n++] = (struct conf_define){
            .key = "execution.state-recovery.claim-mode", .value = claim, .shown = "--claim-mode"};
    }
    for (uint32_t i = 0;; i++) {
        const char *text = args_each(a, "define", i);
        if (!text) break;
        const char *equals = strchr(text, '=');
        if (!equals || equals == text) {
            (void)cli_fail(c, CLI_USAGE, "-D %s: write it as KEY=VALUE", text);
            return NULL;
        }
        d[n++] = (struct conf_define){.key = arena_text_n(c->arena, text, (size_t)(equals - text)),
                                      .value = equals + 1};
    }
    *count = n;
    return d;
}

/* Reads, without binding. */
static enum cli_exit load_read(struct cli *c, const struct args *a, const char *path,
                               const char *text, struct loaded *l, sr_rc *rc)
{
    *l = (struct loaded){.path = path, .text = text};
    l->faults = arena_get(c->arena, sizeof(*l->faults));
    if (!l->faults) return cli_fail(c, CLI_FAILED, "out of memory");
    faults_init(l->faults, c->arena);
    uint32_t defines = 0;
    const struct conf_define *define = load_defines(c, a, &defines);
    if (!define && arena_is_broken(c->arena)) return cli_fail(c, CLI_FAILED, "out of memory");
    if (!define) return CLI_USAGE;
    struct conf_input in = {.env = &c->env,
                            .path = path ? path : "the checkpoint's job description",
                            .text = text,
                            .conf_path = text ? NULL : load_conf_path(c, a),
                            .work_dir = c->work_dir,
                            .define = define,
                            .defines = defines,
                            .variable = load_variable};
    *rc = conf_read(&in, c->registry, l->faults, &l->job);
    return CLI_OK;
}

static enum cli_exit load_bind(struct cli *c, struct loaded *l, sr_rc rc)
{
    if (l->job) {
        /* Binding goes on where reading found faults, so that one run shows them all. */
        sr_rc bound = bind_job(l->job, c->registry, l->faults, &l->plan);
        rc = rc == SR_OK ? bound : rc;
    }
    if (rc == SR_ENOMEM || faults_lack_memory(l->faults)) {
        faults_init(l->faults, c->arena); /* what was read is not whole, and they may be none */
        l->plan = NULL;
        return cli_fail(c, CLI_FAILED, "out of memory to read the job");
    }
    if (l->faults->errors > 0 || rc == SR_ECONFIG || rc == SR_EABSENT) {
        l->plan = NULL;
        return CLI_CONFIG;
    }
    return rc == SR_OK ? CLI_OK : cli_fail(c, cli_exit_of(rc), "%s", rc_words(rc));
}

enum cli_exit load_job(struct cli *c, const struct args *a, const char *path, const char *text,
                       struct loaded *l)
{
    sr_rc rc = SR_OK;
    enum cli_exit code = load_read(c, a, path, text, l, &rc);
    return code == CLI_OK ? load_bind(c, l, rc) : code;
}

enum cli_exit load_changed(struct cli *c, const struct args *a, const struct loaded *from,
                           const struct load_change *change, struct loaded *l)
{
    sr_rc rc = SR_OK;
    enum cli_exit code = load_read(c, a, from->path, from->text, l, &rc);
    if (code == CLI_OK && rc == SR_OK && l->job) code = change->job(change->ctx, l->job);
    return code == CLI_OK ? load_bind(c, l, rc) : code;
}
