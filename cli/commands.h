/* The table of commands: the source of parsing, help, and later of completion and the man page. */
#ifndef SR_CLI_COMMANDS_H
#define SR_CLI_COMMANDS_H

#include "cli/cli.h"

struct command {
    const char *name;    /* NULL ends the table */
    const char *usage;   /* behind the name: "JOB.yaml [-D k=v]... [-p N]" */
    const char *summary; /* one line */
    const char *doc;     /* more; may be NULL */
    uint32_t words_max;  /* words that are no options */
    const struct args_option *options;
    enum cli_exit (*run)(struct cli *c, const struct args *a);
};

extern const struct command commands[];

const struct command *command_find(const char *name); /* NULL: none */
/* Calls it, unless it was given more words than it knows what to do with. */
enum cli_exit command_call(struct cli *c, const struct command *k, const struct args *a);
void command_usage(const struct cli *c, FILE *to, const struct command *k);

/* One a file; shared option tables lie beside them. */
enum cli_exit command_run(struct cli *c, const struct args *a);
enum cli_exit command_resume(struct cli *c, const struct args *a);
enum cli_exit command_savepoint(struct cli *c, const struct args *a);
enum cli_exit command_stop(struct cli *c, const struct args *a);
enum cli_exit command_cancel(struct cli *c, const struct args *a);
enum cli_exit command_log_level(struct cli *c, const struct args *a);
enum cli_exit command_wait(struct cli *c, const struct args *a);
enum cli_exit command_list(struct cli *c, const struct args *a);
enum cli_exit command_status(struct cli *c, const struct args *a);
enum cli_exit command_validate(struct cli *c, const struct args *a);
enum cli_exit command_plan(struct cli *c, const struct args *a);
enum cli_exit command_config(struct cli *c, const struct args *a);
enum cli_exit command_checkpoints(struct cli *c, const struct args *a);
enum cli_exit command_dead_letter(struct cli *c, const struct args *a);
enum cli_exit command_kafka(struct cli *c, const struct args *a);
enum cli_exit command_init(struct cli *c, const struct args *a);
enum cli_exit command_infer(struct cli *c, const struct args *a);
enum cli_exit command_connectors(struct cli *c, const struct args *a);
enum cli_exit command_functions(struct cli *c, const struct args *a);
enum cli_exit command_eval(struct cli *c, const struct args *a);
enum cli_exit command_completion(struct cli *c, const struct args *a);
enum cli_exit command_help(struct cli *c, const struct args *a);
enum cli_exit command_version(struct cli *c, const struct args *a);

/* Windows stand in a transform's `window`, not in expressions, but are looked for as functions. */
bool functions_is_window(const char *name);

#endif
