#include "engine/run/carry.h"

#include <stdio.h>

struct restart_answer carry_crashed(struct carry *c, const struct env *env,
                                    const struct settings *s, const char *words)
{
    if (!c->is_set) restart_init(&c->restart, s, s->interval.us > 0);
    c->is_set = true;
    if (*c->first_cause == '\0') {
        (void)snprintf(c->first_cause, sizeof(c->first_cause), "%s", words);
    }
    struct restart_answer answer = restart_failed(&c->restart, env->mono_us(env), env->random(env));
    if (!answer.give_up) c->restarts++;
    return answer;
}
