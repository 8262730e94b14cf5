#include <jansson.h>
#include <string.h>

#include "engine/base/bytes.h"
#include "engine/ckpt/manifest.h"
#include "test/unit/unit.h"

static struct manifest_part parts[] = {
    {.uid = "hits", .name = "splits", .part = 0, .parts = 2, .len = 17, .digest = {1, 2}},
    {.uid = "hits", .name = "splits", .part = 1, .parts = 2, .len = 0, .digest = {3, 4}},
    {.uid = "per_minute", .name = "state", .part = 0, .parts = 1, .len = 1u << 20},
    {.uid = "t\xc3\xa4"
            "ble",
     .name = "notes",
     .part = 7,
     .parts = 32768,
     .len = 5},
};
static struct manifest_counter counters[] = {{"table.written", 41}, {"table.late", -1}};

static struct manifest sample(void)
{
    return (struct manifest){.version = MANIFEST_VERSION,
                             .kind = MANIFEST_SAVEPOINT,
                             .end = MANIFEST_SUSPENDED,
                             .checkpoint = 7,
                             .lineage = 3,
                             .attempt = 9,
                             .parent = 6,
                             .started_us = 1700000000000000,
                             .ended_us = -1,
                             .job_id = "0123456789abcdef0123456789abcdef",
                             .job_name = "page-hits",
                             .description = "sources:\n  hits: {}\n",
                             .made_by = "streamrun 0.1.0",
                             .max_parallelism = 128,
                             .parts = 4,
                             .part = parts,
                             .counters = 2,
                             .counter = counters};
}

static struct sr_out encode(const struct manifest *m)
{
    struct sr_out out = bytes_out();
    struct sr_error err;
    ck_assert_msg(manifest_check(m, &err) == SR_OK, "%s", err.words);
    ck_assert(manifest_encode(m, &out));
    return out;
}

/* Decodes exactly these bytes, in memory of exactly that size, so that sanitizers see any
 * overrun. */
static sr_rc decode(struct arena *a, const uint8_t *bytes, size_t len, struct manifest **out,
                    struct sr_error *err)
{
    uint8_t *exact = malloc(len > 0 ? len : 1);
    ck_assert_ptr_nonnull(exact);
    memcpy(exact, bytes, len);
    sr_rc rc = manifest_decode(a, exact, len, out, err);
    free(exact);
    return rc;
}

/* Closes changed bytes again, as a forger or a bug would: only the fields' own bounds are left. */
static void seal(uint8_t *bytes, size_t len)
{
    struct sr_out tail = bytes_out();
    ck_assert(bytes_put_u64(&tail, len - 24));
    memcpy(bytes + len - 24, tail.data, 8);
    struct digest d = digest_of(bytes, len - 16);
    ck_assert(bytes_put_u64(&tail, d.low) && bytes_put_u64(&tail, d.high));
    memcpy(bytes + len - 16, tail.data + 8, 16);
    bytes_free(&tail);
}

START_TEST(what_was_encoded_comes_back)
{
    struct manifest m = sample();
    struct sr_out out = encode(&m);
    struct arena *a = arena_new();
    struct manifest *back = NULL;
    struct sr_error err;
    ck_assert_msg(decode(a, out.data, out.len, &back, &err) == SR_OK, "%s", err.words);
    ck_assert_uint_eq(back->version, MANIFEST_VERSION);
    ck_assert_int_eq(back->kind, m.kind);
    ck_assert_int_eq(back->end, m.end);
    ck_assert_uint_eq(back->checkpoint, 7);
    ck_assert_uint_eq(back->lineage, 3);
    ck_assert_uint_eq(back->attempt, 9);
    ck_assert_uint_eq(back->parent, 6);
    ck_assert_int_eq(back->started_us, m.started_us);
    ck_assert_int_eq(back->ended_us, -1);
    ck_assert_uint_eq(back->max_parallelism, 128);
    ck_assert_str_eq(back->job_id, m.job_id);
    ck_assert_str_eq(back->job_name, m.job_name);
    ck_assert_str_eq(back->description, m.description);
    ck_assert_str_eq(back->made_by, m.made_by);
    ck_assert_uint_eq(back->parts, 4);
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert_str_eq(back->part[i].uid, parts[i].uid);
        ck_assert_str_eq(back->part[i].name, parts[i].name);
        ck_assert_uint_eq(back->part[i].part, parts[i].part);
        ck_assert_uint_eq(back->part[i].parts, parts[i].parts);
        ck_assert_uint_eq(back->part[i].len, parts[i].len);
        ck_assert_uint_eq(back->part[i].digest.high, parts[i].digest.high);
        ck_assert_ptr_null(back->part[i].bytes);
    }
    ck_assert_uint_eq(back->counters, 2);
    ck_assert_int_eq(back->counter[1].value, -1);
    ck_assert_uint_eq(manifest_bytes(back), 17 + (1u << 20) + 5);
    arena_free(a);
    bytes_free(&out);
}
END_TEST

START_TEST(no_flipped_bit_and_no_cut_passes)
{
    struct manifest m = sample();
    struct sr_out out = encode(&m);
    struct sr_error err;
    struct manifest *back = NULL;
    for (size_t i = 0; i < out.len; i++) {
        struct arena *a = arena_new();
        for (unsigned bit = 0; bit < 8; bit++) {
            out.data[i] ^= (uint8_t)(1u << bit);
            ck_assert_int_eq(decode(a, out.data, out.len, &back, &err), SR_ECORRUPT);
            out.data[i] ^= (uint8_t)(1u << bit);
        }
        ck_assert_int_eq(decode(a, out.data, i, &back, &err), SR_ECORRUPT);
        arena_free(a);
    }
    bytes_free(&out);
}
END_TEST

/* The digest is right, the fields are not: bounds hold, memory stays small, nothing is overrun; and
 * what still decodes encodes to the same bytes. */
START_TEST(a_forged_field_is_refused_or_means_itself)
{
    static const uint8_t values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    struct manifest m = sample();
    struct sr_out out = encode(&m);
    struct sr_error err;
    size_t refused = 0;
    for (size_t i = 0; i + 24 < out.len; i++) {
        for (size_t v = 0; v < sizeof(values); v++) {
            struct arena *a = arena_new();
            struct manifest *back = NULL;
            uint8_t old = out.data[i];
            out.data[i] = values[v];
            seal(out.data, out.len);
            sr_rc rc = decode(a, out.data, out.len, &back, &err);
            if (rc == SR_OK) {
                struct sr_out again = encode(back);
                ck_assert_uint_eq(again.len, out.len);
                ck_assert_mem_eq(again.data, out.data, out.len);
                bytes_free(&again);
            } else {
                ck_assert(rc == SR_ECORRUPT || rc == SR_EMISFIT);
                refused++;
            }
            out.data[i] = old;
            arena_free(a);
        }
    }
    ck_assert_uint_gt(refused, 200);
    bytes_free(&out);
}
END_TEST

START_TEST(a_newer_format_is_no_damage)
{
    struct manifest m = sample();
    struct sr_out out = encode(&m);
    struct arena *a = arena_new();
    struct manifest *back = NULL;
    struct sr_error err;
    out.data[8] = MANIFEST_VERSION + 1;
    seal(out.data, out.len);
    ck_assert_int_eq(decode(a, out.data, out.len, &back, &err), SR_EMISFIT);
    ck_assert_msg(strstr(err.words, "newer") != NULL, "%s", err.words);
    arena_free(a);
    bytes_free(&out);
}
END_TEST

START_TEST(what_cannot_be_read_back_is_not_written)
{
    struct sr_error err;
    struct manifest m = sample();
    m.checkpoint = 0;
    ck_assert_int_eq(manifest_check(&m, &err), SR_ELIMIT);
    m = sample();
    m.job_name = "\xed\xa0\x80"; /* a surrogate */
    ck_assert_int_eq(manifest_check(&m, &err), SR_ELIMIT);
    m.job_name = "\xc0\xaf"; /* an overlong slash */
    ck_assert_int_eq(manifest_check(&m, &err), SR_ELIMIT);
    m.job_name = "\xf4\x90\x80\x80"; /* above U+10FFFF */
    ck_assert_int_eq(manifest_check(&m, &err), SR_ELIMIT);
    m.job_name = "\xf0\x9f\x90\x98"; /* an elephant */
    ck_assert_int_eq(manifest_check(&m, &err), SR_OK);
    struct manifest_part bad[2] = {{.uid = "a", .name = "b", .part = 1, .parts = 1}};
    m.part = bad;
    m.parts = 1;
    ck_assert_int_eq(manifest_check(&m, &err), SR_ELIMIT);
    bad[0].part = 0;
    bad[1] = bad[0];
    m.parts = 2;
    ck_assert_int_eq(manifest_check(&m, &err), SR_ELIMIT);
    bad[0].uid = "b";
    ck_assert_int_eq(manifest_check(&m, &err), SR_ELIMIT);
    manifest_order(&m);
    ck_assert_int_eq(manifest_check(&m, &err), SR_OK);
    bad[0].len = UINT64_MAX;
    bad[1].len = 1;
    ck_assert_int_eq(manifest_check(&m, &err), SR_ELIMIT);
}
END_TEST

START_TEST(json_shows_every_field)
{
    struct manifest m = sample();
    struct arena *a = arena_new();
    const char *text = manifest_json(a, &m);
    ck_assert_ptr_nonnull(text);
    json_t *o = json_loads(text, 0, NULL);
    ck_assert_ptr_nonnull(o);
    ck_assert_int_eq(json_integer_value(json_object_get(o, "checkpoint")), 7);
    ck_assert_str_eq(json_string_value(json_object_get(o, "kind")), "savepoint");
    ck_assert_str_eq(json_string_value(json_object_get(o, "run")), "suspended");
    ck_assert_str_eq(json_string_value(json_object_get(o, "lineage")), "0000000000000003");
    ck_assert_str_eq(json_string_value(json_object_get(o, "ended")), "1969-12-31T23:59:59.999Z");
    ck_assert_str_eq(json_string_value(json_object_get(o, "description")), m.description);
    ck_assert_uint_eq(json_array_size(json_object_get(o, "parts")), 4);
    json_t *part = json_array_get(json_object_get(o, "parts"), 3);
    ck_assert_str_eq(json_string_value(json_object_get(part, "uid")), parts[3].uid);
    ck_assert_int_eq(json_integer_value(json_object_get(part, "subtask")), 7);
    json_t *counter = json_object_get(o, "counters");
    ck_assert_int_eq(json_integer_value(json_object_get(counter, "table.written")), 41);
    json_decref(o);
    arena_free(a);
}
END_TEST

START_TEST(every_end_has_a_word)
{
    enum manifest_end end = MANIFEST_RUNNING;
    for (unsigned e = MANIFEST_RUNNING; e <= MANIFEST_FINISHED; e++) {
        ck_assert(manifest_end_of(manifest_end_name((enum manifest_end)e), &end));
        ck_assert_uint_eq((unsigned)end, e);
    }
    ck_assert(!manifest_end_of("ended", &end));
}
END_TEST

UNIT_MAIN("manifest", what_was_encoded_comes_back, no_flipped_bit_and_no_cut_passes,
          a_forged_field_is_refused_or_means_itself, a_newer_format_is_no_damage,
          what_cannot_be_read_back_is_not_written, json_shows_every_field, every_end_has_a_word)
