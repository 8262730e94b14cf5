/* Bread crumbs: what a process that dies leaves, and one that ends does not. */
#include <stdlib.h>
#include <string.h>

#include "engine/run/crumbs.h"
#include "test/unit/unit.h"

static struct env env;
static struct sr_error err;
static struct crumbs *file; /* as it would be mapped */
static struct sr_home *home;
static struct plan_node node = {.uid = "in"};
static const struct plan plan = {.nodes = 1, .node = &node};

static void setup(void)
{
    env = env_posix(SR_LOG_ERROR);
    file = calloc(1, sizeof(*file));
    home = home_new();
}

static void done(void)
{
    home_close(home);
    free(file);
}

/* Ten rows of split "s", from offset `base` on. */
static struct sr_view *view_at(int64_t base)
{
    struct sr_view *v = view_new(home, 0);
    v->origin = origin_new(home);
    v->origin->split = buffer_new(home, 8);
    memcpy(v->origin->split->data, "s", 2);
    v->origin->base = base;
    v->rows = v->picked = 10;
    return v;
}

static void set(uint32_t task, int64_t base)
{
    struct sr_view *v = view_at(base);
    crumbs_set(&file->crumb[task], &plan, "t", v);
    view_release(v);
}

/* What the next process suspects. */
static struct poison next(void)
{
    struct poison p;
    ck_assert_int_eq(poison_open(&p, &env, NULL, 3, &err), SR_OK);
    ck_assert_int_eq(crumbs_take(file, &p, &err), SR_OK);
    return p;
}

/* A new file, and one of a process that ended, say nothing. */
START_TEST(nothing_is_suspected_without_a_death)
{
    setup();
    struct poison p = next();
    ck_assert_uint_eq(p.suspects, 0);
    poison_close(&p);
    crumbs_begin(file);
    set(3, 5);
    crumbs_end(file);
    p = next();
    ck_assert_uint_eq(p.suspects, 0);
    poison_close(&p);
    done();
}
END_TEST

/* Records that were in some task's hands are suspected, each range with its split and step; those
 * that were done with are not. */
START_TEST(what_was_in_hand_is_suspected)
{
    setup();
    crumbs_begin(file);
    set(3, 5);
    set(4, 100);
    set(5, 200);
    crumbs_clear(&file->crumb[4]);
    struct crumb_place at = {.source = "in", .step = "d", .split = "other", .from = 7, .to = 7};
    crumbs_decoding(&file->crumb[CRUMBS_MAX - 1], &at);
    struct poison p = next();
    ck_assert_uint_eq(p.suspects, 3);
    ck_assert_int_eq(p.record[0].from, 5);
    ck_assert_int_eq(p.record[0].to, 14);
    ck_assert_str_eq(p.record[0].step, "t");
    ck_assert(p.record[0].is_crash && !p.record[0].is_decoding);
    ck_assert_int_eq(p.record[1].from, 200);
    ck_assert_str_eq(p.record[2].split, "other");
    ck_assert(p.record[2].is_decoding);
    poison_close(&p);
    done();
}
END_TEST

/* A new process begins with nothing in hand, also behind one that died. */
START_TEST(a_new_process_has_nothing_in_hand)
{
    setup();
    crumbs_begin(file);
    set(3, 5);
    crumbs_begin(file);
    struct poison p = next();
    ck_assert_uint_eq(p.suspects, 0);
    set(3, 50); /* asserts that nobody else's lies there */
    crumbs_clear(&file->crumb[3]);
    set(3, 60);
    crumbs_clear(NULL);
    crumbs_set(NULL, &plan, "t", NULL);
    poison_close(&p);
    done();
}
END_TEST

/* What a crash left half-written is passed over. */
START_TEST(damage_is_passed_over)
{
    setup();
    crumbs_begin(file);
    set(0, 5);
    set(1, 5);
    set(2, 5);
    set(3, 70);
    memset(file->crumb[0].split, 'x', sizeof(file->crumb[0].split));
    file->crumb[1].from = file->crumb[1].to + 1;
    atomic_store(&file->crumb[2].is_busy, 17);
    struct poison p = next();
    ck_assert_uint_eq(p.suspects, 1);
    ck_assert_int_eq(p.record[0].from, 70);
    poison_close(&p);
    file->magic++;
    p = next();
    ck_assert_uint_eq(p.suspects, 0);
    poison_close(&p);
    done();
}
END_TEST

UNIT_MAIN("run: crumbs", nothing_is_suspected_without_a_death, what_was_in_hand_is_suspected,
          a_new_process_has_nothing_in_hand, damage_is_passed_over)
