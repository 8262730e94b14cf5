/* The keys of sources, transforms and sinks that are ours, whatever they are connected to. */
#include "conf/steps.h"
#include "conf/steps_inner.h"

static const char *const steps_on_error[] = {"fail", "skip", "dead-letter", NULL};
static const char *const steps_on_late[] = {"drop", "dead-letter", NULL};
static const char *const steps_emit[] = {"on-event", "on-periodic", NULL};
static const char *const steps_include[] = {"ALL", "EXCEPT_KEY", NULL};
static const char *const steps_guarantees[] = {"none", "at-least-once", "exactly-once", NULL};

#define KEY(name, field, ...) SR_OPT(struct steps_keys, name, field, __VA_ARGS__)

/* clang-format off */
#define STEPS_COMMON                                                                             \
    KEY("uid", uid, .flags = SR_OPT_OURS,                                                        \
        .doc = "Name that the step's state belongs to in checkpoints; the step's name unless "   \
               "written."),                                                                      \
    KEY("parallelism", parallelism, .min = 1, .max = 32768, .flags = SR_OPT_OURS,                \
        .doc = "Subtasks of this step; parallelism.default unless written."),                    \
    KEY("on-error", on_error, .choices = steps_on_error, .def = "fail", .flags = SR_OPT_OURS,    \
        .doc = "What happens to a row that cannot be read, computed or written: fail (the job "  \
               "fails), skip (counted) or dead-letter.")

#define STEPS_CONNECTED                                                                          \
    KEY("connector", connector, .flags = SR_OPT_REQUIRED,                                        \
        .doc = "What it is connected to, as in `connector: filesystem`."),                       \
    KEY("format", format,                                                                        \
        .doc = "How bytes become rows or rows bytes, as in `format: csv`; its options are "      \
               "written `csv.header`."),                                                         \
    KEY("primary-key", primary_key, .flags = SR_OPT_OURS | OPTS_TEXT,                            \
        .doc = "Columns that tell rows apart: on a sink they mean upsert.")

#define STEPS_SCHEMA                                                                             \
    KEY("schema", schema, .flags = SR_OPT_OURS | OPTS_TEXT,                                      \
        .doc = "The columns: a mapping `name: TYPE`, or a text as between the brackets of "      \
               "CREATE TABLE. Types are Flink's: BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, "\
               "DOUBLE, DECIMAL(p, s), CHAR(n), VARCHAR(n), STRING, BINARY(n), VARBINARY(n), "   \
               "BYTES, DATE, TIME, TIMESTAMP(p), TIMESTAMP_LTZ(p), ARRAY<T>, MAP<K, V>, "        \
               "MULTISET<T>, ROW<name T, ...>, STRUCTURED<'class', name T, ...>, VARIANT, each with "\
               "NOT NULL or without; a computed column is "                                      \
               "`name: AS expression`.")

const struct sr_opt steps_keyed_opts[] = {
    KEY("value.format", value_format,
        .doc = "The same as `format`; its options are written `value.csv.header` then."),
    KEY("key.format", key_format,
        .doc = "How keys of records become columns or columns keys, as in `key.format: raw`; its "
               "options are written `key.csv.header`."),
    KEY("key.fields", key_fields, .flags = OPTS_TEXT,
        .doc = "The columns that are in the key; the primary key's unless written."),
    KEY("key.fields-prefix", key_prefix, .def = "",
        .doc = "What the names of the key's columns begin with in the job, but not in the key "
               "itself: so the key and the value may have fields of one name."),
    KEY("value.fields-include", value_include, .choices = steps_include, .def = "ALL",
        .doc = "ALL: the value has the columns of the key too; EXCEPT_KEY: it has not."),
    SR_OPT_END};

const struct sr_opt steps_source_opts[] = {
    STEPS_CONNECTED,
    STEPS_SCHEMA,
    KEY("watermark", watermark, .flags = SR_OPT_OURS | OPTS_TEXT,
        .doc = "The event time and how late rows may be, as in "
               "`ts AS ts - INTERVAL '5' SECOND`."),
    KEY("scan.watermark.emit.strategy", emit_strategy, .choices = steps_emit, .def = "on-event",
        .doc = "on-event: each row moves the watermark, so that what is late does not depend on "
               "the clock. on-periodic, Flink's default: every `pipeline.auto-watermark-interval`."),
    KEY("scan.watermark.idle-timeout", idle_timeout, .min = 0, .max = INT64_MAX,
        .doc = "Without a row for so long the source, or a split of it, no longer holds back the "
               "watermark of the others; rows that come later may be late. Unless written: "
               "`table.exec.source.idle-timeout`."),
    KEY("scan.parallelism", flink_parallelism, .min = 1, .max = 32768,
        .doc = "Flink's name of `parallelism` of a source."),
    KEY("rate-limit", rate_limit, .def = "0", .max = INT64_MAX, .flags = SR_OPT_OURS,
        .doc = "Records a second that are read at most, by all subtasks together; 0: as fast as "
               "it goes."),
    STEPS_COMMON,
    SR_OPT_END};

const struct sr_opt steps_transform_opts[] = {
    KEY("from", from, .flags = SR_OPT_OURS | OPTS_TEXT,
        .doc = "The step that rows come from, or a list of steps of the same schema."),
    KEY("where", where, .flags = SR_OPT_OURS | OPTS_TEXT,
        .doc = "Rows for which it is not TRUE are dropped."),
    KEY("select", select, .flags = SR_OPT_OURS | OPTS_TEXT,
        .doc = "The columns that go on, as in `SUM(size) AS total`; all unless written."),
    KEY("group-by", group_by, .flags = SR_OPT_OURS | OPTS_TEXT,
        .doc = "Rows of equal values are aggregated."),
    KEY("window", window, .flags = SR_OPT_OURS | OPTS_TEXT,
        .doc = "Aggregate by time: `TUMBLE(ts, size)`, `HOP(ts, slide, size)` or `CUMULATE(ts, "
               "step, size)`, each with an offset behind it if need be, or `SESSION(ts, gap)`, as in `TUMBLE(ts, INTERVAL "
               "'1' MINUTE)`. ts is the column of the source's `watermark`, or one that is `AS "
               "PROCTIME()`: then it is the time of processing that counts, and the last windows "
               "fire at the end of the input. Flink's three columns window_start, window_end and window_time can be "
               "selected."),
    KEY("on-late", on_late, .choices = steps_on_late, .def = "drop", .flags = SR_OPT_OURS,
        .doc = "What happens to a row that comes too late for its window: drop (counted) or "
               "dead-letter."),
    KEY("sql", sql, .flags = SR_OPT_OURS | OPTS_TEXT,
        .doc = "One query of Flink SQL over the names of steps, instead of the keys above."),
    STEPS_COMMON,
    SR_OPT_END};

const struct sr_opt steps_sink_opts[] = {
    KEY("from", from, .flags = SR_OPT_REQUIRED | SR_OPT_OURS | OPTS_TEXT,
        .doc = "The step that rows come from, or a list of steps of the same schema."),
    STEPS_CONNECTED,
    STEPS_SCHEMA,
    KEY("sink.parallelism", flink_parallelism, .min = 1, .max = 32768,
        .doc = "Flink's name of `parallelism` of a sink."),
    KEY("sink.delivery-guarantee", guarantee, .choices = steps_guarantees,
        .doc = "What the job asks of this sink: exactly-once, at-least-once or none."),
    STEPS_COMMON,
    SR_OPT_END};

const struct sr_opt steps_dead_letter_opts[] = {
    KEY("connector", connector, .flags = SR_OPT_REQUIRED,
        .doc = "Where records go that could not be read, computed or written: any sink."),
    KEY("format", format, .def = "json",
        .doc = "How dead letters are written where the connector needs a format."),
    KEY("max-total", total_max, .def = "0", .max = INT64_MAX, .flags = SR_OPT_OURS,
        .doc = "Dead letters of the job, over all its runs, beyond which it fails instead of setting "
               "more aside; 0: no limit."),
    KEY("max-rate", minute_max, .def = "0", .max = INT64_MAX, .flags = SR_OPT_OURS,
        .doc = "Dead letters a minute beyond which the job fails; 0: no limit."),
    SR_OPT_END};
/* clang-format on */
