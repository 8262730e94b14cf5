#include <string.h>

#include "cli/show.h"
#include "test/unit/cli/world.h"
#include "test/unit/unit.h"

static struct world w;

/* A time is told in the unit that a person would take, and never as a negative one. */
START_TEST(durations)
{
    world_open(&w);
    struct arena *a = w.cli.arena;
    ck_assert_str_eq(show_duration(a, -5), "0 ms");
    ck_assert_str_eq(show_duration(a, 0), "0 ms");
    ck_assert_str_eq(show_duration(a, 1000), "1 ms");
    ck_assert_str_eq(show_duration(a, 4210), "4.2 ms");
    ck_assert_str_eq(show_duration(a, 340999), "340 ms");
    ck_assert_str_eq(show_duration(a, 2100000), "2.1 s");
    ck_assert_str_eq(show_duration(a, INT64_C(200000000)), "3 min 20 s");
    ck_assert_str_eq(show_duration(a, INT64_C(7260000000)), "2 h 1 min");
    world_close(&w);
}
END_TEST

/* Sizes have one digit behind the point from KiB on; TiB is the largest unit. */
START_TEST(sizes)
{
    world_open(&w);
    struct arena *a = w.cli.arena;
    ck_assert_str_eq(show_size(a, 0), "0 B");
    ck_assert_str_eq(show_size(a, 1023), "1023 B");
    ck_assert_str_eq(show_size(a, 1024), "1.0 KiB");
    ck_assert_str_eq(show_size(a, 3565158), "3.4 MiB");
    ck_assert_str_eq(show_size(a, INT64_C(5) << 50), "5120.0 TiB");
    world_close(&w);
}
END_TEST

/* Counts have a comma at each thousand, whatever their sign; one thing is no plural. */
START_TEST(counts)
{
    world_open(&w);
    struct arena *a = w.cli.arena;
    ck_assert_str_eq(show_count(a, 0), "0");
    ck_assert_str_eq(show_count(a, 999), "999");
    ck_assert_str_eq(show_count(a, 1000), "1,000");
    ck_assert_str_eq(show_count(a, 1234567), "1,234,567");
    ck_assert_str_eq(show_count(a, -123456), "-123,456");
    ck_assert_str_eq(show_count(a, INT64_MIN), "-9,223,372,036,854,775,808");
    ck_assert_str_eq(show_many(a, 0, "row"), "0 rows");
    ck_assert_str_eq(show_many(a, 1, "row"), "1 row");
    ck_assert_str_eq(show_many(a, 1200, "row"), "1,200 rows");
    world_close(&w);
}
END_TEST

/* Columns are as wide as their longest cell, by characters, and no line ends in spaces. */
START_TEST(tables)
{
    world_open(&w);
    const char *const cell[] = {"step", "n",      "what", "\xc3\xbc", "1,000",
                                NULL,   "abcdef", NULL,   "x"};
    const bool is_right[] = {false, true, false};
    show_table(w.cli.out, &(struct show_table){3, is_right, 3, cell});
    ck_assert_str_eq(world_out(&w), "step        n  what\n"
                                    "\xc3\xbc       1,000  \n"
                                    "abcdef         x\n");
    world_close(&w);
}
END_TEST

/* A cell of more than SHOW_CELL_MAX columns moves only its own row; the first column always
 * fits. */
START_TEST(long_cells)
{
    world_open(&w);
    static char longer[SHOW_CELL_MAX + 2];
    memset(longer, 'x', SHOW_CELL_MAX + 1);
    const char *const cell[] = {"a", longer, "c", longer, "b", "c"};
    show_table(w.cli.out, &(struct show_table){3, NULL, 2, cell});
    char want[4 * SHOW_CELL_MAX];
    (void)snprintf(want, sizeof(want), "%-*s  %s  c\n%s  b  c\n", SHOW_CELL_MAX + 1, "a", longer,
                   longer);
    ck_assert_str_eq(world_out(&w), want);
    world_close(&w);
}
END_TEST

static const char *line_of(void *ctx, struct place at)
{
    (void)ctx;
    return at.line == 2 ? "\t\xc3\xa4: [b" : NULL;
}

/* A fault shows place, level, words, line and hint, with its caret below the right character. */
START_TEST(faults_have_a_caret)
{
    world_open(&w);
    struct faults *f = arena_get(w.cli.arena, sizeof(*f));
    faults_init(f, w.cli.arena);
    f->line_of = line_of;
    fault_add(f, FAULT_ERROR, (struct place){"j.yaml", 2, 6}, "close it", "no end");
    fault_add(f, FAULT_WARNING, (struct place){"j.yaml", 0, 0}, NULL, "all of it");
    fault_add(f, FAULT_NOTICE, (struct place){NULL, 0, 0}, NULL, "by the way");
    show_faults(&w.cli, f);
    ck_assert_str_eq(world_out(&w), "");
    ck_assert_ptr_nonnull(strstr(world_err(&w), "j.yaml:2:6: error: no end\n"
                                                "    \t\xc3\xa4: [b\n"
                                                "    \t   ^\n"
                                                "    hint: close it\n"));
    ck_assert_ptr_nonnull(strstr(world_err(&w), "j.yaml: warning: all of it\n"));
    ck_assert_ptr_nonnull(strstr(world_err(&w), "streamrun: notice: by the way\n"));
    world_close(&w);
}
END_TEST

/* With -q notices are silent, warnings and errors are not. */
START_TEST(quiet_hides_notices_only)
{
    world_open(&w);
    struct faults *f = arena_get(w.cli.arena, sizeof(*f));
    faults_init(f, w.cli.arena);
    fault_add(f, FAULT_WARNING, (struct place){"j.yaml", 1, 0}, NULL, "careful");
    fault_add(f, FAULT_NOTICE, (struct place){"j.yaml", 2, 0}, NULL, "by the way");
    w.cli.is_quiet = true;
    show_faults(&w.cli, f);
    ck_assert_str_eq(world_err(&w), "j.yaml:1: warning: careful\n");
    world_close(&w);
}
END_TEST

/* With --json errors are one document on stdout, and stderr is silent. */
START_TEST(faults_in_json)
{
    world_open(&w);
    struct faults *f = arena_get(w.cli.arena, sizeof(*f));
    faults_init(f, w.cli.arena);
    fault_add(f, FAULT_ERROR, (struct place){"j.yaml", 3, 7}, "so", "not '%s'", "\xc3\xbc");
    w.cli.is_json = true;
    show_faults(&w.cli, f);
    json_t *j = json_loads(world_out(&w), 0, NULL);
    const json_t *one = json_array_get(json_object_get(j, "faults"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(one, "message")), "not '\xc3\xbc'");
    ck_assert_str_eq(json_string_value(json_object_get(one, "level")), "error");
    ck_assert_int_eq(json_integer_value(json_object_get(one, "line")), 3);
    ck_assert_int_eq(json_integer_value(json_object_get(one, "column")), 7);
    ck_assert_str_eq(json_string_value(json_object_get(one, "hint")), "so");
    json_decref(j);
    ck_assert_str_eq(world_err(&w), "");
    world_close(&w);
}
END_TEST

UNIT_MAIN("show", durations, sizes, counts, tables, long_cells, faults_have_a_caret,
          quiet_hides_notices_only, faults_in_json)
