#include "test/sim/life.h"

#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "connectors/builtin.h"
#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/bind/bind.h"
#include "engine/ckpt/store.h"
#include "engine/ops/ops.h"
#include "engine/run/sched.h"
#include "test/sim/plugin.h"

#define LIFE_STEPS_MAX  400000u
#define LIFE_TIME_MAX   INT64_C(3600000000) /* of virtual time */
#define LIFE_ASLEEP_MAX 64u

enum life_ask { LIFE_ASK_SUSPEND, LIFE_ASK_STOP, LIFE_ASK_SAVEPOINT };

struct life {
    struct world *world;
    struct history *history;
    struct arena *arena;
    struct registry *registry;
    struct faults *faults;
    struct job *job;
    const struct plan *plan;
    struct store *store;
    struct manifest *restore;
    bool begins_from; /* a savepoint: what a restart needs cannot be had from the store */
    uint64_t lineage;
    struct supervise *job_run;
    struct sched sched;
    struct crew *crew;
    uint64_t live;                        /* bit by task: it may be stepped */
    uint64_t asleep;                      /* bit by task: nothing to do when it was last stepped */
    int64_t wake_us[LIFE_ASLEEP_MAX + 1]; /* by task; the last is the supervisor's */
    uint64_t steps, die_step, ask_step;
    uint64_t lazy; /* bit by task: is passed over most of the time */
    enum life_ask ask;
    struct run_request request;
    sr_rc opened;
    struct sr_error error;
};

/* --- The job ---------------------------------------------------------------------------------- */

static const char *life_variable(const char *name)
{
    (void)name;
    return NULL;
}

static void life_register(struct life *l)
{
    struct sr_error err = {0};
    l->registry = registry_new();
    for (uint32_t i = 0; connectors_builtin[i]; i++) {
        (void)registry_add(l->registry, connectors_builtin[i], &err);
    }
    for (uint32_t i = 0; ops_builtin[i]; i++) {
        (void)registry_add_op(l->registry, ops_builtin[i], &err);
    }
    (void)registry_add(l->registry, &sim_plugin, &err);
}

static bool life_plan(struct life *l, uint32_t parallelism)
{
    char *text = arena_get(l->arena, 8192);
    scene_job(&l->world->scene, parallelism, text, 8192);
    l->faults = arena_get(l->arena, sizeof(*l->faults));
    faults_init(l->faults, l->arena);
    struct conf_input in = {.env = &l->world->env,
                            .path = "sim.yaml",
                            .text = text,
                            .work_dir = "/",
                            .variable = life_variable};
    sr_rc rc = conf_read(&in, l->registry, l->faults, &l->job);
    if (rc == SR_OK) {
        rc = bind_job(l->job, l->registry, l->faults, &l->plan);
    }
    for (uint32_t i = 0; rc != SR_OK && i < l->faults->count; i++) {
        printf("sim.yaml:%u: %s\n", l->faults->fault[i].at.line, l->faults->fault[i].words);
    }
    if (rc != SR_OK) {
        world_fail(l->world, "the job cannot be read: %s\n%s", rc_words(rc), text);
    }
    return rc == SR_OK;
}

/* --- The store -------------------------------------------------------------------------------- */

static uint64_t life_new_lineage(struct life *l) { return world_random(l->world) | 1; }

/* Nobody may delete it, until it is claimed. */
static void life_keep(struct history *h, const char *path)
{
    if (h->kepts < LIFE_KEPT_MAX) {
        (void)snprintf(h->kept[h->kepts++], LIFE_PATH_MAX, "%.*s", (int)LIFE_PATH_MAX - 1, path);
    }
}

static void life_give(struct history *h, const char *path)
{
    for (uint32_t i = 0; i < h->kepts; i++) {
        if (strcmp(h->kept[i], path) == 0) {
            memmove(h->kept[i], h->kept[--h->kepts], LIFE_PATH_MAX);
            return;
        }
    }
}

/* As `run --from SAVEPOINT --claim-mode MODE`. */
static sr_rc life_begin_from(struct life *l, const char *path, bool is_owned, struct sr_error *err)
{
    l->lineage = life_new_lineage(l);
    l->begins_from = true;
    l->history->claims += is_owned;
    if (is_owned) {
        life_give(l->history, path);
    }
    sr_rc rc = store_load(&l->world->env, path, l->arena, &l->restore, err);
    return rc == SR_OK ? store_claim(l->store, path, l->lineage, is_owned, err) : rc;
}

/* From the savepoint of the life before, until the store has noted that; else as `run --continue`.
 */
static sr_rc life_load(struct life *l, struct sr_error *err)
{
    struct history *h = l->history;
    bool is_owned = l->world->scene.owns_savepoint;
    sr_rc rc = store_load_newest(l->store, l->arena, &l->restore, err);
    if (rc != SR_OK && rc != SR_EABSENT) {
        return rc;
    }
    if (*h->savepoint) {
        rc = life_begin_from(l, h->savepoint, is_owned, err);
        if (rc == SR_OK) {
            *h->savepoint = '\0';
        }
        return rc;
    }
    l->lineage = rc == SR_OK ? l->restore->lineage : 0;
    const char *path = store_begun_with(l->store, l->lineage, &is_owned);
    if (path) {
        return life_begin_from(l, path, is_owned, err);
    }
    if (rc == SR_EABSENT) {
        l->lineage = life_new_lineage(l);
    }
    return SR_OK;
}

/* Whoever looks at it all the same meets the assert of task_load. */
static void life_let_go(void *ctx)
{
    const struct life *l = ctx;
    for (uint32_t i = 0; i < l->restore->parts; i++) {
        struct manifest_part *p = &l->restore->part[i];
        if (strcmp(p->name, MANIFEST_STATE) == 0) p->bytes = NULL;
    }
}

static sr_rc life_open(struct life *l, struct sr_error *err)
{
    const struct settings *set = &l->job->settings;
    struct store_conf conf = {.url = set->dir,
                              .job_id = l->job->id,
                              .job_name = l->job->name,
                              .retained = (uint32_t)set->num_retained,
                              .run_dir = "/run"};
    struct lock_sight sight;
    sr_rc rc = SR_OK;
    if (l->world->seizes) {
        conf.seize = &sight;
        l->history->seizures++;
        rc = store_look_lock(&l->world->env, &conf, &sight, err);
    }
    if (rc == SR_OK) {
        rc = store_open(&l->store, &l->world->env, &conf, err);
    }
    if (rc == SR_OK) {
        rc = life_load(l, err);
    }
    if (rc == SR_OK) {
        struct run_conf run = {.env = &l->world->env,
                               .plan = l->plan,
                               .store = l->store,
                               .restore = l->restore,
                               .lineage = l->lineage,
                               .workers = 1,
                               .is_newest = l->restore && !l->begins_from,
                               .on_loaded = life_let_go,
                               .ctx = l};
        l->history->restores += l->restore != NULL;
        world_trace(l->world, "restored", l->restore ? l->restore->checkpoint : 0, l->lineage);
        rc = supervise_new(&l->job_run, &run, err);
    }
    return rc;
}

/* --- Stepping --------------------------------------------------------------------------------- */

static void life_set_live(struct life *l, const struct crew *c, uint32_t region, bool is_live)
{
    for (uint32_t i = 0; i < c->tasks; i++) {
        uint64_t bit = UINT64_C(1) << i;
        if (crew_is_of(c, i, region)) {
            l->live = is_live ? l->live | bit : l->live & ~bit;
            l->wake_us[i] = INT64_MAX;
        }
    }
}

static sr_rc life_sched_start(struct sched *s, struct crew *c, uint32_t region,
                              struct sr_error *err)
{
    struct life *l = s->ctx;
    (void)err;
    sr_assert(c->tasks <= LIFE_ASLEEP_MAX);
    l->crew = c;
    l->asleep = 0;
    life_set_live(l, c, region, true);
    return SR_OK;
}

static void life_sched_stop(struct sched *s, struct crew *c, uint32_t region)
{
    struct life *l = s->ctx;
    if (region == CREW_ALL) {
        l->crew = NULL;
        l->live = 0;
    } else {
        life_set_live(l, c, region, false);
    }
}

static void life_sched_wake(struct sched *s) { ((struct life *)s->ctx)->asleep = 0; }

static int64_t life_earliest(const struct task_waits *waits)
{
    int64_t until = INT64_MAX;
    for (uint32_t i = 0; i < waits->count; i++) {
        until = waits->wait[i].until_us < until ? waits->wait[i].until_us : until;
    }
    return until;
}

static void life_step_task(struct life *l, uint32_t i)
{
    struct world *w = l->world;
    struct task_waits waits = {.count = 0};
    enum task_did did = task_step(&l->crew->task[i], w->now_us, &waits);
    world_trace(w, "task", i, did);
    if (did == TASK_DID) {
        l->asleep = 0;
    } else {
        l->asleep |= UINT64_C(1) << i;
        l->wake_us[i] = did == TASK_NOTHING ? life_earliest(&waits) : INT64_MAX;
    }
}

/* True: the job has ended. */
static bool life_step_supervisor(struct life *l)
{
    int64_t due_us = INT64_MAX;
    bool is_over = supervise_step(l->job_run, &due_us);
    world_trace(l->world, "supervisor", is_over, 0);
    l->wake_us[LIFE_ASLEEP_MAX] = due_us;
    return is_over;
}

/* Nobody has anything to do: time passes, up to the first wait that is over. False: none. */
static bool life_sleep(struct life *l)
{
    struct world *w = l->world;
    int64_t until = l->wake_us[LIFE_ASLEEP_MAX];
    for (uint32_t i = 0; l->crew && i < l->crew->tasks; i++) {
        until = l->wake_us[i] < until ? l->wake_us[i] : until;
    }
    if (until == INT64_MAX) {
        return false;
    }
    w->now_us = until > w->now_us ? until : w->now_us + 1;
    l->asleep = 0;
    return true;
}

static void life_ask(struct life *l)
{
    struct world *w = l->world;
    world_trace(w, "ask", l->ask, 0);
    switch (l->ask) {
    case LIFE_ASK_SUSPEND:
        supervise_ask(l->job_run, RUN_ASK_SUSPEND);
        break;
    case LIFE_ASK_STOP:
    case LIFE_ASK_SAVEPOINT:
        (void)snprintf(l->request.dir, sizeof(l->request.dir), "/sp");
        l->request.is_stop = l->ask == LIFE_ASK_STOP;
        supervise_request(l->job_run, &l->request);
        break;
    }
}

static bool life_all_asleep(const struct life *l) { return (l->live & ~l->asleep) == 0; }

/* Steps it, unless it is of a region that is down, or passed over. */
static void life_meet_task(struct life *l, uint32_t who)
{
    if ((l->live >> who & 1) == 0) {
        return;
    }
    bool is_passed_over = (l->lazy >> who & 1) != 0 && world_below(l->world, 8) > 0;
    if (!is_passed_over) {
        life_step_task(l, who);
    }
}

/* Somebody sets the wall clock, or sets it right. */
static void life_set_clock(struct world *w)
{
    static const int64_t by_us[] = {1000000, 3600000000, 86400000000, INT64_C(31557600000000)};
    if (!w->scene.sets_clock || world_below(w, 400) > 0) {
        return;
    }
    int64_t off_us = by_us[world_below(w, 4)] * (int64_t)(1 + world_below(w, 9));
    switch (w->is_calm ? 0 : world_below(w, 3)) {
    case 0:
        w->wall_off_us = 0;
        break;
    case 1:
        w->wall_off_us += off_us;
        break;
    default:
        w->wall_off_us -= off_us;
    }
    world_trace(w, "clock", (uint64_t)w->wall_off_us, 0);
}

/* Steps whoever, until the job has ended (true), the process is dead or broken, or `until`. */
static bool life_run(struct life *l, uint64_t until)
{
    struct world *w = l->world;
    while (!world_is_dead(w) && !world_has_failed && l->steps < until) {
        if (++l->steps > LIFE_STEPS_MAX || w->now_us > LIFE_TIME_MAX) {
            world_fail(w, "the job does not get on: %llu steps in this life",
                       (unsigned long long)l->steps);
        }
        if (l->steps == l->die_step) {
            world_die(w, "killed");
        }
        if (l->steps == l->ask_step) {
            life_ask(l);
        }
        w->now_us += world_below(w, 40);
        disk_set_time(w->disk, w->now_us);
        life_set_clock(w);
        uint32_t tasks = l->crew ? l->crew->tasks : 0;
        uint32_t who = world_below(w, tasks + 1);
        if (who < tasks) {
            life_meet_task(l, who);
            continue;
        }
        if (life_step_supervisor(l)) {
            return true;
        }
        if (life_all_asleep(l) && !life_sleep(l)) {
            world_fail(w, "nothing will ever happen again");
        }
    }
    return false;
}

/* --- A life ----------------------------------------------------------------------------------- */

#define LIFE_MIDDLE 800u /* steps: about half a life of a small job */

/* Points that only jobs with a decider come to. */
static bool life_is_decided(const char *point)
{
    static const char *const decided[] = {"store: pending made complete", "store: pending dropped",
                                          "run: pending was published", "run: decided",
                                          "run: settled what was pending"};
    for (size_t i = 0; i < sizeof(decided) / sizeof(decided[0]); i++) {
        if (strcmp(point, decided[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Can a process in this scene come to the point? */
static bool life_can_reach(const struct scene *s, const char *point)
{
    static const char *const directory[] = {"store: older attempts sealed",
                                            "store: build directory made",
                                            "store: data written",
                                            "store: data synced",
                                            "store: metadata synced",
                                            "store: build directory synced",
                                            "store: renamed",
                                            "store: moved to trash",
                                            "store: trash synced",
                                            "store: trash removed"};
    static const char *const sqlite[] = {"store: transaction begun", "store: rows inserted",
                                         "store: transaction committed"};
    if (life_is_decided(point)) {
        return s->sink == SCENE_LEDGER;
    }
    for (size_t i = 0; i < sizeof(directory) / sizeof(directory[0]); i++) {
        if (strcmp(point, directory[i]) == 0) {
            return !s->has_sqlite_store;
        }
    }
    for (size_t i = 0; i < sizeof(sqlite) / sizeof(sqlite[0]); i++) {
        if (strcmp(point, sqlite[i]) == 0) {
            return s->has_sqlite_store;
        }
    }
    return true;
}

/* Dies at a named point; what leads there is asked for. */
static void life_doom_at_point(struct life *l)
{
    struct world *w = l->world;
    bool is_late = w->scene.sink == SCENE_LEDGER && world_below(w, 2) == 0;
    do {
        w->die_at = world_below(w, world_points_known);
    } while (!life_can_reach(&w->scene, world_points[w->die_at].name) ||
             (is_late && !life_is_decided(world_points[w->die_at].name)));
    const char *name = world_points[w->die_at].name;
    if (strncmp(name, "store: savepoint", 16) == 0) {
        l->ask = world_below(w, 2) == 0 ? LIFE_ASK_SAVEPOINT : LIFE_ASK_STOP;
        l->ask_step = 1 + world_below(w, LIFE_MIDDLE);
    } else if (strcmp(name, "store: end marked") == 0) {
        l->ask = LIFE_ASK_SUSPEND;
        l->ask_step = 1 + world_below(w, LIFE_MIDDLE);
    } else if (strcmp(name, "run: before a restart") == 0) {
        w->scene.source_ppm = w->scene.source_ppm > 0 ? w->scene.source_ppm : 20000;
    } else if (strcmp(name, "store: pending dropped") == 0) {
        w->scene.remote_ppm = 800000; /* so that there is something to drop */
    } else if (strcmp(name, "store: moved to trash") == 0) {
        w->scene.interval_ms = 10; /* so that there is something to throw away */
        w->scene.retained = 1;
    } else {
        w->die_skip = world_below(w, 1 + world_below(w, 4));
    }
}

/* How, if at all, this life is to be cut short. */
static void life_doom(struct life *l)
{
    struct world *w = l->world;
    w->die_at = WORLD_POINTS_MAX;
    if (w->is_calm) {
        return;
    }
    switch (world_below(w, 8)) {
    case 0:
    case 1:
        l->die_step = 1 + world_below(w, 2 * LIFE_MIDDLE);
        break;
    case 2:
        disk_crash_in(w->disk, world_below(w, 200),
                      w->scene.loses_power ? DISK_POWER_LOSS : DISK_KILL);
        break;
    case 3:
    case 4:
        l->ask = (enum life_ask)world_below(w, 3);
        l->ask_step = 1 + world_below(w, 2 * LIFE_MIDDLE);
        break;
    default:
        life_doom_at_point(l);
    }
}

/* As the command line does it. */
static void life_mark(struct life *l, enum manifest_end end)
{
    if (l->world->is_zombie) {
        return;
    }
    struct sr_error ignored;
    (void)store_mark_end(l->store, end, &ignored);
}

/* As the command line does it when retention says so. */
static void life_retire(struct life *l)
{
    struct manifest *m = NULL;
    struct sr_error err;
    if (!l->world->scene.deletes_at_end || l->world->is_zombie ||
        store_delete(l->store, l->lineage, 0, &err) != SR_OK) {
        return;
    }
    if (store_load_newest(l->store, l->arena, &m, &err) == SR_OK) {
        world_fail(l->world, "checkpoint %llu is the newest behind the deletion of its lineage",
                   (unsigned long long)m->checkpoint);
    }
}

static void life_count_late(struct life *l)
{
    struct run_status status;
    supervise_status(l->job_run, l->arena, &status);
    l->history->late = 0;
    for (uint32_t i = 0; i < status.nodes; i++) {
        l->history->late += status.node[i].late;
    }
}

/* A new attempt whose commit failed may be in the store all the same: it then fences the process
 * that asked for it, which stops, and the next one recovers. */
static bool life_may_fence_itself(const struct world *w)
{
    return !w->is_calm && (w->scene.disk_ppm > 0 || w->scene.sync_ppm > 0);
}

/* What an end means, when nobody died. */
static enum life_end life_judge(struct life *l, enum run_end end, const struct sr_error *err)
{
    struct world *w = l->world;
    world_trace(w, "ended", end, err->rc);
    switch (end) {
    case RUN_FINISHED:
        life_mark(l, MANIFEST_FINISHED);
        life_count_late(l);
        life_retire(l);
        return LIFE_FINISHED;
    case RUN_STOPPED:
        life_mark(l, MANIFEST_STOPPED);
        if (w->scene.begins_from_savepoint && !w->is_zombie) {
            (void)snprintf(l->history->savepoint, LIFE_PATH_MAX, "%.*s", (int)LIFE_PATH_MAX - 1,
                           l->request.path);
            life_retire(l);
        }
        return LIFE_STOPPED;
    case RUN_SUSPENDED:
        life_mark(l, MANIFEST_SUSPENDED);
        return LIFE_SUSPENDED;
    case RUN_UNSAVED:
    case RUN_FAILED:
        if (w->is_zombie) {
            return LIFE_GAVE_UP; /* whatever it stumbled over: another one has taken its place */
        }
        if (err->rc == SR_ECORRUPT && world_has_rot(w)) {
            return LIFE_ROTTEN;
        }
        if (err->rc == SR_ECORRUPT && w->is_incurable) {
            return LIFE_INCURABLE;
        }
        if (err->rc == SR_EFENCED && life_may_fence_itself(w)) {
            return LIFE_GAVE_UP;
        }
        if (err->rc == SR_ECORRUPT || err->rc == SR_EMISFIT || err->rc == SR_EFENCED ||
            w->is_calm) {
            world_fail(w, "the job failed: %s", err->words);
            return LIFE_BROKEN;
        }
        return LIFE_GAVE_UP;
    case RUN_CANCELED:
    case RUN_CLOSED:
        break;
    }
    world_fail(w, "the job ended in a way that nobody asked for: %d", (int)end);
    return LIFE_BROKEN;
}

/* What it means that the store or the job could not be opened. */
static enum life_end life_judge_opening(struct life *l)
{
    struct world *w = l->world;
    if (world_is_dead(w)) {
        return LIFE_DIED;
    }
    if (world_has_rot(w)) {
        return LIFE_ROTTEN; /* whatever it takes the bad byte for */
    }
    if (l->opened == SR_ECORRUPT && w->is_incurable) {
        return LIFE_INCURABLE;
    }
    if (l->opened == SR_ECORRUPT || l->opened == SR_EFENCED || l->opened == SR_EBUSY ||
        w->is_calm) {
        world_fail(w, "the job cannot be opened: %s", l->error.words);
        return LIFE_BROKEN;
    }
    return LIFE_GAVE_UP;
}

struct life *life_begin(struct world *w, uint32_t parallelism, struct history *h)
{
    struct life *l = calloc(1, sizeof(*l));
    l->world = w;
    l->history = h;
    l->arena = arena_new();
    l->sched = (struct sched){
        .ctx = l, .start = life_sched_start, .stop = life_sched_stop, .wake = life_sched_wake};
    world_trace(w, "born", parallelism, w->is_calm);
    life_register(l);
    life_doom(l);
    l->lazy = world_below(w, 2) == 0 ? world_random(w) & world_random(w) : 0;
    if (life_plan(l, parallelism)) {
        l->opened = life_open(l, &l->error);
        if (l->opened == SR_OK) {
            supervise_begin(l->job_run, &l->sched);
        }
    }
    return l;
}

enum life_end life_go_on(struct life *l, uint64_t steps)
{
    struct world *w = l->world;
    if (world_has_failed) {
        return LIFE_BROKEN;
    }
    if (l->opened != SR_OK) {
        return life_judge_opening(l);
    }
    uint64_t until = steps < UINT64_MAX - l->steps ? l->steps + steps : UINT64_MAX;
    bool is_over = life_run(l, until);
    if (world_has_failed) {
        return LIFE_BROKEN;
    }
    if (world_is_dead(w)) {
        return LIFE_DIED;
    }
    if (!is_over) {
        return LIFE_GOES_ON;
    }
    struct sr_error err = {0};
    enum life_end end = life_judge(l, supervise_end(l->job_run, &err), &err);
    return world_is_dead(w) && end != LIFE_BROKEN && end != LIFE_FINISHED ? LIFE_DIED : end;
}

void life_close(struct life *l)
{
    struct world *w = l->world;
    if (atomic_load(&l->request.is_done) && l->request.rc == SR_OK && *l->request.path) {
        life_keep(l->history, l->request.path);
    }
    supervise_free(l->job_run);
    store_close(l->store);
    registry_free(l->registry);
    arena_free(l->arena);
    free(l);
    w->die_at = WORLD_POINTS_MAX;
}

enum life_end life_live(struct world *w, uint32_t parallelism, struct history *h)
{
    struct life *l = life_begin(w, parallelism, h);
    enum life_end end = life_go_on(l, UINT64_MAX);
    life_close(l);
    return end;
}
