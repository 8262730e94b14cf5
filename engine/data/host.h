/* Fills struct sr_host for one instance of a connector, format or operator.
 *
 * The ctx and the host live as long as the instance, belong to its thread (but for `log`, which any
 * thread may call). Counters are kept here, by name, in the order in which they were first
 * counted; any thread may read them.
 */
#ifndef SR_DATA_HOST_H
#define SR_DATA_HOST_H

#include <stdatomic.h>
#include <streamrun/format.h>

#include "engine/base/env.h"
#include "engine/data/pool.h"

#define HOST_COUNTERS_MAX     32u /* further names are counted as "other" */
#define HOST_COUNTER_NAME_MAX 47u /* bytes of a name; longer ones are cut */

struct host_counter {
    char name[HOST_COUNTER_NAME_MAX + 1];
    _Atomic int64_t value; /* relaxed: each alone is right */
};

#define HOST_SPLITS_MAX     64u /* of one reader that are shown */
#define HOST_SPLIT_NAME_MAX 95u /* bytes of a name; longer ones are cut */

/* Where a reader is in a split. */
struct host_split {
    char id[HOST_SPLIT_NAME_MAX + 1];
    _Atomic int64_t position, end; /* relaxed: both change while they are read */
};

struct host_ctx {
    const struct env *env;
    struct sr_home *home;
    char who[64];              /* the step, for log lines */
    _Atomic uint32_t counters; /* release and acquire: the names of so many are there */
    struct host_counter counter[HOST_COUNTERS_MAX + 1];
    _Atomic uint32_t splits; /* likewise */
    struct host_split split[HOST_SPLITS_MAX];
};

/* Borrows env and home; copies who. The time zone is UTC until the caller sets it. */
void host_init(struct sr_host *h, struct host_ctx *ctx, const struct env *env, struct sr_home *home,
               const char *who);

#endif
