/* The configuration keys of a job: Flink's names, each declared once in settings.c.
 */
#ifndef SR_PLAN_SETTINGS_H
#define SR_PLAN_SETTINGS_H

#include <streamrun/opt.h>

struct settings {
    const char *name;           /* pipeline.name */
    const char *id;             /* pipeline.fixed-job-id (Flink: $internal.pipeline.job-id) */
    int64_t parallelism;        /* parallelism.default */
    int64_t max_parallelism;    /* pipeline.max-parallelism; 128 */
    const char *time_zone;      /* table.local-time-zone; UTC */
    sr_duration auto_watermark; /* pipeline.auto-watermark-interval */
    sr_duration source_idle;    /* table.exec.source.idle-timeout; 0: never idle */
    /* execution.checkpointing.* */
    sr_duration interval;         /* negative: not written */
    sr_duration backlog_interval; /* interval-during-backlog; negative: not written */
    sr_duration timeout, min_pause;
    int64_t tolerable_failures;     /* tolerable-failed-checkpoints */
    int64_t max_concurrent;         /* max-concurrent-checkpoints */
    bool has_checkpoints_after_end; /* checkpoints-after-tasks-finish */
    int64_t num_retained;           /* execution.checkpointing.num-retained */
    sr_choice mode;                 /* exactly-once, at-least-once */
    sr_choice retention;            /* externalized-checkpoint-retention: not written, or Flink's */
    bool has_subdir;                /* create-subdir */
    sr_choice claim_mode;           /* execution.state-recovery.claim-mode */
    sr_choice storage;              /* filesystem, jobmanager */
    const char *dir; /* execution.checkpointing.dir: file:// or sqlite:// or a path */
    const char *savepoint_dir;
    sr_size savepoint_tables;  /* savepoint.tables.max-state-size */
    const char *recovery_path; /* execution.state-recovery.path */
    bool may_drop_state;       /* execution.state-recovery.ignore-unclaimed-state */
    /* restart-strategy.* */
    sr_choice restart; /* enum settings_restart */
    int64_t fixed_attempts;
    sr_duration fixed_delay;
    sr_duration exp_initial, exp_max, exp_reset;
    double exp_multiplier, exp_jitter;
    int64_t exp_attempts;
    int64_t rate_failures; /* restart-strategy.failure-rate.max-failures-per-interval */
    sr_duration rate_interval, rate_delay;
    sr_choice log_level;     /* log.level: enum sr_level */
    sr_choice failover;      /* jobmanager.execution.failover-strategy: region, full */
    int64_t poison_failures; /* poison.max-failures; 0: none are counted */
    /* ours */
    sr_duration lease;       /* high-availability.lease-duration */
    bool kills_hung;         /* high-availability.kill-hung-leader */
    sr_duration sink_retry;  /* sink.retry.timeout */
    sr_duration kept_for;    /* jobstore.expiration-time */
    const char *run_dir;     /* run.dir */
    const char *log_file;    /* log.file */
    const char *plugins_dir; /* plugins.dir */
};

#define SETTINGS_RATE_MAX 1000 /* failures that are remembered */

enum settings_restart {
    RESTART_UNSET,
    RESTART_NONE,
    RESTART_FIXED,
    RESTART_EXPONENTIAL,
    RESTART_RATE
};
enum settings_failover { FAILOVER_REGION, FAILOVER_FULL };
enum settings_storage { STORAGE_FILESYSTEM, STORAGE_JOBMANAGER };
enum settings_retention { RETENTION_UNSET, RETENTION_NONE, RETENTION_DELETE, RETENTION_RETAIN };
enum settings_claim { CLAIM_NO_CLAIM, CLAIM_CLAIM, CLAIM_LEGACY };
enum settings_mode { MODE_EXACTLY_ONCE, MODE_AT_LEAST_ONCE };

extern const struct sr_opt settings_opts[]; /* ends with SR_OPT_END */

/* Keys of Flink that are in no table of ours. */
enum settings_foreign {
    SETTINGS_UNKNOWN, /* no key of Flink that we know of */
    SETTINGS_IGNORED, /* has no meaning on one machine */
    SETTINGS_IDLE,    /* not there yet, and changes no result: metrics */
    SETTINGS_INSTEAD, /* not there yet; something else is done, with the same results */
    SETTINGS_LATER    /* not there yet, and would change what the job keeps or gives */
};

/* What to make of such a key with this value. A value that asks for what we do anyway makes a
 * SETTINGS_LATER key a SETTINGS_IGNORED one. */
enum settings_foreign settings_foreign(const char *key, const char *value);
/* What is done in place of what a SETTINGS_INSTEAD key asks for, or can be done in place of a
 * SETTINGS_LATER one: for people; "": nothing. */
const char *settings_instead(const char *key);
/* In what a key's default differs from Flink's: one sentence; NULL: it does not. */
const char *settings_note(const char *key);

#endif
