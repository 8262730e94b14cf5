#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

#include "connectors/http/http_sink.h"

static const char *const http_methods[] = {"POST", "PUT", "PATCH", NULL};
static const char *const http_bodies[] = {"lines", "array", "row", NULL};
static const char *const http_compressions[] = {"none", "gzip", NULL};

const char *http_method(const struct http_sink_conf *c) { return http_methods[c->method.index]; }

/* --- Codes ------------------------------------------------------------------------------------ */

static bool http_is_digit(char c) { return c >= '0' && c <= '9'; }

/* Statuses [*from, *from + *count) that a word names. */
static bool http_code(const char *word, uint32_t *from, uint32_t *count)
{
    if (strlen(word) != 3 || word[0] < '1' || word[0] > '5') {
        return false;
    }
    uint32_t hundred = (uint32_t)(word[0] - '0') * 100;
    if ((word[1] == 'x' || word[1] == 'X') && (word[2] == 'x' || word[2] == 'X')) {
        *from = hundred;
        *count = 100;
        return true;
    }
    if (!http_is_digit(word[1]) || !http_is_digit(word[2])) {
        return false;
    }
    *from = hundred + (uint32_t)(word[1] - '0') * 10 + (uint32_t)(word[2] - '0');
    *count = 1;
    return true;
}

bool http_codes(const sr_list *list, bool codes[HTTP_CODES], const char **wrong)
{
    memset(codes, 0, HTTP_CODES * sizeof(bool));
    for (uint32_t i = 0; i < list->count; i++) {
        uint32_t from = 0, count = 0;
        if (!http_code(list->item[i], &from, &count)) {
            *wrong = list->item[i];
            return false;
        }
        memset(codes + from, 1, count * sizeof(bool));
    }
    return true;
}

/* --- URL -------------------------------------------------------------------------------------- */

static char *http_url_part(CURLU *u, CURLUPart part)
{
    char *text = NULL;
    return curl_url_get(u, part, &text, 0) == CURLUE_OK ? text : NULL;
}

bool http_shown_url(const char *url, char *out, size_t size)
{
    CURLU *u = curl_url();
    bool is_ok = u && curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK;
    char *scheme = is_ok ? http_url_part(u, CURLUPART_SCHEME) : NULL;
    char *host = is_ok ? http_url_part(u, CURLUPART_HOST) : NULL;
    char *port = is_ok ? http_url_part(u, CURLUPART_PORT) : NULL;
    char *path = is_ok ? http_url_part(u, CURLUPART_PATH) : NULL;
    is_ok = scheme && host && (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0);
    if (is_ok) {
        (void)snprintf(out, size, "%s://%s%s%s%s", scheme, host, port ? ":" : "", port ? port : "",
                       path ? path : "");
    }
    curl_free(scheme);
    curl_free(host);
    curl_free(port);
    curl_free(path);
    curl_url_cleanup(u);
    return is_ok;
}

/* --- Headers ---------------------------------------------------------------------------------- */

/* May it be the name of a header? */
static bool http_is_name(const char *s)
{
    static const char extra[] = "!#$%&'*+-.^_`|~";
    if (!*s) {
        return false;
    }
    for (; *s; s++) {
        bool is_letter = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z');
        if (!is_letter && !http_is_digit(*s) && !strchr(extra, *s)) {
            return false;
        }
    }
    return true;
}

/* Values are not shown: they may be secret. */
static bool http_is_value(const char *s)
{
    for (; *s; s++) {
        if (((unsigned char)*s < ' ' && *s != '\t') || *s == 0x7f) {
            return false;
        }
    }
    return true;
}

/* --- Check ------------------------------------------------------------------------------------ */

/* Words with a value that the user wrote, cut; the host is not here at plan time. */
static sr_rc http_wrong(struct sr_error *err, const char *words, const char *value)
{
    err->rc = SR_ECONFIG;
    (void)snprintf(err->words, sizeof(err->words), "%s: '%.80s'", words, value);
    return SR_ECONFIG;
}

static sr_rc http_said(struct sr_error *err, const char *words)
{
    err->rc = SR_ECONFIG;
    (void)snprintf(err->words, sizeof(err->words), "%s", words);
    return SR_ECONFIG;
}

static sr_rc http_check_headers(const struct http_sink_conf *c, struct sr_error *err)
{
    static const char *const own[] = {"Content-Length", "Transfer-Encoding", "Content-Encoding",
                                      "Idempotency-Key"};
    for (uint32_t i = 0; i < c->headers.count; i++) {
        if (!http_is_name(c->headers.key[i])) {
            return http_wrong(err, "this is no name of a header", c->headers.key[i]);
        }
        if (!http_is_value(c->headers.value[i])) {
            return http_wrong(err, "the value of this header has a character that none may have",
                              c->headers.key[i]);
        }
        for (uint32_t k = 0; k < sizeof(own) / sizeof(own[0]); k++) {
            if (curl_strequal(c->headers.key[i], own[k])) {
                return http_wrong(err, "the sink writes this header itself", own[k]);
            }
        }
    }
    return SR_OK;
}

static sr_rc http_check_codes(const struct http_sink_conf *c, struct sr_error *err)
{
    bool retry[HTTP_CODES], rows[HTTP_CODES];
    const char *wrong = NULL;
    if (!http_codes(&c->retry_codes, retry, &wrong) || !http_codes(&c->row_codes, rows, &wrong)) {
        return http_wrong(err, "this is no status of HTTP (429, or 5xx for all of them)", wrong);
    }
    for (uint32_t i = 0; i < HTTP_CODES; i++) {
        if (retry[i] && rows[i]) {
            char words[16];
            (void)snprintf(words, sizeof(words), "%u", i);
            return http_wrong(err, "sink.retry-codes and sink.row-codes both have this status",
                              words);
        }
    }
    return SR_OK;
}

sr_rc http_sink_check(const void *conf, const struct sr_schema *schema, struct sr_sink_caps *caps,
                      struct sr_error *err)
{
    (void)schema;
    const struct http_sink_conf *c = conf;
    char shown[256];
    *caps = (struct sr_sink_caps){.guarantee = SR_AT_LEAST_ONCE,
                                  .takes_changes = true,
                                  .refuses_late = true,
                                  .frames = c->body.index == HTTP_BODY_ROW};
    if (!http_shown_url(c->url, shown, sizeof(shown))) {
        return http_said(err, "'url' is no URL of http or https, as http://host:8080/path");
    }
    if (c->password && !c->user) {
        return http_said(err, "'password' needs 'username' beside it");
    }
    if (c->token && c->user) {
        return http_said(err, "'username' and 'bearer-token' exclude each other");
    }
    if (c->token && !http_is_value(c->token)) {
        return http_said(err, "'bearer-token' has a character that no header may have");
    }
    if (!c->cert_file != !c->key_file) {
        return http_said(err, "'tls.certificate-file' and 'tls.key-file' belong together");
    }
    if (c->content_type && !http_is_value(c->content_type)) {
        return http_said(err, "'content-type' has a character that no header may have");
    }
    if (c->buffered_max < c->batch_rows) {
        return http_said(err, "'sink.requests.max-buffered' is less than one batch, "
                              "'sink.batch.max-size'");
    }
    sr_rc rc = http_check_headers(c, err);
    return rc == SR_OK ? http_check_codes(c, err) : rc;
}

/* --- Options ---------------------------------------------------------------------------------- */

#define HTTP_OPT(key, field, ...) SR_OPT(struct http_sink_conf, key, field, __VA_ARGS__)
#define HTTP_HOUR_US              INT64_C(3600000000)

const struct sr_opt http_sink_opts[] = {
    HTTP_OPT("url", url, .flags = SR_OPT_REQUIRED | SR_OPT_OURS | SR_OPT_USUAL,
             .doc = "Where requests go: http://host:8080/path, or https."),
    HTTP_OPT("method", method, .choices = http_methods, .def = "POST", .flags = SR_OPT_OURS,
             .doc = "Method of the requests."),
    HTTP_OPT("headers.", headers, .flags = SR_OPT_OURS | SR_OPT_SECRET,
             .doc = "Headers of each request, as headers.X-Tenant: a; values are not shown."),
    HTTP_OPT("content-type", content_type, .flags = SR_OPT_OURS,
             .doc = "Content-Type of the requests; unless set, what the format and body say."),
    HTTP_OPT("body", body, .choices = http_bodies, .def = "lines", .flags = SR_OPT_OURS,
             .doc = "What a request holds: lines, a record each; array, one JSON array of "
                    "objects; row, one record without its line end."),
    HTTP_OPT("compression", compression, .choices = http_compressions, .def = "none",
             .flags = SR_OPT_OURS, .doc = "Content-Encoding of the requests."),
    HTTP_OPT("username", user, .flags = SR_OPT_OURS, .doc = "User of basic authentication."),
    HTTP_OPT("password", password, .flags = SR_OPT_OURS | SR_OPT_SECRET, .doc = "Its password."),
    HTTP_OPT("bearer-token", token, .flags = SR_OPT_OURS | SR_OPT_SECRET,
             .doc = "Token of an Authorization: Bearer header."),
    HTTP_OPT("sink.batch.max-size", batch_rows, .def = "500", .min = 1, .max = 100000,
             .doc = "Rows of one request, at most."),
    HTTP_OPT("sink.flush-buffer.size", batch_bytes, .def = "5mb", .min = 1,
             .max = INT64_C(256) << 20,
             .doc = "A request is closed by the row that makes it this large, uncompressed."),
    HTTP_OPT("sink.flush-buffer.timeout", batch_delay, .def = "5s", .min = 0,
             .max = 24 * HTTP_HOUR_US,
             .doc = "A request that is not full goes when its first row has waited this long; a "
                    "checkpoint sends it in any case."),
    HTTP_OPT("sink.requests.max-inflight", inflight_max, .def = "1", .min = 1, .max = 256,
             .doc = "Requests of a subtask that are on the way at once. With more than one, they "
                    "may overtake each other."),
    HTTP_OPT("sink.requests.max-buffered", buffered_max, .def = "10000", .min = 1, .max = 10000000,
             .doc = "Rows that wait for a request or its answer, at most: beyond, the sink holds "
                    "up the steps in front of it."),
    HTTP_OPT(
        "sink.max-retries", retries_max, .def = "-1", .min = -1, .max = 1000000,
        .flags = SR_OPT_OURS,
        .doc =
            "How often a request is tried again; -1: as long as sink.requests.retry-timeout lets."),
    HTTP_OPT("sink.requests.retry-timeout", retry_for, .def = "5min", .min = 0,
             .max = 8760 * HTTP_HOUR_US, .flags = SR_OPT_OURS,
             .doc = "The job fails when a request is not through this long after its first try: "
                    "a server that is away is waited for by this key alone, not by the job's "
                    "sink.retry.timeout."),
    HTTP_OPT("sink.retry-backoff", backoff, .def = "100ms", .min = 1000, .max = HTTP_HOUR_US,
             .flags = SR_OPT_OURS,
             .doc = "Pause in front of the second try; each further one is twice as long, all "
                    "are shortened by chance by up to half. Retry-After of an answer comes first."),
    HTTP_OPT("sink.retry-backoff.max", backoff_max, .def = "30s", .min = 1000,
             .max = 24 * HTTP_HOUR_US, .flags = SR_OPT_OURS, .doc = "The longest pause."),
    HTTP_OPT("sink.retry-codes", retry_codes, .def = "408;425;429;5xx", .flags = SR_OPT_OURS,
             .doc = "Statuses behind which a request is tried again."),
    HTTP_OPT("sink.row-codes", row_codes, .def = "400;409;413;415;422", .flags = SR_OPT_OURS,
             .doc = "Statuses that speak of the rows: the request is halved until the row is "
                    "found, and on-error says what becomes of it. Others fail the job."),
    HTTP_OPT("connect-timeout", connect_timeout, .def = "10s", .min = 1000, .max = HTTP_HOUR_US,
             .flags = SR_OPT_OURS, .doc = "A connection that is not made by then is given up."),
    HTTP_OPT("request-timeout", request_timeout, .def = "30s", .min = 1000, .max = HTTP_HOUR_US,
             .flags = SR_OPT_OURS,
             .doc = "A request that is not answered whole by then is tried again."),
    HTTP_OPT("follow-redirects", follows, .def = "false", .flags = SR_OPT_OURS,
             .doc = "Requests follow redirects, with their method and body."),
    HTTP_OPT("tls.verify", is_verified, .def = "true", .flags = SR_OPT_OURS,
             .doc = "The server's certificate and name are verified."),
    HTTP_OPT("tls.ca-file", ca_file, .flags = SR_OPT_OURS | SR_OPT_PATH,
             .doc = "Certificates to trust, in place of the system's."),
    HTTP_OPT("tls.certificate-file", cert_file, .flags = SR_OPT_OURS | SR_OPT_PATH,
             .doc = "Certificate of our own, for servers that ask for one."),
    HTTP_OPT("tls.key-file", key_file, .flags = SR_OPT_OURS | SR_OPT_PATH, .doc = "Its key."),
    SR_OPT_END};
