#include "engine/state/frozen.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"

static void frozen_release_map(struct map *m)
{
    free(m->head.page);
    free(m->heap.chunk);
    m->head.page = NULL;
    m->heap.chunk = NULL;
}

/* The list of pages and that of chunks are the view's own: the map's may move and change. */
static sr_rc frozen_take_map(struct frozen *f, const struct map *from, struct map *to)
{
    *to = *from;
    to->head.state = &f->head;
    to->head.page = malloc((from->pages + 1) * sizeof(uint8_t *));
    to->heap.chunk = malloc((from->heap.chunks + 1) * sizeof(*from->heap.chunk));
    if (!to->head.page || !to->heap.chunk) {
        frozen_release_map(to);
        return SR_ENOMEM;
    }
    if (from->pages > 0) {
        memcpy(to->head.page, from->head.page, from->pages * sizeof(uint8_t *));
    }
    if (from->heap.chunks > 0) {
        memcpy(to->heap.chunk, from->heap.chunk, from->heap.chunks * sizeof(*from->heap.chunk));
    }
    return SR_OK;
}

static void frozen_release_maps(struct frozen *f)
{
    save_done(&f->save);
    for (uint32_t i = 0; i < f->maps; i++) {
        frozen_release_map(&f->map[i]);
    }
    f->maps = 0;
}

static sr_rc frozen_failed(const struct state *s, sr_rc rc, struct sr_error *err)
{
    return error_set(err, rc, "%s: its state cannot be saved: %s", s->uid, rc_words(rc));
}

static sr_rc frozen_new(struct state *s, struct frozen **out, struct sr_error *err)
{
    struct frozen *f = calloc(1, sizeof(*f));
    if (!f) {
        return frozen_failed(s, SR_ENOMEM, err);
    }
    f->origin = s;
    f->head = s->head;
    f->group_first = s->group_first;
    f->groups = s->group_end - s->group_first;
    sr_rc rc = SR_OK;
    for (; f->maps < s->maps && rc == SR_OK; f->maps += rc == SR_OK) {
        rc = frozen_take_map(f, s->map[f->maps], &f->map[f->maps]);
    }
    if (rc == SR_OK) {
        rc = freezer_enter(&s->freezer, &f->view);
    }
    if (rc != SR_OK) {
        frozen_release_maps(f);
        free(f);
        return frozen_failed(s, rc, err);
    }
    (void)atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
    *out = f;
    return SR_OK;
}

sr_rc state_freeze(struct sr_state *s, struct frozen **out, struct sr_error *err)
{
    return frozen_new((struct state *)s, out, err);
}

sr_rc frozen_save(struct frozen *f, struct sr_out *out, bool *is_done, struct sr_error *err)
{
    sr_assert(f->save.phase != SAVE_DONE);
    if (!freezer_begin_step(&f->view)) {
        return error_set(err, SR_ENOMEM,
                         "%s: memory ran out for a frozen view of its state, so this checkpoint "
                         "fails and the job goes on",
                         f->origin->uid);
    }
    sr_rc rc = save_step(f, out);
    freezer_end_step(&f->view);
    if (rc != SR_OK) {
        return frozen_failed(f->origin, rc, err);
    }
    *is_done = f->save.phase == SAVE_DONE;
    return SR_OK;
}

void frozen_free(struct frozen *f)
{
    if (!f) {
        return;
    }
    struct state *origin = f->origin;
    frozen_release_maps(f);
    freezer_leave(&f->view);
    state_unref(origin);
}

sr_rc state_save(struct sr_state *s, struct sr_out *out, struct sr_error *err)
{
    struct frozen *f = NULL;
    bool is_done = false;
    sr_rc rc = state_freeze(s, &f, err);
    while (rc == SR_OK && !is_done) {
        rc = frozen_save(f, out, &is_done, err);
    }
    frozen_free(f);
    return rc;
}
