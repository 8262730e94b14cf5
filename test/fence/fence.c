/* Two leaders at once, again and again: one publishes as fast as it can while the next takes over.
 *
 * What must hold at every takeover:
 *   - what the old leader was told is published, the new one finds when it looks (none is lost);
 *   - the new leader's newest is nothing that the old one was refused and that came later: what it
 *     found at first it finds to the end, as long as it publishes nothing itself;
 *   - the old leader is refused sooner or later, and is refused for ever.
 *
 *   fence TAKEOVERS URL SEED      ends with "N passed, N failed"
 *
 * Old and new leader are threads, each with a store of its own; the lock is seized, as by one who
 * believes that the other hangs.
 */
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/ckpt/store.h"

#define FENCE_JOB "0123456789abcdef0123456789abcdef"
#define FENCE_BURST \
    20u /* publications at full speed; then one a millisecond, so that stores stay small */
#define FENCE_SHOWN_MAX 10 /* violations that are printed */

struct leader {
    pthread_t thread;
    struct store *store;
    _Atomic uint64_t told; /* the highest number that it was told is published */
    _Atomic uint64_t tries;
    sr_rc end; /* why it stopped */
    bool deletes, pauses;
};

static struct env fence_env;
static struct store_conf fence_conf;

static sr_rc fence_publish(struct store *s, uint64_t number)
{
    static const uint8_t bytes[] = "state";
    struct manifest_part part = {.uid = "step",
                                 .name = "state",
                                 .part = 0,
                                 .parts = 1,
                                 .bytes = bytes,
                                 .len = sizeof(bytes)};
    struct manifest m = {.version = MANIFEST_VERSION,
                         .checkpoint = number,
                         .lineage = 1,
                         .started_us = 1,
                         .ended_us = 2,
                         .job_id = FENCE_JOB,
                         .job_name = "fence",
                         .description = "",
                         .made_by = "fence",
                         .max_parallelism = 128,
                         .parts = 1,
                         .part = &part};
    struct sr_error ignored;
    return store_publish(s, &m, &ignored);
}

static void *leader_run(void *arg)
{
    struct leader *l = arg;
    struct sr_error ignored;
    sr_rc rc = SR_OK;
    while (rc == SR_OK) {
        uint64_t number = store_newest_id(l->store) + 1;
        atomic_fetch_add(&l->tries, 1);
        rc = fence_publish(l->store, number);
        if (rc == SR_OK) atomic_store(&l->told, number);
        if (rc == SR_OK && l->deletes) rc = store_retain(l->store, 1, number, &ignored);
        if (rc == SR_EBUSY) rc = SR_OK; /* SQLite's lock, not ours */
        /* SQLite's lock is nobody's turn: who lets go of it takes it again before one who waits. */
        if (l->pauses || atomic_load(&l->tries) > FENCE_BURST) (void)poll(NULL, 0, 1);
    }
    l->end = rc;
    return NULL;
}

static uint64_t fence_newest(struct store *s)
{
    struct manifest *m = NULL;
    struct arena *a = arena_new();
    struct sr_error err;
    sr_rc rc = store_load_newest(s, a, &m, &err);
    uint64_t number = rc == SR_OK ? m->checkpoint : 0;
    arena_free(a);
    if (rc == SR_OK || rc == SR_EABSENT) return number;
    printf("the newest cannot be loaded (%d): %s\n", (int)rc, err.words);
    return UINT64_MAX;
}

/* The next leader's store, taken while the old one may publish. */
static struct store *fence_take(void)
{
    struct lock_sight sight;
    struct sr_error err = {0};
    struct store *s = NULL;
    for (;;) {
        sr_rc rc = store_look_lock(&fence_env, &fence_conf, &sight, &err);
        struct store_conf conf = fence_conf;
        conf.seize = &sight;
        if (rc == SR_OK) rc = store_open(&s, &fence_env, &conf, &err);
        if (rc == SR_OK) return s;
        if (rc != SR_EBUSY && rc != SR_EFENCED) {
            printf("cannot take over: %s\n", err.words);
            return NULL;
        }
    }
}

/* One takeover from a leader that runs. 0: all held. */
static int fence_round(struct leader *old, struct store *mine, uint64_t round, int shown)
{
    uint64_t found = fence_newest(mine);
    (void)pthread_join(old->thread, NULL); /* it is refused, or this hangs, and the caller kills */
    uint64_t told = atomic_load(&old->told), later = fence_newest(mine);
    int bad = 0;
    if (found == UINT64_MAX || told > found) {
        bad = 1;
        if (shown < FENCE_SHOWN_MAX) {
            printf("takeover %" PRIu64 ": the old leader was told of %" PRIu64
                   ", the new one found %" PRIu64 "\n",
                   round, told, found);
        }
    } else if (later != found) {
        bad = 1;
        if (shown < FENCE_SHOWN_MAX) {
            printf("takeover %" PRIu64 ": the new leader found %" PRIu64 ", and later %" PRIu64
                   "\n",
                   round, found, later);
        }
    }
    if (old->end != SR_EFENCED || fence_publish(old->store, told + 1000) != SR_EFENCED) {
        bad = 1;
        if (shown < FENCE_SHOWN_MAX) {
            printf("takeover %" PRIu64 ": the old leader ended with %d\n", round, (int)old->end);
        }
    }
    store_close(old->store);
    return bad;
}

/* Lets the leader come some way into what it does: a few thousand steps of nothing. */
static void fence_delay(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    for (volatile uint64_t i = (*seed >> 33) % 20000; i > 0; i--) {
    }
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        (void)fprintf(stderr, "usage: fence TAKEOVERS URL SEED\n");
        return 2;
    }
    uint64_t rounds = strtoull(argv[1], NULL, 10), seed = strtoull(argv[3], NULL, 10);
    uint64_t bad = 0, done = 0, tries = 0;
    fence_env = env_posix(SR_LOG_ERROR);
    fence_conf = (struct store_conf){
        .url = argv[2], .job_id = FENCE_JOB, .job_name = "fence", .retained = 2, .run_dir = "/tmp"};
    struct store *mine = fence_take();
    for (; mine && done < rounds; done++) {
        struct leader old = {
            .store = mine, .deletes = done % 8 != 0, .pauses = strncmp(argv[2], "sqlite:", 7) == 0};
        if (pthread_create(&old.thread, NULL, leader_run, &old) != 0) break;
        while (atomic_load(&old.tries) == 0) {
        }
        fence_delay(&seed);
        mine = fence_take();
        if (!mine) break;
        bad += (uint64_t)fence_round(&old, mine, done, bad < FENCE_SHOWN_MAX ? 0 : FENCE_SHOWN_MAX);
        tries += atomic_load(&old.tries);
    }
    store_close(mine);
    printf("%" PRIu64 " takeovers, %" PRIu64 " publications\n", done, tries);
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", done - bad, bad + (done < rounds ? 1 : 0));
    return bad == 0 && done == rounds ? 0 : 1;
}
