/* Records without quotes, escapes and faults, which is most of them: read without asking what comes
 * next at each field.
 *
 * A record is taken only if all its places are in the index and are delimiters and a line end;
 * anything else, a value that is refused too, is left as it was, for csv_decode to read and tell.
 */
#ifndef SR_CSV_PLAIN_H
#define SR_CSV_PLAIN_H

#include "connectors/csv/csv_scan.h"

/* Puts records from d->used on, until one is not plain, the index is at its end or the builder is
 * full. The scan stands where d->used says, before and behind. */
void csv_plain_records(struct csv_decoder *x, struct sr_decode *d);

#endif
