/* The kit's large parts: read alone, piece by piece, and let go of. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/warm.h"
#include "test/kit/store_kit.h"

#define LARGE_PARTS 5u

/* Small ones before, between and behind; one of the least size that is read alone; one that is made
 * ready by another thread. */
static const size_t large_len[LARGE_PARTS] = {100, ARENA_DROP_LEAST, 0, WARM_LEAST + 17, 5};
static const char *const large_name[LARGE_PARTS] = {"gate", MANIFEST_STATE, "splits",
                                                    MANIFEST_STATE, "waiting"};

static uint8_t large_byte(uint32_t part, size_t i)
{
    return (uint8_t)((size_t)part * 37 + i * 11 + (i >> 9));
}

static void large_publish(struct store_world *w, struct store *s)
{
    static const char *const uids[LARGE_PARTS] = {"a", "b", "c", "d", "e"};
    struct manifest_part part[LARGE_PARTS];
    struct arena *a = arena_new();
    for (uint32_t p = 0; p < LARGE_PARTS; p++) {
        uint8_t *bytes = arena_get(a, large_len[p] + 1);
        ck_assert_ptr_nonnull(bytes);
        for (size_t i = 0; i < large_len[p]; i++) {
            bytes[i] = large_byte(p, i);
        }
        part[p] = (struct manifest_part){
            .uid = uids[p], .name = large_name[p], .parts = 1, .bytes = bytes, .len = large_len[p]};
    }
    struct manifest m = {.checkpoint = 1,
                         .lineage = 1,
                         .description = "",
                         .made_by = "",
                         .parts = LARGE_PARTS,
                         .part = part};
    ck_assert_msg(store_publish(s, &m, &w->err) == SR_OK, "%s", w->err.words);
    arena_free(a);
}

static void large_check(const struct manifest_part *part, uint32_t p)
{
    ck_assert_uint_eq(part->len, large_len[p]);
    for (size_t i = 0; i < large_len[p]; i++) {
        if (part->bytes[i] != large_byte(p, i)) ck_abort_msg("part %u, byte %zu", p, i);
    }
}

/* In the middle of the file there is nothing but the largest part, and what leads from a page of
 * SQLite to the next one lies at its begin. */
static void large_damage(const struct store_world *w)
{
    char path[192];
    (void)snprintf(path, sizeof(path), w->form == STORE_DIR ? "%s/chk-1/state" : "%s", w->file);
    FILE *f = fopen(path, "r+b");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fseek(f, (long)(WARM_LEAST / 2) + 5000, SEEK_SET), 0);
    int c = fgetc(f);
    ck_assert_int_eq(fseek(f, -1, SEEK_CUR), 0);
    ck_assert_int_eq(fputc(c ^ 0x10, f), c ^ 0x10);
    ck_assert_int_eq(fclose(f), 0);
}

void store_kit_large(struct store_world *w)
{
    struct manifest *m = NULL;
    struct store *s = store_kit_open(w);
    large_publish(w, s);
    ck_assert_msg(store_load_newest(s, w->arena, &m, &w->err) == SR_OK, "%s", w->err.words);
    for (uint32_t p = 0; p < LARGE_PARTS; p++) {
        large_check(&m->part[p], p);
    }
    manifest_let_go(m, w->arena, "gate");
    manifest_let_go(m, w->arena, MANIFEST_STATE);
    for (uint32_t p = 0; p < LARGE_PARTS; p++) {
        bool is_gone = large_len[p] >= ARENA_DROP_LEAST;
        ck_assert(is_gone == !m->part[p].bytes);
        if (!is_gone) large_check(&m->part[p], p);
    }
    if (w->form != STORE_MEMORY) {
        store_close(s); /* which may remember pages */
        large_damage(w);
        s = store_kit_open(w);
        ck_assert_int_eq(store_load_newest(s, w->arena, &m, &w->err), SR_ECORRUPT);
        ck_assert_msg(strstr(w->err.words, "part d/state/0"), "%s", w->err.words);
    }
    store_close(s);
}
