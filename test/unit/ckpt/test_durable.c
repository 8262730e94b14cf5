/* durable.c, counters.c, lock.c: on the simulated disk, where it shows what was not synced. */
#include <string.h>

#include "engine/ckpt/counters.h"
#include "engine/ckpt/durable.h"
#include "engine/ckpt/lock.h"
#include "test/sim/disk.h"
#include "test/unit/unit.h"

static struct disk *disk;
static struct env env;
static struct arena *arena;

static void begin(void)
{
    disk = disk_new(1);
    env = env_posix(SR_LOG_ERROR);
    env.files = disk_files(disk);
    arena = arena_new();
}

static void end(void)
{
    arena_free(arena);
    disk_free(disk);
}

static void lose_power(void)
{
    disk_crash(disk, DISK_POWER_LOSS);
    disk_restart(disk, DISK_NOTHING);
}

static enum durable_kind look(const char *path)
{
    struct sr_error err;
    enum durable_kind kind = DURABLE_ABSENT;
    ck_assert_int_eq(durable_look(&env, path, &kind, &err), SR_OK);
    return kind;
}

static void has(const char *path, const char *text)
{
    uint64_t size = 0;
    const uint8_t *bytes = disk_bytes(disk, path, &size);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_uint_eq(size, strlen(text));
    ck_assert_mem_eq(bytes, text, size);
}

START_TEST(made_directories_outlive_a_power_loss)
{
    struct sr_error err;
    begin();
    ck_assert_int_eq(durable_make_dirs(&env, "/a//b/c/", &err), SR_OK);
    ck_assert_int_eq(durable_make_dirs(&env, "/a/b/c/d", &err), SR_OK);
    ck_assert_int_eq(durable_make_dirs(&env, "/", &err), SR_OK);
    lose_power();
    ck_assert_int_eq(look("/a/b/c/d"), DURABLE_DIR);
    ck_assert_int_eq(disk_put(disk, "/a/f", "x", 1), SR_OK);
    ck_assert_int_ne(durable_make_dirs(&env, "/a/f/g", &err), SR_OK);
    end();
}
END_TEST

START_TEST(a_replaced_file_is_the_old_one_or_the_new_one)
{
    struct sr_error err;
    for (uint64_t step = 0; step < 10; step++) {
        begin();
        ck_assert_int_eq(durable_replace(&env, "/f", "old", 3, &err), SR_OK);
        lose_power();
        has("/f", "old");
        disk_crash_in(disk, step, DISK_POWER_LOSS);
        sr_rc rc = durable_replace(&env, "/f", "newer", 5, &err);
        if (!disk_is_off(disk)) {
            disk_crash(disk, DISK_POWER_LOSS);
        }
        disk_restart(disk, step % 2 == 0 ? DISK_NOTHING : DISK_SOME);
        uint64_t size = 0;
        ck_assert_ptr_nonnull(disk_bytes(disk, "/f", &size));
        has("/f", size == 3 && rc != SR_OK ? "old" : "newer");
        ck_assert_int_eq(durable_replace(&env, "/f", "last", 4, &err), SR_OK);
        has("/f", "last");
        end();
    }
}
END_TEST

START_TEST(failing_to_look_is_not_absence)
{
    struct sr_error err;
    enum durable_kind kind = DURABLE_FILE;
    begin();
    disk_fail_in(disk, DISK_FAULT_EIO, 0);
    ck_assert_int_eq(durable_look(&env, "/f", &kind, &err), SR_EIO);
    ck_assert_int_eq(durable_look(&env, "/f", &kind, &err), SR_OK);
    ck_assert_int_eq(kind, DURABLE_ABSENT);
    end();
}
END_TEST

START_TEST(a_tree_is_removed_and_absence_is_fine)
{
    struct sr_error err;
    begin();
    ck_assert_int_eq(durable_make_dirs(&env, "/t/.ep-1/chk-2", &err), SR_OK);
    ck_assert_int_eq(disk_put(disk, "/t/.ep-1/chk-2/state", "x", 1), SR_OK);
    ck_assert_int_eq(disk_put(disk, "/t/f", "x", 1), SR_OK);
    ck_assert_int_eq(durable_remove(&env, "/t/.ep-1", &err), SR_OK);
    ck_assert_int_eq(look("/t/.ep-1"), DURABLE_ABSENT);
    ck_assert_int_eq(durable_remove(&env, "/t/f", &err), SR_OK);
    ck_assert_int_eq(durable_remove(&env, "/t/f", &err), SR_OK);
    ck_assert_int_eq(durable_remove(&env, "/t", &err), SR_OK);
    ck_assert_int_eq(look("/t"), DURABLE_ABSENT);
    end();
}
END_TEST

/* Whatever sync fails: once the call has succeeded, a power loss takes no directory. */
START_TEST(a_directory_is_durable_though_its_sync_failed_before)
{
    for (uint64_t n = 0; n < 3; n++) {
        struct sr_error err;
        begin();
        disk_fail_in(disk, DISK_FAULT_SYNC, n);
        ck_assert_int_eq(durable_make_dirs(&env, "/a/b/c", &err), SR_EIO);
        ck_assert(!disk_fail_pending(disk));
        ck_assert_int_eq(durable_make_dirs(&env, "/a/b/c", &err), SR_OK);
        disk_crash(disk, DISK_POWER_LOSS);
        disk_restart(disk, DISK_NOTHING);
        ck_assert_int_eq(look("/a/b/c"), DURABLE_DIR);
        end();
    }
}
END_TEST

static sr_rc late_remove(const struct sr_files *fs, const char *path, struct sr_error *err)
{
    const struct sr_files *files = disk_files(disk);
    (void)files->rename(files, "/t/.ep-1/chk-2", "/chk-2", false, NULL); /* too late, or whole */
    return files->remove(fs, path, err);
}

/* A leader that was taken over may be in the middle of renaming what its successor sweeps away. */
START_TEST(nobody_gets_hold_of_what_is_half_removed)
{
    struct sr_error err;
    begin();
    struct sr_files late = *env.files;
    late.remove = late_remove;
    env.files = &late;
    for (int turn = 0; turn < 2; turn++) { /* the second time behind a crash */
        ck_assert_int_eq(durable_make_dirs(&env, "/t/.ep-1/chk-2", &err), SR_OK);
        ck_assert_int_eq(disk_put(disk, "/t/.ep-1/chk-2/state", "x", 1), SR_OK);
        ck_assert_int_eq(disk_put(disk, "/t/.ep-1/chk-2/_metadata", "x", 1), SR_OK);
        ck_assert_int_eq(durable_remove(&env, "/t/.ep-1", &err), SR_OK);
        ck_assert_int_eq(look("/t/.ep-1"), DURABLE_ABSENT);
        bool is_whole = look("/chk-2/state") == DURABLE_FILE;
        is_whole = is_whole && look("/chk-2/_metadata") == DURABLE_FILE;
        ck_assert(is_whole || look("/chk-2") == DURABLE_ABSENT);
        ck_assert_int_eq(is_whole, turn == 1);
        ck_assert_int_eq(durable_make_dirs(&env, "/t/.ep-1/chk-2.gone", &err), SR_OK);
        ck_assert_int_eq(disk_put(disk, "/t/.ep-1/chk-2.gone/state", "x", 1), SR_OK);
    }
    end();
}
END_TEST

START_TEST(a_number_is_decimal_and_has_one_form)
{
    uint64_t n = 0;
    ck_assert(durable_number("chk-10", "chk-", &n) && n == 10);
    ck_assert(durable_number("chk-18446744073709551615", "chk-", &n) && n == UINT64_MAX);
    static const char *const none[] = {"chk-",   "chk-0",  "chk-01",    "chk-+1",
                                       "chk-1x", "chk--1", "chk- 1",    "xchk-1",
                                       "chk",    "",       "chk-1.end", "chk-18446744073709551616"};
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        ck_assert_msg(!durable_number(none[i], "chk-", &n), "%s", none[i]);
    }
}
END_TEST

START_TEST(reading_has_a_bound)
{
    struct sr_error err;
    struct durable_bytes is = {0};
    begin();
    ck_assert_int_eq(disk_put(disk, "/f", "12345", 5), SR_OK);
    ck_assert_int_eq(durable_read(&env, "/f", 5, arena, &is, &err), SR_OK);
    ck_assert_uint_eq(is.len, 5);
    ck_assert_int_eq(durable_read(&env, "/f", 4, arena, &is, &err), SR_ECORRUPT);
    ck_assert_int_eq(durable_read(&env, "/g", 4, arena, &is, &err), SR_EABSENT);
    end();
}
END_TEST

START_TEST(counters_are_read_as_written_or_refused)
{
    struct sr_error err;
    struct counters c = {9, 9, 9, 9};
    struct counters to = {.attempt = 8, .newest = 43, .base = UINT64_MAX};
    begin();
    ck_assert_int_eq(counters_read(&env, "/counters", &c, &err), SR_OK);
    ck_assert(c.attempt == 0 && c.newest == 0 && c.base == 0);
    ck_assert_int_eq(counters_write(&env, "/counters.tmp", "/counters", &to, &err), SR_OK);
    lose_power();
    ck_assert_int_eq(counters_read(&env, "/counters", &c, &err), SR_OK);
    ck_assert(c.attempt == 8 && c.newest == 43 && c.base == UINT64_MAX);
    uint64_t size = 0;
    char text[256];
    const uint8_t *bytes = disk_bytes(disk, "/counters", &size);
    ck_assert_uint_lt(size, sizeof(text));
    memcpy(text, bytes, size);
    for (uint64_t i = 0; i < size; i++) {
        text[i] ^= 1;
        ck_assert_int_eq(disk_put(disk, "/counters", text, size), SR_OK);
        ck_assert_int_eq(counters_read(&env, "/counters", &c, &err), SR_ECORRUPT);
        text[i] ^= 1;
        ck_assert_int_eq(disk_put(disk, "/counters", text, i), SR_OK);
        ck_assert_int_eq(counters_read(&env, "/counters", &c, &err), SR_ECORRUPT);
    }
    end();
}
END_TEST

static const struct lock_conf lock_conf = {.path = "/LOCK", .job_name = "hits"};

START_TEST(a_lock_names_its_holder_whatever_lies_in_the_file)
{
    struct sr_error err;
    struct lock *first = NULL;
    struct lock *second = NULL;
    begin();
    ck_assert_int_eq(lock_take(&first, &env, &lock_conf, &err), SR_OK);
    ck_assert_int_eq(lock_take(&second, &env, &lock_conf, &err), SR_EBUSY);
    ck_assert_msg(strstr(err.words, "'hits'") && strstr(err.words, "pid "), "%s", err.words);
    ck_assert_int_eq(disk_put(disk, "/LOCK", "\xff\n\0x", 4), SR_OK);
    ck_assert_int_eq(lock_take(&second, &env, &lock_conf, &err), SR_EBUSY);
    ck_assert_msg(strstr(err.words, "another process"), "%s", err.words);
    lock_release(first);
    ck_assert_int_eq(lock_take(&second, &env, &lock_conf, &err), SR_OK);
    lock_release(second);
    lock_release(NULL);
    end();
}
END_TEST

START_TEST(a_lock_is_seized_only_from_a_holder_that_does_not_move)
{
    struct sr_error err;
    struct lock *first = NULL;
    struct lock *second = NULL;
    struct lock *third = NULL;
    struct lock_sight seen;
    begin();
    ck_assert_int_eq(lock_take(&first, &env, &lock_conf, &err), SR_OK);
    ck_assert_int_eq(lock_look(&env, "/LOCK", &seen, &err), SR_OK);
    ck_assert_int_eq(lock_beat(first, &err), SR_OK);
    ck_assert_int_eq(lock_seize(&second, &env, &lock_conf, &seen, &err), SR_EBUSY);
    ck_assert_int_eq(lock_look(&env, "/LOCK", &seen, &err), SR_OK);
    ck_assert_msg(strstr(seen.text, "beat 00000000000000000001\n"), "%s", seen.text);
    ck_assert_int_eq(lock_seize(&second, &env, &lock_conf, &seen, &err), SR_OK);
    ck_assert_int_eq(lock_seize(&third, &env, &lock_conf, &seen, &err), SR_EBUSY);
    ck_assert_int_eq(lock_beat(first, &err), SR_EFENCED);
    ck_assert_int_eq(lock_beat(second, &err), SR_OK);
    lock_release(first); /* frees nobody's lock but its own */
    ck_assert_int_eq(lock_take(&third, &env, &lock_conf, &err), SR_EBUSY);
    lock_say_end(second, "finished");
    lock_release(second);
    ck_assert_int_eq(lock_take(&third, &env, &lock_conf, &err), SR_OK);
    ck_assert_str_eq(lock_end_before(third), "finished");
    lock_release(third); /* that one only looked */
    ck_assert_int_eq(lock_take(&third, &env, &lock_conf, &err), SR_OK);
    ck_assert_int_eq(lock_look(&env, "/LOCK", &seen, &err), SR_OK);
    ck_assert_int_eq(lock_seize(&second, &env, &lock_conf, &seen, &err), SR_OK);
    ck_assert_str_eq(lock_end_before(second), "finished"); /* it hung when it had ended */
    lock_release(third);
    lock_say_end(second, "");
    ck_assert_int_eq(lock_beat(second, &err), SR_OK);
    lock_release(second);
    ck_assert_int_eq(lock_look(&env, "/LOCK", &seen, &err), SR_OK);
    ck_assert_int_eq(lock_seize(&third, &env, &lock_conf, &seen, &err), SR_OK);
    ck_assert_str_eq(lock_end_before(third), ""); /* that one was killed */
    lock_release(third);
    end();
}
END_TEST

UNIT_MAIN("durable", made_directories_outlive_a_power_loss,
          a_replaced_file_is_the_old_one_or_the_new_one, failing_to_look_is_not_absence,
          a_tree_is_removed_and_absence_is_fine,
          a_directory_is_durable_though_its_sync_failed_before,
          nobody_gets_hold_of_what_is_half_removed, a_number_is_decimal_and_has_one_form,
          reading_has_a_bound, counters_are_read_as_written_or_refused,
          a_lock_names_its_holder_whatever_lies_in_the_file,
          a_lock_is_seized_only_from_a_holder_that_does_not_move)
