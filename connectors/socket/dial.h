/* A TCP connection to one place, made without waiting.
 *
 *            dial_connect                 connected
 *   off ----------------> connecting ---------------------> on
 *    ^                        | refused, timed out           |
 *    '------- due later <-----'------------ dial_lost <------'
 *
 * The name is looked up when it is opened, which may take as long as the resolver takes.
 */
#ifndef CONNECTORS_SOCKET_DIAL_H
#define CONNECTORS_SOCKET_DIAL_H

#include <streamrun/connector.h>

#define DIAL_PLACE 300u /* bytes of "host:port" */

struct addrinfo;

struct dial {
    const struct sr_host *host;
    char place[DIAL_PLACE];
    struct addrinfo *all, *next; /* addresses of the name; the one to be tried next */
    int fd;                      /* -1: off */
    bool is_on;
    int64_t due_us;      /* monotonic: not tried again before that; 0: at once */
    int64_t deadline_us; /* of the try that goes on */
    int64_t pause_us;    /* the last one */
    bool has_said;       /* that it is down, since it was up */
    char why[160];       /* it is down */
};

sr_rc dial_open(struct dial *d, const struct sr_host *host, const char *name, int64_t port,
                struct sr_error *err);
/* True: it is on. Else *wait says when to ask again; has_failed (or NULL): a try was in vain. */
bool dial_connect(struct dial *d, struct sr_wait *wait, bool *has_failed);
/* Closes it; `why` is said once, and the next try comes after a pause that grows to 10 s. */
void dial_lost(struct dial *d, const char *why);
void dial_close(struct dial *d);

#endif
