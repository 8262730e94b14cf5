#include "connectors/stdio/stdin_take.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TAKE_PIPE_BYTES (1 << 20) /* asked of the pipe: the writer goes on while we sync */

void stdin_take_open(struct stdin_take *t)
{
    struct stat st;
    t->copy[0] = t->copy[1] = t->away = -1;
    if (fstat(STDIN_FILENO, &st) != 0 || !S_ISFIFO(st.st_mode) || pipe2(t->copy, O_CLOEXEC) != 0) {
        return;
    }
    (void)fcntl(STDIN_FILENO, F_SETPIPE_SZ, TAKE_PIPE_BYTES); /* not allowed: it stays as it is */
    (void)fcntl(t->copy[1], F_SETPIPE_SZ, TAKE_PIPE_BYTES);
    t->away = open("/dev/null", O_WRONLY | O_CLOEXEC); /* there is none: they are copied */
}

void stdin_take_close(struct stdin_take *t)
{
    for (int i = 0; i < 2; i++) {
        if (t->copy[i] >= 0) {
            (void)close(t->copy[i]); /* empty */
        }
        t->copy[i] = -1;
    }
    if (t->away >= 0) {
        (void)close(t->away);
    }
    t->away = -1;
}

enum taken stdin_take_any(uint8_t *to, size_t room, size_t *got)
{
    /* Only after poll: stdin may be shared with a shell, so it is not made non-blocking. */
    struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
    int is_there = poll(&p, 1, 0);
    *got = 0;
    if (is_there == 0) {
        return TAKEN_NONE;
    }
    ssize_t n = is_there > 0 ? read(STDIN_FILENO, to, room) : -1;
    if (n < 0) {
        return errno == EINTR || errno == EAGAIN ? TAKEN_NONE : TAKEN_FAILED;
    }
    *got = (size_t)n;
    return n > 0 ? TAKEN_BYTES : TAKEN_END;
}

/* Exactly `len` bytes, which are there. */
static bool stdin_take_all(int fd, uint8_t *to, size_t len)
{
    while (len > 0) {
        ssize_t n = read(fd, to, len);
        if (n == 0) {
            errno = EIO; /* another process has taken them */
        }
        if (n <= 0 && errno != EINTR) {
            return false;
        }
        to += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool stdin_take_has_writer(void)
{
    struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&p, 1, 0) >= 0 && (p.revents & POLLHUP) == 0;
}

/* Takes what was looked at out of the pipe; `to` has these bytes already. */
static bool stdin_take_away(const struct stdin_take *t, uint8_t *to, size_t len)
{
    ssize_t n = 1;
    while (t->away >= 0 && len > 0 && n > 0) {
        n = splice(STDIN_FILENO, NULL, t->away, NULL, len, SPLICE_F_MOVE);
        len -= n > 0 ? (size_t)n : 0;
        to += n > 0 ? n : 0;
    }
    return stdin_take_all(STDIN_FILENO, to, len);
}

enum taken stdin_take_lines(struct stdin_take *t, uint8_t *to, size_t room, size_t *got)
{
    if (t->copy[0] < 0) {
        return stdin_take_any(to, room, got);
    }
    *got = 0;
    bool has_writer = stdin_take_has_writer(); /* before the look: what it wrote is seen then */
    ssize_t n = tee(STDIN_FILENO, t->copy[1], room, SPLICE_F_NONBLOCK);
    if (n < 0) {
        return errno == EINTR || errno == EAGAIN ? TAKEN_NONE : TAKEN_FAILED;
    }
    if (n == 0) {
        return has_writer ? TAKEN_NONE : TAKEN_END;
    }
    if (!stdin_take_all(t->copy[0], to, (size_t)n)) {
        return TAKEN_FAILED;
    }
    const uint8_t *newline = memrchr(to, '\n', (size_t)n);
    size_t len = newline ? (size_t)(newline - to) + 1 : (size_t)n;
    /* Without a writer it is the end of the last line, unless `room` has cut it. */
    if (!newline && len < TAKE_LINE_MAX && (has_writer || len == room)) {
        return TAKEN_PARTLY;
    }
    if (!stdin_take_away(t, to, len)) {
        return TAKEN_FAILED;
    }
    *got = len;
    return TAKEN_BYTES;
}
