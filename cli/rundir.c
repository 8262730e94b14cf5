#include "cli/rundir.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "engine/base/error.h"

#define RUNDIR_SUFFIX    ".sock"
#define RUNDIR_CONNECT_S 10 /* a job that is not stuck takes a connection within */

sr_rc rundir_open(const struct cli *c, const char *set, const char **dir, struct sr_error *err)
{
    const char *d = set ? set : getenv("STREAMRUN_RUN_DIR");
    if (!d || !*d) d = arena_printf(c->arena, "/tmp/streamrun-%u", (unsigned)geteuid());
    d = cli_absolute(c, d);
    if (mkdir(d, 0700) != 0 && errno != EEXIST) return error_errno(err, errno, "make", d);
    struct stat st;
    if (lstat(d, &st) != 0) return error_errno(err, errno, "look at", d);
    if (!S_ISDIR(st.st_mode)) {
        return error_set(err, SR_EACCESS, "run directory %s is no directory", d);
    }
    if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return error_set(err, SR_EACCESS,
                         "run directory %s is not yours alone; set run.dir or STREAMRUN_RUN_DIR",
                         d);
    }
    *dir = d;
    return SR_OK;
}

static sr_rc rundir_address(const char *dir, const char *job_id, struct sockaddr_un *to,
                            struct sr_error *err)
{
    memset(to, 0, sizeof(*to));
    to->sun_family = AF_UNIX;
    int n = snprintf(to->sun_path, sizeof(to->sun_path), "%s/%s" RUNDIR_SUFFIX, dir, job_id);
    if (n < 0 || (size_t)n >= sizeof(to->sun_path)) {
        return error_set(
            err, SR_ECONFIG,
            "run directory %s is too long a path for a socket; set run.dir to a shorter "
            "one",
            dir);
    }
    return SR_OK;
}

sr_rc rundir_connect(const struct cli *c, const char *dir, const char *job_id, int *fd,
                     struct sr_error *err)
{
    (void)c;
    struct sockaddr_un to;
    sr_rc rc = rundir_address(dir, job_id, &to, err);
    if (rc != SR_OK) return rc;
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s < 0) return error_errno(err, errno, "make a socket for", to.sun_path);
    struct timeval limit = {.tv_sec = RUNDIR_CONNECT_S};
    (void)setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)); /* else it may wait */
    if (connect(s, (const struct sockaddr *)&to, sizeof(to)) != 0) {
        int e = errno;
        (void)close(s); /* never connected */
        if (e == EAGAIN) return error_set(err, SR_EBUSY, "job %s does not answer", job_id);
        if (e == ENOENT || e == ECONNREFUSED) {
            return error_set(err, SR_EABSENT, "job %s does not run", job_id);
        }
        return error_errno(err, e, "connect to", to.sun_path);
    }
    *fd = s;
    return SR_OK;
}

sr_rc rundir_listen(const struct cli *c, const char *dir, const char *job_id, int *fd,
                    struct sr_error *err)
{
    int other = -1;
    struct sr_error why = {0};
    sr_rc there = rundir_connect(c, dir, job_id, &other, &why);
    if (there == SR_OK) (void)close(other); /* only asked whether it is there */
    if (there == SR_OK || there == SR_EBUSY) {
        return error_set(err, SR_EBUSY, "a job with id %s is running already", job_id);
    }
    struct sockaddr_un at;
    sr_rc rc = rundir_address(dir, job_id, &at, err);
    if (rc != SR_OK) return rc;
    (void)unlink(at.sun_path); /* left by a run that was killed */
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s < 0) return error_errno(err, errno, "make a socket for", at.sun_path);
    if (bind(s, (const struct sockaddr *)&at, sizeof(at)) != 0 || listen(s, RUNDIR_BACKLOG) != 0) {
        int e = errno;
        (void)close(s); /* the error that counts is the first one */
        return error_errno(err, e, "listen at", at.sun_path);
    }
    *fd = s;
    return SR_OK;
}

void rundir_forget(const struct cli *c, const char *dir, const char *job_id)
{
    (void)c;
    struct sockaddr_un at;
    struct sr_error ignored;
    if (rundir_address(dir, job_id, &at, &ignored) == SR_OK) (void)unlink(at.sun_path);
}

void rundir_leave(const struct cli *c, const char *dir, const char *job_id)
{
    int fd = -1;
    struct sr_error ignored;
    struct ucred peer = {.pid = 0};
    socklen_t len = sizeof(peer);
    if (rundir_connect(c, dir, job_id, &fd, &ignored) == SR_OK) {
        bool is_known = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0;
        (void)close(fd); /* only asked whose it is */
        if (is_known && peer.pid != getpid() && peer.pid != getppid()) return;
    }
    rundir_forget(c, dir, job_id);
}

const char *const *rundir_ids(const struct cli *c, const char *dir)
{
    char **names = NULL;
    struct sr_error ignored;
    if (c->env.files->list(c->env.files, dir, &names, &ignored) != SR_OK) {
        return arena_array(c->arena, 1, sizeof(char *));
    }
    size_t n = 0, kept = 0;
    while (names[n]) {
        n++;
    }
    const char **ids = arena_array(c->arena, n + 1, sizeof(*ids));
    for (size_t i = 0; ids && i < n; i++) {
        size_t len = strlen(names[i]), tail = strlen(RUNDIR_SUFFIX);
        if (len > tail && strcmp(names[i] + len - tail, RUNDIR_SUFFIX) == 0) {
            ids[kept++] = arena_text_n(c->arena, names[i], len - tail);
        }
    }
    c->env.files->names_free(c->env.files, names);
    return ids;
}
