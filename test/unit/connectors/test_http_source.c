/* The parts of the http source that need no server: places, codings, requests in a journal. */
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "connectors/http/http_coding.h"
#include "connectors/http/http_known.h"
#include "connectors/http/http_listen.h"
#include "connectors/http/http_peers.h"
#include "engine/base/env.h"
#include "engine/data/host.h"
#include "test/unit/unit.h"

/* A place is a host, which may be left out, and a port; an IPv6 address stands in brackets. */
START_TEST(places)
{
    static const char *const good[] = {"127.0.0.1:8080", ":0", "localhost:65535", "[::1]:80"};
    static const char *const bad[] = {"",           "8080",   "host",        "host:",  "host:x",
                                      "host:65536", "::1:80", "host:123456", "host:-1"};
    const char *why = NULL;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        ck_assert_msg(http_listen_is_place(good[i], &why), "%s", good[i]);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_msg(!http_listen_is_place(bad[i], &why) && why, "%s", bad[i]);
    }
}
END_TEST

/* Port 0 is one that is free, and a second listener there is refused with the reason. */
START_TEST(listening)
{
    struct env env = env_posix(SR_LOG_ERROR);
    struct sr_home *home = home_new();
    struct host_ctx ctx;
    struct sr_host host;
    struct sr_error err;
    struct http_listen one, two;
    char place[64];
    host_init(&host, &ctx, &env, home, "http");
    ck_assert_int_eq(http_listen(&one, &host, "127.0.0.1:0", &err), SR_OK);
    ck_assert_uint_ne(one.port, 0);
    (void)snprintf(place, sizeof(place), "127.0.0.1:%u", one.port);
    ck_assert_str_eq(one.place, place);
    ck_assert_int_eq(http_listen(&two, &host, place, &err), SR_EIO);
    ck_assert_ptr_nonnull(strstr(err.words, "in use"));
    ck_assert_int_eq(http_listen(&two, &host, "no.such.name.invalid:1", &err), SR_EIO);
    (void)close(one.fd);
    home_close(home);
}
END_TEST

static struct http_answer decode(const char *coding, const void *bytes, size_t len, uint64_t most,
                                 struct sr_out *plain)
{
    union { /* what is only read, as what may be written */
        const void *from;
        uint8_t *to;
    } data = {.from = bytes};
    const struct sr_out body = {.data = data.to, .len = len};
    *plain = note_out();
    return http_decode(coding, &body, most, plain);
}

/* What is not packed is left as it is; what is not what it says, or too much, is refused. */
START_TEST(codings)
{
    static const uint8_t gzip[] = {0x1f, 0x8b, 8, 0,    0,    0,    0,    0, 0, 3, 0x4b,
                                   0xe4, 2,    0, 0x07, 0xa1, 0xea, 0xdd, 2, 0, 0, 0}; /* "a\n" */
    struct sr_out plain;
    ck_assert_uint_eq(decode(NULL, "a", 1, 10, &plain).status, 0);
    ck_assert_ptr_null(plain.data);
    ck_assert_uint_eq(decode("identity", "a", 1, 10, &plain).status, 0);
    ck_assert_uint_eq(decode("br", "a", 1, 10, &plain).status, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE);
    ck_assert_uint_eq(decode("GZip", gzip, sizeof(gzip), 10, &plain).status, 0);
    ck_assert_uint_eq(plain.len, 2);
    ck_assert_mem_eq(plain.data, "a\n", 2);
    note_free(&plain);
    ck_assert_uint_eq(decode("gzip", gzip, sizeof(gzip), 1, &plain).status,
                      MHD_HTTP_CONTENT_TOO_LARGE);
    note_free(&plain);
    for (size_t len = 1; len < sizeof(gzip); len++) {
        ck_assert_uint_eq(decode("gzip", gzip, len, 10, &plain).status, MHD_HTTP_BAD_REQUEST);
        note_free(&plain);
    }
}
END_TEST

/* A request is the same when it comes back from a journal; a damaged one is told from it. */
START_TEST(requests)
{
    static const char *const name[] = {"X-Tag", "X-Other"}, *const value[] = {"blue", ""};
    const struct sr_pairs headers = {.count = 2, .key = name, .value = value};
    const struct http_about about = {.method = "PUT",
                                     .path = "/a",
                                     .remote = "::1",
                                     .content_type = "",
                                     .headers = &headers,
                                     .wall_us = -1500};
    struct http_post *p = http_post_new(&about, (const uint8_t *)"body", 4);
    ck_assert_ptr_nonnull(p);
    ck_assert(http_post_is_one(p->bytes));
    struct http_post *again = http_post_blank(p->bytes);
    ck_assert_uint_eq(again->len, p->len);
    memcpy(again->bytes, p->bytes, p->len);
    struct http_known known = {0};
    ck_assert_int_eq(http_known_read(&known, again), SR_OK);
    ck_assert_str_eq(known.method, "PUT");
    ck_assert_str_eq(known.path, "/a");
    ck_assert_str_eq(known.remote, "::1");
    ck_assert_uint_eq(known.headers, 2);
    ck_assert_str_eq(known.header[1], "blue");
    ck_assert_int_eq(known.wall_us, -1500);
    ck_assert_mem_eq(http_post_body(again), "body", 4);
    again->head_len -= 1; /* its head ends within a text */
    ck_assert_int_eq(http_known_read(&known, again), SR_ECORRUPT);
    http_known_done(&known);
    p->bytes[0] ^= 1;
    ck_assert(!http_post_is_one(p->bytes));
    http_post_free(again);
    http_post_free(p);
    char *long_path = malloc(NOTE_TEXT_MAX + 2);
    memset(long_path, 'x', NOTE_TEXT_MAX + 1);
    long_path[NOTE_TEXT_MAX + 1] = '\0';
    struct http_about longer = about;
    longer.path = long_path;
    ck_assert_ptr_null(http_post_new(&longer, NULL, 0));
    free(long_path);
}
END_TEST

static bool is_cut(int fd)
{
    char c;
    return recv(fd, &c, 1, MSG_DONTWAIT) == 0;
}

/* Whoever sends a byte now and then is cut off; not who waits for us, nor a large body that comes.
 */
START_TEST(slow_peers)
{
    struct http_peers l = {0};
    int pair[3][2];
    struct http_peer *p[3];
    ck_assert(http_peers_init(&l));
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair[i]), 0);
        p[i] = http_peer_add(&l, pair[i][0], 0);
        ck_assert_ptr_nonnull(p[i]);
    }
    http_peer_whole(&l, p[1]);
    http_peer_came(&l, p[2], (uint64_t)HTTP_PEER_RATE * 10);
    ck_assert(http_peers_expire(&l, HTTP_PEER_US));
    ck_assert(!is_cut(pair[0][1]) && !is_cut(pair[1][1]) && !is_cut(pair[2][1]));
    ck_assert(http_peers_expire(&l, HTTP_PEER_US + 1));
    ck_assert(is_cut(pair[0][1]) && !is_cut(pair[1][1]) && !is_cut(pair[2][1]));
    ck_assert(!http_peers_expire(&l, HTTP_PEER_US + 10000001));
    ck_assert(!is_cut(pair[1][1]) && is_cut(pair[2][1]));
    http_peer_rests(&l, p[1], HTTP_PEER_US * 2); /* answered: the next one has its time */
    ck_assert(http_peers_expire(&l, HTTP_PEER_US * 3) && !is_cut(pair[1][1]));
    ck_assert(!http_peers_expire(&l, HTTP_PEER_US * 3 + 1) && is_cut(pair[1][1]));
    for (int i = 0; i < 3; i++) {
        http_peer_remove(&l, p[i]);
        (void)close(pair[i][0]);
        (void)close(pair[i][1]);
    }
    ck_assert_ptr_null(l.first);
    http_peers_done(&l);
}
END_TEST

UNIT_MAIN("http source", places, listening, codings, requests, slow_peers)
