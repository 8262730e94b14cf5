/* stdin, stdout, print and blackhole, over pipes and files in the place of descriptors 0 and 1. */
#include "test/unit/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "connectors/builtin.h"
#include "connectors/common/pipe_out.h"
#include "connectors/stdio/stdio.h"
#include "test/kit/line_format.h"
#include "test/kit/rows.h"
#include "test/kit/sink_kit.h"
#include "test/kit/source_kit.h"

static const struct sr_sink_type *sink_named(const char *name)
{
    for (uint32_t i = 0; connectors_builtin[i]; i++) {
        const struct sr_sink_type *const *t = connectors_builtin[i]->sinks;
        for (; t && *t; t++) {
            if (strcmp((*t)->name, name) == 0) {
                return *t;
            }
        }
    }
    ck_abort_msg("no sink %s is built in", name);
    return NULL;
}

static const struct sr_source_type *stdin_source(void)
{
    for (uint32_t i = 0; connectors_builtin[i]; i++) {
        const struct sr_source_type *const *t = connectors_builtin[i]->sources;
        for (; t && *t; t++) {
            if (strcmp((*t)->name, "stdin") == 0) {
                return *t;
            }
        }
    }
    ck_abort_msg("stdin is not built in");
    return NULL;
}

static const struct stdin_conf record_max = {.record_max = {1u << 20}};

/* Descriptor `fd` becomes one end of a pipe; answers the other. Each test is its own process. */
static int pipe_in_place_of(int fd)
{
    int p[2];
    ck_assert_int_eq(pipe(p), 0);
    int mine = fd == 0 ? 1 : 0;
    ck_assert_int_eq(dup2(p[1 - mine], fd), fd);
    close(p[1 - mine]);
    return p[mine];
}

/* A pipe is read as bytes come, never waits, and a half line waits for its end. */
START_TEST(stdin_reads_a_pipe_without_waiting)
{
    struct stage s;
    stage_open(&s);
    int in = pipe_in_place_of(0);
    struct source_kit k = {.stage = &s, .type = stdin_source(), .conf = &record_max};
    struct source_run r;
    source_run_open(&r, &k, 1, 10, NULL);
    ck_assert_int_eq(source_run_discover(&r), SR_DISCOVERED_ALL);
    ck_assert_int_eq(source_run_read(&r, UINT32_MAX), SR_POLL_IDLE);
    ck_assert_int_eq(r.wait.fd, 0);
    ck_assert_int_eq(write(in, "1\n2\nha", 6), 6);
    ck_assert_int_eq(source_run_read(&r, UINT32_MAX), SR_POLL_IDLE);
    ck_assert_str_eq(source_kit_lines(&s, r.text), "1\n2\n");
    ck_assert_int_eq(write(in, "lf\nend", 6), 6);
    close(in);
    ck_assert_int_eq(source_run_read(&r, UINT32_MAX), SR_POLL_SPLIT_END);
    ck_assert_str_eq(r.text, "stdin\t1\nstdin\t2\nstdin\thalf\nstdin\tend\n");
    source_run_close(&r);
    stage_close(&s);
}
END_TEST

/* A pipe that was read before a checkpoint is refused at resume; one that was not goes on. */
START_TEST(stdin_refuses_to_go_back_in_a_pipe)
{
    struct stage s;
    stage_open(&s);
    int in = pipe_in_place_of(0);
    struct source_kit k = {.stage = &s, .type = stdin_source(), .conf = &record_max};
    struct source_run r, next;
    source_run_open(&r, &k, 1, 10, NULL);
    ck_assert_int_eq(source_run_discover(&r), SR_DISCOVERED_ALL);
    source_run_save(&r);
    source_run_open(&next, &k, 1, 10, &r); /* nothing was read: nothing is lost */
    source_run_close(&next);
    ck_assert_int_eq(write(in, "1\n2\n", 4), 4);
    ck_assert_int_eq(source_run_read(&r, 1), SR_POLL_DATA);
    source_run_save(&r);
    struct sr_split split = {.id = "stdin", .note = {r.split[0].note, r.split[0].len}};
    ck_assert_int_eq(stdin_source()->add(r.reader[0], 1, &split, &r.err), SR_EMISFIT);
    ck_assert_ptr_nonnull(strstr(r.err.words, "2 bytes"));
    struct sr_source_caps caps;
    ck_assert_int_eq(stdin_source()->check(&record_max, NULL, &caps, &r.err), SR_OK);
    ck_assert(!caps.can_rewind && caps.is_bounded && caps.parts_max == 1);
    source_run_close(&r);
    close(in);
    stage_close(&s);
}
END_TEST

/* Redirected from a file, from where it stands, it keeps every promise of a source. */
START_TEST(stdin_from_a_file_can_be_resumed)
{
    struct stage s;
    stage_open(&s);
    stage_write(&s, "in", "head\n1\n2\n\nlast");
    int fd = open(stage_path(&s, "in"), O_RDONLY);
    ck_assert_int_eq(dup2(fd, 0), 0);
    ck_assert_int_eq(lseek(0, 5, SEEK_SET), 5);
    struct source_kit k = {.stage = &s, .type = stdin_source(), .conf = &record_max};
    ck_assert_str_eq(source_kit_lines(&s, source_kit_read(&k, 1, 10)), "\n1\n2\nlast\n");
    source_kit_check(&k);
    close(fd);
    stage_close(&s);
}
END_TEST

static struct sink_kit kit_of(struct stage *s, const char *name, const void *conf)
{
    struct sink_kit k = {.stage = s, .type = sink_named(name), .conf = conf};
    k.format = strcmp(name, "stdout") == 0 ? &line_format : NULL;
    return k;
}

/* A full pipe makes the sink busy instead of waiting; what was taken goes out in order. */
START_TEST(stdout_is_busy_while_nobody_reads)
{
    struct stage s;
    stage_open(&s);
    int out = pipe_in_place_of(1);
    struct sink_kit k = kit_of(&s, "stdout", NULL);
    struct sink_run r;
    sink_run_open(&r, &k, 1, 1);
    uint32_t rows = 0;
    while (sink_run_write(&r, 0, rows + 1, rows + 500) == SR_OK) {
        rows += 500;
        ck_assert_uint_lt(rows, 1000000);
    }
    ck_assert_int_eq(r.err.rc, SR_OK); /* busy is no failure: no words */
    struct sr_wait wait = {.fd = -1};
    ck_assert_int_eq(k.type->flush(r.sink[0], &wait, &r.err), SR_EBUSY);
    ck_assert(wait.fd >= 0 && wait.is_write);
    static char text[1 << 20];
    size_t n = 0;
    while (k.type->flush(r.sink[0], &wait, &r.err) == SR_EBUSY) {
        ssize_t got = read(out, text + n, 4096);
        ck_assert_int_gt(got, 0);
        n += (size_t)got;
    }
    k.type->close(r.sink[0]);
    close(1);
    for (ssize_t got; (got = read(out, text + n, 4096)) > 0;) {
        n += (size_t)got;
    }
    uint32_t line = 0;
    for (char *at = text; at < text + n; at = strchr(at, '\n') + 1) {
        char want[32];
        snprintf(want, sizeof(want), "row-%u\n", ++line);
        ck_assert_msg(strncmp(at, want, strlen(want)) == 0, "line %u", line);
    }
    ck_assert_uint_eq(line, rows);
    free(r.sink[0]);
    r.parts = 0;
    sink_run_done(&r);
    close(out);
    stage_close(&s);
}
END_TEST

/* A reader that went away ends the job as a filter does; not a signal, not an endless wait. */
START_TEST(a_closed_stdout_is_said)
{
    struct stage s;
    stage_open(&s);
    signal(SIGPIPE, SIG_IGN);
    int out = pipe_in_place_of(1);
    struct sink_kit k = kit_of(&s, "stdout", NULL);
    struct sink_run r;
    sink_run_open(&r, &k, 1, 1);
    close(out);
    ck_assert_int_eq(sink_run_write(&r, 0, 1, 3), SR_OK);
    struct sr_wait wait;
    ck_assert_int_eq(k.type->flush(r.sink[0], &wait, &r.err), SR_ECLOSED);
    sink_run_done(&r);
    stage_close(&s);
}
END_TEST

/* What a sink writes to descriptor 1, which is a file. */
static const char *written(struct stage *s, struct sink_kit *k, struct sr_view *v,
                           const struct sr_schema *schema)
{
    int fd = open(stage_path(s, "stdout"), O_RDWR | O_CREAT | O_TRUNC, 0666);
    ck_assert_int_eq(dup2(fd, 1), 1);
    close(fd);
    void *sink = calloc(1, k->type->sink_size + 16);
    struct sr_sink_open o = {.size = sizeof(o),
                             .host = &s->host,
                             .conf = k->conf,
                             .schema = schema,
                             .format = k->format,
                             .format_conf = k->format_conf,
                             .part = 1,
                             .parts = k->parts_max,
                             .job_id = "j",
                             .uid = "u"};
    struct sr_error err = {0};
    struct sr_wait wait;
    uint32_t done = 0;
    ck_assert_int_eq(k->type->open(sink, &o, &err), SR_OK);
    if (v) {
        ck_assert_int_eq(k->type->write(sink, v, 0, &done, &wait, &err), SR_OK);
        ck_assert_uint_eq(done, v->picked);
    }
    ck_assert_int_eq(k->type->prepare(sink, 1, true, NULL, &wait, &err), SR_OK);
    k->type->close(sink);
    free(sink);
    return stage_read(s, "stdout");
}

struct print_conf {
    const char *identifier;
    bool is_stderr;
};

/* Rows look as Flink prints them. */
START_TEST(print_writes_as_flink_does)
{
    struct stage s;
    stage_open(&s);
    struct print_conf conf = {0};
    struct sink_kit k = kit_of(&s, "print", &conf);
    k.parts_max = 1;
    const struct sr_schema *schema = rows_schema(s.arena, "k BIGINT, s STRING");
    struct sr_view *v = rows_view(s.home, schema, "1,a; -U 2,b c; +U NULL,NULL; -D -4,d");
    ck_assert_str_eq(written(&s, &k, v, schema),
                     "+I[1, a]\n-U[2, b c]\n+U[null, null]\n-D[-4, d]\n");
    conf.identifier = "id";
    ck_assert_str_eq(written(&s, &k, v, schema),
                     "id> +I[1, a]\nid> -U[2, b c]\nid> +U[null, null]\nid> -D[-4, d]\n");
    k.parts_max = 2;
    v->picked = 1;
    ck_assert_str_eq(written(&s, &k, v, schema), "id:2> +I[1, a]\n");
    conf.identifier = NULL;
    ck_assert_str_eq(written(&s, &k, v, schema), "2> +I[1, a]\n");
    view_release(v);
    stage_close(&s);
}
END_TEST

/* Each type prints as the Java object that Flink makes of it. */
START_TEST(print_knows_the_types)
{
    struct stage s;
    stage_open(&s);
    struct print_conf conf = {0};
    struct sink_kit k = kit_of(&s, "print", &conf);
    k.parts_max = 1;
    const struct sr_schema *schema =
        rows_schema(s.arena, "b BOOLEAN, d DOUBLE, n DECIMAL(10, 2), m DECIMAL(10, 9), y BYTES, "
                             "day DATE, t TIME(3), t0 TIMESTAMP(0), t3 TIMESTAMP(3), "
                             "t6 TIMESTAMP(6), z TIMESTAMP_LTZ(3)");
    struct sr_view *v = rows_empty(s.home, schema);
    v->rows = v->picked = 1;
    for (uint32_t c = 0; c < v->cols; c++) {
        v->col[c]->rows = 1;
    }
    ((uint8_t *)v->col[0]->values)[0] = 1;
    ((double *)v->col[1]->values)[0] = 1e10;
    ((int64_t *)v->col[2]->values)[0] = -5;
    ((int64_t *)v->col[3]->values)[0] = 120;
    ck_assert(column_put_bytes(s.home, v->col[4], 0, "\x01\xff", 2));
    ((int32_t *)v->col[5]->values)[0] = 20454;
    ((int32_t *)v->col[6]->values)[0] = 45000000 + 5;
    ((int64_t *)v->col[7]->values)[0] = -60000000;
    ((int64_t *)v->col[8]->values)[0] = 1500000;
    ((int64_t *)v->col[9]->values)[0] = 1;
    ((int64_t *)v->col[10]->values)[0] = 0;
    ck_assert_str_eq(written(&s, &k, v, schema),
                     "+I[true, 1.0E10, -0.05, 1.20E-7, [1, -1], 2026-01-01, 12:30:00.005, "
                     "1969-12-31T23:59, 1970-01-01T00:00:01.500, 1970-01-01T00:00:00.000001, "
                     "1970-01-01T00:00:00Z]\n");
    view_release(v);
    struct sr_sink_caps caps;
    struct sr_error err = {0};
    ck_assert_int_eq(
        k.type->check(&conf, rows_schema(s.arena, "a MULTISET<ARRAY<INT>>"), &caps, &err),
        SR_ECONFIG);
    ck_assert_ptr_nonnull(strstr(err.words, "column a"));
    stage_close(&s);
}
END_TEST

/* The head stands once, even when no row follows. */
START_TEST(stdout_begins_with_its_head)
{
    struct stage s;
    stage_open(&s);
    struct sink_kit k = kit_of(&s, "stdout", NULL);
    struct line_conf head = {.head = "line"};
    k.format_conf = &head;
    k.parts_max = 1;
    const struct sr_schema *schema = rows_schema(s.arena, "line STRING");
    struct sr_view *v = rows_view(s.home, schema, "a; b");
    ck_assert_str_eq(written(&s, &k, v, schema), "line\na\nb\n");
    ck_assert_str_eq(written(&s, &k, NULL, schema), "line\n");
    view_release(v);
    stage_close(&s);
}
END_TEST

enum { LINES = 200, LINE = 1000 }; /* a line's letters */

/* Lines of one letter each time. */
static void put_lines(struct pipe_out *o, char letter)
{
    for (int i = 0; i < LINES; i++) {
        uint8_t *to = sr_out_room(&o->buf, LINE + 1);
        ck_assert_ptr_nonnull(to);
        memset(to, letter, LINE);
        to[LINE] = '\n';
        o->buf.len += LINE + 1;
    }
}

/* Whether each descriptor is one's own (a pipe), or all write to the same one (a socket). */
static void two_write_whole_lines(int mine)
{
    static char text[2 * LINES * (LINE + 1)];
    struct stage s;
    struct sr_error err;
    struct pipe_out out[2];
    size_t len = 0;
    stage_open(&s);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(pipe_out_open(&out[i], &s.host, 1, "stdout", &err), SR_OK);
        put_lines(&out[i], (char)('a' + i));
    }
    for (int turn = 0; len < sizeof(text); turn++) {
        struct sr_wait wait;
        bool is_done[2];
        for (int k = 0; k < 2; k++) {
            int i = (turn + k) % 2;
            sr_rc rc = pipe_out_drain(&out[i], &wait, &err);
            is_done[i] = rc == SR_OK;
            ck_assert(rc == SR_OK || rc == SR_EBUSY);
            ck_assert(rc == SR_OK || wait.fd >= 0 || wait.until_us < INT64_MAX);
        }
        ssize_t got = read(mine, text + len, sizeof(text) - len < 997 ? sizeof(text) - len : 997);
        ck_assert_int_gt(got, 0);
        len += (size_t)got;
        ck_assert(len < sizeof(text) || (is_done[0] && is_done[1]));
    }
    for (size_t at = 0; at < len; at += LINE + 1) {
        ck_assert_int_eq(text[at + LINE], '\n');
        for (size_t i = 1; i < LINE; i++) {
            ck_assert_int_eq(text[at + i], text[at]);
        }
    }
    pipe_out_close(&out[0]);
    pipe_out_close(&out[1]);
    stage_close(&s);
}

/* Tasks of a sink and sinks of a job share a pipe, and tear no rows of each other. */
START_TEST(writers_of_one_pipe_take_turns)
{
    int mine = pipe_in_place_of(1);
    two_write_whole_lines(mine);
    close(mine);
}
END_TEST

START_TEST(writers_of_one_socket_write_whole_lines)
{
    int pair[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    ck_assert_int_eq(dup2(pair[1], 1), 1);
    two_write_whole_lines(pair[0]);
    close(pair[0]);
    close(pair[1]);
}
END_TEST

START_TEST(blackhole_takes_all)
{
    struct stage s;
    stage_open(&s);
    struct sink_kit k = kit_of(&s, "blackhole", NULL);
    struct sink_run r;
    sink_run_open(&r, &k, 2, 1);
    ck_assert_int_eq(sink_run_write(&r, 1, 1, 1000), SR_OK);
    ck_assert_int_eq(sink_run_prepare(&r, 1, true), SR_OK);
    ck_assert_uint_eq(r.kept.count, 0);
    sink_run_done(&r);
    stage_close(&s);
}
END_TEST

UNIT_MAIN("stdio", stdin_reads_a_pipe_without_waiting, stdin_refuses_to_go_back_in_a_pipe,
          stdin_from_a_file_can_be_resumed, stdout_is_busy_while_nobody_reads,
          a_closed_stdout_is_said, print_writes_as_flink_does, print_knows_the_types,
          stdout_begins_with_its_head, writers_of_one_pipe_take_turns,
          writers_of_one_socket_write_whole_lines, blackhole_takes_all)
