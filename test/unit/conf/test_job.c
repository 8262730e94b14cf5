/* From a whole job file to struct job: steps, precedence, secrets, paths, description. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../unit.h"
#include "kit.h"

static struct kit k;

static void setup(void) { kit_open(&k); }
static void done(void) { kit_close(&k); }

static const char whole[] = "pipeline.name: page-hits\n"           /* 1 */
                            "parallelism.default: 2\n"             /* 2 */
                            "execution.checkpointing:\n"           /* 3 */
                            "  interval: 10s\n"                    /* 4 */
                            "  dir: sqlite://state/page-hits.db\n" /* 5 */
                            "restart-strategy.type: exponential-delay\n"
                            "sources:\n"                  /* 7 */
                            "  hits:\n"                   /* 8 */
                            "    connector: probe\n"      /* 9 */
                            "    path: logs/*.csv\n"      /* 10 */
                            "    format: lines\n"         /* 11 */
                            "    lines.header: skip\n"    /* 12 */
                            "    source.every: 1s\n"      /* 13 */
                            "    schema:\n"               /* 14 */
                            "      ip: STRING\n"          /* 15 */
                            "      ts: TIMESTAMP(3)\n"    /* 16 */
                            "      twice: AS size * 2\n"  /* 17 */
                            "      size: BIGINT\n"        /* 18 */
                            "    primary-key: [ip, ts]\n" /* 19 */
                            "    watermark: ts AS ts - INTERVAL '5' SECOND\n"
                            "    on-error: skip\n"          /* 21 */
                            "transforms:\n"                 /* 22 */
                            "  pages:\n"                    /* 23 */
                            "    from: hits\n"              /* 24 */
                            "    where: size IS NOT NULL\n" /* 25 */
                            "    parallelism: 3\n"          /* 26 */
                            "    select:\n"                 /* 27 */
                            "      - REGEXP_EXTRACT(url, '^/([^/?]*)', 1) AS page\n"
                            "      - |\n"               /* 29 */
                            "        size *\n"          /* 30 */
                            "          2 AS n\n"        /* 31 */
                            "  minutes:\n"              /* 32 */
                            "    from: [pages, more]\n" /* 33 */
                            "    window: TUMBLE(ts, INTERVAL '1' MINUTE)\n"
                            "    group-by: page, CONCAT(a, ',')\n" /* 35 */
                            "    select: [page, window_start, COUNT(*) AS hits]\n"
                            "    uid: per-minute\n"         /* 37 */
                            "  more:\n"                     /* 38 */
                            "    sql: SELECT * FROM hits\n" /* 39 */
                            "sinks:\n"                      /* 40 */
                            "  table:\n"                    /* 41 */
                            "    from: minutes\n"           /* 42 */
                            "    connector: file\n"         /* 43 */
                            "    path: out/\n"              /* 44 */
                            "    sink.delivery-guarantee: exactly_once\n";

static void at_is(struct place at, uint32_t line, uint32_t column)
{
    ck_assert_uint_eq(at.line, line);
    ck_assert_uint_eq(at.column, column);
}

/* Every key of a job lands where bind looks for it, with its place. */
START_TEST(whole_job)
{
    setup();
    struct conf_input in = {.path = "job.yaml", .text = whole, .work_dir = "/srv"};
    ck_assert_int_eq(kit_read_input(&k, &in), SR_OK);
    const struct job *job = k.job;
    ck_assert_str_eq(job->name, "page-hits");
    ck_assert_uint_eq(strlen(job->id), 32);
    ck_assert_int_eq(job->settings.parallelism, 2);
    ck_assert_int_eq(job->settings.interval.us, 10000000);
    ck_assert_str_eq(job->settings.dir, "sqlite:///srv/state/page-hits.db");
    ck_assert_uint_eq(job->settings.restart.index, RESTART_EXPONENTIAL);
    ck_assert_uint_eq(job->settings.failover.index, FAILOVER_REGION);
    ck_assert_uint_eq(job->steps, 5);

    const struct job_step *hits = &job->step[0];
    ck_assert_int_eq(hits->kind, JOB_SOURCE);
    ck_assert_str_eq(hits->name.text, "hits");
    at_is(hits->name.at, 8, 3);
    ck_assert_str_eq(hits->uid, "hits");
    const struct probe_conf *probe = hits->conf;
    ck_assert_str_eq(probe->path, "/srv/logs/*.csv");
    ck_assert_int_eq(probe->rows, 7);
    ck_assert_double_eq(probe->rate, 1.5);
    ck_assert_uint_eq(((const struct lines_conf *)hits->format_conf)->header.index, 1);
    ck_assert_uint_eq(hits->columns, 4);
    ck_assert_str_eq(hits->column[2].name.text, "twice");
    ck_assert_str_eq(hits->column[2].type.text, "AS size * 2");
    at_is(hits->column[2].type.at, 17, 14);
    ck_assert_uint_eq(hits->primary_key.count, 2);
    ck_assert_str_eq(hits->watermark.text, "ts AS ts - INTERVAL '5' SECOND");
    ck_assert_int_eq(hits->on_error, JOB_SKIP);
    at_is(hits->connector_at, 9, 16);
    at_is(hits->format_at, 11, 13);

    const struct job_step *pages = &job->step[1];
    ck_assert_int_eq(pages->kind, JOB_TRANSFORM);
    ck_assert_int_eq(pages->parallelism, 3);
    ck_assert_str_eq(pages->from.item[0].text, "hits");
    ck_assert_str_eq(pages->select.item[1].text, "size *\n  2 AS n\n");
    at_is(pages->select.item[0].at, 28, 9);
    at_is(pages->select.item[1].at, 30, 9);
    at_is(job_place(&pages->select.item[1], 9), 31, 11);
    at_is(pages->select_at, 27, 5);

    const struct job_step *minutes = &job->step[2];
    ck_assert_str_eq(minutes->uid, "per-minute");
    ck_assert_uint_eq(minutes->from.count, 2);
    at_is(minutes->from.item[1].at, 33, 19);
    ck_assert_uint_eq(minutes->group_by.count, 2);
    ck_assert_str_eq(minutes->group_by.item[1].text, "CONCAT(a, ',')");
    at_is(minutes->group_by.item[1].at, 35, 21);
    ck_assert_uint_eq(minutes->select.count, 3);
    ck_assert_str_eq(job->step[3].sql.text, "SELECT * FROM hits");

    const struct job_step *table = &job->step[4];
    ck_assert_int_eq(table->kind, JOB_SINK);
    ck_assert_int_eq(table->guarantee, SR_EXACTLY_ONCE);
    at_is(table->guarantee_at, 45, 30);
    done();
}
END_TEST

/* The place of a byte is right in every style that YAML has. */
START_TEST(places_in_texts)
{
    static const char yaml[] = KIT_HEAD "transforms:\n"          /* 4 */
                                        "  t:\n"                 /* 5 */
                                        "    from: in\n"         /* 6 */
                                        "    where: a = 1 AND\n" /* 7 */
                                        "      b = 2\n"          /* 8 */
                                        "    window: 'x(''a'', b)'\n"
                                        "    sql: >\n"           /* 10 */
                                        "      SELECT a\n"       /* 11 */
                                        "      FROM b\n"         /* 12 */
                                        "  u:\n"                 /* 13 */
                                        "    from: t\n"          /* 14 */
                                        "    where: \"a > 1\"\n" /* 15 */
                                        "sinks: {out: {from: t, connector: hole}}\n";
    setup();
    (void)kit_read(&k, yaml);
    (void)kit_fault(&k, 6, 5, "'from' cannot stand beside 'sql'");
    static const char good[] = KIT_HEAD "transforms:\n"
                                        "  t:\n"
                                        "    from: in\n"
                                        "    where: a = 1 AND\n" /* 7 */
                                        "      b = 2\n"          /* 8 */
                                        "    window: 'x(''a'', b)'\n"
                                        "    select: \"c > 1\"\n" /* 10 */
                                        "  u:\n"
                                        "    sql: >\n"     /* 12 */
                                        "      SELECT a\n" /* 13 */
                                        "      FROM b\n"   /* 14 */
                                        "sinks: {out: {from: t, connector: hole}}\n";
    ck_assert_int_eq(kit_read(&k, good), SR_OK);
    const struct job_step *t = &k.job->step[1];
    ck_assert_str_eq(t->where.text, "a = 1 AND b = 2");
    at_is(job_place(&t->where, 10), 8, 7);
    at_is(job_place(&t->where, 4), 7, 16);
    ck_assert_str_eq(t->window.text, "x('a', b)");
    at_is(job_place(&t->window, 7), 9, 23);
    at_is(job_place(&t->select.item[0], 2), 10, 16);
    const struct job_step *u = &k.job->step[2];
    ck_assert_str_eq(u->sql.text, "SELECT a FROM b\n");
    at_is(job_place(&u->sql, 0), 13, 7);
    at_is(job_place(&u->sql, 14), 14, 12);
    done();
}
END_TEST

/* All faults of a file come at once, in the order of their places, each with its line. */
START_TEST(all_faults_at_once)
{
    setup();
    (void)kit_read(&k, "paralelism.default: 2\n"
                       "execution.checkpointing.interval: 5ms\n"
                       "sources:\n"
                       "  in:\n"
                       "    connector: prob\n"
                       "    pathh: x\n"
                       "    format: line\n"
                       "    schema: {a: }\n"
                       "sinks:\n"
                       "  out:\n"
                       "    connector: file\n"
                       "    on-error: sometimes\n"
                       "  in:\n"
                       "    from: in\n"
                       "    connector: probe\n");
    ck_assert_ptr_nonnull(kit_fault(&k, 1, 1, "unknown key 'paralelism.default'"));
    ck_assert_ptr_nonnull(kit_fault(&k, 2, 35, "'5ms' is out of range: at least 10 ms"));
    const struct fault *f = kit_fault(&k, 5, 16, "there is no connector 'prob'");
    ck_assert_str_eq(f->hint, "did you mean 'probe'? There are: probe");
    ck_assert_str_eq(f->line, "    connector: prob");
    f = kit_fault(&k, 7, 13, "there is no format 'line'");
    ck_assert_str_eq(f->hint, "did you mean 'lines'? There are: lines");
    ck_assert_ptr_nonnull(kit_fault(&k, 8, 14, "column 'a' has no type"));
    ck_assert_ptr_nonnull(kit_fault(&k, 10, 3, "sink 'out' needs 'from'"));
    ck_assert_ptr_nonnull(kit_fault(&k, 11, 16, "connector 'file' needs 'path'"));
    ck_assert_ptr_nonnull(kit_fault(&k, 12, 15, "'sometimes' is not one of: fail, skip"));
    ck_assert_ptr_nonnull(kit_fault(&k, 13, 3, "the name 'in' is used by two steps"));
    ck_assert_ptr_nonnull(kit_fault(&k, 15, 16, "connector 'probe' cannot be a sink"));
    ck_assert_uint_eq(k.faults.errors, 10);
    for (uint32_t i = 1; i < k.faults.count; i++) {
        ck_assert_uint_le(k.faults.fault[i - 1].at.line, k.faults.fault[i].at.line);
    }
    done();
}
END_TEST

/* A job with faults is given out for bind to find more, its faulted steps without a type; not when
 * a transform lacks something that later steps would miss. */
START_TEST(half_a_job)
{
    setup();
    (void)kit_read(&k, "parallelism.default: none\n" KIT_HEAD "    rows: x\n" KIT_SINK);
    ck_assert_uint_eq(k.faults.errors, 2);
    ck_assert_ptr_nonnull(k.half);
    ck_assert_int_eq(k.half->settings.parallelism, 1);
    ck_assert_ptr_null(k.half->step[0].source);
    ck_assert_ptr_nonnull(k.half->step[1].sink);
    (void)kit_read(&k, KIT_HEAD "transforms: {t: {from: in, wher: a}}\n" KIT_SINK);
    ck_assert_uint_eq(k.faults.errors, 1);
    ck_assert_ptr_null(k.half);
    (void)kit_read(&k, "- a\n");
    ck_assert_ptr_null(k.half);
    done();
}
END_TEST

/* More faults than are kept are counted, not lost without a word. */
START_TEST(too_many_faults)
{
    static char yaml[1 << 15];
    size_t n = 0;

    setup();
    for (int i = 0; i < 300; i++) {
        n += (size_t)snprintf(yaml + n, sizeof(yaml) - n, "nokey%d: 1\n", i);
    }
    (void)snprintf(yaml + n, sizeof(yaml) - n, "%s%s", KIT_HEAD, KIT_SINK);
    ck_assert_int_eq(kit_read(&k, yaml), SR_ECONFIG);
    ck_assert_uint_eq(k.faults.count, FAULTS_MAX);
    ck_assert_uint_eq(k.faults.dropped, 300 - FAULTS_MAX);
    done();
}
END_TEST

/* What is promised and not there yet is said, never ignored. */
START_TEST(not_there_yet)
{
    static const char *const later[] = {
        "execution.checkpointing.unaligned.enabled: true\n",
        "execution.checkpointing.incremental: perhaps\n",
        "state.backend.type: org.example.Backend\n",
        "state.backend: filesystem\n",
        "execution.state-recovery.from-local: true\n",
        "execution.checkpointing.file-merging.enabled: true\n",
        "high-availability.type: zookeeper\n",
        "table.exec.state.ttl: 1 h\n",
    };
    char yaml[512];

    setup();
    for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
        (void)snprintf(yaml, sizeof(yaml), "%s%s%s", later[i], KIT_HEAD, KIT_SINK);
        ck_assert_int_eq(kit_read(&k, yaml), SR_ECONFIG);
        ck_assert_uint_eq(k.faults.errors, 1);
        if (!strstr(k.faults.fault[0].words, "not there yet")) {
            ck_abort_msg("%s: %s", later[i], k.faults.fault[0].words);
        }
        ck_assert_uint_eq(k.faults.fault[0].at.line, 1);
    }
    done();
}
END_TEST

/* The checkpoint keys that people copy from one flink-conf to the next, by their names of 2.x and
 * of 1.x, are a configuration: what is done otherwise, with the same results, is said. */
START_TEST(copied_checkpoint_keys)
{
    static const char *const blocks[] = {
        "execution.checkpointing.interval: 30s\n"
        "execution.checkpointing.mode: EXACTLY_ONCE\n"
        "execution.checkpointing.timeout: 10min\n"
        "execution.checkpointing.min-pause: 10s\n"
        "execution.checkpointing.max-concurrent-checkpoints: 1\n"
        "execution.checkpointing.tolerable-failed-checkpoints: 3\n"
        "execution.checkpointing.externalized-checkpoint-retention: RETAIN_ON_CANCELLATION\n"
        "state.backend.type: rocksdb\n"
        "execution.checkpointing.incremental: true\n"
        "execution.checkpointing.dir: file:///var/flink/checkpoints\n"
        "execution.checkpointing.savepoint-dir: file:///var/flink/savepoints\n"
        "execution.checkpointing.num-retained: 3\n",
        "execution.checkpointing.interval: 30s\n"
        "execution.checkpointing.mode: EXACTLY_ONCE\n"
        "execution.checkpointing.timeout: 10min\n"
        "execution.checkpointing.min-pause: 10s\n"
        "execution.checkpointing.max-concurrent-checkpoints: 1\n"
        "execution.checkpointing.tolerable-failed-checkpoints: 3\n"
        "execution.checkpointing.externalized-checkpoint-retention: RETAIN_ON_CANCELLATION\n"
        "state.backend: rocksdb\n"
        "state.backend.incremental: true\n"
        "state.checkpoints.dir: file:///var/flink/checkpoints\n"
        "state.savepoints.dir: file:///var/flink/savepoints\n"
        "state.checkpoints.num-retained: 3\n"};
    char yaml[2048];

    setup();
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
        (void)snprintf(yaml, sizeof(yaml), "%s%s%s", blocks[i], KIT_HEAD, KIT_SINK);
        ck_assert_int_eq(kit_read(&k, yaml), SR_OK);
        const struct settings *s = &k.job->settings;
        ck_assert_int_eq(s->interval.us, 30000000);
        ck_assert_int_eq(s->timeout.us, 600000000);
        ck_assert_int_eq(s->min_pause.us, 10000000);
        ck_assert_int_eq(s->tolerable_failures, 3);
        ck_assert_int_eq(s->num_retained, 3);
        ck_assert_str_eq(s->dir, "file:///var/flink/checkpoints");
        ck_assert_str_eq(s->savepoint_dir, "file:///var/flink/savepoints");
        ck_assert_ptr_nonnull(kit_fault(&k, 8, 1, "rocksdb' is not there yet: state is kept in"));
        ck_assert_ptr_nonnull(kit_fault(&k, 9, 1, "true' is not there yet: each checkpoint is"));
    }
    done();
}
END_TEST

/* `dead-letter:` is a sink with keys of its own; without it nothing can be set aside. */
START_TEST(dead_letter)
{
    char yaml[512];

    setup();
    (void)kit_read_source(&k, "    on-error: dead-letter\n");
    (void)kit_only(&k, 4, 15, "needs a block `dead-letter:`");
    (void)snprintf(yaml, sizeof(yaml), "%s%s%s",
                   "dead-letter: {connector: file, path: dead/, max-total: 7, max-rate: 9}\n",
                   KIT_HEAD, KIT_SINK);
    ck_assert_int_eq(kit_read(&k, yaml), SR_OK);
    ck_assert_ptr_nonnull(k.job->dead_letter.step);
    ck_assert_str_eq(k.job->dead_letter.step->sink->name, "file");
    ck_assert_int_eq(k.job->dead_letter.total_max, 7);
    ck_assert_int_eq(k.job->dead_letter.minute_max, 9);
    (void)snprintf(yaml, sizeof(yaml), "%s%s%s",
                   "dead-letter: {connector: file, path: dead/, max-totl: 7}\n", KIT_HEAD,
                   KIT_SINK);
    ck_assert_int_eq(kit_read(&k, yaml), SR_ECONFIG);
    (void)kit_only(&k, 1, 45, "max-totl");
    (void)snprintf(yaml, sizeof(yaml), "dead-letter:\n%s%s", KIT_HEAD, KIT_SINK);
    ck_assert_int_eq(kit_read(&k, yaml), SR_ECONFIG);
    (void)kit_only(&k, 1, 1, "'dead-letter' is empty");
    done();
}
END_TEST

/* A configuration of Flink is read as it is: older names are said, the rest is one notice. */
START_TEST(flink_keys)
{
    setup();
    ck_assert_int_eq(kit_read(&k, "jobmanager.rpc.address: localhost\n"
                                  "taskmanager.numberOfTaskSlots: 4\n"
                                  "state.checkpoints.dir: file:///var/cp\n"
                                  "state.backend: hashmap\n"
                                  "restart-strategy: fixed-delay\n"
                                  "restart-strategy.fixed-delay.attempts: 9\n"
                                  "execution.checkpointing.mode: exactly-once\n"
                                  "execution.checkpointing.interval: 0\n"
                                  "execution.checkpointing.max-concurrent-checkpoints: 3\n"
                                  "env.java.opts: -Xmx1g\n"
                                  "metrics.reporter.prom.port: 9249\n" KIT_HEAD KIT_SINK),
                     SR_OK);
    ck_assert_str_eq(k.job->settings.dir, "file:///var/cp");
    ck_assert_uint_eq(k.job->settings.restart.index, RESTART_FIXED);
    ck_assert_int_eq(k.job->settings.fixed_attempts, 9);
    ck_assert_int_lt(k.job->settings.interval.us, 0);
    ck_assert_int_eq(k.job->settings.max_concurrent, 3);
    ck_assert_ptr_nonnull(kit_fault(&k, 1, 1, "ignored: env.java.opts, jobmanager.rpc"));
    ck_assert_ptr_nonnull(kit_fault(&k, 3, 1, "older name of 'execution.checkpointing.dir'"));
    ck_assert_ptr_nonnull(kit_fault(&k, 5, 1, "older name of 'restart-strategy.type'"));
    ck_assert_ptr_nonnull(kit_fault(&k, 11, 1, "not there yet, ignored: metrics.reporter"));
    ck_assert_uint_eq(k.faults.count, 4);

    ck_assert_int_eq(
        kit_read(
            &k,
            "state.checkpoints.dir: /old\nexecution.checkpointing.dir: /new\n" KIT_HEAD KIT_SINK),
        SR_OK);
    ck_assert_str_eq(k.job->settings.dir, "/new");
    ck_assert_uint_eq(k.faults.warnings, 1);
    done();
}
END_TEST

static void write_file(const char *dir, const char *name, const char *text, char path[256])
{
    (void)snprintf(path, 256, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    ck_assert_int_eq(fclose(f), 0);
}

/* -D beats the job file, which beats --conf, which beats defaults; each value knows its origin. */
START_TEST(precedence)
{
    char dir[] = "/tmp/conf-XXXXXX";
    char job[256];
    char conf[256];
    const char *origin = NULL;
    const struct conf_define define[] = {{"parallelism.default", "5"},
                                         {"parallelism.default", "6"},
                                         {"sources.in.path", "mine"},
                                         {"sources.in.topics", "a; b,c"},
                                         {"state.savepoints.dir", "sp"}};

    setup();
    ck_assert_ptr_nonnull(mkdtemp(dir));
    write_file(dir, "page-hits.yaml",
               "parallelism.default: 3\npipeline.max-parallelism: 64\n" KIT_HEAD
               "    path: theirs\n    text: ./t\n" KIT_SINK,
               job);
    write_file(dir, "config.yaml",
               "parallelism:\n  default: 2\npipeline.max-parallelism: 32\n"
               "execution.checkpointing.num-retained: 4\nlog.file: job.log\n",
               conf);
    struct conf_input in = {.path = job,
                            .conf_path = conf,
                            .work_dir = "/home",
                            .define = define,
                            .defines = sizeof(define) / sizeof(define[0])};
    ck_assert_int_eq(kit_read_input(&k, &in), SR_OK);
    ck_assert_str_eq(k.job->name, "page-hits");
    ck_assert_str_eq(k.job->file, job);
    ck_assert_int_eq(k.job->settings.parallelism, 6);
    ck_assert_int_eq(k.job->settings.max_parallelism, 64);
    ck_assert_int_eq(k.job->settings.num_retained, 4);
    ck_assert_str_eq(k.job->settings.savepoint_dir, "/home/sp");
    ck_assert_str_eq(kit_probe(&k)->path, "/home/mine");
    ck_assert_uint_eq(kit_probe(&k)->topics.count, 2);
    ck_assert_str_eq(kit_probe(&k)->topics.item[1], "b,c");
    char expected[512];
    (void)snprintf(expected, sizeof(expected), "%s/job.log", dir);
    ck_assert_str_eq(k.job->settings.log_file, expected);

    ck_assert_str_eq(kit_value(&k, "parallelism.default", &origin), "6");
    ck_assert_str_eq(origin, "-D");
    ck_assert_str_eq(kit_value(&k, "pipeline.max-parallelism", &origin), "64");
    (void)snprintf(expected, sizeof(expected), "%s:2", job);
    ck_assert_str_eq(origin, expected);
    ck_assert_str_eq(kit_value(&k, "execution.checkpointing.num-retained", &origin), "4");
    (void)snprintf(expected, sizeof(expected), "%s:4", conf);
    ck_assert_str_eq(origin, expected);
    ck_assert_str_eq(kit_value(&k, "execution.checkpointing.timeout", &origin), "10 min");
    ck_assert_str_eq(origin, "default");
    ck_assert_str_eq(kit_value(&k, "sources.in.path", NULL), "/home/mine");

    ck_assert_int_eq(unlink(conf), 0);
    ck_assert_int_eq(unlink(job), 0);
    ck_assert_int_eq(rmdir(dir), 0);
    done();
}
END_TEST

/* What is wrong with -D, --conf or the file itself is said with the place that it came from. */
START_TEST(wrong_inputs)
{
    char dir[] = "/tmp/conf-XXXXXX";
    char job[256];
    char conf[256];

    setup();
    ck_assert_ptr_nonnull(mkdtemp(dir));
    write_file(dir, "job.yaml", KIT_HEAD KIT_SINK, job);
    const struct conf_define wrong[] = {{"a", "b"}, {"parallelism.default", "x"}, {"", "y"}};
    struct conf_input in = {.path = job, .define = wrong, .defines = 3};
    ck_assert_int_eq(kit_read_input(&k, &in), SR_ECONFIG);
    ck_assert_ptr_nonnull(kit_fault(&k, 1, 1, "unknown key 'a'"));
    const struct fault *f = kit_fault(&k, 2, 21, "'x' is not a whole number");
    ck_assert_str_eq(f->at.file, "-D");
    ck_assert_str_eq(f->line, "parallelism.default=x");
    ck_assert_ptr_nonnull(kit_fault(&k, 3, 1, "-D takes key=value"));

    write_file(dir, "config.yaml", KIT_HEAD, conf);
    in.defines = 0;
    in.conf_path = conf;
    ck_assert_int_eq(kit_read_input(&k, &in), SR_ECONFIG);
    ck_assert_ptr_nonnull(kit_fault(&k, 3, 5, "is no key of a configuration file"));
    ck_assert_int_eq(unlink(conf), 0);
    ck_assert_int_eq(kit_read_input(&k, &in), SR_EABSENT);
    ck_assert_int_eq(unlink(job), 0);
    in.conf_path = NULL;
    ck_assert_int_eq(kit_read_input(&k, &in), SR_EABSENT);
    ck_assert_uint_eq(k.faults.errors, 1);
    ck_assert_int_eq(rmdir(dir), 0);
    done();
}
END_TEST

static bool faults_have(const char *secret)
{
    for (uint32_t i = 0; i < k.faults.count; i++) {
        const struct fault *f = &k.faults.fault[i];
        if (strstr(f->words, secret) || (f->hint && strstr(f->hint, secret)) ||
            (f->line && strstr(f->line, secret))) {
            fprintf(stderr, "shown in: %s | %s | %s\n", f->words, f->hint, f->line);
            return true;
        }
    }
    return false;
}

static bool values_have(const char *secret)
{
    const struct conf_value *v = NULL;
    uint32_t count = conf_values(k.job, k.arena, &v);
    for (uint32_t i = 0; i < count; i++) {
        if (strstr(v[i].value, secret)) {
            return true;
        }
    }
    return false;
}

/* A secret reaches the connector and nothing else: no fault, no line, no value, no description. */
START_TEST(secrets)
{
    char dir[] = "/tmp/conf-XXXXXX";
    char secret[256];
    char yaml[2048];

    setup();
    ck_assert_ptr_nonnull(mkdtemp(dir));
    write_file(dir, "pw", "canary1\n", secret);
    (void)snprintf(yaml, sizeof(yaml),
                   "    password: canary2\n"
                   "    pin: canary3\n"
                   "    text: ${file:%s}\n"
                   "    properties:\n"
                   "      sasl.jaas.config: user=me pass=${DB_PASSWORD:-canary4}\n"
                   "      plain: x${DB_PASSWORD}\n"
                   "      ssl.key.credential: |\n"
                   "        canary5\n"
                   "        canary5\n"
                   "    topics: [x]\n",
                   secret);
    ck_assert_int_eq(kit_read_source(&k, yaml), SR_OK);
    ck_assert_str_eq(kit_probe(&k)->text, "canary1");
    ck_assert_str_eq(kit_probe(&k)->password, "canary2");
    ck_assert_str_eq(kit_probe(&k)->pin, "canary3");
    ck_assert_str_eq(kit_probe(&k)->properties.value[1], "user=me pass=hunter2");
    ck_assert_str_eq(kit_value(&k, "sources.in.password", NULL), "***");
    ck_assert(!values_have("canary"));
    ck_assert(!values_have("hunter2"));
    ck_assert_ptr_null(strstr(k.job->description, "canary"));
    ck_assert_ptr_null(strstr(k.job->description, "hunter2"));
    ck_assert_ptr_nonnull(strstr(k.job->description, "pass=${DB_PASSWORD}\""));
    ck_assert_ptr_nonnull(strstr(k.job->description, "password: \"${SOURCES_IN_PASSWORD}\""));
    ck_assert_ptr_nonnull(strstr(k.job->description, "${file:"));

    /* A fault in the line of a secret, in YAML itself, and in -D. */
    (void)kit_read_source(&k,
                          "    passwort: a\n    api-key: canary\n    token: {canary: canary}\n");
    ck_assert(!faults_have("canary\n"));
    ck_assert(!faults_have(" canary"));
    (void)kit_read_source(&k, "    password: canary: canary\n");
    ck_assert_uint_eq(k.faults.errors, 1);
    ck_assert(!faults_have("canary"));
    (void)kit_read_source(&k, "    password:\n      'canary' canary\n");
    ck_assert_uint_eq(k.faults.errors, 1);
    ck_assert(!faults_have("canary"));
    (void)kit_read_source(&k, "    password:\n    - canary\n    - 'canary' canary\n");
    ck_assert_uint_eq(k.faults.errors, 1);
    ck_assert(!faults_have("canary"));
    (void)kit_read_source(&k, "    rows: {x: 1, password: [canary]}\n");
    ck_assert(!faults_have("canary"));
    (void)kit_read_source(&k, "    pasword: canary\n    pn: x\n    pinn: canary\n");
    ck_assert_uint_eq(k.faults.errors, 3);
    ck_assert(!faults_have("canary"));
    const struct conf_define define[] = {{"sources.in.pasword", "canary"},
                                         {"sources.in.api-key", "canary"},
                                         {"sources.in.rows", "${file:/no/canary-file}"}};
    struct conf_input in = {.path = "-", .text = KIT_HEAD KIT_SINK, .define = define, .defines = 3};
    ck_assert_int_eq(kit_read_input(&k, &in), SR_ECONFIG);
    ck_assert(!faults_have("=canary"));
    ck_assert(!faults_have(" canary"));
    ck_assert_int_eq(unlink(secret), 0);
    ck_assert_int_eq(rmdir(dir), 0);
    done();
}
END_TEST

/* Characters of which YAML makes a line's end, or which it does not take: U+0081, U+0085, U+2028,
 * U+FEFF, U+FFFE; and others beside them. */
#define ODD                                                                           \
    "\xc2\x81 \xc2\x85 \xe2\x80\xa8 \xef\xbb\xbf \xef\xbf\xbe \xc2\xa0 \xef\xbf\xbd " \
    "\xf0\x9f\x98\x80"

/* The description read again gives the same job, and describes itself the same. */
START_TEST(description_reads_back)
{
    char *first = NULL;

    setup();
    struct conf_input in = {.path = "job.yaml", .text = whole, .work_dir = "/srv"};
    const struct conf_define define[] = {{"sources.hits.text", "a\"b\\c\n\t${x"},
                                         {"parallelism.default", "4"},
                                         {"sources.hits.properties.x", "$${NAME} ${NAME}"}};
    in.define = define;
    in.defines = 1;
    ck_assert_int_eq(kit_read_input(&k, &in), SR_ECONFIG); /* ${x is never closed */
    const struct conf_define good[] = {{"sources.hits.text", "a\"b\\c\n\t\x7f" ODD "'$${x}"},
                                       {"parallelism.default", "4"},
                                       {"sources.hits.properties.x: y", "$${NAME} ${NAME}"}};
    in.define = good;
    in.defines = 3;
    ck_assert_int_eq(kit_read_input(&k, &in), SR_OK);
    first = strdup(k.job->description);
    char id[33];
    memcpy(id, k.job->id, sizeof(id));

    struct conf_input again = {.path = "-", .text = first, .work_dir = "/elsewhere"};
    ck_assert_int_eq(kit_read_input(&k, &again), SR_OK);
    ck_assert_uint_eq(k.faults.count, 0);
    ck_assert_str_eq(k.job->description, first);
    ck_assert_str_eq(k.job->id, id);
    ck_assert_str_eq(k.job->name, "page-hits");
    ck_assert_int_eq(k.job->settings.parallelism, 4);
    ck_assert_str_eq(k.job->settings.dir, "sqlite:///srv/state/page-hits.db");
    const struct job_step *hits = &k.job->step[0];
    const struct probe_conf *probe = hits->conf;
    ck_assert_str_eq(probe->path, "/srv/logs/*.csv");
    ck_assert_str_eq(probe->text, "a\"b\\c\n\t\x7f" ODD "'${x}");
    ck_assert_str_eq(probe->properties.key[0], "x: y");
    ck_assert_str_eq(probe->properties.value[0], "${NAME} value");
    ck_assert_int_eq(probe->every.us, 1000000);
    ck_assert_uint_eq(hits->columns, 4);
    ck_assert_str_eq(hits->column[1].type.text, "TIMESTAMP(3)");
    ck_assert_uint_eq(k.job->steps, 5);
    ck_assert_str_eq(k.job->step[1].select.item[1].text, "size *\n  2 AS n\n");
    ck_assert_uint_eq(k.job->step[2].group_by.count, 2);
    ck_assert_int_eq(k.job->step[4].guarantee, SR_EXACTLY_ONCE);
    free(first);
    done();
}
END_TEST

/* A secret that cannot be supplied at resume is a fault that names what to set. */
START_TEST(description_without_its_secret)
{
    setup();
    ck_assert_int_eq(kit_read_source(&k, "    password: canary\n"), SR_OK);
    char *text = strdup(k.job->description);
    struct conf_input in = {.path = "-", .text = text};
    ck_assert_int_eq(kit_read_input(&k, &in), SR_ECONFIG);
    ck_assert_uint_eq(k.faults.errors, 1);
    ck_assert_ptr_nonnull(strstr(k.faults.fault[0].words, "SOURCES_IN_PASSWORD is not set"));
    const struct conf_define define[] = {{"sources.in.password", "again"}};
    in.define = define;
    in.defines = 1;
    ck_assert_int_eq(kit_read_input(&k, &in), SR_OK);
    ck_assert_str_eq(kit_probe(&k)->password, "again");
    free(text);
    done();
}
END_TEST

/* A schema may be a text; a nested mapping is no type; both forms at once are a fault. */
START_TEST(schemas)
{
    setup();
    ck_assert_int_eq(kit_read_source(&k, "    schema: |\n      a INT,\n      b STRING\n"), SR_OK);
    ck_assert_str_eq(k.job->step[0].schema_text.text, "a INT,\nb STRING\n");
    ck_assert_uint_eq(k.job->step[0].columns, 0);
    at_is(k.job->step[0].schema_text.at, 5, 7);
    ck_assert_int_eq(kit_read_source(&k, "    schema: {'a.b': INT, no: INT, 1: INT}\n"), SR_OK);
    ck_assert_str_eq(k.job->step[0].column[0].name.text, "a.b");
    ck_assert_str_eq(k.job->step[0].column[1].name.text, "no");
    (void)kit_read_source(&k, "    schema:\n      a: {b: INT}\n");
    (void)kit_only(&k, 5, 11, "a column's type is a text");
    (void)kit_read_source(&k, "    schema:\n      a: [INT]\n");
    (void)kit_only(&k, 5, 10, "takes one text here, not a list");
    (void)kit_read_source(&k, "    schema: a INT\n    schema.b: INT\n");
    (void)kit_only(&k, 4, 13, "the schema is written twice");
    done();
}
END_TEST

/* One fault says that there are too many steps, however many. */
START_TEST(too_many_steps_are_one_fault)
{
    setup();
    static char text[64 * 1024];
    size_t n = (size_t)snprintf(text, sizeof(text), KIT_HEAD KIT_SINK "transforms:\n");
    for (int i = 0; i < 1500; i++) {
        n += (size_t)snprintf(text + n, sizeof(text) - n, "  t%d: {from: in}\n", i);
    }
    ck_assert_uint_lt(n, sizeof(text));
    ck_assert_int_eq(kit_read(&k, text), SR_ECONFIG);
    uint32_t told = 0;
    for (uint32_t i = 0; i < k.faults.count; i++) {
        told += strstr(k.faults.fault[i].words, "more than 1000 steps") != NULL;
    }
    ck_assert_uint_eq(told, 1);
    done();
}
END_TEST

/* What a step or a job must have, and what its values may be. */
START_TEST(what_must_be)
{
    setup();
    (void)kit_read(&k, KIT_HEAD KIT_SINK "transforms: {t: {where: a}}\n");
    (void)kit_only(&k, 8, 14, "transform 't' needs 'from', or 'sql'");
    (void)kit_read(&k, "parallelism.default: 1\n");
    ck_assert_ptr_nonnull(kit_fault(&k, 0, 0, "the job has no sources"));
    ck_assert_ptr_nonnull(kit_fault(&k, 0, 0, "the job has no sinks"));
    (void)kit_read(&k, "# nothing\n");
    (void)kit_only(&k, 0, 0, "the file is empty");
    (void)kit_read(&k, "execution.checkpointing.dir: 'file://'\n" KIT_HEAD KIT_SINK);
    (void)kit_only(&k, 1, 31, "no absolute path follows 'file://'");
    (void)kit_read(&k, "pipeline.fixed-job-id: xyz\n" KIT_HEAD KIT_SINK);
    (void)kit_only(&k, 1, 24, "a job id is 32 hexadecimal digits");
    ck_assert_int_eq(
        kit_read(&k, "pipeline.fixed-job-id: 0123456789ABCDEF0123456789abcdef\n" KIT_HEAD KIT_SINK),
        SR_OK);
    ck_assert_str_eq(k.job->id, "0123456789abcdef0123456789abcdef");
    (void)kit_read(&k, "parallelism.default: 200\n" KIT_HEAD KIT_SINK);
    (void)kit_only(&k, 1, 22, "above pipeline.max-parallelism (128)");
    ck_assert_int_eq(kit_read(&k, "table.local-time-zone: Etc/UTC\n" KIT_HEAD KIT_SINK), SR_OK);
    ck_assert_str_eq(k.job->settings.time_zone, "UTC");
    ck_assert_int_eq(kit_read(&k, "table.local-time-zone: Europe/Berlin\n" KIT_HEAD KIT_SINK),
                     SR_OK);
    ck_assert_str_eq(k.job->settings.time_zone, "Europe/Berlin");
    (void)kit_read(&k, "table.local-time-zone: Europe/Nowhere\n" KIT_HEAD KIT_SINK);
    (void)kit_only(&k, 1, 24, "no time zone 'Europe/Nowhere'");
    (void)kit_read_source(&k, "    text:\n");
    (void)kit_only(&k, 4, 5, "'sources.in.text' has no value");
    (void)kit_read_source(&k, "    text: [a]\n");
    (void)kit_only(&k, 4, 11, "takes one value, not a list");
    (void)kit_read_source(&k, "    path: {a: b}\n");
    (void)kit_only(&k, 4, 12, "'path' takes one value, not a mapping with 'a'");
    (void)kit_read_source(&k, "    old-text: x\n");
    ck_assert_str_eq(kit_probe(&k)->text, "x");
    ck_assert_ptr_nonnull(kit_fault(&k, 4, 5, "older name of 'sources.in.text'"));
    (void)kit_read_source(&k, "    rate: 1e3\n    start: LATEST\n");
    ck_assert_double_eq(kit_probe(&k)->rate, 1000);
    ck_assert_uint_eq(kit_probe(&k)->start.index, 1);
    (void)kit_read_source(&k, "    rate: inf\n");
    (void)kit_only(&k, 4, 11, "'inf' is not a number");
    struct conf_input in = {.path = "query.sql"};
    (void)kit_read_input(&k, &in);
    (void)kit_only(&k, 0, 0, "not there yet");
    done();
}
END_TEST

/* `help KEY` finds a key in every table that has it; a near word finds the key. */
START_TEST(keys_are_found)
{
    const struct sr_opt *o = NULL;
    const char *where = NULL;

    setup();
    k.arena = arena_new();
    ck_assert(conf_option(k.registry, "state.checkpoints.dir", 0, &o, &where));
    ck_assert_str_eq(o->key, "execution.checkpointing.dir");
    ck_assert_str_eq(where, "job");
    ck_assert(!conf_option(k.registry, "state.checkpoints.dir", 1, &o, &where));
    ck_assert(conf_option(k.registry, "path", 0, &o, &where));
    ck_assert_str_eq(where, "connector probe");
    ck_assert(conf_option(k.registry, "path", 1, &o, &where));
    ck_assert_str_eq(where, "connector file");
    ck_assert(conf_option(k.registry, "lines.header", 0, &o, &where));
    ck_assert_str_eq(where, "format lines");
    ck_assert(conf_option(k.registry, "group-by", 0, &o, &where));
    ck_assert_str_eq(where, "transform");
    ck_assert(!conf_option(k.registry, "no-such-key", 0, &o, &where));
    ck_assert_str_eq(conf_nearest_key(k.registry, k.arena, "lines.haeder"), "lines.header");
    done();
}
END_TEST

UNIT_MAIN("job", whole_job, places_in_texts, all_faults_at_once, half_a_job, too_many_faults,
          not_there_yet, copied_checkpoint_keys, dead_letter, flink_keys, precedence, wrong_inputs,
          secrets, description_reads_back, description_without_its_secret, schemas,
          too_many_steps_are_one_fault, what_must_be, keys_are_found)
