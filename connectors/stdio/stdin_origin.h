/* Where standard input comes from: is this the stream that a journal's last session was of? */
#ifndef CONNECTORS_STDIO_STDIN_ORIGIN_H
#define CONNECTORS_STDIO_STDIN_ORIGIN_H

#include "connectors/common/journal_dir.h"

/* The same for a pipe or socket as long as it lives, whatever process reads it: bytes go on where
 * they stopped. For files, named pipes and terminals, which begin anew when they are opened, the
 * same within this process only. */
void stdin_origin(const struct sr_host *host, uint8_t out[JOURNAL_ORIGIN]);

#endif
