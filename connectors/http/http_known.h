/* What a post's head says, for metadata columns. */
#ifndef CONNECTORS_HTTP_HTTP_KNOWN_H
#define CONNECTORS_HTTP_HTTP_KNOWN_H

#include "connectors/http/http_post.h"
#include "connectors/http/http_source.h"

enum http_metadata {
    HTTP_METADATA_REMOTE,
    HTTP_METADATA_PATH,
    HTTP_METADATA_METHOD,
    HTTP_METADATA_CONTENT_TYPE,
    HTTP_METADATA_TIME,
    HTTP_METADATA_HEADERS
};

extern const struct sr_metadata http_metadata[]; /* by enum http_metadata */

struct http_known {
    char *method, *path, *remote, *content_type; /* owned */
    char **header; /* owned, as its texts are: name, value, name, value ... */
    uint32_t headers;
    int64_t wall_us;
};

/* SR_ECORRUPT: the head is damaged. */
sr_rc http_known_read(struct http_known *k, const struct http_post *p);
void http_known_done(struct http_known *k);
/* Column c of the current row. */
void http_known_put(const struct http_known *k, enum http_metadata what, uint32_t c,
                    struct sr_builder *out);

#endif
