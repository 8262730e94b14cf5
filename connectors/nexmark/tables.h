/* What every event draws its texts from: a pool of letters, 10,004 urls, the channels' names.
 *
 * Made once a reader from two fixed seeds, then read-only. Columns refer to these bytes, so that no
 * letter is copied on the way.
 */
#ifndef NEXMARK_TABLES_H
#define NEXMARK_TABLES_H

#include <streamrun/host.h>

#define TABLES_POOL     1048576u
#define TABLES_CHANNELS 10000u
#define TABLES_HOT      4u

struct tables {
    struct sr_buffer *pool;  /* TABLES_POOL letters */
    struct sr_buffer *urls;  /* one behind the other: the hot ones, then one a channel */
    struct sr_buffer *names; /* the same of channels' names */
    struct sr_span url[TABLES_HOT + TABLES_CHANNELS];
    struct sr_span name[TABLES_HOT + TABLES_CHANNELS];
};

/* SR_ENOMEM at worst. */
sr_rc tables_open(struct tables *t, const struct sr_host *host, struct sr_error *err);
void tables_close(struct tables *t, const struct sr_host *host); /* half-open ones too */

#endif
