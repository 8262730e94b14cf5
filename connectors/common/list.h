/* Lists from malloc that grow: room for one more piece, doubled when there is none.
 */
#ifndef CONNECTORS_COMMON_LIST_H
#define CONNECTORS_COMMON_LIST_H

#include <stddef.h>
#include <stdint.h>

/* The list with room for one more behind its `count` pieces of `size` bytes: the same, or moved.
 * *capacity counts pieces. NULL: out of memory, nothing has changed. */
void *list_room(void *list, uint32_t count, uint32_t *capacity, size_t size);

#endif
