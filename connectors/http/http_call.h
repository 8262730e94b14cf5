/* One request while it is being received and answered: the part of the server that speaks HTTP.
 *
 * A call is made by the first piece of a request and goes when its answer was sent or its
 * connection is gone. Everything here runs on the server's thread; `http_call_answer` may be called
 * by others, under the server's lock.
 *
 *   RECEIVING --http_server_take--> WAITING --http_call_answer--> ANSWERED
 *       '---- refused, or needs no wait ----------------------------^
 */
#ifndef CONNECTORS_HTTP_HTTP_CALL_H
#define CONNECTORS_HTTP_HTTP_CALL_H

#include <microhttpd.h>

#include "connectors/http/http_peers.h"
#include "connectors/http/http_server.h"

enum http_call_state { HTTP_RECEIVING, HTTP_WAITING, HTTP_ANSWERED };

struct http_call {
    struct http_call *prev, *next; /* of those that wait, oldest first */
    struct MHD_Connection *connection;
    struct http_post *post; /* that it waits for; not owned; NULL: it was given out */
    uint64_t number;        /* of that post */
    enum http_call_state state;
    int64_t since_us;
    struct http_answer answer;
    bool is_suspended;
    uint64_t held; /* bytes of the body that the server counts; 0 when they are given out */
    struct sr_out body;
};

/* What it needs of the server. */
struct http_world {
    const struct sr_host *host;
    const struct http_source_conf *conf;
    struct http_server *server;
    struct http_peers *peers;
};

/* As libmicrohttpd calls: cls is the struct http_world. */
enum MHD_Result http_call_access(void *cls, struct MHD_Connection *connection, const char *url,
                                 const char *method, const char *version, const char *data,
                                 size_t *len, void **call);
void http_call_completed(void *cls, struct MHD_Connection *connection, void **call,
                         enum MHD_RequestTerminationCode how);

void http_call_connected(void *cls, struct MHD_Connection *connection, void **peer,
                         enum MHD_ConnectionNotificationCode what);

/* Under the server's lock: sets the answer and lets the connection go on. */
void http_call_answer(struct http_call *c, const struct http_answer *answer);

/* Of the server, for calls. --------------------------------------------------------------------
 * Is one more of `len` bytes taken now? Else the answer says why. */
bool http_server_may_take(struct http_server *s, uint64_t len, struct http_answer *why);
/* `len` more bytes of the call's body are in memory. False: no room; the answer says so. */
bool http_server_hold(struct http_server *s, struct http_call *c, uint64_t len,
                      struct http_answer *why);
void http_server_unhold(struct http_server *s, struct http_call *c); /* all of them are gone */
/* Takes the post. False: the call waits, its connection suspended; true: c->answer is final. */
bool http_server_take(struct http_server *s, struct http_call *c, struct http_post *post);
void http_server_leave(struct http_server *s, struct http_call *c); /* its connection is gone */
void http_server_enter(struct http_server *s);                      /* a call is made */
void http_server_tally(struct http_server *s, unsigned status);
bool http_server_is_closing(struct http_server *s);

#endif
