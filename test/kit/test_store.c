/* Every kind of store through the kit of store_kit.h, on the real disk and on the simulated one. */
#include "engine/ckpt/chkdb.h"
#include "test/kit/store_kit.h"
#include "test/unit/unit.h"

struct kit_case {
    enum store_form form;
    bool is_simulated;
};

static const struct kit_case kit_cases[] = {
    {STORE_DIR, false}, {STORE_SQLITE, false}, {STORE_MEMORY, false},
    {STORE_DIR, true},  {STORE_SQLITE, true},
};

static void kit_run(void (*kit)(struct store_world *w), bool with_memory)
{
    for (size_t i = 0; i < sizeof(kit_cases) / sizeof(kit_cases[0]); i++) {
        if (kit_cases[i].form == STORE_MEMORY && !with_memory) {
            continue;
        }
        struct store_world *w =
            store_world_new(kit_cases[i].form, kit_cases[i].is_simulated, i + 1);
        kit(w);
        store_world_free(w);
    }
}

START_TEST(a_published_checkpoint_is_the_newest) { kit_run(store_kit_promise, true); }
END_TEST

START_TEST(retention_counts_its_own_lineage) { kit_run(store_kit_lineages, false); }
END_TEST

START_TEST(what_is_left_behind_a_deletion_is_not_the_newest) { kit_run(store_kit_delete, false); }
END_TEST

START_TEST(one_is_deleted_by_its_path) { kit_run(store_kit_remove, false); }
END_TEST

START_TEST(what_is_claimed_is_deleted_in_its_turn) { kit_run(store_kit_claim, false); }
END_TEST

START_TEST(a_crash_in_a_deletion_never_goes_back)
{
    store_kit_delete_crash(_i == 0 ? STORE_DIR : STORE_SQLITE);
}
END_TEST

START_TEST(a_pending_one_becomes_complete_or_goes) { kit_run(store_kit_pending, true); }
END_TEST

START_TEST(a_crash_leaves_it_pending_or_decided)
{
    store_kit_pending_crash(_i == 0 ? STORE_DIR : STORE_SQLITE);
}
END_TEST

START_TEST(a_job_runs_once_at_a_time) { kit_run(store_kit_lock, true); }
END_TEST

START_TEST(an_older_attempt_can_do_nothing) { kit_run(store_kit_fence, false); }
END_TEST

START_TEST(how_a_run_ended_is_told_of_its_last_checkpoint) { kit_run(store_kit_end, false); }
END_TEST

START_TEST(a_savepoint_belongs_to_no_store) { kit_run(store_kit_savepoints, true); }
END_TEST

START_TEST(every_form_of_a_path_is_found) { kit_run(store_kit_find, false); }
END_TEST

START_TEST(what_cannot_be_is_refused) { kit_run(store_kit_misuse, false); }
END_TEST

START_TEST(large_parts_are_read_alone)
{
    for (int form = STORE_DIR; form <= STORE_MEMORY; form++) {
        struct store_world *w = store_world_new((enum store_form)form, false, 3);
        store_kit_large(w);
        store_world_free(w);
    }
}
END_TEST

START_TEST(a_crash_at_any_step_leaves_the_newest_or_the_one_before)
{
    store_kit_crash(_i == 0 ? STORE_DIR : STORE_SQLITE);
}
END_TEST

START_TEST(every_crash_point_is_reached) { store_kit_points(_i == 0 ? STORE_DIR : STORE_SQLITE); }
END_TEST

START_TEST(any_call_may_fail_and_the_answer_stays_true)
{
    store_kit_faults(_i == 0 ? STORE_DIR : STORE_SQLITE);
}
END_TEST

START_TEST(a_full_disk_fails_checkpoints_until_it_is_freed)
{
    store_kit_space(_i == 0 ? STORE_DIR : STORE_SQLITE);
}
END_TEST

START_TEST(no_flipped_bit_and_no_cut_is_believed)
{
    store_kit_damage(_i == 0 ? STORE_DIR : STORE_SQLITE);
}
END_TEST

START_TEST(a_late_rename_is_no_part_of_the_history) { store_kit_late(); }
END_TEST

START_TEST(tables_of_a_savepoint_are_checked) { store_kit_tables(); }
END_TEST

START_TEST(looking_changes_nothing) { store_kit_looking(_i == 0 ? STORE_DIR : STORE_SQLITE); }
END_TEST

/* A run that publishes while somebody looks waits until the look is over. */
START_TEST(a_look_sees_one_moment)
{
    struct store_world *w = store_world_new(STORE_SQLITE, false, 1);
    struct store *s = store_kit_open(w);
    ck_assert_int_eq(store_kit_publish(w, s, 1, 1), SR_OK);
    store_close(s);
    struct chkdb look;
    uint64_t newest = 0;
    ck_assert_int_eq(chkdb_open(&look, &w->env, w->file, CHKDB_LOOK, NULL, &w->err), SR_OK);
    ck_assert_int_eq(chkdb_newest(&look, &newest, &w->err), SR_OK);
    ck_assert_uint_eq(newest, 1);
    sqlite3 *run = NULL;
    ck_assert_int_eq(sqlite3_open(w->file, &run), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(run, "DELETE FROM checkpoint", NULL, NULL, NULL), SQLITE_BUSY);
    chkdb_close(&look);
    ck_assert_int_eq(sqlite3_exec(run, "DELETE FROM checkpoint", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(run);
    store_world_free(w);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("store");
    TCase *t = tcase_create("store");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, a_published_checkpoint_is_the_newest);
    tcase_add_test(t, retention_counts_its_own_lineage);
    tcase_add_test(t, what_is_left_behind_a_deletion_is_not_the_newest);
    tcase_add_test(t, one_is_deleted_by_its_path);
    tcase_add_test(t, what_is_claimed_is_deleted_in_its_turn);
    tcase_add_loop_test(t, a_crash_in_a_deletion_never_goes_back, 0, 2);
    tcase_add_test(t, a_pending_one_becomes_complete_or_goes);
    tcase_add_loop_test(t, a_crash_leaves_it_pending_or_decided, 0, 2);
    tcase_add_test(t, a_job_runs_once_at_a_time);
    tcase_add_test(t, an_older_attempt_can_do_nothing);
    tcase_add_test(t, how_a_run_ended_is_told_of_its_last_checkpoint);
    tcase_add_test(t, a_savepoint_belongs_to_no_store);
    tcase_add_test(t, every_form_of_a_path_is_found);
    tcase_add_test(t, what_cannot_be_is_refused);
    tcase_add_test(t, large_parts_are_read_alone);
    tcase_add_loop_test(t, a_crash_at_any_step_leaves_the_newest_or_the_one_before, 0, 2);
    tcase_add_loop_test(t, every_crash_point_is_reached, 0, 2);
    tcase_add_loop_test(t, any_call_may_fail_and_the_answer_stays_true, 0, 2);
    tcase_add_loop_test(t, a_full_disk_fails_checkpoints_until_it_is_freed, 0, 2);
    tcase_add_loop_test(t, no_flipped_bit_and_no_cut_is_believed, 0, 2);
    tcase_add_test(t, a_late_rename_is_no_part_of_the_history);
    tcase_add_test(t, tables_of_a_savepoint_are_checked);
    tcase_add_loop_test(t, looking_changes_nothing, 0, 2);
    tcase_add_test(t, a_look_sees_one_moment);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
