#include "engine/ops/window.h"

#include "engine/base/assert.h"
#include "engine/base/error.h"

/* Windows must begin and end within TIMESTAMP's microseconds. */
#define WINDOW_MS_MIN (INT64_MIN / 1000)
#define WINDOW_MS_MAX (INT64_MAX / 1000)

static int64_t window_gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static int64_t window_mod(int64_t a, int64_t by)
{
    int64_t rest = a % by;
    return rest < 0 ? rest + by : rest;
}

static bool window_is_length(int64_t ms) { return ms > 0 && ms <= WINDOW_MS_MAX / 4; }

static sr_rc window_check(const struct aggregate_step *s, struct sr_error *err)
{
    if (!window_is_length(s->size_ms)) {
        return error_set(err, SR_ECONFIG,
                         "the size of a window must be positive and of sane length");
    }
    if (s->offset_ms <= -WINDOW_MS_MAX / 4 || s->offset_ms >= WINDOW_MS_MAX / 4) {
        return error_set(err, SR_ECONFIG, "the offset of a window must be of sane length");
    }
    if (s->window == WINDOW_SESSION) {
        return SR_OK;
    }
    if (s->window == WINDOW_TUMBLE) {
        return s->offset_ms > -s->size_ms && s->offset_ms < s->size_ms
                   ? SR_OK
                   : error_set(err, SR_ECONFIG,
                               "the offset of a window must be shorter than its size");
    }
    if (!window_is_length(s->slide_ms) || s->slide_ms > s->size_ms) {
        return error_set(err, SR_ECONFIG,
                         "the slide or step of a window must be positive and not above its size");
    }
    if (s->window == WINDOW_CUMULATE && s->size_ms % s->slide_ms != 0) {
        return error_set(err, SR_ECONFIG, "the size of CUMULATE must be a multiple of its step");
    }
    if (s->size_ms / window_gcd(s->size_ms, s->slide_ms) > WINDOW_PANES_MAX) {
        return error_set(err, SR_ECONFIG, "a window consists of more than %d panes",
                         WINDOW_PANES_MAX);
    }
    return SR_OK;
}

sr_rc window_make(struct window *w, const struct aggregate_step *step, struct sr_error *err)
{
    sr_rc rc = window_check(step, err);
    if (rc != SR_OK) {
        return rc;
    }
    *w = (struct window){.kind = step->window, .size_ms = step->size_ms};
    bool has_slide = step->window == WINDOW_HOP || step->window == WINDOW_CUMULATE;
    w->slide_ms = has_slide ? step->slide_ms : step->size_ms;
    w->pane_ms = window_gcd(w->size_ms, w->slide_ms);
    w->anchor_ms = window_mod(step->offset_ms + step->size_ms, w->slide_ms);
    if (step->window == WINDOW_CUMULATE) {
        w->anchor_ms = window_mod(step->offset_ms, step->size_ms); /* of the longest */
    }
    return SR_OK;
}

const char *window_text(struct arena *a, const struct aggregate_step *s)
{
    long long size = s->size_ms, slide = s->slide_ms, offset = s->offset_ms;
    switch (s->window) {
    case WINDOW_TUMBLE:
        return arena_printf(a, "TUMBLE(size %lld ms, offset %lld ms)", size, offset);
    case WINDOW_HOP:
        return arena_printf(a, "HOP(slide %lld ms, size %lld ms, offset %lld ms)", slide, size,
                            offset);
    case WINDOW_CUMULATE:
        return arena_printf(a, "CUMULATE(step %lld ms, size %lld ms, offset %lld ms)", slide, size,
                            offset);
    case WINDOW_SESSION:
        return arena_printf(a, "SESSION(gap %lld ms)", size);
    case WINDOW_NONE:
        break;
    }
    return "";
}

bool window_holds(const struct window *w, int64_t ms)
{
    return ms >= WINDOW_MS_MIN + w->size_ms && ms <= WINDOW_MS_MAX - w->size_ms;
}

int64_t window_pane_end(const struct window *w, int64_t ms)
{
    return ms - window_mod(ms - w->anchor_ms, w->pane_ms) + w->pane_ms;
}

int64_t window_end_from(const struct window *w, int64_t ms)
{
    return ms + window_mod(w->anchor_ms - ms, w->slide_ms);
}

int64_t window_first_open(const struct window *w, int64_t pane_end, int64_t watermark)
{
    bool may_jump = !w->zone && watermark > pane_end - 2;
    int64_t end = window_end_from(w, may_jump ? watermark + 2 : pane_end);
    while (window_trigger(w, end) <= watermark) {
        end += w->slide_ms;
    }
    return end;
}

int64_t window_last_end(const struct window *w, int64_t pane_end)
{
    if (w->kind == WINDOW_CUMULATE) {
        return window_start(w, pane_end) + w->size_ms;
    }
    int64_t latest = pane_end - w->pane_ms + w->size_ms;
    return latest - window_mod(latest - w->anchor_ms, w->slide_ms);
}

int64_t window_start(const struct window *w, int64_t end)
{
    if (w->kind == WINDOW_CUMULATE) {
        return end - 1 - window_mod(end - 1 - w->anchor_ms, w->size_ms);
    }
    return end - w->size_ms;
}
