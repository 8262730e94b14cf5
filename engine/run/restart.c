#include "engine/run/restart.h"

#include <math.h>
#include <stdio.h>

#include "engine/base/assert.h"

#define RESTART_MS INT64_C(1000)

void restart_init(struct restart *r, const struct settings *s, bool has_checkpoints)
{
    enum settings_restart strategy = (enum settings_restart)s->restart.index;
    if (strategy == RESTART_UNSET) {
        strategy = has_checkpoints ? RESTART_EXPONENTIAL : RESTART_NONE;
    }
    *r = (struct restart){.strategy = strategy, .due_us = INT64_MIN};
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
    case RESTART_RATE:
        r->attempts_max = s->rate_failures;
        r->delay_us = s->rate_delay.us;
        r->interval_us = s->rate_interval.us;
        sr_assert(r->attempts_max >= 1 && r->attempts_max <= SETTINGS_RATE_MAX);
        break;
    }
    sr_assert(r->delay_us >= 0);
}

/* The back-off of the coming attempt, spread by the jitter: a share of it more or less, evenly. */
static int64_t restart_backoff(const struct restart *r, uint64_t chance)
{
    int64_t least = r->delay_us / RESTART_MS, most = r->delay_max_us / RESTART_MS;
    double grown = (double)least * pow(r->multiplier, (double)r->attempts);
    int64_t backoff = grown < 0x1p62 ? (int64_t)grown : INT64_MAX / 4;
    int64_t spread = (int64_t)((double)backoff * r->jitter);
    int64_t delay = backoff - spread;
    if (spread > 0) delay += (int64_t)(chance % ((uint64_t)spread * 2 + 1));
    delay = delay < most ? delay : most;
    return (delay > least ? delay : least) * RESTART_MS;
}

static struct restart_answer restart_exponential(struct restart *r, int64_t now_us, uint64_t chance)
{
    if (r->due_us != INT64_MIN && now_us <= r->due_us) {
        return (struct restart_answer){.is_same = true, .delay_us = r->due_us - now_us};
    }
    if (r->due_us != INT64_MIN && now_us - r->due_us >= r->reset_us) r->attempts = 0;
    if (r->attempts >= r->attempts_max) return (struct restart_answer){.give_up = true};
    int64_t delay_us = restart_backoff(r, chance);
    r->attempts++;
    r->due_us = now_us + delay_us;
    return (struct restart_answer){.delay_us = delay_us};
}

/* One failure more than the interval may have is final. */
static struct restart_answer restart_rate(struct restart *r, int64_t now_us)
{
    uint32_t room = (uint32_t)r->attempts_max + 1;
    if (r->failures == room) {
        r->oldest_at = (r->oldest_at + 1) % room;
        r->failures--;
    }
    r->failed_us[(r->oldest_at + r->failures++) % room] = now_us;
    bool is_final = r->failures == room && now_us - r->failed_us[r->oldest_at] <= r->interval_us;
    return (struct restart_answer){.give_up = is_final, .delay_us = r->delay_us};
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
    case RESTART_RATE:
        return restart_rate(r, now_us);
    }
    return (struct restart_answer){.give_up = true};
}

void restart_words(const struct restart *r, char *out, size_t size)
{
    long long most = r->attempts_max;
    const char *s = most == 1 ? "" : "s";
    switch (r->strategy) {
    case RESTART_UNSET:
    case RESTART_NONE:
        (void)snprintf(out, size, "there is no restart strategy");
        break;
    case RESTART_FIXED:
        (void)snprintf(out, size, "fixed-delay allows %lld restart%s", most, s);
        break;
    case RESTART_EXPONENTIAL:
        (void)snprintf(out, size, "exponential-delay allows %lld restart%s before its reset", most,
                       s);
        break;
    case RESTART_RATE:
        (void)snprintf(out, size, "failure-rate allows %lld restart%s within %lld ms", most, s,
                       (long long)(r->interval_us / RESTART_MS));
        break;
    }
}
