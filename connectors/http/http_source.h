/* What the parts of the http source share: its options. */
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
