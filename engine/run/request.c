/* Savepoints that somebody asked for: queued, answered, refused; and waited for by other
 * threads. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/run/supervise_inner.h"

/* --- Requests --------------------------------------------------------------------------------- */

void supervise_answer(struct run_request *r, sr_rc rc, const struct sr_error *why)
{
    void (*done)(struct run_request *) = r->done;
    r->rc = rc;
    if (rc != SR_OK) r->error = *why;
    if (done) {
        done(r); /* sets is_done; r may be gone after it */
    } else {
        atomic_store(&r->is_done, true);
    }
}

void supervise_request(struct supervise *s, struct run_request *r)
{
    struct sr_error why = {.rc = SR_OK};
    r->next = NULL;
    mutex_lock(s->lock);
    bool is_ended = s->shown.state == RUN_ENDED;
    struct run_request **end = &s->requests;
    while (*end) {
        end = &(*end)->next;
    }
    if (!is_ended) *end = r;
    mutex_unlock(s->lock);
    if (is_ended) {
        (void)error_set(&why, SR_EABSENT, "the job has ended");
        supervise_answer(r, why.rc, &why);
    } else {
        parker_wake(s->parker);
    }
}

/* Nothing that was asked for will be done. */
void supervise_refuse(struct supervise *s, const char *why)
{
    struct sr_error err;
    (void)error_set(&err, SR_ECLOSED, "%s", why);
    for (;;) {
        mutex_lock(s->lock);
        struct run_request *r = s->requests;
        if (r) s->requests = r->next;
        mutex_unlock(s->lock);
        if (!r) return;
        supervise_answer(r, err.rc, &err);
    }
}

/* --- A savepoint that is waited for ----------------------------------------------------------- */

static void supervise_wake_waiter(struct run_request *r)
{
    struct parker *p = r->ctx;
    atomic_store(&r->is_done, true);
    parker_wake(p);
}

sr_rc supervise_savepoint(struct supervise *s, const char *dir, enum run_then then, bool drain,
                          char path[4096], struct sr_error *err)
{
    struct run_request *r = calloc(1, sizeof(*r));
    if (!r) return error_set(err, SR_ENOMEM, "out of memory");
    struct parker *p = NULL;
    sr_rc rc = parker_new(&p, err);
    if (rc == SR_OK && strlen(dir) >= sizeof(r->dir)) {
        rc = error_set(err, SR_ELIMIT, "the path of the savepoint directory is too long");
    }
    if (rc == SR_OK) {
        memcpy(r->dir, dir, strlen(dir) + 1);
        r->is_stop = then != RUN_THEN_GO_ON;
        r->is_cancel = then == RUN_THEN_CANCEL;
        r->is_drain = r->is_stop && drain;
        r->done = supervise_wake_waiter;
        r->ctx = p;
        supervise_request(s, r);
        while (!atomic_load(&r->is_done)) {
            parker_wait(p, NULL, 0, s->env->mono_us(s->env), INT64_MAX);
        }
        rc = r->rc;
        if (rc == SR_OK) memcpy(path, r->path, sizeof(r->path));
        if (rc != SR_OK) *err = r->error;
    }
    parker_free(p);
    free(r);
    return rc;
}
