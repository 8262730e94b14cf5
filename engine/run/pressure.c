#include "engine/run/pressure.h"

#include "engine/base/assert.h"

#define PRESSURE_TRIES 1000u /* of a reader, while the task's worker writes */

/* Who reads what a change wrote sees the odd version too: acquire and release of every field, as
 * there are no fences that ThreadSanitizer understands. */
static int64_t pressure_get(const _Atomic int64_t *from)
{
    return atomic_load_explicit(from, memory_order_acquire);
}

static void pressure_set(_Atomic int64_t *to, int64_t v)
{
    atomic_store_explicit(to, v, memory_order_release);
}

static void pressure_copy(_Atomic int64_t *to, const _Atomic int64_t *from)
{
    for (uint32_t i = 0; i < PRESSURE_STATES; i++) {
        pressure_set(&to[i], pressure_get(&from[i]));
    }
}

/* The newer mark becomes the older one, and now the newer. */
static void pressure_mark(struct pressure *p, int64_t now_us)
{
    pressure_set(&p->old_us, pressure_get(&p->mark_us));
    pressure_copy(p->old_sum_us, p->mark_sum_us);
    pressure_set(&p->mark_us, now_us);
    pressure_copy(p->mark_sum_us, p->sum_us);
}

static void pressure_begin(struct pressure *p, int64_t now_us)
{
    pressure_set(&p->mark_us, now_us);
    pressure_set(&p->old_us, now_us);
}

/* The time since the last change goes to the state that it was spent in. When that was long, a
 * window's length of it is all that counts for the rate. */
static void pressure_add(struct pressure *p, int64_t now_us)
{
    uint32_t was = atomic_load_explicit(&p->state, memory_order_relaxed);
    int64_t since_us = pressure_get(&p->since_us);
    int64_t spent_us = now_us - since_us;
    if (spent_us > PRESSURE_WINDOW_US) {
        pressure_set(&p->sum_us[was],
                     pressure_get(&p->sum_us[was]) + spent_us - PRESSURE_WINDOW_US);
        pressure_mark(p, now_us - PRESSURE_WINDOW_US);
        spent_us = PRESSURE_WINDOW_US;
    }
    pressure_set(&p->sum_us[was], pressure_get(&p->sum_us[was]) + spent_us);
    if (now_us - pressure_get(&p->mark_us) >= PRESSURE_WINDOW_US) pressure_mark(p, now_us);
}

void pressure_enter(struct pressure *p, enum pressure_state state, int64_t now_us)
{
    bool is_same = atomic_load_explicit(&p->state, memory_order_relaxed) == (uint32_t)state;
    int64_t since_us = pressure_get(&p->since_us);
    if (is_same && since_us > 0 && now_us - since_us < PRESSURE_WINDOW_US) return;
    uint32_t version = atomic_load_explicit(&p->version, memory_order_relaxed);
    atomic_store_explicit(&p->version, version + 1, memory_order_relaxed);
    if (since_us == 0) {
        pressure_begin(p, now_us);
    } else {
        pressure_add(p, now_us);
    }
    pressure_set(&p->since_us, now_us);
    atomic_store_explicit(&p->state, (uint32_t)state, memory_order_release);
    atomic_store_explicit(&p->version, version + 2, memory_order_release);
}

/* Plain numbers of one moment. */
struct pressure_copy {
    uint32_t state;
    int64_t since_us, old_us;
    int64_t sum_us[PRESSURE_STATES], old_sum_us[PRESSURE_STATES];
};

static bool pressure_try(const struct pressure *p, struct pressure_copy *out)
{
    uint32_t version = atomic_load_explicit(&p->version, memory_order_acquire);
    out->state = atomic_load_explicit(&p->state, memory_order_acquire);
    out->since_us = pressure_get(&p->since_us);
    out->old_us = pressure_get(&p->old_us);
    for (uint32_t i = 0; i < PRESSURE_STATES; i++) {
        out->sum_us[i] = pressure_get(&p->sum_us[i]);
        out->old_sum_us[i] = pressure_get(&p->old_sum_us[i]);
    }
    return (version & 1) == 0 && atomic_load_explicit(&p->version, memory_order_relaxed) == version;
}

bool pressure_look(const struct pressure *p, int64_t now_us, struct pressure_shown *out)
{
    struct pressure_copy is;
    uint32_t tries = 0;
    while (!pressure_try(p, &is) && tries < PRESSURE_TRIES) {
        tries++;
    }
    if (is.since_us == 0 || tries == PRESSURE_TRIES) return false;
    sr_assert(is.state < PRESSURE_STATES);
    int64_t more_us = now_us > is.since_us ? now_us - is.since_us : 0;
    int64_t window_us = is.since_us + more_us - is.old_us;
    is.sum_us[is.state] += more_us;
    for (uint32_t i = 0; i < PRESSURE_STATES; i++) {
        out->sum_us[i] = is.sum_us[i];
        bool is_long = more_us >= PRESSURE_WINDOW_US; /* nothing else in the last second */
        int64_t part_us =
            is_long ? (i == is.state ? window_us : 0) : is.sum_us[i] - is.old_sum_us[i];
        out->ms_per_second[i] = window_us > 0 ? (int32_t)(part_us * 1000 / window_us) : 0;
    }
    return true;
}
