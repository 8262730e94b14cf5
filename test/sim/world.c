#include "test/sim/world.h"

#include <sqlite3.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/hash.h"
#include "engine/ckpt/store.h"
#include "engine/run/sched.h"

struct world *world_now;
struct world_point world_points[WORLD_POINTS_MAX];
uint32_t world_points_known;
bool world_has_failed;

/* --- Randomness ------------------------------------------------------------------------------- */

uint64_t world_random(struct world *w)
{
    w->random += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = w->random;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint32_t world_below(struct world *w, uint32_t n) { return (uint32_t)(world_random(w) >> 32) % n; }

bool world_chance(struct world *w, uint32_t ppm)
{
    if (w->is_calm || ppm == 0) {
        return false;
    }
    bool is_hit = world_below(w, 1000000) < ppm;
    w->failures += is_hit;
    return is_hit;
}

/* --- What is told ----------------------------------------------------------------------------- */

void world_trace(struct world *w, const char *what, uint64_t a, uint64_t b)
{
    uint64_t item[4] = {w->trace, (uint64_t)w->now_us, a, b};
    w->trace = hash64(item, sizeof(item), hash64(what, strlen(what), 1));
    if (w->is_loud) {
        printf("%10lld %-24s %llu %llu\n", (long long)w->now_us, what, (unsigned long long)a,
               (unsigned long long)b);
    }
}

void world_fail(struct world *w, const char *fmt, ...)
{
    if (world_has_failed) {
        return; /* the first one counts */
    }
    world_has_failed = true;
    va_list args;
    va_start(args, fmt);
    printf("\nFAILED ");
    scene_print(&w->scene, stdout);
    printf("  at %lld us: ", (long long)w->now_us);
    vprintf(fmt, args);
    printf("\n");
    va_end(args);
    for (uint32_t i = 0; i < 16; i++) {
        char *line = w->last_log[(w->logs + i) % 16];
        if (line) {
            printf("    %s\n", line);
        }
    }
    (void)fflush(stdout);
}

static void world_log(const struct env *e, enum sr_level level, const char *who, const char *line)
{
    struct world *w = e->ctx;
    char **place = &w->last_log[w->logs++ % 16];
    size_t size = strlen(who) + strlen(line) + 40;
    free(*place);
    *place = malloc(size);
    (void)snprintf(*place, size, "%lld %d %s: %s", (long long)w->now_us, (int)level, who, line);
    if (w->is_loud) {
        printf("           %s\n", *place);
    }
}

/* --- Dying ------------------------------------------------------------------------------------ */

bool world_is_dead(const struct world *w) { return disk_is_off(w->disk); }

void world_die(struct world *w, const char *where)
{
    if (world_is_dead(w)) {
        return;
    }
    bool is_power = w->scene.loses_power && world_below(w, 4) > 0;
    world_trace(w, where, is_power, 0);
    disk_crash(w->disk, is_power ? DISK_POWER_LOSS : DISK_KILL);
}

void world_restart(struct world *w)
{
    disk_crash_never(w->disk);
    if (world_is_dead(w)) {
        disk_restart(w->disk, DISK_BY_SEED);
    }
}

static struct world_point *world_point(const char *name)
{
    for (uint32_t i = 0; i < world_points_known; i++) {
        if (strcmp(world_points[i].name, name) == 0) {
            return &world_points[i];
        }
    }
    if (world_points_known == WORLD_POINTS_MAX) {
        abort();
    }
    world_points[world_points_known] = (struct world_point){.name = name};
    return &world_points[world_points_known++];
}

static void world_crash_point(const struct env *e, const char *name)
{
    struct world *w = e->ctx;
    struct world_point *p = world_point(name);
    if (world_is_dead(w)) {
        return;
    }
    if (w->is_zombie && strcmp(name, "run: after publish") == 0) {
        world_fail(w, "a process that was replaced has published a checkpoint");
    }
    p->reached++;
    bool is_it = w->die_at < WORLD_POINTS_MAX && &world_points[w->die_at] == p;
    if (is_it && w->die_skip-- == 0) {
        p->died++;
        w->die_at = WORLD_POINTS_MAX;
        world_die(w, name);
    }
}

/* --- Rot -------------------------------------------------------------------------------------- */

/* The n-th regular file under a path, as the process sees them; answers how many there are. */
static uint32_t world_find_file(struct world *w, const char *dir, uint32_t n, char out[1024])
{
    const struct sr_files *f = disk_files(w->disk);
    char pending[16][1024];
    uint32_t pendings = 1;
    uint32_t found = 0;
    (void)snprintf(pending[0], sizeof(pending[0]), "%s", dir);
    while (pendings > 0) {
        char here[1024], path[2048];
        char **names = NULL;
        struct sr_error err;
        memcpy(here, pending[--pendings], sizeof(here));
        if (f->list(f, here, &names, &err) != SR_OK) {
            continue;
        }
        for (char **name = names; *name; name++) {
            struct sr_stat stat;
            (void)snprintf(path, sizeof(path), "%s/%s", here, *name);
            if (strlen(path) >= 1024 || f->stat(f, path, &stat, &err) != SR_OK) {
                continue;
            }
            if (stat.kind == SR_FILE_DIRECTORY && pendings < 16) {
                memcpy(pending[pendings++], path, 1024);
            } else if (stat.kind == SR_FILE_REGULAR && stat.size_bytes > 0) {
                if (found++ == n) {
                    memcpy(out, path, 1024);
                }
            }
        }
        f->names_free(f, names);
    }
    return found;
}

#define WORLD_AROUND 8u
#define WORLD_PAGE   4096u /* of SQLite */

static void world_look_around(const uint8_t *bytes, uint64_t size, struct rot *rot)
{
    uint64_t from = rot->at < WORLD_AROUND ? 0 : rot->at - WORLD_AROUND;
    uint64_t to = size - rot->at <= WORLD_AROUND ? size : rot->at + WORLD_AROUND + 1;
    rot->before = hash64(bytes + from, rot->at - from, 1);
    rot->behind = hash64(bytes + rot->at + 1, to - rot->at - 1, 2);
}

static uint64_t world_page(const uint8_t *bytes, uint64_t size, uint64_t at)
{
    uint64_t from = at - at % WORLD_PAGE;
    return hash64(bytes + from, size - from < WORLD_PAGE ? size - from : WORLD_PAGE, 3);
}

/* Is it the byte that went bad, and not one that was written since and is like it? */
static bool world_is_rot(const uint8_t *bytes, uint64_t size, const struct rot *rot)
{
    struct rot now = *rot;
    world_look_around(bytes, size, &now);
    return now.before == rot->before || now.behind == rot->behind;
}

/* Puts `byte` where `is` stands. Nothing happens when something else stands there by now. */
static void world_set_byte(struct world *w, const struct rot *rot, uint8_t is, uint8_t byte)
{
    uint64_t size = 0;
    const uint8_t *now = disk_bytes(w->disk, rot->path, &size);
    if (!now || rot->at >= size || now[rot->at] != is || !world_is_rot(now, size, rot)) {
        return;
    }
    uint8_t *copy = malloc(size);
    memcpy(copy, now, size);
    copy[rot->at] = byte;
    (void)disk_put(w->disk, rot->path, copy, size);
    free(copy);
}

bool world_has_rot(const struct world *w) { return w->rots > 0; }

/* A place that holds something: most of a SQLite file's bytes are zeros that nobody reads. */
static uint64_t world_rot_place(struct world *w, const uint8_t *bytes, uint64_t size)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < 20; i++) {
        at = world_random(w) % size;
        if (bytes[at] != 0) {
            break;
        }
    }
    return at;
}

/* Only in what checkpoints consist of or refer to: nobody promises to find out about the rest. The
 * simulator's own sinks have no digests. */
static bool world_is_kept(const char *path)
{
    const char *name = strrchr(path, '/');
    if (!name || strncmp(name, "/.staged-", 9) == 0 || strncmp(name, "/remote-", 8) == 0) {
        return false;
    }
    bool is_hidden = name[1] == '.' && strncmp(path, "/ck", 3) != 0;
    bool is_redo = strstr(path, "redo/") != NULL;
    return is_hidden || is_redo || strcmp(name, "/_metadata") == 0 || strcmp(name, "/state") == 0 ||
           strcmp(name, "/store.db") == 0;
}

void world_rot(struct world *w)
{
    static const char *const roots[] = {"/ck", "/ck", "/out", "/twin"};
    struct rot rot = {.path = ""};
    const char *root = roots[world_below(w, 4)];
    uint32_t files = world_find_file(w, root, UINT32_MAX, rot.path);
    if (files == 0 || w->rots == WORLD_ROTS_MAX) {
        return;
    }
    for (uint32_t i = 0; i < 20 && !world_is_kept(rot.path); i++) {
        (void)world_find_file(w, root, world_below(w, files), rot.path);
    }
    uint64_t size = 0;
    const uint8_t *bytes = disk_bytes(w->disk, rot.path, &size);
    if (!world_is_kept(rot.path) || !bytes || size == 0) {
        return;
    }
    rot.at = world_rot_place(w, bytes, size);
    world_look_around(bytes, size, &rot);
    rot.good = bytes[rot.at];
    rot.bad = rot.good ^ (uint8_t)(1u << world_below(w, 8));
    world_set_byte(w, &rot, rot.good, rot.bad);
    bytes = disk_bytes(w->disk, rot.path, &size);
    rot.page = world_page(bytes, size, rot.at);
    world_trace(w, rot.path, rot.at, rot.bad);
    w->rot[w->rots++] = rot;
}

/* What a journal holds of a page may hold the bad byte too: it is rolled back first. */
static void world_roll_back(void)
{
    sqlite3 *db = NULL;
    if (sqlite3_open_v2("/ck/store.db", &db, SQLITE_OPEN_READWRITE, "sim") == SQLITE_OK) {
        (void)sqlite3_exec(db, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
    }
    (void)sqlite3_close(db);
}

/* Rows are moved within their pages, and to others, when what is beside them goes. */
static bool world_is_curable(const struct world *w, const struct rot *rot)
{
    uint64_t size = 0;
    const uint8_t *now = disk_bytes(w->disk, rot->path, &size);
    return strcmp(rot->path, "/ck/store.db") != 0 || !now || rot->at >= size ||
           world_page(now, size, rot->at) == rot->page;
}

void world_heal(struct world *w)
{
    uint64_t size = 0;
    if (disk_bytes(w->disk, "/ck/store.db-journal", &size) && size > 0) {
        world_set_faults(w, true);
        world_roll_back();
    }
    while (w->rots > 0) {
        const struct rot *rot = &w->rot[--w->rots];
        w->is_incurable = w->is_incurable || !world_is_curable(w, rot);
        world_set_byte(w, rot, rot->bad, rot->good);
        world_trace(w, "healed", rot->at, 0);
    }
}

/* --- The env ---------------------------------------------------------------------------------- */

static int64_t world_mono(const struct env *e) { return ((const struct world *)e->ctx)->now_us; }

static int64_t world_wall(const struct env *e)
{
    const struct world *w = e->ctx;
    return w->now_us + w->wall_off_us + INT64_C(1700000000000000);
}

static uint64_t world_env_random(const struct env *e) { return world_random(e->ctx); }

static void world_know_points(void)
{
#define WORLD_KNOW(name) (void)world_point(name);
    RUN_CRASH_POINTS(WORLD_KNOW)
#undef WORLD_KNOW
    for (int i = 0; i < STORE_POINT_COUNT; i++) {
        (void)world_point(store_point_name((enum store_point)i));
    }
}

void world_set_faults(struct world *w, bool is_calm)
{
    const struct scene *s = &w->scene;
    struct disk_chances none = {0};
    struct disk_chances some = {
        .eio_ppm = s->disk_ppm, .enospc_ppm = s->space_ppm, .sync_ppm = s->sync_ppm};
    w->is_calm = is_calm;
    disk_set_chances(w->disk, is_calm ? &none : &some);
}

void world_open(struct world *w, const struct scene *s)
{
    bool is_loud = w->is_loud;
    *w = (struct world){.scene = *s, .random = s->seed * UINT64_C(0x2545f4914f6cdd1d) + 1};
    w->is_loud = is_loud;
    w->disk = disk_new(world_random(w));
    w->vfs = sqlite_vfs_new("sim", w->disk);
    w->die_at = WORLD_POINTS_MAX;
    w->env = (struct env){.ctx = w,
                          .files = disk_files(w->disk),
                          .sqlite_vfs = "sim",
                          .wall_us = world_wall,
                          .mono_us = world_mono,
                          .random = world_env_random,
                          .log = world_log,
                          .crash_point = world_crash_point};
    world_now = w;
    world_know_points();
}

void world_close(struct world *w)
{
    sqlite_vfs_free(w->vfs);
    disk_free(w->disk);
    for (uint32_t i = 0; i < w->remote.rows; i++) {
        free(w->remote.row[i]);
    }
    free(w->remote.row);
    target_done(&w->target);
    free(w->remote.applied);
    for (uint32_t i = 0; i < 16; i++) {
        free(w->last_log[i]);
    }
    world_now = NULL;
}
