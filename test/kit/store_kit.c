#include "test/kit/store_kit.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/bytes.h"
#include "engine/ckpt/durable.h"

#define KIT_OK(rc) ck_assert_msg((rc) == SR_OK, "%s", w->err.words)

/* --- Worlds ----------------------------------------------------------------------------------- */

static struct store_world *world_of(const struct env *e) { return e->ctx; }

static int64_t world_clock(const struct env *e)
{
    struct store_world *w = world_of(e);
    w->random += 1000;
    return INT64_C(1700000000000000) + (int64_t)(w->random % 1000000000);
}

static uint64_t world_random(const struct env *e)
{
    struct store_world *w = world_of(e);
    w->random = w->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return w->random ^ w->random >> 31;
}

static void world_log(const struct env *e, enum sr_level level, const char *who, const char *line)
{
    (void)e;
    (void)level;
    (void)who;
    (void)line;
}

static void world_crash_point(const struct env *e, const char *name)
{
    struct store_world *w = world_of(e);
    for (unsigned p = 0; p < STORE_POINT_COUNT; p++) {
        if (strcmp(name, store_point_name((enum store_point)p)) != 0) {
            continue;
        }
        w->hits[p]++;
        if (w->disk && w->crash_point == (int32_t)p && !disk_is_off(w->disk)) {
            disk_crash(w->disk, w->crash_kind);
        }
        return;
    }
    ck_abort_msg("%s is no point of store.h", name);
}

static void world_place(struct store_world *w)
{
    static const char *const urls[] = {"file://%s/checkpoints", "sqlite://%s/db/store.db",
                                       "memory:"};
    static const char *const files[] = {"%s/checkpoints/" STORE_KIT_JOB, "%s/db/store.db", "%s"};
    (void)snprintf(w->url, sizeof(w->url), urls[w->form], w->root);
    (void)snprintf(w->file, sizeof(w->file), files[w->form], w->root);
    w->conf = (struct store_conf){.url = w->url,
                                  .job_id = STORE_KIT_JOB,
                                  .job_name = "kit",
                                  .retained = 2,
                                  .run_dir = w->root};
}

struct store_world *store_world_new(enum store_form form, bool is_simulated, uint64_t seed)
{
    struct store_world *w = calloc(1, sizeof(*w));
    ck_assert_ptr_nonnull(w);
    w->form = form;
    w->random = seed;
    w->crash_point = -1;
    w->arena = arena_new();
    w->env = env_posix(SR_LOG_ERROR);
    w->env.ctx = w;
    w->env.wall_us = world_clock;
    w->env.random = world_random;
    w->env.log = world_log;
    w->env.crash_point = world_crash_point;
    if (is_simulated) {
        w->disk = disk_new(seed);
        w->vfs = sqlite_vfs_new("sim", w->disk);
        w->env.files = disk_files(w->disk);
        w->env.sqlite_vfs = "sim";
        (void)snprintf(w->root, sizeof(w->root), "/root");
        ck_assert_int_eq(durable_make_dirs(&w->env, w->root, &w->err), SR_OK);
    } else {
        (void)snprintf(w->root, sizeof(w->root), "/tmp/streamrun-store-XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(w->root));
    }
    world_place(w);
    return w;
}

/* The tree is at most five levels deep; each pass empties the deepest ones. */
static void world_remove(const struct store_world *w)
{
    char command[128];
    (void)snprintf(command, sizeof(command), "rm -r '%s'", w->root);
    ck_assert_int_eq(system(command), 0);
}

void store_world_free(struct store_world *w)
{
    if (!w) {
        return;
    }
    if (!w->disk) {
        world_remove(w);
    }
    sqlite_vfs_free(w->vfs);
    disk_free(w->disk);
    arena_free(w->arena);
    free(w);
}

/* --- Checkpoints ------------------------------------------------------------------------------ */

#define KIT_PARTS 3u

/* Part i of checkpoint n: bytes that follow from both; part 1 is empty. */
static size_t kit_bytes(uint64_t number, uint32_t i, uint8_t out[64])
{
    size_t len = i == 1 ? 0 : 20 + (size_t)((number * 7 + i) % 40);
    for (size_t k = 0; k < len; k++) {
        out[k] = (uint8_t)(number * 31 + i * 17 + k);
    }
    return len;
}

struct kit_manifest {
    uint8_t bytes[KIT_PARTS][64];
    struct manifest_part part[KIT_PARTS];
    struct manifest_counter counter[2];
    struct manifest m;
};

/* Parts stand in another order than the manifest's, so that publishing must sort them. */
static void kit_fill(struct kit_manifest *k, uint64_t number, uint64_t lineage)
{
    static const char *const uids[KIT_PARTS] = {"window", "hits", "window"};
    static const uint32_t subtask[KIT_PARTS] = {1, 0, 0};
    for (uint32_t i = 0; i < KIT_PARTS; i++) {
        size_t len = kit_bytes(number, i, k->bytes[i]);
        k->part[i] = (struct manifest_part){.uid = uids[i],
                                            .name = "state",
                                            .part = subtask[i],
                                            .parts = 2,
                                            .bytes = k->bytes[i],
                                            .len = len};
    }
    /* A name that stands twice is the business of whoever counts. */
    k->counter[0] =
        (struct manifest_counter){.name = "out.written", .value = (int64_t)number * 100};
    k->counter[1] = (struct manifest_counter){.name = "out.written", .value = -1};
    k->m = (struct manifest){.checkpoint = number,
                             .lineage = lineage,
                             .started_us = INT64_C(1700000000000000),
                             .ended_us = INT64_C(1700000000500000) + (int64_t)number,
                             .description = "pipeline.name: kit\n",
                             .made_by = "streamrun kit",
                             .max_parallelism = 128,
                             .parts = KIT_PARTS,
                             .part = k->part,
                             .counters = 2,
                             .counter = k->counter};
}

sr_rc store_kit_publish(struct store_world *w, struct store *s, uint64_t number, uint64_t lineage)
{
    struct kit_manifest k;
    kit_fill(&k, number, lineage);
    return store_publish(s, &k.m, &w->err);
}

sr_rc store_kit_publish_pending(struct store_world *w, struct store *s, uint64_t number,
                                uint64_t lineage)
{
    struct kit_manifest k;
    kit_fill(&k, number, lineage);
    k.m.end = MANIFEST_PENDING;
    return store_publish(s, &k.m, &w->err);
}

sr_rc store_kit_savepoint(struct store_world *w, struct store *s, uint64_t number,
                          const char **path)
{
    struct kit_manifest k;
    char dir[96];
    (void)snprintf(dir, sizeof(dir), "%s/savepoints", w->root);
    kit_fill(&k, number, 1);
    return store_savepoint(s, dir, &k.m, w->arena, path, &w->err);
}

void store_kit_check(const struct manifest *m, uint64_t number, uint64_t lineage)
{
    ck_assert_uint_eq(m->checkpoint, number);
    ck_assert_uint_eq(m->lineage, lineage);
    ck_assert_str_eq(m->job_id, STORE_KIT_JOB);
    ck_assert_str_eq(m->job_name, "kit");
    ck_assert_str_eq(m->description, "pipeline.name: kit\n");
    ck_assert_uint_eq(m->parts, KIT_PARTS);
    ck_assert_uint_eq(m->counters, 2);
    ck_assert_int_eq(m->counter[0].value, (int64_t)number * 100);
    static const uint32_t order[KIT_PARTS] = {1, 2, 0}; /* hits/0, window/0, window/1 */
    for (uint32_t i = 0; i < KIT_PARTS; i++) {
        uint8_t bytes[64];
        size_t len = kit_bytes(number, order[i], bytes);
        ck_assert_uint_eq(m->part[i].len, len);
        ck_assert_ptr_nonnull(m->part[i].bytes);
        ck_assert_mem_eq(m->part[i].bytes, bytes, len);
    }
}

struct store *store_kit_open(struct store_world *w)
{
    struct store *s = NULL;
    KIT_OK(store_open(&s, &w->env, &w->conf, &w->err));
    return s;
}

uint64_t store_kit_newest(struct store_world *w, struct store *s)
{
    struct arena *a = arena_new();
    struct manifest *m = NULL;
    uint64_t number = 0;
    sr_rc rc = store_load_newest(s, a, &m, &w->err);
    if (rc != SR_EABSENT) {
        KIT_OK(rc);
        store_kit_check(m, m->checkpoint, m->lineage);
        number = m->checkpoint;
    }
    arena_free(a);
    return number;
}

static uint32_t kit_count(struct store_world *w)
{
    struct store_list list = {0};
    sr_rc rc = store_find(&w->env, w->url, w->arena, &list, &w->err);
    if (rc == SR_EABSENT) {
        return 0;
    }
    KIT_OK(rc);
    for (uint32_t i = 0; i < list.count; i++) {
        ck_assert_msg(!list.entry[i].damage, "%s", list.entry[i].damage);
    }
    return list.count;
}

/* --- Kits ------------------------------------------------------------------------------------- */

void store_kit_promise(struct store_world *w)
{
    bool is_durable = w->form != STORE_MEMORY;
    struct store *s = store_kit_open(w);
    ck_assert_int_eq(store_is_durable(s), is_durable);
    ck_assert_uint_eq(store_newest_id(s), 0);
    ck_assert_uint_eq(store_kit_newest(w, s), 0);
    uint64_t attempt = store_attempt(s);
    for (uint64_t n = 1; n <= 11; n++) {
        KIT_OK(store_kit_publish(w, s, n, 1));
        ck_assert_uint_eq(store_kit_newest(w, s), n);
        ck_assert_uint_eq(store_newest_id(s), n);
        KIT_OK(store_retain(s, 1, n, &w->err));
        ck_assert_uint_eq(store_kit_newest(w, s), n);
        if (is_durable) {
            ck_assert_uint_eq(kit_count(w), n < 2 ? n : 2);
        }
    }
    KIT_OK(store_next_attempt(s, &w->err));
    ck_assert_uint_gt(store_attempt(s), attempt);
    attempt = store_attempt(s);
    KIT_OK(store_kit_publish(w, s, 12, 1));
    ck_assert_uint_eq(store_kit_newest(w, s), 12);
    store_close(s);
    s = store_kit_open(w);
    ck_assert_uint_gt(store_attempt(s), attempt);
    ck_assert_uint_eq(store_kit_newest(w, s), is_durable ? 12 : 0);
    ck_assert_uint_eq(store_newest_id(s), is_durable ? 12 : 0);
    store_close(s);
}

void store_kit_lineages(struct store_world *w)
{
    struct store *s = store_kit_open(w);
    /* Lineages are names: the older one may be the higher number. */
    for (uint64_t n = 8; n <= 10; n++) {
        KIT_OK(store_kit_publish(w, s, n, UINT64_MAX));
    }
    KIT_OK(store_kit_publish(w, s, 11, 2));
    KIT_OK(store_retain(s, 2, 11, &w->err));
    ck_assert_uint_eq(kit_count(w), 4); /* retention counts its own lineage */
    ck_assert_uint_eq(store_kit_newest(w, s), 11);
    KIT_OK(store_kit_publish(w, s, 12, 2));
    KIT_OK(store_kit_publish(w, s, 13, 2));
    KIT_OK(store_retain(s, 2, 12, &w->err));
    ck_assert_uint_eq(kit_count(w), 6); /* 13 was not shown: it replaces none */
    KIT_OK(store_retain(s, 2, 13, &w->err));
    ck_assert_uint_eq(kit_count(w), 5);
    struct store_entry e = {0};
    KIT_OK(store_peek(&w->env, &w->conf, w->arena, &e, &w->err));
    ck_assert_uint_eq(e.checkpoint, 13);
    ck_assert_uint_eq(e.lineage, 2);
    store_close(s);
}

void store_kit_lock(struct store_world *w)
{
    struct store *s = store_kit_open(w);
    struct store *second = NULL;
    ck_assert_int_eq(store_open(&second, &w->env, &w->conf, &w->err), SR_EBUSY);
    ck_assert_msg(strstr(w->err.words, "kit") && strstr(w->err.words, "pid "), "%s", w->err.words);
    KIT_OK(store_kit_publish(w, s, 1, 1)); /* the refused one has fenced nobody */
    store_close(s);
    s = store_kit_open(w);
    store_close(s);
}

/* As on a file system whose locks do not hold, or when somebody removes the lock file. */
static void kit_break_lock(struct store_world *w)
{
    if (w->disk) {
        disk_break_locks(w->disk);
        return;
    }
    char path[192];
    (void)snprintf(path, sizeof(path), w->form == STORE_DIR ? "%s/LOCK" : "%s.lock", w->file);
    ck_assert_int_eq(unlink(path), 0);
}

void store_kit_fence(struct store_world *w)
{
    struct store *old = store_kit_open(w);
    KIT_OK(store_kit_publish(w, old, 1, 1));
    KIT_OK(store_kit_publish(w, old, 2, 1));
    KIT_OK(store_kit_publish(w, old, 3, 1));
    kit_break_lock(w);
    struct store *mine = store_kit_open(w);
    ck_assert_uint_gt(store_attempt(mine), store_attempt(old));
    ck_assert_int_eq(store_kit_publish(w, old, 4, 1), SR_EFENCED);
    ck_assert_int_eq(store_retain(old, 1, 3, &w->err), SR_EFENCED); /* dead for good */
    store_close(old);
    ck_assert_uint_eq(store_kit_newest(w, mine), 3);
    ck_assert_uint_eq(kit_count(w), 3);
    KIT_OK(store_kit_publish(w, mine, 4, 1));
    store_close(mine);

    old = store_kit_open(w);
    kit_break_lock(w);
    mine = store_kit_open(w);
    ck_assert_int_eq(store_retain(old, 1, 4, &w->err), SR_EFENCED);
    store_close(old);
    store_close(mine);

    old = store_kit_open(w);
    kit_break_lock(w);
    mine = store_kit_open(w);
    ck_assert_int_eq(store_mark_end(old, MANIFEST_STOPPED, &w->err), SR_EFENCED);
    store_close(old);
    ck_assert_uint_eq(kit_count(w), 4);
    store_close(mine);
}

void store_kit_end(struct store_world *w)
{
    struct store_entry e = {0};
    struct store *s = store_kit_open(w);
    ck_assert_int_eq(store_mark_end(s, MANIFEST_STOPPED, &w->err), SR_EABSENT);
    KIT_OK(store_kit_publish(w, s, 1, 1));
    KIT_OK(store_mark_end(s, MANIFEST_SUSPENDED, &w->err));
    KIT_OK(store_mark_end(s, MANIFEST_FINISHED, &w->err));
    KIT_OK(store_peek(&w->env, &w->conf, w->arena, &e, &w->err));
    ck_assert_int_eq(e.end, MANIFEST_FINISHED);
    ck_assert_ptr_null(e.damage);
    KIT_OK(store_kit_publish(w, s, 2, 1)); /* of a run that went on */
    KIT_OK(store_peek(&w->env, &w->conf, w->arena, &e, &w->err));
    ck_assert_uint_eq(e.checkpoint, 2);
    ck_assert_int_eq(e.end, MANIFEST_RUNNING);
    store_close(s);
}

void store_kit_savepoints(struct store_world *w)
{
    const char *path = NULL;
    struct manifest *m = NULL;
    struct store_list list = {0};
    struct store *s = store_kit_open(w);
    KIT_OK(store_kit_publish(w, s, 1, 1));
    KIT_OK(store_kit_savepoint(w, s, 2, &path));
    ck_assert_msg(strstr(path, "/savepoints/savepoint-012345-") != NULL, "%s", path);
    ck_assert_uint_eq(store_kit_newest(w, s), 1);
    KIT_OK(store_kit_publish(w, s, 2, 1)); /* its number is used, but for its own checkpoint */
    ck_assert_int_eq(store_kit_publish(w, s, 2, 1), SR_EEXISTS);
    ck_assert_uint_eq(store_kit_newest(w, s), 2);
    KIT_OK(store_kit_savepoint(w, s, 3, &path));
    KIT_OK(store_kit_publish(w, s, 4, 1));
    ck_assert_int_eq(store_kit_publish(w, s, 3, 1), SR_EEXISTS);
    KIT_OK(store_kit_savepoint(w, s, 5, &path));
    KIT_OK(store_load(&w->env, path, w->arena, &m, &w->err));
    store_kit_check(m, 5, 1);
    ck_assert_int_eq(m->kind, MANIFEST_SAVEPOINT);
    KIT_OK(store_find(&w->env, path, w->arena, &list, &w->err));
    ck_assert_uint_eq(list.count, 1);
    ck_assert_str_eq(list.entry[0].path, path);
    ck_assert_int_eq(list.entry[0].kind, MANIFEST_SAVEPOINT);
    store_close(s);
    s = store_kit_open(w);
    ck_assert_uint_eq(store_newest_id(s), w->form == STORE_MEMORY ? 0 : 5);
    store_close(s);
}

static void kit_find_one(struct store_world *w, const char *path, uint32_t count, uint64_t newest)
{
    struct store_list list = {0};
    struct manifest *m = NULL;
    KIT_OK(store_find(&w->env, path, w->arena, &list, &w->err));
    ck_assert_uint_eq(list.count, count);
    const struct store_entry *e = &list.entry[count - 1];
    ck_assert_uint_eq(e->checkpoint, newest);
    ck_assert_str_eq(e->job_id, STORE_KIT_JOB);
    ck_assert_str_eq(e->job_name, "kit");
    KIT_OK(store_load(&w->env, e->path, w->arena, &m, &w->err));
    store_kit_check(m, newest, 1);
}

void store_kit_find(struct store_world *w)
{
    char path[256];
    struct store_list list = {0};
    ck_assert_int_eq(store_find(&w->env, w->url, w->arena, &list, &w->err), SR_EABSENT);
    struct store *s = store_kit_open(w);
    ck_assert_int_eq(store_find(&w->env, w->url, w->arena, &list, &w->err), SR_EABSENT);
    for (uint64_t n = 9; n <= 11; n++) {
        KIT_OK(store_kit_publish(w, s, n, 1));
    }
    kit_find_one(w, w->url, 3, 11);  /* while it runs */
    kit_find_one(w, w->file, 3, 11); /* without a scheme */
    static const char *const one[] = {"%s/chk-10", "%s#chk-10"};
    (void)snprintf(path, sizeof(path), one[w->form], w->file);
    kit_find_one(w, path, 1, 10);
    (void)snprintf(path, sizeof(path),
                   w->form == STORE_DIR ? "file://%s/chk-10/_metadata" : "sqlite://%s#chk-10",
                   w->file);
    kit_find_one(w, path, 1, 10);
    static const char *const none[] = {"%s/chk-12", "%s#chk-12"};
    struct manifest *m = NULL;
    (void)snprintf(path, sizeof(path), none[w->form], w->file);
    ck_assert_int_eq(store_load(&w->env, path, w->arena, &m, &w->err), SR_EABSENT);
    (void)snprintf(path, sizeof(path), "%s/nothing", w->root);
    ck_assert_int_eq(store_find(&w->env, path, w->arena, &list, &w->err), SR_EABSENT);
    store_close(s);
}

void store_kit_misuse(struct store_world *w)
{
    struct store *s = NULL;
    struct store_conf bad = w->conf;
    static const char *const urls[] = {"relative/path", "s3://bucket/x", "file:relative", ""};
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        bad.url = urls[i];
        ck_assert_int_eq(store_open(&s, &w->env, &bad, &w->err), SR_ECONFIG);
    }
    bad = w->conf;
    bad.job_id = "not-an-id";
    ck_assert_int_eq(store_open(&s, &w->env, &bad, &w->err), SR_ECONFIG);
    s = store_kit_open(w);
    KIT_OK(store_kit_publish(w, s, 5, 1));
    ck_assert_int_eq(store_kit_publish(w, s, 5, 1), SR_EEXISTS);
    ck_assert_int_eq(store_kit_publish(w, s, 4, 1), SR_EEXISTS);
    struct manifest_part twice[2] = {
        {.uid = "a", .name = "state", .parts = 1, .bytes = (const uint8_t *)"x", .len = 1},
        {.uid = "a", .name = "state", .parts = 1, .bytes = (const uint8_t *)"y", .len = 1}};
    struct manifest m = {
        .checkpoint = 6, .lineage = 1, .description = "", .made_by = "", .parts = 2, .part = twice};
    ck_assert_int_eq(store_publish(s, &m, &w->err), SR_ELIMIT);
    twice[1].uid = "\xff";
    ck_assert_int_eq(store_publish(s, &m, &w->err), SR_ELIMIT);
    m.parts = 0; /* a job without any state is fine */
    KIT_OK(store_publish(s, &m, &w->err));
    store_close(s);
}
