#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/run/poison.h"
#include "test/unit/unit.h"

static struct env env;
static struct sr_error err;
static char dir[64], path[128];

static void setup(void)
{
    env = env_posix(SR_LOG_ERROR);
    (void)snprintf(dir, sizeof(dir), "/tmp/sr-poison-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    (void)snprintf(path, sizeof(path), "%s/list", dir);
}

static void done(void)
{
    (void)unlink(path);
    ck_assert_int_eq(rmdir(dir), 0);
}

static void open_list(struct poison *p)
{
    ck_assert_int_eq(poison_open(p, &env, path, 3, &err), SR_OK);
}

/* The job failed for records [from, to] of split "s". */
static void fail(struct poison *p, int64_t from, int64_t to)
{
    char source[] = "in", split[] = "s", step[] = "t", words[] = "why";
    struct poison_record one = {
        .source = source, .split = split, .step = step, .words = words, .from = from, .to = to};
    ck_assert_int_eq(poison_failed(p, &one, 1, &err), SR_OK);
}

/* The same record three times in a row is poison; another one in between starts anew. */
START_TEST(in_a_row)
{
    struct poison p;
    setup();
    open_list(&p);
    fail(&p, 7, 7);
    fail(&p, 7, 7);
    fail(&p, 8, 8);
    fail(&p, 7, 7);
    fail(&p, 7, 7);
    ck_assert_ptr_null(poison_proven(&p));
    fail(&p, 7, 7);
    ck_assert_ptr_nonnull(poison_proven(&p));
    ck_assert_int_eq(poison_proven(&p)->from, 7);
    ck_assert_ptr_null(poison_find(&p, "in", "s", 7)); /* not before it is condemned */
    ck_assert_int_eq(poison_condemn(&p, &err), SR_OK);
    ck_assert_str_eq(poison_find(&p, "in", "s", 7)->words, "why");
    ck_assert_ptr_null(poison_find(&p, "in", "s", 8));
    ck_assert_ptr_null(poison_find(&p, "in", "other", 7));
    poison_forget(&p);
    done();
}
END_TEST

/* A range is narrowed by what is suspected next, and is no proof as long as it is one. */
START_TEST(a_range_narrows)
{
    struct poison p;
    setup();
    open_list(&p);
    for (int i = 0; i < 5; i++) {
        fail(&p, 0, 100);
    }
    ck_assert_ptr_null(poison_proven(&p));
    ck_assert(poison_has_suspect(&p, "in", "s", 90, 200));
    ck_assert(!poison_has_suspect(&p, "in", "s", 101, 200));
    fail(&p, 42, 42);
    ck_assert_int_eq(poison_proven(&p)->from, 42);
    fail(&p, 0, 100); /* whatever else may have been in hand */
    ck_assert_int_eq(poison_proven(&p)->from, 42);
    ck_assert_int_eq(poison_proven(&p)->to, 42);
    poison_forget(&p);
    done();
}
END_TEST

/* What one process counted, the next one counts on; a damaged list is begun anew. */
START_TEST(over_processes)
{
    struct poison p;
    setup();
    for (int i = 0; i < 3; i++) {
        open_list(&p);
        ck_assert_ptr_null(poison_proven(&p));
        fail(&p, 7, 7);
        poison_close(&p);
    }
    open_list(&p);
    ck_assert_int_eq(poison_condemn(&p, &err), SR_OK);
    fail(&p, 9, 9);
    poison_close(&p);
    open_list(&p);
    ck_assert_uint_eq(p.records, 2);
    ck_assert_uint_eq(p.suspects, 1);
    ck_assert_ptr_nonnull(poison_find(&p, "in", "s", 7));
    poison_close(&p);

    FILE *f = fopen(path, "r+");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fputc('X', f), 'X');
    ck_assert_int_eq(fclose(f), 0);
    open_list(&p);
    ck_assert_uint_eq(p.records, 0);
    poison_close(&p);
    done();
}
END_TEST

/* A file that cannot be removed at the first try is removed at the second; a copy that was lent
 * knows what the list does. */
static int removes_that_fail;
static sr_rc remove_later(const struct sr_files *fs, const char *at, struct sr_error *e)
{
    struct env posix = env_posix(SR_LOG_ERROR);
    (void)fs;
    if (removes_that_fail-- > 0) return e->rc = SR_EIO;
    return posix.files->remove(posix.files, at, e);
}

START_TEST(the_list_goes_when_the_job_has_finished)
{
    struct poison p, lent;
    setup();
    struct sr_files files = *env.files;
    files.remove = remove_later;
    env.files = &files;
    open_list(&p);
    for (int i = 0; i < 3; i++) {
        fail(&p, 7, 7);
    }
    ck_assert_int_eq(poison_condemn(&p, &err), SR_OK);
    fail(&p, 9, 9);
    ck_assert_int_eq(poison_lend(&lent, &p, &err), SR_OK);
    ck_assert_ptr_nonnull(poison_find(&lent, "in", "s", 7));
    ck_assert(poison_has_suspect(&lent, "in", "s", 9, 9));
    removes_that_fail = 1;
    poison_forget(&p);
    ck_assert_ptr_nonnull(poison_find(&lent, "in", "s", 7)); /* of its own */
    poison_close(&lent);
    ck_assert_int_ne(access(path, F_OK), 0);
    done();
}
END_TEST

UNIT_MAIN("run: poison", in_a_row, a_range_narrows, over_processes,
          the_list_goes_when_the_job_has_finished)
