/* The kit's rot: flipped bits, cut and missing files; and that looking changes nothing. */
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/ckpt/durable.h"
#include "test/kit/store_kit.h"

/* A world with checkpoints 1 and 2 in it, and nothing open. */
static struct store_world *damage_world(enum store_form form)
{
    struct store_world *w = store_world_new(form, true, 7);
    struct store *s = store_kit_open(w);
    ck_assert_int_eq(store_kit_publish(w, s, 1, 1), SR_OK);
    ck_assert_int_eq(store_kit_publish(w, s, 2, 1), SR_OK);
    store_close(s);
    return w;
}

/* What recovery makes of the store as it lies there. Never an older one, never a changed one. */
static sr_rc damage_load(struct store_world *w)
{
    struct arena *a = arena_new();
    struct store_entry e = {0};
    struct manifest *m = NULL;
    sr_rc rc = store_peek(&w->env, &w->conf, a, &e, &w->err);
    if (rc == SR_OK && e.damage) {
        rc = SR_ECORRUPT;
    }
    if (rc == SR_OK) {
        ck_assert_uint_eq(e.checkpoint, 2);
        rc = store_load(&w->env, e.path, a, &m, &w->err);
    }
    if (rc == SR_OK) {
        store_kit_check(m, 2, 1);
    }
    arena_free(a);
    return rc;
}

/* A copy of a file, to be damaged and put back. */
struct damage_file {
    char path[256];
    uint8_t *bytes;
    size_t len;
};

static void damage_take(const struct store_world *w, struct damage_file *f, const char *tail)
{
    uint64_t len = 0;
    (void)snprintf(f->path, sizeof(f->path), "%s%s", w->file, tail);
    const uint8_t *bytes = disk_bytes(w->disk, f->path, &len);
    ck_assert_ptr_nonnull(bytes);
    f->len = (size_t)len;
    f->bytes = malloc(f->len + 1);
    ck_assert_ptr_nonnull(f->bytes);
    memcpy(f->bytes, bytes, f->len);
    f->bytes[f->len] = 'x';
}

static void damage_put_back(struct store_world *w, struct damage_file *f)
{
    ck_assert_int_eq(disk_put(w->disk, f->path, f->bytes, f->len), SR_OK);
    free(f->bytes);
}

/* Every byte with one bit and with all bits flipped, every length, one byte more. */
static void damage_sweep_strictly(struct store_world *w, const char *tail)
{
    struct damage_file f;
    damage_take(w, &f, tail);
    for (size_t i = 0; i < f.len; i++) {
        const uint8_t masks[] = {(uint8_t)(1u << (i % 8)), 0xff};
        for (size_t k = 0; k < 2; k++) {
            f.bytes[i] ^= masks[k];
            ck_assert_int_eq(disk_put(w->disk, f.path, f.bytes, f.len), SR_OK);
            ck_assert_msg(damage_load(w) == SR_ECORRUPT, "%s: byte %zu", tail, i);
            f.bytes[i] ^= masks[k];
        }
        ck_assert_int_eq(disk_put(w->disk, f.path, f.bytes, i), SR_OK);
        ck_assert_msg(damage_load(w) == SR_ECORRUPT, "%s: cut to %zu bytes", tail, i);
    }
    ck_assert_int_eq(disk_put(w->disk, f.path, f.bytes, f.len + 1), SR_OK);
    ck_assert_int_eq(damage_load(w), SR_ECORRUPT);
    ck_assert_int_eq(w->env.files->remove(w->env.files, f.path, &w->err), SR_OK);
    ck_assert_int_eq(damage_load(w), SR_ECORRUPT);
    damage_put_back(w, &f);
    ck_assert_int_eq(damage_load(w), SR_OK);
}

static void damage_dir(struct store_world *w)
{
    damage_sweep_strictly(w, "/chk-2/_metadata");
    damage_sweep_strictly(w, "/chk-2/state");
    /* The numbers of a job: refused when opened, with what to do. */
    struct damage_file f;
    struct store *s = NULL;
    damage_take(w, &f, "/counters");
    f.bytes[30] ^= 1;
    ck_assert_int_eq(disk_put(w->disk, f.path, f.bytes, f.len), SR_OK);
    ck_assert_int_eq(store_open(&s, &w->env, &w->conf, &w->err), SR_ECORRUPT);
    ck_assert_msg(strstr(w->err.words, "remove it") != NULL, "%s", w->err.words);
    f.bytes[30] ^= 1;
    damage_put_back(w, &f);
    /* A directory under another's name is not what its name says. */
    char from[256];
    char to[256];
    (void)snprintf(from, sizeof(from), "%s/chk-1", w->file);
    (void)snprintf(to, sizeof(to), "%s/chk-3", w->file);
    ck_assert_int_eq(w->env.files->rename(w->env.files, from, to, false, &w->err), SR_OK);
    ck_assert_int_eq(damage_load(w), SR_ECORRUPT);
}

/* A page of SQLite's has bytes that mean nothing: what loads must be unchanged. What is refused
 * must be called damaged or foreign, never absent: a fresh start would write output twice. */
static bool damage_is_refused(struct store_world *w, const char *what, size_t at)
{
    sr_rc rc = damage_load(w);
    ck_assert_msg(rc == SR_OK || rc == SR_ECORRUPT || rc == SR_EMISFIT, "%s at %zu: %s", what, at,
                  w->err.words);
    return rc != SR_OK;
}

/* Bytes that carry something, and of the empty middles of pages every 61st. */
static void damage_sqlite(struct store_world *w)
{
    struct damage_file f;
    size_t refused = 0;
    damage_take(w, &f, "");
    for (size_t i = 0; i < f.len; i++) {
        if (f.bytes[i] == 0 && i % 61 != 0 && i % 4096 >= 128) {
            continue;
        }
        uint8_t mask = i % 2 == 0 ? 0xff : (uint8_t)(1u << (i / 2 % 8));
        f.bytes[i] ^= mask;
        ck_assert_int_eq(disk_put(w->disk, f.path, f.bytes, f.len), SR_OK);
        refused += damage_is_refused(w, "flipped", i) ? 1 : 0;
        f.bytes[i] ^= mask;
    }
    ck_assert_uint_gt(refused, 1000);
    for (size_t len = 0; len < f.len; len += 256) {
        ck_assert_int_eq(disk_put(w->disk, f.path, f.bytes, len), SR_OK);
        ck_assert_msg(damage_is_refused(w, "cut", len), "cut to %zu bytes", len);
    }
    damage_put_back(w, &f);
    ck_assert_int_eq(damage_load(w), SR_OK);
}

void store_kit_damage(enum store_form form)
{
    struct store_world *w = damage_world(form);
    if (form == STORE_DIR) {
        damage_dir(w);
    } else {
        damage_sqlite(w);
    }
    store_world_free(w);
}

/* A process that lost its attempt while it was within the call that publishes: its checkpoint lands
 * after the takeover, is seen as what it is, and makes room for the one that counts. */
void store_kit_late(void)
{
    char late[256];
    char aside[256];
    struct store_list list = {0};
    struct manifest *m = NULL;
    struct store_world *w = damage_world(STORE_DIR);
    const struct sr_files *fs = w->env.files;
    (void)snprintf(late, sizeof(late), "%s/chk-2", w->file);
    (void)snprintf(aside, sizeof(aside), "%s/aside", w->root);
    ck_assert_int_eq(fs->rename(fs, late, aside, false, &w->err), SR_OK);
    struct store *s = store_kit_open(w); /* goes on from chk-1 */
    ck_assert_int_eq(fs->rename(fs, aside, late, false, &w->err), SR_OK);
    ck_assert_uint_eq(store_kit_newest(w, s), 1);
    ck_assert_int_eq(store_find(&w->env, w->url, w->arena, &list, &w->err), SR_OK);
    ck_assert_uint_eq(list.count, 1);
    ck_assert_int_eq(store_kit_publish(w, s, 2, 1), SR_OK);
    ck_assert_int_eq(store_load_newest(s, w->arena, &m, &w->err), SR_OK);
    ck_assert_uint_eq(m->checkpoint, 2);
    ck_assert_uint_eq(m->attempt, store_attempt(s));
    store_close(s);
    store_world_free(w);
}

void store_kit_looking(enum store_form form)
{
    struct store_world *w = damage_world(form);
    uint64_t before = disk_hash(w->disk);
    uint64_t steps = disk_steps(w->disk);
    ck_assert_int_eq(damage_load(w), SR_OK);
    ck_assert_uint_eq(disk_hash(w->disk), before);
    ck_assert_uint_eq(disk_steps(w->disk), steps);
    struct store *s = store_kit_open(w); /* and while a job runs */
    before = disk_hash(w->disk);
    ck_assert_int_eq(damage_load(w), SR_OK);
    ck_assert_uint_eq(disk_hash(w->disk), before);
    store_close(s);
    store_world_free(w);
}
