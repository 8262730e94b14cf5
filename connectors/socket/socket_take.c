#include "connectors/socket/socket_take.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* The connection has ended: so has its last record. */
static enum taken socket_take_end(struct socket_take *t, const char *why, uint8_t *to, size_t *got)
{
    bool has_rest = t->kept > 0 || t->is_within;
    if (has_rest) {
        memcpy(to, t->piece, t->kept);
        to[t->kept] = t->delimiter;
        *got = t->kept + 1;
    }
    t->kept = 0;
    t->is_within = false;
    t->is_over = !t->may_reconnect;
    if (t->may_reconnect) {
        dial_lost(t->dial, why);
    }
    return TAKEN_BYTES;
}

/* `to` has `len` bytes from behind the last delimiter on, the last `fresh` of them new. */
static void socket_take_keep(struct socket_take *t, const uint8_t *to, size_t len, size_t fresh,
                             size_t *got)
{
    const uint8_t *end = memrchr(to + len - fresh, t->delimiter, fresh);
    size_t whole = end ? (size_t)(end - to) + 1 : 0;
    bool is_piece = len - whole >= SOCKET_PIECE_MAX;
    *got = is_piece ? len : whole;
    t->kept = (uint32_t)(len - *got);
    memcpy(t->piece, to + *got, t->kept);
    t->is_within = is_piece || (t->is_within && *got == 0);
}

enum taken socket_take(void *take, uint8_t *to, size_t room, size_t *got, struct sr_wait *wait,
                       struct sr_error *err)
{
    struct socket_take *t = take;
    bool has_failed = false;
    *got = 0;
    if (t->is_over) {
        return TAKEN_END;
    }
    if (!dial_connect(t->dial, wait, &has_failed)) {
        if (!has_failed || t->may_reconnect) {
            return TAKEN_NONE;
        }
        (void)t->dial->host->fail(t->dial->host, err, SR_EIO, "%s: %s", t->dial->place,
                                  t->dial->why);
        return TAKEN_FAILED;
    }
    if (room <= t->kept + 1) {
        return TAKEN_NONE; /* the next group takes it */
    }
    ssize_t n = recv(t->dial->fd, to + t->kept, room - t->kept - 1, 0);
    if (n > 0) {
        memcpy(to, t->piece, t->kept);
        socket_take_keep(t, to, t->kept + (size_t)n, (size_t)n, got);
        return TAKEN_BYTES;
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        *wait = (struct sr_wait){.fd = t->dial->fd, .until_us = INT64_MAX};
        return TAKEN_NONE;
    }
    return socket_take_end(
        t, n == 0 ? "the other end closed the connection" : strerrordesc_np(errno), to, got);
}
