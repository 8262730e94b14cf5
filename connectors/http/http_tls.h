/* Certificate and key of a server, as their files say. */
#ifndef CONNECTORS_HTTP_HTTP_TLS_H
#define CONNECTORS_HTTP_HTTP_TLS_H

#include "connectors/http/http_source.h"

#define HTTP_PEM_MAX (1u << 20) /* bytes of a file */

struct http_tls {
    char *certificate, *key; /* owned; NULL: none */
};

sr_rc http_tls_load(struct http_tls *t, const struct sr_host *host,
                    const struct http_source_conf *conf, struct sr_error *err);
void http_tls_free(struct http_tls *t); /* the key is overwritten */

#endif
