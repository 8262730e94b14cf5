/* What connectors share: notes, chained digests, blocks of bytes. */
#include "test/unit/unit.h"

#include <string.h>

#include "connectors/common/block.h"
#include "connectors/common/blocksum.h"
#include "connectors/common/list.h"
#include "connectors/common/note.h"
#include "test/kit/stage.h"

/* What was put comes back; every cut is found, and nothing is read behind the end. */
START_TEST(notes_come_back_whole_or_broken)
{
    struct sr_out o = note_out();
    ck_assert(note_put_u8(&o, 7) && note_put_u32(&o, UINT32_MAX) && note_put_u64(&o, 1) &&
              note_put_text(&o, "text") && note_put_text(&o, ""));
    for (uint32_t len = 0; len <= o.len; len++) {
        uint8_t *copy = malloc(len > 0 ? len : 1);
        memcpy(copy, o.data, len);
        struct note_in in = note_in((struct sr_bytes){copy, len});
        uint8_t a = note_get_u8(&in);
        uint32_t b = note_get_u32(&in);
        uint64_t c = note_get_u64(&in);
        char *text = note_get_text(&in), *empty = note_get_text(&in);
        ck_assert(note_is_done(&in) == (len == o.len));
        if (len == o.len) {
            ck_assert(a == 7 && b == UINT32_MAX && c == 1);
            ck_assert_str_eq(text, "text");
            ck_assert_str_eq(empty, "");
        }
        free(text);
        free(empty);
        free(copy);
    }
    note_free(&o);
}
END_TEST

/* A text with a zero inside, or longer than what is there, is broken. */
START_TEST(notes_refuse_hostile_texts)
{
    static const uint8_t zero[] = {2, 0, 0, 0, 'a', 0};
    static const uint8_t huge[] = {255, 255, 255, 255, 'a'};
    struct note_in in = note_in((struct sr_bytes){zero, sizeof(zero)});
    ck_assert_ptr_null(note_get_text(&in));
    ck_assert(in.is_broken);
    in = note_in((struct sr_bytes){huge, sizeof(huge)});
    ck_assert_ptr_null(note_get_text(&in));
    ck_assert(in.is_broken && !note_is_done(&in));
}
END_TEST

/* The digest of a file is that which its writer chained, for any length; one bit changes it. */
START_TEST(chains_agree_with_files)
{
    static const size_t length[] = {
        0, 1, BLOCKSUM_BLOCK - 1, BLOCKSUM_BLOCK, BLOCKSUM_BLOCK + 1, 3 * BLOCKSUM_BLOCK};
    struct stage s;
    stage_open(&s);
    char *text = malloc(3 * BLOCKSUM_BLOCK + 1);
    for (size_t i = 0; i < 3 * BLOCKSUM_BLOCK; i++) {
        text[i] = (char)('a' + i % 23);
    }
    text[3 * BLOCKSUM_BLOCK] = 0;
    stage_write(&s, "f", text);
    for (size_t i = 0; i < sizeof(length) / sizeof(length[0]); i++) {
        struct blocksum c = {{0, 0}};
        size_t at = 0;
        for (; length[i] - at >= BLOCKSUM_BLOCK; at += BLOCKSUM_BLOCK) {
            blocksum_add(&c, &s.host, (const uint8_t *)text + at);
        }
        uint64_t written[2], read[2];
        struct sr_error err;
        blocksum_end(&c, &s.host, (const uint8_t *)text + at, length[i] - at, written);
        ck_assert_int_eq(blocksum_file(&s.host, stage_path(&s, "f"), length[i], read, &err), SR_OK);
        ck_assert(written[0] == read[0] && written[1] == read[1]);
    }
    uint64_t before[2], after[2];
    struct sr_error err;
    ck_assert_int_eq(blocksum_file(&s.host, stage_path(&s, "f"), 3 * BLOCKSUM_BLOCK, before, &err),
                     SR_OK);
    text[BLOCKSUM_BLOCK + 5] ^= 1;
    stage_write(&s, "f", text);
    ck_assert_int_eq(blocksum_file(&s.host, stage_path(&s, "f"), 3 * BLOCKSUM_BLOCK, after, &err),
                     SR_OK);
    ck_assert(before[0] != after[0] || before[1] != after[1]);
    ck_assert_int_eq(
        blocksum_file(&s.host, stage_path(&s, "f"), 3 * BLOCKSUM_BLOCK + 1, after, &err),
        SR_ECORRUPT);
    free(text);
    stage_close(&s);
}
END_TEST

/* Fills the block as far as it goes, with bytes that tell their place. */
static uint32_t fill(struct block *b, uint32_t *place)
{
    uint8_t *to = NULL;
    uint32_t len = 0;
    ck_assert_int_eq(block_room(b, &to, &len), SR_OK);
    for (uint32_t i = 0; i < len; i++) {
        to[i] = (uint8_t)((*place)++ * 31 >> 3);
    }
    block_filled(b, len);
    return len;
}

/* Do the unconsumed bytes begin at this place? */
static bool is_from(const struct block *b, uint32_t place)
{
    bool is_same = true;
    for (uint32_t i = 0; i < block_length(b); i++) {
        is_same = is_same && block_bytes(b)[i] == (uint8_t)((place + i) * 31 >> 3);
    }
    return is_same;
}

/* Bytes that somebody else still holds never change; a tail goes on, byte for byte. */
START_TEST(blocks_leave_held_bytes_alone)
{
    struct stage s;
    stage_open(&s);
    struct block b = {.host = &s.host, .record_max = 1u << 29};
    uint32_t place = 0, consumed = 0;
    for (uint32_t round = 0; round < 6; round++) {
        (void)fill(&b, &place);
        struct sr_buffer *held = b.buffer;
        s.host.buffer_hold(held);
        uint32_t begin = b.begin, tail = round * 1000;
        uint8_t *copy = malloc(b.end);
        memcpy(copy, held->data, b.end);
        uint32_t end = b.end;
        consumed += block_length(&b) - tail;
        block_consume(&b, block_length(&b) - tail);
        (void)fill(&b, &place);
        ck_assert(memcmp(held->data + begin, copy + begin, end - begin) == 0);
        ck_assert(is_from(&b, consumed));
        consumed += block_length(&b);
        block_consume(&b, block_length(&b));
        s.host.buffer_release(held);
        free(copy);
    }
    block_drop(&b);
    stage_close(&s);
}
END_TEST

/* A record may grow to its limit, in buffers that have slack behind the bytes, and no further. */
START_TEST(blocks_grow_to_the_limit)
{
    struct stage s;
    stage_open(&s);
    struct block b = {.host = &s.host, .record_max = 3000000};
    uint32_t place = 0;
    uint8_t *to = NULL;
    uint32_t len = 0;
    while (block_length(&b) < b.record_max) {
        (void)fill(&b, &place);
        ck_assert_uint_le(b.end + BLOCK_SLACK, b.buffer->capacity);
    }
    ck_assert_int_eq(block_room(&b, &to, &len), SR_ELIMIT);
    ck_assert(is_from(&b, 0));
    block_consume(&b, block_length(&b));
    ck_assert_int_eq(block_room(&b, &to, &len), SR_OK);
    block_drop(&b);
    stage_close(&s);
}
END_TEST

START_TEST(a_list_grows_and_keeps_what_is_in_it)
{
    uint32_t *list = NULL, capacity = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t *moved = list_room(list, i, &capacity, sizeof(*list));
        ck_assert_ptr_nonnull(moved);
        list = moved;
        list[i] = i;
        ck_assert_uint_gt(capacity, i);
    }
    for (uint32_t i = 0; i < 1000; i++) {
        ck_assert_uint_eq(list[i], i);
    }
    ck_assert_uint_le(capacity, 2048);
    free(list);
}
END_TEST

UNIT_MAIN("common", notes_come_back_whole_or_broken, notes_refuse_hostile_texts,
          chains_agree_with_files, blocks_leave_held_bytes_alone, blocks_grow_to_the_limit,
          a_list_grows_and_keeps_what_is_in_it)
