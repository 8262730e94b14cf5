/* The stdin source: one split, read once, to the end of file.
 *
 * A pipe or a terminal cannot be gone back to: a position behind its beginning is refused at
 * resume, rather than taking other bytes for those that were lost. Standard input that was
 * redirected from a file is read at explicit offsets, and can be resumed. With a journal any of
 * them can: tape.h.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "connectors/common/block.h"
#include "connectors/stdio/stdin_finder.h"
#include "connectors/stdio/stdin_origin.h"
#include "connectors/stdio/stdin_take.h"

struct stdin_reader {
    const struct sr_host *host;
    struct block block;
    uint64_t offset;   /* consumed bytes */
    uint64_t read_end; /* read bytes */
    int64_t base;      /* a file: its offset when the job began; -1: not a file */
    struct tape tape;
    struct stdin_take take;
    bool has_journal;
    bool is_cut;      /* the journal has no end of the session */
    uint64_t session; /* of the journal */
    uint32_t number;
    bool has_split, has_ended, is_finished;
    bool has_moved;  /* something was consumed since the last poll */
    bool has_resync; /* of the format */
    bool is_passing; /* the record at `offset` is too long and is passed over */
    uint64_t passed; /* bytes of it that are gone by */
};

static sr_rc stdin_check(const void *conf, const struct sr_schema *schema,
                         struct sr_source_caps *caps, struct sr_error *err)
{
    (void)schema;
    (void)err;
    const struct stdin_conf *k = conf;
    *caps = (struct sr_source_caps){.is_bounded = true,
                                    .can_rewind = k->journal != NULL,
                                    .parts_max = 1,
                                    .exclusive = {STDIN_NAME, k->journal}};
    return SR_OK;
}

/* By errno. A directory, or a descriptor that is closed, will not become readable. */
static sr_rc stdin_failed(const struct stdin_reader *r, struct sr_error *err)
{
    int number = errno;
    return r->host->fail(r->host, err, number == EIO ? SR_EIO : SR_EFINAL,
                         "stdin cannot be read: %s", strerrordesc_np(number));
}

/* For the tape: whole lines, where that can be had. */
static enum taken stdin_take_next(void *reader, uint8_t *to, size_t room, size_t *got,
                                  struct sr_wait *wait, struct sr_error *err)
{
    struct stdin_reader *r = reader;
    enum taken taken = stdin_take_lines(&r->take, to, room, got);
    wait->fd = STDIN_FILENO;
    if (taken == TAKEN_FAILED) {
        (void)stdin_failed(r, err);
    }
    return taken;
}

static sr_rc stdin_open_tape(struct stdin_reader *r, const struct stdin_conf *conf,
                             bool is_checkpointed, struct sr_error *err)
{
    struct tape_conf tape = {.host = r->host,
                             .name = STDIN_NAME,
                             .dir = conf->journal,
                             .max_bytes = conf->journal_max.bytes,
                             .is_checkpointed = is_checkpointed,
                             .take = stdin_take_next,
                             .ctx = r};
    stdin_origin(r->host, tape.origin);
    stdin_take_open(&r->take);
    return tape_open(&r->tape, &tape, err);
}

static sr_rc stdin_open(void *reader, const struct sr_source_open *o, struct sr_error *err)
{
    struct stdin_reader *r = reader;
    const struct stdin_conf *conf = o->conf;
    r->host = o->host;
    r->block.host = o->host;
    r->block.record_max = (uint32_t)conf->record_max.bytes;
    r->has_resync = (o->format_flags & SR_FORMAT_RESYNC) != 0;
    struct stat st;
    if (fstat(STDIN_FILENO, &st) != 0) {
        return o->host->fail(o->host, err, SR_EIO, "stdin is not open: %s", strerrordesc_np(errno));
    }
    /* The file's own offset is never moved, so that a restart within the process begins there. */
    r->base = S_ISREG(st.st_mode) ? (int64_t)lseek(STDIN_FILENO, 0, SEEK_CUR) : -1;
    r->has_journal = conf->journal != NULL;
    bool is_checkpointed =
        SR_HAS_FIELD(o, struct sr_source_open, is_checkpointed) && o->is_checkpointed;
    return r->has_journal ? stdin_open_tape(r, conf, is_checkpointed, err) : SR_OK;
}

static sr_rc stdin_add(void *reader, uint32_t number, const struct sr_split *split,
                       struct sr_error *err)
{
    struct stdin_reader *r = reader;
    struct session_note n;
    if (!session_note_get(split->note, &n)) {
        return r->host->fail(r->host, err, SR_ECORRUPT, "the position of stdin cannot be read");
    }
    if (!session_note_fits(&n, r->has_journal)) {
        return session_note_misfits(r->host, STDIN_NAME, r->has_journal, err);
    }
    if (!r->has_journal && n.offset > 0 && r->base < 0) {
        return r->host->fail(r->host, err, SR_EMISFIT,
                             "stdin cannot be gone back to: %llu bytes of it were read before the "
                             "checkpoint, and a pipe does not bring what followed them again "
                             "(give it a `journal:`, redirect it from a file, or begin anew with "
                             "--fresh)",
                             (unsigned long long)n.offset);
    }
    block_drop(&r->block);
    r->number = number;
    r->session = n.session;
    r->has_split = true;
    r->has_ended = r->is_finished = r->is_cut = r->has_moved = r->is_passing = false;
    r->offset = r->read_end = n.offset;
    return r->has_journal ? tape_go(&r->tape, &n, err) : SR_OK;
}

/* What a read brought. */
struct stdin_got {
    int64_t bytes; /* 0: the end, unless it is idle; -1: errno */
    bool is_idle;  /* nothing is there yet: see wait */
    struct sr_wait wait;
};

/* Goes on in the journal. */
static sr_rc stdin_read_tape(struct stdin_reader *r, uint8_t *to, uint32_t room,
                             struct stdin_got *got, struct sr_error *err)
{
    uint32_t n = 0;
    switch (tape_read(&r->tape, to, room, &n, &got->wait, err)) {
    case TAPE_BYTES:
    case TAPE_END:
        break;
    case TAPE_IDLE:
        got->is_idle = true;
        break;
    case TAPE_CUT:
        r->is_cut = true;
        break;
    case TAPE_FAILED:
        return err->rc;
    }
    got->bytes = n;
    return SR_OK;
}

static void stdin_read_file(struct stdin_reader *r, uint8_t *to, uint32_t room,
                            struct stdin_got *got)
{
    size_t len = 0;
    got->wait.fd = STDIN_FILENO;
    if (r->base >= 0) {
        got->bytes = pread(STDIN_FILENO, to, room, (off_t)((uint64_t)r->base + r->read_end));
        got->is_idle = got->bytes < 0 && (errno == EINTR || errno == EAGAIN);
    } else {
        enum taken taken = stdin_take_any(to, room, &len);
        got->is_idle = taken == TAKEN_NONE;
        got->bytes = taken == TAKEN_FAILED ? -1 : (int64_t)len;
    }
    got->bytes = got->is_idle ? 0 : got->bytes;
}

/* Reads without waiting. SR_ELIMIT, without words: the record is too long. */
static sr_rc stdin_read(struct stdin_reader *r, struct stdin_got *got, struct sr_error *err)
{
    uint8_t *to = NULL;
    uint32_t room = 0;
    sr_rc rc = block_room(&r->block, &to, &room);
    if (rc == SR_ELIMIT) {
        return rc;
    }
    if (rc != SR_OK) {
        return r->host->fail(r->host, err, rc, "stdin: out of memory for the record at byte %llu",
                             (unsigned long long)r->offset);
    }
    if (r->has_journal) {
        rc = stdin_read_tape(r, to, room, got, err);
    } else {
        stdin_read_file(r, to, room, got);
    }
    if (rc == SR_OK && got->bytes < 0) {
        rc = stdin_failed(r, err);
    }
    if (rc == SR_OK) {
        block_filled(&r->block, (uint32_t)got->bytes);
        r->read_end += (uint64_t)got->bytes;
    }
    return rc;
}

static enum sr_polled stdin_show(struct stdin_reader *r, struct sr_poll *p)
{
    r->has_moved = false;
    p->split = r->number;
    p->bytes = block_bytes(&r->block);
    p->len = block_length(&r->block);
    p->buffer = r->block.buffer;
    p->record = NULL;
    p->records = 0;
    p->at_start = r->offset == 0;
    p->at = (int64_t)r->offset;
    p->at_end = r->has_ended;
    return SR_POLL_DATA;
}

/* In the last `got` bytes that were read? */
static bool stdin_has_newline(const struct stdin_reader *r, size_t got)
{
    return memchr(r->block.buffer->data + r->block.end - got, '\n', got) != NULL;
}

/* Lets go of what is there of a record that is too long. */
static enum sr_polled stdin_pass(struct stdin_reader *r, struct sr_poll *p)
{
    bool is_over = false;
    r->passed = r->is_passing ? r->passed : 0;
    r->passed += block_pass(&r->block, &is_over);
    r->is_passing = !is_over && !r->has_ended;
    p->split = r->number;
    if (!r->is_passing) {
        r->offset += r->passed;
        r->has_moved = true;
        p->at = (int64_t)r->offset;
        p->passed = r->passed;
    }
    return SR_POLL_DATA;
}

static enum sr_polled stdin_too_long(const struct stdin_reader *r, struct sr_error *err)
{
    (void)r->host->fail(r->host, err, SR_EDATA,
                        "stdin: the record at byte %llu is longer than source.max-record-size",
                        (unsigned long long)r->offset);
    return SR_POLL_FAILED;
}

static enum sr_polled stdin_end(struct stdin_reader *r, struct sr_poll *p)
{
    r->is_finished = true;
    block_drop(&r->block);
    p->split = r->number;
    return SR_POLL_SPLIT_END;
}

/* A crash cut the stream off: what is there of a record will never be whole. */
static enum sr_polled stdin_cut(struct stdin_reader *r, struct sr_poll *p)
{
    uint64_t rest = r->read_end - r->offset;
    if (rest > 0) {
        r->host->log(r->host, SR_WARN,
                     "stdin: %llu bytes behind the last whole record of an earlier stream are "
                     "passed over: it was cut off there",
                     (unsigned long long)rest);
        r->host->count(r->host, "journal-cut-bytes", (int64_t)rest);
    }
    r->offset = r->read_end;
    return stdin_end(r, p);
}

/* Reads on, and shows what there is then. */
static enum sr_polled stdin_go_on(struct stdin_reader *r, struct sr_poll *p, struct sr_error *err)
{
    uint32_t rest = block_length(&r->block);
    struct stdin_got got = {.wait = p->wait};
    sr_rc rc = stdin_read(r, &got, err);
    if (rc == SR_ELIMIT) {
        return p->may_pass && r->has_resync ? stdin_pass(r, p) : stdin_too_long(r, err);
    }
    if (rc != SR_OK) {
        return SR_POLL_FAILED;
    }
    if (got.is_idle) {
        p->wait = got.wait;
        return SR_POLL_IDLE;
    }
    size_t len = (size_t)got.bytes;
    r->has_ended = len == 0;
    if (r->is_cut) {
        return stdin_cut(r, p);
    }
    if (r->is_passing) {
        return stdin_pass(r, p);
    }
    if (len > 0 && rest > 0 && r->has_resync && !stdin_has_newline(r, len)) {
        p->split = r->number; /* no record can have become whole: not looked at again */
        return SR_POLL_DATA;
    }
    return len > 0 || rest > 0 ? stdin_show(r, p) : stdin_end(r, p);
}

static enum sr_polled stdin_poll(void *reader, struct sr_poll *p, struct sr_error *err)
{
    struct stdin_reader *r = reader;
    p->wait = (struct sr_wait){.fd = -1, .until_us = INT64_MAX};
    if (!r->has_split || r->is_finished) {
        return SR_POLL_IDLE;
    }
    if (block_length(&r->block) > 0 && (r->has_moved || r->has_ended)) {
        return stdin_show(r, p);
    }
    return r->has_ended ? stdin_end(r, p) : stdin_go_on(r, p, err);
}

static void stdin_consume(void *reader, uint32_t number, uint32_t used)
{
    struct stdin_reader *r = reader;
    if (number != r->number || used > block_length(&r->block)) {
        return; /* not what was shown: nothing moves */
    }
    block_consume(&r->block, used);
    r->offset += used;
    r->has_moved = r->has_moved || used > 0;
}

static sr_rc stdin_position(void *reader, uint32_t number, struct sr_out *note,
                            struct sr_error *err)
{
    (void)number;
    struct stdin_reader *r = reader;
    struct session_note n = {
        .offset = r->offset, .session = r->session, .is_finished = r->is_finished};
    return session_note_put(note, &n)
               ? SR_OK
               : r->host->fail(r->host, err, SR_ENOMEM, "out of memory for a note");
}

static void stdin_acknowledge(void *reader, uint32_t number, struct sr_bytes note)
{
    (void)number;
    struct stdin_reader *r = reader;
    struct session_note n;
    if (r->has_journal && session_note_get(note, &n)) {
        tape_acknowledge(&r->tape, &n);
    }
}

static void stdin_close(void *reader)
{
    struct stdin_reader *r = reader;
    if (r->host) {
        block_drop(&r->block);
    }
    if (r->has_journal) {
        tape_close(&r->tape);
        stdin_take_close(&r->take);
    }
}

static const struct sr_opt stdin_opts[] = {
    SR_OPT(struct stdin_conf, "source.max-record-size", record_max, .def = "64 mb", .min = 1,
           .max = 1 << 29, .flags = SR_OPT_OURS,
           .doc = "A longer record is a bad one (on-error): most likely its delimiter is missing."),
    JOURNAL_OPTS(struct stdin_conf, journal, journal_max, "what the pipe holds"), SR_OPT_END};

const struct sr_source_type stdin_type = {
    .size = sizeof(struct sr_source_type),
    .name = "stdin",
    .doc = "Standard input, once, to its end. A redirected file can be resumed, a pipe with a "
           "journal.",
    .keeps = JOURNAL_KEEPS,
    .opts = stdin_opts,
    .conf_size = sizeof(struct stdin_conf),
    .discoverer_size = sizeof(struct stdin_finder),
    .reader_size = sizeof(struct stdin_reader),
    .check = stdin_check,
    .discover_open = stdin_discover_open,
    .known = stdin_known,
    .discover = stdin_discover,
    .discover_close = stdin_discover_close,
    .open = stdin_open,
    .add = stdin_add,
    .poll = stdin_poll,
    .consume = stdin_consume,
    .position = stdin_position,
    .acknowledge = stdin_acknowledge,
    .close = stdin_close,
};
