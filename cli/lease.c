#include "cli/lease.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engine/base/error.h"

#define LEASE_BEATS 5 /* within the lease */

static void lease_run(void *arg)
{
    struct lease *l = arg;
    struct pollfd p = {.fd = l->stop_fd, .events = POLLIN};
    int64_t period_ms = l->duration_us / LEASE_BEATS / 1000;
    bool is_told = false;
    for (;;) {
        int n = poll(&p, 1, period_ms < INT32_MAX ? (int)period_ms + 1 : INT32_MAX);
        if (n > 0) return;
        if (n < 0) continue; /* a signal */
        struct sr_error err = {0};
        sr_rc rc = store_beat(l->store, &err);
        if (rc == SR_EFENCED) {
            (void)cli_fail(l->cli, CLI_BUSY,
                           "SR1012: job '%s' ends here, nothing more is committed: %s", l->job_name,
                           err.words);
            _exit((int)CLI_BUSY);
        }
        if (rc != SR_OK && !is_told) {
            cli_note(l->cli, "warning: no beat for those who stand by: %s", err.words);
        }
        is_told = rc != SR_OK;
    }
}

void lease_start(struct lease *l, struct store *s)
{
    struct sr_error err = {0};
    l->store = s;
    l->stop_fd = eventfd(0, EFD_CLOEXEC);
    sr_rc rc = l->stop_fd >= 0 ? thread_start(&l->thread, "lease", lease_run, l, &err)
                               : error_errno(&err, errno, "make", "an eventfd");
    if (rc != SR_OK) {
        l->thread = NULL;
        cli_note(l->cli, "warning: no beat for those who stand by: %s", err.words);
    }
}

void lease_stop(struct lease *l)
{
    if (l->thread) {
        uint64_t one = 1;
        (void)!write(l->stop_fd, &one, sizeof(one)); /* an eventfd takes it */
        thread_join(l->thread);
        l->thread = NULL;
    }
    if (l->stop_fd >= 0) (void)close(l->stop_fd); /* not a file */
    l->stop_fd = -1;
}
