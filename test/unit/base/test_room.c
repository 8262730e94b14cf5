#include "engine/base/room.h"

#include "test/unit/unit.h"

START_TEST(a_list_grows_and_keeps_what_is_in_it)
{
    uint32_t *list = NULL, space = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t *grown = room_for_one(list, i, &space, sizeof(*list));
        ck_assert_ptr_nonnull(grown);
        list = grown;
        list[i] = i;
        ck_assert_uint_gt(space, i);
    }
    for (uint32_t i = 0; i < 1000; i++) {
        ck_assert_uint_eq(list[i], i);
    }
    ck_assert_uint_le(space, 2048);
    free(list);
}
END_TEST

START_TEST(a_list_that_cannot_grow_is_left_as_it_is)
{
    uint8_t byte = 7;
    uint32_t space = UINT32_MAX / 2 + 1;
    ck_assert_ptr_null(room_for_one(&byte, space, &space, 1));
    ck_assert_uint_eq(space, UINT32_MAX / 2 + 1);
    ck_assert_uint_eq(byte, 7);
}
END_TEST

START_TEST(room_for_several_is_there_at_once)
{
    uint32_t *list = NULL, space = 0;
    list = room_for(list, 0, 100, &space, sizeof(*list));
    ck_assert_ptr_nonnull(list);
    ck_assert_uint_ge(space, 100);
    uint32_t before = space;
    ck_assert_ptr_eq(room_for(list, 50, before - 50, &space, sizeof(*list)), list);
    ck_assert_uint_eq(space, before);
    list[99] = 99;
    list = room_for(list, 100, 1000, &space, sizeof(*list));
    ck_assert_uint_ge(space, 1100);
    ck_assert_uint_eq(list[99], 99);
    free(list);
}
END_TEST

START_TEST(room_for_too_many_leaves_the_list_as_it_is)
{
    uint8_t byte = 7;
    uint32_t space = 1;
    ck_assert_ptr_null(room_for(&byte, 1, UINT32_MAX / 2 + 1, &space, 1));
    ck_assert_uint_eq(space, 1);
    ck_assert_uint_eq(byte, 7);
}
END_TEST

UNIT_MAIN("room", a_list_grows_and_keeps_what_is_in_it, a_list_that_cannot_grow_is_left_as_it_is,
          room_for_several_is_there_at_once, room_for_too_many_leaves_the_list_as_it_is)
