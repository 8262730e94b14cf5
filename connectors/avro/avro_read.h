/* Avro's binary encoding into columns, by a plan. Nothing of the input is trusted. */
#ifndef SR_AVRO_READ_H
#define SR_AVRO_READ_H

#include <streamrun/host.h>

#include "connectors/avro/avro_plan.h"

/* Puts the record in bytes[0, len) to the current row of b. False: `why` says what is wrong, and
 * *mark which byte; the row is to be dropped. */
struct avro_fault {
    char why[120];
    uint32_t mark;
};

bool avro_read_row(const struct avro_plan *p, struct sr_builder *b, const uint8_t *bytes,
                   uint32_t len, struct avro_fault *fault);

#endif
