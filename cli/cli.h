/* What every command gets: the world, where words go, and how to end.
 *
 * cli is the only room that prints. stdout carries records or the asked-for answer and nothing
 * else; everything for people goes to stderr. One command a file; commands.c has the table.
 */
#ifndef SR_CLI_CLI_H
#define SR_CLI_CLI_H

#include <stdio.h>

#include "cli/args.h"
#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "engine/plug/registry.h"

#define CLI_VERSION "0.1.0"

#define CLI_WIDTH       100 /* of texts: wider ones are hard to read */
#define CLI_WIDTH_LEAST 40

/* Exit codes: a contract with scripts. */
enum cli_exit {
    CLI_OK = 0,
    CLI_FAILED = 1,    /* the job failed */
    CLI_USAGE = 2,     /* wrong usage of the command line */
    CLI_CONFIG = 3,    /* the job file or configuration has faults */
    CLI_STATE = 4,     /* the state is missing, damaged, does not fit, or waits for a decision */
    CLI_BUSY = 5,      /* the same job is running, or the store is held */
    CLI_DIVERTED = 6,  /* finished, but records were set aside */
    CLI_UNSAVED = 7,   /* ended by a signal without saving what was promised */
    CLI_NO_JOB = 8,    /* no such running job */
    CLI_SUSPENDED = 9, /* a bounded job was ended by a signal, state saved */
    CLI_TIMEOUT = 124, /* wait: the time was over */
    CLI_CLOSED = 141   /* stdout was closed */
};

struct cli {
    struct env env;            /* copied for jobs only behind rehearse_open */
    struct levels *levels;     /* of env's log */
    struct rehearse *rehearse; /* NULL but in tests of crashes */
    struct arena *arena;       /* lives as long as the command */
    struct registry *registry; /* built-in types, and the modules of a job */
    FILE *out, *err;
    const char *work_dir; /* absolute */
    bool is_json;         /* --json */
    bool has_colour;      /* on stderr */
    bool is_quiet;        /* -q: faults and answers only */
    int width;            /* of texts on stdout, in columns */
};

/* Prints "streamrun: words" and answers `code`. */
enum cli_exit cli_fail(const struct cli *c, enum cli_exit code, const char *fmt, ...)
    SR_PRINTF(3, 4);
/* The same with the words of an error, whose code stands behind them. */
enum cli_exit cli_error(const struct cli *c, enum cli_exit code, const struct sr_error *err);
/* A notice for people: silent with -q. */
void cli_note(const struct cli *c, const char *fmt, ...) SR_PRINTF(2, 3);
/* The exit code that fits an error of the engine. */
enum cli_exit cli_exit_of(sr_rc rc);
/* `path` made absolute against the working directory; in the arena. */
const char *cli_absolute(const struct cli *c, const char *path);

#endif
