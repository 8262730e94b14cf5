/* The http sink and a server in this process: what a checkpoint waits for, what has which key. */
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "connectors/common/note.h"
#include "connectors/http/http_batch.h"
#include "test/kit/line_format.h"
#include "test/kit/sink_kit.h"
#include "test/unit/unit.h"

#define SERVER_POSTS 64u
#define SERVER_BODY  4096u

struct post {
    char key[40], body[SERVER_BODY];
    size_t len;
    unsigned status;
};

/* Answers 503 to the first `faults` posts, and 400 to all that hold `poison`. */
struct server {
    struct MHD_Daemon *daemon;
    pthread_mutex_t lock; /* of what follows */
    struct post post[SERVER_POSTS];
    uint32_t posts, faults;
    const char *poison;
};

static enum MHD_Result server_ends(struct server *s, struct MHD_Connection *c, struct post *p)
{
    const char *key = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Idempotency-Key");
    (void)pthread_mutex_lock(&s->lock);
    bool is_bad = s->poison && memmem(p->body, p->len, s->poison, strlen(s->poison));
    p->status = s->faults > 0 ? 503 : is_bad ? 400 : 200;
    s->faults -= s->faults > 0 ? 1 : 0;
    (void)snprintf(p->key, sizeof(p->key), "%s", key ? key : "");
    unsigned status = p->status;
    (void)pthread_mutex_unlock(&s->lock);
    struct MHD_Response *r = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    enum MHD_Result done = MHD_queue_response(c, status, r);
    MHD_destroy_response(r);
    return done;
}

/* NOLINTNEXTLINE(readability-function-size): MHD's callback has that many parameters */
static enum MHD_Result server_post(void *ctx, struct MHD_Connection *c, const char *url,
                                   const char *method, const char *version, const char *bytes,
                                   size_t *len, void **request)
{
    (void)url, (void)method, (void)version;
    struct server *s = ctx;
    if (!*request) {
        (void)pthread_mutex_lock(&s->lock);
        *request = s->posts < SERVER_POSTS ? &s->post[s->posts++] : NULL;
        (void)pthread_mutex_unlock(&s->lock);
        return *request ? MHD_YES : MHD_NO;
    }
    struct post *p = *request;
    if (*len == 0) return server_ends(s, c, p);
    (void)pthread_mutex_lock(&s->lock);
    bool is_short = *len < sizeof(p->body) - p->len;
    if (is_short) memcpy(p->body + p->len, bytes, *len);
    p->len += is_short ? *len : 0;
    (void)pthread_mutex_unlock(&s->lock);
    *len = 0;
    return is_short ? MHD_YES : MHD_NO;
}

/* A sink and its server. */
struct bench {
    struct stage stage;
    struct server server;
    struct http_sink_conf conf;
    struct sink_kit kit;
    char url[64];
};

static uint64_t told_settled; /* by the sink of the running test */
static char told_refused[256];

static void bench_settle(const struct sr_sink_open *o, uint64_t row)
{
    (void)o;
    told_settled = row;
}

static sr_rc bench_refuse(const struct sr_sink_open *o, uint64_t row, const char *words,
                          struct sr_error *err)
{
    (void)o, (void)err;
    (void)snprintf(told_refused, sizeof(told_refused), "%llu %s", (unsigned long long)row, words);
    return SR_OK;
}

static void bench_open(struct bench *b)
{
    static const char *const again[] = {"503"}, *const rows[] = {"400"};
    memset(b, 0, sizeof(*b));
    stage_open(&b->stage);
    ck_assert_int_eq(pthread_mutex_init(&b->server.lock, NULL), 0);
    b->server.daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO, 0, NULL,
                                        NULL, server_post, &b->server, MHD_OPTION_END);
    ck_assert_ptr_nonnull(b->server.daemon);
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(b->server.daemon, MHD_DAEMON_INFO_BIND_PORT);
    (void)snprintf(b->url, sizeof(b->url), "http://127.0.0.1:%u/in", (unsigned)info->port);
    b->conf = (struct http_sink_conf){.url = b->url,
                                      .batch_rows = 4,
                                      .inflight_max = 1,
                                      .buffered_max = 1000,
                                      .batch_bytes = {1 << 20},
                                      .batch_delay = {INT64_C(3600000000)},
                                      .retries_max = -1,
                                      .retry_for = {INT64_C(3600000000)},
                                      .backoff = {1000},
                                      .backoff_max = {2000},
                                      .retry_codes = {.count = 1, .item = again},
                                      .row_codes = {.count = 1, .item = rows},
                                      .connect_timeout = {INT64_C(30000000)},
                                      .request_timeout = {INT64_C(30000000)}};
    b->kit = (struct sink_kit){
        .stage = &b->stage, .type = &http_sink_type, .conf = &b->conf, .format = &line_format};
}

static void bench_close(struct bench *b)
{
    MHD_stop_daemon(b->server.daemon);
    (void)pthread_mutex_destroy(&b->server.lock);
    stage_close(&b->stage);
}

static void bench_run(struct bench *b, struct sink_run *r, uint32_t parts)
{
    sink_run_open(r, &b->kit, parts, 1);
    for (uint32_t i = 0; i < parts; i++) {
        r->open[i].settle = bench_settle;
        r->open[i].refuse = bench_refuse;
    }
    told_settled = 0;
    told_refused[0] = '\0';
}

/* Calls until it is no longer busy, as the engine does. */
static sr_rc bench_prepare(struct sink_run *r, uint64_t checkpoint)
{
    sr_rc rc;
    while ((rc = sink_run_prepare(r, checkpoint, false)) == SR_EBUSY) {
        (void)poll(NULL, 0, 1);
    }
    return rc;
}

/* Rows that were answered well, sorted. */
static const char *bench_rows(struct bench *b)
{
    char text[SERVER_POSTS * 64] = "";
    size_t len = 0;
    (void)pthread_mutex_lock(&b->server.lock);
    for (uint32_t i = 0; i < b->server.posts; i++) {
        const struct post *p = &b->server.post[i];
        if (p->status != 200 || len + p->len >= sizeof(text)) continue;
        memcpy(text + len, p->body, p->len);
        text[len += p->len] = '\0';
    }
    (void)pthread_mutex_unlock(&b->server.lock);
    return stage_sort(&b->stage, text);
}

/* A checkpoint waits until the server has answered for every row, in requests of so many. */
START_TEST(a_checkpoint_has_all_rows)
{
    struct bench b;
    struct sink_run r;
    bench_open(&b);
    bench_run(&b, &r, 1);
    ck_assert_int_eq(sink_run_write(&r, 0, 1, 10), SR_OK);
    ck_assert_msg(bench_prepare(&r, 1) == SR_OK, "%s", r.err.words);
    ck_assert_str_eq(bench_rows(&b), sink_kit_rows(&b.stage, 1, 10));
    ck_assert_uint_eq(told_settled, 10);
    ck_assert_uint_eq(b.server.posts, 3);
    ck_assert_uint_eq(b.server.post[2].len, strlen("row-9\nrow-10\n"));
    ck_assert_msg(bench_prepare(&r, 2) == SR_OK, "nothing is nothing: %s", r.err.words);
    ck_assert_uint_eq(b.server.posts, 3);
    sink_run_done(&r);
    bench_close(&b);
}
END_TEST

/* What may do better is tried again with its key and its bytes, and those behind it wait. */
START_TEST(tries_have_one_key)
{
    struct bench b;
    struct sink_run r;
    bench_open(&b);
    b.server.faults = 3;
    bench_run(&b, &r, 1);
    ck_assert_int_eq(sink_run_write(&r, 0, 1, 8), SR_OK);
    ck_assert_msg(bench_prepare(&r, 1) == SR_OK, "%s", r.err.words);
    ck_assert_str_eq(bench_rows(&b), sink_kit_rows(&b.stage, 1, 8));
    ck_assert_uint_eq(b.server.posts, 5);
    for (uint32_t i = 1; i < 4; i++) {
        ck_assert_str_eq(b.server.post[i].key, b.server.post[0].key);
    }
    ck_assert_str_ne(b.server.post[4].key, b.server.post[0].key);
    sink_run_done(&r);
    bench_close(&b);
}
END_TEST

/* Of a batch that is refused the guilty row is found, and only that one is told of. */
START_TEST(one_row_is_refused_alone)
{
    struct bench b;
    struct sink_run r;
    bench_open(&b);
    b.server.poison = "row-7";
    b.conf.batch_rows = 10;
    bench_run(&b, &r, 1);
    ck_assert_int_eq(sink_run_write(&r, 0, 1, 10), SR_OK);
    ck_assert_msg(bench_prepare(&r, 1) == SR_OK, "%s", r.err.words);
    ck_assert_msg(strncmp(told_refused, "6 POST http://127.0.0.1", 23) == 0, "%s", told_refused);
    ck_assert_uint_eq(told_settled, 10);
    const char *got = bench_rows(&b);
    ck_assert_ptr_null(strstr(got, "row-7"));
    ck_assert_ptr_nonnull(strstr(got, "row-6"));
    ck_assert_ptr_nonnull(strstr(got, "row-8"));
    sink_run_done(&r);
    bench_close(&b);
}
END_TEST

/* Rows that come again behind a checkpoint have the keys that they had; others never do. */
START_TEST(keys_outlive_a_crash)
{
    struct bench b;
    struct sink_run first, second, other;
    bench_open(&b);
    bench_run(&b, &first, 1);
    ck_assert_int_eq(sink_run_write(&first, 0, 1, 6), SR_OK);
    ck_assert_int_eq(bench_prepare(&first, 1), SR_OK);
    bench_run(&b, &second, 1);
    sink_run_restore(&second, &first);
    ck_assert_int_eq(sink_run_write(&first, 0, 7, 10), SR_OK);
    ck_assert_int_eq(bench_prepare(&first, 2), SR_OK);
    ck_assert_int_eq(sink_run_write(&second, 0, 7, 10), SR_OK);
    ck_assert_int_eq(bench_prepare(&second, 2), SR_OK);
    ck_assert_uint_eq(b.server.posts, 4);
    ck_assert_str_eq(b.server.post[2].key, b.server.post[3].key);
    ck_assert_str_ne(b.server.post[2].key, b.server.post[1].key);
    bench_run(&b, &other, 2);
    ck_assert_int_eq(sink_run_write(&other, 0, 7, 10), SR_OK);
    ck_assert_int_eq(sink_run_write(&other, 1, 7, 10), SR_OK);
    ck_assert_int_eq(bench_prepare(&other, 3), SR_OK);
    ck_assert_uint_eq(b.server.posts, 6);
    ck_assert_str_ne(b.server.post[4].key, b.server.post[3].key);
    ck_assert_str_ne(b.server.post[4].key, b.server.post[5].key);
    sink_run_done(&first);
    sink_run_done(&second);
    sink_run_done(&other);
    bench_close(&b);
}
END_TEST

/* A server that says no to all, or is not there, fails the job in words, within its limits. */
START_TEST(what_is_hopeless_fails)
{
    struct bench b;
    struct sink_run r;
    bench_open(&b);
    b.server.faults = SERVER_POSTS;
    b.conf.retries_max = 2;
    bench_run(&b, &r, 1);
    ck_assert_int_eq(sink_run_write(&r, 0, 1, 3), SR_OK);
    ck_assert_int_eq(bench_prepare(&r, 1), SR_EIO);
    ck_assert_msg(strstr(r.err.words, "503") && strstr(r.err.words, "given up after try 3"), "%s",
                  r.err.words);
    ck_assert_uint_eq(b.server.posts, 3);
    sink_run_done(&r);
    bench_close(&b);
    bench_open(&b);
    b.conf.url = "http://127.0.0.1:1/";
    b.conf.retries_max = 0;
    bench_run(&b, &r, 1);
    ck_assert_int_eq(sink_run_write(&r, 0, 1, 3), SR_OK);
    ck_assert_int_eq(bench_prepare(&r, 1), SR_EIO);
    sink_run_done(&r);
    bench_close(&b);
}
END_TEST

/* --- Parts ------------------------------------------------------------------------------------ */

START_TEST(statuses_are_named)
{
    static const char *const good[] = {"429", "5xx", "4XX"};
    static const char *const bad[] = {"42", "4290", "6xx", "099", "4x9", ""};
    bool codes[HTTP_CODES];
    const char *wrong = NULL;
    const sr_list some = {.count = 2, .item = good};
    ck_assert(http_codes(&some, codes, &wrong));
    ck_assert(codes[429] && codes[500] && codes[599] && !codes[428] && !codes[430] && !codes[499]);
    for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const sr_list one = {.count = 1, .item = &bad[i]};
        ck_assert_msg(!http_codes(&one, codes, &wrong) && wrong == bad[i], "%s", bad[i]);
    }
}
END_TEST

/* A URL is shown without what may be secret. */
START_TEST(urls_are_shown_without_secrets)
{
    char shown[64];
    ck_assert(http_shown_url("https://me:pw@host:8443/a/b?token=x#y", shown, sizeof(shown)));
    ck_assert_str_eq(shown, "https://host:8443/a/b");
    ck_assert(http_shown_url("http://[::1]/", shown, sizeof(shown)));
    ck_assert_str_eq(shown, "http://[::1]/");
    ck_assert(!http_shown_url("ftp://host/", shown, sizeof(shown)));
    ck_assert(!http_shown_url("host", shown, sizeof(shown)));
    ck_assert(http_shown_url("http://host/a/very/long/path", shown, 12)); /* cut */
    ck_assert_str_eq(shown, "http://host");
}
END_TEST

static struct http_batch *batch_of(const char *const *row, uint32_t rows)
{
    struct http_batch *b = http_batch_new(100);
    ck_assert(b && http_batch_room(b, rows));
    for (uint32_t i = 0; i < rows; i++) {
        size_t len = strlen(row[i]);
        uint8_t *to = sr_out_room(&b->bytes, len);
        ck_assert_ptr_nonnull(to);
        memcpy(to, row[i], len);
        b->bytes.len += len;
        b->end[b->rows++] = b->bytes.len;
    }
    return b;
}

static void batch_is(const struct http_batch *b, enum http_body how, const char *want)
{
    const struct sr_out head = {.data = NULL};
    struct sr_out out = note_out();
    ck_assert(http_batch_body(b, how, &head, &out));
    ck_assert_msg(out.len == strlen(want) && memcmp(out.data, want, out.len) == 0, "%.*s",
                  (int)out.len, (const char *)out.data);
    note_free(&out);
}

/* Rows are cut where it is asked, and stand in a body as they are, without their line ends, or
 * between commas. */
START_TEST(batches_are_cut_and_joined)
{
    static const char *const row[] = {"{}\n", "{\"a\":1}\r\n", "\n", "4\n"};
    struct http_batch *b = batch_of(row, 4);
    batch_is(b, HTTP_BODY_LINES, "{}\n{\"a\":1}\r\n\n4\n");
    batch_is(b, HTTP_BODY_ARRAY, "[{},{\"a\":1},,4]");
    ck_assert_uint_eq(http_batch_rows(b, 1), 1);
    ck_assert_uint_eq(http_batch_rows(b, 4), 2);
    ck_assert_uint_eq(http_batch_rows(b, 1000), 4);
    struct http_batch *tail = http_batch_cut(b, 3);
    ck_assert_ptr_nonnull(tail);
    ck_assert_uint_eq(tail->first, 103);
    ck_assert_uint_eq(b->rows + tail->rows, 4);
    batch_is(tail, HTTP_BODY_ROW, "4");
    batch_is(b, HTTP_BODY_LINES, "{}\n{\"a\":1}\r\n\n");
    http_batch_free(tail);
    http_batch_free(b);
}
END_TEST

UNIT_MAIN("http sink", a_checkpoint_has_all_rows, tries_have_one_key, one_row_is_refused_alone,
          keys_outlive_a_crash, what_is_hopeless_fails, statuses_are_named,
          urls_are_shown_without_secrets, batches_are_cut_and_joined)
