#include "engine/run/stamp.h"

#include <stdlib.h>

#include "engine/base/assert.h"
#include "engine/base/room.h"

void stamp_init(struct stamp *s, bool is_on, int64_t idle_us, int64_t period_us)
{
    *s = (struct stamp){.is_on = is_on, .idle_us = idle_us, .period_us = period_us};
    s->watermark = SR_WATERMARK_NONE;
    s->next_us = period_us == INT64_MAX ? INT64_MAX : INT64_MIN;
    s->opened_us = s->pause_us = -1;
}

void stamp_pause(struct stamp *s, int64_t now_us)
{
    if (s->pause_us < 0) s->pause_us = now_us;
}

void stamp_resume(struct stamp *s, int64_t now_us)
{
    if (s->pause_us >= 0) s->paused_us += now_us - s->pause_us;
    s->pause_us = -1;
}

/* The time in which splits could be read. */
static int64_t stamp_now(const struct stamp *s, int64_t now_us)
{
    return (s->pause_us >= 0 ? s->pause_us : now_us) - s->paused_us;
}

void stamp_done(struct stamp *s)
{
    free(s->split);
    s->split = NULL;
    s->splits = s->capacity = 0;
}

static struct stamp_split *stamp_find(const struct stamp *s, uint32_t number)
{
    for (uint32_t i = 0; i < s->splits; i++) {
        if (s->split[i].number == number) return &s->split[i];
    }
    return NULL;
}

sr_rc stamp_add(struct stamp *s, uint32_t number, int64_t watermark, int64_t now_us)
{
    sr_assert(!stamp_find(s, number));
    struct stamp_split *grown = room_for_one(s->split, s->splits, &s->capacity, sizeof(*grown));
    if (!grown) return SR_ENOMEM;
    s->split = grown;
    s->split[s->splits++] = (struct stamp_split){
        .number = number, .watermark = watermark, .last_row_us = stamp_now(s, now_us)};
    return SR_OK;
}

void stamp_remove(struct stamp *s, uint32_t number)
{
    struct stamp_split *p = stamp_find(s, number);
    sr_assert(p);
    *p = s->split[--s->splits];
}

int64_t stamp_of(const struct stamp *s, uint32_t number)
{
    const struct stamp_split *p = stamp_find(s, number);
    sr_assert(p);
    return p->watermark;
}

/* Of splits that are all idle: the minimum over those that fell idle last, so that it does not
 * matter when that was noticed. */
static int64_t stamp_of_last(const struct stamp *s)
{
    int64_t last_us = INT64_MIN, lowest = SR_WATERMARK_NONE;
    for (uint32_t i = 0; i < s->splits; i++) {
        const struct stamp_split *p = &s->split[i];
        bool is_last = p->last_row_us > last_us;
        if (is_last || (p->last_row_us == last_us && p->watermark < lowest)) lowest = p->watermark;
        if (is_last) last_us = p->last_row_us;
    }
    return lowest;
}

/* The minimum over splits that count but `without`; SR_WATERMARK_END when there is none. */
static int64_t stamp_lowest(const struct stamp *s, const struct stamp_split *without)
{
    int64_t lowest = SR_WATERMARK_END;
    for (uint32_t i = 0; i < s->splits; i++) {
        const struct stamp_split *p = &s->split[i];
        if (p != without && !p->is_idle && p->watermark < lowest) lowest = p->watermark;
    }
    return s->is_held ? SR_WATERMARK_NONE : lowest;
}

/* Row by row: candidate in, watermark in force out. Answers the split's watermark behind the last
 * row, and in *now the task's. Rows that a filter dropped before the stamp have no candidate. */
static int64_t stamp_rows(const struct sr_view *v, int64_t own, int64_t others, int64_t *now)
{
    int64_t *row = (int64_t *)(void *)v->watermark->data;
    int64_t task = *now;
    uint32_t next = 0; /* stored rows before it are done */
    SR_EACH_ROW(v, r) {
        int64_t candidate = row[r];
        for (; next <= r; next++) {
            row[next] = task;
        }
        if (candidate > own) own = candidate;
        int64_t lowest = own < others ? own : others;
        if (lowest > task) task = lowest;
    }
    for (; next < v->rows; next++) {
        row[next] = task;
    }
    *now = task;
    return own;
}

void stamp_view(struct stamp *s, struct sr_view *v, int64_t now_us)
{
    struct stamp_split *p = stamp_find(s, v->split);
    sr_assert(s->is_on && p);
    sr_assert(v->watermark && v->watermark->refs == 1); /* the operator made it for us */
    p->is_idle = false;
    p->last_row_us = stamp_now(s, now_us);
    int64_t task = s->watermark;
    p->watermark = stamp_rows(v, p->watermark, stamp_lowest(s, p), &task);
    if (task == s->watermark || s->period_us > 0) {
        buffer_release(v->watermark);
        v->watermark = NULL;
        v->watermark_end = SR_WATERMARK_NONE;
        return;
    }
    s->watermark = task;
    v->watermark_end = task;
}

static void stamp_sooner(int64_t *due_us, int64_t us)
{
    if (us < *due_us) *due_us = us;
}

bool stamp_advance(struct stamp *s, int64_t now_us, int64_t *due_us)
{
    if (!s->is_on || s->is_held) return false;
    int64_t lowest = stamp_lowest(s, NULL);
    if (lowest == SR_WATERMARK_END) lowest = stamp_of_last(s);
    if (lowest <= s->watermark) return false;
    if (s->period_us > 0 && now_us < s->next_us) {
        stamp_sooner(due_us, s->next_us);
        return false;
    }
    if (s->period_us > 0) s->next_us = now_us + s->period_us;
    s->watermark = lowest;
    return true;
}

bool stamp_look(struct stamp *s, int64_t now_us, int64_t *due_us)
{
    int64_t now = stamp_now(s, now_us), later = now_us - now;
    if (s->opened_us < 0) s->opened_us = now;
    if (s->splits == 0) {
        if (!s->is_unfed || (s->idle_us > 0 && now - s->opened_us >= s->idle_us)) return true;
        if (s->idle_us > 0) stamp_sooner(due_us, s->opened_us + s->idle_us + later);
        return false;
    }
    if (s->idle_us == 0) return false;
    bool is_idle = true;
    for (uint32_t i = 0; i < s->splits; i++) {
        struct stamp_split *p = &s->split[i];
        if (!p->is_idle && now - p->last_row_us >= s->idle_us) p->is_idle = true;
        if (p->is_idle) continue;
        is_idle = false;
        stamp_sooner(due_us, p->last_row_us + s->idle_us + later);
    }
    return is_idle;
}
