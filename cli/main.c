/* Finds the command in the table, lends it the world, maps its end to an exit code. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/levels.h"
#include "cli/rehearse.h"
#include "cli/terminal.h"
#include "connectors/builtin.h"
#include "engine/base/error.h"
#include "engine/base/nearest.h"
#include "engine/ops/ops.h"

/* Where our modules lie: BUILD/connectors of BUILD/cli/streamrun, else where they are installed. */
static bool main_home(char *home, size_t size)
{
    char program[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);
    program[len > 0 ? len : 0] = '\0';
    char *name = strrchr(program, '/');
    if (name) *name = '\0';
    char *dir = name ? strrchr(program, '/') : NULL;
    if (!dir) return false;
    const char *where = strcmp(dir, "/cli") == 0 ? "connectors" : SR_LIBDIR "/streamrun";
    *dir = '\0';
    int n = snprintf(home, size, "%s/%s", program, where);
    return n > 0 && (size_t)n < size;
}

static sr_rc main_register(struct cli *c, struct sr_error *err)
{
    c->registry = registry_new();
    if (!c->registry) return error_set(err, SR_ENOMEM, "out of memory");
    for (uint32_t i = 0; connectors_builtin[i]; i++) {
        sr_rc rc = registry_add(c->registry, connectors_builtin[i], err);
        if (rc != SR_OK) return rc;
    }
    char home[PATH_MAX];
    sr_rc rc = main_home(home, sizeof(home))
                   ? registry_set_home(c->registry, home, connectors_modules, err)
                   : SR_OK;
    if (rc != SR_OK) return rc;
    for (uint32_t i = 0; ops_builtin[i]; i++) {
        rc = registry_add_op(c->registry, ops_builtin[i], err);
        if (rc != SR_OK) return rc;
    }
    return SR_OK;
}

static sr_rc main_open(struct cli *c, struct sr_error *err)
{
    c->env = env_posix(SR_DEBUG); /* c->levels lets lines through, or does not */
    c->out = stdout;
    c->err = stderr;
    c->has_colour = terminal_has_colour(STDERR_FILENO);
    c->width = terminal_width(STDOUT_FILENO, CLI_WIDTH);
    if (c->width > CLI_WIDTH || !isatty(STDOUT_FILENO)) c->width = CLI_WIDTH;
    if (c->width < CLI_WIDTH_LEAST) c->width = CLI_WIDTH_LEAST;
    c->arena = arena_new();
    if (!c->arena) return error_set(err, SR_ENOMEM, "out of memory");
    char *dir = getcwd(NULL, 0);
    c->work_dir = arena_text(c->arena, dir ? dir : "/");
    free(dir);
    c->levels = levels_new(c->arena, SR_WARN);
    if (!c->work_dir || !c->levels) return error_set(err, SR_ENOMEM, "out of memory");
    levels_apply(c->levels, &c->env);
    return main_register(c, err);
}

static void main_close(struct cli *c)
{
    rehearse_close(c->rehearse);
    levels_free(c->levels);
    registry_free(c->registry); /* NULL too: half-open */
    arena_free(c->arena);
}

static enum cli_exit main_unknown(const struct cli *c, const char *name)
{
    const char *names[64];
    uint32_t n = 0;
    for (const struct command *k = commands; k->name && n < 63; k++) {
        names[n++] = k->name;
    }
    names[n] = NULL;
    const char *near = nearest_word(name, names);
    const char *dot = strrchr(name, '.');
    if (dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0)) {
        return cli_fail(c, CLI_USAGE, "SR1101: unknown command '%s'; did you mean 'run %s'?", name,
                        name);
    }
    if (near) {
        return cli_fail(c, CLI_USAGE, "SR1101: unknown command '%s'; did you mean '%s'?", name,
                        near);
    }
    return cli_fail(c, CLI_USAGE, "SR1101: unknown command '%s'; 'streamrun help' lists them",
                    name);
}

static enum cli_exit main_command(struct cli *c, int argc, char **argv)
{
    static const char *const help = "help";
    const char *name = argc > 1 ? argv[1] : help;
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = help;
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) name = "version";
    const struct command *k = command_find(name);
    if (!k) return main_unknown(c, name);
    struct args *args = arena_get(c->arena, sizeof(*args));
    if (!args) return cli_fail(c, CLI_FAILED, "out of memory");
    struct sr_error err = {0};
    if (args_parse(args, k->options, argc > 1 ? argc - 1 : 1, argv + (argc > 1 ? 1 : 0), &err) !=
        SR_OK) {
        return cli_fail(c, CLI_USAGE, "%s: %s\nusage: streamrun %s %s", k->name, err.words, k->name,
                        k->usage);
    }
    c->is_json = args_has(args, "json");
    c->is_quiet = args_has(args, "quiet");
    if (args_has(args, "verbose")) levels_set_all(c->levels, SR_DEBUG);
    if (rehearse_open(&c->rehearse, c, &err) != SR_OK) {
        return cli_error(c, CLI_FAILED, &err);
    }
    if (args_has(args, "help")) {
        command_usage(c, c->out, k);
        return CLI_OK;
    }
    enum cli_exit code = command_call(c, k, args);
    if (argc <= 1 && code == CLI_OK) return CLI_USAGE; /* no command: help, but not a success */
    return code;
}

/* A standard descriptor that the caller closed would else go to the next file that is opened, a
 * checkpoint store perhaps, and rows and messages into it. What stands in for it refuses use. */
static void main_hold_descriptors(void)
{
    static const int how[] = {O_WRONLY, O_RDONLY, O_RDWR}; /* of 0, 1 and 2 */
    for (int fd = 0; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", how[fd]) != fd) _exit((int)CLI_FAILED);
    }
}

/* The answer could not be written: quiet when its reader went away, else an error. */
static enum cli_exit main_unwritten(const struct cli *c, int number)
{
    if (number == EPIPE) return CLI_CLOSED;
    return cli_fail(c, CLI_FAILED, "cannot write to stdout: %s", strerrordesc_np(number));
}

int main(int argc, char **argv)
{
    main_hold_descriptors();
    (void)setlocale(LC_CTYPE, "C.UTF-8");
    struct cli c = {0};
    struct sr_error err = {0};
    enum cli_exit code = CLI_FAILED;
    (void)signal(SIGXFSZ, SIG_IGN); /* a write over the limit then fails, with words */
    if (main_open(&c, &err) != SR_OK) {
        fprintf(stderr, "streamrun: %s\n", err.words);
    } else {
        code = main_command(&c, argc, argv);
    }
    if (fflush(stdout) != 0 && code == CLI_OK) code = main_unwritten(&c, errno);
    main_close(&c);
    return (int)code;
}
