#include "cli/detach.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/monitor.h"
#include "cli/show.h"
#include "engine/base/error.h"

/* The parent's whole life: one byte says that the job runs; none, that it ended before. */
static enum cli_exit detach_wait(const struct cli *c, int fd, pid_t child, const char *job_id)
{
    char byte = 0;
    ssize_t n;
    do {
        n = read(fd, &byte, 1);
    } while (n < 0 && errno == EINTR);
    if (n == 1) {
        if (c->is_json) {
            show_json(c, json_pack("{s:s}", "jid", job_id));
        } else {
            fprintf(c->out, "%s\n", job_id);
        }
        return CLI_OK;
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? (enum cli_exit)WEXITSTATUS(status) : CLI_FAILED;
}

sr_rc detach_fork(struct detach *d, const struct cli *c, const char *job_id, bool *is_parent,
                  enum cli_exit *code, struct sr_error *err)
{
    int fd[2];
    if (pipe2(fd, O_CLOEXEC) != 0) return error_errno(err, errno, "make", "a pipe");
    (void)fflush(NULL); /* or both would print what is buffered */
    pid_t child = fork();
    if (child < 0) return error_errno(err, errno, "start", "the background process");
    if (child > 0) {
        (void)close(fd[1]); /* the child's end */
        *code = detach_wait(c, fd[0], child, job_id);
        *is_parent = true;
        return SR_OK;
    }
    (void)close(fd[0]); /* the parent's end */
    (void)setsid();     /* a new process is no group leader: cannot fail */
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null >= 0) {
        (void)dup2(null, STDIN_FILENO); /* nothing to read in the background */
        (void)close(null);              /* the duplicate stays */
    }
    d->ready_fd = fd[1];
    *is_parent = false;
    return SR_OK;
}

sr_rc detach_check(const struct detach *d, struct sr_error *err)
{
    if (d->ready_fd < 0) return SR_OK;
    int fd = open(d->log_file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0) return error_errno(err, errno, "open", d->log_file);
    (void)close(fd); /* nothing was written */
    return SR_OK;
}

void detach_running(struct detach *d)
{
    if (d->ready_fd < 0) return;
    struct sr_error err = {0};
    if (monitor_redirect(d->log_file, true, &err) != SR_OK) {
        (void)!write(STDERR_FILENO, err.words, strlen(err.words)); /* the caller still listens */
    }
    (void)!write(d->ready_fd, "r", 1); /* the parent may be gone: then nobody waits */
    (void)close(d->ready_fd);          /* that was all */
    d->ready_fd = -1;
}
