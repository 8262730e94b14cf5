#include "engine/plan/foreign.h"

#define IGNORED(name)                         \
    {                                         \
        .key = name, .kind = SETTINGS_IGNORED \
    }
#define IDLE(name)                         \
    {                                      \
        .key = name, .kind = SETTINGS_IDLE \
    }
#define LATER(name, ...)                                             \
    {                                                                \
        .key = name, .kind = SETTINGS_LATER, .harmless = __VA_ARGS__ \
    }
/* Some values are taken with a warning: they ask for another way to the same results. */
#define INSTEAD(name, harmless_values, taken_values, words)                                      \
    {                                                                                            \
        .key = name, .kind = SETTINGS_LATER, .harmless = harmless_values, .taken = taken_values, \
        .instead = words                                                                         \
    }
#define LATER_ANYHOW(name)                                    \
    {                                                         \
        .key = name, .kind = SETTINGS_LATER, .harmless = NULL \
    }

#define FOREIGN_WHOLE "each checkpoint is written whole"
#define FOREIGN_STANDBY                                                                      \
    "take it out, and start the job several times with `run --standby`: that needs neither " \
    "ZooKeeper nor Kubernetes"
#define FOREIGN_AT_ONCE "each row changes the result at once, and waits for no batch"
#define FOREIGN_MEMORY  "state is kept in memory, as by hashmap, and must fit there"

/* clang-format off */
const struct foreign foreign_keys[] = {
    /* Processes, memory, network and web pages of a cluster. */
    IGNORED("jobmanager.adaptive-batch-scheduler."), IGNORED("jobmanager.adaptive-scheduler."),
    IGNORED("jobmanager.archive."), IGNORED("jobmanager.bind-host"),
    IGNORED("jobmanager.execution.attempts-history-size"), IGNORED("jobmanager.failure-enrichers"),
    IGNORED("jobmanager.future-pool."), IGNORED("jobmanager.heap."), IGNORED("jobmanager.io-pool."),
    IGNORED("jobmanager.job"), IGNORED("jobmanager.memory."), IGNORED("jobmanager.partition."),
    IGNORED("jobmanager.port"), IGNORED("jobmanager.resource-id"),
    IGNORED("jobmanager.retrieve-taskmanager-hostname"), IGNORED("jobmanager.rpc."),
    IGNORED("jobmanager.scheduler"), IGNORED("jobmanager.url-pattern"), IGNORED("jobmanager.web."),
    IGNORED("jobmanager.working-dir"), IGNORED("taskmanager."), IGNORED("resourcemanager."),
    IGNORED("slotmanager."), IGNORED("slot."), IGNORED("slotrequest."), IGNORED("cluster."),
    IGNORED("rest."), IGNORED("web."), IGNORED("akka."), IGNORED("pekko."), IGNORED("security."),
    IGNORED("env."), IGNORED("kubernetes."), IGNORED("yarn."), IGNORED("historyserver."),
    IGNORED("blob."), IGNORED("queryable-state."), IGNORED("heartbeat."), IGNORED("io."),
    IGNORED("task."), IGNORED("client."), IGNORED("classloader."), IGNORED("process."),
    IGNORED("plugin.classloader."), IGNORED("jmx."), IGNORED("sql-gateway."),
    IGNORED("sql-client."),
    IGNORED("zookeeper."), IGNORED("python."), IGNORED("external-resource."),
    IGNORED("external-resources"), IGNORED("scheduler-mode"), IGNORED("fs."), IGNORED("s3."),
    IGNORED("cleanup-strategy"), IGNORED("cleanup-strategy."), IGNORED("job-result-store."),
    IGNORED("application-result-store."), IGNORED("job-event.store."), IGNORED("netty."),
    IGNORED("local.number-resourcemanager"), IGNORED("collect-sink."), IGNORED("$internal."),
    IGNORED("deployment."), IGNORED("user.artifacts."), IGNORED("parallelism.override"),

    /* How Flink runs and types its Java programs. */
    IGNORED("pipeline.object-reuse"), IGNORED("pipeline.operator-chaining"),
    IGNORED("pipeline.operator-chaining."), IGNORED("pipeline.jars"),
    IGNORED("pipeline.classpaths"), IGNORED("pipeline.cached-files"),
    IGNORED("pipeline.closure-cleaner-level"), IGNORED("pipeline.force-avro"),
    IGNORED("pipeline.force-kryo"), IGNORED("pipeline.force-kryo-avro"),
    IGNORED("pipeline.generic-types"), IGNORED("pipeline.registered-kryo-types"),
    IGNORED("pipeline.registered-pojo-types"), IGNORED("pipeline.default-kryo-serializers"),
    IGNORED("pipeline.serialization-config"), IGNORED("pipeline.auto-generate-uids"),
    IGNORED("pipeline.auto-type-registration"), IGNORED("pipeline.global-job-parameters"),
    IGNORED("pipeline.vertex-description-mode"),
    IGNORED("pipeline.vertex-name-include-index-prefix"), IGNORED("pipeline.task-name-length"),
    IGNORED("pipeline.jobvertex-parallelism-overrides"),
    LATER("pipeline.watermark-alignment.allow-unaligned-source-splits", "false"),

    IGNORED("execution.attached"), IGNORED("execution.shutdown-on-attached-exit"),
    IGNORED("execution.shutdown-on-application-finish"), IGNORED("execution.target"),
    IGNORED("execution.job-listeners"), IGNORED("execution.program-config."),
    IGNORED("execution.submit-failed-job-on-application-error"), IGNORED("execution.batch."),
    IGNORED("execution.batch-shuffle-mode"), IGNORED("execution.buffer-timeout"),
    IGNORED("execution.buffer-timeout."), IGNORED("execution.sorted-inputs."),
    IGNORED("execution.embedded-rpc-server"),
    LATER("execution.runtime-mode", "STREAMING|AUTOMATIC"),

    /* Checkpoints: how Flink lays out its files means nothing here. */
    INSTEAD("execution.checkpointing.incremental", "false", "true", FOREIGN_WHOLE),
    INSTEAD("state.backend.incremental", "false", "true", FOREIGN_WHOLE),
    IGNORED("execution.checkpointing.data-inline-threshold"),
    IGNORED("state.storage.fs.memory-threshold"), IGNORED("state.backend.fs.memory-threshold"),
    IGNORED("execution.checkpointing.write-buffer-size"),
    IGNORED("state.storage.fs.write-buffer-size"), IGNORED("state.backend.fs.write-buffer-size"),
    IGNORED("execution.checkpointing.cleaner.parallel-mode"),
    IGNORED("state.checkpoint.cleaner.parallel-mode"),
    LATER("execution.checkpointing.unaligned", "false"),
    LATER("execution.checkpointing.unaligned.enabled", "false"),
    LATER("execution.checkpointing.unaligned.forced", "false"),
    LATER("execution.checkpointing.unaligned.interruptible-timers.enabled", "false"),
    IGNORED("execution.checkpointing.unaligned.max-subtasks-per-channel-state-file"),
    /* Without effect unless unaligned checkpoints are on, which is faulted above. */
    IGNORED("execution.checkpointing.aligned-checkpoint-timeout"),
    IGNORED("execution.checkpointing.alignment-timeout"),
    LATER("execution.checkpointing.snapshot-compression", "false"),
    /* Where a second copy lies, and how files are merged, means nothing unless it is asked for. */
    LATER("execution.checkpointing.local-backup.enabled", "false"),
    IGNORED("execution.checkpointing.local-backup.dirs"),
    LATER("execution.checkpointing.file-merging.enabled", "false"),
    IGNORED("execution.checkpointing.file-merging."),
    LATER("execution.checkpointing.approximate-local-recovery", "false"),
    LATER("execution.checkpointing.recover-without-channel-state.checkpoint-id", "-1"),
    LATER("execution.checkpointing.force", "false"),
    LATER("execution.state-recovery.from-local", "false"),
    LATER("execution.state-recovery.without-channel-state.checkpoint-id", "-1"),
    LATER("execution.state-recovery.approximate-local-recovery", "false"),

    /* State. The tuning of a back-end has no effect unless it is chosen, which is faulted. */
    INSTEAD("state.backend", "hashmap", "rocksdb|forst", FOREIGN_MEMORY),
    INSTEAD("state.backend.type", "hashmap", "rocksdb|forst", FOREIGN_MEMORY),
    IGNORED("state.backend.async"), LATER("state.backend.local-recovery", "false"),
    IGNORED("state.backend.rocksdb."), IGNORED("state.backend.forst."),
    IGNORED("state.backend.latency-track."), IGNORED("state.latency-track."),
    LATER("state.changelog.enabled", "false"),
    LATER("state.backend.changelog.enabled", "false"),
    IGNORED("state.changelog."), IGNORED("state.backend.changelog."),
    LATER("state.ttl.", NULL),
    LATER("table.exec.state.ttl", "0|0 ms|0ms|0s|0 s"),

    LATER("high-availability", "none", .instead = FOREIGN_STANDBY),
    LATER("high-availability.type", "none", .instead = FOREIGN_STANDBY),
    LATER("recovery.mode", "none|standalone"),
    IGNORED("high-availability.zookeeper."), IGNORED("high-availability.storageDir"),
    IGNORED("high-availability.cluster-id"), IGNORED("high-availability.jobmanager."),
    IGNORED("high-availability.use-old-ha-services"), IGNORED("high-availability.job."),
    IGNORED("high-availability.kubernetes.leader-election.renew-deadline"),
    IGNORED("high-availability.kubernetes.leader-election.retry-period"), IGNORED("recovery."),

    IDLE("metrics."), IDLE("traces."), IDLE("events."),

    /* SQL. */
    IGNORED("table.optimizer."), IGNORED("table.dml-sync"), IGNORED("table.plan."),
    IGNORED("table.display."), IGNORED("table.generated-code."), IGNORED("table.resources."),
    IGNORED("table.exec.resource."), IGNORED("table.exec.async-lookup."),
    IGNORED("table.exec.operator-name."), IGNORED("table.exec.uid."),
    IGNORED("table.exec.spill-compression."), IGNORED("table.exec.sort."),
    IGNORED("table.exec.disabled-operators"), IGNORED("table.exec.simplify-operator-name-enabled"),
    IGNORED("table.exec.deduplicate."), IGNORED("table.sql-dialect"),
    INSTEAD("table.exec.mini-batch.enabled", "false", "true", FOREIGN_AT_ONCE),
    IGNORED("table.exec.mini-batch."),
    LATER("table.exec.source.cdc-events-duplicate", "false"),
    LATER("table.exec.sink.upsert-materialize", "AUTO|NONE"),
    LATER("table.exec.sink.not-null-enforcer", "ERROR"),
    LATER("table.exec.sink.type-length-enforcer", "IGNORE"),
    LATER("table.exec.legacy-cast-behaviour", "DISABLED"),
    LATER_ANYHOW("table.exec.window-agg."),
    LATER_ANYHOW("table.exec.emit."),

    {.key = NULL}};
/* clang-format on */
