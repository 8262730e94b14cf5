/* Keys of a MAP that come twice: the last one counts. */
#ifndef SR_JSON_JSON_KEYS_H
#define SR_JSON_JSON_KEYS_H

#include "connectors/json/json_value.h"

/* Looks at the MAP just put to column c of b's current row: of entries with the same key only the
 * last one stays. False: out of memory. No choice of keys makes it slow: they are sorted. */
bool json_keys_last(struct json_decoder *x, struct sr_builder *b, uint32_t c);

#endif
