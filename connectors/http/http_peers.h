/* The connections of the http server, so that none is kept by sending ever so little.
 *
 *   STARTED -> waits for a request -http_peer_came-> its body comes -http_peer_whole-> is answered
 *                      ^-------------------------------http_peer_rests----------------------'
 *
 * The library closes what is silent. What trickles is cut off here: a request must be whole
 * HTTP_PEER_US after its connection began to wait for it, and later only by a second for each
 * HTTP_PEER_RATE bytes of body that came. Any thread; the lock is its own. */
#ifndef CONNECTORS_HTTP_HTTP_PEERS_H
#define CONNECTORS_HTTP_HTTP_PEERS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define HTTP_PEER_US   INT64_C(60000000)
#define HTTP_PEER_RATE 1024u /* bytes a second, at least */

struct http_peer {
    struct http_peer *prev, *next;
    int fd;           /* not owned; good as long as it is in the list */
    bool is_whole;    /* its request is: it waits for us */
    uint64_t bytes;   /* of the body of its request */
    int64_t since_us; /* that it waits for a request */
};

struct http_peers {
    pthread_mutex_t lock;
    bool has_lock;
    struct http_peer *first;
};

bool http_peers_init(struct http_peers *l);
void http_peers_done(struct http_peers *l); /* when no connection is left; zeroed allowed */

/* NULL: no memory is left; the others allow NULL, and such a connection is not looked after. */
struct http_peer *http_peer_add(struct http_peers *l, int fd, int64_t now_us);
void http_peer_remove(struct http_peers *l, struct http_peer *p);
void http_peer_came(struct http_peers *l, struct http_peer *p, uint64_t bytes); /* of the body */
void http_peer_whole(struct http_peers *l, struct http_peer *p);
void http_peer_rests(struct http_peers *l, struct http_peer *p, int64_t now_us);

/* Shuts down those that are too slow. True: there are others that may be so later. */
bool http_peers_expire(struct http_peers *l, int64_t now_us);

#endif
