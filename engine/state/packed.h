/* Values of records as they lie in saved bytes, read and written without columns between: as
 * data/codec.h has them, a mark, then the value.
 *
 * For the types that records hold as they are; nested ones are kept in the form they are saved in,
 * so they can be written, but reading one needs codec_get to find its end.
 */
#ifndef SR_STATE_PACKED_H
#define SR_STATE_PACKED_H

#include "engine/base/bytes.h"
#include "engine/state/map.h"

/* Room that a column of an entry takes at most. */
size_t packed_room(const struct map *m, uint32_t slot, uint32_t c);
/* Writes it to `to`, which has that room; answers the place behind. */
uint8_t *packed_put(uint8_t *to, const struct map *m, uint32_t slot, uint32_t c);

/* Steps over a value of a type that is not nested. SR_ECORRUPT. */
sr_rc packed_skip(struct bytes_in *in, const struct sr_type *t);
/* Takes a value that packed_skip stepped over into the record of an entry, a new one. SR_ENOMEM. */
sr_rc packed_get(struct bytes_in *in, struct map *m, uint32_t slot, uint32_t c);

#endif
