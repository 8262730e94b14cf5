/* Columns into Avro's binary encoding, by a plan. */
#ifndef SR_AVRO_WRITE_H
#define SR_AVRO_WRITE_H

#include <streamrun/format.h>

#include "connectors/avro/avro_plan.h"

/* Appends row r of these columns. False: why[0] says what cannot be written, or memory is out when
 * it is '\0'; `out` may have grown then. */
bool avro_write_row(const struct avro_plan *p, struct sr_column *const *col, uint32_t r,
                    struct sr_out *out, char why[160]);

#endif
