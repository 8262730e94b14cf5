/* What a marker says of what the store holds: each row of the table. */
#include <string.h>

#include "../unit.h"
#include "engine/base/bytes.h"
#include "engine/run/decider.h"

#define OURS   7u
#define OTHERS 9u

static struct sr_marker marker(uint64_t lineage, uint64_t checkpoint)
{
    return (struct sr_marker){lineage, checkpoint};
}

static const struct sr_marker none = {0, 0};

static const struct decider_note note = {.is_there = true, .previous = 4, .evidence = {"row", 3}};

static enum decider_verdict judge(struct sr_marker m, uint64_t lineage, uint64_t checkpoint,
                                  enum manifest_end end, const struct decider_note *n)
{
    struct manifest newest = {.lineage = lineage, .checkpoint = checkpoint, .end = end};
    return decider_judge(&m, OURS, &newest, n);
}

START_TEST(a_pending_one_is_what_the_marker_says)
{
    ck_assert_int_eq(judge(marker(OURS, 5), OURS, 5, MANIFEST_PENDING, &note), VERDICT_PROMOTE);
    ck_assert_int_eq(judge(marker(OURS, 4), OURS, 5, MANIFEST_PENDING, &note), VERDICT_DROP);
    ck_assert_int_eq(judge(marker(OURS, 3), OURS, 5, MANIFEST_PENDING, &note), VERDICT_STOP);
    ck_assert_int_eq(judge(marker(OURS, 6), OURS, 5, MANIFEST_PENDING, &note), VERDICT_STOP);
    ck_assert_int_eq(judge(marker(OTHERS, 5), OURS, 5, MANIFEST_PENDING, &note), VERDICT_STOP);
}
END_TEST

START_TEST(without_a_marker_a_row_must_tell)
{
    const struct decider_note empty = {.is_there = true, .previous = 4};
    ck_assert_int_eq(judge(none, OURS, 5, MANIFEST_PENDING, &note), VERDICT_LOOK);
    ck_assert_int_eq(judge(none, OURS, 5, MANIFEST_PENDING, &empty), VERDICT_DROP);
    ck_assert_int_eq(judge(none, OURS, 5, MANIFEST_RUNNING, &note), VERDICT_BASE);
}
END_TEST

START_TEST(a_complete_one_is_the_last_or_nothing_fits)
{
    ck_assert_int_eq(judge(marker(OURS, 5), OURS, 5, MANIFEST_RUNNING, &note), VERDICT_GO_ON);
    ck_assert_int_eq(judge(marker(OURS, 5), OURS, 5, MANIFEST_SUSPENDED, &note), VERDICT_GO_ON);
    ck_assert_int_eq(judge(marker(OURS, 6), OURS, 5, MANIFEST_RUNNING, &note), VERDICT_STOP);
    ck_assert_int_eq(judge(marker(OTHERS, 5), OURS, 5, MANIFEST_RUNNING, &note), VERDICT_STOP);
}
END_TEST

START_TEST(a_lineage_without_a_row_begins_with_a_base_marker)
{
    const struct decider_note absent = {.is_there = false};
    struct sr_marker old = marker(OTHERS, 12);
    ck_assert_int_eq(decider_judge(&none, OURS, NULL, &absent), VERDICT_BASE);
    ck_assert_int_eq(decider_judge(&old, OURS, NULL, &absent), VERDICT_BASE);
    /* Restored from what another lineage left; from a time when the job had no such sink. */
    ck_assert_int_eq(judge(old, OTHERS, 12, MANIFEST_RUNNING, &note), VERDICT_BASE);
    ck_assert_int_eq(judge(old, OURS, 12, MANIFEST_RUNNING, &absent), VERDICT_BASE);
    /* What another lineage has pending nobody here can settle. */
    ck_assert_int_eq(judge(old, OTHERS, 12, MANIFEST_PENDING, &note), VERDICT_STOP);
}
END_TEST

START_TEST(a_note_that_is_cut_is_damage)
{
    static const uint8_t bytes[] = {1, 4, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 'r', 'o', 'w'};
    for (size_t len = 0; len <= sizeof(bytes); len++) {
        struct manifest_part part = {
            .uid = DECIDER_PART, .name = DECIDER_PART, .parts = 1, .bytes = bytes, .len = len};
        struct manifest m = {.checkpoint = 5, .parts = 1, .part = &part};
        struct decider_note is;
        struct sr_error err;
        sr_rc rc = decider_note_load(&m, &is, &err);
        ck_assert_int_eq(rc, len == sizeof(bytes) ? SR_OK : SR_ECORRUPT);
        if (rc != SR_OK) continue;
        ck_assert(is.is_there);
        ck_assert_uint_eq(is.previous, 4);
        ck_assert_uint_eq(is.evidence.len, 3);
        ck_assert_mem_eq(is.evidence.data, "row", 3);
    }
    struct manifest bare = {.checkpoint = 5};
    struct decider_note is;
    ck_assert_int_eq(decider_note_load(&bare, &is, NULL), SR_OK);
    ck_assert(!is.is_there);
    ck_assert_int_eq(decider_note_load(NULL, &is, NULL), SR_OK);
}
END_TEST

UNIT_MAIN("decider", a_pending_one_is_what_the_marker_says, without_a_marker_a_row_must_tell,
          a_complete_one_is_the_last_or_nothing_fits,
          a_lineage_without_a_row_begins_with_a_base_marker, a_note_that_is_cut_is_damage)
