/* The tape: a stream by way of a journal, written by a thread of its own, on a forgetful disk. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/common/tape.h"
#include "engine/base/env.h"
#include "engine/data/host.h"
#include "test/sim/disk.h"
#include "test/unit/unit.h"

#define DIR     "/journal"
#define MAX     (UINT64_C(1) << 20)
#define SESSION 9u

struct place {
    struct disk *disk;
    struct env env;
    struct sr_home *home;
    struct host_ctx ctx;
    struct sr_host host;
    struct tape tape;
    struct sr_error err;
    uint64_t from, until; /* of what waits to be taken: the bytes at these offsets */
    bool has_end;         /* nothing comes behind them */
};

static void quiet(const struct env *e, enum sr_level level, const char *who, const char *line)
{
    (void)e, (void)level, (void)who, (void)line;
}

static void begin(struct place *p, uint64_t seed)
{
    *p = (struct place){.disk = disk_new(seed)};
    p->env = env_posix(SR_LOG_ERROR);
    p->env.files = disk_files(p->disk);
    p->env.log = quiet;
    p->home = home_new();
    host_init(&p->host, &p->ctx, &p->env, p->home, "tape");
}

static void end(struct place *p)
{
    tape_close(&p->tape);
    home_close(p->home);
    disk_free(p->disk);
}

/* The byte that every test's stream has at this offset. */
static uint8_t byte_at(uint64_t offset)
{
    return (uint8_t)(1 + (offset * 31 + offset / 251) % 250);
}

static enum taken take(void *place, uint8_t *to, size_t room, size_t *got, struct sr_wait *wait,
                       struct sr_error *err)
{
    (void)wait, (void)err;
    struct place *p = place;
    size_t n = p->until - p->from < room ? (size_t)(p->until - p->from) : room;
    n = n < 50000 ? n : 50000;
    for (size_t i = 0; i < n; i++) {
        to[i] = byte_at(p->from + i);
    }
    p->from += n;
    *got = n;
    return n > 0 ? TAKEN_BYTES : p->has_end ? TAKEN_END : TAKEN_NONE;
}

#define OK(call) ck_assert_msg((call) == SR_OK, "%s", p->err.words)

static void go(struct place *p, uint64_t offset, const char *origin)
{
    struct tape_conf conf = {.host = &p->host,
                             .name = "test",
                             .dir = DIR,
                             .max_bytes = MAX,
                             .is_checkpointed = true,
                             .take = take,
                             .ctx = p};
    memcpy(conf.origin, origin, JOURNAL_ORIGIN);
    tape_close(&p->tape);
    OK(tape_open(&p->tape, &conf, &p->err));
    const struct session_note note = {.offset = offset, .session = SESSION};
    OK(tape_go(&p->tape, &note, &p->err));
}

/* What comes from `at` on, until it is idle with nothing under way; *at moves. */
static enum tape_got read_on(struct place *p, uint64_t *at)
{
    uint8_t bytes[30000];
    for (;;) {
        uint32_t got = 0;
        struct sr_wait wait = {.fd = -1, .until_us = INT64_MAX};
        enum tape_got said = tape_read(&p->tape, bytes, sizeof(bytes), &got, &wait, &p->err);
        bool is_right = true;
        for (uint32_t i = 0; i < got; i++) {
            is_right = is_right && bytes[i] == byte_at(*at + i);
        }
        ck_assert(is_right);
        *at += got;
        bool is_quiet = said == TAPE_IDLE && !p->tape.is_flying;
        if ((said != TAPE_BYTES && said != TAPE_IDLE) || is_quiet) {
            return said;
        }
        if (said == TAPE_IDLE) {
            struct pollfd fd = {.fd = wait.fd, .events = POLLIN};
            int64_t us = wait.until_us - p->host.mono_us(&p->host);
            (void)poll(&fd, 1, wait.until_us == INT64_MAX ? -1 : (int)(us / 1000) + 1);
        }
    }
}

static const char origin[] = "where it came from";

/* What is taken is shown once, in order, and again from any offset after a crash; what was shown
 * is never lost. */
START_TEST(what_was_shown_comes_again)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct place place, *p = &place;
        begin(p, seed);
        uint64_t at = 0;
        p->until = 300000 + seed * 7;
        go(p, 0, origin);
        ck_assert_int_eq(read_on(p, &at), TAPE_IDLE);
        ck_assert_uint_eq(at, p->until);
        tape_close(&p->tape);
        disk_crash(p->disk, seed % 2 ? DISK_POWER_LOSS : DISK_KILL);
        disk_restart(p->disk, DISK_BY_SEED);
        uint64_t again = at / 3;
        p->until += 1000;
        p->has_end = true;
        go(p, again, origin);
        ck_assert_int_eq(read_on(p, &again), TAPE_END);
        ck_assert_uint_eq(again, p->until);
        again = 5;
        go(p, again, origin);
        ck_assert_int_eq(read_on(p, &again), TAPE_END); /* out of the journal alone */
        ck_assert_uint_eq(again, p->until);
        end(p);
    }
}
END_TEST

/* A session from elsewhere is read to where it was cut off, and not gone on with. */
START_TEST(another_origin_ends_a_session)
{
    struct place place, *p = &place;
    uint64_t at = 0;
    begin(p, 1);
    p->until = 1000;
    go(p, 0, origin);
    ck_assert_int_eq(read_on(p, &at), TAPE_IDLE);
    p->until = 2000;
    at = 0;
    go(p, 0, "some other place...");
    ck_assert_int_eq(read_on(p, &at), TAPE_CUT);
    ck_assert_uint_eq(at, 1000);
    end(p);
}
END_TEST

/* A full disk is waited for, a full journal until a checkpoint has made room; a sync that failed
 * ends it. */
START_TEST(it_waits_for_room_and_breaks_on_a_failed_sync)
{
    struct place place, *p = &place;
    uint64_t at = 0;
    begin(p, 1);
    go(p, 0, origin);
    p->until = 1000;
    ck_assert_int_eq(read_on(p, &at), TAPE_IDLE);
    disk_set_capacity(p->disk, disk_used(p->disk) + 100);
    p->until = 60000;
    uint32_t got = 0;
    uint8_t bytes[10];
    for (int i = 0; i < 200 && !p->tape.is_waiting; i++) {
        struct sr_wait wait = {.fd = -1, .until_us = INT64_MAX};
        ck_assert_int_eq(tape_read(&p->tape, bytes, sizeof(bytes), &got, &wait, &p->err),
                         TAPE_IDLE);
        struct pollfd fd = {.fd = wait.fd, .events = POLLIN};
        (void)poll(&fd, 1, 5);
    }
    ck_assert(p->tape.is_waiting);
    disk_set_capacity(p->disk, UINT64_MAX);
    ck_assert_int_eq(read_on(p, &at), TAPE_IDLE);
    ck_assert_uint_eq(at, 60000);
    p->until = 3 * MAX;
    while (at < 3 * MAX) {
        uint64_t before = at;
        ck_assert_int_eq(read_on(p, &at), TAPE_IDLE);
        ck_assert_uint_le(at - before, MAX + MAX / 8);
        const struct session_note note = {.offset = at, .session = SESSION};
        tape_acknowledge(&p->tape, &note);
    }
    go(p, at, origin); /* and the scribe has noted all that was acknowledged: no other sync comes */
    ck_assert_int_eq(read_on(p, &at), TAPE_IDLE);
    disk_fail_in(p->disk, DISK_FAULT_SYNC, 0);
    p->until += 10;
    ck_assert_int_eq(read_on(p, &at), TAPE_FAILED);
    ck_assert_uint_eq(at, 3 * MAX);
    end(p);
}
END_TEST

UNIT_MAIN("tape", what_was_shown_comes_again, another_origin_ends_a_session,
          it_waits_for_room_and_breaks_on_a_failed_sync)
