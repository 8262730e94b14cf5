/* The redo files of one subtask of a sink: where they lie, how much may wait in them, and what is
 * left of them.
 *
 *   redo_box_open -> { redo_box_room | redo_append | redo_box_prepare | redo_box_load
 *                    | redo_box_remove }* -> redo_box_close
 */
#ifndef CONNECTORS_COMMON_REDO_BOX_H
#define CONNECTORS_COMMON_REDO_BOX_H

#include "connectors/common/redo.h"
#include "connectors/common/sink_id.h"

struct redo_box_how {
    const char *target; /* for people; borrowed */
    const char *dir;    /* where files lie when no checkpoint storage survives */
    uint64_t bytes_max; /* more asks for a checkpoint, twice as much waits for it */
};

struct redo_box {
    const struct sr_host *host;
    struct sr_sink_open open; /* what it points to is borrowed for open only */
    const char *target;
    uint64_t bytes_max;
    char *dir;
    char own[SINK_ID_SIZE + 8]; /* how the names of all files of this sink begin */
    bool is_memory_only;        /* no checkpoint before the end: files grow as they must */
    bool has_asked;             /* for a checkpoint, since the last prepare */
    char *unremoved;            /* a file that was applied and could not be removed; or NULL */
    struct redo redo;
};

sr_rc redo_box_open(struct redo_box *b, const struct sr_sink_open *o,
                    const struct redo_box_how *how, struct sr_error *err);
void redo_box_close(struct redo_box *b); /* also of one that is zeroed or half open */

/* SR_EBUSY while more waits than twice the limit: a checkpoint was asked for, and makes room. */
sr_rc redo_box_room(struct redo_box *b, struct sr_wait *wait, struct sr_error *err);
/* Makes the rows durable, and notes their file for a commit; nothing where there is no row. The
 * mark's writer and has_older are the caller's. */
sr_rc redo_box_prepare(struct redo_box *b, uint64_t checkpoint, struct sr_notes *notes,
                       struct sr_error *err);
/* The mark of a note, the caller's. */
sr_rc redo_box_load(const struct redo_box *b, struct redo_mark *mark, struct sr_bytes note,
                    struct sr_error *err);
/* Removes what was applied, and what could not be removed last time: takes `path`, NULL allowed.
 * What stays for good is removed at the next start. */
void redo_box_remove(struct redo_box *b, char *path);
/* Removes files of this sink that none of the marks names. */
sr_rc redo_box_leftovers(struct redo_box *b, const struct redo_mark *mark, uint32_t count,
                         struct sr_error *err);

#endif
