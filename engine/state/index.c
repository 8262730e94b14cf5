#include "engine/state/index.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/huge.h"

#define INDEX_START 64u

static struct index_entry *index_space(uint32_t capacity)
{
    struct index_entry *entry = malloc(capacity * sizeof(*entry));
    huge_advise(entry, capacity * sizeof(*entry));
    _Static_assert(INDEX_NONE == UINT32_MAX, "bytes of ones are an empty entry");
    return entry ? memset(entry, 0xFF, capacity * sizeof(*entry)) : NULL;
}

static uint32_t index_position(const struct index *x, uint32_t hash, uint32_t slot)
{
    uint32_t p = index_home(x, hash);
    while (x->entry[p].slot != slot) {
        sr_assert(x->entry[p].slot != INDEX_NONE);
        p = index_next(x, p);
    }
    return p;
}

sr_rc index_init(struct index *x)
{
    *x = (struct index){.entry = index_space(INDEX_START), .mask = INDEX_START - 1};
    return x->entry ? SR_OK : SR_ENOMEM;
}

void index_done(struct index *x)
{
    free(x->entry);
    *x = (struct index){0};
}

sr_rc index_reserve(struct index *x, uint32_t more)
{
    uint64_t capacity = (uint64_t)x->mask + 1;
    uint64_t wanted = (uint64_t)x->count + more;
    if (wanted <= capacity / 4 * 3) {
        return SR_OK;
    }
    while (wanted > capacity / 4 * 3) {
        capacity *= 2;
    }
    if (capacity > UINT32_MAX) {
        return SR_ELIMIT;
    }
    struct index bigger = {.entry = index_space((uint32_t)capacity),
                           .mask = (uint32_t)(capacity - 1)};
    if (!bigger.entry) {
        return SR_ENOMEM;
    }
    for (uint32_t i = 0; i <= x->mask; i++) {
        if (x->entry[i].slot != INDEX_NONE) {
            index_add(&bigger, x->entry[i].hash, x->entry[i].slot);
        }
    }
    free(x->entry);
    *x = bigger;
    return SR_OK;
}

void index_add(struct index *x, uint32_t hash, uint32_t slot)
{
    sr_assert_hot(x->count < x->mask);
    uint32_t p = index_home(x, hash);
    while (x->entry[p].slot != INDEX_NONE) {
        p = index_next(x, p);
    }
    x->entry[p] = (struct index_entry){.hash = hash, .slot = slot};
    x->count++;
}

/* Entries behind the hole move up into it unless that would put them before their home. */
void index_remove(struct index *x, uint32_t hash, uint32_t slot)
{
    uint32_t hole = index_position(x, hash, slot);
    for (uint32_t p = index_next(x, hole); x->entry[p].slot != INDEX_NONE; p = index_next(x, p)) {
        uint32_t home = index_home(x, x->entry[p].hash);
        if (((p - home) & x->mask) >= ((p - hole) & x->mask)) {
            x->entry[hole] = x->entry[p];
            hole = p;
        }
    }
    x->entry[hole].slot = INDEX_NONE;
    x->count--;
}

void index_replace(struct index *x, uint32_t hash, uint32_t slot, uint32_t by)
{
    x->entry[index_position(x, hash, slot)].slot = by;
}
