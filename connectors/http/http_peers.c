#include "connectors/http/http_peers.h"

#include <stdlib.h>
#include <sys/socket.h>

bool http_peers_init(struct http_peers *l)
{
    l->has_lock = pthread_mutex_init(&l->lock, NULL) == 0;
    return l->has_lock;
}

void http_peers_done(struct http_peers *l)
{
    if (l->has_lock) {
        (void)pthread_mutex_destroy(&l->lock);
    }
    l->has_lock = false;
}

struct http_peer *http_peer_add(struct http_peers *l, int fd, int64_t now_us)
{
    struct http_peer *p = calloc(1, sizeof(*p));
    if (!p) {
        return NULL;
    }
    p->fd = fd;
    p->since_us = now_us;
    pthread_mutex_lock(&l->lock);
    p->next = l->first;
    if (p->next) {
        p->next->prev = p;
    }
    l->first = p;
    pthread_mutex_unlock(&l->lock);
    return p;
}

void http_peer_remove(struct http_peers *l, struct http_peer *p)
{
    if (!p) {
        return;
    }
    pthread_mutex_lock(&l->lock);
    *(p->prev ? &p->prev->next : &l->first) = p->next;
    if (p->next) {
        p->next->prev = p->prev;
    }
    pthread_mutex_unlock(&l->lock);
    free(p);
}

void http_peer_came(struct http_peers *l, struct http_peer *p, uint64_t bytes)
{
    if (p) {
        pthread_mutex_lock(&l->lock);
        p->bytes += bytes;
        pthread_mutex_unlock(&l->lock);
    }
}

void http_peer_whole(struct http_peers *l, struct http_peer *p)
{
    if (p) {
        pthread_mutex_lock(&l->lock);
        p->is_whole = true;
        pthread_mutex_unlock(&l->lock);
    }
}

void http_peer_rests(struct http_peers *l, struct http_peer *p, int64_t now_us)
{
    if (p) {
        pthread_mutex_lock(&l->lock);
        p->is_whole = false;
        p->bytes = 0;
        p->since_us = now_us;
        pthread_mutex_unlock(&l->lock);
    }
}

bool http_peers_expire(struct http_peers *l, int64_t now_us)
{
    bool has_others = false;
    pthread_mutex_lock(&l->lock);
    for (struct http_peer *p = l->first; p; p = p->next) {
        int64_t more_us = (int64_t)(p->bytes / HTTP_PEER_RATE) * 1000000;
        if (p->is_whole) {
            continue;
        }
        if (now_us - p->since_us > HTTP_PEER_US + more_us) {
            (void)shutdown(p->fd, SHUT_RDWR); /* it may be gone: the library closes it */
        } else {
            has_others = true;
        }
    }
    pthread_mutex_unlock(&l->lock);
    return has_others;
}
