/* Large memory is made ready by a thread of its own, while its owner fills it from the start.
 *
 * For the kernel to clear a page costs as much as to fill it afterwards. So somebody else has them
 * cleared. Contents are not touched.
 */
#ifndef SR_BASE_WARM_H
#define SR_BASE_WARM_H

#include <stddef.h>

#define WARM_LEAST ((size_t)32 << 20) /* less is not worth a thread */

struct warm;

enum warm_way {
    WARM_AHEAD,   /* the owner is slower than the kernel: always a little before it */
    WARM_FROM_END /* the owner only copies: they meet on the way */
};

/* NULL: not worth it, or it cannot be done here; nothing is missed. `memory` stays mapped until
 * warm_stop. */
struct warm *warm_start(void *memory, size_t size, enum warm_way way);
void warm_stop(struct warm *w); /* waits for a step to end; NULL allowed */

#endif
