/* The threads suite: the same world under real threads and clocks, for TSan to look at. */
#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "test/unit/unit.h"

#include "test/unit/run/world.h"

#include "engine/base/arena.h"

struct running {
    struct world w;
    struct store *store;
    const struct manifest *restore; /* NULL: a fresh run */
    struct supervise *s;
    pthread_t thread;
    _Atomic bool is_running, has_ended;
    enum run_end end;
    struct sr_error err;
};

static void on_running(void *ctx) { atomic_store(&((struct running *)ctx)->is_running, true); }

static void *run(void *arg)
{
    struct running *r = arg;
    r->end = supervise_run(r->s, &r->err);
    atomic_store(&r->has_ended, true);
    return NULL;
}

static void begin(struct running *r, uint32_t workers, int64_t (*mono_us)(const struct env *e))
{
    r->w.is_threaded = true;
    r->w.env = env_posix(SR_LOG_ERROR);
    if (mono_us) r->w.env.mono_us = mono_us;
    if (!r->store) r->store = world_store(&r->w);
    struct run_conf conf = {.env = &r->w.env,
                            .plan = world_plan(&r->w),
                            .store = r->store,
                            .lineage = 1,
                            .restore = r->restore,
                            .workers = workers,
                            .on_running = on_running,
                            .ctx = r};
    ck_assert_int_eq(supervise_new(&r->s, &conf, &r->err), SR_OK);
    ck_assert_int_eq(pthread_create(&r->thread, NULL, run, r), 0);
}

static void end(struct running *r)
{
    supervise_free(r->s);
    store_close(r->store);
    world_done(&r->w);
}

static _Thread_local bool is_watcher; /* its looks at the clock are not the job's */

/* Looks at a running job as `status` does, until it says what is waited for. */
static void watch(struct running *r, bool (*until)(const struct run_status *s))
{
    struct run_status status;
    is_watcher = true;
    do {
        struct arena *a = arena_new();
        supervise_status(r->s, a, &status);
        arena_free(a);
        ck_assert_msg(status.state != RUN_ENDED || until(&status), "ended too soon: %s",
                      status.first_cause);
    } while (!until(&status));
}

static bool has_three_checkpoints(const struct run_status *s) { return s->checkpoints_shown >= 3; }
static bool has_ended(const struct run_status *s) { return s->state == RUN_ENDED; }

/* A bounded job over several workers shows every row exactly once, with checkpoints all the time
 * and somebody looking. */
START_TEST(test_bounded_job)
{
    for (uint32_t workers = 1; workers <= 4; workers++) {
        struct running r = {.is_running = false};
        world_init(&r.w, 1);
        r.w.parts_source = 3;
        r.w.rows = 20000;
        r.w.per_poll = 100;
        r.w.interval_us = 10000;
        begin(&r, workers, NULL);
        watch(&r, has_ended);
        pthread_join(r.thread, NULL);
        ck_assert_msg(r.end == RUN_FINISHED, "%s", r.err.words);
        const char *wrong = world_check(&r.w);
        ck_assert_msg(!wrong, "%s", wrong);
        end(&r);
    }
}
END_TEST

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *f)
{
    (void)st;
    (void)kind;
    (void)f;
    return remove(path);
}

/* An unbounded job that has nothing to do hears who asks for a savepoint, then for one with a stop;
 * both exist, and everything that was read is shown. */
START_TEST(test_savepoint_and_stop)
{
    char dir[] = "/tmp/streamrun-run-XXXXXX";
    char first[4096], second[4096];
    ck_assert(mkdtemp(dir));
    struct running r = {.is_running = false};
    world_init(&r.w, 1);
    r.w.is_bounded = false;
    r.w.interval_us = 10000;
    begin(&r, 2, NULL);
    watch(&r, has_three_checkpoints);
    ck_assert_msg(supervise_savepoint(r.s, dir, RUN_THEN_GO_ON, false, first, &r.err) == SR_OK,
                  "%s", r.err.words);
    ck_assert_int_eq(access(first, F_OK), 0);
    /* One that cannot be written is refused, held sources read on, and the job does not mind. */
    ck_assert_int_ne(
        supervise_savepoint(r.s, "/proc/nothing", RUN_THEN_STOP, false, second, &r.err), SR_OK);
    ck_assert_msg(strstr(r.err.words, "/proc/nothing"), "%s", r.err.words);
    ck_assert_msg(supervise_savepoint(r.s, dir, RUN_THEN_STOP, true, second, &r.err) == SR_OK, "%s",
                  r.err.words);
    ck_assert_str_ne(first, second);
    pthread_join(r.thread, NULL);
    ck_assert_int_eq(r.end, RUN_STOPPED);
    ck_assert_int_eq(supervise_savepoint(r.s, dir, RUN_THEN_GO_ON, false, second, &r.err),
                     SR_EABSENT);
    struct run_status status;
    struct arena *a = arena_new();
    supervise_status(r.s, a, &status);
    ck_assert_int_eq(status.node[0].in, world_shown(&r.w));
    arena_free(a);
    end(&r);
    nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
END_TEST

static _Atomic uint64_t looks; /* at the clock: a worker looks at it whenever it steps its tasks */
static struct env machine;

static int64_t counting_mono_us(const struct env *e)
{
    (void)e;
    atomic_fetch_add(&looks, is_watcher ? 0 : 1);
    return machine.mono_us(&machine);
}

static bool has_one_checkpoint(const struct run_status *s) { return s->checkpoints_shown >= 1; }
static bool has_six_checkpoints(const struct run_status *s) { return s->checkpoints_shown >= 6; }

static bool has_one_checkpoint_or_ended(const struct run_status *s)
{
    return has_one_checkpoint(s) || has_ended(s);
}

/* An idle job sleeps: its workers look at the clock a few times a checkpoint, not all the time.
 * It is suspended all the same, at once. */
START_TEST(test_idle_job_sleeps)
{
    struct running r = {.is_running = false};
    world_init(&r.w, 1);
    r.w.is_bounded = false;
    r.w.is_paused = true;
    r.w.interval_us = INT64_C(30000);
    machine = env_posix(SR_LOG_ERROR);
    begin(&r, 2, counting_mono_us);
    watch(&r, has_one_checkpoint);
    uint64_t before = atomic_load(&looks);
    watch(&r, has_six_checkpoints);
    uint64_t after = atomic_load(&looks);
    ck_assert_msg(after - before < 5000, "%llu looks", (unsigned long long)(after - before));
    supervise_ask(r.s, RUN_ASK_SUSPEND);
    pthread_join(r.thread, NULL);
    ck_assert_msg(r.end == RUN_SUSPENDED, "%s", r.err.words);
    end(&r);
}
END_TEST

/* A job that is suspended and goes on with another parallelism, again and again: its keyed state is
 * loaded by several threads at once, and every row is shown exactly once. */
START_TEST(test_state_is_loaded_side_by_side)
{
    static const uint32_t parts[] = {1, 4, 3, 5, 2};
    struct running r = {.is_running = false};
    struct arena *a = arena_new();
    struct manifest *m = NULL;
    world_init(&r.w, 1);
    r.w.rows = 20000;
    r.w.per_poll = 100;
    r.w.interval_us = 10000;
    for (uint32_t life = 0; life < 5; life++) {
        r.w.parts_count = parts[life];
        r.restore = m;
        begin(&r, 4, NULL);
        if (life < 4) {
            watch(&r, has_one_checkpoint_or_ended);
            supervise_ask(r.s, RUN_ASK_SUSPEND);
        }
        pthread_join(r.thread, NULL);
        ck_assert_msg(r.end == RUN_FINISHED || r.end == RUN_SUSPENDED, "%s", r.err.words);
        ck_assert_int_eq(store_load_newest(r.store, a, &m, &r.err), SR_OK);
        if (life < 4) supervise_free(r.s);
    }
    const char *wrong = world_check(&r.w);
    ck_assert_msg(!wrong, "%s", wrong);
    end(&r);
    arena_free(a);
}
END_TEST

UNIT_MAIN("run: threads", test_bounded_job, test_state_is_loaded_side_by_side,
          test_savepoint_and_stop, test_idle_job_sleeps)
