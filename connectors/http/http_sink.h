/* What the files of the http sink share: its configuration, and the type itself.
 *
 *   http_sink.c        rows in, requests out, answers back: the order of things
 *   http_batch.c       encoded rows that go in one request; halved when the server refuses them
 *   http_line.c        transfers on the way, over libcurl, without waiting
 *   http_sink_conf.c   options, and what may be wrong with them
 */
#ifndef CONNECTORS_HTTP_HTTP_SINK_H
#define CONNECTORS_HTTP_HTTP_SINK_H

#include <streamrun/connector.h>

#define HTTP_CODES 600u /* statuses that there are: 100 to 599 */

enum http_body { HTTP_BODY_LINES, HTTP_BODY_ARRAY, HTTP_BODY_ROW };

struct http_sink_conf {
    const char *url;
    sr_choice method;
    sr_pairs headers;
    const char *content_type;
    sr_choice body;        /* enum http_body */
    sr_choice compression; /* enum pack_kind: none, gzip */
    const char *user, *password, *token;
    int64_t batch_rows, inflight_max, buffered_max;
    sr_size batch_bytes;
    sr_duration batch_delay;
    int64_t retries_max; /* -1: no limit */
    sr_duration retry_for, backoff, backoff_max;
    sr_list retry_codes, row_codes;
    sr_duration connect_timeout, request_timeout;
    bool follows, is_verified;
    const char *ca_file, *cert_file, *key_file;
};

extern const struct sr_opt http_sink_opts[];
extern const struct sr_sink_type http_sink_type;

sr_rc http_sink_check(const void *conf, const struct sr_schema *schema, struct sr_sink_caps *caps,
                      struct sr_error *err);
/* Sets codes[status] for each status that the list names: 429, or 5xx. False: one is none. */
bool http_codes(const sr_list *list, bool codes[HTTP_CODES], const char **wrong);
/* The URL without what may be secret in it: user, query, fragment. False: it is no URL. */
bool http_shown_url(const char *url, char *out, size_t size);
const char *http_method(const struct http_sink_conf *c); /* "POST" */

#endif
