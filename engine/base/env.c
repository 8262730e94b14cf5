#include "engine/base/env.h"

#include <stdarg.h>
#include <stdio.h>

#include "engine/base/shown.h"

void env_log(const struct env *e, enum sr_level level, const char *who, const char *fmt, ...)
{
    char line[1024];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    /* One call is one line, whatever bytes a user's data put into it. */
    for (char *p = line; *p; p++) {
        if (*p == '\n' || *p == '\r') {
            *p = ' ';
        }
    }
    shown_make(line, sizeof(line));
    e->log(e, level, who, line);
}

void env_crash_point(const struct env *e, const char *name)
{
    if (e->crash_point) {
        e->crash_point(e, name);
    }
}
