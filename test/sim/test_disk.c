/* The simulated disk itself: it must forget what a real one may forget, and nothing else. */
#include <sqlite3.h>
#include <string.h>

#include "test/sim/sqlite_vfs.h"
#include "test/unit/unit.h"

static struct sr_error err;

static struct sr_file *create(struct disk *d, const char *path)
{
    struct sr_file *f = NULL;
    const struct sr_files *fs = disk_files(d);
    ck_assert_int_eq(fs->open(fs, path, SR_FILE_WRITE | SR_FILE_CREATE, &f, &err), SR_OK);
    return f;
}

static void put(struct disk *d, struct sr_file *f, const char *text, uint64_t at)
{
    ck_assert_int_eq(disk_files(d)->write(f, text, strlen(text), at, &err), SR_OK);
}

static bool has(struct disk *d, const char *path, const char *text)
{
    uint64_t size = 0;
    const uint8_t *bytes = disk_bytes(d, path, &size);
    return bytes && size == strlen(text) && memcmp(bytes, text, size) == 0;
}

static void lose_power(struct disk *d, enum disk_mercy mercy)
{
    disk_crash(d, DISK_POWER_LOSS);
    disk_restart(d, mercy);
}

START_TEST(what_is_synced_with_its_name_stays)
{
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct disk *d = disk_new(seed);
        const struct sr_files *fs = disk_files(d);
        ck_assert_int_eq(fs->make_dir(fs, "/a", &err), SR_OK);
        ck_assert_int_eq(fs->sync_dir(fs, "/", &err), SR_OK);
        struct sr_file *f = create(d, "/a/f");
        put(d, f, "hello", 0);
        ck_assert_int_eq(fs->sync(f, &err), SR_OK);
        ck_assert_int_eq(fs->sync_dir(fs, "/a", &err), SR_OK);
        put(d, f, "HELLO, world", 0);
        lose_power(d, DISK_BY_SEED);
        uint64_t size = 0;
        const uint8_t *bytes = disk_bytes(d, "/a/f", &size);
        ck_assert_ptr_nonnull(bytes);
        ck_assert(size >= 5 && size <= 12);
        ck_assert(memcmp(bytes, "hello", 5) == 0 || memcmp(bytes, "HELLO", 5) == 0);
        ck_assert_int_eq(fs->write(f, "x", 1, 0, &err), SR_EIO); /* a handle of the dead process */
        (void)fs->close(f, NULL);
        disk_free(d);
    }
}
END_TEST

START_TEST(a_file_without_its_name_or_its_bytes_can_be_lost)
{
    struct disk *d = disk_new(1);
    const struct sr_files *fs = disk_files(d);
    struct sr_file *f = create(d, "/named");
    put(d, f, "bytes", 0);
    ck_assert_int_eq(fs->sync_dir(fs, "/", &err), SR_OK);
    struct sr_file *g = create(d, "/unnamed");
    put(d, g, "bytes", 0);
    ck_assert_int_eq(fs->sync(g, &err), SR_OK);
    lose_power(d, DISK_NOTHING);
    ck_assert(has(d, "/named", ""));
    ck_assert(!has(d, "/unnamed", "bytes"));
    (void)fs->close(f, NULL);
    (void)fs->close(g, NULL);
    disk_free(d);
}
END_TEST

START_TEST(a_kill_loses_nothing_but_locks)
{
    struct disk *d = disk_new(1);
    const struct sr_files *fs = disk_files(d);
    struct sr_file *f = create(d, "/f");
    put(d, f, "bytes", 0);
    ck_assert_int_eq(fs->lock(f, &err), SR_OK);
    struct sr_file *g = create(d, "/f");
    ck_assert_int_eq(fs->lock(g, &err), SR_EBUSY);
    disk_crash(d, DISK_KILL);
    ck_assert_int_eq(fs->write(g, "x", 1, 0, &err), SR_EIO);
    disk_restart(d, DISK_NOTHING);
    ck_assert(has(d, "/f", "bytes"));
    struct sr_file *h = create(d, "/f");
    ck_assert_int_eq(fs->lock(h, &err), SR_OK);
    (void)fs->close(f, NULL);
    (void)fs->close(g, NULL);
    (void)fs->close(h, NULL);
    disk_free(d);
}
END_TEST

/* Renames that wait for a sync: however many, whatever survives, the file has one name. */
START_TEST(a_rename_comes_through_whole_or_not_at_all)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct disk *d = disk_new(seed);
        const struct sr_files *fs = disk_files(d);
        ck_assert_int_eq(fs->make_dir(fs, "/a", &err), SR_OK);
        ck_assert_int_eq(fs->make_dir(fs, "/b", &err), SR_OK);
        ck_assert_int_eq(fs->sync_dir(fs, "/", &err), SR_OK);
        struct sr_file *f = create(d, "/a/1");
        put(d, f, "x", 0);
        ck_assert_int_eq(fs->sync(f, &err), SR_OK);
        ck_assert_int_eq(fs->sync_dir(fs, "/a", &err), SR_OK);
        (void)fs->close(f, NULL);
        ck_assert_int_eq(fs->rename(fs, "/a/1", "/b/2", false, &err), SR_OK);
        ck_assert_int_eq(fs->rename(fs, "/b/2", "/a/3", false, &err), SR_OK);
        if (seed % 2 == 0) {
            ck_assert_int_eq(fs->sync_dir(fs, "/a", &err), SR_OK);
        }
        lose_power(d, DISK_SOME);
        int names = has(d, "/a/1", "x") + has(d, "/b/2", "x") + has(d, "/a/3", "x");
        ck_assert_int_eq(names, 1);
        ck_assert(seed % 2 != 0 || has(d, "/a/3", "x"));
        disk_free(d);
    }
}
END_TEST

START_TEST(a_failed_sync_proves_nothing_the_second_time)
{
    bool was_lost = false;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct disk *d = disk_new(seed);
        const struct sr_files *fs = disk_files(d);
        struct sr_file *f = create(d, "/f");
        ck_assert_int_eq(fs->sync_dir(fs, "/", &err), SR_OK);
        put(d, f, "bytes", 0);
        disk_fail_in(d, DISK_FAULT_SYNC, 0);
        ck_assert_int_eq(fs->sync(f, &err), SR_EIO);
        ck_assert_int_eq(fs->sync(f, &err), SR_OK);
        ck_assert(has(d, "/f", "bytes"));
        lose_power(d, DISK_EVERYTHING);
        was_lost = was_lost || !has(d, "/f", "bytes");
        (void)fs->close(f, NULL);
        disk_free(d);
    }
    ck_assert(was_lost);
}
END_TEST

START_TEST(names_behave_as_posix_says)
{
    struct disk *d = disk_new(1);
    const struct sr_files *fs = disk_files(d);
    struct sr_file *f = create(d, "/f");
    char **names = NULL;
    ck_assert_int_eq(fs->make_dir(fs, "/f", &err), SR_EEXISTS);
    ck_assert_int_eq(fs->make_dir(fs, "/x/y", &err), SR_EABSENT);
    ck_assert_int_eq(fs->make_dir(fs, "/d", &err), SR_OK);
    ck_assert_int_eq(fs->remove(fs, "/d", &err), SR_EIO);
    ck_assert_int_eq(fs->remove_dir(fs, "/f", &err), SR_EIO);
    ck_assert_int_eq(fs->rename(fs, "/f", "/d/g", false, &err), SR_OK);
    ck_assert_int_eq(fs->remove_dir(fs, "/d", &err), SR_EEXISTS);
    put(d, f, "a", 0);
    (void)fs->close(create(d, "/h"), NULL);
    ck_assert_int_eq(fs->rename(fs, "/d/g", "/h", false, &err), SR_EEXISTS);
    ck_assert_int_eq(fs->rename(fs, "/d/g", "/h", true, &err), SR_OK);
    ck_assert(has(d, "/h", "a"));
    ck_assert_int_eq(fs->remove_dir(fs, "/d", &err), SR_OK);
    ck_assert_int_eq(fs->list(fs, "/", &names, &err), SR_OK);
    ck_assert_str_eq(names[0], "h");
    ck_assert_ptr_null(names[1]);
    fs->names_free(fs, names);
    ck_assert_int_eq(fs->remove(fs, "/h", &err), SR_OK);
    put(d, f, "still open", 0);
    (void)fs->close(f, NULL);
    ck_assert_int_eq(fs->sync_dir(fs, "/", &err), SR_OK); /* until then it might come back */
    ck_assert_uint_eq(disk_used(d), 0);
    disk_free(d);
}
END_TEST

/* --- SQLite ----------------------------------------------------------------------------------- */

static sqlite3 *sql_open(const char *pragmas)
{
    sqlite3 *db = NULL;
    ck_assert_int_eq(
        sqlite3_open_v2("/t.db", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "sim"),
        SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, pragmas, NULL, NULL, NULL), SQLITE_OK);
    return db;
}

static int sql_count(sqlite3 *db)
{
    sqlite3_stmt *st = NULL;
    int n = -1;
    if (sqlite3_prepare_v2(db, "SELECT count(*) FROM t", -1, &st, NULL) == SQLITE_OK &&
        sqlite3_step(st) == SQLITE_ROW) {
        n = sqlite3_column_int(st, 0);
    }
    sqlite3_finalize(st);
    return n;
}

/* Commits five rows one by one, loses power; how many acknowledged ones are gone? */
static int sql_lost(uint64_t seed, const char *pragmas, enum disk_mercy mercy)
{
    struct disk *d = disk_new(seed);
    struct sqlite_vfs *v = sqlite_vfs_new("sim", d);
    sqlite3 *db = sql_open(pragmas);
    ck_assert_int_eq(sqlite3_exec(db, "CREATE TABLE t(x)", NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(disk_files(d)->sync_dir(disk_files(d), "/", &err), SR_OK);
    int done = 0;
    disk_crash_in(d, 10 + seed, DISK_POWER_LOSS);
    while (done < 5 && sqlite3_exec(db, "INSERT INTO t VALUES(randomblob(3000))", NULL, NULL,
                                    NULL) == SQLITE_OK) {
        done++;
    }
    if (!disk_is_off(d)) {
        disk_crash(d, DISK_POWER_LOSS);
    }
    disk_restart(d, mercy);
    sqlite3_close_v2(db);
    db = sql_open("PRAGMA integrity_check");
    int there = sql_count(db);
    ck_assert_int_ge(there, 0);
    ck_assert_int_le(there, done + 1);
    sqlite3_close_v2(db);
    sqlite_vfs_free(v);
    disk_free(d);
    return done - (there < done ? there : done);
}

/* The finding that decides the store's journal mode, reproduced. */
START_TEST(truncate_keeps_every_commit_and_the_default_does_not)
{
    int lost_by_default = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        enum disk_mercy mercy = seed % 3 == 0 ? DISK_NOTHING : DISK_BY_SEED;
        lost_by_default += sql_lost(seed, "PRAGMA synchronous=FULL", mercy);
        ck_assert_int_eq(
            sql_lost(seed, "PRAGMA journal_mode=TRUNCATE; PRAGMA synchronous=FULL", mercy), 0);
    }
    ck_assert_int_gt(lost_by_default, 0);
}
END_TEST

START_TEST(two_connections_are_two_processes)
{
    struct disk *d = disk_new(1);
    struct sqlite_vfs *v = sqlite_vfs_new("sim", d);
    sqlite3 *a = sql_open("PRAGMA journal_mode=TRUNCATE; CREATE TABLE t(x)");
    sqlite3 *b = sql_open("PRAGMA journal_mode=TRUNCATE");
    ck_assert_int_eq(sqlite3_exec(a, "BEGIN IMMEDIATE; INSERT INTO t VALUES(1)", NULL, NULL, NULL),
                     SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(b, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_BUSY);
    ck_assert_int_eq(sql_count(b), 0); /* a reader may look on */
    ck_assert_int_eq(
        sqlite3_exec(b, "BEGIN; SELECT * FROM t; SELECT count(*) FROM t", NULL, NULL, NULL),
        SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(a, "COMMIT", NULL, NULL, NULL), SQLITE_BUSY);
    ck_assert_int_eq(sqlite3_exec(b, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(a, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(sql_count(b), 1);
    sqlite3_close_v2(a);
    sqlite3_close_v2(b);
    sqlite_vfs_free(v);
    disk_free(d);
}
END_TEST

START_TEST(the_same_seed_gives_the_same_disk)
{
    uint64_t hash[2];
    for (int i = 0; i < 2; i++) {
        struct disk *d = disk_new(42);
        struct sqlite_vfs *v = sqlite_vfs_new("sim", d);
        sqlite3 *db = sql_open("PRAGMA journal_mode=TRUNCATE; CREATE TABLE t(x)");
        disk_crash_in(d, 20, DISK_POWER_LOSS);
        while (!disk_is_off(d)) {
            (void)sqlite3_exec(db, "INSERT INTO t VALUES(randomblob(900))", NULL, NULL, NULL);
        }
        disk_restart(d, DISK_SOME);
        hash[i] = disk_hash(d);
        sqlite3_close_v2(db);
        sqlite_vfs_free(v);
        disk_free(d);
    }
    ck_assert_uint_eq(hash[0], hash[1]);
}
END_TEST

UNIT_MAIN("disk", what_is_synced_with_its_name_stays,
          a_file_without_its_name_or_its_bytes_can_be_lost, a_kill_loses_nothing_but_locks,
          a_rename_comes_through_whole_or_not_at_all, a_failed_sync_proves_nothing_the_second_time,
          names_behave_as_posix_says, truncate_keeps_every_commit_and_the_default_does_not,
          two_connections_are_two_processes, the_same_seed_gives_the_same_disk)
