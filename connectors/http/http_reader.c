#include "connectors/http/http_reader.h"

#include <string.h>

#define HTTP_HALT_US INT64_C(1000000) /* until a job with a journal stops with some unread */
#define HTTP_LARGE   (16u << 10)      /* bytes of a body from which on text columns refer to it */

/* What came in one life of the reader is one session. */
void http_origin(const struct sr_host *host, uint8_t out[JOURNAL_ORIGIN])
{
    const uint64_t any[2] = {host->random(host), host->random(host)};
    _Static_assert(sizeof(any) == JOURNAL_ORIGIN, "an origin is two numbers");
    memcpy(out, any, sizeof(any));
}

static sr_rc http_reader_open_tape(struct http_reader *r, bool is_checkpointed,
                                   struct sr_error *err)
{
    struct tape_conf tape = {.host = r->host,
                             .name = HTTP_NAME,
                             .dir = r->conf->journal,
                             .max_bytes = r->conf->journal_max.bytes,
                             .is_checkpointed = is_checkpointed};
    http_origin(r->host, tape.origin);
    return tape_open(&r->tape, &tape, err);
}

sr_rc http_reader_open(void *reader, const struct sr_source_open *o, struct sr_error *err)
{
    struct http_reader *r = reader;
    r->host = o->host;
    r->conf = o->conf;
    r->metadata = o->metadata;
    r->metadatas = o->metadatas;
    r->columns = o->schema->fields;
    bool needs_checkpoints = r->conf->journal || r->conf->acknowledge.index == HTTP_CHECKPOINT;
    if (needs_checkpoints && !o->is_checkpointed) {
        return o->host->fail(o->host, err, SR_EFINAL, "%s: set execution.checkpointing.interval",
                             r->conf->journal ? "the journal is never emptied without checkpoints"
                                              : "source.acknowledge: checkpoint needs checkpoints");
    }
    sr_rc rc = r->conf->journal ? http_reader_open_tape(r, o->is_checkpointed, err) : SR_OK;
    if (rc == SR_OK) {
        rc = http_server_open(&r->server, r->host, r->conf, err);
    }
    if (rc == SR_OK) {
        r->host->log(r->host, SR_INFO, "listens at %s", http_server_place(r->server));
        r->host->count(r->host, "port", http_server_port(r->server));
    }
    return rc;
}

static void http_reader_drop(struct http_reader *r)
{
    if (r->buffer) {
        r->host->buffer_release(r->buffer);
    }
    r->buffer = NULL;
    http_known_done(&r->known);
    http_post_free(r->post);
    r->post = NULL;
    r->used = 0;
}

void http_reader_close(void *reader)
{
    struct http_reader *r = reader;
    http_server_stop(r->server);
    tape_close(&r->tape);
    http_server_free(r->server);
    r->server = NULL;
    if (r->host) {
        http_reader_drop(r);
    }
}

static void http_reader_begin(struct http_reader *r, uint32_t number, const struct session_note *n)
{
    http_reader_drop(r);
    r->number = number;
    r->session = n->session;
    r->offset = n->offset;
    r->skip = n->session != 0 ? n->within : 0; /* what was read half is nowhere without a journal */
    r->has_split = true;
    r->is_finished = r->is_live = false;
}

sr_rc http_reader_add(void *reader, uint32_t number, const struct sr_split *split,
                      struct sr_error *err)
{
    struct http_reader *r = reader;
    struct session_note n = {0};
    if (split->note.len > 0 && !session_note_get(split->note, &n)) {
        return r->host->fail(r->host, err, SR_ECORRUPT, "the position of http cannot be read");
    }
    bool has_journal = r->conf->journal != NULL;
    if (!session_note_fits(&n, has_journal)) {
        return session_note_misfits(r->host, HTTP_NAME, has_journal, err);
    }
    if (has_journal) {
        return tape_add(&r->tape, number, &n, err);
    }
    http_reader_begin(r, number, &n);
    http_server_go(r->server, NULL, r->offset);
    r->is_live = true;
    return SR_OK;
}

/* --- From the journal ------------------------------------------------------------------------ */

/* *got < len: it ends there. */
static sr_rc http_reader_replay(struct http_reader *r, uint8_t *to, uint32_t len, uint32_t *got,
                                struct sr_error *err)
{
    uint32_t some = 1;
    *got = 0;
    while (*got < len && some > 0) {
        sr_rc rc = tape_replay(&r->tape, to + *got, len - *got, &some, err);
        if (rc != SR_OK) {
            return rc;
        }
        *got += some;
    }
    return SR_OK;
}

static sr_rc http_reader_damaged(const struct http_reader *r, struct sr_error *err)
{
    return r->host->fail(r->host, err, SR_ECORRUPT,
                         "the journal %s is damaged: there is no request at byte %llu of session "
                         "%016llx",
                         r->conf->journal, (unsigned long long)r->offset,
                         (unsigned long long)r->session);
}

/* The next envelope, into r->post; NULL: there is no whole one any more. */
static sr_rc http_reader_envelope(struct http_reader *r, struct sr_error *err)
{
    uint8_t fixed[HTTP_POST_FIXED];
    uint32_t got = 0, more = 0;
    sr_rc rc = http_reader_replay(r, fixed, sizeof(fixed), &got, err);
    if (rc != SR_OK || got == 0) {
        return rc;
    }
    bool is_whole = got == sizeof(fixed);
    if (is_whole && !http_post_is_one(fixed)) {
        return http_reader_damaged(r, err);
    }
    struct http_post *p = is_whole ? http_post_blank(fixed) : NULL;
    if (is_whole && !p) {
        return r->host->fail(r->host, err, SR_ENOMEM, "http: out of memory for a request");
    }
    if (p) {
        rc = http_reader_replay(r, p->bytes + sizeof(fixed), p->len - HTTP_POST_FIXED, &more, err);
        is_whole = rc == SR_OK && more == p->len - HTTP_POST_FIXED;
    }
    if (rc == SR_OK && !is_whole) {
        r->host->log(
            r->host, SR_WARN,
            "%u bytes of a request that was never answered are passed over: a crash cut it "
            "off there",
            got + more);
        r->host->count(r->host, "journal-cut-bytes", (int64_t)got + more);
    }
    if (is_whole) {
        r->post = p;
    } else {
        http_post_free(p);
    }
    return rc;
}

/* The session has been read to its end: it goes on with the server, or is over. */
static sr_rc http_reader_replayed(struct http_reader *r, struct sr_error *err)
{
    if (!r->tape.is_live) {
        r->is_finished = true;
        return SR_OK;
    }
    sr_rc rc = tape_live(&r->tape, http_server_told, r->server, err);
    if (rc == SR_OK) {
        http_server_go(r->server, r->tape.scribe, 0);
        r->is_live = true;
    }
    return rc;
}

static sr_rc http_reader_turn(struct http_reader *r, struct sr_error *err)
{
    struct tape_split next;
    bool is_there = false;
    sr_rc rc = tape_turn(&r->tape, &next, &is_there, err);
    if (rc == SR_OK && is_there) {
        http_reader_begin(r, next.number, &next.note);
    }
    return rc;
}

/* --- Polling --------------------------------------------------------------------------------- */

static void http_reader_tell_counts(struct http_reader *r)
{
    const struct http_counts n = http_server_counts(r->server);
    if (n.requests > 0) {
        r->host->count(r->host, "requests", n.requests);
    }
    if (n.busy > 0) {
        r->host->count(r->host, "requests-answered-503", n.busy);
    }
    if (n.bad > 0) {
        r->host->count(r->host, "requests-answered-4xx", n.bad);
    }
}

/* A post that came: what it is read from. */
static sr_rc http_reader_adopt(struct http_reader *r, struct sr_error *err)
{
    const struct http_post *p = r->post;
    r->used = r->skip < p->body_len ? r->skip : p->body_len;
    r->skip = 0;
    if (r->metadatas > 0) {
        sr_rc rc = http_known_read(&r->known, p);
        if (rc != SR_OK) {
            return rc == SR_ECORRUPT ? http_reader_damaged(r, err)
                                     : r->host->fail(r->host, err, rc, "http: out of memory");
        }
    }
    if (p->body_len < HTTP_LARGE) {
        return SR_OK;
    }
    r->buffer = r->host->buffer_new(r->host, p->body_len + HTTP_POST_SLACK);
    if (!r->buffer) {
        return r->host->fail(r->host, err, SR_ENOMEM, "http: out of memory for a request");
    }
    memcpy(r->buffer->data, http_post_body(p), p->body_len);
    return SR_OK;
}

static enum sr_polled http_reader_show(struct http_reader *r, struct sr_poll *p)
{
    const uint8_t *body = r->buffer ? r->buffer->data : http_post_body(r->post);
    bool is_record = r->conf->body.index == HTTP_RECORD;
    p->split = r->number;
    p->bytes = body + (is_record ? 0 : r->used);
    p->len = r->post->body_len - (is_record ? 0 : r->used);
    p->buffer = r->buffer;
    p->at_start = r->used == 0;
    p->at_end = true;
    if (is_record) {
        r->span = (struct sr_span){0, r->post->body_len};
        p->record = &r->span;
        p->records = 1;
    }
    return SR_POLL_DATA;
}

/* The next post, if there is one. */
static sr_rc http_reader_next(struct http_reader *r, struct sr_error *err)
{
    if (r->post) { /* it is read */
        r->offset += r->session != 0 ? r->post->len : 1;
        http_reader_drop(r);
    }
    sr_rc rc = SR_OK;
    if (!r->is_live) {
        rc = http_reader_envelope(r, err);
        if (rc == SR_OK && !r->post) {
            rc = http_reader_replayed(r, err);
        }
    }
    if (rc == SR_OK && r->is_live) {
        rc = http_server_pop(r->server, &r->post, err);
    }
    return rc == SR_OK && r->post ? http_reader_adopt(r, err) : rc;
}

enum sr_polled http_reader_poll(void *reader, struct sr_poll *p, struct sr_error *err)
{
    struct http_reader *r = reader;
    p->wait = (struct sr_wait){.fd = -1, .until_us = INT64_MAX};
    http_reader_tell_counts(r);
    bool is_free = !r->has_split || r->is_finished;
    if (r->conf->journal && is_free && http_reader_turn(r, err) != SR_OK) {
        return SR_POLL_FAILED;
    }
    if (!r->has_split || r->is_finished) {
        return SR_POLL_IDLE;
    }
    bool has_more = r->post && r->used < r->post->body_len;
    if (!has_more && http_reader_next(r, err) != SR_OK) {
        return SR_POLL_FAILED;
    }
    p->split = r->number;
    if (r->is_finished) {
        return SR_POLL_SPLIT_END;
    }
    if (r->post) {
        return r->used < r->post->body_len ? http_reader_show(r, p) : SR_POLL_DATA;
    }
    int64_t now_us = r->host->mono_us(r->host);
    p->wait.until_us = http_server_tend(r->server, now_us);
    if (r->halted_us > 0 && p->wait.until_us > now_us + HTTP_HALT_US / 10) {
        p->wait.until_us = now_us + HTTP_HALT_US / 10;
    }
    p->wait.fd = http_server_fd(r->server);
    return SR_POLL_IDLE;
}

void http_reader_consume(void *reader, uint32_t number, uint32_t used)
{
    struct http_reader *r = reader;
    if (number != r->number || !r->post) {
        return;
    }
    uint32_t rest = r->post->body_len - r->used;
    if (r->conf->body.index == HTTP_RECORD) {
        used = used > 0 ? rest : 0;
    }
    r->used += used < rest ? used : rest;
}

sr_rc http_reader_position(void *reader, uint32_t number, struct sr_out *note, struct sr_error *err)
{
    struct http_reader *r = reader;
    const struct session_note *waiting = tape_waits(&r->tape, number);
    struct session_note own = {
        .offset = r->offset, .session = r->session, .is_finished = r->session && r->is_finished};
    bool is_read = r->post && r->used == r->post->body_len;
    if (is_read) {
        own.offset += r->session != 0 ? r->post->len : 1;
    } else if (r->session != 0) {
        own.within = r->post ? r->used : r->skip;
    }
    return session_note_put(note, waiting ? waiting : &own)
               ? SR_OK
               : r->host->fail(r->host, err, SR_ENOMEM, "out of memory for a note");
}

void http_reader_acknowledge(void *reader, uint32_t number, struct sr_bytes note)
{
    (void)number;
    struct http_reader *r = reader;
    struct session_note n;
    if (!session_note_get(note, &n)) {
        return;
    }
    if (r->conf->journal) {
        tape_acknowledge(&r->tape, &n);
    } else {
        http_server_acknowledge(r->server, n.offset);
    }
}

/* What a journal has comes again in the next run, so that it need not be waited for too long. */
bool http_reader_halt(void *reader, bool is_halted)
{
    struct http_reader *r = reader;
    int64_t now_us = r->host->mono_us(r->host);
    if (!is_halted || r->halted_us == 0) {
        r->halted_us = is_halted ? now_us : 0;
    }
    bool is_late = r->conf->journal && now_us - r->halted_us > HTTP_HALT_US;
    bool is_empty = http_server_halt(r->server, is_halted);
    bool is_read = !r->post || r->used == r->post->body_len;
    return is_late || (is_empty && is_read);
}

sr_rc http_reader_fill_metadata(void *reader, uint32_t number, const uint32_t *record,
                                uint32_t rows, struct sr_builder *out, struct sr_error *err)
{
    (void)record;
    struct http_reader *r = reader;
    if (!r->post || number != r->number) {
        return r->host->fail(r->host, err, SR_EABSENT, "split %u is not being read", number);
    }
    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t k = 0; k < r->metadatas; k++) {
            if (out->wanted[r->columns + k]) {
                http_known_put(&r->known, (enum http_metadata)r->metadata[k], r->columns + k, out);
            }
        }
        sr_row_done(out);
    }
    return SR_OK;
}
