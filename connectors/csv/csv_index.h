/* Where the characters that matter are: the first pass over the bytes, 64 at a time.
 *
 * Delimiters, quotes, escapes and both halves of line ends are found by vector compares (AVX2 where
 * the processor has it) and their places kept in a small array, so that the second pass goes from
 * one to the next and looks at no byte between.
 */
#ifndef SR_CSV_INDEX_H
#define SR_CSV_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#define CSV_INDEX_PLACES  2048u
#define CSV_INDEX_END     UINT32_MAX
#define CSV_INDEX_NEEDLES 5u

struct csv_index {
    const uint8_t *bytes;
    uint32_t len;     /* of bytes */
    uint32_t scanned; /* bytes before it are in the array, or were */
    uint32_t next, count;
    bool has_high;                     /* a byte over 127 was seen */
    uint8_t needle[CSV_INDEX_NEEDLES]; /* what is looked for; may repeat */
    uint32_t enough; /* places that are worth looking for at once: see csv_index_expect */
    uint32_t at[CSV_INDEX_PLACES + 64];
};

static inline void csv_index_start(struct csv_index *x, const uint8_t *bytes, uint32_t from,
                                   uint32_t len)
{
    x->bytes = bytes;
    x->len = len;
    x->scanned = from;
    x->next = x->count = 0;
    x->enough = CSV_INDEX_PLACES;
}

/* No more than this many places will be asked for: those behind them are not looked for. */
static inline void csv_index_expect(struct csv_index *x, uint32_t places)
{
    x->enough = places < CSV_INDEX_PLACES ? places : CSV_INDEX_PLACES;
}

/* Scans on until there are enough places or the bytes are at their end. */
void csv_index_fill(struct csv_index *x);

/* The place of the next one; CSV_INDEX_END: there is none. */
static inline uint32_t csv_index_next(struct csv_index *x)
{
    if (__builtin_expect(x->next == x->count, 0)) {
        if (x->scanned >= x->len) {
            return CSV_INDEX_END;
        }
        csv_index_fill(x);
        if (x->count == 0) {
            return CSV_INDEX_END;
        }
    }
    return x->at[x->next++];
}

/* The same without going on. */
static inline uint32_t csv_index_peek(struct csv_index *x)
{
    uint32_t p = csv_index_next(x);
    x->next -= p != CSV_INDEX_END ? 1 : 0;
    return p;
}

#endif
