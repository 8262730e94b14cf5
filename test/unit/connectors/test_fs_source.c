/* The filesystem source: which files, which splits, and every record exactly once. */
#include "test/unit/unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "connectors/common/note.h"
#include "connectors/compress/pack.h"
#include "connectors/filesystem/filesystem.h"
#include "connectors/filesystem/fs_known.h"
#include "connectors/filesystem/fs_walk.h"
#include "test/kit/faulty.h"
#include "test/kit/source_kit.h"

static struct fs_source_conf conf_of(const char *path)
{
    return (struct fs_source_conf){.path = path,
                                   .monitor_interval = {-1},
                                   .split_size = {64u << 20},
                                   .record_max = {64u << 20}};
}

static struct source_kit kit_of(struct stage *s, const struct fs_source_conf *conf)
{
    return (struct source_kit){.stage = s, .type = &fs_source_type, .conf = conf};
}

START_TEST(files_keep_the_promises_of_sources)
{
    struct stage s;
    stage_open(&s);
    stage_write(&s, "in/a.txt", "a1\na2\n\na4\n");
    stage_write(&s, "in/b.txt", "b1\nb2 without its end");
    stage_write(&s, "in/empty.txt", "");
    stage_write(&s, "in/deep/down/c.txt", "c1\n");
    struct fs_source_conf conf = conf_of(stage_path(&s, "in"));
    struct source_kit k = kit_of(&s, &conf);
    source_kit_check(&k);
    ck_assert_str_eq(source_kit_lines(&s, source_kit_read(&k, 1, 100)),
                     "\na1\na2\na4\nb1\nb2 without its end\nc1\n");
    stage_close(&s);
}
END_TEST

static void write_packed(struct stage *s, const char *name, enum pack_kind kind,
                         const char *const *member, uint32_t members)
{
    struct sr_out out = note_out();
    struct pack *p = pack_open(kind);
    for (uint32_t i = 0; i < members; i++) {
        ck_assert(pack_add(p, member[i], strlen(member[i]), &out) && pack_end(p, &out));
    }
    pack_close(p);
    FILE *f = fopen(stage_path(s, name), "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(out.data, 1, out.len, f), out.len);
    ck_assert_int_eq(fclose(f), 0);
    note_free(&out);
}

/* A position in a compressed file is one of its contents, exact to the record; no split size cuts
 * it. */
START_TEST(compressed_files_keep_the_promises_of_sources)
{
    static const char *const members[] = {"z1\nz2\n\nz", "4\n", "z5 without its end"};
    struct stage s;
    stage_open(&s);
    stage_write(&s, "in/plain", "p1\np2\n");
    write_packed(&s, "in/a", PACK_GZIP, members, 3);
    write_packed(&s, "in/b", PACK_ZSTD, members, 2);
    struct fs_source_conf conf = conf_of(stage_path(&s, "in"));
    struct source_kit k = kit_of(&s, &conf);
    source_kit_check(&k);
    conf.split_size.bytes = 3;
    source_kit_check(&k);
    ck_assert_str_eq(source_kit_lines(&s, source_kit_read(&k, 1, 100)),
                     "\n\np1\np2\nz1\nz1\nz2\nz2\nz4\nz4\nz5 without its end\n");
    stage_close(&s);
}
END_TEST

/* Wherever a file is cut into splits, each line is in exactly one of them. */
START_TEST(every_cut_keeps_every_line)
{
    static const char *const text[] = {"one\ntwo\n\n\nfive is longer than the others\nsix\n",
                                       "no end",
                                       "\n",
                                       "\n\n\n",
                                       "a\nb",
                                       "x\n"};
    for (size_t t = 0; t < sizeof(text) / sizeof(text[0]); t++) {
        struct stage s;
        stage_open(&s);
        stage_write(&s, "in.txt", text[t]);
        struct fs_source_conf conf = conf_of(stage_path(&s, "in.txt"));
        struct source_kit k = kit_of(&s, &conf);
        const char *whole = source_kit_lines(&s, source_kit_read(&k, 1, 100));
        for (uint64_t size = 1; size <= strlen(text[t]) + 1; size++) {
            conf.split_size.bytes = size;
            ck_assert_str_eq(source_kit_lines(&s, source_kit_read(&k, 2, 2)), whole);
        }
        conf.split_size.bytes = 5;
        source_kit_check(&k);
        stage_close(&s);
    }
}
END_TEST

/* Records that cross buffers, and fill several of them, come out whole. */
START_TEST(records_longer_than_a_buffer_come_whole)
{
    struct stage s;
    stage_open(&s);
    static char text[3000000];
    size_t n = 0;
    for (uint32_t len = 1; n + len + 1 < sizeof(text); len = len * 3 + 1) {
        memset(text + n, 'a' + (int)(len % 26), len);
        text[n + len] = '\n';
        n += len + 1;
    }
    text[n] = 0;
    stage_write(&s, "in.txt", text);
    struct fs_source_conf conf = conf_of(stage_path(&s, "in.txt"));
    struct source_kit k = kit_of(&s, &conf);
    const char *lines = source_kit_read(&k, 1, 1);
    size_t total = 0, prefix = strlen(conf.path) + 1;
    for (const char *at = lines; *at; at = strchr(at, '\n') + 1) {
        total += strcspn(at, "\n") + 1 - prefix;
    }
    ck_assert_uint_eq(total, n);
    conf.split_size.bytes = 100000;
    ck_assert_str_eq(source_kit_lines(&s, source_kit_read(&k, 2, 3)), source_kit_lines(&s, lines));
    stage_close(&s);
}
END_TEST

/* A record over the limit fails, and the words name the file and the place. */
START_TEST(a_record_over_the_limit_is_named)
{
    struct stage s;
    stage_open(&s);
    static char text[400001];
    memset(text, 'x', sizeof(text) - 1);
    memcpy(text, "ok\n", 3);
    stage_write(&s, "in.txt", text);
    struct fs_source_conf conf = conf_of(stage_path(&s, "in.txt"));
    conf.record_max.bytes = 100000;
    struct source_kit k = kit_of(&s, &conf);
    struct source_run r;
    source_run_open(&r, &k, 1, 10, NULL);
    ck_assert_int_eq(source_run_discover(&r), SR_DISCOVERED_ALL);
    ck_assert_int_eq(source_run_read(&r, UINT32_MAX), SR_POLL_FAILED);
    ck_assert_int_eq(r.err.rc, SR_EDATA);
    ck_assert_ptr_nonnull(strstr(r.err.words, "in.txt"));
    ck_assert_ptr_nonnull(strstr(r.err.words, "byte 3 "));
    source_run_close(&r);
    stage_close(&s);
}
END_TEST

/* Where bad records are set aside, the ones over the limit are passed over, each once, and their
 * neighbours are read: wherever the file is cut into splits, and from every position. */
START_TEST(records_over_the_limit_are_passed_over)
{
    struct stage s;
    stage_open(&s);
    enum { LONG = 300000, LIMIT = 1000 };
    static char text[LONG * 2 + 3 * LIMIT];
    size_t n = (size_t)sprintf(text, "one\n");
    memset(text + n, 'x', LONG);
    n += LONG;
    n += (size_t)sprintf(text + n, "\ntwo\n%0*d\n%0*d\n", LIMIT - 1, 7, LIMIT, 8);
    memset(text + n, 'y', LONG);
    stage_write(&s, "in.txt", text);
    char lines[LIMIT + 20];
    (void)sprintf(lines, "%0*d\none\ntwo\n", LIMIT - 1, 7); /* with its newline just the limit */
    struct fs_source_conf conf = conf_of(stage_path(&s, "in.txt"));
    conf.record_max.bytes = LIMIT;
    struct source_kit k = kit_of(&s, &conf);
    k.may_pass = true;
    static const int64_t cuts[] = {0, 100000, 299990, 300003, 300005, 300009};
    for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
        conf.split_size.bytes = cuts[i] > 0 ? cuts[i] : INT64_MAX;
        for (uint32_t cut = 0; cut < 4; cut++) {
            struct source_run r, next;
            source_run_open(&r, &k, 1, 10, NULL);
            ck_assert_int_eq(source_run_discover(&r), SR_DISCOVERED_ALL);
            (void)source_run_read(&r, cut);
            source_run_save(&r);
            source_run_open(&next, &k, 1, 10, &r);
            ck_assert_int_eq(source_run_discover(&next), SR_DISCOVERED_ALL);
            ck_assert_int_eq(source_run_read(&next, UINT32_MAX), SR_POLL_SPLIT_END);
            ck_assert_uint_eq(r.passed + next.passed, 3);
            ck_assert_uint_eq(r.rows + next.rows, 3);
            if (cut == 0) ck_assert_str_eq(source_kit_lines(&s, next.text), lines);
            source_run_close(&next);
            source_run_close(&r);
        }
    }
    stage_close(&s);
}
END_TEST

static const char *walk(struct stage *s, const char *path, sr_rc *rc)
{
    struct fs_list l = {0};
    struct sr_error err = {0};
    char text[4096] = "";
    *rc = fs_walk(&s->host, stage_path(s, path), &l, &err);
    for (size_t i = 0; i < l.count; i++) {
        strcat(strcat(text, l.item[i].path + strlen(s->dir) + 1), "\n");
    }
    fs_list_done(&l);
    return stage_sort(s, text);
}

/* Patterns mean what a shell's mean, hidden names are left out, each file counts once. */
START_TEST(patterns_find_their_files)
{
    static const struct {
        const char *pattern, *files;
    } sample[] = {
        {"*.csv", "a.csv\nb.csv\n"},
        {"a.csv", "a.csv\n"},
        {"?.csv", "a.csv\nb.csv\n"},
        {"[ac].*", "a.csv\nc.log\n"},
        {"[!a].csv", "b.csv\n"},
        {"{a,b}.csv", "a.csv\nb.csv\n"},
        {"{a,a,*}.csv", "a.csv\nb.csv\n"},
        {"{a.csv,d/{e,f}.csv}", "a.csv\nd/e.csv\n"},
        {"**/*.csv", "a.csv\nb.csv\nd/e.csv\nd/x/y/g.csv\n"},
        {"d/**", "d/e.csv\nd/x/y/g.csv\n"},
        {"d/*/y/*", "d/x/y/g.csv\n"},
        {"d/x/**/g.csv", "d/x/y/g.csv\n"},
        {"d*", "d/e.csv\nd/x/y/g.csv\n"},
        {"_*", "_hidden.csv\n"},
        {".h*/*", ".hidden/h.csv\n"},
        {"*.nothing", ""},
        {"d", "d/e.csv\nd/x/y/g.csv\n"},
    };
    struct stage s;
    stage_open(&s);
    stage_write(&s, "a.csv", "");
    stage_write(&s, "b.csv", "");
    stage_write(&s, "c.log", "");
    stage_write(&s, "_hidden.csv", "");
    stage_write(&s, ".hidden/h.csv", "");
    stage_write(&s, "d/e.csv", "");
    stage_write(&s, "d/_f.csv", "");
    stage_write(&s, "d/x/y/g.csv", "");
    ck_assert_int_eq(symlink("..", stage_path(&s, "d/x/loop")), 0);
    for (size_t i = 0; i < sizeof(sample) / sizeof(sample[0]); i++) {
        sr_rc rc;
        const char *got = walk(&s, sample[i].pattern, &rc);
        ck_assert_int_eq(rc, SR_OK);
        ck_assert_msg(strcmp(got, sample[i].files) == 0, "%s finds\n%s", sample[i].pattern, got);
    }
    stage_write(&s, "odd[1].csv", "");
    sr_rc rc;
    ck_assert_str_eq(walk(&s, "odd[1].csv", &rc), "odd[1].csv\n"); /* a name that is there wins */
    (void)walk(&s, "absent.csv", &rc);
    ck_assert_int_eq(rc, SR_EABSENT);
    stage_close(&s);
}
END_TEST

static enum sr_discovered discover(struct stage *s, const char *path, struct sr_error *err)
{
    struct fs_source_conf conf = conf_of(stage_path(s, path));
    struct source_kit k = kit_of(s, &conf);
    struct source_run r;
    source_run_open(&r, &k, 1, 10, NULL);
    enum sr_discovered got = source_run_discover(&r);
    *err = r.err;
    source_run_close(&r);
    return got;
}

/* Absent input, a pattern without a match and raw deflate are faults with clear words. */
START_TEST(what_cannot_be_read_is_said_at_discovery)
{
    struct stage s;
    struct sr_error err;
    stage_open(&s);
    ck_assert_int_eq(discover(&s, "absent", &err), SR_DISCOVER_FAILED);
    ck_assert_int_eq(err.rc, SR_EFINAL); /* no restart would bring it */
    ck_assert_int_eq(discover(&s, "*.csv", &err), SR_DISCOVER_FAILED);
    ck_assert_int_eq(err.rc, SR_EFINAL);
    stage_write(&s, "old.log.deflate", "\x1f\x8b");
    ck_assert_int_eq(discover(&s, "old*", &err), SR_DISCOVER_FAILED);
    ck_assert_ptr_nonnull(strstr(err.words, "deflate"));
    ck_assert_int_eq(mkdir(stage_path(&s, "empty"), 0777), 0);
    ck_assert_int_eq(discover(&s, "empty", &err), SR_DISCOVERED_ALL);
    stage_close(&s);
}
END_TEST

/* A file that vanished before it was read is counted; one that does while it is read fails. */
START_TEST(vanishing_and_shrinking_are_seen)
{
    struct stage s;
    stage_open(&s);
    stage_write(&s, "in/a", "a1\n");
    stage_write(&s, "in/b", "b1\nb2\nb3\n");
    struct fs_source_conf conf = conf_of(stage_path(&s, "in"));
    struct source_kit k = kit_of(&s, &conf);
    struct source_run r, again;
    source_run_open(&r, &k, 1, 10, NULL);
    ck_assert_int_eq(source_run_discover(&r), SR_DISCOVERED_ALL);
    ck_assert_int_eq(source_run_read(&r, 2), SR_POLL_DATA);
    source_run_save(&r); /* a is read, b half */
    stage_write(&s, "in/b", "b1\n");
    source_run_open(&again, &k, 1, 10, &r);
    ck_assert_int_eq(source_run_read(&again, UINT32_MAX), SR_POLL_FAILED);
    ck_assert_int_eq(again.err.rc, SR_EMISFIT);
    ck_assert_ptr_nonnull(strstr(again.err.words, "shrank from 9 to 3 bytes"));
    source_run_close(&again);
    stage_write(&s, "in/b", "B1\nb2\nb3\nb4\n"); /* longer, and another file */
    source_run_open(&again, &k, 1, 10, &r);
    ck_assert_int_eq(source_run_read(&again, UINT32_MAX), SR_POLL_FAILED);
    ck_assert_ptr_nonnull(strstr(again.err.words, "another file"));
    source_run_close(&again);
    ck_assert_int_eq(remove(stage_path(&s, "in/b")), 0);
    source_run_open(&again, &k, 1, 10, &r);
    ck_assert_int_eq(source_run_read(&again, UINT32_MAX), SR_POLL_FAILED);
    ck_assert_ptr_nonnull(strstr(again.err.words, "vanished while it was read"));
    source_run_close(&again);
    source_run_close(&r);
    stage_close(&s);
}
END_TEST

/* As when a directory is copied, and comes to inodes that were free: one of a file that was not
 * read is that of another file now, which was. */
START_TEST(files_that_changed_their_inodes_are_gone_on_with)
{
    struct stage s;
    stage_open(&s);
    stage_write(&s, "in/a", "a1\na2\na3\n");
    stage_write(&s, "in/b", "b1\nb2\n");
    struct fs_source_conf conf = conf_of(stage_path(&s, "in"));
    struct source_kit k = kit_of(&s, &conf);
    struct source_run r, again;
    source_run_open(&r, &k, 1, 10, NULL);
    ck_assert_int_eq(source_run_discover(&r), SR_DISCOVERED_ALL);
    ck_assert_int_eq(source_run_read(&r, 1), SR_POLL_DATA);
    source_run_save(&r);
    ck_assert_str_eq(source_kit_lines(&s, r.text), "a1\n");
    ck_assert_int_eq(rename(stage_path(&s, "in/a"), stage_path(&s, "x")), 0);
    ck_assert_int_eq(rename(stage_path(&s, "in/b"), stage_path(&s, "in/a")), 0);
    ck_assert_int_eq(rename(stage_path(&s, "x"), stage_path(&s, "in/b")), 0);
    stage_write(&s, "in/a", "a1\na2\na3\n");
    stage_write(&s, "in/b", "b1\nb2\n");
    source_run_open(&again, &k, 1, 10, &r);
    ck_assert_int_eq(source_run_discover(&again), SR_DISCOVERED_ALL);
    ck_assert_int_eq(source_run_read(&again, UINT32_MAX), SR_POLL_SPLIT_END);
    ck_assert_str_eq(source_kit_lines(&s, again.text), "a2\na3\nb1\nb2\n");
    source_run_close(&again);
    source_run_close(&r);
    stage_close(&s);
}
END_TEST

static void log_nothing(const struct env *e, enum sr_level level, const char *who, const char *line)
{
    (void)e;
    (void)level;
    (void)who;
    (void)line;
}

START_TEST(a_file_that_vanished_unread_is_counted)
{
    struct stage s;
    stage_open(&s);
    s.env.log = log_nothing;
    stage_write(&s, "in/a", "a1\n");
    stage_write(&s, "in/b", "b1\n");
    struct fs_source_conf conf = conf_of(stage_path(&s, "in"));
    struct source_kit k = kit_of(&s, &conf);
    struct source_run r;
    source_run_open(&r, &k, 1, 10, NULL);
    ck_assert_int_eq(source_run_discover(&r), SR_DISCOVERED_ALL);
    ck_assert_int_eq(remove(stage_path(&s, "in/a")), 0);
    ck_assert_int_eq(source_run_read(&r, UINT32_MAX), SR_POLL_SPLIT_END);
    ck_assert_str_eq(source_kit_lines(&s, r.text), "b1\n");
    ck_assert_int_eq(stage_counter(&s, "files-vanished"), 1);
    source_run_close(&r);
    stage_close(&s);
}
END_TEST

static int64_t moved_us;
static int64_t moved_clock(const struct env *e)
{
    (void)e;
    return moved_us;
}

/* With an interval, new files and growth are read on; a half line waits for its newline. */
START_TEST(monitored_files_are_read_on)
{
    struct stage s;
    stage_open(&s);
    s.env.mono_us = moved_clock;
    moved_us = 1000;
    stage_write(&s, "in/a", "a1\nhalf");
    struct fs_source_conf conf = conf_of(stage_path(&s, "in"));
    conf.monitor_interval.us = 1000000;
    struct source_kit k = kit_of(&s, &conf);
    struct source_run r;
    source_run_open(&r, &k, 1, 10, NULL);
    ck_assert_int_eq(source_run_discover(&r), SR_DISCOVERED_SOFAR);
    ck_assert_int_eq(source_run_read(&r, UINT32_MAX), SR_POLL_IDLE);
    ck_assert_str_eq(source_kit_lines(&s, r.text), "a1\n");
    ck_assert_int_eq(r.wait.until_us, 1001000);
    stage_append(&s, "in/a", " and whole\na3\n");
    stage_write(&s, "in/b", "b1\n");
    ck_assert_int_eq(source_run_read(&r, UINT32_MAX), SR_POLL_IDLE);
    ck_assert_str_eq(source_kit_lines(&s, r.text), "a1\n"); /* not before the interval is over */
    moved_us += 1000000;
    ck_assert_int_eq(source_run_discover(&r), SR_DISCOVERED_SOFAR);
    ck_assert_int_eq(source_run_read(&r, UINT32_MAX), SR_POLL_IDLE);
    ck_assert_str_eq(source_kit_lines(&s, r.text), "a1\na3\nb1\nhalf and whole\n");
    /* Saved at rest, gone on with later. */
    struct source_run next;
    stage_append(&s, "in/a", "a4\n");
    source_run_save(&r);
    source_run_open(&next, &k, 1, 10, &r);
    ck_assert_int_eq(source_run_read(&next, UINT32_MAX), SR_POLL_IDLE);
    ck_assert_str_eq(source_kit_lines(&s, next.text), "a4\n");
    /* What was cut while it is followed is another file now, read from its first byte. */
    stage_write(&s, "in/a", "x\n");
    moved_us += 1000000;
    ck_assert_int_eq(source_run_read(&next, UINT32_MAX), SR_POLL_IDLE);
    ck_assert_str_eq(source_kit_lines(&s, next.text), "a4\nx\n");
    source_run_close(&next);
    source_run_close(&r);
    stage_close(&s);
}
END_TEST

static int64_t moved_wall(const struct env *e)
{
    (void)e;
    return (int64_t)time(NULL) * 1000000 + moved_us;
}

static void copy_file(struct stage *s, const char *from, const char *to)
{
    char text[4096];
    FILE *f = fopen(stage_path(s, from), "rb");
    ck_assert_ptr_nonnull(f);
    text[fread(text, 1, sizeof(text) - 1, f)] = 0;
    (void)fclose(f);
    stage_write(s, to, text);
}

static void rotate_step(struct stage *s, uint32_t step)
{
    char text[1000];
    if (step % 3 == 0) { /* filled; with a long first line in every second round */
        (void)snprintf(text, sizeof(text), "%0*u\nlast of %u\n", step % 2 > 0 ? 300 : 9, step,
                       step);
        stage_append(s, "in/app.log", text);
    } else if (step % 3 == 1) {
        (void)rename(stage_path(s, "in/app.log.2"), stage_path(s, "in/app.log.3"));
        (void)rename(stage_path(s, "in/app.log.1"), stage_path(s, "in/app.log.2"));
        copy_file(s, "in/app.log", "in/app.log.1");
    } else {
        stage_write(s, "in/app.log", "");
    }
}

enum { ROTATE_STEPS = 7, ROTATE_ORDERS = 1 << 2 * (ROTATE_STEPS - 1) };

struct rotating {
    struct source_kit kit;
    struct source_run run;
    char text[4096];                   /* of runs before */
    uint32_t look, bad_look, bad_call; /* the call of that look that fails; bad_look 0: none does */
    bool has_failed;
};

/* What did not look since it was restored is as it was saved. */
static void rotate_save(struct rotating *t)
{
    if (t->run.restored == 0) source_run_save(&t->run);
}

static void rotate_restart(struct rotating *t)
{
    struct source_run next;
    strcat(t->text, t->run.text);
    rotate_save(t);
    source_run_open(&next, &t->kit, 1, 10, &t->run);
    source_run_close(&t->run);
    t->run = next;
}

/* A call fails while both look. If they say so, the job goes on from its last checkpoint, which is
 * the one before. */
static void rotate_look_badly(struct rotating *t)
{
    struct source_run restored;
    size_t len = strlen(t->run.text);
    rotate_save(t);
    source_run_open(&restored, &t->kit, 1, 10, &t->run);
    faulty_fail(t->bad_call, false);
    bool is_sound = source_run_discover(&t->run) != SR_DISCOVER_FAILED &&
                    source_run_read(&t->run, UINT32_MAX) != SR_POLL_FAILED;
    t->has_failed = faulty_heal();
    if (is_sound) {
        source_run_close(&restored);
    } else {
        ck_assert_str_eq(t->run.err.words, "a fault was asked for");
        strncat(t->text, t->run.text, len);
        source_run_close(&t->run);
        t->run = restored;
    }
    moved_us += 10000;
}

/* Neither looks, the discoverer, the reader, or both; or the discoverer after a restart. */
static void rotate_look(struct rotating *t, uint32_t order, bool restarts)
{
    bool is_restart = restarts && (order & 3) == 3;
    if (++t->look == t->bad_look) {
        rotate_look_badly(t);
        return;
    }
    if (is_restart) rotate_restart(t);
    if ((order & 1) > 0) ck_assert_int_eq(source_run_discover(&t->run), SR_DISCOVERED_SOFAR);
    if ((order & 2) > 0 && !is_restart) {
        ck_assert_int_eq(source_run_read(&t->run, UINT32_MAX), SR_POLL_IDLE);
    }
    moved_us += 10000;
}

/* True if the bad call was made. */
static bool rotate_check(uint32_t order, bool restarts, uint32_t bad_look, uint32_t bad_call)
{
    static struct rotating t;
    struct stage s;
    stage_open(&s);
    faulty_install(&s);
    s.env.log = log_nothing;
    s.env.mono_us = moved_clock;
    s.env.wall_us = moved_wall;
    moved_us = 1000;
    stage_write(&s, "in/app.log", "");
    struct fs_source_conf conf = conf_of(stage_path(&s, "in/app.log*"));
    conf.monitor_interval.us = 10000;
    t = (struct rotating){.kit = kit_of(&s, &conf), .bad_look = bad_look, .bad_call = bad_call};
    t.kit.gives_late = true;
    source_run_open(&t.run, &t.kit, 1, 10, NULL);
    rotate_look(&t, 3, false);
    for (uint32_t step = 0; step < ROTATE_STEPS; step++) {
        rotate_step(&s, step);
        rotate_look(&t, step == 0 ? 3 : order >> 2 * (step - 1), restarts && step > 0);
    }
    for (uint32_t i = 0; i < 10; i++) {
        rotate_look(&t, 3, false);
        moved_us += 1000000; /* until what may be a copy in the making is none */
    }
    strcat(t.text, t.run.text);
    char want[1000];
    (void)snprintf(want, sizeof(want), "%09u\n%0300u\n%09u\nlast of 0\nlast of 3\nlast of 6\n", 0,
                   3, 6);
    ck_assert_msg(strcmp(source_kit_lines(&s, t.text), want) == 0,
                  "order %o, look %u, call %u reads\n%s", order, bad_look, bad_call, t.text);
    source_run_close(&t.run);
    stage_close(&s);
    return t.has_failed;
}

/* Rotation by copy and truncation: whatever the discoverer and the reader get to see of it, each
 * line is read once. */
START_TEST(a_rotated_log_is_read_once_whoever_saw_it)
{
    for (uint32_t order = 0; order < ROTATE_ORDERS; order++) {
        (void)rotate_check(order, false, 0, 0);
    }
}
END_TEST

START_TEST(a_rotated_log_is_read_once_by_restarted_jobs)
{
    for (uint32_t order = 0; order < ROTATE_ORDERS; order++) {
        (void)rotate_check(order, true, 0, 0);
    }
}
END_TEST

/* That a file cannot be read just now says nothing of what it holds: no line is read again, none is
 * left out. */
START_TEST(a_rotated_log_is_read_once_whatever_call_fails)
{
    for (uint32_t look = 2; look < ROTATE_STEPS + 4; look++) {
        for (uint32_t order = 0; order < ROTATE_ORDERS; order += 409) {
            uint32_t calls = 0;
            while (rotate_check(order, order % 2 > 0, look, calls)) {
                calls++;
            }
        }
    }
}
END_TEST

/* What is appended while a bounded source reads is left for a later run, but for the half line. */
START_TEST(a_bounded_read_ends_where_the_file_did)
{
    struct stage s;
    stage_open(&s);
    stage_write(&s, "in", "1\n2\nhal");
    struct fs_source_conf conf = conf_of(stage_path(&s, "in"));
    struct source_kit k = kit_of(&s, &conf);
    struct source_run r;
    source_run_open(&r, &k, 1, 10, NULL);
    ck_assert_int_eq(source_run_discover(&r), SR_DISCOVERED_ALL);
    stage_append(&s, "in", "f\n4\n5\n");
    ck_assert_int_eq(source_run_read(&r, UINT32_MAX), SR_POLL_SPLIT_END);
    ck_assert_str_eq(source_kit_lines(&s, r.text), "1\n2\nhalf\n");
    source_run_close(&r);
    stage_close(&s);
}
END_TEST

/* A position that was damaged is refused: every byte less, and every cut. */
START_TEST(damaged_positions_are_refused)
{
    struct stage s;
    stage_open(&s);
    stage_write(&s, "in", "1\n2\n");
    struct fs_source_conf conf = conf_of(stage_path(&s, "in"));
    struct source_kit k = kit_of(&s, &conf);
    struct source_run r;
    source_run_open(&r, &k, 1, 10, NULL);
    ck_assert_int_eq(source_run_discover(&r), SR_DISCOVERED_ALL);
    source_run_save(&r);
    for (uint32_t len = 0; len < r.split[0].len; len++) {
        uint8_t *part = malloc(len > 0 ? len : 1);
        memcpy(part, r.split[0].note, len);
        struct sr_split split = {.id = r.split[0].id, .note = {part, len}};
        ck_assert_int_eq(fs_source_type.add(r.reader[0], 1, &split, &r.err), SR_ECORRUPT);
        free(part);
    }
    source_run_close(&r);
    stage_close(&s);
}
END_TEST

/* Names that rotation makes of a file's name, and names that are others'. */
START_TEST(rotated_names_are_made_of_the_old_one)
{
    static const char *const related[][2] = {
        {"/l/app.log", "/l/app.log.1"},      {"/l/app.log", "/l/old/app.log.1.gz"},
        {"/l/app.log", "/l/app.1.log"},      {"/l/app.log", "/l/app-20261130.log"},
        {"/l/app.log.1", "/l/app.log.2.gz"}, {"/l/app", "/l/app.1"}};
    static const char *const others[][2] = {{"/l/a.csv", "/l/a2.csv"},
                                            {"/l/part-1.csv", "/l/part-10.csv"},
                                            {"/l/app.log", "/l/web.log"},
                                            {"/l/day-2026-01-01.csv", "/l/day-2026-01-02.csv"}};
    for (size_t i = 0; i < sizeof(related) / sizeof(related[0]); i++) {
        ck_assert_msg(fs_known_is_related(related[i][0], related[i][1]), "%s", related[i][1]);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        ck_assert_msg(!fs_known_is_related(others[i][0], others[i][1]), "%s", others[i][1]);
    }
}
END_TEST

UNIT_MAIN("fs_source", rotated_names_are_made_of_the_old_one, files_keep_the_promises_of_sources,
          compressed_files_keep_the_promises_of_sources, every_cut_keeps_every_line,
          records_longer_than_a_buffer_come_whole, a_record_over_the_limit_is_named,
          records_over_the_limit_are_passed_over, patterns_find_their_files,
          what_cannot_be_read_is_said_at_discovery, vanishing_and_shrinking_are_seen,
          files_that_changed_their_inodes_are_gone_on_with, a_file_that_vanished_unread_is_counted,
          monitored_files_are_read_on, a_bounded_read_ends_where_the_file_did,
          damaged_positions_are_refused, a_rotated_log_is_read_once_whoever_saw_it,
          a_rotated_log_is_read_once_by_restarted_jobs,
          a_rotated_log_is_read_once_whatever_call_fails)
