#include "cli/retention.h"

bool retention_deletes(const struct settings *s, enum run_end end)
{
    enum settings_retention how = (enum settings_retention)s->retention.index;
    switch (end) {
    case RUN_FINISHED:
    case RUN_STOPPED:
        return how != RETENTION_UNSET;
    case RUN_CANCELED:
        return how == RETENTION_DELETE || how == RETENTION_NONE;
    case RUN_FAILED:
        return how == RETENTION_NONE;
    case RUN_SUSPENDED:
    case RUN_UNSAVED:
    case RUN_CLOSED:
        break;
    }
    return false;
}

void retention_apply(const struct cli *c, const struct settings *s, struct store *store,
                     uint64_t lineage, enum run_end end)
{
    struct sr_error err = {0};
    if (!store_is_durable(store) || !retention_deletes(s, end)) return;
    if (store_delete(store, lineage, 0, &err) == SR_OK) {
        cli_note(c, "the job's checkpoints are deleted, as "
                    "execution.checkpointing.externalized-checkpoint-retention says");
    } else {
        cli_note(c, "warning: the job's checkpoints could not be deleted: %s", err.words);
    }
}
