#include "engine/base/warm.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/base/error.h"
#include "engine/base/thread.h"

#define WARM_STEP ((size_t)2 << 20) /* a huge page */

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* since Linux 5.14; before, it is refused */
#endif

struct warm {
    struct thread *thread;
    enum warm_way way;
    unsigned char *first, *end; /* what is still to be done; whole steps */
    _Atomic bool is_over;       /* any order: a step more does no harm */
};

static void warm_run(void *arg)
{
    struct warm *w = arg;
    while (!w->is_over && w->first < w->end) {
        w->first += w->way == WARM_AHEAD ? WARM_STEP : 0;
        w->end -= w->way == WARM_FROM_END ? WARM_STEP : 0;
        unsigned char *step = w->way == WARM_AHEAD ? w->first - WARM_STEP : w->end;
        if (madvise(step, WARM_STEP, MADV_POPULATE_WRITE) != 0) break;
    }
}

struct warm *warm_start(void *memory, size_t size, enum warm_way way)
{
    if (!memory || size < WARM_LEAST || sysconf(_SC_NPROCESSORS_ONLN) < 2) return NULL;
    struct warm *w = calloc(1, sizeof(*w));
    if (!w) return NULL;
    size_t before = (size_t)(-(uintptr_t)memory & (WARM_STEP - 1)); /* up to a boundary */
    w->way = way;
    w->first = (unsigned char *)memory + before;
    w->end = w->first + ((size - before) & ~(WARM_STEP - 1));
    w->first += way == WARM_AHEAD ? WARM_STEP : 0; /* the owner is there already */
    struct sr_error ignored;
    if (thread_start(&w->thread, "warm", warm_run, w, &ignored) != SR_OK) {
        free(w);
        return NULL;
    }
    return w;
}

void warm_stop(struct warm *w)
{
    if (!w) return;
    w->is_over = true;
    thread_join(w->thread);
    free(w);
}
