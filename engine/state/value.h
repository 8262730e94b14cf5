/* How one value of a column is kept in a record, compared and copied.
 *
 * Fixed sizes lie in the record as in batch.h; text, bytes and nested values are a heap_ref to
 * their bytes, nested ones as data/codec.h writes them.
 */
#ifndef SR_STATE_VALUE_H
#define SR_STATE_VALUE_H

#include <streamrun/batch.h>

#include "engine/state/heap.h"

enum value_class { VALUE_FIXED, VALUE_TEXT, VALUE_NESTED };

static inline enum value_class value_class(const struct sr_type *t)
{
    if (sr_has_bytes(t->kind)) {
        return VALUE_TEXT;
    }
    return sr_is_nested(t->kind) ? VALUE_NESTED : VALUE_FIXED;
}

/* In a record: 1, 2, 4, 8 or 16. */
static inline uint32_t value_size(const struct sr_type *t)
{
    return value_class(t) == VALUE_FIXED ? sr_value_size(t) : (uint32_t)sizeof(struct heap_ref);
}

/* A value, wherever it lies. */
struct value {
    const void *at; /* fixed: in the layout of batch.h; NULL: the value is NULL */
    const uint8_t *bytes;
    uint32_t len; /* of bytes: text only */
};

/* Of row r of a column of fixed or text type. */
struct value value_of(const struct sr_column *c, uint32_t r);
/* Below, at or above zero: Java's order for FLOAT and DOUBLE (NaN last), bytes for text. NULL comes
 * first. Types are equal and not nested. */
int value_compare(const struct sr_type *t, struct value a, struct value b);
bool value_equal(const struct sr_type *t, struct value a, struct value b); /* bit for bit */

#endif
