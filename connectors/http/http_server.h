/* The server of the http source: a thread of libmicrohttpd that takes requests and answers them.
 *
 *   open -> go -> { pop | tend | acknowledge }* -> stop -> free          by the reader
 *
 *   request --accepted--> queue --scribe: synced--> ready --pop--> the reader
 *              |            '------ no journal ---->'
 *              '-- refused: 4xx, 503
 *
 * A call is answered 200 when its post is safe: synced in the journal; without one, when it is
 * ready, or with HTTP_CHECKPOINT when http_server_acknowledge has its number. What is queued and
 * ready takes `buffer_max` bytes; what comes then, while a journal is full, or before
 * http_server_go, is answered 503 with Retry-After. A call that waits longer than request_timeout
 * is too; what it brought may be taken all the same, and is taken again when it is sent again.
 *
 * One lock guards what the threads share; it is never held while anybody waits for the disk.
 */
#ifndef CONNECTORS_HTTP_HTTP_SERVER_H
#define CONNECTORS_HTTP_HTTP_SERVER_H

#include "connectors/common/scribe.h"
#include "connectors/http/http_post.h"
#include "connectors/http/http_source.h"

#define HTTP_CONNECTIONS_MAX 1024u /* at once; further ones wait in the listen queue */

struct http_server;

sr_rc http_server_open(struct http_server **out, const struct sr_host *host,
                       const struct http_source_conf *conf, struct sr_error *err);
/* Takes nothing more, answers what can be answered, within 5 s, and stops. NULL allowed. */
void http_server_stop(struct http_server *s);
void http_server_free(struct http_server *s); /* when stopped, and the scribe closed */

/* From now on requests are taken; numbers go on above `taken`. */
void http_server_go(struct http_server *s, struct scribe *scribe, uint64_t taken);
void http_server_told(void *server); /* for the scribe */
/* No more requests are taken, or they are again. True: all that were taken were given out. */
bool http_server_halt(struct http_server *s, bool is_halted);

/* The next one, the caller's; NULL: none is ready. SR_EIO: the journal failed. */
sr_rc http_server_pop(struct http_server *s, struct http_post **out, struct sr_error *err);
int http_server_fd(const struct http_server *s); /* readable: something became ready */
/* Looks after calls that wait too long, and tries a full disk again; answers when to do it next. */
int64_t http_server_tend(struct http_server *s, int64_t now_us);
/* A checkpoint has those up to `number`. */
void http_server_acknowledge(struct http_server *s, uint64_t number);

/* Of what came since it was asked last. */
struct http_counts {
    int64_t requests, busy, bad; /* all; answered 503; answered 4xx */
};
struct http_counts http_server_counts(struct http_server *s);
const char *http_server_place(const struct http_server *s); /* "http://127.0.0.1:8080/" */
uint16_t http_server_port(const struct http_server *s);

#endif
