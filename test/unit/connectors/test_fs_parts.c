/* The filesystem sink with partitions and compression: the same promises, row by row. */
#include "test/unit/unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "connectors/filesystem/filesystem.h"
#include "connectors/filesystem/fs_parting.h"
#include "connectors/filesystem/fs_sink.h"
#include "test/kit/line_format.h"
#include "test/kit/sink_kit.h"

static const char *const keys[] = {"part"};

static struct fs_sink_conf conf_of(const char *path)
{
    return (struct fs_sink_conf){.path = path,
                                 .roll_interval = {-1},
                                 .inactive_interval = {-1},
                                 .check_interval = {-1},
                                 .partition_keys = {1, keys},
                                 .default_name = "none",
                                 .success_name = "_SUCCESS",
                                 .part_prefix = "part-",
                                 .part_suffix = ""};
}

/* The text of a file, unpacked as its name says. In the arena. */
static const char *text_of(struct stage *s, const char *name)
{
    static char bytes[1 << 20], text[1 << 20];
    FILE *f = fopen(stage_path(s, name), "r");
    ck_assert_ptr_nonnull(f);
    size_t len = fread(bytes, 1, sizeof(bytes), f);
    fclose(f);
    size_t got = len;
    if (strstr(name, ".zst")) {
        ZSTD_DCtx *d = ZSTD_createDCtx();
        ZSTD_inBuffer in = {bytes, len, 0};
        ZSTD_outBuffer out = {text, sizeof(text) - 1, 0};
        size_t left = 0;
        while (in.pos < in.size) {
            left = ZSTD_decompressStream(d, &out, &in);
            ck_assert(!ZSTD_isError(left));
        }
        ck_assert_uint_eq(left, 0); /* the last frame is whole */
        ZSTD_freeDCtx(d);
        got = out.pos;
    } else if (strstr(name, ".gz")) {
        gzFile g = gzopen(stage_path(s, name), "r");
        int n = gzread(g, text, sizeof(text) - 1);
        ck_assert_int_ge(n, 0);
        ck_assert_int_eq(gzclose(g), Z_OK);
        got = (size_t)n;
    } else {
        memcpy(text, bytes, len);
    }
    text[got] = 0;
    return arena_text(s->arena, text);
}

static void add_files(struct stage *s, const char *dir, char *all, size_t size)
{
    const char *names = stage_list(s, dir);
    for (const char *at = names; *at; at = strchr(at, '\n') + 1) {
        char path[512];
        struct stat st;
        snprintf(path, sizeof(path), "%s/%.*s", dir, (int)strcspn(at, "\n"), at);
        if (*at == '.' || *at == '_') {
            continue;
        }
        ck_assert_int_eq(stat(stage_path(s, path), &st), 0);
        if (S_ISDIR(st.st_mode)) {
            add_files(s, path, all, size);
        } else {
            strncat(all, text_of(s, path), size - strlen(all) - 1);
        }
    }
}

static const char *visible(struct stage *s)
{
    char all[65536] = "";
    if (stage_has(s, "out")) {
        add_files(s, "out", all, sizeof(all));
    }
    return stage_sort(s, all);
}

static const char *leftovers(struct stage *s)
{
    char text[8192] = "";
    for (const char *at = stage_list(s, "out"); *at; at = strchr(at, '\n') + 1) {
        if (*at == '.') {
            strncat(text, at, strcspn(at, "\n") + 1);
        }
    }
    return arena_text(s->arena, text);
}

static void reset(struct stage *s) { stage_clear(s, "out"); }

static struct sink_kit kit_of(struct stage *s, const struct fs_sink_conf *conf, uint32_t parts)
{
    return (struct sink_kit){.stage = s,
                             .type = &fs_sink_type,
                             .conf = conf,
                             .format = &line_format,
                             .has_part = parts,
                             .visible = visible,
                             .leftovers = leftovers,
                             .reset = reset};
}

START_TEST(partitions_keep_the_promises_of_sinks)
{
    struct stage s;
    stage_open(&s);
    struct fs_sink_conf conf = conf_of(stage_path(&s, "out"));
    struct sink_kit k = kit_of(&s, &conf, 3);
    sink_kit_check(&k);
    stage_close(&s);
}
END_TEST

/* Success files change nothing about the rows, and a policy lets parts go on. */
START_TEST(partitions_that_go_on_keep_the_promises_of_sinks)
{
    static const char *const policy[] = {"success-file"};
    struct stage s;
    stage_open(&s);
    struct fs_sink_conf conf = conf_of(stage_path(&s, "out"));
    conf.roll_size.bytes = 1 << 20;
    struct sink_kit k = kit_of(&s, &conf, 3);
    k.is_at_end = true;
    k.parts_max = 1; /* a second subtask removes what it copied with its own commits */
    sink_kit_check(&k);
    conf.commit_policy = (sr_list){1, policy}; /* at once: closes them at each checkpoint */
    k.is_at_end = false;
    sink_kit_check(&k);
    stage_close(&s);
}
END_TEST

START_TEST(compressed_parts_keep_the_promises_of_sinks)
{
    for (uint32_t kind = FS_COMPRESS_GZIP; kind <= FS_COMPRESS_ZSTD; kind++) {
        struct stage s;
        stage_open(&s);
        struct fs_sink_conf conf = conf_of(stage_path(&s, "out"));
        conf.compression.index = kind;
        conf.part_suffix = ".txt";
        struct sink_kit k = kit_of(&s, &conf, 3);
        sink_kit_check(&k);
        conf.partition_keys.count = 0;
        k.has_part = 0;
        sink_kit_check(&k);
        conf.roll_size.bytes = 1 << 20; /* goes on in a new member behind each checkpoint */
        k.is_at_end = true;
        sink_kit_check(&k);
        stage_close(&s);
    }
}
END_TEST

static void file_reset(struct stage *s)
{
    stage_clear(s, "out");
    ck_assert_int_eq(mkdir(stage_path(s, "out"), 0777), 0);
}

START_TEST(a_compressed_file_keeps_the_promises_of_sinks)
{
    static const char *const name[] = {"out/rows.txt.gz", "out/rows.zst"};
    for (size_t i = 0; i < 2; i++) {
        struct stage s;
        stage_open(&s);
        struct fs_sink_conf conf = conf_of(stage_path(&s, name[i]));
        conf.partition_keys.count = 0;
        struct sink_kit k = kit_of(&s, &conf, 0);
        k.is_at_end = true;
        k.parts_max = 1;
        k.reset = file_reset;
        sink_kit_check(&k);
        stage_close(&s);
    }
}
END_TEST

/* More partitions than may be open at once, or be written at all: each row is in its own. */
static void check_many(uint32_t parts, uint32_t compression)
{
    struct stage s;
    stage_open(&s);
    struct fs_sink_conf conf = conf_of(stage_path(&s, "out"));
    conf.compression.index = compression;
    struct sink_kit k = kit_of(&s, &conf, parts);
    struct sink_run r;
    sink_run_open(&r, &k, 1, 1);
    for (uint32_t i = 0; i < parts * 3; i += 500) {
        ck_assert_int_eq(sink_run_write(&r, 0, i, i + 499), SR_OK);
    }
    const struct fs_writer *w = &((struct fs_sink *)r.sink[0])->writer;
    uint32_t max = compression > FS_COMPRESS_NONE ? FS_OPEN_PACKED_MAX : FS_OPEN_MAX;
    ck_assert_uint_le(w->opens, max);
    ck_assert_uint_le(w->count, FS_WRITTEN_MAX);
    sink_run_done(&r);
    stage_close(&s);
}

START_TEST(few_files_are_open_whatever_the_partitions)
{
    check_many(FS_OPEN_MAX + 50, FS_COMPRESS_NONE);
    check_many(FS_OPEN_PACKED_MAX + 20, FS_COMPRESS_GZIP);
    check_many(FS_WRITTEN_MAX + 10, FS_COMPRESS_NONE);
}
END_TEST

/* Rows that go to parked parts again and again are all there, and only there. */
START_TEST(parked_parts_go_on)
{
    for (uint32_t kind = FS_COMPRESS_NONE; kind <= FS_COMPRESS_ZSTD; kind++) {
        struct stage s;
        stage_open(&s);
        struct fs_sink_conf conf = conf_of(stage_path(&s, "out"));
        conf.compression.index = kind;
        struct sink_kit k = kit_of(&s, &conf, 150);
        struct sink_run r;
        sink_run_open(&r, &k, 1, 1);
        struct fs_sink *sink = r.sink[0];
        for (uint32_t i = 0; i < 3000; i += 600) {
            ck_assert_int_eq(sink_run_write(&r, 0, i, i + 599), SR_OK);
        }
        struct sr_error err;
        while (sink->writer.count > 0) { /* more than the kit's notes */
            ck_assert_int_eq(fs_writer_close(&sink->writer, sink->writer.item[0], &err), SR_OK);
        }
        ck_assert_uint_eq(sink->writer.ready.count, 150);
        for (uint32_t i = 0; i < sink->writer.ready.count; i++) {
            ck_assert_int_eq(fs_part_show(&s.host, &sink->writer.ready.item[i], false, &err),
                             SR_OK);
        }
        ck_assert_str_eq(visible(&s), sink_kit_rows(&s, 0, 2999));
        for (uint32_t p = 0; p < 150; p++) {
            char dir[64], all[8192] = "", want[8192] = "";
            snprintf(dir, sizeof(dir), "out/part=part %u", p);
            add_files(&s, dir, all, sizeof(all));
            for (uint32_t i = p; i < 3000; i += 150) {
                snprintf(want + strlen(want), sizeof(want) - strlen(want), "row-%u\n", i);
            }
            ck_assert_str_eq(all, want);
        }
        sink_run_done(&r);
        stage_close(&s);
    }
}
END_TEST

/* What is taken of a view are the rows before a bad one, whatever partitions they go to. */
START_TEST(a_bad_row_stops_behind_the_good_ones_of_all_partitions)
{
    struct stage s;
    stage_open(&s);
    struct fs_sink_conf conf = conf_of(stage_path(&s, "out"));
    struct sink_kit k = kit_of(&s, &conf, 3);
    struct line_conf poison = {.poison = "row-14"};
    k.format_conf = &poison;
    struct sink_run r;
    sink_run_open(&r, &k, 1, 1);
    struct sr_view *v = sink_kit_parted(&s, 10, 19, 3);
    uint32_t done = 99;
    struct sr_wait wait;
    ck_assert_int_eq(fs_sink_type.write(r.sink[0], v, 0, &done, &wait, &r.err), SR_EDATA);
    ck_assert_uint_eq(done, 4);
    ck_assert_int_eq(fs_sink_type.write(r.sink[0], v, 4, &done, &wait, &r.err), SR_EDATA);
    ck_assert_uint_eq(done, 0);
    ck_assert_int_eq(fs_sink_type.write(r.sink[0], v, 5, &done, &wait, &r.err), SR_OK);
    ck_assert_uint_eq(done, 5);
    view_release(v);
    ck_assert_int_eq(sink_run_prepare(&r, 1, true), SR_OK);
    ck_assert_int_eq(sink_run_commit(&r, true), SR_OK);
    ck_assert_str_eq(visible(&s), "row-10\nrow-11\nrow-12\nrow-13\nrow-15\nrow-16\nrow-17\nrow-18\n"
                                  "row-19\n");
    sink_run_done(&r);
    stage_close(&s);
}
END_TEST

/* Which success files there are, by the watermark and across a crash. */
START_TEST(partitions_are_committed_when_the_watermark_has_passed)
{
    static const char *const policy[] = {"success-file"};
    struct stage s;
    stage_open(&s);
    struct fs_sink_conf conf = conf_of(stage_path(&s, "out"));
    conf.commit_policy = (sr_list){1, policy};
    conf.commit_trigger.index = FS_PARTITION_TIME;
    conf.commit_delay.us = INT64_C(3600) * 1000000;
    conf.time_pattern = "1970-01-01 $part:00:00";
    struct sink_kit k = kit_of(&s, &conf, 3);
    struct sink_run r, next;
    sink_run_open(&r, &k, 1, 1);
    ck_assert_int_eq(sink_run_write(&r, 0, 1, 3), SR_EDATA); /* "part 1" is no hour */
    ck_assert_ptr_nonnull(strstr(r.err.words, "has no time"));
    conf.time_pattern = NULL;
    struct fs_parting p = {0};
    static const struct sr_field field[] = {{"x", {.kind = SR_INT}}, {"part", {.kind = SR_INT}}};
    static const struct sr_schema schema = {.fields = 2, .field = field, .rowtime = -1};
    ck_assert_int_eq(fs_parting_open(&p, &s.host, &conf, &schema, &r.err), SR_OK);
    int64_t ms = 0;
    ck_assert(fs_parting_time(&p, "part=1970-01-02", &ms));
    ck_assert_int_eq(ms, 86400000);
    ck_assert(fs_parting_time(&p, "part=1970-1-1T1%3A00", &ms));
    ck_assert_int_eq(ms, 3600000);
    ck_assert(!fs_parting_time(&p, "part=1970-13-01", &ms));
    ck_assert(!fs_parting_time(&p, "part=", &ms));
    conf.time_pattern = "1970-01-01 $part:00:00";
    ck_assert(fs_parting_time(&p, "part=7", &ms));
    ck_assert_int_eq(ms, 7 * 3600000);
    ck_assert(!fs_parting_time(&p, "part=24", &ms));
    fs_parting_done(&p);
    sink_run_done(&r);
    conf.time_pattern = "1970-01-01 01:00:00"; /* of all partitions */
    sink_run_open(&r, &k, 1, 2);
    sink_run_restore(&r, NULL);
    ck_assert_int_eq(sink_run_write(&r, 0, 1, 3), SR_OK);
    fs_sink_type.watermark(r.sink[0], 7200000); /* must be passed, not reached */
    ck_assert_int_eq(sink_run_prepare(&r, 1, false), SR_OK);
    ck_assert_int_eq(sink_run_commit(&r, true), SR_OK);
    ck_assert_str_eq(visible(&s), "row-1\nrow-2\nrow-3\n");
    ck_assert(!stage_has(&s, "out/part=part 1/_SUCCESS"));
    sink_run_close(&r);
    sink_run_open(&next, &k, 1, 3);
    sink_run_restore(&next, &r);
    fs_sink_type.watermark(next.sink[0], 7200001);
    ck_assert_int_eq(sink_run_prepare(&next, 2, false), SR_OK);
    ck_assert(!stage_has(&s, "out/part=part 1/_SUCCESS"));
    ck_assert_int_eq(sink_run_commit(&next, true), SR_OK);
    ck_assert(stage_has(&s, "out/part=part 0/_SUCCESS"));
    ck_assert(stage_has(&s, "out/part=part 2/_SUCCESS"));
    /* A late row makes its partition be committed again. */
    ck_assert_int_eq(remove(stage_path(&s, "out/part=part 0/_SUCCESS")), 0);
    ck_assert_int_eq(remove(stage_path(&s, "out/part=part 1/_SUCCESS")), 0);
    ck_assert_int_eq(sink_run_write(&next, 0, 3, 3), SR_OK);
    ck_assert_int_eq(sink_run_prepare(&next, 3, false), SR_OK);
    ck_assert_int_eq(sink_run_commit(&next, true), SR_OK);
    ck_assert(stage_has(&s, "out/part=part 0/_SUCCESS"));
    ck_assert(!stage_has(&s, "out/part=part 1/_SUCCESS"));
    sink_run_done(&next);
    sink_run_done(&r);
    stage_close(&s);
}
END_TEST

/* A file that is replaced keeps mode and place, also behind a link; new ones get the mode asked
 * for. */
START_TEST(access_is_kept_and_given)
{
    struct stage s;
    struct stat st;
    stage_open(&s);
    stage_write(&s, "real/rows.txt", "old\n");
    ck_assert_int_eq(chmod(stage_path(&s, "real/rows.txt"), 0604), 0);
    file_reset(&s);
    ck_assert_int_eq(symlink("../real/rows.txt", stage_path(&s, "out/rows.txt")), 0);
    struct fs_sink_conf conf = conf_of(stage_path(&s, "out/rows.txt"));
    conf.partition_keys.count = 0;
    struct sink_kit k = kit_of(&s, &conf, 0);
    struct sink_run r;
    sink_run_open(&r, &k, 1, 1);
    sink_run_restore(&r, NULL);
    ck_assert_int_eq(sink_run_write(&r, 0, 1, 1), SR_OK);
    ck_assert_int_eq(sink_run_prepare(&r, 1, true), SR_OK);
    ck_assert_int_eq(sink_run_commit(&r, true), SR_OK);
    sink_run_done(&r);
    ck_assert_int_eq(lstat(stage_path(&s, "out/rows.txt"), &st), 0);
    ck_assert(S_ISLNK(st.st_mode));
    ck_assert_int_eq(stat(stage_path(&s, "real/rows.txt"), &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0604);
    ck_assert_str_eq(stage_read(&s, "real/rows.txt"), "row-1\n");
    ck_assert_str_eq(stage_list(&s, "real"), "rows.txt\n");
    conf = conf_of(stage_path(&s, "out"));
    conf.file_mode = "0600";
    k = kit_of(&s, &conf, 1);
    sink_run_open(&r, &k, 1, 1);
    ck_assert_int_eq(sink_run_write(&r, 0, 1, 1), SR_OK);
    const char *hidden = stage_list(&s, "out");
    char name[256];
    snprintf(name, sizeof(name), "out/%.*s", (int)strcspn(hidden, "\n"), hidden);
    ck_assert_int_eq(stat(stage_path(&s, name), &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0600);
    sink_run_done(&r);
    stage_close(&s);
}
END_TEST

static const char *fault_of(const struct fs_sink_conf *conf)
{
    static struct sr_error err;
    static const struct sr_field field[] = {{"a", {.kind = SR_DOUBLE}}, {"part", {.kind = SR_INT}}};
    static const struct sr_schema schema = {.fields = 2, .field = field, .rowtime = -1};
    struct sr_sink_caps caps;
    err.words[0] = 0;
    sr_rc rc = fs_sink_type.check(conf, &schema, &caps, &err);
    ck_assert_int_eq(rc, err.words[0] ? SR_ECONFIG : SR_OK);
    return err.words;
}

START_TEST(what_does_not_fit_is_said)
{
    static const char *const none[] = {"x"}, *const real[] = {"a"}, *const all[] = {"part", "a"},
                             *const twice[] = {"part", "part"}, *const policy[] = {"metastore"};
    struct fs_sink_conf c = conf_of("/x/out");
    ck_assert_str_eq(fault_of(&c), "");
    c.partition_keys = (sr_list){1, none};
    ck_assert_ptr_nonnull(strstr(fault_of(&c), "is no column"));
    c.partition_keys = (sr_list){1, real};
    ck_assert_ptr_nonnull(strstr(fault_of(&c), "CAST it to STRING"));
    c.partition_keys = (sr_list){2, all};
    ck_assert_str_ne(fault_of(&c), "");
    c.partition_keys = (sr_list){2, twice};
    ck_assert_ptr_nonnull(strstr(fault_of(&c), "twice"));
    c = conf_of("/x/out.csv");
    ck_assert_ptr_nonnull(strstr(fault_of(&c), "names a file"));
    c = conf_of("/x/out");
    c.commit_policy = (sr_list){1, policy};
    ck_assert_ptr_nonnull(strstr(fault_of(&c), "success-file"));
    c = conf_of("/x/out");
    c.commit_delay.us = 1;
    ck_assert_ptr_nonnull(strstr(fault_of(&c), "policy.kind"));
    c = conf_of("/x/out");
    c.part_prefix = "_x";
    ck_assert_ptr_nonnull(strstr(fault_of(&c), "part-prefix"));
    c = conf_of("/x/out");
    c.file_mode = "777x";
    ck_assert_ptr_nonnull(strstr(fault_of(&c), "octal"));
}
END_TEST

UNIT_MAIN("fs_parts", partitions_keep_the_promises_of_sinks,
          partitions_that_go_on_keep_the_promises_of_sinks,
          compressed_parts_keep_the_promises_of_sinks,
          a_compressed_file_keeps_the_promises_of_sinks, few_files_are_open_whatever_the_partitions,
          parked_parts_go_on, a_bad_row_stops_behind_the_good_ones_of_all_partitions,
          partitions_are_committed_when_the_watermark_has_passed, access_is_kept_and_given,
          what_does_not_fit_is_said)
