/* Memory is made ready beside its owner: what that writes stays, and it may end at any time. */
#include <stdbool.h>
#include <stdlib.h>

#include "test/unit/unit.h"

#include "engine/base/warm.h"

#define SIZE (WARM_LEAST + 12345)

static bool is_kept(const unsigned char *memory)
{
    for (size_t i = 0; i < SIZE; i++) {
        if (memory[i] != (unsigned char)(i % 253)) return false;
    }
    return true;
}

START_TEST(what_is_written_meanwhile_stays)
{
    for (int way = WARM_AHEAD; way <= WARM_FROM_END; way++) {
        unsigned char *memory = malloc(SIZE);
        struct warm *w = warm_start(memory, SIZE, (enum warm_way)way);
        for (size_t i = 0; i < SIZE; i++) {
            memory[i] = (unsigned char)(i % 253);
        }
        warm_stop(w);
        ck_assert(is_kept(memory));
        free(memory);
    }
}
END_TEST

START_TEST(it_ends_when_it_is_told)
{
    for (int i = 0; i < 20; i++) {
        void *memory = malloc(8 * WARM_LEAST);
        warm_stop(warm_start(memory, 8 * WARM_LEAST, i % 2 ? WARM_AHEAD : WARM_FROM_END));
        free(memory);
    }
}
END_TEST

START_TEST(little_is_not_worth_it)
{
    ck_assert_ptr_null(warm_start(NULL, WARM_LEAST, WARM_AHEAD));
    char little[1];
    ck_assert_ptr_null(warm_start(little, sizeof(little), WARM_AHEAD));
    warm_stop(NULL);
}
END_TEST

UNIT_MAIN("warm", what_is_written_meanwhile_stays, it_ends_when_it_is_told, little_is_not_worth_it)
