/* The http sink: rows in batches to a server, at-least-once.
 *
 *   write -> filling -(full, old, or a barrier)-> list -> on the way -+-> answered 2xx: settled
 *                                                  ^                  |
 *                                                  +-- after a pause -+-> 429, 5xx, no answer
 *                                                  +-- in two halves -+-> 400 ..., several rows
 *                                                                     +-> 400 ..., one row: refused
 *                                                                     +-> else: the job fails
 *
 * A checkpoint waits until all that was taken is settled or refused. Batches are sent in their
 * order; with one on the way at a time they arrive in it too.
 *
 * The Idempotency-Key of a request is a digest of its body and of which rows it holds, counted from
 * the checkpoint at which this lineage and parallelism began. So it is the same for all tries, and
 * after a restart wherever the same rows are cut in the same places: they are cut by number and
 * size, but also where the time-out or a checkpoint came.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/common/encoder.h"
#include "connectors/common/note.h"
#include "connectors/compress/pack.h"
#include "connectors/http/http_ask.h"
#include "connectors/http/http_batch.h"
#include "connectors/http/http_line.h"

#define HTTP_NOTE      0x31707468u /* "htp1": a note of this sink */
#define HTTP_VIEWS_MAX 64u         /* views whose rows wait: the engine keeps them whole */

struct http_sink {
    const struct sr_sink_open *open;
    const struct sr_host *host;
    const struct http_sink_conf *conf;
    char shown[256]; /* "POST http://host/path" */
    bool is_retried[HTTP_CODES], is_of_rows[HTTP_CODES];
    uint32_t batch_rows;
    struct encoder encoder;
    struct sr_out head; /* in front of each body */
    struct pack *pack;  /* NULL: not compressed */
    struct http_line *line;
    struct http_batch *first;   /* to be sent or on the way, in order */
    struct http_batch *filling; /* not closed yet; NULL: none */
    uint64_t taken, settled;    /* rows since open */
    uint64_t epoch, base;       /* checkpoint and number that rows count from in keys */
    uint32_t buffered, views;
    bool is_troubled; /* tries are in vain at the moment: it was said */
};

/* --- Opening ---------------------------------------------------------------------------------- */

static bool http_ends(const char *s, const char *with)
{
    size_t a = strlen(s), b = strlen(with);
    return a >= b && strcmp(s + a - b, with) == 0;
}

static const char *http_type(const struct sr_sink_open *o, const struct http_sink_conf *c)
{
    if (c->content_type) {
        return c->content_type;
    }
    if (http_ends(o->format->name, "json")) {
        return c->body.index == HTTP_BODY_LINES ? "application/x-ndjson" : "application/json";
    }
    return strcmp(o->format->name, "csv") == 0   ? "text/csv; charset=utf-8"
           : strcmp(o->format->name, "raw") == 0 ? "text/plain; charset=utf-8"
                                                 : "application/octet-stream";
}

static sr_rc http_sink_open(void *sink, const struct sr_sink_open *o, struct sr_error *err)
{
    struct http_sink *s = sink;
    const struct http_sink_conf *c = o->conf;
    const char *wrong = NULL;
    char url[256] = "";
    s->open = o;
    s->host = o->host;
    s->conf = c;
    s->head = note_out();
    s->epoch = o->checkpoint;
    s->batch_rows = c->body.index == HTTP_BODY_ROW ? 1 : (uint32_t)c->batch_rows;
    (void)http_shown_url(c->url, url, sizeof(url)); /* check has looked */
    (void)http_codes(&c->retry_codes, s->is_retried, &wrong);
    (void)http_codes(&c->row_codes, s->is_of_rows, &wrong);
    (void)snprintf(s->shown, sizeof(s->shown), "%s %.240s", http_method(c), url);
    if (c->body.index == HTTP_BODY_ARRAY && !http_ends(o->format->name, "json")) {
        return o->host->fail(o->host, err, SR_ECONFIG,
                             "body: array needs a format of JSON, and not %s", o->format->name);
    }
    sr_rc rc = encoder_open(&s->encoder, o, err);
    if (rc == SR_OK) {
        rc = encoder_head(&s->encoder, &s->head, err);
    }
    if (rc == SR_OK && c->compression.index != PACK_NONE) {
        s->pack = pack_open((enum pack_kind)c->compression.index);
        rc = s->pack ? SR_OK : o->host->fail(o->host, err, SR_ENOMEM, "out of memory");
    }
    if (rc == SR_OK) {
        s->line = http_line_open(o->host, c, http_type(o, c), err);
        rc = s->line ? SR_OK : err->rc;
    }
    return rc;
}

/* A note of another sink, or of another subtask, says nothing about our rows. */
static sr_rc http_sink_restore(void *sink, struct sr_bytes note, struct sr_error *err)
{
    (void)err;
    struct http_sink *s = sink;
    struct note_in in = note_in(note);
    bool is_ours = note_get_u32(&in) == HTTP_NOTE;
    bool is_same = note_get_u32(&in) == s->open->part;
    is_same = note_get_u32(&in) == s->open->parts && is_same;
    uint64_t epoch = note_get_u64(&in), base = note_get_u64(&in);
    if (is_ours && is_same && note_is_done(&in)) {
        s->epoch = epoch;
        s->base = base;
    }
    return SR_OK;
}

static void http_sink_close(void *sink)
{
    struct http_sink *s = sink;
    http_line_close(s->line);
    http_batch_free(s->filling);
    while (s->first) {
        struct http_batch *b = s->first;
        s->first = b->next;
        http_batch_free(b);
    }
    pack_close(s->pack);
    note_free(&s->head);
    encoder_close(&s->encoder);
    s->line = NULL;
    s->filling = NULL;
    s->pack = NULL;
}

static sr_rc http_out_of_memory(const struct http_sink *s, struct sr_error *err)
{
    return s->host->fail(s->host, err, SR_ENOMEM, "out of memory");
}

/* --- The list --------------------------------------------------------------------------------- */

static void http_remove(struct http_sink *s, struct http_batch *b)
{
    struct http_batch **at = &s->first;
    while (*at != b) {
        at = &(*at)->next;
    }
    *at = b->next;
    s->buffered -= b->rows;
    s->views -= b->views;
    http_batch_free(b);
}

/* What is filling goes to the end of the list. */
static void http_queue(struct http_sink *s)
{
    struct http_batch **at = &s->first;
    if (!s->filling) {
        return;
    }
    while (*at) {
        at = &(*at)->next;
    }
    *at = s->filling;
    s->filling = NULL;
}

/* Tells the engine which rows have their fate. */
static void http_settle(struct http_sink *s)
{
    const struct http_batch *oldest = s->first ? s->first : s->filling;
    uint64_t row = oldest ? oldest->first : s->taken;
    if (row > s->settled) {
        s->settled = row;
        s->open->settle(s->open, row);
    }
}

/* --- Sending ---------------------------------------------------------------------------------- */

/* The same rows with the same bytes have the same key, and no others. */
static void http_key(const struct http_sink *s, struct http_batch *b)
{
    uint64_t body[2], all[2];
    char text[512];
    const struct sr_sink_open *o = s->open;
    s->host->digest(b->body.data, b->body.len, body);
    uint64_t first = s->base + b->first;
    int len = snprintf(text, sizeof(text),
                       "%s %" PRIu64 " %" PRIu64 " %u/%u %" PRIu64 "+%u %016" PRIx64 "%016" PRIx64
                       " %.200s",
                       o->job_id, o->lineage, s->epoch, o->part, o->parts, first, b->rows, body[1],
                       body[0], o->uid);
    s->host->digest(text, (size_t)len, all);
    (void)snprintf(b->key, sizeof(b->key), "%016" PRIx64 "%016" PRIx64, all[1], all[0]);
}

static sr_rc http_compress(struct http_sink *s, struct http_batch *b, struct sr_error *err)
{
    struct sr_out packed = note_out();
    bool is_ok =
        pack_add(s->pack, b->body.data, b->body.len, &packed) && pack_end(s->pack, &packed);
    if (!is_ok) {
        note_free(&packed);
        return http_out_of_memory(s, err);
    }
    note_free(&b->body);
    b->body = packed;
    return SR_OK;
}

static sr_rc http_make_body(struct http_sink *s, struct http_batch *b, struct sr_error *err)
{
    if (b->key[0]) {
        return SR_OK;
    }
    if (!http_batch_body(b, (enum http_body)s->conf->body.index, &s->head, &b->body)) {
        return http_out_of_memory(s, err);
    }
    http_key(s, b);
    return s->pack ? http_compress(s, b, err) : SR_OK;
}

static sr_rc http_send(struct http_sink *s, struct http_batch *b, int64_t now_us,
                       struct sr_error *err)
{
    sr_rc rc = http_make_body(s, b, err);
    if (rc != SR_OK) {
        return rc;
    }
    struct http_request r = {.tag = b, .body = b->body.data, .len = b->body.len, .key = b->key};
    rc = http_line_send(s->line, &r, err);
    if (rc != SR_OK) {
        return rc;
    }
    s->host->count(s->host, b->tries > 0 ? "http-retries" : "http-requests", 1);
    b->first_try_us = b->tries > 0 ? b->first_try_us : now_us;
    b->is_sent = true;
    return SR_OK;
}

/* Sends what may go now. One that pauses holds up those behind it where they must not overtake. */
static sr_rc http_start(struct http_sink *s, bool *has_started, struct sr_error *err)
{
    int64_t now_us = s->host->mono_us(s->host);
    sr_rc rc = SR_OK;
    for (struct http_batch *b = s->first; b && rc == SR_OK; b = b->next) {
        if (b->is_sent || b->words) {
            continue;
        }
        if (!http_line_is_free(s->line) || (b->due_us > now_us && s->conf->inflight_max == 1)) {
            break;
        }
        if (b->due_us <= now_us) {
            rc = http_send(s, b, now_us, err);
            *has_started = true;
        }
    }
    return rc;
}

/* --- Answers ---------------------------------------------------------------------------------- */

static int64_t http_pause(const struct http_sink *s, uint32_t tries)
{
    int64_t us = s->conf->backoff.us, most = s->conf->backoff_max.us;
    for (uint32_t i = 1; i < tries && us < most; i++) {
        us *= 2;
    }
    us = us < most ? us : most;
    return us - (int64_t)(s->host->random(s->host) % (uint64_t)(us / 2 + 1));
}

/* It may do better later: as long as the limits let. */
static sr_rc http_again(struct http_sink *s, struct http_batch *b, const struct http_result *a,
                        struct sr_error *err)
{
    const struct http_sink_conf *c = s->conf;
    int64_t now_us = s->host->mono_us(s->host);
    int64_t left_us = b->first_try_us + c->retry_for.us - now_us;
    b->tries++;
    if (c->retries_max >= 0 && b->tries > c->retries_max) {
        return s->host->fail(s->host, err, SR_EIO,
                             "%s: %s; given up after try %u "
                             "(sink.max-retries)",
                             s->shown, a->words, b->tries);
    }
    int64_t pause_us = http_pause(s, b->tries);
    if (a->retry_after_us > 0) {
        pause_us = a->retry_after_us;
    }
    if (pause_us > left_us && a->retry_after_us > 0) {
        return s->host->fail(
            s->host, err, SR_EIO,
            "%s: %s; it asks to wait %lld s, which sink.requests.retry-timeout does not let",
            s->shown, a->words, (long long)(pause_us / 1000000));
    }
    if (pause_us > left_us) {
        return s->host->fail(s->host, err, SR_EIO,
                             "%s: %s; given up after try %u "
                             "(sink.requests.retry-timeout)",
                             s->shown, a->words, b->tries);
    }
    if (!s->is_troubled) {
        s->is_troubled = true;
        s->host->log(s->host, SR_WARN, "%s: %s; trying again", s->shown, a->words);
    }
    b->due_us = now_us + pause_us;
    return SR_OK;
}

/* The server does not take the rows: the guilty ones are looked for. */
static sr_rc http_rows_refused(struct http_sink *s, struct http_batch *b,
                               const struct http_result *a, struct sr_error *err)
{
    if (b->rows > 1) {
        struct http_batch *tail = http_batch_cut(b, b->rows / 2);
        if (!tail) {
            return http_out_of_memory(s, err);
        }
        tail->next = b->next;
        b->next = tail;
        b->key[0] = '\0'; /* its body is another one */
        b->tries = 0;
        s->host->count(s->host, "http-halved", 1);
        return SR_OK;
    }
    size_t size = strlen(s->shown) + strlen(a->words) + 3;
    b->words = malloc(size);
    if (!b->words) {
        return http_out_of_memory(s, err);
    }
    (void)snprintf(b->words, size, "%s: %s", s->shown, a->words);
    return SR_OK;
}

static sr_rc http_answered(struct http_sink *s, const struct http_result *a, struct sr_error *err)
{
    struct http_batch *b = a->tag;
    bool is_status = a->status >= 100 && a->status < HTTP_CODES;
    b->is_sent = false;
    if (a->outcome == HTTP_OUTCOME_BROKEN) {
        return http_again(s, b, a, err);
    }
    if (a->outcome == HTTP_OUTCOME_HOPELESS || !is_status) {
        return s->host->fail(s->host, err, SR_EIO, "%s: %s", s->shown, a->words);
    }
    if (a->status >= 200 && a->status < 300) {
        if (s->is_troubled) {
            s->host->log(s->host, SR_INFO, "%s: it answers again", s->shown);
        }
        s->is_troubled = false;
        http_remove(s, b);
        return SR_OK;
    }
    if (s->is_retried[a->status]) {
        return http_again(s, b, a, err);
    }
    if (s->is_of_rows[a->status]) {
        return http_rows_refused(s, b, a, err);
    }
    return s->host->fail(s->host, err, SR_EIO, "%s: %s", s->shown, a->words);
}

/* Rows that the server does not take get their fate. SR_EBUSY: the engine has no room for it. */
static sr_rc http_refuse(struct http_sink *s, struct sr_error *err)
{
    struct http_batch *b = s->first;
    while (b) {
        struct http_batch *next = b->next;
        if (b->words) {
            sr_rc rc = s->open->refuse(s->open, b->first, b->words, err);
            if (rc != SR_OK) {
                return rc;
            }
            s->host->count(s->host, "http-refused-rows", 1);
            http_remove(s, b);
        }
        b = next;
    }
    return SR_OK;
}

/* Everything that can be done now: what is over may make room, and what was started may be over. */
static sr_rc http_turn(struct http_sink *s, struct sr_error *err)
{
    bool has_moved = true;
    sr_rc rc = SR_OK;
    while (rc == SR_OK && has_moved) {
        struct http_result a;
        has_moved = false;
        rc = http_line_turn(s->line, err);
        while (rc == SR_OK && http_line_done(s->line, &a)) {
            rc = http_answered(s, &a, err);
            has_moved = true;
        }
        if (rc == SR_OK) {
            rc = http_refuse(s, err);
        }
        if (rc == SR_OK) {
            rc = http_start(s, &has_moved, err);
        }
    }
    http_settle(s);
    return rc;
}

/* --- Calls ------------------------------------------------------------------------------------ */

/* When there is something to do again. */
static sr_rc http_wait(const struct http_sink *s, struct sr_wait *wait)
{
    *wait = (struct sr_wait){.fd = -1, .until_us = INT64_MAX};
    if (s->filling) {
        wait->until_us = s->filling->since_us + s->conf->batch_delay.us;
    }
    for (const struct http_batch *b = s->first; b; b = b->next) {
        if (!b->is_sent && b->due_us > 0 && b->due_us < wait->until_us) {
            wait->until_us = b->due_us;
        }
        if (!b->is_sent && s->conf->inflight_max == 1) {
            break; /* those behind it wait for it */
        }
    }
    http_line_wait(s->line, wait);
    return SR_EBUSY;
}

/* Rows of the view that go into what is filling. */
static sr_rc http_take(struct http_sink *s, const struct sr_view *v, uint32_t from, uint32_t *done,
                       struct sr_error *err)
{
    if (!s->filling) {
        s->filling = http_batch_new(s->taken);
        if (!s->filling) {
            return http_out_of_memory(s, err);
        }
        s->filling->since_us = s->host->mono_us(s->host);
    }
    struct http_batch *b = s->filling;
    uint32_t room = s->batch_rows - b->rows, more = v->picked - from;
    uint32_t free = (uint32_t)s->conf->buffered_max - s->buffered;
    more = more < room ? more : room;
    more = more < free ? more : free;
    if (!http_batch_room(b, more)) {
        return http_out_of_memory(s, err);
    }
    struct sr_encode e = {
        .view = v, .from = from, .count = more, .out = &b->bytes, .end = b->end + b->rows};
    sr_rc rc = encoder_some(&s->encoder, &e, err);
    if (e.done > 0 && from == 0) {
        b->views++;
        s->views++;
    }
    b->is_bare = e.delimiter == SR_NO_DELIMITER;
    b->rows += e.done;
    s->buffered += e.done;
    s->taken += e.done;
    *done = e.done;
    if (b->rows == 0) {
        http_batch_free(b);
        s->filling = NULL;
    }
    return rc;
}

/* Closes batches that are full: by rows, and at exactly the row that makes one large. */
static sr_rc http_cut(struct http_sink *s, struct sr_error *err)
{
    while (s->filling) {
        struct http_batch *b = s->filling;
        size_t size = (size_t)s->conf->batch_bytes.bytes;
        if (b->bytes.len < size) {
            break;
        }
        uint32_t rows = http_batch_rows(b, size);
        struct http_batch *tail = NULL;
        if (rows < b->rows) {
            tail = http_batch_cut(b, rows);
            if (!tail) {
                return http_out_of_memory(s, err);
            }
        }
        http_queue(s);
        s->filling = tail;
    }
    if (s->filling && s->filling->rows >= s->batch_rows) {
        http_queue(s);
    }
    return SR_OK;
}

static sr_rc http_sink_write(void *sink, const struct sr_view *v, uint32_t from, uint32_t *done,
                             struct sr_wait *wait, struct sr_error *err)
{
    struct http_sink *s = sink;
    sr_rc rc = http_turn(s, err);
    if (rc != SR_OK) {
        return rc;
    }
    bool is_full =
        s->buffered >= s->conf->buffered_max || (from == 0 && s->views >= HTTP_VIEWS_MAX);
    if (is_full) {
        if (!s->first) {
            http_queue(s); /* else what is on the way makes room, and nothing is cut too early */
        }
        rc = http_turn(s, err);
        return rc == SR_OK ? http_wait(s, wait) : rc;
    }
    rc = http_take(s, v, from, done, err);
    sr_rc cut = http_cut(s, err);
    return rc == SR_OK ? cut : rc;
}

static sr_rc http_sink_flush(void *sink, struct sr_wait *wait, struct sr_error *err)
{
    struct http_sink *s = sink;
    int64_t now_us = s->host->mono_us(s->host);
    if (s->filling && now_us - s->filling->since_us >= s->conf->batch_delay.us) {
        http_queue(s);
    }
    sr_rc rc = http_turn(s, err);
    return rc != SR_OK || (!s->first && !s->filling) ? rc : http_wait(s, wait);
}

/* From where rows count, for keys after a restart. */
static sr_rc http_note(struct http_sink *s, struct sr_notes *notes, struct sr_error *err)
{
    struct sr_out o = note_out();
    bool is_ok = note_put_u32(&o, HTTP_NOTE) && note_put_u32(&o, s->open->part) &&
                 note_put_u32(&o, s->open->parts) && note_put_u64(&o, s->epoch) &&
                 note_put_u64(&o, s->base + s->taken);
    struct sr_bytes note = {o.data, (uint32_t)o.len};
    sr_rc rc = is_ok ? notes->add(notes, SR_NOTE_STATE, note) : SR_ENOMEM;
    note_free(&o);
    return rc == SR_OK ? SR_OK : http_out_of_memory(s, err);
}

static sr_rc http_sink_prepare(void *sink, uint64_t checkpoint, bool is_last,
                               struct sr_notes *notes, struct sr_wait *wait, struct sr_error *err)
{
    (void)checkpoint, (void)is_last;
    struct http_sink *s = sink;
    http_queue(s);
    sr_rc rc = http_turn(s, err);
    if (rc != SR_OK) {
        return rc;
    }
    return s->first ? http_wait(s, wait) : http_note(s, notes, err);
}

const struct sr_sink_type http_sink_type = {
    .size = sizeof(struct sr_sink_type),
    .name = "http",
    .doc = "Requests to an HTTP server, in batches of any format, at-least-once.",
    .keeps = "at-least-once: a checkpoint waits until the server has answered for every row; "
             "requests have an Idempotency-Key, by which it can tell a repeated one",
    .opts = http_sink_opts,
    .conf_size = sizeof(struct http_sink_conf),
    .sink_size = sizeof(struct http_sink),
    .check = http_sink_check,
    .open = http_sink_open,
    .restore = http_sink_restore,
    .write = http_sink_write,
    .flush = http_sink_flush,
    .prepare = http_sink_prepare,
    .close = http_sink_close,
    .ask = http_ask_sink,
};
