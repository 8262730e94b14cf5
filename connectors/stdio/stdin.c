/* The stdin source: one split, read once, to the end of file.
 *
 * A pipe or a terminal cannot be gone back to: a position behind its beginning is refused at
 * resume, rather than taking other bytes for those that were lost. Standard input that was
 * redirected from a file is read at explicit offsets, and can be resumed.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "connectors/common/block.h"
#include "connectors/common/note.h"
#include "connectors/stdio/stdio.h"

#define STDIN_ID "stdin"

struct stdin_conf {
    sr_size record_max;
};

struct stdin_finder {
    bool is_known; /* the split was named, now or before the restore */
};

struct stdin_reader {
    const struct sr_host *host;
    struct block block;
    uint64_t offset;   /* consumed bytes */
    uint64_t read_end; /* read bytes */
    int64_t base;      /* a file: its offset when the job began; -1: not a file */
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
    (void)conf;
    (void)schema;
    (void)err;
    *caps = (struct sr_source_caps){.is_bounded = true, .can_rewind = false, .parts_max = 1};
    return SR_OK;
}

static sr_rc stdin_discover_open(void *finder, const struct sr_source_open *o, struct sr_error *err)
{
    (void)finder;
    (void)o;
    (void)err;
    return SR_OK;
}

static void stdin_known(void *finder, const struct sr_split *split)
{
    (void)split;
    ((struct stdin_finder *)finder)->is_known = true;
}

static enum sr_discovered stdin_discover(void *finder, struct sr_splits *out, struct sr_wait *wait,
                                         struct sr_error *err)
{
    (void)wait;
    struct stdin_finder *f = finder;
    if (f->is_known) {
        return SR_DISCOVERED_ALL;
    }
    static const uint8_t start[8] = {0}; /* a note: no byte was consumed */
    struct sr_split split = {.id = STDIN_ID, .note = {start, sizeof(start)}, .order = 0};
    sr_rc rc = out->add(out, &split);
    if (rc != SR_OK) {
        *err = (struct sr_error){.rc = rc, .words = "stdin cannot be taken as a split"};
        return SR_DISCOVER_FAILED;
    }
    f->is_known = true;
    return SR_DISCOVERED_ALL;
}

static void stdin_discover_close(void *finder) { (void)finder; }

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
    return SR_OK;
}

static sr_rc stdin_add(void *reader, uint32_t number, const struct sr_split *split,
                       struct sr_error *err)
{
    struct stdin_reader *r = reader;
    struct note_in in = note_in(split->note);
    uint64_t offset = note_get_u64(&in);
    if (!note_is_done(&in) || offset > INT64_MAX / 2) {
        return r->host->fail(r->host, err, SR_ECORRUPT, "the position of stdin cannot be read");
    }
    if (offset > 0 && r->base < 0) {
        return r->host->fail(r->host, err, SR_EMISFIT,
                             "stdin cannot be gone back to: %llu bytes of it were read before the "
                             "checkpoint, and a pipe does not bring what followed them again "
                             "(redirect it from a file, or begin anew with --fresh)",
                             (unsigned long long)offset);
    }
    r->number = number;
    r->has_split = true;
    r->offset = r->read_end = offset;
    return SR_OK;
}

/* Reads without waiting. *got is 0 at the end; *is_idle: nothing is there yet. SR_ELIMIT, without
 * words: the record is too long. */
static sr_rc stdin_read(struct stdin_reader *r, size_t *got, bool *is_idle, struct sr_error *err)
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
    ssize_t n = -1;
    if (r->base >= 0) {
        n = pread(STDIN_FILENO, to, room, (off_t)((uint64_t)r->base + r->read_end));
    } else {
        /* Only after poll: stdin may be shared with a shell, so it is not made non-blocking. */
        struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
        n = poll(&p, 1, 0);
        *is_idle = n == 0;
        n = n > 0 ? read(STDIN_FILENO, to, room) : n;
    }
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
        *is_idle = true;
        n = 0;
    }
    if (n < 0) {
        return r->host->fail(r->host, err, SR_EIO, "stdin cannot be read: %s",
                             strerrordesc_np(errno));
    }
    *got = (size_t)n;
    block_filled(&r->block, (uint32_t)n);
    r->read_end += (uint64_t)n;
    return SR_OK;
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

/* Reads on, and shows what there is then. */
static enum sr_polled stdin_go_on(struct stdin_reader *r, struct sr_poll *p, struct sr_error *err)
{
    uint32_t rest = block_length(&r->block);
    size_t got = 0;
    bool is_idle = false;
    sr_rc rc = stdin_read(r, &got, &is_idle, err);
    if (rc == SR_ELIMIT) {
        return p->may_pass && r->has_resync ? stdin_pass(r, p) : stdin_too_long(r, err);
    }
    if (rc != SR_OK) {
        return SR_POLL_FAILED;
    }
    if (is_idle) {
        p->wait.fd = STDIN_FILENO;
        return SR_POLL_IDLE;
    }
    r->has_ended = got == 0;
    if (r->is_passing) {
        return stdin_pass(r, p);
    }
    if (got > 0 && rest > 0 && r->has_resync && !stdin_has_newline(r, got)) {
        p->split = r->number; /* no record can have become whole: not looked at again */
        return SR_POLL_DATA;
    }
    return got > 0 || rest > 0 ? stdin_show(r, p) : stdin_end(r, p);
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
    return note_put_u64(note, r->offset)
               ? SR_OK
               : r->host->fail(r->host, err, SR_ENOMEM, "out of memory for a note");
}

static void stdin_close(void *reader)
{
    struct stdin_reader *r = reader;
    if (r->host) {
        block_drop(&r->block);
    }
}

static const struct sr_opt stdin_opts[] = {
    SR_OPT(struct stdin_conf, "source.max-record-size", record_max, .def = "64 mb", .min = 1,
           .max = 1 << 29, .flags = SR_OPT_OURS,
           .doc = "A longer record is a bad one (on-error): most likely its delimiter is missing."),
    SR_OPT_END};

const struct sr_source_type stdin_type = {
    .size = sizeof(struct sr_source_type),
    .name = "stdin",
    .doc = "Standard input, once, to its end. A pipe cannot be resumed, a redirected file can.",
    .keeps = "nothing: its paths have no guarantee",
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
    .close = stdin_close,
};
