#include <stdint.h>
#include <string.h>

#include "engine/base/arena.h"
#include "test/unit/unit.h"

START_TEST(pieces_are_zeroed_aligned_and_apart)
{
    struct arena *a = arena_new();
    unsigned char *piece[200];
    size_t size[200];
    for (size_t i = 0; i < 200; i++) {
        size[i] = i * 37 % 5000;
        piece[i] = arena_get(a, size[i]);
        ck_assert_uint_eq((uintptr_t)piece[i] % 16, 0);
        for (size_t k = 0; k < size[i]; k++) {
            ck_assert_uint_eq(piece[i][k], 0);
        }
        memset(piece[i], (int)(i + 1), size[i]);
    }
    for (size_t i = 0; i < 200; i++) {
        for (size_t k = 0; k < size[i]; k++) {
            ck_assert_uint_eq(piece[i][k], (unsigned char)(i + 1));
        }
    }
    ck_assert(!arena_is_broken(a));
    arena_free(a);
}
END_TEST

START_TEST(a_size_that_cannot_be_is_remembered)
{
    struct arena *a = arena_new();
    ck_assert_ptr_null(arena_array(a, SIZE_MAX / 2, 3));
    ck_assert(arena_is_broken(a));
    ck_assert_ptr_nonnull(arena_get(a, 10));
    ck_assert(arena_is_broken(a));
    arena_free(a);
    arena_free(NULL);
}
END_TEST

START_TEST(texts_are_copies)
{
    struct arena *a = arena_new();
    char s[] = "abc";
    char *copy = arena_text(a, s);
    s[0] = 'x';
    ck_assert_str_eq(copy, "abc");
    ck_assert_str_eq(arena_text_n(a, "abcdef", 2), "ab");
    ck_assert_str_eq(arena_printf(a, "%d-%s", 7, "z"), "7-z");
    ck_assert_ptr_null(arena_text(a, NULL));
    arena_free(a);
}
END_TEST

/* A list keeps its pieces while it grows, and stays where it is while it has room. */
START_TEST(lists_grow)
{
    struct arena *a = arena_new();
    uint32_t *list = NULL, space = 0;
    for (uint32_t i = 0; i < 100; i++) {
        uint32_t before = space;
        uint32_t *grown = arena_more(a, list, i, &space, sizeof(*grown));
        ck_assert_ptr_nonnull(grown);
        ck_assert(i < space && (before == space) == (grown == list));
        list = grown;
        list[i] = i;
    }
    for (uint32_t i = 0; i < 100; i++) {
        ck_assert_uint_eq(list[i], i);
    }
    ck_assert_ptr_null(arena_more(a, list, space, &space, SIZE_MAX / 16));
    ck_assert(arena_is_broken(a));
    arena_free(a);
}
END_TEST

/* A large piece can go before the others, wherever it is among them, and the rest stays. */
START_TEST(large_pieces_are_dropped)
{
    struct arena *a = arena_new();
    void *first = arena_get(a, ARENA_DROP_LEAST);
    char *text = arena_text(a, "stays");
    void *second = arena_get(a, ARENA_DROP_LEAST + 5);
    void *third = arena_get(a, 2 * ARENA_DROP_LEAST);
    arena_drop(a, second);
    ck_assert_str_eq(arena_text(a, "more"), "more");
    arena_drop(a, first);
    arena_drop(a, third);
    ck_assert_str_eq(text, "stays");
    ck_assert_ptr_nonnull(arena_get(a, ARENA_DROP_LEAST));
    arena_free(a);
}
END_TEST

UNIT_MAIN("arena", pieces_are_zeroed_aligned_and_apart, a_size_that_cannot_be_is_remembered,
          texts_are_copies, lists_grow, large_pieces_are_dropped)
