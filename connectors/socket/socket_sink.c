/* The socket sink: connects to a server and sends it encoded rows, at-least-once.
 *
 * A checkpoint covers a row once the other end's system has acknowledged its bytes. When the
 * connection breaks, the job goes back to its last checkpoint and sends what came since again.
 */
#include <errno.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "connectors/common/encoder.h"
#include "connectors/common/note.h"
#include "connectors/socket/socket.h"

#define SOCKET_SINK_FULL   ((size_t)256 * 1024) /* bytes that wait: take no more */
#define SOCKET_SINK_ASK_US 2000 /* how soon to ask again whether all was acknowledged */

struct socket_sink_conf {
    const char *hostname;
    int64_t port;
};

struct socket_sink {
    const struct sr_host *host;
    struct encoder encoder;
    struct dial dial;
    struct sr_out buf;
    size_t sent; /* of buf */
    bool has_head;
};

static sr_rc socket_sink_check(const void *conf, const struct sr_schema *schema,
                               struct sr_sink_caps *caps, struct sr_error *err)
{
    (void)conf, (void)schema, (void)err;
    *caps =
        (struct sr_sink_caps){.guarantee = SR_AT_LEAST_ONCE, .takes_changes = true, .parts_max = 1};
    return SR_OK;
}

static sr_rc socket_sink_open(void *sink, const struct sr_sink_open *o, struct sr_error *err)
{
    struct socket_sink *s = sink;
    const struct socket_sink_conf *c = o->conf;
    s->host = o->host;
    s->buf = note_out();
    s->dial.fd = -1;
    sr_rc rc = dial_open(&s->dial, o->host, c->hostname, c->port, err);
    return rc == SR_OK ? encoder_open(&s->encoder, o, err) : rc;
}

static sr_rc socket_sink_fail(struct socket_sink *s, const char *why, struct sr_error *err)
{
    return s->host->fail(s->host, err, SR_EIO, "%s: %s", s->dial.place, why);
}

/* Sends what waits. SR_EBUSY: not all could be, see wait. */
static sr_rc socket_sink_drain(struct socket_sink *s, struct sr_wait *wait, struct sr_error *err)
{
    bool has_failed = false;
    if (s->sent == s->buf.len) {
        return SR_OK;
    }
    if (!dial_connect(&s->dial, wait, &has_failed)) {
        return has_failed ? socket_sink_fail(s, s->dial.why, err) : SR_EBUSY;
    }
    while (s->sent < s->buf.len) {
        ssize_t n = send(s->dial.fd, s->buf.data + s->sent, s->buf.len - s->sent, MSG_NOSIGNAL);
        if (n >= 0) {
            s->sent += (size_t)n;
        } else if (errno == EAGAIN) {
            *wait = (struct sr_wait){.fd = s->dial.fd, .is_write = true, .until_us = INT64_MAX};
            return SR_EBUSY;
        } else if (errno != EINTR) {
            return socket_sink_fail(s, strerrordesc_np(errno), err);
        }
    }
    s->buf.len = s->sent = 0;
    return SR_OK;
}

static sr_rc socket_sink_write(void *sink, const struct sr_view *v, uint32_t from, uint32_t *done,
                               struct sr_wait *wait, struct sr_error *err)
{
    struct socket_sink *s = sink;
    sr_rc rc = s->buf.len - s->sent < SOCKET_SINK_FULL ? SR_OK : socket_sink_drain(s, wait, err);
    if (rc != SR_OK) {
        return rc;
    }
    if (!s->has_head) {
        rc = encoder_head(&s->encoder, &s->buf, err);
        s->has_head = rc == SR_OK;
    }
    if (rc == SR_OK) {
        rc = encoder_rows(&s->encoder, v, from, &s->buf, done, err);
    }
    if (rc != SR_OK || s->buf.len - s->sent < SOCKET_SINK_FULL) {
        return rc;
    }
    struct sr_wait later; /* what does not go out now goes with a later call */
    rc = socket_sink_drain(s, &later, err);
    return rc == SR_EBUSY ? SR_OK : rc;
}

static sr_rc socket_sink_flush(void *sink, struct sr_wait *wait, struct sr_error *err)
{
    return socket_sink_drain(sink, wait, err);
}

/* Has the other end closed? It may have sent something, which nobody reads. */
static bool socket_sink_is_closed(const struct socket_sink *s)
{
    uint8_t byte;
    ssize_t n = recv(s->dial.fd, &byte, 1, MSG_PEEK);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

static sr_rc socket_sink_prepare(void *sink, uint64_t checkpoint, bool is_last,
                                 struct sr_notes *notes, struct sr_wait *wait, struct sr_error *err)
{
    (void)checkpoint, (void)is_last, (void)notes;
    struct socket_sink *s = sink;
    sr_rc rc = socket_sink_drain(s, wait, err);
    if (rc != SR_OK || !s->dial.is_on) {
        return rc; /* off: no row was ever sent */
    }
    int unacknowledged = 0;
    if (ioctl(s->dial.fd, SIOCOUTQ, &unacknowledged) != 0) {
        return socket_sink_fail(s, strerrordesc_np(errno), err);
    }
    if (unacknowledged > 0) {
        if (socket_sink_is_closed(s)) {
            return socket_sink_fail(s, "the other end closed the connection", err);
        }
        *wait =
            (struct sr_wait){.fd = -1, .until_us = s->host->mono_us(s->host) + SOCKET_SINK_ASK_US};
        return SR_EBUSY;
    }
    return SR_OK;
}

static sr_rc socket_sink_commit(void *sink, uint64_t checkpoint, struct sr_bytes note,
                                struct sr_error *err)
{
    (void)sink, (void)checkpoint, (void)note, (void)err;
    return SR_OK; /* there is nothing to show */
}

static void socket_sink_close(void *sink)
{
    struct socket_sink *s = sink;
    dial_close(&s->dial);
    encoder_close(&s->encoder);
    note_free(&s->buf);
}

static const struct sr_opt socket_sink_opts[] = {
    SR_OPT(struct socket_sink_conf, "hostname", hostname, .flags = SR_OPT_REQUIRED,
           .doc = "The server to connect to."),
    SR_OPT(struct socket_sink_conf, "port", port, .flags = SR_OPT_REQUIRED, .min = 1, .max = 65535,
           .doc = "Its TCP port."),
    SR_OPT_END};

const struct sr_sink_type socket_sink_type = {
    .size = sizeof(struct sr_sink_type),
    .name = "socket",
    .doc = "A TCP server, in any format, at-least-once.",
    .keeps = "at-least-once: a checkpoint waits until the other end's system has the bytes; what "
             "its program has not read is lost with it",
    .opts = socket_sink_opts,
    .conf_size = sizeof(struct socket_sink_conf),
    .sink_size = sizeof(struct socket_sink),
    .check = socket_sink_check,
    .open = socket_sink_open,
    .write = socket_sink_write,
    .flush = socket_sink_flush,
    .prepare = socket_sink_prepare,
    .commit = socket_sink_commit,
    .close = socket_sink_close,
};
