/* The kit's simulated disasters: crashes at every step, calls that fail, a full disk. */
#include <check.h>
#include <inttypes.h>
#include <string.h>

#include "engine/ckpt/durable.h"
#include "test/kit/store_kit.h"

/* What the process believed when it died. */
struct ledger {
    uint64_t published; /* the newest that was acknowledged */
    uint64_t tried;     /* the newest that was begun */
    const char *savepoint;
    bool is_marked;
};

/* Publishes one and retires what it replaces. False: the process must end. */
static bool script_publish(struct store_world *w, struct store *s, struct ledger *l)
{
    uint64_t n = store_newest_id(s) + 1;
    l->tried = n;
    l->is_marked = false;
    if (store_kit_publish(w, s, n, 1) != SR_OK) {
        return false;
    }
    l->published = n;
    return store_retain(s, 1, n, &w->err) == SR_OK;
}

/* The life of a process: everything that a store can do, until something fails. */
static void script_run(struct store_world *w, struct ledger *l)
{
    struct store *s = NULL;
    bool is_alive = store_open(&s, &w->env, &w->conf, &w->err) == SR_OK;
    for (int i = 0; is_alive && i < 3; i++) {
        is_alive = script_publish(w, s, l);
    }
    if (is_alive) {
        const char *path = NULL;
        is_alive = store_kit_savepoint(w, s, store_newest_id(s) + 1, &path) == SR_OK;
        l->savepoint = is_alive ? path : l->savepoint;
    }
    is_alive = is_alive && store_next_attempt(s, &w->err) == SR_OK;
    is_alive = is_alive && script_publish(w, s, l);
    if (is_alive && store_mark_end(s, MANIFEST_STOPPED, &w->err) == SR_OK) {
        l->is_marked = true;
    }
    store_close(s);
}

static void script_check_savepoints(struct store_world *w, const struct ledger *l)
{
    char dir[96];
    struct store_list list = {0};
    struct manifest *m = NULL;
    (void)snprintf(dir, sizeof(dir), "%s/savepoints", w->root);
    sr_rc rc = store_find(&w->env, dir, w->arena, &list, &w->err);
    ck_assert_msg(rc == SR_OK || rc == SR_EABSENT, "%s", w->err.words);
    for (uint32_t i = 0; i < list.count; i++) {
        ck_assert_msg(!list.entry[i].damage, "%s", list.entry[i].damage);
    }
    if (l->savepoint) {
        rc = store_load(&w->env, l->savepoint, w->arena, &m, &w->err);
        ck_assert_msg(rc == SR_OK, "%s", w->err.words);
        store_kit_check(m, m->checkpoint, 1);
    }
}

/* What recovery finds: what was acknowledged, or what was being published; whole. Looked at from
 * outside first, as the command line does. */
static void script_check(struct store_world *w, const struct ledger *l)
{
    struct store_list list = {0};
    struct store_entry e = {0};
    uint64_t hash = disk_hash(w->disk);
    uint64_t steps = disk_steps(w->disk);
    sr_rc rc = store_peek(&w->env, &w->conf, w->arena, &e, &w->err);
    ck_assert_msg(rc == SR_OK || (rc == SR_EABSENT && l->published == 0), "%s", w->err.words);
    if (rc == SR_OK) {
        struct manifest *m = NULL;
        rc = store_load(&w->env, e.path, w->arena, &m, &w->err);
        ck_assert_msg(rc == SR_OK, "%s", w->err.words);
        store_kit_check(m, e.checkpoint, 1);
    }
    ck_assert_uint_eq(disk_hash(w->disk),
                      hash); /* looking changes nothing, whatever a crash left */
    ck_assert_uint_eq(disk_steps(w->disk), steps);
    uint64_t peeked = rc == SR_OK ? e.checkpoint : 0;
    if (l->is_marked) {
        ck_assert_int_eq(e.end, MANIFEST_STOPPED);
    }
    struct store *s = store_kit_open(w);
    uint64_t newest = store_kit_newest(w, s);
    ck_assert_uint_eq(newest, peeked);
    ck_assert_msg(newest == l->published || newest == l->tried,
                  "newest %" PRIu64 ", published %" PRIu64 ", tried %" PRIu64, newest, l->published,
                  l->tried);
    rc = store_find(&w->env, w->url, w->arena, &list, &w->err);
    ck_assert(rc == SR_OK || newest == 0);
    for (uint32_t i = 0; i < list.count; i++) {
        struct manifest *m = NULL;
        ck_assert_msg(!list.entry[i].damage, "%s", list.entry[i].damage);
        rc = store_load(&w->env, list.entry[i].path, w->arena, &m, &w->err);
        ck_assert_msg(rc == SR_OK, "%s", w->err.words);
        store_kit_check(m, list.entry[i].checkpoint, 1);
    }
    script_check_savepoints(w, l);
    ck_assert_uint_ge(store_newest_id(s), newest);
    struct ledger next = {0};
    ck_assert_msg(script_publish(w, s, &next), "%s", w->err.words);
    ck_assert_uint_eq(store_kit_newest(w, s), next.published);
    store_close(s);
}

struct loss {
    enum disk_crash kind;
    enum disk_mercy mercy;
};

static const struct loss losses[] = {
    {DISK_KILL, DISK_EVERYTHING},       {DISK_POWER_LOSS, DISK_NOTHING},
    {DISK_POWER_LOSS, DISK_EVERYTHING}, {DISK_POWER_LOSS, DISK_SOME},
    {DISK_POWER_LOSS, DISK_SOME},       {DISK_POWER_LOSS, DISK_SOME},
};

#define LOSSES (sizeof(losses) / sizeof(losses[0]))

/* Recovery may be struck as well: it must not matter. */
static void script_crash_again(struct store_world *w, uint64_t step, size_t i)
{
    struct store *s = NULL;
    disk_crash_in(w->disk, step % 23, losses[i].kind);
    if (store_open(&s, &w->env, &w->conf, &w->err) == SR_OK) {
        store_close(s);
    }
    if (disk_is_off(w->disk)) {
        disk_restart(w->disk, losses[i].mercy);
    }
    disk_crash_never(w->disk);
}

/* One life that ends at this step. False: it came to its end before. */
static bool script_crash_at(enum store_form form, uint64_t step, size_t i)
{
    struct store_world *w = store_world_new(form, true, step * LOSSES + i + 1);
    struct ledger l = {0};
    w->conf.retained = 1;
    disk_crash_in(w->disk, step, losses[i].kind);
    script_run(w, &l);
    bool was_hit = disk_is_off(w->disk);
    if (!was_hit) {
        ck_assert_msg(l.is_marked, "the script failed by itself: %s", w->err.words);
        disk_crash(w->disk, losses[i].kind); /* at the very end */
    }
    disk_restart(w->disk, losses[i].mercy);
    if (i + 2 >= LOSSES) {
        script_crash_again(w, step, i);
    }
    script_check(w, &l);
    store_world_free(w);
    return was_hit;
}

void store_kit_crash(enum store_form form)
{
    bool was_hit = true;
    for (uint64_t step = 0; was_hit; step++) {
        for (size_t i = 0; i < LOSSES; i++) {
            was_hit = script_crash_at(form, step, i);
        }
        ck_assert_uint_lt(step, 2000);
    }
}

/* --- Crash points ----------------------------------------------------------------------------- */

static bool point_is_of(enum store_form form, enum store_point p)
{
    switch (p) {
    case STORE_SEALED:
    case STORE_BUILD_MADE:
    case STORE_DATA_WRITTEN:
    case STORE_DATA_SYNCED:
    case STORE_METADATA_SYNCED:
    case STORE_BUILD_SYNCED:
    case STORE_RENAMED:
    case STORE_TRASHED:
    case STORE_TRASH_SYNCED:
        return form == STORE_DIR;
    case STORE_BEGUN:
    case STORE_ROWS:
    case STORE_COMMITTED:
        return form == STORE_SQLITE;
    case STORE_LOCKED:
    case STORE_ATTEMPT:
    case STORE_PUBLISHED:
    case STORE_RETAINED:
    case STORE_MARKED:
    case STORE_SAVEPOINT_BUILT:
    case STORE_SAVEPOINT_RENAMED:
        return true;
    case STORE_COMPLETED:
    case STORE_DROPPED: /* store_kit_pending.c dies at every step of both */
    case STORE_POINT_COUNT:
        return false;
    }
    return false;
}

void store_kit_points(enum store_form form)
{
    for (unsigned p = 0; p < STORE_POINT_COUNT; p++) {
        for (size_t i = 0; i < LOSSES; i++) {
            struct store_world *w = store_world_new(form, true, p * LOSSES + i + 1);
            struct ledger l = {0};
            w->conf.retained = 1;
            w->crash_point = (int32_t)p;
            w->crash_kind = losses[i].kind;
            script_run(w, &l);
            ck_assert_msg(disk_is_off(w->disk) == point_is_of(form, (enum store_point)p),
                          "%s was hit %" PRIu32 " times", store_point_name((enum store_point)p),
                          w->hits[p]);
            if (disk_is_off(w->disk)) {
                w->crash_point = -1;
                disk_restart(w->disk, losses[i].mercy);
                script_check(w, &l);
            }
            store_world_free(w);
        }
    }
}

/* --- Calls that fail -------------------------------------------------------------------------- */

/* A device that fails is no damage: what lies there is as good as before. */
static bool fault_is_told(sr_rc rc)
{
    return rc == SR_OK || rc == SR_EIO || rc == SR_ENOSPC || rc == SR_EUNKNOWN;
}

/* Publishes on through one failing call. A checkpoint that failed is not there; the next
 * succeeds. */
static sr_rc faults_publish(struct store_world *w, struct store *s, struct ledger *l)
{
    struct store_entry e = {0};
    uint64_t n = store_newest_id(s) + 1;
    n = n > l->tried ? n : l->tried + 1;
    l->tried = n;
    bool was_pending = disk_fail_pending(w->disk);
    sr_rc rc = store_kit_publish(w, s, n, 1);
    ck_assert_msg(fault_is_told(rc), "%s", w->err.words);
    ck_assert_msg(rc == SR_OK || (was_pending && !disk_fail_pending(w->disk)),
                  "failed without a fault: %s", w->err.words);
    if (rc == SR_OK) {
        l->published = n;
    } else if (rc != SR_EUNKNOWN) {
        l->tried = l->published; /* it is not there, and never will be */
        ck_assert_int_eq(store_peek(&w->env, &w->conf, w->arena, &e, &w->err), SR_OK);
        ck_assert_uint_eq(e.checkpoint, l->published);
        l->tried = n;
    }
    return rc;
}

/* A life with one failing call somewhere. False: it did not strike any more. */
static bool faults_life(enum store_form form, enum disk_fault fault, uint64_t at)
{
    struct store_world *w = store_world_new(form, true, at + 1);
    struct ledger l = {0};
    w->conf.retained = 1;
    struct store *s = store_kit_open(w);
    ck_assert(script_publish(w, s, &l));
    disk_fail_in(w->disk, fault, at);
    sr_rc rc = SR_OK;
    uint64_t in_doubt = 0;
    for (int i = 0; i < 4 && rc != SR_EUNKNOWN; i++) {
        rc = faults_publish(w, s, &l);
        in_doubt = rc == SR_EUNKNOWN ? l.tried : 0;
        if (rc == SR_OK && store_retain(s, 1, l.published, &w->err) != SR_OK) {
            ck_assert_int_ne(w->err.rc, SR_EFENCED);
        }
    }
    const char *path = NULL;
    if (rc == SR_OK && store_kit_savepoint(w, s, store_newest_id(s) + 1, &path) == SR_OK) {
        l.savepoint = path;
    }
    l.is_marked = rc == SR_OK && store_mark_end(s, MANIFEST_STOPPED, &w->err) == SR_OK;
    bool has_struck = !disk_fail_pending(w->disk);
    if (rc == SR_EUNKNOWN) {
        ck_assert_int_eq(store_kit_publish(w, s, l.tried + 1, 1), SR_EUNKNOWN);
    }
    store_close(s);
    disk_fail_in(w->disk, DISK_FAULT_NONE, 0);
    disk_crash(w->disk, DISK_POWER_LOSS);
    disk_restart(w->disk, DISK_NOTHING);
    l.tried = in_doubt != 0 ? in_doubt : l.published;
    script_check(w, &l);
    store_world_free(w);
    return has_struck;
}

/* Opening through one failing call: it fails, or it succeeds; the next time it succeeds. */
static bool faults_open(enum store_form form, enum disk_fault fault, uint64_t at)
{
    struct store_world *w = store_world_new(form, true, at + 1);
    struct store *s = store_kit_open(w);
    ck_assert_int_eq(store_kit_publish(w, s, 1, 1), SR_OK);
    store_close(s);
    s = NULL;
    disk_fail_in(w->disk, fault, at);
    sr_rc rc = store_open(&s, &w->env, &w->conf, &w->err);
    if (rc == SR_OK) {
        store_close(s);
    }
    ck_assert_msg(fault_is_told(rc), "%s", w->err.words);
    bool has_struck = !disk_fail_pending(w->disk);
    disk_fail_in(w->disk, DISK_FAULT_NONE, 0);
    struct ledger l = {.published = 1, .tried = 1};
    script_check(w, &l);
    store_world_free(w);
    return has_struck;
}

void store_kit_faults(enum store_form form)
{
    static const enum disk_fault faults[] = {DISK_FAULT_EIO, DISK_FAULT_ENOSPC, DISK_FAULT_SYNC};
    for (size_t f = 0; f < sizeof(faults) / sizeof(faults[0]); f++) {
        uint64_t lives = 0;
        while (faults_life(form, faults[f], lives)) {
            lives++;
        }
        uint64_t opens = 0;
        while (faults_open(form, faults[f], opens)) {
            opens++;
        }
        ck_assert_uint_gt(lives, 5);
        ck_assert_uint_gt(opens, 0);
    }
}

void store_kit_space(enum store_form form)
{
    struct store_world *w = store_world_new(form, true, 1);
    struct store *s = store_kit_open(w);
    for (uint64_t n = 1; n <= 3; n++) {
        ck_assert_int_eq(store_kit_publish(w, s, n, 1), SR_OK);
    }
    disk_set_capacity(w->disk, disk_used(w->disk) + 100);
    for (uint64_t n = 4; n <= 6; n++) {
        ck_assert_int_eq(store_kit_publish(w, s, n, 1), SR_ENOSPC);
        ck_assert_uint_eq(store_kit_newest(w, s), 3);
    }
    disk_set_capacity(w->disk, UINT64_MAX);
    ck_assert_int_eq(store_kit_publish(w, s, 7, 1), SR_OK);
    ck_assert_uint_eq(store_kit_newest(w, s), 7);
    store_close(s);
    store_world_free(w);
}
