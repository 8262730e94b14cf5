/* Huge pages for large pieces of memory: fewer faults while they are filled, fewer misses where
 * they are read at random. */
#ifndef SR_BASE_HUGE_H
#define SR_BASE_HUGE_H

#include <stddef.h>

/* A hint to the kernel, before memory from malloc is written first. Small pieces are left alone. */
void huge_advise(void *memory, size_t size);

#endif
