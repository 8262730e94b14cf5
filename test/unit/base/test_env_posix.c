#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/base/env.h"
#include "test/unit/unit.h"

static char dir[64];
static struct env env;
static const struct sr_files *fs;
static struct sr_error err;

/* A path in the test's own directory; two may be in use at once. */
static const char *in_dir(const char *name)
{
    static char space[2][128];
    static int turn;
    turn = !turn;
    snprintf(space[turn], sizeof(space[turn]), "%s/%s", dir, name);
    return space[turn];
}

static void set_up(void)
{
    strcpy(dir, "/tmp/sr-env-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    env = env_posix(SR_LOG_ERROR);
    fs = env.files;
}

static void tear_down(void)
{
    char **names = NULL;
    ck_assert_int_eq(fs->list(fs, dir, &names, &err), SR_OK);
    for (char **n = names; *n; n++) {
        if (fs->remove(fs, in_dir(*n), &err) != SR_OK) {
            ck_assert_int_eq(fs->remove_dir(fs, in_dir(*n), &err), SR_OK);
        }
    }
    fs->names_free(fs, names);
    ck_assert_int_eq(fs->remove_dir(fs, dir, &err), SR_OK);
}

static struct sr_file *make(const char *name, const char *text)
{
    struct sr_file *f = NULL;
    ck_assert_int_eq(fs->open(fs, in_dir(name), SR_FILE_WRITE | SR_FILE_CREATE, &f, &err), SR_OK);
    ck_assert_int_eq(fs->write(f, text, strlen(text), 0, &err), SR_OK);
    return f;
}

static sr_rc close_file(struct sr_file *f) { return fs->close(f, &err); }

START_TEST(bytes_are_where_they_were_written)
{
    set_up();
    struct sr_file *f = make("a", "hello");
    char buf[16] = {0};
    size_t got = 99;
    ck_assert_int_eq(fs->write(f, "J", 1, 7, &err), SR_OK);
    ck_assert_int_eq(fs->read(f, buf, sizeof(buf), 1, &got, &err), SR_OK);
    ck_assert_uint_eq(got, 7);
    ck_assert_mem_eq(buf, "ello\0\0J", 7);
    ck_assert_int_eq(fs->read(f, buf, 4, 100, &got, &err), SR_OK);
    ck_assert_uint_eq(got, 0);
    ck_assert_int_eq(fs->truncate(f, 2, &err), SR_OK);
    ck_assert_int_eq(fs->sync(f, &err), SR_OK);
    struct sr_stat st;
    ck_assert_int_eq(fs->stat_file(f, &st, &err), SR_OK);
    ck_assert_uint_eq(st.size_bytes, 2);
    ck_assert_int_eq(st.kind, SR_FILE_REGULAR);
    ck_assert_int_eq(close_file(f), SR_OK);
    ck_assert_int_eq(close_file(NULL), SR_OK);
    tear_down();
}
END_TEST

START_TEST(failures_name_the_operation_the_path_and_the_code)
{
    set_up();
    struct sr_file *f = NULL;
    ck_assert_int_eq(fs->open(fs, in_dir("no"), SR_FILE_READ, &f, &err), SR_EABSENT);
    ck_assert_ptr_nonnull(strstr(err.words, "open "));
    ck_assert_ptr_nonnull(strstr(err.words, "/no: No such file"));
    ck_assert_ptr_null(f);
    ck_assert_int_eq(close_file(make("a", "x")), SR_OK);
    uint32_t exclusive = SR_FILE_WRITE | SR_FILE_CREATE | SR_FILE_EXCLUSIVE;
    ck_assert_int_eq(fs->open(fs, in_dir("a"), exclusive, &f, &err), SR_EEXISTS);
    ck_assert_int_eq(symlink("nowhere", in_dir("link")), 0);
    ck_assert_int_eq(fs->open(fs, in_dir("link"), exclusive, &f, &err), SR_EEXISTS);
    ck_assert_int_eq(fs->remove_dir(fs, in_dir("zz"), &err), SR_EABSENT);
    tear_down();
}
END_TEST

START_TEST(a_private_file_is_for_its_owner_alone)
{
    set_up();
    struct sr_file *f = NULL;
    uint32_t flags = SR_FILE_WRITE | SR_FILE_CREATE | SR_FILE_PRIVATE;
    ck_assert_int_eq(fs->open(fs, in_dir("p"), flags, &f, &err), SR_OK);
    struct stat s;
    ck_assert_int_eq(stat(in_dir("p"), &s), 0);
    ck_assert_uint_eq(s.st_mode & 0777, 0600);
    ck_assert_int_eq(close_file(f), SR_OK);
    tear_down();
}
END_TEST

START_TEST(rename_replaces_only_when_it_may)
{
    set_up();
    ck_assert_int_eq(close_file(make("a", "new")), SR_OK);
    ck_assert_int_eq(close_file(make("b", "old")), SR_OK);
    ck_assert_int_eq(fs->rename(fs, in_dir("a"), in_dir("b"), false, &err), SR_EEXISTS);
    struct sr_stat st;
    ck_assert_int_eq(fs->stat(fs, in_dir("a"), &st, &err), SR_OK);
    ck_assert_int_eq(fs->rename(fs, in_dir("a"), in_dir("c"), false, &err), SR_OK);
    ck_assert_int_eq(fs->rename(fs, in_dir("c"), in_dir("b"), true, &err), SR_OK);
    ck_assert_int_eq(fs->stat(fs, in_dir("c"), &st, &err), SR_EABSENT);
    ck_assert_int_eq(fs->make_dir(fs, in_dir("d1"), &err), SR_OK);
    ck_assert_int_eq(fs->make_dir(fs, in_dir("d2"), &err), SR_OK);
    ck_assert_int_eq(fs->rename(fs, in_dir("d1"), in_dir("d2"), false, &err), SR_EEXISTS);
    tear_down();
}
END_TEST

START_TEST(a_directory_is_listed_in_byte_order)
{
    set_up();
    const char *const names[] = {"b", "a", "Z", "a-1", "ä", ".hidden", "a.1"};
    const char *const sorted[] = {".hidden", "Z", "a", "a-1", "a.1", "b", "ä"};
    for (int i = 0; i < 7; i++) {
        ck_assert_int_eq(close_file(make(names[i], "")), SR_OK);
    }
    char **found = NULL;
    ck_assert_int_eq(fs->list(fs, dir, &found, &err), SR_OK);
    for (int i = 0; i < 7; i++) {
        ck_assert_str_eq(found[i], sorted[i]);
    }
    ck_assert_ptr_null(found[7]);
    fs->names_free(fs, found);
    ck_assert_int_eq(fs->sync_dir(fs, dir, &err), SR_OK);
    uint64_t space = 0;
    ck_assert_int_eq(fs->space(fs, dir, &space, &err), SR_OK);
    ck_assert_uint_gt(space, 0);
    tear_down();
}
END_TEST

/* Open-file-description locks conflict within a process too, and end with the description. */
START_TEST(a_lock_is_held_by_one_until_it_closes)
{
    set_up();
    struct sr_file *a = make("l", "");
    struct sr_file *b = make("l", "");
    ck_assert_int_eq(fs->lock(a, &err), SR_OK);
    ck_assert_int_eq(fs->lock(b, &err), SR_EBUSY);
    ck_assert_ptr_nonnull(strstr(err.words, "held by another process"));
    ck_assert_int_eq(close_file(a), SR_OK);
    ck_assert_int_eq(fs->lock(b, &err), SR_OK);
    ck_assert_int_eq(close_file(b), SR_OK);
    tear_down();
}
END_TEST

START_TEST(opening_a_fifo_does_not_wait)
{
    set_up();
    ck_assert_int_eq(mkfifo(in_dir("fifo"), 0600), 0);
    struct sr_file *f = NULL;
    ck_assert_int_eq(fs->open(fs, in_dir("fifo"), SR_FILE_READ, &f, &err), SR_OK);
    struct sr_stat st;
    ck_assert_int_eq(fs->stat_file(f, &st, &err), SR_OK);
    ck_assert_int_eq(st.kind, SR_FILE_OTHER);
    ck_assert_int_eq(close_file(f), SR_OK);
    tear_down();
}
END_TEST

START_TEST(clocks_go_on_and_random_numbers_differ)
{
    set_up();
    int64_t before = env.mono_us(&env);
    ck_assert_int_ge(env.mono_us(&env), before);
    ck_assert_int_gt(env.wall_us(&env), INT64_C(1600000000000000));
    ck_assert(env.random(&env) != env.random(&env));
    env_crash_point(&env, "nothing happens");
    tear_down();
}
END_TEST

START_TEST(a_log_line_is_one_line_with_level_and_name)
{
    set_up();
    int saved = dup(STDERR_FILENO);
    FILE *to = fopen(in_dir("log"), "w+");
    ck_assert_int_ge(dup2(fileno(to), STDERR_FILENO), 0);
    struct env e = env_posix(SR_INFO);
    env_log(&e, SR_DEBUG, "step", "not shown");
    env_log(&e, SR_WARN, "step", "two\nlines %d", 7);
    (void)dup2(saved, STDERR_FILENO);
    close(saved);
    char text[200] = {0};
    rewind(to);
    size_t n = fread(text, 1, sizeof(text) - 1, to);
    fclose(to);
    ck_assert_uint_gt(n, 25);
    ck_assert_str_eq(text + 24, " WARN  step: two lines 7\n");
    tear_down();
}
END_TEST

/* A job may come from a pipe; whoever writes it may begin after it was opened. */
START_TEST(a_fifo_is_read_to_its_end_however_late_it_is_written)
{
    set_up();
    ck_assert_int_eq(mkfifo(in_dir("f"), 0600), 0);
    struct sr_file *f = NULL;
    ck_assert_int_eq(fs->open(fs, in_dir("f"), SR_FILE_READ, &f, &err), SR_OK);
    pid_t writer = fork();
    if (writer == 0) {
        FILE *to = fopen(in_dir("f"), "w");
        (void)fputs("half, ", to);
        (void)fflush(to);
        (void)fputs("and half", to);
        _exit(fclose(to) == 0 ? 0 : 1);
    }
    char buf[32] = {0};
    size_t got = 0;
    ck_assert_int_eq(fs->read(f, buf, sizeof(buf), 0, &got, &err), SR_OK);
    ck_assert_str_eq(buf, "half, and half");
    ck_assert_uint_eq(got, 14);
    int status = -1;
    ck_assert_int_eq(waitpid(writer, &status, 0), writer);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(close_file(f), SR_OK);
    tear_down();
}
END_TEST

/* Links are followed to the end, and a file can be given the access of another. */
START_TEST(links_are_followed_and_access_is_given)
{
    set_up();
    struct sr_file *f = make("file", "x");
    ck_assert_int_eq(symlink("file", in_dir("link")), 0);
    ck_assert_int_eq(symlink("nothing", in_dir("dangling")), 0);
    char *found = NULL;
    ck_assert_int_eq(fs->follow(fs, in_dir("link"), &found, &err), SR_OK);
    ck_assert_str_eq(found, in_dir("file"));
    free(found);
    ck_assert_int_eq(fs->follow(fs, in_dir("dangling"), &found, &err), SR_EABSENT);
    ck_assert_int_eq(fs->set_access(f, 0640, SR_FILE_KEEP, SR_FILE_KEEP, &err), SR_OK);
    struct sr_stat s;
    ck_assert_int_eq(fs->stat(fs, in_dir("link"), &s, &err), SR_OK);
    ck_assert_uint_eq(s.mode, 0640);
    ck_assert_uint_eq(s.user, getuid());
    ck_assert_int_eq(fs->set_access(f, SR_FILE_KEEP, s.user, s.group, &err), SR_OK);
    ck_assert_int_eq(fs->stat_file(f, &s, &err), SR_OK);
    ck_assert_uint_eq(s.mode, 0640);
    ck_assert_int_eq(close_file(f), SR_OK);
    tear_down();
}
END_TEST

UNIT_MAIN("env_posix", bytes_are_where_they_were_written,
          failures_name_the_operation_the_path_and_the_code, a_private_file_is_for_its_owner_alone,
          rename_replaces_only_when_it_may, a_directory_is_listed_in_byte_order,
          a_lock_is_held_by_one_until_it_closes, links_are_followed_and_access_is_given,
          opening_a_fifo_does_not_wait, a_fifo_is_read_to_its_end_however_late_it_is_written,
          clocks_go_on_and_random_numbers_differ, a_log_line_is_one_line_with_level_and_name)
