#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/run/crumbs.h"
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

/* A process that died leaves crumbs; one that ended leaves none. */
START_TEST(crumbs)
{
    struct poison p;
    struct crumbs *c = calloc(1, sizeof(*c));
    setup();
    open_list(&p);
    ck_assert_int_eq(crumbs_take(c, &p, &err), SR_OK); /* a new file */
    crumbs_begin(c);
    struct sr_home *h = home_new();
    struct sr_view *v = view_new(h, 0);
    v->origin = origin_new(h);
    v->origin->split = buffer_new(h, 8);
    memcpy(v->origin->split->data, "s", 2);
    v->origin->base = 5;
    v->rows = v->picked = 10;
    struct plan_node node = {.uid = "in"};
    struct plan plan = {.nodes = 1, .node = &node};
    crumbs_set(&c->crumb[3], &plan, "t", v);
    crumbs_set(NULL, &plan, "t", v);
    ck_assert_int_eq(crumbs_take(c, &p, &err), SR_OK);
    ck_assert_uint_eq(p.suspects, 1);
    ck_assert_int_eq(p.record[0].from, 5);
    ck_assert_int_eq(p.record[0].to, 14);
    ck_assert(p.record[0].is_crash);
    crumbs_begin(c);
    crumbs_set(&c->crumb[3], &plan, "t", v);
    crumbs_clear(&c->crumb[3]);
    ck_assert_int_eq(crumbs_take(c, &p, &err), SR_OK);
    ck_assert_uint_eq(p.record[0].failures, 1);
    crumbs_set(&c->crumb[3], &plan, "t", v);
    crumbs_end(c);
    ck_assert_int_eq(crumbs_take(c, &p, &err), SR_OK);
    ck_assert_uint_eq(p.record[0].failures, 1);
    view_release(v);
    home_close(h);
    poison_forget(&p);
    free(c);
    done();
}
END_TEST

UNIT_MAIN("run: poison", in_a_row, a_range_narrows, over_processes, crumbs)
