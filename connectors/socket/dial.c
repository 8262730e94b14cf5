#include "connectors/socket/dial.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DIAL_TRY_US     INT64_C(10000000) /* a connection that is not made by then is given up */
#define DIAL_FIRST_US   INT64_C(100000)   /* the first pause */
#define DIAL_LONGEST_US INT64_C(10000000) /* the longest one */

sr_rc dial_open(struct dial *d, const struct sr_host *host, const char *name, int64_t port,
                struct sr_error *err)
{
    *d = (struct dial){.host = host, .fd = -1};
    char service[24];
    (void)snprintf(service, sizeof(service), "%d", (int)port);
    (void)snprintf(d->place, sizeof(d->place), "%s:%s", name, service);
    struct addrinfo want = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    int code = getaddrinfo(name, service, &want, &d->all);
    if (code != 0) {
        d->all = NULL;
        return host->fail(host, err, SR_EIO, "%s: cannot look up the name: %s", d->place,
                          code == EAI_SYSTEM ? strerrordesc_np(errno) : gai_strerror(code));
    }
    d->next = d->all;
    return SR_OK;
}

static void dial_hang_up(struct dial *d)
{
    if (d->fd >= 0) {
        (void)close(d->fd); /* whatever was in flight is given up */
    }
    d->fd = -1;
    d->is_on = false;
}

void dial_lost(struct dial *d, const char *why)
{
    bool was_on = d->is_on;
    dial_hang_up(d);
    (void)snprintf(d->why, sizeof(d->why), "%s", why);
    if (!d->has_said) {
        d->host->log(d->host, SR_WARN, "%s: %s; trying again", d->place, why);
    }
    d->has_said = true;
    d->next = d->next && d->next->ai_next ? d->next->ai_next : d->all;
    d->pause_us = was_on || d->pause_us == 0 ? DIAL_FIRST_US : d->pause_us * 2;
    d->pause_us = d->pause_us < DIAL_LONGEST_US ? d->pause_us : DIAL_LONGEST_US;
    d->due_us = d->host->mono_us(d->host) + d->pause_us;
}

/* Begins a try. False: it failed at once. */
static bool dial_begin(struct dial *d)
{
    const struct addrinfo *a = d->next;
    d->fd = socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, a->ai_protocol);
    if (d->fd < 0) {
        dial_lost(d, strerrordesc_np(errno));
        return false;
    }
    d->deadline_us = d->host->mono_us(d->host) + DIAL_TRY_US;
    if (connect(d->fd, a->ai_addr, a->ai_addrlen) != 0 && errno != EINPROGRESS) {
        dial_lost(d, strerrordesc_np(errno));
        return false;
    }
    return true;
}

static void dial_is_up(struct dial *d)
{
    int one = 1;
    (void)setsockopt(d->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)); /* only slower without */
    if (d->has_said) {
        d->host->log(d->host, SR_INFO, "%s: connected", d->place);
    }
    d->is_on = true;
    d->has_said = false;
    d->pause_us = 0;
}

/* How the try went. True: it goes on. */
static bool dial_look(struct dial *d)
{
    struct sockaddr_storage peer;
    socklen_t len = sizeof(peer);
    if (getpeername(d->fd, (struct sockaddr *)(void *)&peer, &len) == 0) {
        dial_is_up(d);
        return true;
    }
    int code = 0;
    len = sizeof(code);
    (void)getsockopt(d->fd, SOL_SOCKET, SO_ERROR, &code, &len); /* 0: nothing is known yet */
    bool is_late = d->host->mono_us(d->host) >= d->deadline_us;
    if (code != 0 || is_late) {
        dial_lost(d, code != 0 ? strerrordesc_np(code) : "no answer");
        return false;
    }
    return true;
}

bool dial_connect(struct dial *d, struct sr_wait *wait, bool *has_failed)
{
    if (d->is_on) {
        return true;
    }
    bool is_trying = d->fd >= 0;
    if (!is_trying && d->host->mono_us(d->host) < d->due_us) {
        *wait = (struct sr_wait){.fd = -1, .until_us = d->due_us};
        return false;
    }
    bool goes_on = is_trying ? dial_look(d) : dial_begin(d);
    if (!goes_on) {
        if (has_failed) {
            *has_failed = true;
        }
        *wait = (struct sr_wait){.fd = -1, .until_us = d->due_us};
    } else if (!d->is_on) {
        *wait = (struct sr_wait){.fd = d->fd, .is_write = true, .until_us = d->deadline_us};
    }
    return d->is_on;
}

void dial_close(struct dial *d)
{
    if (!d->host) {
        return;
    }
    dial_hang_up(d);
    if (d->all) {
        freeaddrinfo(d->all);
    }
    d->all = d->next = NULL;
}
