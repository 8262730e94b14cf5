/* Lists from malloc that grow: room for more pieces, at least doubled when there is too little.
 */
#ifndef SR_BASE_ROOM_H
#define SR_BASE_ROOM_H

#include <stddef.h>
#include <stdint.h>

/* The list with room for `more` (not 0) behind its `count` pieces of `size` bytes: the same, or
 * moved. *space counts pieces. NULL: out of memory, nothing has changed. */
void *room_for(void *list, uint32_t count, uint32_t more, uint32_t *space, size_t size);
static inline void *room_for_one(void *list, uint32_t count, uint32_t *space, size_t size)
{
    return room_for(list, count, 1, space, size);
}

#endif
