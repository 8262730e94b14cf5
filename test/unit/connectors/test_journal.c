/* The journal, on a disk that forgets what was not synced. */
#include "test/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "connectors/common/journal.h"
#include "engine/base/env.h"
#include "engine/data/host.h"
#include "test/sim/disk.h"

#define DIR     "/j"
#define MAX     JOURNAL_BYTES_MIN /* segments of 128 KiB */
#define SESSION UINT64_C(7)

static const uint8_t origin[JOURNAL_ORIGIN] = "some pipe";

struct place {
    struct disk *disk;
    struct env env;
    struct sr_home *home;
    struct host_ctx ctx;
    struct sr_host host;
    struct journal journal;
    struct sr_error err;
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
    host_init(&p->host, &p->ctx, &p->env, p->home, "journal");
}

static void end(struct place *p)
{
    journal_close(&p->journal);
    home_close(p->home);
    disk_free(p->disk);
}

/* The byte that every test's stream has at this offset. */
static uint8_t byte_at(uint64_t offset) { return (uint8_t)(offset * 31 + (offset >> 8) * 7); }

static sr_rc go(struct place *p, uint64_t offset, bool is_ours)
{
    journal_close(&p->journal);
    sr_rc rc = journal_open(&p->journal, &p->host, DIR, MAX, &p->err);
    return rc == SR_OK ? journal_go(&p->journal, SESSION, offset, is_ours ? origin : NULL, &p->err)
                       : rc;
}

static sr_rc append(struct place *p, uint32_t len)
{
    static uint8_t bytes[300000];
    for (uint32_t i = 0; i < len; i++) {
        bytes[i] = byte_at(p->journal.offset + i);
    }
    return journal_append(&p->journal, bytes, len, &p->err);
}

/* Reads to the end of what is there, `room` bytes at a time. */
static sr_rc read_all(struct place *p, uint32_t room)
{
    static uint8_t bytes[300000];
    for (;;) {
        uint64_t at = p->journal.offset;
        uint32_t got = 0;
        sr_rc rc = journal_read(&p->journal, bytes, room, &got, &p->err);
        if (rc != SR_OK || got == 0) {
            return rc;
        }
        bool is_right = got <= room && p->journal.offset == at + got;
        for (uint32_t i = 0; i < got; i++) {
            is_right = is_right && bytes[i] == byte_at(at + i);
        }
        ck_assert(is_right); /* libcheck writes a line a check: one a byte would be slow */
    }
}

#define OK(call) ck_assert_msg((call) == SR_OK, "%s", p.err.words)

/* What was appended is read again from any offset, in pieces of any size, over segments. */
START_TEST(bytes_come_back_from_any_offset)
{
    static const uint32_t groups[] = {1, 100, 99999, 0, 131072, 7, 262144, 50000, 131071};
    struct place p;
    uint64_t all = 0;
    begin(&p, 1);
    OK(go(&p, 0, true));
    OK(read_all(&p, 10));
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        OK(append(&p, groups[i]));
        all += groups[i];
    }
    ck_assert_uint_ge(p.journal.list.count, 3);
    ck_assert_uint_eq(p.journal.offset, all);
    OK(journal_end(&p.journal, &p.err));
    for (uint64_t from = 0; from <= all; from = from < 3 ? from + 1 : from * 3 / 2) {
        OK(go(&p, from, false));
        OK(read_all(&p, from % 2 == 0 ? 300000 : 777));
        ck_assert_uint_eq(p.journal.offset, all);
        ck_assert(p.journal.has_end);
    }
    struct journal_look look;
    OK(journal_look(&p.host, DIR, &p.journal.list, SESSION, &look, &p.err));
    ck_assert(look.has_end && memcmp(look.origin, origin, sizeof(origin)) == 0);
    ck_assert_int_eq(go(&p, all + 1, false), SR_ECORRUPT);
    ck_assert_ptr_nonnull(strstr(p.err.words, "has lost bytes"));
    end(&p);
}
END_TEST

/* Appends until the disk dies; answers the offset up to which all was said to be durable. */
static uint64_t write_until_dead(struct place *p, uint64_t seed)
{
    uint64_t safe = 0;
    if (go(p, 0, true) != SR_OK || read_all(p, 1000) != SR_OK) {
        return 0;
    }
    for (uint32_t i = 0; i < 12; i++) {
        uint32_t len = (uint32_t)((seed * 2654435761u + i * 40503u) % 90000);
        if (append(p, len) != SR_OK) {
            break;
        }
        safe = p->journal.offset;
    }
    return safe;
}

/* Whenever the machine or the process dies: all that was said to be durable is read again, then
 * whole groups at most, and writing goes on behind them. */
START_TEST(nothing_that_was_told_is_lost_in_a_crash)
{
    for (uint64_t seed = 0; seed < 150; seed++) {
        struct place p;
        begin(&p, seed);
        disk_crash_in(p.disk, seed % 50, seed % 3 == 0 ? DISK_KILL : DISK_POWER_LOSS);
        uint64_t safe = write_until_dead(&p, seed);
        journal_close(&p.journal);
        if (!disk_is_off(p.disk)) {
            disk_crash(p.disk, DISK_POWER_LOSS);
        }
        disk_restart(p.disk, DISK_BY_SEED);
        for (int again = 0; again < 2; again++) {
            OK(go(&p, safe / 2, true));
            OK(read_all(&p, 5000));
            ck_assert_uint_ge(p.journal.offset, safe);
            safe = p.journal.offset;
            OK(append(&p, 1234));
            safe += 1234;
        }
        OK(go(&p, 0, false));
        OK(read_all(&p, 5000));
        ck_assert_uint_eq(p.journal.offset, safe);
        end(&p);
    }
}
END_TEST

/* A write without space changes nothing and may be tried again; a sync that failed is believed
 * nowhere, and nothing of its bytes is taken for durable. */
START_TEST(calls_that_fail_are_survived)
{
    for (uint64_t n = 0; n < 40; n++) {
        struct place p;
        begin(&p, n);
        OK(go(&p, 0, true));
        OK(append(&p, 1000));
        disk_set_capacity(p.disk, disk_used(p.disk) + 100);
        ck_assert_int_eq(append(&p, 5000), SR_ENOSPC);
        disk_set_capacity(p.disk, UINT64_MAX);
        OK(append(&p, 5000));
        uint64_t safe = p.journal.offset;
        disk_fail_in(p.disk, n % 2 ? DISK_FAULT_SYNC : DISK_FAULT_EIO, n / 2);
        while (disk_fail_pending(p.disk) && append(&p, 60000) == SR_OK) {
            safe = p.journal.offset;
        }
        if (n % 2 && p.journal.is_broken) {
            ck_assert_int_eq(append(&p, 1), SR_EIO);
        }
        disk_crash_never(p.disk);
        OK(go(&p, 0, true));
        OK(read_all(&p, 4096));
        ck_assert_uint_ge(p.journal.offset, safe);
        OK(append(&p, 10));
        disk_crash(p.disk, DISK_POWER_LOSS);
        disk_restart(p.disk, DISK_NOTHING);
        OK(go(&p, 0, true));
        OK(read_all(&p, 4096));
        ck_assert_uint_ge(p.journal.offset, safe + 10);
        end(&p);
    }
}
END_TEST

/* No space for a further segment, at any of the calls that make it: it is waited for as well. */
START_TEST(a_segment_that_finds_no_space_is_tried_again)
{
    for (uint64_t n = 0; n < 4; n++) {
        struct place p;
        begin(&p, n);
        OK(go(&p, 0, true));
        while (p.journal.out_at < MAX / 8) {
            OK(append(&p, 20000));
        }
        uint64_t safe = p.journal.offset;
        for (int i = 0; i < 3; i++) {
            disk_fail_in(p.disk, DISK_FAULT_ENOSPC, n);
            sr_rc rc = append(&p, 5000);
            ck_assert_int_eq(rc, disk_fail_pending(p.disk) ? SR_OK : SR_ENOSPC);
            ck_assert(!p.journal.is_broken);
            safe += rc == SR_OK ? 5000 : 0;
            ck_assert_uint_eq(p.journal.offset, safe);
        }
        disk_fail_in(p.disk, DISK_FAULT_ENOSPC, UINT64_MAX);
        if (n % 2) {
            OK(append(&p, 7000));
            safe += 7000;
        }
        OK(journal_end(&p.journal, &p.err));
        disk_crash(p.disk, DISK_POWER_LOSS);
        disk_restart(p.disk, DISK_NOTHING);
        OK(go(&p, 0, false));
        OK(read_all(&p, 4096));
        ck_assert_uint_eq(p.journal.offset, safe);
        ck_assert(p.journal.has_end);
        end(&p);
    }
}
END_TEST

/* Any byte that is changed is found, in the last group too. */
START_TEST(damage_is_told)
{
    struct place p;
    begin(&p, 1);
    OK(go(&p, 0, true));
    OK(append(&p, 300));
    OK(append(&p, 200));
    OK(append(&p, 100));
    journal_close(&p.journal);
    char *path = journal_path(DIR, SESSION, 0);
    uint64_t size = 0;
    const uint8_t *there = disk_bytes(p.disk, path, &size);
    uint8_t *bytes = malloc(size);
    memcpy(bytes, there, size);
    for (uint64_t at = 0; at < size; at++) {
        bytes[at] ^= 1;
        OK(disk_put(p.disk, path, bytes, size));
        for (int is_ours = 0; is_ours < 2; is_ours++) {
            sr_rc rc = go(&p, 0, is_ours == 1);
            rc = rc == SR_OK ? read_all(&p, 1000) : rc;
            ck_assert_msg(rc == SR_ECORRUPT, "byte %llu", (unsigned long long)at);
            ck_assert_ptr_nonnull(strstr(p.err.words, "is damaged"));
        }
        bytes[at] ^= 1;
    }
    for (uint64_t len = 0; len < size; len++) { /* shorter: the last groups are gone */
        OK(disk_put(p.disk, path, bytes, len));
        OK(go(&p, 0, false));
        OK(read_all(&p, 1000));
        ck_assert(p.journal.offset == 0 || p.journal.offset == 300 || p.journal.offset == 500);
    }
    memset(bytes + size - 100 - JOURNAL_HEAD, 0,
           100 + JOURNAL_HEAD); /* its sector was not written */
    OK(disk_put(p.disk, path, bytes, size));
    OK(go(&p, 0, false));
    OK(read_all(&p, 1000));
    ck_assert_int_eq(go(&p, 550, false), SR_ECORRUPT); /* a checkpoint knows better */
    free(bytes);
    free(path);
    end(&p);
}
END_TEST

/* What a checkpoint has goes, segment by segment; a full journal has room again. */
START_TEST(what_is_acknowledged_goes)
{
    struct place p;
    begin(&p, 1);
    OK(go(&p, 0, true));
    while (!journal_is_full(&p.journal)) {
        OK(append(&p, 60000));
    }
    uint64_t bytes = journal_bytes(&p.journal), all = p.journal.offset;
    ck_assert_uint_le(bytes, MAX);
    journal_ack(&p.journal, SESSION, all - 100000);
    ck_assert(!journal_is_full(&p.journal));
    ck_assert_uint_lt(journal_bytes(&p.journal), 400000);
    ck_assert_uint_eq(journal_acked(&p.host, DIR, SESSION), all - 100000);
    OK(append(&p, 5));
    OK(go(&p, all - 100000, true));
    OK(read_all(&p, 1000));
    ck_assert_uint_eq(p.journal.offset, all + 5);
    ck_assert_int_eq(go(&p, 10, false), SR_EMISFIT);
    ck_assert_ptr_nonnull(strstr(p.err.words, "no longer has byte 10"));
    OK(go(&p, all, true));
    OK(read_all(&p, 1000));
    OK(journal_end(&p.journal, &p.err));
    journal_drop(&p.journal, SESSION, p.journal.offset);
    ck_assert_uint_eq(p.journal.list.count, 0);
    struct journal_list l;
    OK(journal_list(&p.host, DIR, &l, &p.err));
    ck_assert_uint_eq(l.count, 0);
    journal_list_done(&l);
    end(&p);
}
END_TEST

/* One writer: the second is told who has it. */
START_TEST(a_journal_has_one_owner)
{
    struct place p;
    struct journal other;
    begin(&p, 1);
    OK(go(&p, 0, true));
    ck_assert_int_eq(journal_open(&other, &p.host, DIR, MAX, &p.err), SR_EBUSY);
    ck_assert_ptr_nonnull(strstr(p.err.words, "another source's"));
    journal_close(&other);
    end(&p);
}
END_TEST

UNIT_MAIN("journal", bytes_come_back_from_any_offset, nothing_that_was_told_is_lost_in_a_crash,
          calls_that_fail_are_survived, a_segment_that_finds_no_space_is_tried_again,
          damage_is_told, what_is_acknowledged_goes, a_journal_has_one_owner)
