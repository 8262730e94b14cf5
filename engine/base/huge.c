#include "engine/base/huge.h"

#include <stdint.h>
#include <sys/mman.h>

#define HUGE_PAGE  ((size_t)2 << 20)
#define HUGE_LEAST ((size_t)4 << 20)

void huge_advise(void *memory, size_t size)
{
    if (!memory || size < HUGE_LEAST) {
        return;
    }
    size_t before = (size_t)(-(uintptr_t)memory & (HUGE_PAGE - 1)); /* up to a boundary */
    size_t whole = (size - before) & ~(HUGE_PAGE - 1);
    (void)madvise((unsigned char *)memory + before, whole, MADV_HUGEPAGE); /* a hint only */
}
