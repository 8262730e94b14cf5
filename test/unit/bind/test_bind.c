#include "test/unit/bind/jobs.h"

#define SOURCE "source a; schema=k STRING, v INT, ts TIMESTAMP(3); watermark=ts AS ts\n"
#define SINK   "sink s; from=t\n"

static const char *bind_columns(const struct jobs_bound *b)
{
    ck_assert_msg(b->plan != NULL, "%s", jobs_faults(b));
    const struct sr_schema *s = b->plan->node[b->plan->nodes - 1].out;
    const char *text = "";
    for (uint32_t c = 0; c < s->fields; c++) {
        text = arena_printf(b->arena, "%s%s%s %s", text, c > 0 ? ", " : "", s->field[c].name,
                            type_text(b->arena, &s->field[c].type));
    }
    return text;
}

/* The sink's columns of the job SOURCE, t, SINK. */
static void bind_check_columns(const char *transform, const char *want)
{
    struct arena *a = arena_new();
    struct jobs_bound b = jobs_open(arena_printf(a, SOURCE "transform t; %s\n" SINK, transform), 1);
    const char *got = bind_columns(&b);
    ck_assert_msg(strcmp(got, want) == 0, "%s\n  gives %s\n  not   %s", transform, got, want);
    jobs_close(&b);
    arena_free(a);
}

static void bind_check_fault(const char *transform, const char *want)
{
    struct arena *a = arena_new();
    jobs_check_faults(arena_printf(a, SOURCE "transform t; %s\n" SINK, transform), want);
    arena_free(a);
}

START_TEST(select_lists_are_named_and_typed)
{
    bind_check_columns("from=a", "k STRING, v INT, ts TIMESTAMP(3)");
    bind_check_columns("from=a; select=v * 2 AS w | k | a.ts | v > 1",
                       "w INT, k STRING, ts TIMESTAMP(3), EXPR$3 BOOLEAN");
    bind_check_columns("from=a; select=*", "k STRING, v INT, ts TIMESTAMP(3)");
    bind_check_columns("from=a; select=COUNT(*) AS n | SUM(v) AS total",
                       "n BIGINT NOT NULL, total INT");
    bind_check_columns("from=a; group=k; select=k | COUNT(*) + 1 AS n",
                       "k STRING, n BIGINT NOT NULL");
    bind_check_columns(
        "from=a; window=TUMBLE(ts, INTERVAL '1' MINUTE); group=k; select=k | window_start | "
        "window_end | window_time | MAX(v) AS top",
        "k STRING, window_start TIMESTAMP(3) NOT NULL, window_end TIMESTAMP(3) NOT NULL, "
        "window_time TIMESTAMP(3) NOT NULL, top INT");
    bind_check_columns("sql=SELECT k, v AS w FROM a AS x WHERE x.v > 1", "k STRING, w INT");
    bind_check_columns("sql=SELECT k, window_end, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE a, "
                       "DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, "
                       "k HAVING COUNT(*) > 1",
                       "k STRING, window_end TIMESTAMP(3) NOT NULL, n BIGINT NOT NULL");
    bind_check_columns("sql=SELECT x.k, x.window_end, COUNT(*) AS n FROM TABLE(HOP(TABLE a, "
                       "DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)) x GROUP BY "
                       "x.window_start, x.window_end, x.k",
                       "k STRING, window_end TIMESTAMP(3) NOT NULL, n BIGINT NOT NULL");
    bind_check_columns("sql=SELECT TUMBLE_START(ts, INTERVAL '1' HOUR) AS s, COUNT(*) AS n FROM a "
                       "GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)",
                       "s TIMESTAMP(3) NOT NULL, n BIGINT NOT NULL");
    bind_check_columns("sql=SELECT TUMBLE_START(x.ts, INTERVAL '1' HOUR) AS s, COUNT(*) AS n FROM "
                       "a AS x GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)",
                       "s TIMESTAMP(3) NOT NULL, n BIGINT NOT NULL");
    bind_check_columns("sql=SELECT k, a.v FROM a GROUP BY a.k, v", "k STRING, v INT");
    bind_check_columns("from=a; group=UPPER(k) | v; select=UPPER(k) || 'x' AS u | v",
                       "u STRING, v INT");
}
END_TEST

START_TEST(a_fault_of_an_expression_has_its_place_and_the_nearest_name)
{
    bind_check_fault("from=a; where=vv > 1; select=k | v +",
                     "2:28 there is no column 'vv' [columns here: k, v, ts]\n"
                     "2:50 the text ends too early, expected an expression\n");
    bind_check_fault("from=a; select=nothing",
                     "2:29 there is no column 'nothing' [columns here: k, v, ts]\n");
    bind_check_fault("from=a; where=v", "2:28 where takes a BOOLEAN, this is INT\n");
    bind_check_fault("from=a; select=v | k AS v",
                     "2:33 column 'v' is there twice [give one of them another name: AS ...]\n");
    bind_check_fault("from=a; select=NULL AS x",
                     "2:29 column 'x' is a NULL of no type [CAST(NULL AS STRING)]\n");
    bind_check_fault("from=a; select=COUNT(v) AS n | v",
                     "2:45 column 'v' is neither grouped by nor inside an aggregate [add it to "
                     "group-by, or take MIN or MAX of it]\n");
    bind_check_fault("from=a; where=COUNT(*) > 1; select=COUNT(*) AS n",
                     "2:28 aggregate COUNT has no place here\n");
    bind_check_fault("from=a; select=CAST(v AS FOO) AS x", "2:39 unknown type 'FOO'\n");
}
END_TEST

START_TEST(windows_need_the_time_attribute)
{
    bind_check_fault("from=a; window=TUMBLE(v, INTERVAL '1' MINUTE); select=COUNT(*) AS n",
                     "2:36 a window needs the event time attribute, 'v' is none [the time "
                     "attribute here is 'ts']\n");
    bind_check_fault("from=a; window=TUMBLE(ts, INTERVAL '1' MONTH); select=COUNT(*) AS n",
                     "2:40 a constant interval of days, hours, minutes or seconds is needed here "
                     "[such as INTERVAL '1' MINUTE]\n");
    bind_check_fault("from=a; window=TUMBLE(ts, INTERVAL '0' SECOND); select=COUNT(*) AS n",
                     "2:40 a window's size must be above zero\n");
    bind_check_fault("from=a; window=TUMBLE(ts, INTERVAL '1' HOUR, INTERVAL '1' HOUR); "
                     "select=COUNT(*) AS n",
                     "2:59 a window's offset must be shorter than its size\n");
    bind_check_fault("from=a; window=SESION(ts, INTERVAL '1' SECOND); select=COUNT(*) AS n",
                     "2:29 there is no window 'SESION' [TUMBLE, HOP, CUMULATE or SESSION]\n");
    bind_check_fault("from=a; window=HOP(ts, INTERVAL '1' SECOND); select=COUNT(*) AS n",
                     "2:29 HOP takes a time attribute, a slide, a size and perhaps an offset "
                     "[HOP(time, slide, size[, offset])]\n");
    bind_check_fault("from=a; window=HOP(ts, INTERVAL '4' SECOND, INTERVAL '10' SECOND); "
                     "select=COUNT(*) AS n",
                     "2:58 the size of a HOP window must be a multiple of its slide, as in Flink "
                     "[HOP(time, slide, size[, offset])]\n");
    bind_check_fault("from=a; window=CUMULATE(ts, INTERVAL '4' SECOND, INTERVAL '1' SECOND); "
                     "select=COUNT(*) AS n",
                     "2:42 a window's step must not be longer than its size [CUMULATE(time, step, "
                     "size[, offset])]\n");
    bind_check_fault("sql=SELECT COUNT(*) AS n FROM a GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE), "
                     "TUMBLE(ts, INTERVAL '1' HOUR)",
                     "2:88 rows are grouped by one window at most\n");
    bind_check_fault(
        "sql=SELECT TUMBLE_START(ts, INTERVAL '2' HOUR) AS s, TUMBLE_END(v) AS e FROM "
        "a GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)",
        "2:25 TUMBLE_START is of another window than the TUMBLE that rows are grouped "
        "by [give it the arguments of that window]\n"
        "2:67 TUMBLE_END is of another window than the TUMBLE that rows are grouped by "
        "[give it the arguments of that window]\n");
}
END_TEST

START_TEST(all_faults_of_the_names_come_at_once)
{
    jobs_check_faults("source a; schema=k INT\n"
                      "source unused; schema=k INT\n"
                      "transform t; from=unusde\n"
                      "transform u; from=w\n"
                      "transform w; from=u\n"
                      "sink s; from=t\n"
                      "sink z; from=s\n",
                      "1:8 source 'a' is not used [name it in `from`, or take it out]\n"
                      "3:19 there is no source or transform 'unusde' [did you mean 'unused'?]\n"
                      "4:11 steps read each other in a circle: u <- w <- u\n"
                      "7:14 's' is a sink: nothing comes out of it [read what the sink reads]\n");
    jobs_check_faults(
        "source a; schema=k INT\n"
        "transform a; from=a\n",
        "0:0 the job has no sinks [sinks: where rows go]\n"
        "2:11 transform 'a' has the name of a source [give one of them another name]\n"
        "2:11 transform 'a' is not used [name it in `from`, or take it out]\n");
}
END_TEST

START_TEST(schemas_and_watermarks_are_checked)
{
    jobs_check_faults(
        "source a; schema=k INT, ts TIMESTAMP; watermark=ts AS ts\n"
        "sink s; from=a\n",
        "1:49 the time attribute 'ts' must be TIMESTAMP or TIMESTAMP_LTZ of at most 3 digits, it "
        "is TIMESTAMP(6) [write TIMESTAMP(3); bare TIMESTAMP has 6 digits, as in Flink]\n");
    jobs_check_faults("source a; schema=k INT, k INT\n"
                      "sink s; from=a\n",
                      "1:25 column 'k' is there twice\n");
    jobs_check_faults("source a; schema=k INT, d AS k + j, WATERMARK FOR x AS k\n"
                      "sink s; from=a\n",
                      "1:34 there is no column 'j' [columns here: k]\n");
    jobs_check_faults("source a\n"
                      "sink s; from=a\n",
                      "1:8 source 'a' needs a schema: connector 'rows' does not bring one [schema: "
                      "a mapping of column names to types]\n");
    jobs_check_faults("source a; schema=f STRING METADATA\n"
                      "sink s; from=a\n",
                      "1:18 column 'f': connector 'rows' has no metadata\n");
    jobs_check_faults("source a; schema=k INT; connector=bytes\n"
                      "sink s; from=a; connector=text\n",
                      "1:8 source 'a' needs a format: connector 'bytes' gives bytes [format: csv, "
                      "json or raw]\n");
}
END_TEST

START_TEST(sinks_take_columns_by_name)
{
    struct jobs_bound b = jobs_open("source a; schema=k INT, v INT\n"
                                    "sink s; from=a; schema=v BIGINT, k INT; key=k\n",
                                    1);
    ck_assert_str_eq(bind_columns(&b), "v BIGINT, k INT");
    const struct sr_schema *out = b.plan->node[b.plan->nodes - 1].out;
    ck_assert_uint_eq(out->keys, 1);
    ck_assert_uint_eq(out->key[0], 1);
    jobs_close(&b);
    jobs_check_faults(
        "source a; schema=k INT, v INT\n"
        "sink s; from=a; schema=k INT, x INT\n",
        "2:6 column 'v' of its input is not in the schema of sink 's' [declare it, or leave it out "
        "by `select`]\n"
        "2:31 column 'x' of sink 's' is not among its input's [columns go to a sink by name]\n");
    jobs_check_faults("source a; schema=k STRING, v INT\n"
                      "sink s; from=a; schema=k INT, v INT; key=z\n",
                      "2:24 column 'k' of sink 's' is declared INT, its input has STRING [CAST(k "
                      "AS INT) in a transform]\n");
}
END_TEST

/* The mapping form of `schema:`, which the text form of jobs.h does not reach. */
START_TEST(a_mapping_of_columns_is_a_schema)
{
    struct arena *a = arena_new();
    struct job *job = jobs_make(a, "source a\nsink s; from=a\n", 1);
    static const char *const names[] = {"id", "twice", "value"};
    static const char *const types[] = {"BIGINT", "AS id * 2", "STRING NOT NULL"};
    struct job_column *column = arena_array(a, 3, sizeof(*column));
    for (uint32_t c = 0; c < 3; c++) {
        column[c].name = (struct job_text){
            .text = names[c], .len = (uint32_t)strlen(names[c]), .at = {"job", 9, c + 1}};
        column[c].type = (struct job_text){
            .text = types[c], .len = (uint32_t)strlen(types[c]), .at = {"job", 8, c + 1}};
    }
    job->step[0].column = column;
    job->step[0].columns = 3;
    struct jobs_bound b = {.arena = a};
    jobs_bind(&b, job);
    ck_assert_str_eq(bind_columns(&b), "id BIGINT, twice BIGINT, value STRING NOT NULL");
    ck_assert_uint_eq(b.plan->node[0].read->fields, 2);
    jobs_close(&b);
}
END_TEST

START_TEST(a_connector_may_bring_its_schema)
{
    struct jobs_bound b = jobs_open("source a; schema=late AS id + 1, WATERMARK FOR made AS made - "
                                    "INTERVAL '5' SECOND; connector=own\n"
                                    "sink s; from=a\n",
                                    1);
    ck_assert_str_eq(bind_columns(&b), "id BIGINT, made TIMESTAMP(3), late BIGINT");
    ck_assert_int_eq(b.plan->node[0].stamp, 1);
    jobs_close(&b);
}
END_TEST

START_TEST(what_is_not_there_yet_is_said)
{
    bind_check_fault("from=a; select=COUNT(DISTINCT v) AS n",
                     "2:29 COUNT(DISTINCT ...) is not supported yet\n");
    bind_check_fault("sql=SELECT k FROM a JOIN b ON a.k = b.k",
                     "2:34 unexpected 'JOIN' [Flink has this; streamrun "
                     "does not have it yet]\n");
    bind_check_fault("sql=SELECT MAX(n) AS top FROM u\n"
                     "transform u; from=a; group=k; select=k | COUNT(*) AS n",
                     "2:25 MIN and MAX over updating results are not supported yet\n");
}
END_TEST

START_TEST(unions_need_the_same_columns)
{
    jobs_check_faults("source a; schema=k INT\n"
                      "source b; schema=k STRING\n"
                      "sink s; from=a | b\n",
                      "3:18 column 1, 'k', is INT in 'a' and STRING in 'b' [CAST one of them in "
                      "front of the union]\n");
}
END_TEST

START_TEST(one_transaction_decides_about_checkpoints)
{
    jobs_check_faults("source a; schema=k INT\n"
                      "sink s; from=a; connector=ledger\n"
                      "sink t; from=a; connector=book\n",
                      "");
    jobs_check_faults("source a; schema=k INT\n"
                      "sink s; from=a; connector=ledger\n"
                      "sink t; from=a; connector=hasty\n",
                      "3:6 sinks 's' and 't' write to ledger one and to ledger two, each in a "
                      "transaction of its own, and two cannot be committed in one step "
                      "[exactly-once.method: redo on one of them, where the connector has it; or "
                      "sink.delivery-guarantee: at-least-once]\n"
                      "3:6 transactions of sink 't' are aborted when they are open for 500 ms, and "
                      "a checkpoint comes every 1000 ms only [a shorter "
                      "execution.checkpointing.interval, or a longer time-out of the sink's "
                      "transactions]\n");
    jobs_check_faults("source a; schema=k INT\n"
                      "sink s; from=a; connector=ledger\n"
                      "sink t; from=a; connector=hasty; guarantee=at-least-once\n",
                      "");
}
END_TEST

START_TEST(promises_beyond_the_weakest_link_are_faults)
{
    jobs_check_faults("source a; schema=k INT; connector=pipe\n"
                      "sink s; from=a; guarantee=exactly-once\n",
                      "2:27 sink 's' claims exactly-once, but rows from 'a' have no guarantee "
                      "[source 'a' (pipe) cannot go back to read a row again]\n");
    jobs_check_faults("source a; schema=k INT\n"
                      "sink s; from=a; connector=append; guarantee=exactly-once\n",
                      "2:45 sink 's' claims exactly-once, but rows from 'a' have at-least-once "
                      "[sink 's' (append) can keep no more]\n");
    jobs_check_faults("source a; schema=k INT; connector=endless\n"
                      "sink s; from=a; connector=end\n",
                      "2:6 sink 's' is complete only at the end of a bounded job, and this job has "
                      "no end [name a directory, or read bounded sources only]\n");
    jobs_check_faults(
        "source a; schema=k INT\n"
        "transform t; from=a; group=k; select=k | COUNT(*) AS n\n"
        "sink s; from=t; connector=append\n",
        "3:6 sink 's' (append) cannot take updating results: rows of its input change or go away "
        "later [a sink with a primary-key can replace rows; or group by a window]\n");
}
END_TEST

START_TEST(changes_of_a_row_may_not_overtake_each_other)
{
    jobs_check_faults(
        "source a; schema=k INT\n"
        "transform t; from=a; group=k; select=k | COUNT(*) AS n\n"
        "sink s; from=t; parallelism=2\n",
        "3:6 sink 's' takes updating results with parallelism 2 behind parallelism 1: "
        "changes of one row could overtake each other; write primary-key or the same "
        "parallelism\n");
    struct jobs_bound b = jobs_open("source a; schema=k INT\n"
                                    "transform t; from=a; group=k; select=COUNT(*) AS n | k\n"
                                    "sink s; from=t; parallelism=2; key=k\n",
                                    1);
    ck_assert_ptr_nonnull(b.plan);
    const struct plan_edge *last = &b.plan->edge[b.plan->edges - 1];
    ck_assert_int_eq(last->ship, SHIP_HASH);
    ck_assert_str_eq(b.plan->node[last->from_node].out->field[last->key[0]].name, "k");
    jobs_close(&b);
}
END_TEST

/* A key that is a field, and a column of the field's name, are two things. */
START_TEST(a_column_is_no_key_because_of_its_name_alone)
{
    jobs_check_faults("source a; schema=r ROW<k INT>, k INT\n"
                      "transform t; sql=SELECT a.k, COUNT(*) AS n FROM a GROUP BY r.k\n"
                      "sink s; from=t\n",
                      "2:25 column 'k' is neither grouped by nor inside an aggregate [add it to "
                      "group-by, or take MIN or MAX of it]\n");
}
END_TEST

/* Unions of unions multiply: all ways count, up to a limit. */
START_TEST(every_way_through_unions_is_an_edge)
{
    struct arena *a = arena_new();
    const char *job = "source u0; schema=k INT\n";
    for (int i = 1; i <= 14; i++) {
        job = arena_printf(a, "%stransform u%d; from=u%d | u%d\n", job, i, i - 1, i - 1);
    }
    jobs_check_faults(arena_printf(a, "%ssink s; from=u14\n", job),
                      "15:21 rows come to 'u14' by more than 10000 ways, with unions in its inputs "
                      "taken apart [a step that is named twice gives its rows twice]\n");
    struct jobs_bound b = jobs_open("source a; schema=k INT\n"
                                    "transform t; from=a | a\n"
                                    "transform u; from=t | t | t\n"
                                    "transform v; from=u | u\n"
                                    "sink s; from=v\n",
                                    1);
    ck_assert_msg(b.plan != NULL, "%s", jobs_faults(&b));
    ck_assert_uint_eq(b.plan->edges, 12);
    jobs_close(&b);
    arena_free(a);
}
END_TEST

START_TEST(constants_bind_without_columns)
{
    struct arena *a = arena_new();
    const struct expr *e = NULL;
    struct sr_error err = {0};
    ck_assert_int_eq(bind_constant(a, "1 + 2 * 3", &e, &err), SR_OK);
    ck_assert_str_eq(type_text(a, &e->type), "INT NOT NULL");
    ck_assert_int_eq(bind_constant(a, "1 +\n x", &e, &err), SR_ECONFIG);
    ck_assert_str_eq(err.words, "SR0601: line 2, column 2: 'x': there are no columns here");
    ck_assert_int_eq(bind_constant(a, "'a", &e, &err), SR_ECONFIG);
    arena_free(a);
}
END_TEST

UNIT_MAIN("bind", select_lists_are_named_and_typed,
          a_fault_of_an_expression_has_its_place_and_the_nearest_name,
          windows_need_the_time_attribute, all_faults_of_the_names_come_at_once,
          schemas_and_watermarks_are_checked, sinks_take_columns_by_name,
          a_mapping_of_columns_is_a_schema, a_connector_may_bring_its_schema,
          what_is_not_there_yet_is_said, unions_need_the_same_columns,
          promises_beyond_the_weakest_link_are_faults, one_transaction_decides_about_checkpoints,
          changes_of_a_row_may_not_overtake_each_other,
          a_column_is_no_key_because_of_its_name_alone, every_way_through_unions_is_an_edge,
          constants_bind_without_columns)
