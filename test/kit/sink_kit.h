/* Conformance of sinks: what struct sr_sink_type promises, run against one type.
 *
 * Rows are one STRING, "row-1" and so on, and with has_part another one, "part 1" and so on;
 * `visible` tells what a reader of the target sees of the first.
 */
#ifndef TEST_KIT_SINK_KIT_H
#define TEST_KIT_SINK_KIT_H

#include <streamrun/connector.h>

#include "test/kit/stage.h"

#define SINK_NOTES_MAX 64u

struct sink_kit {
    struct stage *stage;
    const struct sr_sink_type *type;
    const void *conf;
    const struct sr_format_type *format; /* NULL: the sink makes rows */
    const void *format_conf;
    const char *redo_dir;
    uint32_t parts_max;                        /* 0: any */
    bool is_at_end;                            /* nothing shows before the last checkpoint */
    uint32_t has_part;                         /* values of a second column; 0: there is none */
    const char *(*visible)(struct stage *s);   /* lines, sorted, in the arena */
    const char *(*leftovers)(struct stage *s); /* names of what is hidden; "" when clean */
    void (*reset)(struct stage *s);            /* as before the first run */
};

struct sink_notes_kept {
    struct sr_notes base;
    struct {
        enum sr_note_kind kind;
        uint8_t *bytes;
        uint32_t len;
        uint64_t checkpoint;
    } note[SINK_NOTES_MAX];
    uint32_t count;
};

/* A running sink of up to 4 subtasks, and what the engine would keep of it. */
struct sink_run {
    const struct sink_kit *kit;
    struct sr_sink_open open[4];
    void *sink[4];
    uint32_t parts;
    struct sink_notes_kept kept; /* commits not shown yet, and the state of the last prepare */
    uint32_t asked;              /* for a checkpoint */
    struct sr_error err;
};

void sink_run_open(struct sink_run *r, const struct sink_kit *k, uint32_t parts, uint64_t attempt);
/* The same where opening may fail: close what is open. */
sr_rc sink_run_try_open(struct sink_run *r, const struct sink_kit *k, uint32_t parts,
                        uint64_t attempt);
/* Restores the state notes of `from` by turns, commits what it had not, and recovers. */
void sink_run_restore(struct sink_run *r, const struct sink_run *from);
sr_rc sink_run_write(struct sink_run *r, uint32_t part, uint32_t first, uint32_t last);
sr_rc sink_run_prepare(struct sink_run *r, uint64_t checkpoint, bool is_last);
sr_rc sink_run_commit(struct sink_run *r, bool forget); /* all kept notes, by subtask 0 */
void sink_run_close(struct sink_run *r); /* the instances; what was kept stays until done */
void sink_run_done(struct sink_run *r);

/* "row-1\n" to "row-<last>\n", sorted. */
const char *sink_kit_rows(struct stage *s, uint32_t first, uint32_t last);
/* A view of such rows, the caller's. */
struct sr_view *sink_kit_view(struct stage *s, uint32_t first, uint32_t last);
/* The same with a second column of `parts` values. */
struct sr_view *sink_kit_parted(struct stage *s, uint32_t first, uint32_t last, uint32_t parts);

/* Nothing shows before its commit; twice committed shows once, by another instance too; a crash
 * between prepare and commit loses nothing, one before prepare leaves nothing; the rows of a
 * dropped checkpoint come with the next; two subtasks; recover removes leftovers; a file operation
 * that fails, any one, alone or with all behind it, costs no row and doubles none. */
void sink_kit_check(const struct sink_kit *k);

#endif
