#include "connectors/common/list.h"

#include <stdlib.h>

#define LIST_FIRST 8u

void *list_room(void *list, uint32_t count, uint32_t *capacity, size_t size)
{
    if (count < *capacity) {
        return list;
    }
    if (*capacity > UINT32_MAX / 2) {
        return NULL;
    }
    uint32_t more = *capacity > 0 ? *capacity * 2 : LIST_FIRST;
    void *moved = reallocarray(list, more, size);
    if (moved) {
        *capacity = more;
    }
    return moved;
}
