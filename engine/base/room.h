/* Lists from malloc that grow: room for one more piece, doubled when there is none.
 */
#ifndef SR_BASE_ROOM_H
#define SR_BASE_ROOM_H

#include <stddef.h>
#include <stdint.h>

/* The list with room for one more behind its `count` pieces of `size` bytes: itself, or moved.
 * *space counts pieces. NULL: out of memory, nothing has changed. */
void *room_for_one(void *list, uint32_t count, uint32_t *space, size_t size);

#endif
