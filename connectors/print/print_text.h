/* Values as Java prints the objects that Flink's print sink makes of them.
 *
 * NULL is null; DECIMAL as BigDecimal (exponents below 1E-6), DOUBLE as Double, DATE 2026-01-31,
 * TIME 12:00 or 12:00:01.500, TIMESTAMP 2026-01-31T12:00, TIMESTAMP_LTZ 2026-01-31T12:00:00Z,
 * BYTES [1, -2], ARRAY [a, null], MAP {k=1, j=null} in the order of its keys, ROW +I[a, b].
 */
#ifndef CONNECTORS_PRINT_PRINT_TEXT_H
#define CONNECTORS_PRINT_PRINT_TEXT_H

#include <streamrun/format.h>

bool print_text_can(const struct sr_type *t); /* without regard to what is inside it */
/* False: out of memory. */
bool print_text_put(struct sr_out *out, const char *s);
bool print_text_value(struct sr_out *out, const struct sr_column *c, uint32_t r);

#endif
