/* checkpoints show PATH: one checkpoint, for people; all of it by --json. */
#include <inttypes.h>
#include <string.h>

#include "cli/checkpoints.h"
#include "cli/show.h"
#include "engine/base/calendar.h"

static void show_head(const struct cli *c, const struct store_entry *e, const struct manifest *m)
{
    char when[25];
    civil_iso_ms(m->ended_us, when);
    fprintf(c->out, "%s %" PRIu64 " of job %s (%s)\n",
            m->kind == MANIFEST_SAVEPOINT ? "savepoint" : "checkpoint", m->checkpoint, m->job_name,
            m->job_id);
    fprintf(c->out, "  path       %s\n", e->path);
    fprintf(c->out, "  completed  %s, in %s, by %s\n", when,
            show_duration(c->arena, m->ended_us - m->started_us), m->made_by);
    fprintf(c->out, "  size       %s; %u key groups\n",
            show_size(c->arena, (int64_t)manifest_bytes(m)), m->max_parallelism);
    fprintf(c->out, "  its run    attempt %" PRIu64, m->attempt);
    if (m->parent > 0) fprintf(c->out, ", restored from %" PRIu64, m->parent);
    if (m->kind == MANIFEST_CHECKPOINT) fprintf(c->out, ", %s", checkpoints_end(m->end));
    fputc('\n', c->out);
}

static bool show_is_same(const struct manifest_part *a, const struct manifest_part *b)
{
    return strcmp(a->uid, b->uid) == 0 && strcmp(a->name, b->name) == 0;
}

/* One row for all subtasks: parts are in the order of operator, name and subtask. */
static void show_parts(const struct cli *c, const struct manifest *m)
{
    enum { COLUMNS = 4 };
    static const char *const head[COLUMNS] = {"operator", "part", "subtasks", "size"};
    static const bool is_right[COLUMNS] = {false, false, true, true};
    const char **cell = arena_array(c->arena, ((size_t)m->parts + 1) * COLUMNS, sizeof(*cell));
    uint32_t rows = 1;
    if (!cell || m->parts == 0) return;
    memcpy(cell, head, sizeof(head));
    for (uint32_t i = 0; i < m->parts;) {
        const struct manifest_part *p = &m->part[i];
        uint64_t bytes = 0;
        for (; i < m->parts && show_is_same(&m->part[i], p); i++) {
            bytes += m->part[i].len;
        }
        const char **row = cell + (size_t)rows++ * COLUMNS;
        row[0] = p->uid;
        row[1] = p->name;
        row[2] = show_count(c->arena, p->parts);
        row[3] = show_size(c->arena, (int64_t)bytes);
    }
    fputc('\n', c->out);
    show_table(c->out, &(struct show_table){COLUMNS, is_right, rows, cell});
}

/* Each line of the text, indented. */
static void show_description(const struct cli *c, const char *text)
{
    fprintf(c->out, "\nthe job, as 'streamrun resume' runs it:\n");
    while (*text) {
        size_t len = strcspn(text, "\n");
        fprintf(c->out, "  %.*s\n", (int)len, text);
        text += len + (text[len] == '\n');
    }
}

void checkpoints_show(const struct cli *c, const struct store_entry *e, const struct manifest *m)
{
    show_head(c, e, m);
    show_parts(c, m);
    show_description(c, m->description);
}
