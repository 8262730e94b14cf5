/* What brokers note of a transaction, as both of their versions write it, and as nobody does. */
#include <stdlib.h>
#include <string.h>

#include "connectors/kafka/transactions.h"
#include "test/unit/unit.h"

/* Version 0: producer 7, epoch 3, 60000 ms, Ongoing, {"t": [0, 2]}, moved 2, since 1. */
static const uint8_t old[] = {0, 0, 0, 0, 0, 0,   0, 0, 0, 7, 0, 3, 0, 0, 0xEA, 0x60, 1, 0,
                              0, 0, 1, 0, 1, 't', 0, 0, 0, 2, 0, 0, 0, 0, 0,    0,    0, 2,
                              0, 0, 0, 0, 0, 0,   0, 2, 0, 0, 0, 0, 0, 0, 0,    1};
/* Version 1: the same, PrepareCommit, with a tag of 8 bytes. */
static const uint8_t new[] = {0,   1, 0, 0, 0, 0, 0, 0, 0, 7, 0, 3, 0, 0, 0xEA, 0x60, 2, 2, 2,
                              't', 3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0,    0,    0, 0, 2,
                              0,   0, 0, 0, 0, 0, 0, 1, 1, 0, 8, 1, 1, 1, 1,    1,    1, 1, 1};
/* Version 1 without partitions: Empty, null, since -1. */
static const uint8_t idle[] = {0, 1, 0,    0,    0,    0,    0,    0,    0,    9,    0, 0,
                               0, 0, 0,    1,    0,    0,    0,    0,    0,    0,    0, 0,
                               0, 5, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0};

START_TEST(test_both_versions_are_read)
{
    struct transaction t = {.id = NULL};
    ck_assert(transaction_parse(old, sizeof(old), &t));
    ck_assert_int_eq(t.producer_id, 7);
    ck_assert_int_eq(t.epoch, 3);
    ck_assert_int_eq(t.timeout_ms, 60000);
    ck_assert_int_eq(t.state, TRANSACTION_ONGOING);
    ck_assert_str_eq(t.partitions, "t-0,t-2");
    ck_assert_int_eq(t.moved_ms, 2);
    ck_assert_int_eq(t.since_ms, 1);
    ck_assert(transaction_is_open(&t));
    ck_assert(transaction_parse(new, sizeof(new), &t));
    ck_assert_str_eq(t.partitions, "t-0,t-2");
    ck_assert_uint_eq(t.partition_count, 2);
    ck_assert_int_eq(t.state, TRANSACTION_PREPARE_COMMIT);
    ck_assert_int_eq(t.since_ms, 1);
    ck_assert(transaction_parse(idle, sizeof(idle), &t));
    ck_assert_uint_eq(t.partition_count, 0);
    ck_assert_str_eq(t.partitions, "");
    ck_assert_int_eq(t.since_ms, -1);
    ck_assert(!transaction_is_open(&t));
    ck_assert_str_eq(transaction_state_name(t.state), "Empty");
    ck_assert_str_eq(transaction_state_name(99), "unknown");
}
END_TEST

/* Each prefix in memory of just that length, so that a read behind it is seen. */
START_TEST(test_what_is_cut_or_of_another_version_is_refused)
{
    struct transaction t = {.id = NULL};
    for (size_t len = 0; len < sizeof(old); len++) {
        uint8_t *cut = malloc(len + 1);
        memcpy(cut + 1, old, len);
        ck_assert_msg(!transaction_parse(cut + 1, len, &t), "%zu bytes were read", len);
        free(cut);
    }
    uint8_t other[sizeof(old)];
    memcpy(other, old, sizeof(old));
    other[1] = 2;
    ck_assert(!transaction_parse(other, sizeof(other), &t));
}
END_TEST

START_TEST(test_any_byte_may_be_wrong)
{
    struct transaction t = {.id = NULL};
    for (size_t i = 0; i < sizeof(new); i++) {
        for (uint32_t b = 0; b < 256; b++) {
            uint8_t *bad = malloc(sizeof(new));
            memcpy(bad, new, sizeof(new));
            bad[i] = (uint8_t)b;
            (void)transaction_parse(bad, sizeof(new), &t); /* it only must not read elsewhere */
            ck_assert(strlen(t.partitions) < sizeof(t.partitions));
            free(bad);
        }
    }
}
END_TEST

UNIT_MAIN("kafka transactions", test_both_versions_are_read,
          test_what_is_cut_or_of_another_version_is_refused, test_any_byte_may_be_wrong)
