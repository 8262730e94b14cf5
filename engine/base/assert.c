#include "engine/base/assert.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Goes to stderr directly, not through env: whatever broke, env may be a part of it. */
_Noreturn void sr_assert_failed(const char *what, const char *file, int line)
{
    (void)dprintf(STDERR_FILENO, "%s:%d: this must hold and does not: %s\n", file, line, what);
    abort();
}
