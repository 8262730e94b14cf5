/* The thread beside a running job: signals, the control socket, progress on a terminal.
 *
 * Signals are taken by a signalfd: monitor_block comes before any thread starts. The first SIGTERM
 * or SIGINT suspends the job; another one, MONITOR_ECHO_US later or more, ends the process at once
 * with 128 + its number; SIGHUP reopens the log file. Without a terminal the thread sleeps until
 * something happens.
 */
#ifndef SR_CLI_MONITOR_H
#define SR_CLI_MONITOR_H

#include "cli/cli.h"
#include "engine/plan/plan.h"
#include "engine/run/supervise.h"

struct monitor;

struct monitor_conf {
    const struct cli *cli;
    const struct plan *plan;
    struct supervise *job;
    int listen_fd;        /* -1: no control socket */
    const char *log_file; /* reopened at SIGHUP; NULL: none */
    bool is_durable;      /* a checkpoint outlives the process */
    bool is_detached;     /* stdout goes to the log file too */
    bool has_progress;    /* a line on stderr, drawn again and again */
};

void monitor_block(void); /* blocks the signals that the monitor takes, and SIGPIPE */
sr_rc monitor_start(struct monitor **out, const struct monitor_conf *conf, struct sr_error *err);
void monitor_stop(struct monitor *m); /* NULL allowed; the progress line is wiped */

/* stderr, and stdout too when detached, go to the end of this file from now on. */
sr_rc monitor_redirect(const char *log_file, bool with_stdout, struct sr_error *err);

#endif
