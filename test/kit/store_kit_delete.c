/* The kit's deletions: what is left is never taken for the newest, whenever the process dies. */
#include <check.h>
#include <inttypes.h>
#include <string.h>

#include "engine/ckpt/durable.h"
#include "test/kit/store_kit.h"

#define KIT_OK(call) ck_assert_msg((call) == SR_OK, "%s", w->err.words)

/* Three checkpoints of an older lineage, two of the newest. */
static struct store *delete_begin(struct store_world *w)
{
    w->conf.retained = 3;
    struct store *s = store_kit_open(w);
    for (uint64_t n = 1; n <= 5; n++) {
        KIT_OK(store_kit_publish(w, s, n, n <= 3 ? 7 : 9));
    }
    return s;
}

static uint64_t delete_peek(struct store_world *w)
{
    struct store_entry e = {0};
    sr_rc rc = store_peek(&w->env, &w->conf, w->arena, &e, &w->err);
    ck_assert_msg(rc == SR_OK || rc == SR_EABSENT, "%s", w->err.words);
    ck_assert(rc != SR_OK || !e.damage);
    return rc == SR_OK ? e.checkpoint : 0;
}

static uint32_t delete_count(struct store_world *w, uint32_t *retired)
{
    struct store_list l = {0};
    *retired = 0;
    sr_rc rc = store_find(&w->env, w->url, w->arena, &l, &w->err);
    ck_assert_msg(rc == SR_OK || rc == SR_EABSENT, "%s", w->err.words);
    for (uint32_t i = 0; i < l.count; i++) {
        *retired += l.entry[i].is_retired;
    }
    return l.count;
}

void store_kit_delete(struct store_world *w)
{
    uint32_t retired;
    struct store *s = delete_begin(w);
    KIT_OK(store_delete(s, 9, 4, &w->err)); /* not the newest: nothing else changes */
    ck_assert_uint_eq(delete_peek(w), 5);
    ck_assert_int_eq(store_delete(s, 9, 4, &w->err), SR_EABSENT);
    KIT_OK(store_delete(s, 9, 0, &w->err));
    ck_assert_uint_eq(delete_peek(w), 0);
    ck_assert_uint_eq(delete_count(w, &retired), 3);
    ck_assert_uint_eq(retired, 3);
    ck_assert_uint_eq(store_kit_newest(w, s), 0);
    KIT_OK(store_next_attempt(s, &w->err));
    store_close(s);
    s = store_kit_open(w);
    ck_assert_uint_eq(store_kit_newest(w, s), 0);
    ck_assert_uint_eq(store_newest_id(s), 5); /* numbers go on */
    KIT_OK(store_kit_publish(w, s, 6, 11));
    ck_assert_uint_eq(store_kit_newest(w, s), 6);
    ck_assert_uint_eq(delete_peek(w), 6);
    store_close(s);
}

/* One entry by its path, with the lock of its store. */
void store_kit_remove(struct store_world *w)
{
    struct store_list l = {0};
    const char *path = NULL;
    struct store *s = delete_begin(w);
    KIT_OK(store_kit_savepoint(w, s, 6, &path));
    KIT_OK(store_find(&w->env, w->url, w->arena, &l, &w->err));
    ck_assert_uint_eq(l.count, 5);
    ck_assert_int_eq(store_remove(&w->env, &l.entry[0], &w->err), SR_EBUSY);
    store_close(s);
    KIT_OK(store_remove(&w->env, &l.entry[0], &w->err));
    ck_assert_int_eq(store_remove(&w->env, &l.entry[0], &w->err), SR_EABSENT);
    ck_assert_uint_eq(delete_peek(w), 5);
    KIT_OK(store_remove(&w->env, &l.entry[4], &w->err));
    ck_assert_uint_eq(delete_peek(w), 0);
    KIT_OK(store_find(&w->env, path, w->arena, &l, &w->err));
    ck_assert_uint_eq(l.count, 1);
    KIT_OK(store_remove(&w->env, &l.entry[0], &w->err));
    ck_assert_int_eq(store_find(&w->env, path, w->arena, &l, &w->err), SR_EABSENT);
}

static bool delete_is_there(struct store_world *w, const char *path)
{
    enum durable_kind kind = DURABLE_ABSENT;
    KIT_OK(durable_look(&w->env, path, &kind, &w->err));
    return kind != DURABLE_ABSENT;
}

/* What is claimed goes when as many newer ones are shown as are kept, over runs too. */
void store_kit_claim(struct store_world *w)
{
    const char *savepoint = NULL;
    struct store_list l = {0};
    struct store *s = delete_begin(w);
    w->conf.retained = 2;
    KIT_OK(store_kit_savepoint(w, s, 6, &savepoint));
    store_close(s);
    s = store_kit_open(w);
    KIT_OK(store_claim(s, savepoint, 11, true, &w->err));
    KIT_OK(store_kit_publish(w, s, 7, 11));
    KIT_OK(store_retain(s, 11, 7, &w->err));
    ck_assert(delete_is_there(w, savepoint));
    store_close(s);
    s = store_kit_open(w);
    KIT_OK(store_kit_publish(w, s, 8, 11));
    KIT_OK(store_retain(s, 9, 5, &w->err)); /* another lineage's claim it is not */
    ck_assert(delete_is_there(w, savepoint));
    KIT_OK(store_retain(s, 11, 8, &w->err));
    ck_assert(!delete_is_there(w, savepoint));
    /* One of the own store. */
    KIT_OK(store_find(&w->env, w->url, w->arena, &l, &w->err));
    const char *own = l.entry[0].path;
    uint32_t count = l.count;
    KIT_OK(store_claim(s, own, 11, true, &w->err));
    KIT_OK(store_retain(s, 11, 8, &w->err));
    KIT_OK(store_find(&w->env, w->url, w->arena, &l, &w->err));
    ck_assert_uint_eq(l.count, count - 1);
    ck_assert_str_ne(l.entry[0].path, own);
    ck_assert_uint_eq(delete_peek(w), 8);
    /* What is only begun with stays, and is forgotten behind the first one. */
    bool is_owned = true;
    KIT_OK(store_find(&w->env, w->url, w->arena, &l, &w->err));
    KIT_OK(store_claim(s, l.entry[0].path, 11, false, &w->err));
    ck_assert_str_eq(store_begun_with(s, 9, &is_owned), l.entry[0].path);
    ck_assert_ptr_null(store_begun_with(s, 11, &is_owned)); /* it has one of its own */
    ck_assert(!is_owned);
    KIT_OK(store_retain(s, 11, 8, &w->err));
    ck_assert_ptr_null(store_begun_with(s, 9, &is_owned));
    uint32_t left = l.count;
    KIT_OK(store_find(&w->env, w->url, w->arena, &l, &w->err));
    ck_assert_uint_eq(l.count, left);
    /* What somebody has deleted meanwhile is fine. */
    KIT_OK(store_claim(s, own, 11, true, &w->err));
    KIT_OK(store_retain(s, 11, 8, &w->err));
    store_close(s);
}

/* A life that dies at this step of its deletion. False: it came to its end. */
static bool delete_crash_at(enum store_form form, uint64_t step, enum disk_crash kind,
                            enum disk_mercy mercy)
{
    struct store_world *w = store_world_new(form, true, step * 3 + 1);
    struct store *s = delete_begin(w);
    uint32_t retired;
    disk_crash_in(w->disk, step, kind);
    sr_rc rc = store_delete(s, 9, 0, &w->err);
    bool was_hit = disk_is_off(w->disk);
    store_close(s);
    if (!was_hit) {
        ck_assert_int_eq(rc, SR_OK);
        disk_crash(w->disk, kind);
    }
    disk_restart(w->disk, mercy);
    disk_crash_never(w->disk);
    uint64_t peeked = delete_peek(w);
    ck_assert_msg(peeked == 5 || peeked == 0, "went back to %" PRIu64, peeked);
    ck_assert(was_hit || peeked == 0);
    s = store_kit_open(w);
    ck_assert_uint_eq(store_kit_newest(w, s), peeked);
    ck_assert_uint_ge(delete_count(w, &retired), 3);
    KIT_OK(store_kit_publish(w, s, 6, 11));
    ck_assert_uint_eq(store_kit_newest(w, s), 6);
    store_close(s);
    store_world_free(w);
    return was_hit;
}

/* And one that dies while it deletes what it has claimed: the next one does it. */
static bool claim_crash_at(enum store_form form, uint64_t step, enum disk_crash kind,
                           enum disk_mercy mercy)
{
    struct store_world *w = store_world_new(form, true, step * 3 + 2);
    const char *savepoint = NULL;
    w->conf.retained = 1;
    struct store *s = store_kit_open(w);
    KIT_OK(store_kit_savepoint(w, s, 1, &savepoint));
    KIT_OK(store_claim(s, savepoint, 11, true, &w->err));
    KIT_OK(store_kit_publish(w, s, 2, 11));
    disk_crash_in(w->disk, step, kind);
    sr_rc rc = store_retain(s, 11, 2, &w->err);
    bool was_hit = disk_is_off(w->disk);
    store_close(s);
    if (!was_hit) {
        ck_assert_int_eq(rc, SR_OK);
        disk_crash(w->disk, kind);
    }
    disk_restart(w->disk, mercy);
    disk_crash_never(w->disk);
    s = store_kit_open(w);
    ck_assert_uint_eq(store_kit_newest(w, s), 2);
    KIT_OK(store_kit_publish(w, s, 3, 11));
    KIT_OK(store_retain(s, 11, 3, &w->err));
    ck_assert(!delete_is_there(w, savepoint));
    store_close(s);
    store_world_free(w);
    return was_hit;
}

void store_kit_delete_crash(enum store_form form)
{
    static const struct {
        enum disk_crash kind;
        enum disk_mercy mercy;
    } losses[] = {{DISK_KILL, DISK_EVERYTHING},
                  {DISK_POWER_LOSS, DISK_NOTHING},
                  {DISK_POWER_LOSS, DISK_SOME}};
    for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
        uint64_t deletes = 0, claims = 0;
        while (delete_crash_at(form, deletes, losses[i].kind, losses[i].mercy)) {
            deletes++;
        }
        while (claim_crash_at(form, claims, losses[i].kind, losses[i].mercy)) {
            claims++;
        }
        ck_assert_uint_gt(deletes, 4);
        ck_assert_uint_gt(claims, 2);
    }
}
