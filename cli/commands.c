#include "cli/commands.h"

#include <string.h>

/* clang-format off */
#define COMMON                                                                                     \
    {"json", NULL, 0, NULL, "answer in JSON on stdout"},                                           \
    {"quiet", NULL, 'q', NULL, "no notices, no progress, no summary"},                             \
    {"verbose", NULL, 'v', NULL, "log what happens inside"},                                       \
    {"help", NULL, 'h', NULL, "show how the command is used"},                                     \
    {NULL, NULL, 0, NULL, NULL}

#define JOB_OPTIONS                                                                                \
    {"define", NULL, 'D', "KEY=VALUE", "set any key of the job, also sources.NAME.KEY"},           \
    {"conf", NULL, 0, "FILE", "a flink-conf.yaml or config.yaml with defaults for the job"},       \
    {"parallelism", NULL, 'p', "N", "parallelism.default"}

#define RUN_OPTIONS                                                                                \
    JOB_OPTIONS,                                                                                   \
    {"allow-non-restored-state", "allowNonRestoredState", 'n', NULL,                               \
     "drop state that no operator of the job claims"},                                             \
    {"detached", NULL, 'd', NULL, "return when the job is running, print its id"},                 \
    {"log-level", NULL, 0, "LEVEL", "DEBUG, INFO, WARN or ERROR: log.level"},                      \
    {"supervise", NULL, 0, NULL, "in the foreground too: restart the job when its process is killed"},  \
    {"claim-mode", "claimMode", 0, "MODE",                                                         \
     "whose what --from names is: NO_CLAIM (yours), CLAIM (the job's to delete), LEGACY"},         \
    {"allow-fallback", NULL, 0, NULL,                                                              \
     "when the newest checkpoint is damaged take an older one: output after it comes again"}

static const struct args_option options_common[] = {COMMON};
static const struct args_option options_job[] = {JOB_OPTIONS, COMMON};
static const struct args_option options_run[] = {
    RUN_OPTIONS,
    {"from", "fromSavepoint", 's', "PATH", "start from this checkpoint or savepoint"},
    {"continue", NULL, 0, NULL, "start from the newest retained state of this job, if there is any"},
    {"drain", NULL, 0, NULL,
     "with --continue: at the end of the input close windows, take a last line without newline"},
    {"pending", NULL, 0, "FATE",
     "with --continue, when nobody can tell what became of a pending checkpoint: complete or drop"},
    {"fresh", NULL, 0, NULL, "start anew although an unfinished run left its state"},
    {"wait-lock", NULL, 0, "DURATION",
     "wait so long for a run of the job that is still going; else exit with 5"},
    {"standby", NULL, 0, NULL,
     "start from the newest state, or wait while another process runs the job and take over from it"},
    {"fail-on-dead-letter", NULL, 0, NULL, "exit with 6 when records were skipped"},
    COMMON};
static const struct args_option options_resume[] = {
    RUN_OPTIONS,
    {"from", "fromSavepoint", 's', "PATH", "the checkpoint or savepoint to go on from"},
    COMMON};
static const struct args_option options_running[] = {
    {"run-dir", NULL, 0, "DIR", "where running jobs listen; else $STREAMRUN_RUN_DIR"},
    COMMON};
static const struct args_option options_list[] = {
    {"all", "a", 0, NULL, "those that have ended too, with cause, exit code and newest checkpoint"},
    {"run-dir", NULL, 0, "DIR", "where running jobs listen; else $STREAMRUN_RUN_DIR"},
    COMMON};
static const struct args_option options_cancel[] = {
    {"with-savepoint", "withSavepoint", 's', NULL, "take a savepoint first, print its path"},
    {"dir", "savepointPath", 'p', "DIR", "where the savepoint goes; else execution.checkpointing.savepoint-dir"},
    {"run-dir", NULL, 0, "DIR", "where running jobs listen; else $STREAMRUN_RUN_DIR"},
    COMMON};
static const struct args_option options_wait[] = {
    {"checkpoint", NULL, 0, NULL, "for a checkpoint that begins from now on"},
    {"caught-up", NULL, 0, NULL,
     "until all that the sources found when they last looked has come through"},
    {"finished", NULL, 0, NULL, "for its end; the exit code is the job's"},
    {"timeout", NULL, 0, "DURATION", "no longer than this: exit code 124"},
    {"run-dir", NULL, 0, "DIR", "where running jobs listen; else $STREAMRUN_RUN_DIR"},
    COMMON};
static const struct args_option options_savepoint[] = {
    {"dir", "savepointPath", 'p', "DIR", "where the savepoint goes; else execution.checkpointing.savepoint-dir"},
    {"type", NULL, 't', "TYPE", "Flink's canonical or native: the same here"},
    {"run-dir", NULL, 0, "DIR", "where running jobs listen; else $STREAMRUN_RUN_DIR"},
    COMMON};
static const struct args_option options_stop[] = {
    {"dir", "savepointPath", 'p', "DIR", "where the savepoint goes; else execution.checkpointing.savepoint-dir"},
    {"drain", NULL, 'd', NULL, "first send watermark +infinity: windows close, nothing can go on"},
    {"type", NULL, 't', "TYPE", "Flink's canonical or native: the same here"},
    {"run-dir", NULL, 0, "DIR", "where running jobs listen; else $STREAMRUN_RUN_DIR"},
    COMMON};
static const struct args_option options_dead_letter[] = {
    RUN_OPTIONS,
    {"checkpoints", NULL, 0, "DIR", "where a job that does not run is looked for by its name or id"},
    {"run-dir", NULL, 0, "DIR", "where running jobs listen; else $STREAMRUN_RUN_DIR"},
    {"letters", NULL, 0, "PATH", "letters that lie elsewhere, as those that were mended"},
    {"table", NULL, 0, "NAME", "of an SQLite file"},
    {"raw", NULL, 0, NULL, "show: the bytes of the records, and nothing else"},
    {"fail-on-dead-letter", NULL, 0, NULL, "replay: exit with 6 when records were set aside again"},
    COMMON};
static const struct args_option options_validate[] = {
    JOB_OPTIONS,
    {"strict", NULL, 0, NULL, "warnings are faults too"},
    {"connect", NULL, 0, NULL, "ask what the job is connected to whether a run would find what it needs"},
    COMMON};
static const struct args_option options_kafka[] = {
    JOB_OPTIONS,
    {"prefix", NULL, 0, "PREFIX", "transactions: sink.transactional-id-prefix, where there is no job file"},
    {"bootstrap-servers", NULL, 0, "HOSTS", "with --prefix: the cluster"},
    {"property", NULL, 0, "NAME=VALUE", "with --prefix: a property of the client, also several"},
    {"command-config", NULL, 0, "FILE", "with --prefix: a file of properties, as Kafka's own tools take it"},
    {"all", NULL, 0, NULL, "transactions: of other jobs with the same prefix too"},
    {"from", NULL, 0, "PATH", "offsets: of this checkpoint or savepoint; else of the newest"},
    {"checkpoints", NULL, 0, "DIR", "where a job that does not run is looked for by its name or id"},
    {"run-dir", NULL, 0, "DIR", "where running jobs listen; else $STREAMRUN_RUN_DIR"},
    COMMON};
static const struct args_option options_plan[] = {
    JOB_OPTIONS,
    {"dot", NULL, 0, NULL, "as a graph for dot(1)"},
    COMMON};
static const struct args_option options_eval[] = {
    {"file", NULL, 0, "FILE", "one expression a line; prints expression, type, value; \\N is NULL"},
    {"time-zone", NULL, 0, "ZONE", "as table.local-time-zone: Europe/Berlin, GMT+8 (UTC)"},
    {"type", NULL, 0, NULL, "print the type, a tab, the value"},
    COMMON};

static const struct args_option options_infer[] = {
    {"format", NULL, 0, "FORMAT", "csv or json; else its name and its first byte tell"},
    {"records", NULL, 'n', "N", "look at so many records; 10000 unless given, 0: at all"},
    {"header", NULL, 0, NULL, "the first line of a CSV file names the columns"},
    {"no-header", NULL, 0, NULL, "the first line of a CSV file is a record"},
    COMMON};
static const struct args_option options_help[] = {
    {"man", NULL, 0, NULL, "the manual page, for man(1)"},
    COMMON};
static const struct args_option options_checkpoints[] = {
    {"force", NULL, 0, NULL, "delete: also the newest checkpoint of a run that has not ended"},
    COMMON};
static const struct args_option options_connectors[] = {
    {"plugins", NULL, 0, "DIR", "where modules lie, as plugins.dir of a job"},
    {"guarantees", NULL, 0, NULL, "what each source and sink keeps through a kill, as a table"},
    COMMON};

const struct command commands[] = {
    {"run", "JOB.yaml [-D KEY=VALUE]... [-p N] [--from PATH]\n                     [--claim-mode MODE] [--continue [--drain] | --fresh | --standby]\n                     [--allow-fallback] [-d | --supervise]",
     "run a job", "Starts fresh unless told. When the newest checkpoint of this job belongs to a run that\n"
     "did not end by itself and a sink is exactly-once, it refuses: --continue goes on, --fresh\n"
     "starts again.\n"
     "With --continue a finished job takes what is new: new files, and what was appended to files\n"
     "that it had read. At the end of what is there windows stay open in the state and a last line\n"
     "without its newline is left, for the next --continue; with --drain both are taken.\n"
     "With --standby it runs the job from its newest state if nobody does; else it waits, and takes\n"
     "over at once when that process dies, or when it hangs for high-availability.lease-duration.\n"
     "When the job finishes, is stopped, is canceled or fails, those who stand by end too.", 1, options_run, command_run},
    {"resume", "--from PATH [JOB.yaml]", "go on from a checkpoint or savepoint",
     "PATH: a checkpoint, a savepoint, a job's directory (the newest in it), a checkpoint directory\n"
     "that holds one job, a SQLite store (the newest in it) or store.db#chk-7. Without JOB.yaml the\n"
     "job description kept inside is used.", 1, options_resume, command_resume},
    {"savepoint", "[JOB] [--dir DIR]", "take a savepoint of a running job, print its path", NULL, 2,
     options_savepoint, command_savepoint},
    {"stop", "[JOB] [--drain] [--dir DIR]", "take a savepoint, then finish the job", NULL, 2,
     options_stop, command_stop},
    {"cancel", "[JOB] [--with-savepoint [--dir DIR]]", "end a running job at once",
     "Rows since the last checkpoint are given up; with --with-savepoint none are.", 1, options_cancel, command_cancel},
    {"list", "[--all]", "list the running jobs",
     "With --all those that have ended too, as long as jobstore.expiration-time says.", 0, options_list, command_list},
    {"wait", "[JOB] --checkpoint | --caught-up | --finished [--timeout D]", "wait until a job has come so far",
     "Exit code 124 when the time is over, 8 when no such job runs, 1 when it ends before. A job that\n"
     "is restarted or taken over meanwhile is waited for. --finished takes the name of a job that has\n"
     "ended, too. Sources look for news at their own times, as source.monitor-interval says: what\n"
     "came since their last look is not waited for by --caught-up.", 1, options_wait, command_wait},
    {"status", "[JOB]", "show what a running job does", NULL, 1, options_running, command_status},
    {"validate", "JOB.yaml... [--strict] [--connect]", "check jobs: every fault, every path's guarantee, what may be lost",
     "Prints what each path from a source to a sink guarantees and its weakest link, then what can\n"
     "lose, repeat or hold up rows, each with its cure. With --strict warnings make exit code 3. With\n"
     "--connect what the job is connected to is asked, as a run would need it: topics, partitions,\n"
     "offsets, limits, times and rights of Kafka, tables, directories, servers, schema registries.\n"
     "Nothing is read or written, but that a transactional id beside those of the job is taken.\n"
     "What a run could not use makes exit code 1.", ARGS_MAX,
     options_validate, command_validate},
    {"kafka", "transactions list | abort JOB | --prefix PREFIX\n                 offsets JOB [--from PATH]", "open transactions of a job, ending them; its offsets beside those of the group",
     "JOB: its file, or the name or id of one that runs or has a checkpoint. list shows what is open\n"
     "and keeps readers of committed rows waiting; abort ends it, for a job that never comes back,\n"
     "without its rows: they come again if the job does. What was decided is committed. It refuses\n"
     "while the job runs here (exit code 5); one that runs on another machine would start again.\n"
     "offsets compares the newest checkpoint, the group's offsets and the log of each partition, and\n"
     "says what a restart would do, whether the job runs or not.", 3, options_kafka, command_kafka},
    {"plan", "JOB.yaml [--dot | --json]", "show the operator graph", NULL, 1, options_plan, command_plan},
    {"config", "JOB.yaml", "show every effective key and where it came from", NULL, 1, options_job,
     command_config},
    {"dead-letter", "list | show | replay JOB|PATH [ID...]",
     "look at records that were set aside, put them through the job again",
     "JOB: its file, or the name or id of one that runs or has a checkpoint. PATH: a directory or file\n"
     "of JSON lines, or an SQLite file. replay takes each letter once: its\n"
     "bytes, mended by hand or not, go through the job under an id of its own, with state of its\n"
     "own. What was replayed is noted beside the letters.", ARGS_MAX, options_dead_letter,
     command_dead_letter},
    {"checkpoints", "list | show | verify | delete PATH [--force]\n                     diff PATH PATH", "look at checkpoints and savepoints, compare two, delete one",
     "verify reads every byte and checks every digest. delete takes one checkpoint or savepoint; not\n"
     "while its job runs, and the newest of a run that has not ended only with --force. When the\n"
     "newest one is gone, a run begins afresh: older ones are gone on from by --from PATH.\n"
     "show tells what is in one, and the job that lies inside; with --json each part and counter.\n"
     "diff tells what came, went and changed in each state, and how far sources got.\n"
     "A savepoint in an SQLite file has its state as tables too: sqlite3 FILE '.tables state%'", 3,
     options_checkpoints, command_checkpoints},
    {"log-level", "[JOB] [COMPONENT LEVEL]", "show or change what a running job writes to its log",
     "COMPONENT: all, a part of the engine (checkpoints, ckpt, guard, job, poison, state), or a step of\n"
     "the job: what its connector or operator says. LEVEL: DEBUG, INFO, WARN or ERROR. It holds\n"
     "until the job's process ends; log.level is for good.", 3, options_running, command_log_level},
    {"init", "[CONNECTOR [FORMAT]]", "print a commented skeleton of a job",
     "Every key of the connector and the format stands in it, with its default. Put your own words\n"
     "where CHANGE_ME stands. Without a name: filesystem and csv.", 2, options_common, command_init},
    {"infer", "FILE [--format csv | json] [--records N]", "print the schema block of a CSV or JSON-lines file",
     "A type is taken when every value that was looked at fits it. FILE may be -: standard input.", 1,
     options_infer, command_infer},
    {"connectors", "[CONNECTOR | FORMAT | --guarantees]", "list connectors and formats, or the options of one", NULL, 1,
     options_connectors, command_connectors},
    {"functions", "[FUNCTION]", "list SQL functions, or explain one", NULL, 1, options_common,
     command_functions},
    {"eval", "'EXPR' | --file FILE", "compute an SQL expression", NULL, 1, options_eval, command_eval},
    {"completion", "bash | zsh | fish", "print a script that completes words on the command line",
     "bash: eval \"$(streamrun completion bash)\"; zsh: the same; fish: streamrun completion fish | source\n"
     "It completes commands, options, keys behind -D, names of running jobs, connectors, functions.",
     ARGS_MAX, options_common, command_completion},
    {"help", "[TOPIC] [--man]", "explain a command, a key, a connector, a format, a function, a code",
     "TOPIC is any of them: run, path, filesystem, csv, UPPER; exit-codes or the number of one; the\n"
     "code at the end of an error, as in SR0101. --man prints the manual page.", 1, options_help,
     command_help},
    {"version", "", "print the version", NULL, 0, options_common, command_version},
    {NULL, NULL, NULL, NULL, 0, NULL, NULL}};
/* clang-format on */

const struct command *command_find(const char *name)
{
    for (const struct command *k = commands; k->name; k++) {
        if (strcmp(k->name, name) == 0) return k;
    }
    return NULL;
}

enum cli_exit command_call(struct cli *c, const struct command *k, const struct args *a)
{
    if (a->words <= k->words_max) return k->run(c, a);
    return cli_fail(c, CLI_USAGE, "%s: '%s' is one word too many\nusage: streamrun %s%s%s", k->name,
                    a->word[k->words_max], k->name, *k->usage ? " " : "", k->usage);
}

void command_usage(const struct cli *c, FILE *to, const struct command *k)
{
    (void)c;
    fprintf(to, "usage: streamrun %s%s%s\n\n%s\n", k->name, *k->usage ? " " : "", k->usage,
            k->summary);
    if (k->doc) fprintf(to, "%s\n", k->doc);
    fputc('\n', to);
    for (const struct args_option *o = k->options; o->name; o++) {
        char left[64];
        (void)snprintf(left, sizeof(left), "--%s%s%s", o->name, o->value ? " " : "",
                       o->value ? o->value : "");
        if (o->letter) {
            fprintf(to, "  -%c, %-30s %s\n", o->letter, left, o->doc);
        } else {
            fprintf(to, "      %-30s %s\n", left, o->doc);
        }
    }
}
