/* The source "sim": rows of the scene, in pieces of any size, with pauses and failures. What was
 * acknowledged is gone: nobody can go back to it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/sim/plugin.h"
#include "test/sim/world.h"

#define SIM_SPLITS_MAX WORLD_SPLITS_MAX

struct sim_conf {
    bool quiet; /* one split without rows, which ends late: the scene says when */
};

struct sim_split {
    uint32_t number; /* the engine's */
    uint32_t split, next;
    bool is_ended;
};

struct sim_reader {
    bool is_quiet;
    uint32_t splits;
    struct sim_split split[SIM_SPLITS_MAX];
};

struct sim_discoverer {
    bool is_quiet;
    bool is_known[SIM_SPLITS_MAX];
};

/* clang-format off */
static const struct sr_opt sim_opts[] = {
    SR_OPT(struct sim_conf, "quiet", quiet, .def = "false", .doc = "Never gives a row."),
    SR_OPT_END};
/* clang-format on */

static sr_rc sim_check(const void *conf, const struct sr_schema *schema,
                       struct sr_source_caps *caps, struct sr_error *err)
{
    (void)conf, (void)schema, (void)err;
    *caps = (struct sr_source_caps){.is_bounded = true, .can_rewind = true, .makes_rows = true};
    return SR_OK;
}

static sr_rc sim_discover_open(void *d, const struct sr_source_open *o, struct sr_error *err)
{
    (void)err;
    ((struct sim_discoverer *)d)->is_quiet = ((const struct sim_conf *)o->conf)->quiet;
    return SR_OK;
}

static void sim_known(void *d, const struct sr_split *split)
{
    struct sim_discoverer *s = d;
    s->is_known[atoi(split->id + strlen("split-")) % (int)SIM_SPLITS_MAX] = true;
}

/* Names a few now and the others later. */
static enum sr_discovered sim_discover(void *d, struct sr_splits *out, struct sr_wait *wait,
                                       struct sr_error *err)
{
    struct sim_discoverer *s = d;
    struct world *w = world_now;
    for (uint32_t i = 0; i < (s->is_quiet ? 1 : w->scene.splits); i++) {
        if (s->is_known[i]) {
            continue;
        }
        if (world_below(w, 3) == 0) {
            wait->until_us = w->now_us + world_below(w, 30000);
            return SR_DISCOVERED_SOFAR;
        }
        char id[32], note[32];
        (void)snprintf(id, sizeof(id), "split-%u", i);
        (void)snprintf(note, sizeof(note), "%u 0", i);
        struct sr_split split = {
            .id = id, .note = {note, (uint32_t)strlen(note) + 1}, .order = (int64_t)i};
        if (out->add(out, &split) != SR_OK) {
            *err = (struct sr_error){.rc = SR_ENOMEM, .words = "out of memory"};
            return SR_DISCOVER_FAILED;
        }
        s->is_known[i] = true;
    }
    return SR_DISCOVERED_ALL;
}

static void sim_discover_close(void *d) { (void)d; }

static sr_rc sim_open(void *r, const struct sr_source_open *o, struct sr_error *err)
{
    (void)err;
    ((struct sim_reader *)r)->is_quiet = ((const struct sim_conf *)o->conf)->quiet;
    return SR_OK;
}

static sr_rc sim_add(void *r, uint32_t number, const struct sr_split *split, struct sr_error *err)
{
    struct sim_reader *s = r;
    struct sim_split *one = &s->split[s->splits++];
    *one = (struct sim_split){.number = number};
    if (split->note.len == 0 || sscanf(split->note.data, "%u %u", &one->split, &one->next) != 2) {
        *err = (struct sr_error){.rc = SR_ECORRUPT, .words = "a split's note is damaged"};
        return SR_ECORRUPT;
    }
    struct world *w = world_now;
    uint32_t gone = s->is_quiet ? 0 : w->forgotten[one->split % SIM_SPLITS_MAX];
    if (one->next < gone && !w->is_zombie && !world_is_dead(w)) {
        world_fail(w, "split %u goes on from row %u, but all before row %u were acknowledged",
                   one->split, one->next, gone);
    }
    return SR_OK;
}

static void sim_put(struct sr_builder *b, const struct scene_row *row)
{
    sr_put_i32(b, 0, (int32_t)row->split);
    sr_put_i32(b, 1, (int32_t)row->seq);
    sr_put_i32(b, 2, (int32_t)row->k);
    sr_put_i32(b, 3, (int32_t)row->v);
    sr_put_i64(b, 4, row->at_ms);
    sr_put_i64(b, 5, row->at_ms * 1000);
    b->rows++;
}

static enum sr_polled sim_read(struct sim_split *one, struct sr_poll *p)
{
    struct world *w = world_now;
    p->split = one->number;
    if (one->next == w->scene.rows) {
        one->is_ended = true;
        return SR_POLL_SPLIT_END;
    }
    uint32_t count = 1 + world_below(w, 1 + world_below(w, 24));
    for (; count > 0 && one->next < w->scene.rows && !sr_builder_is_full(p->rows); count--) {
        struct scene_row row = scene_row(&w->scene, one->split, one->next++);
        sim_put(p->rows, &row);
    }
    return SR_POLL_DATA;
}

/* Silent until its time has come. */
static enum sr_polled sim_poll_quiet(struct sim_reader *s, struct sr_poll *p)
{
    struct world *w = world_now;
    int64_t end_us = (int64_t)w->scene.quiet_ms * 1000;
    if (s->splits == 0 || s->split[0].is_ended) {
        return SR_POLL_IDLE;
    }
    if (w->now_us < end_us) {
        p->wait.until_us = end_us;
        return SR_POLL_IDLE;
    }
    s->split[0].is_ended = true;
    p->split = s->split[0].number;
    return SR_POLL_SPLIT_END;
}

static enum sr_polled sim_poll(void *r, struct sr_poll *p, struct sr_error *err)
{
    struct sim_reader *s = r;
    struct world *w = world_now;
    uint32_t live = 0;
    p->wait = (struct sr_wait){.fd = -1, .until_us = INT64_MAX};
    if (s->is_quiet) {
        return sim_poll_quiet(s, p);
    }
    if (world_chance(w, w->scene.source_ppm)) {
        *err = (struct sr_error){.rc = SR_EIO, .words = "the simulated source failed"};
        return SR_POLL_FAILED;
    }
    for (uint32_t i = 0; i < s->splits; i++) {
        live += !s->split[i].is_ended;
    }
    if (live > 0 && world_below(w, 4) == 0) {
        p->wait.until_us = w->now_us + world_below(w, 20000);
        return SR_POLL_IDLE;
    }
    uint32_t skip = live > 0 ? world_below(w, live) : 0;
    for (uint32_t i = 0; i < s->splits; i++) {
        if (!s->split[i].is_ended && skip-- == 0) {
            return sim_read(&s->split[i], p);
        }
    }
    return SR_POLL_IDLE;
}

static void sim_consume(void *r, uint32_t number, uint32_t used)
{
    (void)r, (void)number, (void)used;
}

static sr_rc sim_position(void *r, uint32_t number, struct sr_out *note, struct sr_error *err)
{
    struct sim_reader *s = r;
    for (uint32_t i = 0; i < s->splits; i++) {
        if (s->split[i].number == number) {
            char text[32];
            int n = snprintf(text, sizeof(text), "%u %u", s->split[i].split, s->split[i].next);
            uint8_t *to = sr_out_room(note, (size_t)n + 1);
            if (to) {
                memcpy(to, text, (size_t)n + 1);
                note->len += (size_t)n + 1;
                return SR_OK;
            }
        }
    }
    *err = (struct sr_error){.rc = SR_ENOMEM, .words = "out of memory"};
    return SR_ENOMEM;
}

/* Twins read the same rows, each at its own pace: theirs stay. */
static void sim_acknowledge(void *r, uint32_t number, struct sr_bytes note)
{
    struct sim_reader *s = r;
    struct world *w = world_now;
    uint32_t split = 0;
    uint32_t next = 0;
    (void)number;
    if (s->is_quiet || w->scene.has_twin || world_is_dead(w) ||
        sscanf(note.data, "%u %u", &split, &next) != 2) {
        return;
    }
    world_trace(w, "acknowledged", split, next);
    uint32_t *gone = &w->forgotten[split % SIM_SPLITS_MAX];
    *gone = next > *gone ? next : *gone;
}

static void sim_close(void *r) { (void)r; }

const struct sr_source_type sim_source_type = {
    .size = sizeof(struct sr_source_type),
    .name = "sim",
    .doc = "Rows of the simulated scene.",
    .opts = sim_opts,
    .conf_size = sizeof(struct sim_conf),
    .discoverer_size = sizeof(struct sim_discoverer),
    .reader_size = sizeof(struct sim_reader),
    .check = sim_check,
    .discover_open = sim_discover_open,
    .known = sim_known,
    .discover = sim_discover,
    .discover_close = sim_discover_close,
    .open = sim_open,
    .add = sim_add,
    .poll = sim_poll,
    .consume = sim_consume,
    .position = sim_position,
    .acknowledge = sim_acknowledge,
    .close = sim_close,
};
