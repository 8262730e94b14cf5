/* The reader of the http source: posts, one after the other, each a stream of its own.
 *
 * A post that is read begins and ends as a file does: with a header line, if the format has one,
 * and without a newline at its end, if it likes. With a journal a position is the envelope's place
 * in the session and bytes within its body; without one, the number of posts that were read.
 */
#ifndef CONNECTORS_HTTP_HTTP_READER_H
#define CONNECTORS_HTTP_HTTP_READER_H

#include "connectors/common/tape.h"
#include "connectors/http/http_known.h"
#include "connectors/http/http_server.h"

struct http_reader {
    const struct sr_host *host;
    const struct http_source_conf *conf;
    struct http_server *server;
    struct tape tape;
    uint32_t number;  /* of the split */
    uint64_t session; /* of the journal; 0: there is none */
    uint64_t offset;  /* see above; of `post`, or of what follows */
    bool has_split, is_finished;
    bool is_live;             /* what comes next comes from the server */
    int64_t halted_us;        /* when the job began to stop; 0: it does not */
    struct http_post *post;   /* being read; owned */
    uint32_t used;            /* bytes of its body */
    uint32_t skip;            /* of the next one: a position lay within it */
    struct sr_buffer *buffer; /* what a large body lies in; NULL: in the post */
    struct sr_span span;      /* of a body that is one record */
    struct http_known known;
    const uint32_t *metadata;
    uint32_t metadatas, columns;
};

sr_rc http_reader_open(void *reader, const struct sr_source_open *o, struct sr_error *err);
sr_rc http_reader_add(void *reader, uint32_t number, const struct sr_split *split,
                      struct sr_error *err);
enum sr_polled http_reader_poll(void *reader, struct sr_poll *p, struct sr_error *err);
void http_reader_consume(void *reader, uint32_t number, uint32_t used);
sr_rc http_reader_position(void *reader, uint32_t number, struct sr_out *note,
                           struct sr_error *err);
void http_reader_acknowledge(void *reader, uint32_t number, struct sr_bytes note);
sr_rc http_reader_fill_metadata(void *reader, uint32_t number, const uint32_t *record,
                                uint32_t rows, struct sr_builder *out, struct sr_error *err);
bool http_reader_halt(void *reader, bool is_halted);
void http_reader_close(void *reader);

void http_origin(const struct sr_host *host, uint8_t out[JOURNAL_ORIGIN]);

#endif
