/* A listening TCP socket from "host:port", and how it is called then. */
#ifndef CONNECTORS_HTTP_HTTP_LISTEN_H
#define CONNECTORS_HTTP_HTTP_LISTEN_H

#include <streamrun/host.h>

#define HTTP_PLACE 320u /* bytes of "host:port" */

struct http_listen {
    int fd;
    uint16_t port;          /* that the system chose, for port 0 */
    char place[HTTP_PLACE]; /* host:port */
};

/* Is it "host:port", "[ipv6]:port" or ":port"? Else *why says what is wrong. */
bool http_listen_is_place(const char *text, const char **why);
bool http_listen_is_any_port(const char *text); /* port 0: one that is free */
sr_rc http_listen(struct http_listen *out, const struct sr_host *host, const char *text,
                  struct sr_error *err);

#endif
