#include "connectors/filesystem/fs_pending.h"

#include <stdlib.h>
#include <string.h>

#include "connectors/common/list.h"
#include "connectors/common/note.h"

static struct fs_waiting *fs_pending_find(const struct fs_pending *p, const char *partition)
{
    for (uint32_t i = 0; i < p->count; i++) {
        if (strcmp(p->item[i].partition, partition) == 0) {
            return &p->item[i];
        }
    }
    return NULL;
}

sr_rc fs_pending_add(struct fs_pending *p, const char *partition, int64_t created_ms,
                     int64_t time_ms)
{
    if (fs_pending_find(p, partition)) {
        return SR_OK;
    }
    void *moved = list_room(p->item, p->count, &p->capacity, sizeof(*p->item));
    if (!moved) {
        return SR_ENOMEM;
    }
    p->item = moved;
    struct fs_waiting w = {
        .partition = strdup(partition), .created_ms = created_ms, .time_ms = time_ms};
    if (!w.partition) {
        return SR_ENOMEM;
    }
    p->item[p->count++] = w;
    return SR_OK;
}

static bool fs_pending_is_over(const struct fs_waiting *w, const struct fs_when *when)
{
    switch (when->trigger) {
    case FS_PROCESS_TIME:
        return when->is_last || when->delay_ms == 0 ||
               when->now_ms > w->created_ms + when->delay_ms;
    case FS_PARTITION_TIME:
        return when->watermark > w->time_ms + when->delay_ms;
    }
    return false;
}

void fs_pending_decide(struct fs_pending *p, const struct fs_when *when)
{
    for (uint32_t i = 0; i < p->count; i++) {
        p->item[i].is_due = fs_pending_is_over(&p->item[i], when);
    }
}

bool fs_pending_is_due(const struct fs_pending *p, const char *partition)
{
    const struct fs_waiting *w = fs_pending_find(p, partition);
    return w && w->is_due;
}

void fs_pending_drop_due(struct fs_pending *p)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->item[i].is_due) {
            free(p->item[i].partition);
        } else {
            p->item[kept++] = p->item[i];
        }
    }
    p->count = kept;
}

bool fs_pending_save(const struct fs_pending *p, struct sr_out *note)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        count += p->item[i].is_due ? 0 : 1;
    }
    bool is_put = note_put_u32(note, count);
    for (uint32_t i = 0; is_put && i < p->count; i++) {
        const struct fs_waiting *w = &p->item[i];
        is_put = w->is_due || (note_put_text(note, w->partition) &&
                               note_put_u64(note, (uint64_t)w->created_ms) &&
                               note_put_u64(note, (uint64_t)w->time_ms));
    }
    return is_put;
}

sr_rc fs_pending_load(struct fs_pending *p, struct sr_bytes note)
{
    struct note_in in = note_in(note);
    uint32_t count = note_get_u32(&in);
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; rc == SR_OK && !in.is_broken && i < count; i++) {
        char *partition = note_get_text(&in);
        int64_t created_ms = (int64_t)note_get_u64(&in);
        int64_t time_ms = (int64_t)note_get_u64(&in);
        if (!in.is_broken) {
            rc = fs_pending_add(p, partition, created_ms, time_ms);
        }
        free(partition);
    }
    return rc == SR_OK && !note_is_done(&in) ? note_why(&in) : rc;
}

void fs_pending_done(struct fs_pending *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        free(p->item[i].partition);
    }
    free(p->item);
    *p = (struct fs_pending){0};
}
