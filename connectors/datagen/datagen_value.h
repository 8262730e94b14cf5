/* Values of a field.
 *
 * A value is a function of the seed, the field and the number of its row, whoever makes it and how
 * often; only times depend on the clock, as in Flink.
 */
#ifndef CONNECTORS_DATAGEN_VALUE_H
#define CONNECTORS_DATAGEN_VALUE_H

#include "connectors/datagen/datagen_field.h"

uint64_t datagen_mix(uint64_t x); /* another number for each, all bits alike */
/* Puts the value of column c in row number `row` to the builder's current row; now_us: the wall
 * clock. Answers how many bytes it took. */
uint32_t datagen_put(const struct datagen_field *f, struct sr_builder *b, uint32_t c, uint64_t row,
                     int64_t now_us);

#endif
