/* The filesystem sink: part files and plain files that appear whole, once, or not at all. */
#include "test/unit/unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "connectors/filesystem/filesystem.h"
#include "test/kit/line_format.h"
#include "test/kit/sink_kit.h"

static struct fs_sink_conf conf_of(const char *path)
{
    return (struct fs_sink_conf){.path = path,
                                 .roll_interval = {-1},
                                 .inactive_interval = {-1},
                                 .check_interval = {-1},
                                 .default_name = "__DEFAULT_PARTITION__",
                                 .success_name = "_SUCCESS",
                                 .part_prefix = "part-",
                                 .part_suffix = ""};
}

static const char *dir_visible(struct stage *s) { return stage_lines(s, "out"); }

static const char *dir_leftovers(struct stage *s)
{
    char text[8192] = "";
    const char *names = stage_list(s, "out");
    for (const char *at = names; *at; at = strchr(at, '\n') + 1) {
        if (*at == '.') {
            strncat(text, at, strcspn(at, "\n") + 1);
        }
    }
    return arena_text(s->arena, text);
}

static void dir_reset(struct stage *s) { stage_clear(s, "out"); }

static struct sink_kit kit_of(struct stage *s, const struct fs_sink_conf *conf)
{
    return (struct sink_kit){.stage = s,
                             .type = &fs_sink_type,
                             .conf = conf,
                             .format = &line_format,
                             .visible = dir_visible,
                             .leftovers = dir_leftovers,
                             .reset = dir_reset};
}

START_TEST(part_files_keep_the_promises_of_sinks)
{
    struct stage s;
    stage_open(&s);
    struct fs_sink_conf conf = conf_of(stage_path(&s, "out"));
    struct sink_kit k = kit_of(&s, &conf);
    sink_kit_check(&k);
    stage_close(&s);
}
END_TEST

/* With a written policy a part goes on over checkpoints, and over crashes in a copy. */
START_TEST(parts_that_go_on_keep_the_promises_of_sinks)
{
    struct stage s;
    stage_open(&s);
    struct fs_sink_conf conf = conf_of(stage_path(&s, "out"));
    conf.roll_size.bytes = 1 << 20;
    struct sink_kit k = kit_of(&s, &conf);
    k.is_at_end = true; /* all rows are in one part, which is closed at the end */
    sink_kit_check(&k);
    conf.roll_size.bytes = 1; /* closed behind each write */
    k.is_at_end = false;
    sink_kit_check(&k);
    stage_close(&s);
}
END_TEST

static const char *file_visible(struct stage *s)
{
    const char *text = stage_read(s, "out/rows.txt");
    return text ? stage_sort(s, text) : "";
}

static void file_reset(struct stage *s)
{
    stage_clear(s, "out");
    ck_assert_int_eq(mkdir(stage_path(s, "out"), 0777), 0);
}

START_TEST(a_plain_file_keeps_the_promises_of_sinks)
{
    struct stage s;
    stage_open(&s);
    struct fs_sink_conf conf = conf_of(stage_path(&s, "out/rows.txt"));
    struct sink_kit k = kit_of(&s, &conf);
    k.is_at_end = true;
    k.parts_max = 1;
    k.visible = file_visible;
    k.reset = file_reset;
    sink_kit_check(&k);
    stage_close(&s);
}
END_TEST

/* A path with an extension and no slash behind it is a plain file, of a bounded job only. */
START_TEST(the_name_says_whether_it_is_a_file)
{
    static const struct {
        const char *path;
        bool is_file;
    } sample[] = {{"/x/out.csv", true},   {"/x/out", false},     {"/x/out.csv/", false},
                  {"/x.d/out", false},    {"/x/.hidden", false}, {"/x/out.", false},
                  {"/x/a.b.c.json", true}};
    for (size_t i = 0; i < sizeof(sample) / sizeof(sample[0]); i++) {
        struct fs_sink_conf conf = conf_of(sample[i].path);
        struct sr_sink_caps caps;
        struct sr_error err;
        ck_assert_int_eq(fs_sink_type.check(&conf, NULL, &caps, &err), SR_OK);
        ck_assert_msg(caps.is_bounded_only == sample[i].is_file, "%s", sample[i].path);
        ck_assert_uint_eq(caps.parts_max, sample[i].is_file ? 1 : 0);
        ck_assert_int_eq(caps.guarantee, SR_EXACTLY_ONCE);
    }
}
END_TEST

static sr_rc open_fails(struct stage *s, const char *path, struct sr_error *err)
{
    struct fs_sink_conf conf = conf_of(stage_path(s, path));
    void *sink = calloc(1, fs_sink_type.sink_size);
    struct sr_sink_open o = {.size = sizeof(o),
                             .host = &s->host,
                             .conf = &conf,
                             .format = &line_format,
                             .job_id = "j",
                             .uid = "u"};
    sr_rc rc = fs_sink_type.open(sink, &o, err);
    fs_sink_type.close(sink);
    free(sink);
    return rc;
}

/* A place that cannot be written to is a fault when the job starts. */
START_TEST(a_bad_place_is_said_at_open)
{
    struct stage s;
    struct sr_error err;
    stage_open(&s);
    ck_assert_int_eq(open_fails(&s, "absent/rows.txt", &err), SR_EABSENT);
    ck_assert_ptr_nonnull(strstr(err.words, "there is no directory"));
    stage_write(&s, "plain", "");
    ck_assert_int_eq(open_fails(&s, "plain", &err), SR_ECONFIG);
    ck_assert_ptr_nonnull(strstr(err.words, "is no directory"));
    ck_assert_int_eq(open_fails(&s, "plain/below", &err), SR_ECONFIG);
    ck_assert_int_eq(open_fails(&s, "made/with/all/above", &err), SR_OK);
    ck_assert(stage_has(&s, "made/with/all/above"));
    ck_assert_str_eq(stage_list(&s, "made/with/all/above"), "");
    stage_close(&s);
}
END_TEST

/* A fresh run replaces the plain file of an older one, and only when it is complete. */
START_TEST(a_plain_file_is_replaced_when_complete)
{
    struct stage s;
    stage_open(&s);
    stage_write(&s, "out/rows.txt", "old\n");
    struct fs_sink_conf conf = conf_of(stage_path(&s, "out/rows.txt"));
    struct sink_kit k = kit_of(&s, &conf);
    struct line_conf head = {.head = "line"};
    k.format_conf = &head;
    struct sink_run r, later;
    sink_run_open(&r, &k, 1, 1);
    sink_run_restore(&r, NULL);
    ck_assert_int_eq(sink_run_write(&r, 0, 1, 2), SR_OK);
    ck_assert_int_eq(sink_run_prepare(&r, 1, true), SR_OK);
    ck_assert_str_eq(stage_read(&s, "out/rows.txt"), "old\n");
    ck_assert_int_eq(sink_run_commit(&r, true), SR_OK);
    ck_assert_str_eq(stage_read(&s, "out/rows.txt"), "line\nrow-1\nrow-2\n");
    sink_run_close(&r);
    /* A later run that goes on from there holds old and new rows, with one head. */
    sink_run_open(&later, &k, 1, 2);
    sink_run_restore(&later, &r);
    ck_assert_int_eq(sink_run_write(&later, 0, 3, 3), SR_OK);
    ck_assert_int_eq(sink_run_prepare(&later, 2, true), SR_OK);
    ck_assert_int_eq(sink_run_commit(&later, true), SR_OK);
    ck_assert_str_eq(stage_read(&s, "out/rows.txt"), "line\nrow-1\nrow-2\nrow-3\n");
    ck_assert_str_eq(stage_list(&s, "out"), "rows.txt\n");
    sink_run_done(&later);
    sink_run_done(&r);
    stage_close(&s);
}
END_TEST

/* Bytes that somebody changed after the checkpoint stop the job; nothing is overwritten. */
START_TEST(changed_files_stop_the_commit)
{
    static const char *const change[] = {"row-1\nrow-X\n", "row-1\n", "row-1\nrow-2\nrow-3\n",
                                         NULL};
    for (size_t i = 0; i < sizeof(change) / sizeof(change[0]); i++) {
        struct stage s;
        stage_open(&s);
        struct fs_sink_conf conf = conf_of(stage_path(&s, "out"));
        struct sink_kit k = kit_of(&s, &conf);
        struct sink_run r, next;
        sink_run_open(&r, &k, 1, 1);
        ck_assert_int_eq(sink_run_write(&r, 0, 1, 2), SR_OK);
        ck_assert_int_eq(sink_run_prepare(&r, 1, false), SR_OK);
        sink_run_close(&r);
        char name[256];
        snprintf(name, sizeof(name), "out/%.*s", (int)strcspn(stage_list(&s, "out"), "\n"),
                 stage_list(&s, "out"));
        if (change[i]) {
            stage_write(&s, name, change[i]);
        } else {
            ck_assert_int_eq(remove(stage_path(&s, name)), 0);
        }
        sink_run_open(&next, &k, 1, 2);
        struct sr_bytes note = {r.kept.note[0].bytes, r.kept.note[0].len};
        ck_assert_int_eq(fs_sink_type.commit(next.sink[0], 1, note, &next.err), SR_ECORRUPT);
        ck_assert_str_eq(dir_visible(&s), "");
        for (uint32_t len = 0; len < note.len; len++) { /* and so do notes that were cut */
            struct sr_bytes cut = {note.data, len};
            ck_assert_int_eq(fs_sink_type.commit(next.sink[0], 1, cut, &next.err), SR_ECORRUPT);
        }
        sink_run_done(&next);
        sink_run_done(&r);
        stage_close(&s);
    }
}
END_TEST

/* A final file of the same name with other content is never replaced. */
START_TEST(another_file_of_the_final_name_stops_the_commit)
{
    struct stage s;
    stage_open(&s);
    struct fs_sink_conf conf = conf_of(stage_path(&s, "out"));
    struct sink_kit k = kit_of(&s, &conf);
    struct sink_run r;
    sink_run_open(&r, &k, 1, 1);
    ck_assert_int_eq(sink_run_write(&r, 0, 1, 2), SR_OK);
    ck_assert_int_eq(sink_run_prepare(&r, 1, false), SR_OK);
    char name[256];
    const char *hidden = stage_list(&s, "out");
    snprintf(name, sizeof(name), "out/%.*s", (int)(strstr(hidden, ".inprogress") - hidden - 1),
             hidden + 1);
    stage_write(&s, name, "somebody else's\n");
    ck_assert_int_eq(sink_run_commit(&r, false), SR_ECORRUPT);
    ck_assert_str_eq(stage_read(&s, name), "somebody else's\n");
    sink_run_done(&r);
    stage_close(&s);
}
END_TEST

/* Recovery leaves alone what is not this sink's: other names, other sinks, other jobs. */
START_TEST(recovery_removes_only_its_own)
{
    struct stage s;
    stage_open(&s);
    struct fs_sink_conf conf = conf_of(stage_path(&s, "out"));
    struct sink_kit k = kit_of(&s, &conf);
    struct sink_run r, next;
    sink_run_open(&r, &k, 1, 1);
    ck_assert_int_eq(sink_run_write(&r, 0, 1, 2), SR_OK);
    sink_run_close(&r);
    stage_write(&s, "out/.part-00000000-1-1-0-0.inprogress", "another sink's");
    stage_write(&s, "out/.part-notes", "a user's");
    stage_write(&s, "out/rows", "a user's");
    sink_run_open(&next, &k, 1, 2);
    sink_run_restore(&next, NULL);
    ck_assert_str_eq(stage_list(&s, "out"),
                     ".part-00000000-1-1-0-0.inprogress\n.part-notes\nrows\n");
    sink_run_done(&next);
    sink_run_done(&r);
    stage_close(&s);
}
END_TEST

/* Parts end at the size of the policy, each with its head, and no part is empty. */
START_TEST(parts_roll_by_size)
{
    struct stage s;
    stage_open(&s);
    struct fs_sink_conf conf = conf_of(stage_path(&s, "out"));
    conf.roll_size.bytes = 300000;
    struct sink_kit k = kit_of(&s, &conf);
    struct line_conf head = {.head = "line"};
    k.format_conf = &head;
    struct sink_run r;
    sink_run_open(&r, &k, 1, 1);
    for (uint32_t i = 0; i < 100; i++) { /* about 900 KB */
        ck_assert_int_eq(sink_run_write(&r, 0, i * 900 + 1, i * 900 + 900), SR_OK);
    }
    ck_assert_int_eq(sink_run_prepare(&r, 1, true), SR_OK);
    ck_assert_int_eq(sink_run_commit(&r, true), SR_OK);
    uint32_t files = 0, lines = 0, heads = 0;
    for (const char *at = stage_list(&s, "out"); *at; at = strchr(at, '\n') + 1) {
        char name[256];
        snprintf(name, sizeof(name), "out/%.*s", (int)strcspn(at, "\n"), at);
        const char *text = stage_read(&s, name);
        ck_assert_uint_lt(strlen(text), 300000 + 20000);
        heads += strncmp(text, "line\n", 5) == 0 ? 1 : 0;
        for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
            lines++;
        }
        files++;
    }
    ck_assert_uint_eq(heads, files);
    ck_assert_uint_eq(lines, 90000 + files);
    ck_assert_uint_ge(files, 3);
    sink_run_done(&r);
    stage_close(&s);
}
END_TEST

/* A row that cannot be written is told apart from those before it, which are taken. */
START_TEST(a_bad_row_stops_behind_the_good_ones)
{
    struct stage s;
    stage_open(&s);
    struct fs_sink_conf conf = conf_of(stage_path(&s, "out"));
    struct sink_kit k = kit_of(&s, &conf);
    struct line_conf poison = {.poison = "row-3"};
    k.format_conf = &poison;
    struct sink_run r;
    sink_run_open(&r, &k, 1, 1);
    struct sr_view *v = sink_kit_view(&s, 1, 5);
    uint32_t done = 99;
    struct sr_wait wait;
    ck_assert_int_eq(fs_sink_type.write(r.sink[0], v, 0, &done, &wait, &r.err), SR_EDATA);
    ck_assert_uint_eq(done, 2);
    ck_assert_int_eq(fs_sink_type.write(r.sink[0], v, 3, &done, &wait, &r.err), SR_OK);
    ck_assert_uint_eq(done, 2);
    view_release(v);
    ck_assert_int_eq(sink_run_prepare(&r, 1, true), SR_OK);
    ck_assert_int_eq(sink_run_commit(&r, true), SR_OK);
    ck_assert_str_eq(dir_visible(&s), "row-1\nrow-2\nrow-4\nrow-5\n");
    sink_run_done(&r);
    stage_close(&s);
}
END_TEST

static struct {
    const struct sr_files *real;
    int32_t fails; /* writes before one fails; below 0: none does */
    bool fails_sync;
} disk;

static sr_rc disk_write(struct sr_file *f, const void *buf, size_t len, uint64_t at,
                        struct sr_error *err)
{
    if (disk.fails == 0) {
        (void)disk.real->write(f, buf, len / 2, at, err); /* half of it gets there */
        err->rc = SR_ENOSPC;
        return SR_ENOSPC;
    }
    return disk.real->write(f, buf, len, at, err);
}

static sr_rc disk_sync(struct sr_file *f, struct sr_error *err)
{
    if (disk.fails_sync) {
        err->rc = SR_EIO;
        return SR_EIO;
    }
    return disk.real->sync(f, err);
}

/* A full disk fails the checkpoint; the next one has all rows. A failed sync condemns the file. */
START_TEST(a_full_disk_costs_a_checkpoint_and_no_row)
{
    struct stage s;
    stage_open(&s);
    struct sr_files files = *s.env.files;
    disk.real = s.env.files;
    disk.fails = -1;
    disk.fails_sync = false;
    files.write = disk_write;
    files.sync = disk_sync;
    s.host.files = &files;
    struct fs_sink_conf conf = conf_of(stage_path(&s, "out"));
    struct sink_kit k = kit_of(&s, &conf);
    struct sink_run r;
    sink_run_open(&r, &k, 1, 1);
    ck_assert_int_eq(sink_run_write(&r, 0, 1, 5), SR_OK);
    disk.fails = 0;
    ck_assert_int_eq(sink_run_prepare(&r, 1, false), SR_ENOSPC);
    ck_assert_uint_eq(r.kept.count, 0);
    ck_assert_int_eq(sink_run_write(&r, 0, 6, 7), SR_OK);
    disk.fails = -1;
    ck_assert_int_eq(sink_run_prepare(&r, 2, false), SR_OK);
    ck_assert_int_eq(sink_run_commit(&r, true), SR_OK);
    ck_assert_str_eq(dir_visible(&s), sink_kit_rows(&s, 1, 7));
    ck_assert_int_eq(sink_run_write(&r, 0, 8, 8), SR_OK);
    disk.fails_sync = true;
    ck_assert_int_eq(sink_run_prepare(&r, 3, false), SR_EIO);
    disk.fails_sync = false;
    ck_assert_int_eq(sink_run_prepare(&r, 4, false), SR_EIO);
    sink_run_done(&r);
    stage_close(&s);
}
END_TEST

/* Without checkpoints parts appear by rolling, and the rest at the end. */
START_TEST(without_checkpoints_parts_appear_by_rolling)
{
    struct stage s;
    stage_open(&s);
    struct fs_sink_conf conf = conf_of(stage_path(&s, "out"));
    conf.roll_size.bytes = 10;
    struct sink_kit k = kit_of(&s, &conf);
    struct sink_run r;
    sink_run_open(&r, &k, 1, 1);
    fs_sink_type.close(r.sink[0]);
    r.open[0].is_uncheckpointed = true;
    ck_assert_int_eq(fs_sink_type.open(r.sink[0], &r.open[0], &r.err), SR_OK);
    ck_assert_int_eq(sink_run_write(&r, 0, 1, 3), SR_OK);
    ck_assert_str_eq(dir_visible(&s), sink_kit_rows(&s, 1, 3));
    ck_assert_int_eq(sink_run_write(&r, 0, 4, 4), SR_OK);
    ck_assert_str_eq(dir_visible(&s), sink_kit_rows(&s, 1, 3));
    ck_assert_int_eq(sink_run_prepare(&r, 1, true), SR_OK);
    ck_assert_int_eq(sink_run_commit(&r, true), SR_OK);
    ck_assert_str_eq(dir_visible(&s), sink_kit_rows(&s, 1, 4));
    sink_run_done(&r);
    stage_close(&s);
}
END_TEST

UNIT_MAIN("fs_sink", part_files_keep_the_promises_of_sinks,
          parts_that_go_on_keep_the_promises_of_sinks, a_plain_file_keeps_the_promises_of_sinks,
          the_name_says_whether_it_is_a_file, a_bad_place_is_said_at_open,
          a_plain_file_is_replaced_when_complete, changed_files_stop_the_commit,
          another_file_of_the_final_name_stops_the_commit, recovery_removes_only_its_own,
          parts_roll_by_size, a_bad_row_stops_behind_the_good_ones,
          a_full_disk_costs_a_checkpoint_and_no_row, without_checkpoints_parts_appear_by_rolling)
