/* Requests on the way to one server: libcurl's transfers, which never wait.
 *
 *   http_line_open -> { http_line_send | http_line_turn -> http_line_done* }* -> http_line_close
 *
 * All descriptors of libcurl hang on one of epoll, so that a single one tells when http_line_turn
 * has something to do. Connections stay open between requests.
 */
#ifndef CONNECTORS_HTTP_HTTP_LINE_H
#define CONNECTORS_HTTP_HTTP_LINE_H

#include "connectors/http/http_sink.h"

#define HTTP_EXCERPT_MAX 160u /* bytes of an answer that are shown */

enum http_outcome {
    HTTP_OUTCOME_ANSWERED, /* see status */
    HTTP_OUTCOME_BROKEN,   /* no whole answer came: it may be tried again */
    HTTP_OUTCOME_HOPELESS /* as a certificate that cannot be trusted: no other try will do better */
};

/* What became of a request. */
struct http_result {
    void *tag; /* as given to send */
    enum http_outcome outcome;
    long status;
    int64_t retry_after_us; /* 0: it did not say */
    char words[320];        /* what happened, for people: "answered 503: out of order" */
};

/* One request. The bytes stay the caller's and unchanged until it is done. */
struct http_request {
    void *tag;
    const void *body;
    size_t len;
    const char *key; /* Idempotency-Key */
};

struct http_line;

/* `type`: Content-Type. NULL: see err. */
struct http_line *http_line_open(const struct sr_host *host, const struct http_sink_conf *conf,
                                 const char *type, struct sr_error *err);
void http_line_close(struct http_line *l); /* gives up what is on the way; NULL allowed */
/* Certificates of a handle of libcurl, as the options say. */
void http_line_set_tls(void *easy, const struct http_sink_conf *c);
/* Is a transfer free? */
bool http_line_is_free(const struct http_line *l);
sr_rc http_line_send(struct http_line *l, const struct http_request *r, struct sr_error *err);
/* Carries transfers on as far as they go now. */
sr_rc http_line_turn(struct http_line *l, struct sr_error *err);
/* Takes the answer of one that is over. False: there is none. */
bool http_line_done(struct http_line *l, struct http_result *a);
/* Lowers *wait to when http_line_turn is to be called. */
void http_line_wait(const struct http_line *l, struct sr_wait *wait);

#endif
