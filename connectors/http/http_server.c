#include "connectors/http/http_server.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "connectors/http/http_call.h"
#include "connectors/http/http_listen.h"
#include "connectors/http/http_tls.h"

#define HTTP_GROUP_BYTES (2u << 20)       /* synced at once, unless one post is larger */
#define HTTP_RETRY_US    100000           /* until a full disk is tried again */
#define HTTP_LOOK_US     INT64_C(1000000) /* between looks for calls that wait too long */
#define HTTP_CLOSE_S     5                /* that a close waits for answers to be sent */
#define HTTP_IDLE_S      60u              /* that a silent connection is kept */

/* Posts, oldest first. */
struct http_posts {
    struct http_post *first, *last;
};

struct http_server {
    struct http_world world;
    struct http_listen listen;
    struct MHD_Daemon *daemon;
    struct http_tls tls;
    struct http_peers peers;
    char place[HTTP_PLACE + 128];
    int fd; /* eventfd */
    bool has_lock;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t left;  /* a call went */
    bool is_going, is_halted, is_closing, is_broken;
    struct sr_error error; /* when broken */
    struct scribe *scribe; /* borrowed; NULL: no journal */
    struct http_posts queue, flying, ready;
    uint8_t *group;      /* bytes of those that fly; owned */
    uint64_t held_bytes; /* of all posts, and of bodies that are being received */
    uint64_t taken;      /* number of the newest post */
    int64_t retry_us;    /* no space: the scribe tries again then; 0: there is space */
    struct http_call *oldest, *newest; /* that wait */
    uint32_t calls;
    struct http_counts counts;
};

/* --- Posts and calls ------------------------------------------------------------------------- */

static void http_posts_add(struct http_posts *l, struct http_post *p)
{
    p->next = NULL;
    *(l->first ? &l->last->next : &l->first) = p;
    l->last = p;
}

static struct http_post *http_posts_take(struct http_posts *l)
{
    struct http_post *p = l->first;
    if (p) {
        l->first = p->next;
        p->next = NULL;
    }
    return p;
}

static void http_posts_move(struct http_posts *from, struct http_posts *to)
{
    while (from->first) {
        http_posts_add(to, http_posts_take(from));
    }
}

static void http_server_unlink(struct http_server *s, struct http_call *c)
{
    *(c->prev ? &c->prev->next : &s->oldest) = c->next;
    *(c->next ? &c->next->prev : &s->newest) = c->prev;
    c->prev = c->next = NULL;
    if (c->post) {
        c->post->call = NULL;
    }
    c->post = NULL;
}

static void http_server_answer(struct http_server *s, struct http_call *c,
                               const struct http_answer *a)
{
    http_server_unlink(s, c);
    http_call_answer(c, a);
}

static const struct http_answer http_ok = {MHD_HTTP_OK, "ok\n"};
static const struct http_answer http_late = {MHD_HTTP_SERVICE_UNAVAILABLE,
                                             "not safe yet; it may be taken all the same\n"};

/* Under the lock: those that wait too long. */
static void http_server_expire(struct http_server *s, int64_t now_us)
{
    int64_t late_us = now_us - s->world.conf->request_timeout.us;
    while (s->oldest && s->oldest->since_us < late_us) {
        http_server_answer(s, s->oldest, &http_late);
    }
}

/* What is queued, and nowhere else yet, is not taken. */
static void http_server_refuse(struct http_server *s, const struct http_answer *why)
{
    struct http_post *p;
    while ((p = http_posts_take(&s->queue))) {
        if (p->call) {
            http_server_answer(s, p->call, why);
        }
        s->held_bytes -= p->len;
        http_post_free(p);
    }
}

static void http_server_wake(const struct http_server *s)
{
    uint64_t one = 1;
    (void)!write(s->fd, &one, sizeof(one)); /* full: it is readable already */
}

/* --- The journal ----------------------------------------------------------------------------- */

/* Those that fly are safe. */
static void http_server_landed(struct http_server *s)
{
    for (struct http_post *p = s->flying.first; p; p = p->next) {
        if (p->call) {
            http_server_answer(s, p->call, &http_ok);
        }
    }
    http_posts_move(&s->flying, &s->ready);
    free(s->group);
    s->group = NULL;
    s->retry_us = 0;
    scribe_end(s->scribe);
    http_server_wake(s);
    (void)pthread_cond_signal(&s->left);
}

static void http_server_break(struct http_server *s, const struct sr_error *err)
{
    static const struct http_answer why = {MHD_HTTP_SERVICE_UNAVAILABLE,
                                           "the journal cannot be written\n"};
    s->is_broken = true;
    s->error = *err;
    http_server_refuse(s, &why);
    while (s->oldest) {
        http_server_answer(s, s->oldest, &why);
    }
    http_server_wake(s);
}

/* The scribe is idle: the queue's first posts, as many as are worth one sync. */
static void http_server_begin(struct http_server *s)
{
    uint32_t len = 0;
    for (struct http_post *p = s->queue.first; p && (len == 0 || len < HTTP_GROUP_BYTES);
         p = p->next) {
        len += p->len;
    }
    s->group = malloc(len);
    if (!s->group) {
        static const struct http_answer why = {MHD_HTTP_SERVICE_UNAVAILABLE, "no memory is left\n"};
        http_server_refuse(s, &why);
        return;
    }
    for (uint32_t at = 0; at < len;) {
        struct http_post *p = http_posts_take(&s->queue);
        memcpy(s->group + at, p->bytes, p->len);
        at += p->len;
        http_posts_add(&s->flying, p);
    }
    scribe_begin(s->scribe, s->group, len, false);
}

static void http_server_done(struct http_server *s)
{
    struct sr_error err;
    sr_rc rc = scribe_result(s->scribe, &err);
    if (rc == SR_OK) {
        http_server_landed(s);
    } else if (rc == SR_ENOSPC) {
        if (s->retry_us == 0) {
            s->world.host->log(s->world.host, SR_WARN, "http waits for space: %s", err.words);
        }
        s->retry_us = s->world.host->mono_us(s->world.host) + HTTP_RETRY_US;
    } else {
        http_server_break(s, &err);
    }
}

/* Moves on what can be moved on. Under the lock. */
static void http_server_turn(struct http_server *s)
{
    static const struct http_answer full = {MHD_HTTP_SERVICE_UNAVAILABLE,
                                            "the journal is full, it waits for a checkpoint\n"};
    if (!s->scribe) {
        if (s->queue.first) {
            http_posts_move(&s->queue, &s->ready);
            http_server_wake(s);
        }
        return;
    }
    if (scribe_state(s->scribe) == SCRIBE_DONE && s->retry_us == 0) {
        http_server_done(s);
    }
    if (s->is_broken || scribe_state(s->scribe) != SCRIBE_IDLE || !s->queue.first) {
        return;
    }
    if (scribe_is_full(s->scribe)) {
        http_server_refuse(s, &full);
    } else {
        http_server_begin(s);
    }
}

void http_server_told(void *server)
{
    struct http_server *s = server;
    pthread_mutex_lock(&s->lock);
    http_server_turn(s);
    pthread_mutex_unlock(&s->lock);
}

/* --- For calls ------------------------------------------------------------------------------- */

/* Under the lock. */
static const char *http_server_hinders(struct http_server *s, uint64_t len)
{
    if (s->is_halted || s->is_closing) {
        return "the job is ending\n";
    }
    if (!s->is_going) {
        return "the job is starting\n";
    }
    if (s->is_broken) {
        return "the journal cannot be written\n";
    }
    if (s->scribe && (s->retry_us != 0 || scribe_is_full(s->scribe))) {
        return s->retry_us != 0 ? "no space is left for the journal\n"
                                : "the journal is full, it waits for a checkpoint\n";
    }
    bool is_over = s->held_bytes > 0 && s->held_bytes + len > s->world.conf->buffer_max.bytes;
    return is_over ? "too much waits to be processed\n" : NULL;
}

bool http_server_may_take(struct http_server *s, uint64_t len, struct http_answer *why)
{
    pthread_mutex_lock(&s->lock);
    const char *words = http_server_hinders(s, len);
    pthread_mutex_unlock(&s->lock);
    if (words) {
        *why = (struct http_answer){MHD_HTTP_SERVICE_UNAVAILABLE, words};
    }
    return !words;
}

/* Under the lock: the call waits for its post. */
static void http_server_suspend(struct http_server *s, struct http_call *c, struct http_post *post)
{
    c->state = HTTP_WAITING;
    c->is_suspended = true;
    c->post = post;
    post->call = c;
    c->number = post->number;
    c->prev = s->newest;
    c->next = NULL;
    *(s->newest ? &s->newest->next : &s->oldest) = c;
    s->newest = c;
    MHD_suspend_connection(c->connection);
}

bool http_server_take(struct http_server *s, struct http_call *c, struct http_post *post)
{
    bool is_by_checkpoint = s->world.conf->acknowledge.index == HTTP_CHECKPOINT;
    pthread_mutex_lock(&s->lock);
    http_server_expire(s, c->since_us); /* the reader may be held up behind a full ring */
    const char *words = http_server_hinders(s, post->len);
    bool is_final = words || (!s->scribe && !is_by_checkpoint);
    if (words) {
        c->answer = (struct http_answer){MHD_HTTP_SERVICE_UNAVAILABLE, words};
        http_post_free(post);
    } else {
        post->number = ++s->taken;
        s->held_bytes += post->len;
        if (!is_final) {
            http_server_suspend(s, c, post);
        }
        http_posts_add(&s->queue, post);
        http_server_turn(s);
    }
    if (is_final) {
        c->state = HTTP_ANSWERED;
    }
    pthread_mutex_unlock(&s->lock);
    return is_final;
}

/* One body alone always has room. */
bool http_server_hold(struct http_server *s, struct http_call *c, uint64_t len,
                      struct http_answer *why)
{
    pthread_mutex_lock(&s->lock);
    uint64_t after = s->held_bytes + len;
    bool has_room = s->held_bytes == c->held || after <= s->world.conf->buffer_max.bytes;
    if (has_room) {
        s->held_bytes = after;
        c->held += len;
    }
    pthread_mutex_unlock(&s->lock);
    if (!has_room) {
        *why =
            (struct http_answer){MHD_HTTP_SERVICE_UNAVAILABLE, "too much waits to be processed\n"};
    }
    return has_room;
}

void http_server_unhold(struct http_server *s, struct http_call *c)
{
    pthread_mutex_lock(&s->lock);
    s->held_bytes -= c->held;
    c->held = 0;
    pthread_mutex_unlock(&s->lock);
}

void http_server_enter(struct http_server *s)
{
    pthread_mutex_lock(&s->lock);
    s->calls++;
    pthread_mutex_unlock(&s->lock);
}

void http_server_leave(struct http_server *s, struct http_call *c)
{
    pthread_mutex_lock(&s->lock);
    if (c->state == HTTP_WAITING) {
        http_server_unlink(s, c);
    }
    s->held_bytes -= c->held;
    s->calls--;
    pthread_cond_signal(&s->left);
    pthread_mutex_unlock(&s->lock);
}

void http_server_tally(struct http_server *s, unsigned status)
{
    pthread_mutex_lock(&s->lock);
    s->counts.requests++;
    s->counts.busy += status == MHD_HTTP_SERVICE_UNAVAILABLE ? 1 : 0;
    s->counts.bad += status >= 400 && status < 500 ? 1 : 0;
    pthread_mutex_unlock(&s->lock);
}

bool http_server_is_closing(struct http_server *s)
{
    pthread_mutex_lock(&s->lock);
    bool is_closing = s->is_halted || s->is_closing;
    pthread_mutex_unlock(&s->lock);
    return is_closing;
}

/* --- For the reader -------------------------------------------------------------------------- */

void http_server_go(struct http_server *s, struct scribe *scribe, uint64_t taken)
{
    pthread_mutex_lock(&s->lock);
    s->scribe = scribe;
    s->taken = taken;
    s->is_going = true;
    pthread_mutex_unlock(&s->lock);
}

bool http_server_halt(struct http_server *s, bool is_halted)
{
    pthread_mutex_lock(&s->lock);
    s->is_halted = is_halted;
    bool is_empty = !s->queue.first && !s->flying.first && !s->ready.first;
    pthread_mutex_unlock(&s->lock);
    return is_empty;
}

sr_rc http_server_pop(struct http_server *s, struct http_post **out, struct sr_error *err)
{
    uint64_t count;
    (void)!read(s->fd, &count, sizeof(count)); /* it may be quiet */
    pthread_mutex_lock(&s->lock);
    http_server_turn(s);
    sr_rc rc = s->is_broken ? s->error.rc : SR_OK;
    if (s->is_broken) {
        *err = s->error;
    } else {
        *out = http_posts_take(&s->ready);
    }
    if (rc == SR_OK && *out) {
        struct http_call *c = (*out)->call; /* it waits for a checkpoint */
        if (c) {
            c->post = NULL; /* the reader's, it may be gone at any time */
            (*out)->call = NULL;
        }
        s->held_bytes -= (*out)->len;
    }
    pthread_mutex_unlock(&s->lock);
    return rc;
}

int http_server_fd(const struct http_server *s) { return s->fd; }

int64_t http_server_tend(struct http_server *s, int64_t now_us)
{
    int64_t due_us = INT64_MAX;
    pthread_mutex_lock(&s->lock);
    http_server_expire(s, now_us);
    if (s->retry_us != 0 && now_us >= s->retry_us) {
        s->retry_us = 0;
        scribe_again(s->scribe);
    }
    if (http_peers_expire(&s->peers, now_us) || s->oldest) {
        due_us = now_us + HTTP_LOOK_US;
    }
    if (s->retry_us != 0) {
        due_us = s->retry_us;
    }
    pthread_mutex_unlock(&s->lock);
    return due_us;
}

void http_server_acknowledge(struct http_server *s, uint64_t number)
{
    pthread_mutex_lock(&s->lock);
    for (struct http_call *c = s->oldest, *next; c; c = next) {
        next = c->next;
        if (c->number <= number) {
            http_server_answer(s, c, &http_ok);
        }
    }
    pthread_mutex_unlock(&s->lock);
}

struct http_counts http_server_counts(struct http_server *s)
{
    pthread_mutex_lock(&s->lock);
    struct http_counts counts = s->counts;
    s->counts = (struct http_counts){0};
    pthread_mutex_unlock(&s->lock);
    return counts;
}

const char *http_server_place(const struct http_server *s) { return s->place; }

uint16_t http_server_port(const struct http_server *s) { return s->listen.port; }

/* --- Its life -------------------------------------------------------------------------------- */

static void http_server_no_log(void *cls, const char *fmt, va_list args)
{
    (void)cls, (void)fmt, (void)args; /* what one sender does wrong is told to that one */
}

/* Starts the library's thread with a copy of the listening socket, which is the library's in any
 * case: it closes what it was given when it fails, too. Signals are for the threads of the program.
 */
static sr_rc http_server_start(struct http_server *s, struct sr_error *err)
{
    const struct sr_host *h = s->world.host;
    sigset_t all, before;
    int listens = fcntl(s->listen.fd, F_DUPFD_CLOEXEC, 0);
    if (listens < 0) {
        return h->fail(h, err, SR_EIO, "cannot listen at %s: %s", s->place, strerrordesc_np(errno));
    }
    (void)sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) {
        return h->fail(h, err, SR_EIO, "the signals of a thread cannot be set");
    }
    unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME |
                     MHD_USE_ERROR_LOG | MHD_USE_ITC | (s->tls.key ? MHD_USE_TLS : 0);
    struct MHD_OptionItem tls[] = {{MHD_OPTION_HTTPS_MEM_KEY, 0, s->tls.key},
                                   {MHD_OPTION_HTTPS_MEM_CERT, 0, s->tls.certificate},
                                   {MHD_OPTION_END, 0, NULL}};
    struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    s->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, http_call_access, &s->world, MHD_OPTION_EXTERNAL_LOGGER,
        http_server_no_log, NULL, MHD_OPTION_LISTEN_SOCKET, listens, MHD_OPTION_CONNECTION_LIMIT,
        HTTP_CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, HTTP_IDLE_S,
        MHD_OPTION_NOTIFY_COMPLETED, http_call_completed, &s->world, MHD_OPTION_NOTIFY_CONNECTION,
        http_call_connected, &s->world, MHD_OPTION_ARRAY, s->tls.key ? tls : none, MHD_OPTION_END);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL); /* it was set a moment ago */
    if (!s->daemon) {
        return h->fail(h, err, SR_EIO, "no HTTP server can be started at %s%s", s->place,
                       s->tls.key ? " (are certificate and key a pair, in PEM form?)" : "");
    }
    (void)close(s->listen.fd); /* the copy goes on */
    s->listen.fd = -1;
    return SR_OK;
}

sr_rc http_server_open(struct http_server **out, const struct sr_host *host,
                       const struct http_source_conf *conf, struct sr_error *err)
{
    struct http_server *s = calloc(1, sizeof(*s));
    if (!s) {
        return host->fail(host, err, SR_ENOMEM, "out of memory");
    }
    s->world = (struct http_world){host, conf, s, &s->peers};
    s->listen.fd = -1;
    s->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    s->has_lock = s->fd >= 0 && pthread_mutex_init(&s->lock, NULL) == 0 &&
                  pthread_cond_init(&s->left, NULL) == 0;
    sr_rc rc = s->has_lock && http_peers_init(&s->peers)
                   ? SR_OK
                   : host->fail(host, err, SR_EIO, "http: %s", strerrordesc_np(errno));
    if (rc == SR_OK) {
        rc = http_tls_load(&s->tls, host, conf, err);
    }
    if (rc == SR_OK) {
        rc = http_listen(&s->listen, host, conf->listen, err);
    }
    if (rc == SR_OK) {
        (void)snprintf(s->place, sizeof(s->place), "%s://%s%s", s->tls.key ? "https" : "http",
                       s->listen.place, conf->path);
        rc = http_server_start(s, err);
    }
    if (rc != SR_OK) {
        http_server_free(s);
        return rc;
    }
    *out = s;
    return SR_OK;
}

/* What is in hand is answered: what the journal can take is safe, the rest is to be sent again. */
static void http_server_settle(struct http_server *s)
{
    struct timespec end;
    int64_t end_us = s->world.host->wall_us(s->world.host) + HTTP_CLOSE_S * INT64_C(1000000);
    end.tv_sec = (time_t)(end_us / 1000000);
    end.tv_nsec = (long)(end_us % 1000000 * 1000);
    pthread_mutex_lock(&s->lock);
    s->is_closing = true;
    int code = 0;
    while (code == 0 && s->scribe && !s->is_broken && s->retry_us == 0 &&
           (s->queue.first || s->flying.first)) {
        code = pthread_cond_timedwait(&s->left, &s->lock, &end); /* an answer was sent: look */
    }
    while (s->oldest) {
        http_server_answer(s, s->oldest, &http_late);
    }
    while (code == 0 && s->calls > 0) {
        code = pthread_cond_timedwait(&s->left, &s->lock, &end);
    }
    pthread_mutex_unlock(&s->lock);
}

static void http_posts_free(struct http_posts *l)
{
    struct http_post *p;
    while ((p = http_posts_take(l))) {
        http_post_free(p);
    }
}

void http_server_stop(struct http_server *s)
{
    if (!s || !s->daemon) {
        return;
    }
    int listens = MHD_quiesce_daemon(s->daemon);
    s->listen.fd = listens >= 0 ? listens : -1;
    http_server_settle(s);
    MHD_stop_daemon(s->daemon);
    s->daemon = NULL;
}

void http_server_free(struct http_server *s)
{
    if (!s) {
        return;
    }
    if (s->listen.fd >= 0) {
        (void)close(s->listen.fd);
    }
    if (s->has_lock) {
        (void)pthread_cond_destroy(&s->left);
        (void)pthread_mutex_destroy(&s->lock);
    }
    if (s->fd >= 0) {
        (void)close(s->fd);
    }
    http_posts_free(&s->queue);
    http_posts_free(&s->flying);
    http_posts_free(&s->ready);
    http_tls_free(&s->tls);
    http_peers_done(&s->peers);
    free(s->group);
    free(s);
}
