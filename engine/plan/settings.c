#include "engine/plan/settings.h"

#include <string.h>

#include "engine/plan/foreign.h"

#define SETTINGS_MS     INT64_C(1000)
#define SETTINGS_S      INT64_C(1000000)
#define SETTINGS_ALWAYS INT64_MAX

static const char *const settings_modes[] = {"EXACTLY_ONCE", "AT_LEAST_ONCE", NULL};
/* The first one is the zero value of the field: nothing was written. */
static const char *const settings_retentions[] = {
    "", "NO_EXTERNALIZED_CHECKPOINTS", "DELETE_ON_CANCELLATION", "RETAIN_ON_CANCELLATION", NULL};
static const char *const settings_levels[] = {"DEBUG", "INFO", "WARN", "ERROR", NULL};
static const char *const settings_claims[] = {"NO_CLAIM", "CLAIM", "LEGACY", NULL};
static const char *const settings_failovers[] = {"region", "full", NULL};
static const char *const settings_storages[] = {"filesystem", "jobmanager", NULL};
/* The first one is the zero value of the field: nothing was written. */
static const char *const settings_restarts[] = {"",
                                                "none|off|disable",
                                                "fixed-delay|fixeddelay",
                                                "exponential-delay|exponentialdelay",
                                                "failure-rate|failurerate",
                                                NULL};

#define SETTINGS_OLDER(...) \
    (const char *const[]) { __VA_ARGS__, NULL }

#define SET(name, field, ...) SR_OPT(struct settings, name, field, __VA_ARGS__)

/* clang-format off */
const struct sr_opt settings_opts[] = {
    SET("pipeline.name", name,
        .doc = "Name of the job, shown wherever the job is. Without it the job is called as its "
               "file, without the extension."),
    SET("pipeline.fixed-job-id", id,
        .aliases = SETTINGS_OLDER("$internal.pipeline.job-id"),
        .doc = "Id of the job: 32 hexadecimal digits. Without it the id is made from the name, so "
               "it stays the same for the same name."),
    SET("parallelism.default", parallelism, .def = "1", .min = 1, .max = 32768,
        .doc = "Subtasks of each step, unless a step says otherwise. `-p` comes before it."),
    SET("pipeline.max-parallelism", max_parallelism, .def = "128", .min = 1, .max = 32768,
        .doc = "Number of key groups: no keyed step can have more subtasks. It is fixed for the "
               "life of the state."),
    SET("table.local-time-zone", time_zone, .def = "UTC",
        .doc = "Time zone of the session: Europe/Berlin, GMT+08:00. TIMESTAMP_LTZ is shown in it, "
               "and DATE_FORMAT, CURRENT_DATE and the like mean it. The machine's own zone is "
               "never used."),
    SET("pipeline.auto-watermark-interval", auto_watermark, .def = "200 ms",
        .min = 0, .max = SETTINGS_ALWAYS,
        .doc = "How often watermarks move, in sources with `scan.watermark.emit.strategy: "
               "on-periodic`; 0: not before the end. Otherwise each row moves them."),
    SET("table.exec.source.idle-timeout", source_idle, .def = "0 ms",
        .min = 0, .max = SETTINGS_ALWAYS,
        .doc = "A source, or a split of one, that had no row for so long no longer holds back the "
               "watermark of the others; 0: it always does. "
               "`scan.watermark.idle-timeout` of a source comes before it."),

    SET("execution.checkpointing.interval", interval,
        .min = 10 * SETTINGS_MS, .max = SETTINGS_ALWAYS,
        .doc = "Time from the start of one checkpoint to the start of the next. Without it, or "
               "with 0, there are no periodic checkpoints."),
    SET("execution.checkpointing.interval-during-backlog", backlog_interval,
        .min = 0, .max = SETTINGS_ALWAYS,
        .doc = "The same, while a source reads what was there when it began: `filesystem` and `sqlite`, "
               "where they go on looking for more. 0: no periodic checkpoints then. Without it the "
               "interval is the same one."),
    SET("execution.checkpointing.timeout", timeout, .def = "10 min",
        .min = 10 * SETTINGS_MS, .max = SETTINGS_ALWAYS,
        .doc = "A checkpoint that takes longer is given up, and counts as failed."),
    SET("execution.checkpointing.min-pause", min_pause, .def = "0 ms",
        .min = 0, .max = SETTINGS_ALWAYS,
        .doc = "Shortest time from the end of a completed checkpoint to the start of the next; above 0 "
               "it allows one checkpoint at once only."),
    SET("execution.checkpointing.max-concurrent-checkpoints", max_concurrent, .def = "1",
        .min = 1, .max = 8,
        .doc = "Checkpoints that may be on the way at once. With `min-pause` it is always one."),
    SET("execution.checkpointing.checkpoints-after-tasks-finish", has_checkpoints_after_end,
        .def = "true",
        .aliases = SETTINGS_OLDER(
            "execution.checkpointing.checkpoints-after-tasks-finish.enabled"),
        .doc = "Whether checkpoints and savepoints are taken when some source has ended. The last "
               "one, with which the job ends, is taken anyhow."),
    SET("execution.checkpointing.tolerable-failed-checkpoints", tolerable_failures, .def = "0",
        .min = 0, .max = INT32_MAX,
        .doc = "Checkpoints in a row that may fail before the job fails and restarts."),
    SET("execution.checkpointing.num-retained", num_retained, .def = "1",
        .min = 1, .max = INT32_MAX, .aliases = SETTINGS_OLDER("state.checkpoints.num-retained"),
        .doc = "Completed checkpoints that are kept. Savepoints do not count."),
    SET("execution.checkpointing.mode", mode, .def = "EXACTLY_ONCE", .choices = settings_modes,
        .doc = "EXACTLY_ONCE aligns barriers; AT_LEAST_ONCE goes on reading meanwhile, and may "
               "count rows twice after a failure."),
    SET("execution.checkpointing.externalized-checkpoint-retention", retention,
        .choices = settings_retentions,
        .doc = "Whether the job's checkpoints are deleted when it ends. Not written: never. "
               "RETAIN_ON_CANCELLATION: when it finished, or was stopped with a savepoint; "
               "DELETE_ON_CANCELLATION: when it was canceled, too; NO_EXTERNALIZED_CHECKPOINTS: "
               "when it failed, too. A signal suspends the job, and deletes nothing; nor does a "
               "run with `--continue` that goes on later."),
    SET("execution.checkpointing.storage", storage, .def = "filesystem",
        .choices = settings_storages, .aliases = SETTINGS_OLDER("state.checkpoint-storage"),
        .doc = "filesystem keeps checkpoints in `execution.checkpointing.dir`; jobmanager keeps "
               "them in memory only: they die with the process."),
    SET("execution.checkpointing.dir", dir, .flags = SR_OPT_PATH,
        .aliases = SETTINGS_OLDER("state.checkpoints.dir", "state.backend.fs.checkpointdir"),
        .doc = "Where checkpoints lie: a directory (a path, or file:///...) or one SQLite file "
               "(sqlite:///...)."),
    SET("execution.checkpointing.create-subdir", has_subdir, .def = "true",
        .aliases = SETTINGS_OLDER("state.checkpoints.create-subdir"),
        .doc = "Whether checkpoints lie in a directory of the job within `dir`, called as the "
               "job's id. With false `dir` is that directory, and no other job's."),
    SET("execution.checkpointing.savepoint-dir", savepoint_dir, .flags = SR_OPT_PATH,
        .aliases = SETTINGS_OLDER("state.savepoints.dir", "savepoints.state.backend.fs.dir"),
        .doc = "Where savepoints go when the command names no directory."),
    SET("execution.state-recovery.path", recovery_path, .flags = SR_OPT_PATH,
        .aliases = SETTINGS_OLDER("execution.savepoint.path"),
        .doc = "Checkpoint or savepoint to start from; `--from` comes before it."),
    SET("execution.state-recovery.claim-mode", claim_mode, .def = "NO_CLAIM",
        .choices = settings_claims, .aliases = SETTINGS_OLDER("execution.savepoint-restore-mode"),
        .doc = "Whose the checkpoint or savepoint is that a job is restored from. NO_CLAIM: the "
               "user's, never deleted; CLAIM: the job's, deleted when `num-retained` newer ones "
               "are complete; LEGACY: as NO_CLAIM, since no checkpoint needs another one here. "
               "`--claim-mode` comes before it."),
    SET("execution.state-recovery.ignore-unclaimed-state", may_drop_state, .def = "false",
        .aliases = SETTINGS_OLDER("execution.savepoint.ignore-unclaimed-state"),
        .doc = "Whether state that no step claims may be dropped when a job is restored."),

    SET("restart-strategy.type", restart, .choices = settings_restarts,
        .aliases = SETTINGS_OLDER("restart-strategy"),
        .doc = "What happens when the job fails: none, fixed-delay, exponential-delay or "
               "failure-rate. Not written: exponential-delay with checkpointing, none without."),
    SET("restart-strategy.fixed-delay.attempts", fixed_attempts, .def = "1",
        .min = 0, .max = INT32_MAX,
        .doc = "Restarts over the whole life of the job; the next failure is final."),
    SET("restart-strategy.fixed-delay.delay", fixed_delay, .def = "1 s",
        .min = 0, .max = SETTINGS_ALWAYS,
        .doc = "Time between a failure and the restart."),
    SET("restart-strategy.exponential-delay.initial-backoff", exp_initial, .def = "1 s",
        .min = SETTINGS_MS, .max = SETTINGS_ALWAYS,
        .doc = "Time between the first failure and its restart."),
    SET("restart-strategy.exponential-delay.max-backoff", exp_max, .def = "1 min",
        .min = SETTINGS_MS, .max = SETTINGS_ALWAYS,
        .doc = "The time before a restart does not grow beyond this."),
    SET("restart-strategy.exponential-delay.backoff-multiplier", exp_multiplier, .def = "1.5",
        .min = 1, .max = 1000000,
        .doc = "The time before a restart grows by this factor at each failure."),
    SET("restart-strategy.exponential-delay.reset-backoff-threshold", exp_reset, .def = "1 h",
        .min = 0, .max = SETTINGS_ALWAYS,
        .doc = "A job that ran this long since its restart was due begins again with the first "
               "time."),
    SET("restart-strategy.exponential-delay.jitter-factor", exp_jitter, .def = "0.1",
        .min = 0, .max = 1,
        .doc = "Share of the time before a restart that is added or taken at random."),
    SET("restart-strategy.exponential-delay.attempts-before-reset-backoff", exp_attempts,
        .def = "2147483647", .min = 1, .max = INT32_MAX,
        .doc = "Restarts before the job fails for good; counted anew after the threshold above."),
    SET("restart-strategy.failure-rate.max-failures-per-interval", rate_failures, .def = "1",
        .min = 1, .max = SETTINGS_RATE_MAX,
        .doc = "Failures within the interval that are followed by a restart; one more is final."),
    SET("restart-strategy.failure-rate.failure-rate-interval", rate_interval, .def = "1 min",
        .min = SETTINGS_MS, .max = SETTINGS_ALWAYS,
        .doc = "Time within which failures are counted; it slides."),
    SET("restart-strategy.failure-rate.delay", rate_delay, .def = "1 s",
        .min = 0, .max = SETTINGS_ALWAYS,
        .doc = "Time between a failure and the restart."),
    SET("jobmanager.execution.failover-strategy", failover, .def = "region",
        .choices = settings_failovers,
        .doc = "What restarts after a failure: the steps that are connected with the one that "
               "failed, or share its target of dead letters; or the full job."),

    SET("poison.max-failures", poison_failures, .def = "3", .max = INT32_MAX, .flags = SR_OPT_OURS,
        .doc = "A record that failed the job so many times in a row, over runs too, goes to the "
               "dead letters if the job has some; else the job ends, whatever the restart strategy. "
               "0: failures are not counted."),
    SET("savepoint.tables.max-state-size", savepoint_tables, .def = "64 mb", .min = 0,
        .max = SETTINGS_ALWAYS, .flags = SR_OPT_OURS,
        .doc = "A savepoint in an SQLite file has its state as tables too, for people to query, when "
               "it is not larger than this; 0: never. They take as much room again."),
    SET("high-availability.lease-duration", lease, .def = "15 s",
        .aliases = SETTINGS_OLDER("high-availability.kubernetes.leader-election.lease-duration"),
        .min = 500 * SETTINGS_MS, .max = SETTINGS_ALWAYS, .flags = SR_OPT_OURS,
        .doc = "A process that stands by (`run --standby`) takes over a job whose process is "
               "stopped or hangs when its beat in the store's lock file stood still for so long; "
               "when the process is gone it does so at once."),
    SET("high-availability.kill-hung-leader", kills_hung, .def = "true", .flags = SR_OPT_OURS,
        .doc = "The process whose job is taken over because it is stopped or hangs is killed, if it "
               "runs on this machine: so it lets go of the files that it has locked, as those of "
               "SQLite. Without it, and elsewhere, the store's fence refuses whatever it still does."),
    SET("sink.retry.timeout", sink_retry, .def = "10 min",
        .min = 0, .max = SETTINGS_ALWAYS, .flags = SR_OPT_OURS,
        .doc = "How long the job waits for a sink whose file or database is locked or has gone, or "
               "whose disk is full, before that fails the job; the restart strategy then decides. "
               "Its sources wait too. 0: not at all. How long `http` waits for its server is that "
               "sink's own sink.requests.retry-timeout."),
    SET("jobstore.expiration-time", kept_for, .def = "7 d", .min = 0, .max = SETTINGS_ALWAYS,
        .doc = "How long `list --all` and `wait` know of a job that has ended."),
    SET("run.dir", run_dir, .flags = SR_OPT_PATH | SR_OPT_OURS,
        .doc = "Directory of the sockets and locks of running jobs. Without it "
               "$STREAMRUN_RUN_DIR, else /tmp/streamrun-UID."),
    SET("log.file", log_file, .flags = SR_OPT_PATH | SR_OPT_OURS,
        .doc = "File that a detached job (`run -d`) writes its log to."),
    SET("log.level", log_level, .def = "WARN", .choices = settings_levels, .flags = SR_OPT_OURS,
        .doc = "The least important lines of the log that are written. `--log-level` comes before "
               "it, and `streamrun log-level` changes it while the job runs."),
    SET("plugins.dir", plugins_dir, .flags = SR_OPT_PATH | SR_OPT_OURS,
        .doc = "Directory in which a connector or format that is not built in is looked for, as "
               "NAME.so."),
    SR_OPT_END};

static const struct {
    const char *key, *note;
} settings_notes[] = {
    {"execution.checkpointing.externalized-checkpoint-retention",
     "not written, nothing is ever deleted because the job ended; Flink's default is "
     "NO_EXTERNALIZED_CHECKPOINTS"},
    {"execution.checkpointing.storage", "Flink's default is jobmanager when no directory is set"},
    {"jobstore.expiration-time", "Flink's default is 1 h"},
    {"pipeline.max-parallelism", "Flink's default is derived from the parallelism, at least 128"},
    {"table.local-time-zone", "Flink's default is the zone of the machine"},
};

/* clang-format on */

const char *settings_note(const char *key)
{
    for (size_t i = 0; i < sizeof(settings_notes) / sizeof(settings_notes[0]); i++) {
        if (strcmp(settings_notes[i].key, key) == 0) {
            return settings_notes[i].note;
        }
    }
    return NULL;
}

/* A row that ends with a dot stands for all keys that begin with it; the longest row counts. */
static const struct foreign *settings_find_foreign(const char *key)
{
    const struct foreign *best = NULL;
    size_t best_len = 0;

    for (const struct foreign *f = foreign_keys; f->key; f++) {
        size_t len = strlen(f->key);
        bool is_prefix = f->key[len - 1] == '.';
        bool fits = is_prefix ? strncmp(key, f->key, len) == 0 : strcmp(key, f->key) == 0;
        if (fits && len > best_len) {
            best = f;
            best_len = len;
        }
    }
    return best;
}

/* Whether `value` is one of the |-separated words. */
static bool settings_is_one_of(const char *words, const char *value)
{
    size_t len = strlen(value);
    while (*words) {
        size_t word = strcspn(words, "|");
        if (word == len && strncasecmp(words, value, len) == 0) {
            return true;
        }
        words += word;
        words += *words == '|' ? 1 : 0;
    }
    return false;
}

enum settings_foreign settings_foreign(const char *key, const char *value)
{
    const struct foreign *f = settings_find_foreign(key);
    if (!f) {
        return SETTINGS_UNKNOWN;
    }
    if (f->kind == SETTINGS_LATER && f->harmless && settings_is_one_of(f->harmless, value)) {
        return SETTINGS_IGNORED;
    }
    if (f->taken && settings_is_one_of(f->taken, value)) {
        return SETTINGS_INSTEAD;
    }
    return f->kind;
}

const char *settings_instead(const char *key)
{
    const struct foreign *f = settings_find_foreign(key);
    return f && f->instead ? f->instead : "";
}
