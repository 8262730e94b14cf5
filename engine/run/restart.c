#include "engine/run/restart.h"

#include "engine/base/assert.h"

void restart_init(struct restart *r, const struct settings *s, bool has_checkpoints)
{
    enum settings_restart strategy = (enum settings_restart)s->restart.index;
    if (strategy == RESTART_UNSET) {
        strategy = has_checkpoints ? RESTART_EXPONENTIAL : RESTART_NONE;
    }
    *r = (struct restart){.strategy = strategy, .started_us = INT64_MIN};
    switch (strategy) {
    case RESTART_UNSET:
    case RESTART_NONE:
        break;
    case RESTART_FIXED:
        r->attempts_max = s->fixed_attempts;
        r->delay_us = s->fixed_delay.us;
        break;
    case RESTART_EXPONENTIAL:
        r->attempts_max = s->exp_attempts;
        r->delay_us = s->exp_initial.us;
        r->delay_max_us = s->exp_max.us;
        r->reset_us = s->exp_reset.us;
        r->multiplier = s->exp_multiplier;
        r->jitter = s->exp_jitter;
        sr_assert(r->multiplier >= 1.0 && r->jitter >= 0.0);
        break;
    }
    sr_assert(r->delay_us >= 0);
}

void restart_running(struct restart *r, int64_t now_us) { r->started_us = now_us; }

/* The back-off spread by the jitter: a share of it more or less, evenly. */
static int64_t restart_spread(const struct restart *r, uint64_t chance)
{
    double share = (double)(chance >> 11) * 0x1p-53; /* 0 to 1 */
    double spread = (share * 2.0 - 1.0) * r->jitter;
    return (int64_t)((double)r->backoff_us * (1.0 + spread));
}

static struct restart_answer restart_exponential(struct restart *r, int64_t now_us, uint64_t chance)
{
    if (r->started_us != INT64_MIN && now_us - r->started_us >= r->reset_us) {
        r->attempts = 0;
        r->backoff_us = 0;
    }
    if (r->attempts >= r->attempts_max) return (struct restart_answer){.give_up = true};
    r->attempts++;
    if (r->backoff_us == 0) {
        r->backoff_us = r->delay_us;
    } else {
        double longer = (double)r->backoff_us * r->multiplier;
        r->backoff_us = longer < (double)r->delay_max_us ? (int64_t)longer : r->delay_max_us;
    }
    int64_t delay = restart_spread(r, chance);
    if (delay > r->delay_max_us) delay = r->delay_max_us;
    return (struct restart_answer){.delay_us = delay > 0 ? delay : 0};
}

struct restart_answer restart_failed(struct restart *r, int64_t now_us, uint64_t chance)
{
    switch (r->strategy) {
    case RESTART_UNSET:
    case RESTART_NONE:
        break;
    case RESTART_FIXED:
        if (r->attempts >= r->attempts_max) break;
        r->attempts++;
        return (struct restart_answer){.delay_us = r->delay_us};
    case RESTART_EXPONENTIAL:
        return restart_exponential(r, now_us, chance);
    }
    return (struct restart_answer){.give_up = true};
}
