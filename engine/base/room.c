#include "engine/base/room.h"

#include <stdlib.h>

#include "engine/base/assert.h"

#define ROOM_FIRST 8u

void *room_for_one(void *list, uint32_t count, uint32_t *space, size_t size)
{
    sr_assert(count <= *space && size > 0);
    if (count < *space) {
        return list;
    }
    if (*space > UINT32_MAX / 2) {
        return NULL;
    }
    uint32_t more = *space > 0 ? *space * 2 : ROOM_FIRST;
    void *grown = reallocarray(list, more, size);
    if (grown) {
        *space = more;
    }
    return grown;
}
