#include "engine/base/assert.h"

#include <stdio.h>
#include <stdlib.h>

/* Goes to stderr directly, not through env: whatever broke, env may be a part of it. */
_Noreturn void sr_assert_failed(const char *what, const char *file, int line)
{
    (void)fprintf(stderr, "%s:%d: this must hold and does not: %s\n", file, line, what);
    (void)fflush(stderr);
    abort();
}
