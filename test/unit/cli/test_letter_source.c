/* The source of a replay: each letter is one record, read on behind what was consumed. */
#include "test/unit/unit.h"

#include <string.h>

#include "cli/letter_source.h"
#include "engine/base/bytes.h"
#include "test/kit/stage.h"

#define LARGE (3u << 20) /* more than what is read at once */

static const struct sr_schema one = {
    .fields = 1,
    .field =
        (const struct sr_field[]){{.name = "line", .type = {.kind = SR_VARCHAR, .length = 9}}}};

struct letters {
    struct stage stage;
    const struct sr_source_type *type;
    struct letter_source_conf conf;
    void *reader;
    struct sr_error err;
};

static void letters_write(struct letters *l, const struct sr_out *file)
{
    struct sr_file *f = NULL;
    const struct sr_files *fs = l->stage.env.files;
    ck_assert_int_eq(fs->open(fs, l->conf.path, SR_FILE_WRITE | SR_FILE_CREATE, &f, &l->err),
                     SR_OK);
    ck_assert_int_eq(fs->write(f, file->data, file->len, 0, &l->err), SR_OK);
    ck_assert_int_eq(fs->close(f, &l->err), SR_OK);
}

/* A reader that goes on at byte `at`. */
static sr_rc letters_read_from(struct letters *l, uint64_t at)
{
    struct sr_out note = bytes_out();
    const struct sr_source_open o = {
        .size = sizeof(o), .host = &l->stage.host, .conf = &l->conf, .schema = &one, .parts = 1};
    l->reader = calloc(1, l->type->reader_size);
    ck_assert(l->reader && bytes_put_u64(&note, at));
    const struct sr_split split = {.id = "a", .note = {note.data, (uint32_t)note.len}};
    ck_assert_int_eq(l->type->open(l->reader, &o, &l->err), SR_OK);
    sr_rc rc = l->type->add(l->reader, 0, &split, &l->err);
    bytes_free(&note);
    return rc;
}

static void letters_read_close(struct letters *l)
{
    l->type->close(l->reader);
    free(l->reader);
}

static uint64_t letters_position(struct letters *l)
{
    struct sr_out note = bytes_out();
    ck_assert_int_eq(l->type->position(l->reader, 0, &note, &l->err), SR_OK);
    struct bytes_in in = bytes_in(note.data, note.len);
    uint64_t at = bytes_get_u64(&in);
    bytes_free(&note);
    return at;
}

static void letters_open(struct letters *l)
{
    static const struct sr_source_type none = {.size = sizeof(none)};
    *l = (struct letters){0};
    stage_open(&l->stage);
    l->conf.path = stage_path(&l->stage, "letters");
    l->type = letter_source_type(l->stage.arena, &none);
    ck_assert_ptr_nonnull(l->type);
}

/* Whatever a record holds, however large it is, and wherever reading stopped, it comes as it is. */
START_TEST(records_come_whole_and_reading_goes_on_behind_each)
{
    struct letters l;
    struct sr_out file = bytes_out();
    char *large = malloc(LARGE);
    ck_assert_ptr_nonnull(large);
    memset(large, 'x', LARGE);
    const struct sr_bytes all[] = {{"a\nb\n", 4}, {"", 0}, {large, LARGE}, {"\0\r", 2}, {large, 9}};
    letters_open(&l);
    for (uint32_t i = 0; i < 5; i++) {
        ck_assert(letter_source_put(&file, all[i].data, all[i].len));
    }
    letters_write(&l, &file);
    uint64_t at = 0;
    for (uint32_t i = 0; i < 5; i++) {
        struct sr_poll p = {.at = -1};
        ck_assert_int_eq(letters_read_from(&l, at), SR_OK);
        ck_assert_int_eq(l.type->poll(l.reader, &p, &l.err), SR_POLL_DATA);
        ck_assert_uint_ge(p.records, 1);
        ck_assert_uint_eq(p.record[0].len, all[i].len);
        if (all[i].len > 0) {
            ck_assert_mem_eq(p.bytes + p.record[0].at, all[i].data, all[i].len);
        }
        l.type->consume(l.reader, 0, 1);
        at = letters_position(&l);
        letters_read_close(&l);
    }
    struct sr_poll p = {.at = -1};
    ck_assert_int_eq(letters_read_from(&l, at), SR_OK);
    ck_assert_int_eq(l.type->poll(l.reader, &p, &l.err), SR_POLL_SPLIT_END);
    letters_read_close(&l);
    bytes_free(&file);
    free(large);
    stage_close(&l.stage);
}
END_TEST

/* A file that ends within a record, or whose length cannot be, is damaged. */
START_TEST(a_file_that_is_cut_off_is_damaged)
{
    static const struct sr_bytes damaged[] = {
        {"\4\0\0\0abc", 7}, {"\4\0", 2}, {"\377\377\377\377", 4}};
    for (uint32_t i = 0; i < 3; i++) {
        struct letters l;
        struct sr_poll p = {.at = -1};
        letters_open(&l);
        struct sr_out file = bytes_out();
        ck_assert(bytes_put(&file, damaged[i].data, damaged[i].len));
        letters_write(&l, &file);
        ck_assert_int_eq(letters_read_from(&l, 0), SR_OK);
        ck_assert_int_eq(l.type->poll(l.reader, &p, &l.err), SR_POLL_FAILED);
        ck_assert_int_eq(l.err.rc, SR_ECORRUPT);
        letters_read_close(&l);
        bytes_free(&file);
        stage_close(&l.stage);
    }
}
END_TEST

UNIT_MAIN("letter_source", records_come_whole_and_reading_goes_on_behind_each,
          a_file_that_is_cut_off_is_damaged)
