#include "connectors/http/http_listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HTTP_BACKLOG 1024

/* "host:port" in two; the brackets of an IPv6 address go. */
static bool http_listen_split(const char *text, char host[HTTP_PLACE], const char **port,
                              const char **why)
{
    const char *colon = strrchr(text, ':');
    *why = "write it as host:port, as 127.0.0.1:8080 or 0.0.0.0:8080";
    if (!colon || colon[1] == '\0' || strspn(colon + 1, "0123456789") != strlen(colon + 1) ||
        strlen(colon + 1) > 5 || strtoul(colon + 1, NULL, 10) > UINT16_MAX) {
        return false;
    }
    size_t len = (size_t)(colon - text);
    bool has_brackets = len >= 2 && text[0] == '[' && colon[-1] == ']';
    if (!has_brackets && memchr(text, ':', len)) {
        *why = "an IPv6 address stands in brackets, as in [::1]:8080";
        return false;
    }
    text += has_brackets ? 1 : 0;
    len -= has_brackets ? 2 : 0;
    if (len >= HTTP_PLACE - 16) {
        *why = "the name is too long";
        return false;
    }
    memcpy(host, text, len);
    host[len] = '\0';
    *port = colon + 1;
    return true;
}

bool http_listen_is_place(const char *text, const char **why)
{
    char host[HTTP_PLACE];
    const char *port;
    return http_listen_split(text, host, &port, why);
}

bool http_listen_is_any_port(const char *text)
{
    char host[HTTP_PLACE];
    const char *port, *why;
    return http_listen_split(text, host, &port, &why) && strtoul(port, NULL, 10) == 0;
}

static int http_listen_at(const struct addrinfo *a)
{
    int one = 1;
    int fd = socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, a->ai_protocol);
    if (fd < 0) {
        return -1;
    }
    /* A job that starts again must not wait for connections of its last life. */
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (bind(fd, a->ai_addr, a->ai_addrlen) != 0 || listen(fd, HTTP_BACKLOG) != 0) {
        int code = errno;
        (void)close(fd);
        errno = code;
        return -1;
    }
    return fd;
}

static uint16_t http_listen_port(int fd)
{
    struct sockaddr_storage at = {0};
    socklen_t len = sizeof(at);
    uint16_t port = 0;
    if (getsockname(fd, (struct sockaddr *)(void *)&at, &len) == 0) {
        /* The port stands at the same place in both families. */
        memcpy(&port, (const uint8_t *)&at + offsetof(struct sockaddr_in, sin_port), sizeof(port));
    }
    return ntohs(port);
}

sr_rc http_listen(struct http_listen *out, const struct sr_host *host, const char *text,
                  struct sr_error *err)
{
    char name[HTTP_PLACE];
    const char *port = NULL, *why = NULL;
    *out = (struct http_listen){.fd = -1};
    if (!http_listen_split(text, name, &port, &why)) {
        return host->fail(host, err, SR_ECONFIG, "listen: %s: %s", text, why);
    }
    struct addrinfo want = {.ai_family = AF_UNSPEC,
                            .ai_socktype = SOCK_STREAM,
                            .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *all = NULL;
    int code = getaddrinfo(name[0] ? name : NULL, port, &want, &all);
    if (code != 0) {
        return host->fail(host, err, SR_EIO, "listen: %s: cannot look up the name: %s", text,
                          code == EAI_SYSTEM ? strerrordesc_np(errno) : gai_strerror(code));
    }
    for (const struct addrinfo *a = all; a && out->fd < 0; a = a->ai_next) {
        out->fd = http_listen_at(a);
        code = errno;
    }
    freeaddrinfo(all);
    if (out->fd < 0) {
        return host->fail(host, err, code == EACCES ? SR_EACCESS : SR_EIO,
                          "cannot listen at %s: %s", text, strerrordesc_np(code));
    }
    out->port = http_listen_port(out->fd);
    const char *colon = strrchr(text, ':');
    (void)snprintf(out->place, sizeof(out->place), "%.*s:%u",
                   colon == text ? 1 : (int)(colon - text), colon == text ? "*" : text, out->port);
    return SR_OK;
}
