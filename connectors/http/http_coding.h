/* Content-Encoding of a body: identity, gzip, zstd and what else connectors/compress knows. */
#ifndef CONNECTORS_HTTP_HTTP_CODING_H
#define CONNECTORS_HTTP_HTTP_CODING_H

#include "connectors/common/note.h"
#include "connectors/http/http_source.h"

/* The body as it was before it was packed, of at most `most` bytes, into `out`, which the caller
 * frees; out->data stays NULL when it was not packed. A status other than 0: it is refused. */
struct http_answer http_decode(const char *coding, const struct sr_out *body, uint64_t most,
                               struct sr_out *out);

#endif
