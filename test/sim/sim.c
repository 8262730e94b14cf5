/* The simulator: sim FIRST COUNT [--trace]
 *
 * Plays COUNT seeds from FIRST on. A seed is a job, its input and a few lives of its process, of
 * which all but the last are disturbed: crashes at any step, at any change of the disk or at a
 * named point, failing connectors and disks, bytes that go bad, suspensions, savepoints, another
 * parallelism. The engine is the real one; clock, disk, randomness and scheduler are the seed's. At
 * the end the output must be what an undisturbed run gives. One seed in twenty is played twice, and
 * must leave the same trace.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/ckpt/store.h"
#include "test/sim/checker.h"

struct totals {
    uint64_t seeds, failed, deaths, suspensions, stops, restores, rots, faults, claims, seizures;
    uint64_t incurable;
    uint64_t trace;
};

static void sim_write_input(struct world *w)
{
    const struct scene *s = &w->scene;
    for (uint32_t split = 0; s->source == SCENE_FROM_FILES && split < s->splits; split++) {
        char *text = malloc((size_t)s->rows * 100 + 1);
        char path[64];
        size_t len = 0;
        for (uint32_t i = 0; i < s->rows; i++) {
            struct scene_row r = scene_row(s, split, i);
            len += (size_t)sprintf(text + len,
                                   "%lld,%lld,%lld,%lld,%lld,1970-01-01 00:%02lld:%02lld.%03lld\n",
                                   (long long)r.split, (long long)r.seq, (long long)r.k,
                                   (long long)r.v, (long long)r.at_ms, (long long)r.at_ms / 60000,
                                   (long long)r.at_ms / 1000 % 60, (long long)r.at_ms % 1000);
        }
        (void)snprintf(path, sizeof(path), "/in/%u.csv", split);
        (void)disk_put(w->disk, path, text, len);
        free(text);
    }
}

static void sim_make_dirs(struct world *w)
{
    static const char *const dirs[] = {"/in", "/out", "/twin", "/ck", "/sp", "/run"};
    const struct sr_files *f = disk_files(w->disk);
    struct sr_error err;
    for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
        (void)f->make_dir(f, dirs[i], &err);
    }
    (void)f->sync_dir(f, "/", &err);
}

/* A process is stopped, taken for dead, and replaced by one that stood by and seizes its lock, or
 * to whom a broken lock service has given it away; then it wakes. Answers how its successor ends.
 */
static enum life_end sim_haunted(struct world *w, uint32_t i, struct history *h)
{
    const struct scene scene = w->scene;
    const struct scene *s = &scene;
    struct history ignored = *h;
    struct life *old = life_begin(w, s->parallelism[i], &ignored);
    /* While its target decides, and who takes its place has not come to the target yet. */
    bool is_early = s->sink == SCENE_LEDGER && world_below(w, 2) == 0;
    uint64_t steps = 1 + world_below(w, 800);
    enum life_end end = LIFE_GOES_ON;
    while (end == LIFE_GOES_ON && steps > 0 && !(is_early && w->is_deciding)) {
        end = life_go_on(old, is_early ? 1 : steps);
        steps -= is_early ? 1 : steps;
    }
    if (end != LIFE_GOES_ON) {
        life_close(old);
        *h = ignored;
        return end;
    }
    *h = ignored; /* so far it was the one that counts */
    world_trace(w, "frozen", 0, 0);
    w->seizes = world_below(w, 2) == 0;
    if (!w->seizes) {
        disk_break_locks(w->disk);
    }
    struct life *new = life_begin(w, s->parallelism[i], h);
    w->seizes = false;
    end = life_go_on(new, is_early ? 0 : 1 + world_below(w, 800));
    if (end == LIFE_GOES_ON) {
        world_trace(w, "thawed", 0, 0);
        w->is_zombie = w->was_haunted = true;
        w->scene.source_ppm += 50000; /* it fails, and would start again */
        (void)life_go_on(old, 1 + world_below(w, 3000));
        w->is_zombie = false;
        w->scene.source_ppm = s->source_ppm;
    }
    life_close(old);
    if (end == LIFE_GOES_ON) {
        end = life_go_on(new, UINT64_MAX);
    }
    life_close(new);
    return end;
}

/* Savepoints that nobody has claimed are there as they were. */
static void sim_check_savepoints(struct world *w, const struct history *h)
{
    for (uint32_t i = 0; i < h->kepts && !world_has_failed; i++) {
        struct arena *a = arena_new();
        struct manifest *m = NULL;
        struct sr_error err;
        if (store_load(&w->env, h->kept[i], a, &m, &err) != SR_OK) {
            world_fail(w, "the savepoint %s, which nobody claimed: %s", h->kept[i], err.words);
        }
        arena_free(a);
    }
}

static bool sim_is_last(enum life_end end)
{
    return end == LIFE_FINISHED || end == LIFE_BROKEN || end == LIFE_INCURABLE;
}

/* Answers the hash of all that happened. */
static uint64_t sim_play(uint64_t seed, bool is_loud, struct totals *t)
{
    struct scene scene = scene_of(seed);
    struct world w = {.is_loud = is_loud};
    struct history h = {.late = 0};
    enum life_end end = LIFE_DIED;
    world_open(&w, &scene);
    if (is_loud) {
        scene_print(&scene, stdout);
    }
    sim_make_dirs(&w);
    sim_write_input(&w);
    for (uint32_t i = 0; i <= scene.lives && !sim_is_last(end);) {
        world_set_faults(&w, i == scene.lives);
        end = i < scene.lives && world_below(&w, 8) == 0 ? sim_haunted(&w, i, &h)
                                                         : life_live(&w, scene.parallelism[i], &h);
        world_restart(&w);
        if (is_loud) {
            disk_dump(w.disk, stdout);
        }
        h.deaths += end == LIFE_DIED;
        h.suspensions += end == LIFE_SUSPENDED;
        h.stops += end == LIFE_STOPPED;
        h.rots += end == LIFE_ROTTEN;
        w.now_us += 1 + world_below(&w, 1000000);
        if (end == LIFE_ROTTEN) {
            world_heal(&w); /* and the same life again */
        } else {
            i++;
        }
        if (i > 0 && i <= scene.lives && world_below(&w, 6) < (scene.is_rotting ? 5u : 1u)) {
            world_rot(&w);
        }
    }
    world_set_faults(&w, true);
    if (end == LIFE_FINISHED || end == LIFE_INCURABLE) {
        if (end == LIFE_FINISHED) {
            checker_check(&w, &h);
        }
        sim_check_savepoints(&w, &h);
    } else {
        world_fail(&w, "the last life did not finish the job");
    }
    world_trace(&w, "disk", disk_hash(w.disk), 0);
    t->deaths += h.deaths;
    t->suspensions += h.suspensions;
    t->stops += h.stops;
    t->restores += h.restores;
    t->rots += h.rots;
    t->incurable += end == LIFE_INCURABLE;
    t->claims += h.claims;
    t->seizures += h.seizures;
    t->faults += w.failures;
    uint64_t trace = w.trace;
    world_close(&w);
    return trace;
}

static void sim_seed(uint64_t seed, bool is_loud, struct totals *t)
{
    struct totals ignored = {0};
    world_has_failed = false;
    uint64_t trace = sim_play(seed, is_loud, t);
    t->seeds++;
    if (!world_has_failed && seed % 20 == 0 && sim_play(seed, false, &ignored) != trace) {
        world_has_failed = true;
        printf("\nFAILED seed %llu: played twice, it left two traces\n", (unsigned long long)seed);
    }
    t->failed += world_has_failed;
    t->trace ^= trace * (2 * seed + 1);
}

static void sim_report(const struct totals *t)
{
    printf("%-44s %10s %8s\n", "crash point", "reached", "died at");
    for (uint32_t i = 0; i < world_points_known; i++) {
        printf("%-44s %10llu %8llu\n", world_points[i].name,
               (unsigned long long)world_points[i].reached,
               (unsigned long long)world_points[i].died);
    }
    printf("%llu seeds, %llu deaths, %llu suspensions, %llu stops, %llu restores, %llu refused as "
           "damaged, %llu for good, %llu claims, %llu locks seized, %llu connector faults, trace "
           "%016llx\n",
           (unsigned long long)t->seeds, (unsigned long long)t->deaths,
           (unsigned long long)t->suspensions, (unsigned long long)t->stops,
           (unsigned long long)t->restores, (unsigned long long)t->rots,
           (unsigned long long)t->incurable, (unsigned long long)t->claims,
           (unsigned long long)t->seizures, (unsigned long long)t->faults,
           (unsigned long long)t->trace);
    printf("%llu passed, %llu failed\n", (unsigned long long)(t->seeds - t->failed),
           (unsigned long long)t->failed);
}

int main(int argc, char **argv)
{
    struct totals t = {0};
    if (argc < 3) {
        (void)fprintf(stderr, "usage: sim FIRST COUNT [--trace] [--first-failure]\n");
        return 2;
    }
    uint64_t first = strtoull(argv[1], NULL, 10);
    uint64_t count = strtoull(argv[2], NULL, 10);
    bool is_loud = false;
    bool stops_at_failure = false;
    for (int i = 3; i < argc; i++) {
        is_loud = is_loud || strcmp(argv[i], "--trace") == 0;
        stops_at_failure = stops_at_failure || strcmp(argv[i], "--first-failure") == 0;
    }
    for (uint64_t seed = first; seed < first + count; seed++) {
        sim_seed(seed, is_loud, &t);
        if (stops_at_failure && t.failed > 0) {
            break;
        }
    }
    sim_report(&t);
    return t.failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
