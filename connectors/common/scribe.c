#include "connectors/common/scribe.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "connectors/common/list.h"

/* What a checkpoint has of a session. */
struct scribe_acked {
    uint64_t session, offset;
    bool is_drop;
};

struct scribe {
    struct scribe_conf conf;
    int fd; /* eventfd */
    pthread_t thread;
    bool has_thread, has_lock;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t news;
    enum scribe_state state;
    const uint8_t *bytes; /* borrowed, while BUSY or DONE */
    uint32_t len, at;     /* at: those before it are synced */
    bool is_end;          /* the end is to be written behind them */
    sr_rc rc;             /* of the last try */
    struct sr_error error;
    bool is_full;
    bool is_closing;
    struct scribe_acked *acked; /* owned; in order */
    uint32_t ackeds, capacity;
};

/* --- On the thread --------------------------------------------------------------------------- */

/* Appends what is left, in frames. Not under the lock: the job is ours while BUSY. */
static sr_rc scribe_write(struct scribe *s, struct sr_error *err)
{
    struct journal *j = s->conf.journal;
    sr_rc rc = SR_OK;
    while (rc == SR_OK && s->at < s->len) {
        uint32_t rest = s->len - s->at;
        uint32_t some = rest < JOURNAL_FRAME_MAX ? rest : JOURNAL_FRAME_MAX;
        rc = journal_append(j, s->bytes + s->at, some, err);
        s->at += rc == SR_OK ? some : 0;
    }
    if (rc == SR_OK && s->is_end && !j->has_end) {
        rc = journal_end(j, err);
    }
    return rc;
}

/* The oldest of what was acknowledged. */
static struct scribe_acked scribe_take_acked(struct scribe *s)
{
    struct scribe_acked first = s->acked[0];
    s->ackeds--;
    memmove(s->acked, s->acked + 1, s->ackeds * sizeof(*s->acked));
    return first;
}

static void scribe_acknowledge(struct scribe *s, const struct scribe_acked *a)
{
    if (a->is_drop) {
        journal_drop(s->conf.journal, a->session, a->offset);
    } else {
        journal_ack(s->conf.journal, a->session, a->offset);
    }
}

static void scribe_tell(struct scribe *s)
{
    uint64_t one = 1;
    (void)!write(s->fd, &one, sizeof(one)); /* full: it is readable already */
    if (s->conf.told) {
        s->conf.told(s->conf.ctx);
    }
}

/* One piece of work, with the lock let go of meanwhile. */
static void scribe_work(struct scribe *s)
{
    struct sr_error err = {.rc = SR_OK};
    bool is_append = s->ackeds == 0; /* what makes room comes first */
    if (is_append) {
        pthread_mutex_unlock(&s->lock);
        sr_rc rc = scribe_write(s, &err);
        pthread_mutex_lock(&s->lock);
        s->rc = rc;
        s->error = err;
        s->state = SCRIBE_DONE;
    } else {
        const struct scribe_acked one = scribe_take_acked(s);
        pthread_mutex_unlock(&s->lock);
        scribe_acknowledge(s, &one);
        pthread_mutex_lock(&s->lock);
    }
    s->is_full = journal_is_full(s->conf.journal);
    pthread_mutex_unlock(&s->lock);
    scribe_tell(s);
    pthread_mutex_lock(&s->lock);
}

static void *scribe_main(void *scribe)
{
    struct scribe *s = scribe;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        if (s->state == SCRIBE_BUSY || s->ackeds > 0) {
            scribe_work(s);
        } else if (s->is_closing) {
            break;
        } else {
            pthread_cond_wait(&s->news, &s->lock);
        }
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* --- For others ------------------------------------------------------------------------------ */

/* Signals are for the threads of the program. */
static int scribe_start(struct scribe *s)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    int code = pthread_sigmask(SIG_SETMASK, &all, &before);
    if (code == 0) {
        code = pthread_create(&s->thread, NULL, scribe_main, s);
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL); /* it was set a moment ago */
    }
    return code;
}

sr_rc scribe_open(struct scribe **out, const struct scribe_conf *conf, struct sr_error *err)
{
    const struct sr_host *h = conf->host;
    struct scribe *s = calloc(1, sizeof(*s));
    if (!s) {
        return h->fail(h, err, SR_ENOMEM, "out of memory for the journal %s", conf->journal->dir);
    }
    s->conf = *conf;
    s->is_full = journal_is_full(conf->journal);
    s->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int code = s->fd < 0 ? errno : pthread_mutex_init(&s->lock, NULL);
    s->has_lock = code == 0;
    if (code == 0) {
        code = pthread_cond_init(&s->news, NULL);
    }
    if (code == 0) {
        code = scribe_start(s);
    }
    s->has_thread = code == 0;
    if (code != 0) {
        scribe_close(s);
        return h->fail(h, err, SR_EIO, "no thread can be had to write the journal %s: %s",
                       conf->journal->dir, strerrordesc_np(code));
    }
    *out = s;
    return SR_OK;
}

void scribe_close(struct scribe *s)
{
    if (!s) {
        return;
    }
    if (s->has_thread) {
        pthread_mutex_lock(&s->lock);
        s->is_closing = true;
        pthread_cond_signal(&s->news);
        pthread_mutex_unlock(&s->lock);
        (void)pthread_join(s->thread, NULL);
        (void)pthread_cond_destroy(&s->news);
    }
    if (s->has_lock) {
        (void)pthread_mutex_destroy(&s->lock);
    }
    if (s->fd >= 0) {
        (void)close(s->fd);
    }
    free(s->acked);
    free(s);
}

int scribe_fd(const struct scribe *s) { return s->fd; }

void scribe_hear(struct scribe *s)
{
    uint64_t count;
    (void)!read(s->fd, &count, sizeof(count)); /* it may be quiet */
}

enum scribe_state scribe_state(struct scribe *s)
{
    pthread_mutex_lock(&s->lock);
    enum scribe_state state = s->state;
    pthread_mutex_unlock(&s->lock);
    return state;
}

bool scribe_is_full(struct scribe *s)
{
    pthread_mutex_lock(&s->lock);
    bool is_full = s->is_full;
    pthread_mutex_unlock(&s->lock);
    return is_full;
}

void scribe_begin(struct scribe *s, const uint8_t *bytes, uint32_t len, bool is_end)
{
    pthread_mutex_lock(&s->lock);
    s->bytes = bytes;
    s->len = len;
    s->at = 0;
    s->is_end = is_end;
    s->state = SCRIBE_BUSY;
    pthread_cond_signal(&s->news);
    pthread_mutex_unlock(&s->lock);
}

sr_rc scribe_result(struct scribe *s, struct sr_error *err)
{
    pthread_mutex_lock(&s->lock);
    sr_rc rc = s->rc;
    if (rc != SR_OK) {
        *err = s->error;
    }
    if (rc == SR_ENOSPC && s->conf.journal->is_broken) { /* no matter of space any more */
        rc = err->rc = SR_EIO;
    }
    pthread_mutex_unlock(&s->lock);
    return rc;
}

void scribe_again(struct scribe *s)
{
    pthread_mutex_lock(&s->lock);
    s->state = SCRIBE_BUSY;
    pthread_cond_signal(&s->news);
    pthread_mutex_unlock(&s->lock);
}

void scribe_end(struct scribe *s)
{
    pthread_mutex_lock(&s->lock);
    s->state = SCRIBE_IDLE;
    s->bytes = NULL;
    pthread_mutex_unlock(&s->lock);
}

static void scribe_add_acked(struct scribe *s, const struct scribe_acked *a)
{
    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 0; i < s->ackeds && !a->is_drop; i++) {
        if (s->acked[i].session == a->session && !s->acked[i].is_drop) {
            s->acked[i].offset = a->offset; /* a later one takes the place of an earlier one */
            pthread_mutex_unlock(&s->lock);
            return;
        }
    }
    struct scribe_acked *grown = list_room(s->acked, s->ackeds, &s->capacity, sizeof(*grown));
    if (grown) {
        s->acked = grown;
        s->acked[s->ackeds++] = *a;
        pthread_cond_signal(&s->news);
    }
    pthread_mutex_unlock(&s->lock);
}

void scribe_ack(struct scribe *s, uint64_t session, uint64_t offset)
{
    const struct scribe_acked a = {session, offset, false};
    scribe_add_acked(s, &a);
}

void scribe_drop(struct scribe *s, uint64_t session, uint64_t end)
{
    const struct scribe_acked a = {session, end, true};
    scribe_add_acked(s, &a);
}
