#include "connectors/http/http_line.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define HTTP_LINE_EVENTS  16
#define HTTP_LINE_SOON_US INT64_C(1000) /* libcurl has more to do at once */

/* One transfer, used again and again. */
struct http_transfer {
    CURL *easy;
    struct curl_slist *headers;
    void *tag;
    bool is_busy;
    char trouble[CURL_ERROR_SIZE];
    char excerpt[HTTP_EXCERPT_MAX];
    uint32_t excerpt_len;
};

struct http_line {
    const struct sr_host *host;
    const struct http_sink_conf *conf;
    char type[160]; /* "Content-Type: ..." */
    CURLM *multi;
    int fd;         /* of epoll; -1: not open */
    int64_t due_us; /* when libcurl wants to be called; INT64_MAX: not */
    uint32_t transfers;
    struct http_transfer *transfer;
};

/* --- What libcurl calls ----------------------------------------------------------------------- */

static int http_line_watch(CURL *easy, curl_socket_t fd, int what, void *line, void *unused)
{
    (void)easy, (void)unused;
    struct http_line *l = line;
    struct epoll_event e = {.data.fd = fd};
    if (what == CURL_POLL_REMOVE) {
        (void)epoll_ctl(l->fd, EPOLL_CTL_DEL, fd, &e); /* it may be closed already */
        return 0;
    }
    e.events = (what & CURL_POLL_IN ? (uint32_t)EPOLLIN : 0) |
               (what & CURL_POLL_OUT ? (uint32_t)EPOLLOUT : 0);
    if (epoll_ctl(l->fd, EPOLL_CTL_MOD, fd, &e) == 0) {
        return 0;
    }
    return epoll_ctl(l->fd, EPOLL_CTL_ADD, fd, &e) == 0 ? 0 : -1;
}

static size_t http_line_received(char *bytes, size_t size, size_t count, void *transfer)
{
    struct http_transfer *t = transfer;
    size_t len = size * count, room = HTTP_EXCERPT_MAX - t->excerpt_len;
    size_t kept = len < room ? len : room;
    memcpy(t->excerpt + t->excerpt_len, bytes, kept);
    t->excerpt_len += (uint32_t)kept;
    return len;
}

/* --- Opening ---------------------------------------------------------------------------------- */

void http_line_set_tls(void *easy, const struct http_sink_conf *c)
{
    CURL *e = easy;
    (void)curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, c->is_verified ? 1L : 0L);
    (void)curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, c->is_verified ? 2L : 0L);
    if (c->ca_file) {
        (void)curl_easy_setopt(e, CURLOPT_CAINFO, c->ca_file);
        (void)curl_easy_setopt(e, CURLOPT_CAPATH, NULL);
    }
    if (c->cert_file) {
        (void)curl_easy_setopt(e, CURLOPT_SSLCERT, c->cert_file);
        (void)curl_easy_setopt(e, CURLOPT_SSLKEY, c->key_file);
    }
}

/* What is the same for all requests. */
static void http_line_set(struct http_transfer *t, const struct http_sink_conf *c)
{
    CURL *e = t->easy;
    (void)curl_easy_setopt(e, CURLOPT_URL, c->url);
    (void)curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(e, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, c->follows ? 1L : 0L);
    (void)curl_easy_setopt(e, CURLOPT_MAXREDIRS, 5L);
    (void)curl_easy_setopt(e, CURLOPT_POSTREDIR, (long)CURL_REDIR_POST_ALL);
    (void)curl_easy_setopt(e, CURLOPT_POST, 1L);
    if (c->method.index > 0) {
        (void)curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, http_method(c));
    }
    (void)curl_easy_setopt(e, CURLOPT_USERAGENT, "streamrun");
    (void)curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)(c->connect_timeout.us / 1000));
    (void)curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, (long)(c->request_timeout.us / 1000));
    (void)curl_easy_setopt(e, CURLOPT_ERRORBUFFER, t->trouble);
    (void)curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, http_line_received);
    (void)curl_easy_setopt(e, CURLOPT_WRITEDATA, t);
    (void)curl_easy_setopt(e, CURLOPT_PRIVATE, t);
    if (c->user) {
        (void)curl_easy_setopt(e, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        (void)curl_easy_setopt(e, CURLOPT_USERNAME, c->user);
        (void)curl_easy_setopt(e, CURLOPT_PASSWORD, c->password ? c->password : "");
    }
    http_line_set_tls(e, c);
}

static bool http_line_start(struct http_line *l)
{
    l->fd = epoll_create1(EPOLL_CLOEXEC);
    l->multi = curl_multi_init();
    l->transfer = calloc(l->transfers, sizeof(*l->transfer));
    if (l->fd < 0 || !l->multi || !l->transfer) {
        return false;
    }
    (void)curl_multi_setopt(l->multi, CURLMOPT_SOCKETFUNCTION, http_line_watch);
    (void)curl_multi_setopt(l->multi, CURLMOPT_SOCKETDATA, l);
    for (uint32_t i = 0; i < l->transfers; i++) {
        l->transfer[i].easy = curl_easy_init();
        if (!l->transfer[i].easy) {
            return false;
        }
        http_line_set(&l->transfer[i], l->conf);
    }
    return true;
}

struct http_line *http_line_open(const struct sr_host *host, const struct http_sink_conf *conf,
                                 const char *type, struct sr_error *err)
{
    struct http_line *l = calloc(1, sizeof(*l));
    if (!l || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        free(l);
        (void)host->fail(host, err, SR_ENOMEM, "out of memory");
        return NULL;
    }
    l->host = host;
    l->conf = conf;
    l->fd = -1;
    l->due_us = INT64_MAX;
    l->transfers = (uint32_t)conf->inflight_max;
    (void)snprintf(l->type, sizeof(l->type), "Content-Type: %s", type);
    if (!http_line_start(l)) {
        (void)host->fail(host, err, SR_ENOMEM, "libcurl cannot be set up: out of memory");
        http_line_close(l);
        return NULL;
    }
    return l;
}

void http_line_close(struct http_line *l)
{
    if (!l) {
        return;
    }
    for (uint32_t i = 0; l->transfer && i < l->transfers; i++) {
        struct http_transfer *t = &l->transfer[i];
        if (t->is_busy) {
            (void)curl_multi_remove_handle(l->multi, t->easy);
        }
        curl_easy_cleanup(t->easy);
        curl_slist_free_all(t->headers);
    }
    free(l->transfer);
    (void)curl_multi_cleanup(l->multi); /* connections are closed: nothing waits on them */
    if (l->fd >= 0) {
        (void)close(l->fd); /* not a file */
    }
    free(l);
    curl_global_cleanup();
}

/* --- Sending ---------------------------------------------------------------------------------- */

static bool http_line_header(struct http_transfer *t, const char *name, const char *value)
{
    size_t size = strlen(name) + strlen(value) + 3;
    char *text = malloc(size);
    if (!text) {
        return false;
    }
    /* libcurl takes "Name;" for a header without a value */
    (void)snprintf(text, size, *value ? "%s: %s" : "%s;", name, value);
    struct curl_slist *more = curl_slist_append(t->headers, text);
    free(text);
    t->headers = more ? more : t->headers;
    return more != NULL;
}

static bool http_line_has(const struct http_sink_conf *c, const char *name)
{
    for (uint32_t i = 0; i < c->headers.count; i++) {
        if (curl_strequal(c->headers.key[i], name)) {
            return true;
        }
    }
    return false;
}

static bool http_line_headers(const struct http_line *l, struct http_transfer *t, const char *key)
{
    const struct http_sink_conf *c = l->conf;
    curl_slist_free_all(t->headers);
    t->headers = NULL;
    bool is_ok = http_line_header(t, "Idempotency-Key", key);
    /* A server need not be asked whether it wants the body. */
    struct curl_slist *more = is_ok ? curl_slist_append(t->headers, "Expect:") : NULL;
    t->headers = more ? more : t->headers;
    is_ok = more != NULL;
    if (is_ok && !http_line_has(c, "Content-Type")) {
        more = curl_slist_append(t->headers, l->type);
        t->headers = more ? more : t->headers;
        is_ok = more != NULL;
    }
    if (is_ok && c->compression.index > 0) {
        is_ok = http_line_header(t, "Content-Encoding", "gzip");
    }
    for (uint32_t i = 0; i < c->headers.count && is_ok; i++) {
        is_ok = http_line_header(t, c->headers.key[i], c->headers.value[i]);
    }
    if (is_ok && c->token) {
        size_t size = strlen(c->token) + sizeof("Bearer ");
        char *value = malloc(size);
        if (value) {
            (void)snprintf(value, size, "Bearer %s", c->token);
        }
        is_ok = value && http_line_header(t, "Authorization", value);
        free(value);
    }
    return is_ok;
}

static struct http_transfer *http_line_free(const struct http_line *l)
{
    for (uint32_t i = 0; i < l->transfers; i++) {
        if (!l->transfer[i].is_busy) {
            return &l->transfer[i];
        }
    }
    return NULL;
}

bool http_line_is_free(const struct http_line *l) { return http_line_free(l) != NULL; }

sr_rc http_line_send(struct http_line *l, const struct http_request *r, struct sr_error *err)
{
    struct http_transfer *t = http_line_free(l);
    if (!http_line_headers(l, t, r->key)) {
        return l->host->fail(l->host, err, SR_ENOMEM, "out of memory");
    }
    t->tag = r->tag;
    t->excerpt_len = 0;
    t->trouble[0] = '\0';
    (void)curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->headers);
    (void)curl_easy_setopt(t->easy, CURLOPT_POSTFIELDS, r->body);
    (void)curl_easy_setopt(t->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->len);
    CURLMcode code = curl_multi_add_handle(l->multi, t->easy);
    if (code != CURLM_OK) {
        return l->host->fail(l->host, err, SR_ENOMEM, "libcurl: %s", curl_multi_strerror(code));
    }
    t->is_busy = true;
    return SR_OK;
}

/* --- Answers ---------------------------------------------------------------------------------- */

static int http_line_flags(uint32_t events)
{
    return (events & (uint32_t)EPOLLIN ? CURL_CSELECT_IN : 0) |
           (events & (uint32_t)EPOLLOUT ? CURL_CSELECT_OUT : 0) |
           (events & (uint32_t)(EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
}

/* Does what is due by the clock, and learns when more will be. A callback would not do: libcurl
 * tells of no time that it believes to have told. */
static CURLMcode http_line_tick(struct http_line *l)
{
    int running = 0;
    long ms = -1;
    CURLMcode code = curl_multi_timeout(l->multi, &ms);
    if (code == CURLM_OK && ms == 0) {
        code = curl_multi_socket_action(l->multi, CURL_SOCKET_TIMEOUT, 0, &running);
        if (code == CURLM_OK) {
            code = curl_multi_timeout(l->multi, &ms);
        }
    }
    int64_t now_us = l->host->mono_us(l->host);
    l->due_us = ms < 0 ? INT64_MAX : now_us + (ms > 0 ? (int64_t)ms * 1000 : HTTP_LINE_SOON_US);
    return code;
}

sr_rc http_line_turn(struct http_line *l, struct sr_error *err)
{
    struct epoll_event e[HTTP_LINE_EVENTS];
    int running = 0;
    CURLMcode code = CURLM_OK;
    int n = epoll_wait(l->fd, e, HTTP_LINE_EVENTS, 0);
    for (int i = 0; i < n && code == CURLM_OK; i++) {
        code = curl_multi_socket_action(l->multi, e[i].data.fd, http_line_flags(e[i].events),
                                        &running);
    }
    if (code == CURLM_OK) {
        code = http_line_tick(l);
    }
    if (code != CURLM_OK) {
        return l->host->fail(l->host, err, SR_EIO, "libcurl: %s", curl_multi_strerror(code));
    }
    return SR_OK;
}

/* The begin of the answer's body, as it may stand in a line. */
static void http_line_excerpt(const struct http_transfer *t, char *out, size_t size)
{
    size_t used = 0;
    bool is_gap = false;
    for (uint32_t i = 0; i < t->excerpt_len && used + 2 < size; i++) {
        unsigned char c = (unsigned char)t->excerpt[i];
        if (c <= ' ' || c == 0x7f) {
            is_gap = used > 0;
            continue;
        }
        if (is_gap) {
            out[used++] = ' ';
        }
        is_gap = false;
        out[used++] = (char)c;
    }
    out[used] = '\0';
}

static enum http_outcome http_line_outcome(CURLcode code)
{
    switch ((int)code) { /* libcurl has a hundred of them */
    case CURLE_OK:
        return HTTP_OUTCOME_ANSWERED;
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ENGINE_NOTFOUND:
    case CURLE_TOO_MANY_REDIRECTS:
    case CURLE_LOGIN_DENIED:
        return HTTP_OUTCOME_HOPELESS;
    default:
        return HTTP_OUTCOME_BROKEN;
    }
}

static void http_line_words(const struct http_transfer *t, CURLcode code, struct http_result *a)
{
    char excerpt[HTTP_EXCERPT_MAX + 1];
    const char *to = NULL;
    long number = 0;
    if (code == CURLE_COULDNT_CONNECT &&
        curl_easy_getinfo(t->easy, CURLINFO_OS_ERRNO, &number) == CURLE_OK && number > 0) {
        (void)snprintf(a->words, sizeof(a->words), "cannot connect: %s",
                       strerrordesc_np((int)number));
        return;
    }
    if (code != CURLE_OK) {
        (void)snprintf(a->words, sizeof(a->words), "%s",
                       t->trouble[0] ? t->trouble : curl_easy_strerror(code));
        return;
    }
    http_line_excerpt(t, excerpt, sizeof(excerpt));
    if (a->status >= 300 && a->status < 400 &&
        curl_easy_getinfo(t->easy, CURLINFO_REDIRECT_URL, &to) == CURLE_OK && to) {
        (void)snprintf(a->words, sizeof(a->words),
                       "answered %ld, which points to %.160s; follow-redirects: true goes there",
                       a->status, to);
        return;
    }
    (void)snprintf(a->words, sizeof(a->words), "answered %ld%s%s", a->status,
                   excerpt[0] ? ": " : "", excerpt);
}

bool http_line_done(struct http_line *l, struct http_result *a)
{
    int left = 0;
    CURLMsg *m = curl_multi_info_read(l->multi, &left);
    while (m && m->msg != CURLMSG_DONE) {
        m = curl_multi_info_read(l->multi, &left);
    }
    if (!m) {
        return false;
    }
    CURL *easy = m->easy_handle;
    CURLcode code = m->data.result; /* m is gone with the handle */
    struct http_transfer *t = NULL;
    curl_off_t after_s = 0;
    (void)curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&t);
    *a = (struct http_result){.tag = t->tag, .outcome = http_line_outcome(code)};
    (void)curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &a->status);
    if (curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &after_s) == CURLE_OK && after_s > 0) {
        a->retry_after_us = after_s < INT64_MAX / 1000000 ? after_s * 1000000 : INT64_MAX;
    }
    http_line_words(t, code, a);
    (void)curl_multi_remove_handle(l->multi, easy);
    t->is_busy = false;
    return true;
}

void http_line_wait(const struct http_line *l, struct sr_wait *wait)
{
    wait->fd = l->fd;
    wait->is_write = false;
    wait->until_us = l->due_us < wait->until_us ? l->due_us : wait->until_us;
}
