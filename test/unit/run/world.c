#include "test/unit/run/world.h"

#include <check.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <streamrun/state.h>

#include "engine/base/assert.h"
#include "engine/base/bytes.h"
#include "engine/base/error.h"
#include "engine/data/pool.h"

/* Every instance's conf is the world itself. */
static struct world *world_of(const void *conf)
{
    union {
        const void *in;
        struct world *out;
    } u = {.in = conf};
    return u.out;
}

static const struct sr_field world_fields[] = {{"key", {.kind = SR_BIGINT, .is_nullable = true}},
                                               {"n", {.kind = SR_BIGINT, .is_nullable = true}}};
const struct sr_schema world_schema = {.fields = 2, .field = world_fields, .rowtime = -1};

uint64_t world_random(struct world *w, uint64_t below)
{
    static _Thread_local uint64_t own;
    uint64_t *seed = w->is_threaded ? &own : &w->seed;
    *seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *seed;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return below == 0 ? z : z % below;
}

static int64_t world_now(const struct world *w) { return w->env.mono_us(&w->env); }

static bool world_chance(struct world *w, uint32_t in_thousand)
{
    return in_thousand > 0 && world_random(w, 1000) < in_thousand;
}

/* --- Source ----------------------------------------------------------------------------------- */

struct world_discoverer {
    struct world *w;
    bool is_known[WORLD_SPLITS_MAX];
};

struct world_reader {
    struct world *w;
    uint32_t count;
    struct {
        uint32_t number, split;
        uint64_t at;
    } split[WORLD_SPLITS_MAX];
};

static uint32_t world_split_of(const char *id) { return (uint32_t)strtoul(id + 1, NULL, 10); }

static sr_rc world_discover_open(void *d, const struct sr_source_open *o, struct sr_error *err)
{
    (void)err;
    ((struct world_discoverer *)d)->w = world_of(o->conf);
    return SR_OK;
}

static void world_known(void *d, const struct sr_split *split)
{
    ((struct world_discoverer *)d)->is_known[world_split_of(split->id)] = true;
}

static enum sr_discovered world_discover(void *p, struct sr_splits *out, struct sr_wait *wait,
                                         struct sr_error *err)
{
    struct world_discoverer *d = p;
    for (uint32_t i = 0; i < d->w->splits; i++) {
        char id[16];
        uint64_t zero = 0;
        if (d->is_known[i]) continue;
        d->is_known[i] = true;
        snprintf(id, sizeof(id), "s%u", i);
        struct sr_split split = {.id = id, .note = {&zero, sizeof(zero)}, .order = i / 2};
        if (out->add(out, &split) != SR_OK) {
            error_set(err, SR_ENOMEM, "no memory");
            return SR_DISCOVER_FAILED;
        }
    }
    wait->until_us = world_now(d->w) + 50000;
    return d->w->is_bounded ? SR_DISCOVERED_ALL : SR_DISCOVERED_SOFAR;
}

static sr_rc world_reader_open(void *r, const struct sr_source_open *o, struct sr_error *err)
{
    (void)err;
    ((struct world_reader *)r)->w = world_of(o->conf);
    return SR_OK;
}

static sr_rc world_add(void *p, uint32_t number, const struct sr_split *split, struct sr_error *err)
{
    (void)err;
    struct world_reader *r = p;
    sr_assert(r->count < WORLD_SPLITS_MAX);
    sr_assert(split->note.len == sizeof(uint64_t));
    r->split[r->count].number = number;
    r->split[r->count].split = world_split_of(split->id);
    memcpy(&r->split[r->count++].at, split->note.data, sizeof(uint64_t));
    return SR_OK;
}

static enum sr_polled world_poll(void *p, struct sr_poll *poll, struct sr_error *err)
{
    (void)err;
    struct world_reader *r = p;
    struct world *w = r->w;
    sr_assert(r->count > 0);
    uint32_t i = (uint32_t)world_random(w, r->count);
    poll->split = r->split[i].number;
    if (r->split[i].at == w->rows && w->is_bounded) {
        r->split[i] = r->split[--r->count];
        return SR_POLL_SPLIT_END;
    }
    if (w->is_paused || r->split[i].at == w->rows || world_random(w, 8) == 0) {
        if (!w->is_paused) poll->wait.until_us = world_now(w) + 1000;
        return SR_POLL_IDLE;
    }
    uint64_t count = 1 + world_random(w, w->per_poll);
    for (uint64_t n = r->split[i].at; count > 0 && n < w->rows; n++, count--) {
        if (sr_builder_is_full(poll->rows)) break;
        sr_put_i64(poll->rows, 0, (int64_t)((r->split[i].split + n) % WORLD_KEYS));
        sr_put_i64(poll->rows, 1, (int64_t)n);
        sr_row_done(poll->rows);
    }
    return SR_POLL_DATA;
}

static uint64_t *world_at(struct world_reader *r, uint32_t number)
{
    for (uint32_t i = 0; i < r->count; i++) {
        if (r->split[i].number == number) return &r->split[i].at;
    }
    return NULL;
}

static void world_consume(void *p, uint32_t number, uint32_t used) { *world_at(p, number) += used; }

static sr_rc world_position(void *p, uint32_t number, struct sr_out *note, struct sr_error *err)
{
    struct world_reader *r = p;
    const uint64_t *at = world_at(r, number);
    uint64_t end = r->w->rows;
    uint8_t *to = sr_out_room(note, sizeof(uint64_t));
    if (!to) return error_set(err, SR_ENOMEM, "no memory");
    memcpy(to, at ? at : &end, sizeof(uint64_t));
    note->len += sizeof(uint64_t);
    return SR_OK;
}

static void world_nothing(void *p) { (void)p; }

const struct sr_source_type world_source_type = {.size = sizeof(world_source_type),
                                                 .name = "counting",
                                                 .discoverer_size = sizeof(struct world_discoverer),
                                                 .reader_size = sizeof(struct world_reader),
                                                 .discover_open = world_discover_open,
                                                 .known = world_known,
                                                 .discover = world_discover,
                                                 .discover_close = world_nothing,
                                                 .open = world_reader_open,
                                                 .add = world_add,
                                                 .poll = world_poll,
                                                 .consume = world_consume,
                                                 .position = world_position,
                                                 .close = world_nothing};

/* --- Operators -------------------------------------------------------------------------------- */

struct world_op {
    struct world *w;
    struct sr_home *home;
    struct sr_state *state;
    struct sr_map *map;
};

static sr_rc world_op_open(void *op, const struct sr_op_open *o, struct sr_error *err)
{
    static const struct sr_field key = {"key", {.kind = SR_BIGINT, .is_nullable = true}};
    static const struct sr_field value = {"count", {.kind = SR_BIGINT, .is_nullable = true}};
    struct world_op *p = op;
    *p = (struct world_op){.w = world_of(o->conf), .home = o->home, .state = o->state};
    if (!o->state) return SR_OK;
    struct sr_map_def def = {.size = sizeof(def),
                             .name = "counts",
                             .kind = SR_MAP_VALUE,
                             .keys = 1,
                             .key = &key,
                             .values = 1,
                             .value = &value};
    return o->state->calls->map(o->state, &def, &p->map, err);
}

static enum sr_step world_pass(void *op, struct sr_op_io *io, struct sr_error *err)
{
    struct world_op *p = op;
    if (p->w->fail_in >= 0 && p->w->fail_in-- == 0) {
        p->w->failures++;
        error_set(err, SR_EIO, "failure %u was asked for", p->w->failures);
        return SR_STEP_FAILED;
    }
    uint32_t left = io->in->picked - io->from;
    uint32_t some = 1 + (uint32_t)world_random(p->w, left); /* in pieces, to try AGAIN */
    io->out = view_slice(p->home, io->in, io->from, some);
    io->used = some;
    return some == left ? SR_STEP_DONE : SR_STEP_AGAIN;
}

static enum sr_step world_count(void *op, struct sr_op_io *io, struct sr_error *err)
{
    struct world_op *p = op;
    uint16_t row[SR_BATCH_ROWS];
    uint32_t slot[SR_BATCH_ROWS];
    bool is_new[SR_BATCH_ROWS];
    static const uint32_t key = 0;
    uint32_t count = io->in->picked - io->from;
    for (uint32_t i = 0; i < count; i++) {
        row[i] = (uint16_t)sr_row(io->in, io->from + i);
    }
    struct sr_map_keys keys = {.view = io->in, .key = &key, .row = row, .count = count};
    if (p->state->calls->find_or_add(p->map, &keys, slot, is_new) != SR_OK) {
        error_set(err, SR_ENOMEM, "no memory");
        return SR_STEP_FAILED;
    }
    struct sr_view *v = view_new(p->home, 2);
    struct sr_type type = {.kind = SR_BIGINT, .is_nullable = true};
    v->col[0] = column_new(p->home, &type, SR_BATCH_ROWS);
    v->col[1] = column_new(p->home, &type, SR_BATCH_ROWS);
    for (uint32_t i = 0; i < count; i++) {
        int64_t *at = sr_map_at(p->map, slot[i], 1);
        if (is_new[i]) *at = 0;
        sr_map_set_null(p->map, slot[i], 1, false);
        ++*at;
        ((int64_t *)v->col[0]->values)[i] = ((const int64_t *)io->in->col[0]->values)[row[i]];
        ((int64_t *)v->col[1]->values)[i] = *at;
    }
    v->rows = v->picked = v->col[0]->rows = v->col[1]->rows = count;
    io->out = v;
    io->used = io->absorbed = count;
    return SR_STEP_DONE;
}

const struct sr_op_type world_pass_type = {.size = sizeof(world_pass_type),
                                           .name = "pass",
                                           .instance_size = sizeof(struct world_op),
                                           .open = world_op_open,
                                           .process = world_pass,
                                           .close = world_nothing};
const struct sr_op_type world_count_type = {.size = sizeof(world_count_type),
                                            .name = "count",
                                            .instance_size = sizeof(struct world_op),
                                            .is_keyed = true,
                                            .open = world_op_open,
                                            .process = world_count,
                                            .close = world_nothing};

/* --- Sink ------------------------------------------------------------------------------------- */

struct world_sink {
    struct world *w;
    struct sr_sink_open o;
    uint32_t rows, number;
    struct world_row *row; /* not prepared */
};

static sr_rc world_sink_open(void *p, const struct sr_sink_open *o, struct sr_error *err)
{
    (void)err;
    struct world_sink *s = p;
    s->w = world_of(o->conf);
    s->o = *o;
    s->w->opens++;
    return SR_OK;
}

static sr_rc world_write(void *p, const struct sr_view *v, uint32_t from, uint32_t *done,
                         struct sr_wait *wait, struct sr_error *err)
{
    struct world_sink *s = p;
    if (world_chance(s->w, s->w->busy_write)) {
        wait->until_us = world_now(s->w) + 100;
        return error_set(err, SR_EBUSY, "busy");
    }
    uint32_t count = 1 + (uint32_t)world_random(s->w, v->picked - from);
    if (s->w->does_ask) s->o.ask_checkpoint(&s->o);
    s->row = realloc(s->row, (s->rows + count) * sizeof(*s->row));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t r = sr_row(v, from + i);
        s->row[s->rows++] = (struct world_row){((const int64_t *)v->col[0]->values)[r],
                                               ((const int64_t *)v->col[1]->values)[r]};
    }
    *done = count;
    return SR_OK;
}

static sr_rc world_flush(void *p, struct sr_wait *wait, struct sr_error *err)
{
    (void)wait;
    (void)err;
    ((struct world_sink *)p)->w->flushes++;
    return SR_OK;
}

static sr_rc world_prepare(void *p, uint64_t checkpoint, bool is_last, struct sr_notes *notes,
                           struct sr_wait *wait, struct sr_error *err)
{
    (void)is_last;
    struct world_sink *s = p;
    struct world *w = s->w;
    if (world_chance(w, w->busy_prepare)) {
        wait->until_us = world_now(w) + 100;
        return error_set(err, SR_EBUSY, "busy");
    }
    if (s->rows == 0) return SR_OK;
    w->batch = realloc(w->batch, (w->batches + 1) * sizeof(*w->batch));
    w->batch[w->batches] = (struct world_batch){.lineage = s->o.lineage,
                                                .attempt = s->o.attempt,
                                                .checkpoint = checkpoint,
                                                .part = s->o.part,
                                                .number = s->number++,
                                                .rows = s->rows,
                                                .row = s->row};
    s->rows = 0;
    s->row = NULL;
    uint32_t index = w->batches++;
    return notes->add(notes, SR_NOTE_COMMIT, (struct sr_bytes){&index, sizeof(index)});
}

static sr_rc world_commit(void *p, uint64_t checkpoint, struct sr_bytes note, struct sr_error *err)
{
    struct world_sink *s = p;
    uint32_t index;
    if (world_chance(s->w, s->w->busy_commit)) return error_set(err, SR_EBUSY, "busy");
    sr_assert(note.len == sizeof(index));
    memcpy(&index, note.data, sizeof(index));
    sr_assert(index < s->w->batches);
    sr_assert(s->w->batch[index].checkpoint == checkpoint);
    sr_assert(!s->w->batch[index].is_discarded); /* a live note was taken for a leftover */
    s->w->batch[index].is_shown = true;
    s->w->commits++;
    return SR_OK;
}

static sr_rc world_recover(void *p, const struct sr_bytes *live, uint32_t count,
                           struct sr_error *err)
{
    (void)err;
    struct world_sink *s = p;
    sr_assert(s->o.part == 0);
    s->w->recovers++;
    for (uint32_t i = 0; i < s->w->batches; i++) {
        struct world_batch *b = &s->w->batch[i];
        bool is_live = b->is_shown;
        for (uint32_t k = 0; k < count; k++) {
            is_live = is_live || memcmp(live[k].data, &i, sizeof(i)) == 0;
        }
        if (!is_live) b->is_discarded = true;
    }
    return SR_OK;
}

static void world_sink_close(void *p) { free(((struct world_sink *)p)->row); }

const struct sr_sink_type world_sink_type = {.size = sizeof(world_sink_type),
                                             .name = "ledger",
                                             .sink_size = sizeof(struct world_sink),
                                             .open = world_sink_open,
                                             .recover = world_recover,
                                             .write = world_write,
                                             .flush = world_flush,
                                             .prepare = world_prepare,
                                             .commit = world_commit,
                                             .close = world_sink_close};

/* --- Plan ------------------------------------------------------------------------------------- */

static const uint32_t world_numbers[] = {0, 1, 2, 3};

static void world_plan_job(struct world *w)
{
    w->settings = (struct settings){.interval = {w->interval_us},
                                    .timeout = {w->timeout_us},
                                    .tolerable_failures = w->tolerable,
                                    .max_concurrent = w->concurrent > 0 ? w->concurrent : 1,
                                    .has_checkpoints_after_end = !w->stops_checkpoints,
                                    .mode = {w->mode},
                                    .restart = {w->restart},
                                    .sink_retry = {w->retry_us > 0 ? w->retry_us : INT64_MAX},
                                    .fixed_attempts = 1000,
                                    .fixed_delay = {1000},
                                    .exp_initial = {1000},
                                    .exp_max = {60000},
                                    .exp_reset = {INT64_C(3600000000)},
                                    .exp_attempts = INT64_MAX,
                                    .exp_multiplier = 1.5,
                                    .exp_jitter = 0.1,
                                    .time_zone = "UTC"};
    w->job = (struct job){.name = "world", .settings = w->settings, .description = "a job"};
    memcpy(w->job.id, "0123456789abcdef0123456789abcdef", 33);
}

static void world_plan_nodes(struct world *w)
{
    const uint32_t *n = world_numbers;
    w->node[0] = (struct plan_node){
        .kind = PLAN_SOURCE,
        .uid = "numbers",
        .name = "numbers",
        .step = "numbers",
        .out = &world_schema,
        .source = &world_source_type,
        .conf = w,
        .source_caps = {.is_bounded = w->is_bounded, .can_rewind = true, .makes_rows = true},
        .read = &world_schema,
        .brought = &world_schema,
        .valued = &world_schema,
        .stamp = -1};
    w->node[1] = (struct plan_node){.kind = PLAN_OP,
                                    .uid = "pass",
                                    .name = "pass",
                                    .step = "pass",
                                    .out = &world_schema,
                                    .inputs = 1,
                                    .input = &n[0],
                                    .stamp = -1,
                                    .op = &world_pass_type,
                                    .op_conf = w};
    w->node[2] = (struct plan_node){.kind = PLAN_OP,
                                    .uid = "count",
                                    .name = "count",
                                    .step = "count",
                                    .vertex = 1,
                                    .out = &world_schema,
                                    .inputs = 1,
                                    .input = &n[1],
                                    .stamp = -1,
                                    .op = &world_count_type,
                                    .op_conf = w};
    w->node[3] = (struct plan_node){.kind = PLAN_SINK,
                                    .uid = "ledger",
                                    .name = "ledger",
                                    .step = "ledger",
                                    .vertex = 2,
                                    .out = &world_schema,
                                    .inputs = 1,
                                    .input = &n[2],
                                    .stamp = -1,
                                    .conf = w,
                                    .sink = &world_sink_type,
                                    .sink_caps = {.makes_rows = true}};
}

const struct plan *world_plan(struct world *w)
{
    const uint32_t *n = world_numbers;
    world_plan_job(w);
    world_plan_nodes(w);
    w->vertex[0] = (struct plan_vertex){.name = "numbers",
                                        .nodes = 2,
                                        .node = &n[0],
                                        .parallelism = w->parts_source,
                                        .outs = 1,
                                        .out = &n[0]};
    w->vertex[1] = (struct plan_vertex){.name = "count",
                                        .nodes = 1,
                                        .node = &n[2],
                                        .parallelism = w->parts_count,
                                        .ins = 1,
                                        .outs = 1,
                                        .in = &n[0],
                                        .out = &n[1]};
    w->vertex[2] = (struct plan_vertex){.name = "ledger",
                                        .nodes = 1,
                                        .node = &n[3],
                                        .parallelism = w->parts_sink,
                                        .ins = 1,
                                        .in = &n[1]};
    w->edge[0] = (struct plan_edge){.from = 0,
                                    .to = 1,
                                    .from_node = 1,
                                    .to_node = 2,
                                    .ship = SHIP_HASH,
                                    .key = &n[0],
                                    .keys = 1};
    w->edge[1] =
        (struct plan_edge){.from = 1,
                           .to = 2,
                           .from_node = 2,
                           .to_node = 3,
                           .ship = w->parts_count == w->parts_sink ? SHIP_FORWARD : SHIP_REBALANCE};
    w->plan = (struct plan){.job = &w->job,
                            .nodes = 4,
                            .vertices = 3,
                            .edges = 2,
                            .node = w->node,
                            .vertex = w->vertex,
                            .edge = w->edge,
                            .max_parallelism = 128,
                            .is_bounded = w->is_bounded};
    return &w->plan;
}

/* --- World ------------------------------------------------------------------------------------ */

static int64_t world_wall_us(const struct env *e)
{
    return INT64_C(1700000000000000) + ((const struct world *)e->ctx)->now_us;
}

static int64_t world_mono_us(const struct env *e) { return ((const struct world *)e->ctx)->now_us; }

static uint64_t world_env_random(const struct env *e) { return world_random(e->ctx, 0); }

static void world_log(const struct env *e, enum sr_level level, const char *who, const char *line)
{
    (void)e;
    if (getenv("WORLD_LOG")) fprintf(stderr, "%d %s: %s\n", (int)level, who, line);
}

static void world_crash_point(const struct env *e, const char *name)
{
    (void)e;
    (void)name;
}

static sr_rc world_start(struct sched *s, struct crew *c, uint32_t region, struct sr_error *err)
{
    (void)region; /* its plan has one only */
    (void)err;
    ((struct world *)s->ctx)->crew = c;
    return SR_OK;
}

static void world_stop(struct sched *s, struct crew *c, uint32_t region)
{
    (void)c;
    (void)region;
    ((struct world *)s->ctx)->crew = NULL;
}

static void world_wake(struct sched *s) { ((struct world *)s->ctx)->was_sent = true; }

void world_init(struct world *w, uint64_t seed)
{
    static const struct env posix_like = {.wall_us = world_wall_us,
                                          .mono_us = world_mono_us,
                                          .random = world_env_random,
                                          .log = world_log,
                                          .crash_point = world_crash_point};
    *w = (struct world){.seed = seed,
                        .splits = 4,
                        .rows = 200,
                        .per_poll = 30,
                        .is_bounded = true,
                        .parts_source = 2,
                        .parts_count = 2,
                        .parts_sink = 1,
                        .interval_us = 20000,
                        .timeout_us = INT64_C(600000000),
                        .restart = RESTART_FIXED,
                        .fail_in = -1};
    w->env = posix_like;
    w->env.ctx = w;
    w->sched =
        (struct sched){.ctx = w, .start = world_start, .stop = world_stop, .wake = world_wake};
}

void world_done(struct world *w)
{
    for (uint32_t i = 0; i < w->batches; i++) {
        free(w->batch[i].row);
    }
    free(w->batch);
}

struct store *world_store(struct world *w)
{
    struct store *s = NULL;
    struct sr_error err = {.rc = SR_OK};
    struct store_conf conf = {.url = "memory:",
                              .job_id = "0123456789abcdef0123456789abcdef",
                              .job_name = "world",
                              .retained = 2};
    ck_assert_msg(store_open(&s, &w->env, &conf, &err) == SR_OK, "%s", err.words);
    return s;
}

/* One turn: most steps are tasks', some the supervisor's, and now and then time goes by. */
bool world_run(struct world *w, struct supervise *s, uint64_t steps,
               bool (*until)(const struct world *w, struct supervise *s))
{
    for (uint64_t i = 0; i < steps; i++) {
        int64_t due_us;
        uint64_t what = world_random(w, 100);
        if (until && until(w, s)) return true;
        if (what < 75 && w->crew) {
            struct task_waits waits;
            struct task *t = &w->crew->task[world_random(w, w->crew->tasks)];
            (void)task_step(t, w->now_us, &waits);
        } else if (what < 95) {
            if (supervise_step(s, &due_us)) return false;
        } else {
            w->now_us += (int64_t)world_random(w, 3000);
        }
    }
    return true;
}

int64_t world_shown(const struct world *w)
{
    int64_t rows = 0;
    for (uint32_t i = 0; i < w->batches; i++) {
        if (w->batch[i].is_shown) rows += w->batch[i].rows;
    }
    return rows;
}

const char *world_check(const struct world *w)
{
    static char words[200];
    uint32_t all = w->splits * w->rows;
    uint8_t *seen = calloc(WORLD_KEYS * (size_t)(all + 2), 1);
    uint32_t expected[WORLD_KEYS] = {0};
    words[0] = '\0';
    for (uint32_t s = 0; s < w->splits; s++) {
        for (uint32_t n = 0; n < w->rows; n++) {
            expected[(s + n) % WORLD_KEYS]++;
        }
    }
    for (uint32_t i = 0; i < w->batches; i++) {
        const struct world_batch *b = &w->batch[i];
        for (uint32_t r = 0; b->is_shown && r < b->rows; r++) {
            const struct world_row *row = &b->row[r];
            bool is_fit = row->key >= 0 && row->key < (int64_t)WORLD_KEYS && row->count >= 1 &&
                          row->count <= expected[row->key];
            if (!is_fit) {
                snprintf(words, sizeof(words), "(%lld, %lld) is too much", (long long)row->key,
                         (long long)row->count);
            } else if (seen[(size_t)row->key * (all + 2) + (size_t)row->count]++ > 0) {
                snprintf(words, sizeof(words), "(%lld, %lld) came twice", (long long)row->key,
                         (long long)row->count);
            }
        }
    }
    for (uint32_t k = 0; k < WORLD_KEYS && !words[0]; k++) {
        for (uint32_t c = 1; c <= expected[k] && !words[0]; c++) {
            if (seen[(size_t)k * (all + 2) + c] == 0) {
                snprintf(words, sizeof(words), "(%u, %u) is missing", k, c);
            }
        }
    }
    free(seen);
    return words[0] ? words : NULL;
}
