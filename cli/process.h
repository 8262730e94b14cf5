/* A process by a name that nobody else ever has: boot, pid namespace, pid, start time.
 *
 * A pid alone may be another's by now, and means nothing on another machine or in another
 * container. The name stands in the store's lock (ckpt/lock.h), so that who stands by can end a
 * leader that hangs, if it is here.
 */
#ifndef SR_CLI_PROCESS_H
#define SR_CLI_PROCESS_H

#include "cli/cli.h"

/* "process BOOT NAMESPACE PID START", of this process; "": /proc does not tell. */
const char *process_name(struct arena *a);
/* Kills the process that such a name in `text` means, and waits for its end. False: it is not
 * here, may not be killed, or does not end. *pid: which one it was. */
bool process_kill(const char *text, long *pid);

#endif
