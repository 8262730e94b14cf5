#include "connectors/http/http_call.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "connectors/http/http_coding.h"

#define HTTP_RETRY_AFTER "1" /* seconds */

/* --- Answers --------------------------------------------------------------------------------- */

static void http_call_say(struct MHD_Response *r, const char *name, const char *value)
{
    (void)MHD_add_response_header(r, name, value); /* the answer goes without it */
}

static enum MHD_Result http_call_send(const struct http_world *w, struct MHD_Connection *connection,
                                      const struct http_answer *a)
{
    size_t len = strlen(a->words);
    union { /* the library takes bytes that it will not write as writable */
        const char *words;
        void *bytes;
    } body = {.words = a->words};
    struct MHD_Response *r =
        MHD_create_response_from_buffer(len, body.bytes, MHD_RESPMEM_PERSISTENT);
    if (!r) {
        return MHD_NO;
    }
    http_call_say(r, "Content-Type", "text/plain; charset=utf-8");
    if (a->status == MHD_HTTP_SERVICE_UNAVAILABLE) {
        http_call_say(r, "Retry-After", HTTP_RETRY_AFTER);
    }
    if (a->status == MHD_HTTP_METHOD_NOT_ALLOWED) {
        http_call_say(r, "Allow", "POST, PUT");
    }
    if (a->status == MHD_HTTP_UNAUTHORIZED) {
        http_call_say(r, "WWW-Authenticate", "Bearer");
    }
    if (http_server_is_closing(w->server)) {
        http_call_say(r, "Connection", "close");
    }
    http_server_tally(w->server, a->status);
    enum MHD_Result sent = MHD_queue_response(connection, a->status, r);
    MHD_destroy_response(r);
    return sent;
}

void http_call_answer(struct http_call *c, const struct http_answer *answer)
{
    c->answer = *answer;
    c->state = HTTP_ANSWERED;
    if (c->is_suspended) {
        c->is_suspended = false;
        MHD_resume_connection(c->connection);
    }
}

/* --- The connection -------------------------------------------------------------------------- */

static struct http_peer *http_call_peer(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

void http_call_connected(void *cls, struct MHD_Connection *connection, void **peer,
                         enum MHD_ConnectionNotificationCode what)
{
    const struct http_world *w = cls;
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        http_peer_remove(w->peers, *peer);
        *peer = NULL;
        return;
    }
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    int64_t now_us = w->host->mono_us(w->host);
    (void)http_peers_expire(w->peers, now_us); /* the reader may be held up */
    *peer = info ? http_peer_add(w->peers, info->connect_fd, now_us) : NULL;
}

/* --- The first look -------------------------------------------------------------------------- */

static const char *http_call_header(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* In a time that does not tell how much of it was right. */
static bool http_call_has_token(const char *token, const char *given)
{
    static const char scheme[] = "Bearer ";
    if (!given || strncasecmp(given, scheme, sizeof(scheme) - 1) != 0) {
        return false;
    }
    given += sizeof(scheme) - 1;
    size_t len = strlen(token), other = strlen(given);
    unsigned differs = len == other ? 0 : 1;
    for (size_t i = 0; i < other; i++) {
        differs |= (unsigned)(given[i] ^ token[len > 0 ? i % len : 0]);
    }
    return differs == 0 && len > 0;
}

/* What its headers say of where the body ends. */
struct http_framing {
    const char *length; /* NULL: none */
    bool is_chunked, is_unclear;
};

static enum MHD_Result http_call_frame(void *framing, enum MHD_ValueKind kind, const char *name,
                                       const char *value)
{
    (void)kind;
    struct http_framing *f = framing;
    value = value ? value : "";
    if (strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0) {
        f->is_unclear = f->is_unclear || (f->length && strcmp(f->length, value) != 0);
        f->length = value;
    } else if (strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0) {
        f->is_unclear = f->is_unclear || f->is_chunked || strcasecmp(value, "chunked") != 0;
        f->is_chunked = true;
    }
    return MHD_YES;
}

/* A proxy in front may see another end of the body than we do: one sender could then put requests
 * into the connection of another. */
static bool http_call_is_unclear(struct MHD_Connection *connection)
{
    struct http_framing f = {0};
    (void)MHD_get_connection_values(connection, MHD_HEADER_KIND, http_call_frame, &f);
    return f.is_unclear || (f.length && f.is_chunked);
}

/* Refused before its body is read? */
static bool http_call_is_refused(const struct http_world *w, struct MHD_Connection *connection,
                                 const char *url, const char *method, struct http_answer *a)
{
    const struct http_source_conf *k = w->conf;
    const char *length = http_call_header(connection, "Content-Length");
    unsigned long long bytes = length ? strtoull(length, NULL, 10) : 0;
    if (http_call_is_unclear(connection)) {
        *a = (struct http_answer){MHD_HTTP_BAD_REQUEST,
                                  "Content-Length and Transfer-Encoding contradict each other, or "
                                  "the latter is not chunked\n"};
    } else if (strcmp(url, k->path) != 0) {
        *a = (struct http_answer){MHD_HTTP_NOT_FOUND, "there is nothing here\n"};
    } else if (strcmp(method, "POST") != 0 && strcmp(method, "PUT") != 0) {
        *a = (struct http_answer){MHD_HTTP_METHOD_NOT_ALLOWED, "records are sent by POST or PUT\n"};
    } else if (k->token &&
               !http_call_has_token(k->token, http_call_header(connection, "Authorization"))) {
        *a = (struct http_answer){MHD_HTTP_UNAUTHORIZED, "the bearer token is missing or wrong\n"};
    } else if (bytes > k->body_max.bytes) {
        *a = (struct http_answer){MHD_HTTP_CONTENT_TOO_LARGE, "the body is too large\n"};
    } else {
        return !http_server_may_take(w->server, bytes, a);
    }
    return true;
}

static bool http_call_is_health(const struct http_source_conf *k, const char *url,
                                const char *method)
{
    return k->health_path[0] && strcmp(url, k->health_path) == 0 &&
           (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0);
}

static enum MHD_Result http_call_begin(const struct http_world *w,
                                       struct MHD_Connection *connection, const char *url,
                                       const char *method, void **call)
{
    struct http_answer a = {MHD_HTTP_OK, "ok\n"};
    struct http_call *c = calloc(1, sizeof(*c));
    if (!c) {
        return MHD_NO;
    }
    c->connection = connection;
    c->body = note_out();
    *call = c;
    http_server_enter(w->server);
    if (http_call_is_health(w->conf, url, method)) {
        (void)http_server_may_take(w->server, 0, &a);
        c->answer = a;
        c->state = HTTP_ANSWERED; /* sent when the request is complete: the connection stays */
        return MHD_YES;
    }
    if (http_call_is_refused(w, connection, url, method, &a)) {
        return http_call_send(w, connection, &a);
    }
    return MHD_YES;
}

/* --- The body -------------------------------------------------------------------------------- */

/* What is too long is read on for a while, so that the sender hears why. */
static enum MHD_Result http_call_collect(const struct http_world *w, struct http_call *c,
                                         const char *data, size_t *len)
{
    uint64_t most = w->conf->body_max.bytes;
    size_t some = *len;
    *len = 0;
    http_peer_came(w->peers, http_call_peer(c->connection), some);
    if (c->answer.status == 0 && c->body.len + some > most) {
        c->answer = (struct http_answer){MHD_HTTP_CONTENT_TOO_LARGE, "the body is too large\n"};
    }
    if (c->answer.status != 0) {
        c->body.len += some;
        return c->body.len <= most * 2 + (1u << 20) ? MHD_YES : MHD_NO;
    }
    if (!http_server_hold(w->server, c, some, &c->answer)) {
        note_free(&c->body);
        http_server_unhold(w->server, c);
        return MHD_YES;
    }
    uint8_t *to = sr_out_room(&c->body, some);
    if (!to) {
        return MHD_NO;
    }
    memcpy(to, data, some);
    c->body.len += some;
    return MHD_YES;
}

static void http_call_remote(struct MHD_Connection *connection, char *to, socklen_t size)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *a = info ? info->client_addr : NULL;
    to[0] = '\0';
    if (a && a->sa_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, a, sizeof(in));
        (void)inet_ntop(AF_INET, &in.sin_addr, to, size);
    } else if (a && a->sa_family == AF_INET6) {
        struct sockaddr_in6 in;
        memcpy(&in, a, sizeof(in));
        (void)inet_ntop(AF_INET6, &in.sin6_addr, to, size);
    }
}

/* The post, with the headers that are kept. NULL: there is no memory, or too much in them. */
static struct http_post *http_call_post(const struct http_world *w, struct http_call *c,
                                        const char *url, const char *method,
                                        const struct sr_out *body)
{
    char remote[INET6_ADDRSTRLEN];
    uint32_t all = w->conf->headers.count, n = 0;
    const char **name = calloc((size_t)all * 2 + 1, sizeof(*name));
    if (!name) {
        return NULL;
    }
    const char **value = name + all;
    for (uint32_t i = 0; i < all; i++) {
        const char *there = http_call_header(c->connection, w->conf->headers.item[i]);
        if (there) {
            name[n] = w->conf->headers.item[i];
            value[n++] = there;
        }
    }
    http_call_remote(c->connection, remote, sizeof(remote));
    const char *type = http_call_header(c->connection, "Content-Type");
    const struct sr_pairs kept = {.count = n, .key = name, .value = value};
    const struct http_about about = {.method = method,
                                     .path = url,
                                     .remote = remote,
                                     .content_type = type ? type : "",
                                     .headers = &kept,
                                     .wall_us = w->host->wall_us(w->host)};
    struct http_post *p = http_post_new(&about, body->data, (uint32_t)body->len);
    free(name);
    return p;
}

/* The whole request is here. True: its answer is known. */
static bool http_call_finish(const struct http_world *w, struct http_call *c, const char *url,
                             const char *method)
{
    struct sr_out plain = note_out();
    const char *coding = http_call_header(c->connection, "Content-Encoding");
    c->since_us = w->host->mono_us(w->host);
    http_peer_whole(w->peers, http_call_peer(c->connection));
    if (c->answer.status == 0) {
        c->answer = http_decode(coding, &c->body, w->conf->body_max.bytes, &plain);
    }
    const struct sr_out *body = plain.data ? &plain : &c->body;
    bool is_there = c->answer.status == 0 && body->len > 0;
    if (c->answer.status == 0) {
        c->answer = (struct http_answer){MHD_HTTP_OK, "ok\n"};
    }
    struct http_post *post = is_there ? http_call_post(w, c, url, method, body) : NULL;
    note_free(&plain);
    note_free(&c->body);
    http_server_unhold(w->server, c);
    if (post) {
        return http_server_take(w->server, c, post);
    }
    c->state = HTTP_ANSWERED;
    if (is_there) {
        c->answer = (struct http_answer){MHD_HTTP_SERVICE_UNAVAILABLE, "no memory is left\n"};
    }
    return true;
}

/* NOLINTNEXTLINE(readability-function-size): the library calls it so */
enum MHD_Result http_call_access(void *cls, struct MHD_Connection *connection, const char *url,
                                 const char *method, const char *version, const char *data,
                                 size_t *len, void **call)
{
    (void)version;
    const struct http_world *w = cls;
    struct http_call *c = *call;
    if (!c) {
        return http_call_begin(w, connection, url, method, call);
    }
    if (*len > 0) {
        return http_call_collect(w, c, data, len);
    }
    if (c->state == HTTP_RECEIVING && !http_call_finish(w, c, url, method)) {
        return MHD_YES; /* called again when it goes on */
    }
    return http_call_send(w, connection, &c->answer);
}

void http_call_completed(void *cls, struct MHD_Connection *connection, void **call,
                         enum MHD_RequestTerminationCode how)
{
    (void)how;
    const struct http_world *w = cls;
    struct http_call *c = *call;
    http_peer_rests(w->peers, http_call_peer(connection), w->host->mono_us(w->host));
    if (c) {
        http_server_leave(w->server, c);
        note_free(&c->body);
        free(c);
    }
    *call = NULL;
}
