/* The splits of standard input: itself; or, with a journal, each stream that the journal holds.
 *
 * A job that goes on with another pipe, after one that was read to its end, has another split.
 */
#ifndef CONNECTORS_STDIO_STDIN_FINDER_H
#define CONNECTORS_STDIO_STDIN_FINDER_H

#include "connectors/common/sessions.h"
#include "connectors/stdio/stdio.h"

struct stdin_finder {
    const struct sr_host *host;
    const struct stdin_conf *conf;
    struct sessions sessions;
    bool is_known;  /* it was named, now or before the restore, and is not over */
    uint32_t overs; /* streams that were read to their end before the restore */
};

sr_rc stdin_discover_open(void *finder, const struct sr_source_open *o, struct sr_error *err);
void stdin_known(void *finder, const struct sr_split *split);
enum sr_discovered stdin_discover(void *finder, struct sr_splits *out, struct sr_wait *wait,
                                  struct sr_error *err);
void stdin_discover_close(void *finder);

#endif
