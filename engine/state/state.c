#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/data/rowhash.h"
#include "engine/state/backend.h"
#include "engine/state/map.h"

static void state_destroy(struct state *s)
{
    for (uint32_t i = 0; i < s->maps; i++) {
        map_free(s->map[i]);
    }
    freezer_done(&s->freezer);
    home_close(s->home);
    arena_free(s->arena);
    free(s);
}

void state_unref(struct state *s)
{
    /* Release, so that each holder's use comes before the end; acquire, so that the last sees it.
     */
    if (atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) == 1) {
        state_destroy(s);
    }
}

sr_rc state_new(struct sr_state **out, const struct state_conf *conf, struct sr_error *err)
{
    sr_assert(conf->parts > 0 && conf->part < conf->parts);
    sr_assert(conf->max_parallelism > 0 && conf->max_parallelism <= KEY_GROUPS_MAX);
    struct state *s = calloc(1, sizeof(*s));
    if (s && freezer_init(&s->freezer, err) != SR_OK) {
        free(s);
        s = NULL;
    }
    if (s) {
        atomic_init(&s->refs, 1);
        s->arena = arena_new();
        s->home = home_new();
        s->uid = s->arena ? arena_text(s->arena, conf->uid) : NULL;
    }
    if (!s || !s->home || !s->uid) {
        state_free(s ? &s->head : NULL);
        return error_set(err, SR_ENOMEM, "%s: out of memory for its state", conf->uid);
    }
    s->head = (struct sr_state){.calls = &map_calls,
                                .max_parallelism = conf->max_parallelism,
                                .part = conf->part,
                                .parts = conf->parts,
                                .watermark = SR_WATERMARK_NONE};
    s->group_first = key_group_first(conf->part, conf->max_parallelism, conf->parts);
    s->group_end = key_group_first(conf->part + 1, conf->max_parallelism, conf->parts);
    s->scratch.view.size = sizeof(s->scratch.view);
    *out = &s->head;
    return SR_OK;
}

void state_free(struct sr_state *s)
{
    if (s) {
        state_unref((struct state *)s);
    }
}

uint64_t state_bytes(const struct sr_state *s)
{
    const struct state *own = (const struct state *)s;
    uint64_t bytes = sizeof(*own) + home_bytes(own->home);
    for (uint32_t i = 0; i < own->maps; i++) {
        bytes += map_bytes(own->map[i]);
    }
    return bytes;
}
