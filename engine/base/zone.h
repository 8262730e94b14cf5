/* Time zones of the system's database (TZif files, RFC 8536): how far local time is ahead of UTC.
 *
 * A zone is immutable once loaded and may be shared by threads. Behind the last transition that the
 * file lists its rule goes on (Europe: the last Sundays of March and October), before the first one
 * its earliest offset holds. The database is read at /usr/share/zoneinfo, or where TZDIR says.
 */
#ifndef SR_BASE_ZONE_H
#define SR_BASE_ZONE_H

#include <streamrun/error.h>

#include <stdbool.h>
#include <stdint.h>

#define ZONE_NAME_MAX  64u        /* bytes of a zone's name */
#define ZONE_BYTES_MAX (1u << 20) /* of its file */

struct zone;

/* "Europe/Berlin", "UTC", "GMT+8", "UTC-03:30", "+02:00", "Z"; *out is NULL for UTC. SR_ECONFIG for
 * a name that is none. */
sr_rc zone_load(const char *name, struct zone **out, struct sr_error *err);
void zone_free(struct zone *z); /* NULL allowed */

/* NULL as zone is UTC. */
int64_t zone_local_ms(const struct zone *z, int64_t utc_ms);
/* A local time that the clock skips is taken as much later as it skips. One that comes twice is the
 * first, or the second when `is_later`. */
int64_t zone_utc_ms(const struct zone *z, int64_t local_ms, bool is_later);

#endif
