/* The socket source: connects to a server and reads what it sends, record by record.
 *
 * A connection cannot be gone back to: what was read and not yet part of a checkpoint is lost with
 * the process, unless there is a journal (tape.h); and so is what the server sent while nobody
 * listened. A connection that ends is made again; what stands behind its last delimiter is a record
 * too. With a journal, what all connections of one life of the reader have brought is one session.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "connectors/common/block.h"
#include "connectors/socket/socket.h"
#include "connectors/socket/socket_take.h"

#define SOCKET_RECORDS 4096u /* records that one poll shows at most */

struct socket_source_conf {
    const char *hostname;
    int64_t port;
    int64_t delimiter;
    bool may_reconnect;
    sr_size record_max;
    const char *journal; /* NULL: none */
    sr_size journal_max;
};

struct socket_reader {
    const struct sr_host *host;
    const struct socket_source_conf *conf;
    struct dial dial;
    struct block block;
    struct tape tape;         /* with a journal */
    struct socket_take *take; /* for it; owned */
    uint64_t offset;          /* consumed bytes, of all connections or of the session */
    uint64_t session;         /* of the journal; 0: there is none */
    uint32_t number;
    bool has_split, is_ended, is_finished;
    uint32_t searched; /* bytes of the block without a delimiter */
    uint32_t *behind;  /* by record of the last poll: bytes up to behind its delimiter */
    struct sr_span *record;
    uint32_t records, done; /* that the last poll showed; consumed of them */
};

static sr_rc socket_check(const void *conf, const struct sr_schema *schema,
                          struct sr_source_caps *caps, struct sr_error *err)
{
    (void)schema;
    (void)err;
    const struct socket_source_conf *c = conf;
    *caps = (struct sr_source_caps){.is_bounded = !c->may_reconnect,
                                    .can_rewind = c->journal != NULL,
                                    .parts_max = 1,
                                    .exclusive = {c->journal}};
    return SR_OK;
}

/* --- The split ------------------------------------------------------------------------------- */

#define SOCKET_NAME "socket"

struct socket_finder {
    const struct sr_host *host;
    const struct socket_source_conf *conf;
    struct sessions sessions;
    bool is_known;
};

/* What a connection brought is never gone on with. */
static void socket_origin(const struct sr_host *host, uint8_t out[JOURNAL_ORIGIN])
{
    const uint64_t any[2] = {host->random(host), host->random(host)};
    _Static_assert(sizeof(any) == JOURNAL_ORIGIN, "an origin is two numbers");
    memcpy(out, any, sizeof(any));
}

static sr_rc socket_discover_open(void *finder, const struct sr_source_open *o,
                                  struct sr_error *err)
{
    (void)err;
    struct socket_finder *f = finder;
    f->host = o->host;
    f->conf = o->conf;
    f->sessions = (struct sessions){.host = o->host, .dir = f->conf->journal, .name = SOCKET_NAME};
    return SR_OK;
}

static void socket_known(void *finder, const struct sr_split *split)
{
    struct socket_finder *f = finder;
    struct session_note n;
    f->is_known = true;
    if (session_note_get(split->note, &n)) { /* else add will tell */
        sessions_known(&f->sessions, &n);
    }
}

static enum sr_discovered socket_discover(void *finder, struct sr_splits *out, struct sr_wait *wait,
                                          struct sr_error *err)
{
    (void)wait;
    struct socket_finder *f = finder;
    struct sr_split split = {.id = SOCKET_NAME};
    uint8_t mine[JOURNAL_ORIGIN];
    if (f->conf->journal) {
        socket_origin(f->host, mine);
        sr_rc rc = sessions_discover(&f->sessions, mine, out, err);
        return rc == SR_OK ? SR_DISCOVERED_ALL : SR_DISCOVER_FAILED;
    }
    sr_rc rc = f->is_known ? SR_OK : out->add(out, &split);
    if (rc != SR_OK) {
        (void)f->host->fail(f->host, err, rc, "out of memory");
    }
    return rc == SR_OK ? SR_DISCOVERED_ALL : SR_DISCOVER_FAILED;
}

static void socket_discover_close(void *finder)
{
    struct socket_finder *f = finder;
    sessions_done(&f->sessions);
}

/* --- Reading --------------------------------------------------------------------------------- */

static sr_rc socket_open_tape(struct socket_reader *r, bool is_checkpointed, struct sr_error *err)
{
    r->take = calloc(1, sizeof(*r->take));
    if (!r->take) {
        return r->host->fail(r->host, err, SR_ENOMEM, "out of memory");
    }
    r->take->dial = &r->dial;
    r->take->delimiter = (uint8_t)r->conf->delimiter;
    r->take->may_reconnect = r->conf->may_reconnect;
    struct tape_conf tape = {.host = r->host,
                             .name = SOCKET_NAME,
                             .dir = r->conf->journal,
                             .max_bytes = r->conf->journal_max.bytes,
                             .is_checkpointed = is_checkpointed,
                             .take = socket_take,
                             .ctx = r->take};
    socket_origin(r->host, tape.origin);
    return tape_open(&r->tape, &tape, err);
}

static sr_rc socket_open(void *reader, const struct sr_source_open *o, struct sr_error *err)
{
    struct socket_reader *r = reader;
    r->host = o->host;
    r->conf = o->conf;
    r->block.host = o->host;
    r->block.record_max = (uint32_t)r->conf->record_max.bytes;
    r->dial.fd = -1;
    r->record = calloc(SOCKET_RECORDS, sizeof(*r->record));
    r->behind = calloc(SOCKET_RECORDS, sizeof(*r->behind));
    if (!r->record || !r->behind) {
        return o->host->fail(o->host, err, SR_ENOMEM, "out of memory");
    }
    bool is_checkpointed =
        SR_HAS_FIELD(o, struct sr_source_open, is_checkpointed) && o->is_checkpointed;
    sr_rc rc = r->conf->journal ? socket_open_tape(r, is_checkpointed, err) : SR_OK;
    return rc == SR_OK ? dial_open(&r->dial, o->host, r->conf->hostname, r->conf->port, err) : rc;
}

/* Without a journal only the number of bytes is kept: there is no way back to any of them. */
static sr_rc socket_add(void *reader, uint32_t number, const struct sr_split *split,
                        struct sr_error *err)
{
    struct socket_reader *r = reader;
    struct session_note n = {0};
    if (split->note.len > 0 && !session_note_get(split->note, &n)) {
        return r->host->fail(r->host, err, SR_ECORRUPT, "the position of %s cannot be read",
                             r->dial.place);
    }
    bool has_journal = r->conf->journal != NULL;
    if (!session_note_fits(&n, has_journal)) {
        return session_note_misfits(r->host, r->dial.place, has_journal, err);
    }
    if (has_journal) {
        return tape_add(&r->tape, number, &n, err);
    }
    r->offset = n.offset;
    r->number = number;
    r->has_split = true;
    return SR_OK;
}

/* With a journal: the next of the sessions that wait. */
static sr_rc socket_turn(struct socket_reader *r, struct sr_error *err)
{
    struct tape_split next;
    bool is_there = false;
    sr_rc rc = tape_turn(&r->tape, &next, &is_there, err);
    if (rc != SR_OK || !is_there) {
        return rc;
    }
    block_drop(&r->block);
    r->number = next.number;
    r->session = next.note.session;
    r->offset = next.note.offset;
    r->searched = r->records = r->done = 0;
    r->has_split = true;
    r->is_ended = r->is_finished = false;
    return SR_OK;
}

/* Whole records at the front of the block, their delimiters left out. */
static uint32_t socket_cut(struct socket_reader *r)
{
    const uint8_t *bytes = block_bytes(&r->block);
    uint32_t len = block_length(&r->block), at = 0, n = 0;
    while (n < SOCKET_RECORDS && at < len) {
        uint32_t from = at > r->searched ? at : r->searched;
        const uint8_t *end = memchr(bytes + from, (int)r->conf->delimiter, len - from);
        if (!end && !r->is_ended) {
            r->searched = len;
            break;
        }
        uint32_t next = end ? (uint32_t)(end - bytes) : len;
        r->record[n] = (struct sr_span){at, next - at};
        at = end ? next + 1 : len;
        r->behind[n++] = at;
    }
    r->records = n;
    r->done = 0;
    return n;
}

static enum sr_polled socket_show(struct socket_reader *r, struct sr_poll *p)
{
    uint32_t n = socket_cut(r);
    p->split = r->number;
    p->bytes = block_bytes(&r->block);
    p->len = n > 0 ? r->behind[n - 1] : 0;
    p->buffer = r->block.buffer;
    p->record = r->record;
    p->records = n;
    p->at_start = r->offset == 0;
    return SR_POLL_DATA;
}

static enum sr_polled socket_too_long(struct socket_reader *r, struct sr_error *err)
{
    (void)r->host->fail(r->host, err, SR_EDATA,
                        "%s: the record at byte %llu is longer than source.max-record-size",
                        r->dial.place, (unsigned long long)r->offset);
    return SR_POLL_FAILED;
}

/* The connection ended: what stands behind the last delimiter is a record. */
static enum sr_polled socket_ended(struct socket_reader *r, const char *why, struct sr_poll *p)
{
    r->is_ended = true;
    if (r->conf->may_reconnect) {
        dial_lost(&r->dial, why);
    }
    return socket_show(r, p);
}

static enum sr_polled socket_end(struct socket_reader *r, struct sr_poll *p)
{
    r->is_finished = true;
    p->split = r->number;
    return SR_POLL_SPLIT_END;
}

/* A crash cut the session off: what is there of a record will never be whole. */
static enum sr_polled socket_cut_off(struct socket_reader *r, struct sr_poll *p)
{
    uint32_t rest = block_length(&r->block);
    if (rest > 0) {
        r->host->log(r->host, SR_WARN,
                     "%s: %u bytes behind the last whole record of an earlier run are passed over: "
                     "it was cut off there",
                     r->dial.place, rest);
        r->host->count(r->host, "journal-cut-bytes", rest);
        block_consume(&r->block, rest);
    }
    r->offset += rest;
    return socket_end(r, p);
}

static enum sr_polled socket_read_tape(struct socket_reader *r, uint8_t *to, uint32_t room,
                                       struct sr_poll *p, struct sr_error *err)
{
    uint32_t n = 0;
    switch (tape_read(&r->tape, to, room, &n, &p->wait, err)) {
    case TAPE_BYTES:
        block_filled(&r->block, n);
        return socket_show(r, p);
    case TAPE_IDLE:
        return SR_POLL_IDLE;
    case TAPE_END: /* every record has its delimiter */
    case TAPE_CUT:
        return socket_cut_off(r, p);
    case TAPE_FAILED:
        break;
    }
    return SR_POLL_FAILED;
}

static enum sr_polled socket_read_wire(struct socket_reader *r, uint8_t *to, uint32_t room,
                                       struct sr_poll *p)
{
    ssize_t n = recv(r->dial.fd, to, room, 0);
    if (n > 0) {
        block_filled(&r->block, (uint32_t)n);
        return socket_show(r, p);
    }
    if (n == 0) {
        return socket_ended(r, "the other end closed the connection", p);
    }
    if (errno == EAGAIN || errno == EINTR) {
        p->wait = (struct sr_wait){.fd = r->dial.fd, .until_us = INT64_MAX};
        return SR_POLL_IDLE;
    }
    return socket_ended(r, strerrordesc_np(errno), p);
}

static enum sr_polled socket_read(struct socket_reader *r, struct sr_poll *p, struct sr_error *err)
{
    uint8_t *to = NULL;
    uint32_t room = 0;
    sr_rc rc = block_room(&r->block, &to, &room);
    if (rc == SR_ELIMIT) {
        return socket_too_long(r, err);
    }
    if (rc != SR_OK) {
        (void)r->host->fail(r->host, err, rc, "%s: out of memory for a record", r->dial.place);
        return SR_POLL_FAILED;
    }
    return r->conf->journal ? socket_read_tape(r, to, room, p, err)
                            : socket_read_wire(r, to, room, p);
}

static enum sr_polled socket_poll(void *reader, struct sr_poll *p, struct sr_error *err)
{
    struct socket_reader *r = reader;
    p->wait = (struct sr_wait){.fd = -1, .until_us = INT64_MAX};
    bool is_free = !r->has_split || r->is_finished;
    if (r->conf->journal && is_free && socket_turn(r, err) != SR_OK) {
        return SR_POLL_FAILED;
    }
    if (!r->has_split || r->is_finished) {
        return SR_POLL_IDLE;
    }
    if (block_length(&r->block) > 0 && (r->is_ended || r->searched < block_length(&r->block))) {
        return socket_show(r, p); /* more than one poll may show */
    }
    if (r->conf->journal) {
        return socket_read(r, p, err);
    }
    if (r->is_ended && !r->conf->may_reconnect) {
        return socket_end(r, p);
    }
    r->is_ended = false;
    bool has_failed = false;
    if (!dial_connect(&r->dial, &p->wait, &has_failed)) {
        if (has_failed && !r->conf->may_reconnect) {
            (void)r->host->fail(r->host, err, SR_EIO, "%s: %s", r->dial.place, r->dial.why);
            return SR_POLL_FAILED;
        }
        return SR_POLL_IDLE;
    }
    return socket_read(r, p, err);
}

/* Called more than once for a poll, when a checkpoint comes between its records. */
static void socket_consume(void *reader, uint32_t number, uint32_t used)
{
    struct socket_reader *r = reader;
    if (number != r->number || used == 0 || used > r->records - r->done) {
        return;
    }
    uint32_t before = r->done > 0 ? r->behind[r->done - 1] : 0;
    r->done += used;
    uint32_t bytes = r->behind[r->done - 1] - before;
    block_consume(&r->block, bytes);
    r->offset += bytes;
    r->searched -= r->searched < bytes ? r->searched : bytes;
}

static sr_rc socket_position(void *reader, uint32_t number, struct sr_out *note,
                             struct sr_error *err)
{
    struct socket_reader *r = reader;
    const struct session_note *waiting = tape_waits(&r->tape, number);
    const struct session_note own = {
        .offset = r->offset, .session = r->session, .is_finished = r->session && r->is_finished};
    return session_note_put(note, waiting ? waiting : &own)
               ? SR_OK
               : r->host->fail(r->host, err, SR_ENOMEM, "out of memory for a note");
}

static void socket_acknowledge(void *reader, uint32_t number, struct sr_bytes note)
{
    (void)number;
    struct socket_reader *r = reader;
    struct session_note n;
    if (r->conf->journal && session_note_get(note, &n)) {
        tape_acknowledge(&r->tape, &n);
    }
}

static void socket_close(void *reader)
{
    struct socket_reader *r = reader;
    if (r->host) {
        block_drop(&r->block);
    }
    tape_close(&r->tape);
    dial_close(&r->dial);
    free(r->take);
    free(r->record);
    free(r->behind);
    *r = (struct socket_reader){.dial = {.fd = -1}};
}

/* clang-format off */
static const struct sr_opt socket_source_opts[] = {
    SR_OPT(struct socket_source_conf, "hostname", hostname, .flags = SR_OPT_REQUIRED, .doc = "The server to connect to."),
    SR_OPT(struct socket_source_conf, "port", port, .flags = SR_OPT_REQUIRED, .min = 1, .max = 65535, .doc = "Its TCP port."),
    SR_OPT(struct socket_source_conf, "byte-delimiter", delimiter, .def = "10", .min = 0, .max = 255,
           .doc = "The byte that ends a record, as a number: 10 is the newline."),
    SR_OPT(struct socket_source_conf, "reconnect", may_reconnect, .def = "true", .flags = SR_OPT_OURS,
           .doc = "Connect again, after pauses of up to 10 s, when the server ends the connection; false: the job ends then."),
    SR_OPT(struct socket_source_conf, "source.max-record-size", record_max, .def = "16 mb", .min = 1, .max = 1 << 29,
           .flags = SR_OPT_OURS, .doc = "A longer record fails the job: most likely its delimiter is missing."),
    JOURNAL_OPTS(struct socket_source_conf, journal, journal_max, "what is in the network"),
    SR_OPT_END};
/* clang-format on */

const struct sr_source_type socket_source_type = {
    .size = sizeof(struct sr_source_type),
    .name = "socket",
    .doc = "What a TCP server sends, in any format.",
    .keeps = JOURNAL_KEEPS,
    .opts = socket_source_opts,
    .conf_size = sizeof(struct socket_source_conf),
    .discoverer_size = sizeof(struct socket_finder),
    .reader_size = sizeof(struct socket_reader),
    .check = socket_check,
    .discover_open = socket_discover_open,
    .known = socket_known,
    .discover = socket_discover,
    .discover_close = socket_discover_close,
    .open = socket_open,
    .add = socket_add,
    .poll = socket_poll,
    .consume = socket_consume,
    .position = socket_position,
    .acknowledge = socket_acknowledge,
    .close = socket_close,
};
