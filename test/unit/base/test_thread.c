#include <string.h>
#include <unistd.h>

#include "engine/base/env.h"
#include "engine/base/thread.h"
#include "test/unit/unit.h"

static struct sr_error err;

static int64_t now_us(void)
{
    struct env e = env_posix(SR_LOG_ERROR);
    return e.mono_us(&e);
}

struct pair {
    struct parker *a, *b;
    int turn; /* whose it is; by __atomic */
    int rounds;
    struct mutex *lock;
    long sum;
};

static void wait_for(struct parker *p, struct pair *x, int turn)
{
    while (__atomic_load_n(&x->turn, __ATOMIC_ACQUIRE) != turn) {
        parker_wait(p, NULL, 0, now_us(), INT64_MAX);
    }
}

static void other_side(void *arg)
{
    struct pair *x = arg;
    for (int i = 0; i < x->rounds; i++) {
        wait_for(x->b, x, 1);
        __atomic_store_n(&x->turn, 0, __ATOMIC_RELEASE);
        parker_wake(x->a);
    }
}

START_TEST(no_wake_is_lost_between_two_threads)
{
    struct pair x = {.rounds = 5000};
    struct thread *t = NULL;
    ck_assert_int_eq(parker_new(&x.a, &err), SR_OK);
    ck_assert_int_eq(parker_new(&x.b, &err), SR_OK);
    ck_assert_int_eq(thread_start(&t, "a-name-that-is-too-long", other_side, &x, &err), SR_OK);
    for (int i = 0; i < x.rounds; i++) {
        __atomic_store_n(&x.turn, 1, __ATOMIC_RELEASE);
        parker_wake(x.b);
        wait_for(x.a, &x, 0);
    }
    thread_join(t);
    thread_join(NULL);
    parker_free(x.a);
    parker_free(x.b);
    parker_free(NULL);
}
END_TEST

START_TEST(a_wait_ends_at_its_time_or_when_a_descriptor_is_ready)
{
    struct parker *p = NULL;
    ck_assert_int_eq(parker_new(&p, &err), SR_OK);
    int64_t begin = now_us();
    parker_wait(p, NULL, 0, begin, begin + 2000);
    ck_assert_int_ge(now_us(), begin + 2000);
    struct sr_wait timed = {.fd = -1, .until_us = now_us() + 1000};
    parker_wait(p, &timed, 1, now_us(), INT64_MAX);
    ck_assert_int_ge(now_us(), timed.until_us);
    int pipe_fd[2];
    ck_assert_int_eq(pipe(pipe_fd), 0);
    ck_assert_int_eq(write(pipe_fd[1], "x", 1), 1);
    struct sr_wait ready[2] = {{.fd = -1, .until_us = INT64_MAX},
                               {.fd = pipe_fd[0], .until_us = INT64_MAX}};
    parker_wait(p, ready, 2, now_us(), INT64_MAX); /* returns at all: the bytes are there */
    ready[1] = (struct sr_wait){.fd = pipe_fd[1], .is_write = true, .until_us = INT64_MAX};
    parker_wait(p, ready, 2, now_us(), INT64_MAX);
    parker_wake(p);
    parker_wait(p, NULL, 0, now_us(), INT64_MAX); /* a wake before the wait counts */
    close(pipe_fd[0]);
    close(pipe_fd[1]);
    parker_free(p);
}
END_TEST

static void add_many(void *arg)
{
    struct pair *x = arg;
    for (int i = 0; i < x->rounds; i++) {
        mutex_lock(x->lock);
        x->sum++;
        mutex_unlock(x->lock);
    }
}

START_TEST(a_lock_lets_one_in)
{
    struct pair x = {.rounds = 20000};
    struct thread *t[3];
    ck_assert_int_eq(mutex_new(&x.lock, &err), SR_OK);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(thread_start(&t[i], "add", add_many, &x, &err), SR_OK);
    }
    for (int i = 0; i < 3; i++) {
        thread_join(t[i]);
    }
    ck_assert_int_eq(x.sum, 60000);
    mutex_free(x.lock);
    mutex_free(NULL);
}
END_TEST

UNIT_MAIN("thread", no_wake_is_lost_between_two_threads,
          a_wait_ends_at_its_time_or_when_a_descriptor_is_ready, a_lock_lets_one_in)
