/* Avro's binary encoding into columns, by a plan. Nothing of the input is trusted. */
#ifndef SR_AVRO_READ_H
#define SR_AVRO_READ_H

#include <streamrun/host.h>

#include "connectors/avro/avro_plan.h"

struct avro_fault {
    char why[120];
    uint32_t mark; /* byte of the record */
};

/* Puts the record in bytes[0, len) to the current row of b. False: *fault says what is wrong, and
 * where; the row is to be dropped. */
bool avro_read_row(const struct avro_plan *p, struct sr_builder *b, const uint8_t *bytes,
                   uint32_t len, struct avro_fault *fault);

#endif
