#include "engine/base/room.h"

#include <stdlib.h>

#include "engine/base/assert.h"

#define ROOM_FIRST 8u

void *room_for(void *list, uint32_t count, uint32_t more, uint32_t *space, size_t size)
{
    sr_assert(count <= *space);
    sr_assert(more > 0 && size > 0);
    if (more <= *space - count) {
        return list;
    }
    if (*space > UINT32_MAX / 2 || more > UINT32_MAX / 2) {
        return NULL;
    }
    uint32_t twice = *space > 0 ? *space * 2 : ROOM_FIRST;
    uint32_t least = *space + more;
    uint32_t wanted = twice > least ? twice : least;
    void *grown = reallocarray(list, wanted, size);
    if (grown) {
        *space = wanted;
    }
    return grown;
}
