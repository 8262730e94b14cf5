#include "connectors/common/pipe_out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "connectors/common/note.h"

#define PIPE_OUT_TURN_US 1000 /* nothing tells when a turn is over: it is asked for so often */

sr_rc pipe_out_open(struct pipe_out *o, const struct sr_host *host, int fd, const char *name,
                    struct sr_error *err)
{
    *o = (struct pipe_out){.host = host, .name = name, .fd = -1, .buf = note_out()};
    struct stat st;
    if (fstat(fd, &st) != 0) {
        return host->fail(host, err, SR_EIO, "%s is not open: %s", name, strerrordesc_np(errno));
    }
    int flags = fcntl(fd, F_GETFL);
    if (flags >= 0 && (flags & O_ACCMODE) == O_RDONLY) { /* opened again, it could be written */
        return host->fail(host, err, SR_EIO, "%s is not open for writing", name);
    }
    o->is_file = S_ISREG(st.st_mode);
    if (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)) {
        char path[64];
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        o->fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
        o->is_own = o->fd >= 0;
    }
    if (!o->is_own) {
        o->fd = fd;
        o->may_wait = !o->is_file;
    }
    return SR_OK;
}

static bool pipe_out_is_ready(const struct pipe_out *o)
{
    struct pollfd p = {.fd = o->fd, .events = POLLOUT};
    return poll(&p, 1, 0) > 0;
}

static bool pipe_out_takes_turn(struct pipe_out *o)
{
    /* What cannot be locked at all is written as if one were alone. */
    o->has_turn =
        o->has_turn || !o->is_own || flock(o->fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    return o->has_turn;
}

static void pipe_out_end_turn(struct pipe_out *o)
{
    if (o->has_turn && o->is_own) {
        (void)flock(o->fd, LOCK_UN); /* what was locked can be unlocked */
    }
    o->has_turn = false;
}

/* Bytes that one write is given. */
static size_t pipe_out_some(const struct pipe_out *o)
{
    size_t len = pipe_out_pending(o);
    if (!o->may_wait || len <= PIPE_BUF) {
        return len;
    }
    const uint8_t *from = o->buf.data + o->written;
    const uint8_t *newline = memrchr(from, '\n', PIPE_BUF);
    return newline ? (size_t)(newline - from) + 1 : PIPE_BUF;
}

sr_rc pipe_out_drain(struct pipe_out *o, struct sr_wait *wait, struct sr_error *err)
{
    if (pipe_out_pending(o) > 0 && !pipe_out_takes_turn(o)) {
        *wait =
            (struct sr_wait){.fd = -1, .until_us = o->host->mono_us(o->host) + PIPE_OUT_TURN_US};
        return SR_EBUSY;
    }
    while (pipe_out_pending(o) > 0) {
        size_t len = pipe_out_some(o);
        ssize_t n = -1;
        errno = EAGAIN;
        if (!o->may_wait || pipe_out_is_ready(o)) {
            n = write(o->fd, o->buf.data + o->written, len);
        }
        if (n >= 0) {
            o->written += (size_t)n;
        } else if (errno == EAGAIN) {
            *wait = (struct sr_wait){.fd = o->fd, .is_write = true, .until_us = INT64_MAX};
            return SR_EBUSY;
        } else if (errno == EPIPE) {
            return o->host->fail(o->host, err, SR_ECLOSED, "%s was closed by its reader", o->name);
        } else if (errno != EINTR) {
            int number = errno;
            return o->host->fail(o->host, err, SR_EFINAL, "cannot write to %s: %s", o->name,
                                 strerrordesc_np(number));
        }
    }
    o->buf.len = o->written = 0;
    pipe_out_end_turn(o);
    return SR_OK;
}

sr_rc pipe_out_make_room(struct pipe_out *o, struct sr_wait *wait, struct sr_error *err)
{
    return pipe_out_pending(o) < PIPE_OUT_FULL ? SR_OK : pipe_out_drain(o, wait, err);
}

sr_rc pipe_out_push(struct pipe_out *o, struct sr_error *err)
{
    struct sr_wait later;
    sr_rc rc = pipe_out_make_room(o, &later, err);
    return rc == SR_EBUSY ? SR_OK : rc;
}

sr_rc pipe_out_sync(struct pipe_out *o, struct sr_wait *wait, struct sr_error *err)
{
    sr_rc rc = pipe_out_drain(o, wait, err);
    if (rc != SR_OK) {
        return rc;
    }
    if (o->is_file && fdatasync(o->fd) != 0) {
        return o->host->fail(o->host, err, SR_EFINAL, "cannot make %s durable: %s", o->name,
                             strerrordesc_np(errno));
    }
    return SR_OK;
}

void pipe_out_close(struct pipe_out *o)
{
    if (o->is_own) {
        (void)close(o->fd); /* all that counts was written by drain */
    }
    o->is_own = false;
    o->fd = -1;
    note_free(&o->buf);
}
