/* What the files of the http source share: its configuration, and the type itself.
 *
 *   http_source.c   options, what may be wrong with them, the splits
 *   http_reader.c   posts, one after the other, to the engine: from the journal, then as they come
 *   http_server.c   posts from being taken to being safe; which calls wait for what
 *   http_call.c     one request as libmicrohttpd brings it, and its answer
 *   http_post.c     what a request brought, as it lies in memory and in the journal
 *   http_known.c    what a post says beside its body, for METADATA
 *   http_peers.c    connections, and those that send ever so little
 *   http_coding.c   Content-Encoding;  http_listen.c  the socket;  http_tls.c  certificate and key
 */
#ifndef CONNECTORS_HTTP_HTTP_SOURCE_H
#define CONNECTORS_HTTP_HTTP_SOURCE_H

#include <streamrun/connector.h>

#define HTTP_NAME        "http"
#define HTTP_HEADERS_MAX 64u /* that are kept */

struct http_answer {
    unsigned status;
    const char *words; /* static */
};

enum http_acknowledge { HTTP_TAKEN, HTTP_CHECKPOINT };
enum http_source_body { HTTP_RECORDS, HTTP_RECORD };

struct http_source_conf {
    const char *listen, *path, *health_path;
    sr_choice body, acknowledge; /* enum http_source_body, enum http_acknowledge */
    sr_list headers;
    sr_size body_max, buffer_max;
    sr_duration request_timeout;
    const char *token;
    const char *certificate, *key;
    const char *journal; /* NULL: none */
    sr_size journal_max;
};

extern const struct sr_source_type http_source_type;

#endif
