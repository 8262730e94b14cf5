#include "cli/letter_source.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/bytes.h"
#include "engine/base/error.h"

#define LETTER_SOURCE_HEAD    4u         /* bytes in front of a record */
#define LETTER_SOURCE_READ    (1u << 20) /* bytes read at once, unless one record is larger */
#define LETTER_SOURCE_SLACK   64u        /* readable bytes behind, for wide loads */
#define LETTER_SOURCE_RECORDS 1024u      /* shown by one poll */

/* --- The split -------------------------------------------------------------------------------- */

struct letter_finder {
    const struct letter_source_conf *conf;
    bool is_known;
};

static sr_rc letter_source_check(const void *conf, const struct sr_schema *schema,
                                 struct sr_source_caps *caps, struct sr_error *err)
{
    (void)conf, (void)schema, (void)err;
    *caps = (struct sr_source_caps){.is_bounded = true, .can_rewind = true};
    return SR_OK;
}

static sr_rc letter_finder_open(void *finder, const struct sr_source_open *o, struct sr_error *err)
{
    (void)err;
    ((struct letter_finder *)finder)->conf = o->conf;
    return SR_OK;
}

static void letter_finder_known(void *finder, const struct sr_split *split)
{
    (void)split;
    ((struct letter_finder *)finder)->is_known = true;
}

static enum sr_discovered letter_finder_discover(void *finder, struct sr_splits *out,
                                                 struct sr_wait *wait, struct sr_error *err)
{
    (void)wait;
    const struct letter_finder *f = finder;
    static const uint8_t start[sizeof(uint64_t)] = {0};
    const struct sr_split split = {.id = f->conf->path, .note = {start, sizeof(start)}};
    if (f->is_known || out->add(out, &split) == SR_OK) return SR_DISCOVERED_ALL;
    (void)error_set(err, SR_ENOMEM, "out of memory for %s", f->conf->path);
    return SR_DISCOVER_FAILED;
}

static void letter_finder_close(void *finder) { (void)finder; }

/* --- The reader ------------------------------------------------------------------------------- */

struct letter_reader {
    const struct sr_host *host;
    const struct letter_source_conf *conf;
    struct sr_file *file;
    uint32_t number; /* of the split */
    bool has_split, is_over;
    uint64_t at; /* of the next record in the file */
    uint8_t *bytes;
    size_t room, len; /* of `bytes`; what stands there, from `at` on */
    struct sr_span record[LETTER_SOURCE_RECORDS];
    uint32_t records;
    uint32_t metadatas, columns;
};

static sr_rc letter_source_open(void *reader, const struct sr_source_open *o, struct sr_error *err)
{
    struct letter_reader *r = reader;
    r->host = o->host;
    r->conf = o->conf;
    r->metadatas = o->metadatas;
    r->columns = o->schema->fields;
    if (r->metadatas > 0 && o->part == 0) {
        r->host->log(r->host, SR_WARN, "columns of METADATA are NULL: dead letters do not have it");
    }
    return r->host->files->open(r->host->files, r->conf->path, SR_FILE_READ, &r->file, err);
}

static sr_rc letter_source_add(void *reader, uint32_t number, const struct sr_split *split,
                               struct sr_error *err)
{
    struct letter_reader *r = reader;
    struct bytes_in in = bytes_in(split->note.data, split->note.len);
    r->at = bytes_get_u64(&in);
    r->number = number;
    r->has_split = true;
    if (in.is_broken) {
        return r->host->fail(r->host, err, SR_ECORRUPT, "the position in %s cannot be read",
                             r->conf->path);
    }
    return SR_OK;
}

/* Reads on behind what was consumed: `size` bytes, or as many as there are. */
static sr_rc letter_source_fill(struct letter_reader *r, size_t size, struct sr_error *err)
{
    if (r->room < size + LETTER_SOURCE_SLACK) {
        uint8_t *grown = realloc(r->bytes, size + LETTER_SOURCE_SLACK);
        if (!grown) {
            return r->host->fail(r->host, err, SR_ENOMEM, "out of memory for %s", r->conf->path);
        }
        r->bytes = grown;
        r->room = size + LETTER_SOURCE_SLACK;
    }
    size_t got = 1;
    for (r->len = 0; r->len < size && got > 0; r->len += got) {
        sr_rc rc = r->host->files->read(r->file, r->bytes + r->len, size - r->len, r->at + r->len,
                                        &got, err);
        if (rc != SR_OK) return rc;
    }
    memset(r->bytes + r->len, 0, LETTER_SOURCE_SLACK);
    return SR_OK;
}

static size_t letter_source_size(const uint8_t *head)
{
    struct bytes_in in = bytes_in(head, LETTER_SOURCE_HEAD);
    return (size_t)LETTER_SOURCE_HEAD + bytes_get_u32(&in);
}

/* The whole records among the bytes. *wanted: what the first one needs, if it is not whole. */
static void letter_source_frame(struct letter_reader *r, size_t *wanted)
{
    size_t at = 0;
    *wanted = 0;
    for (r->records = 0; r->records < LETTER_SOURCE_RECORDS && at < r->len; r->records++) {
        size_t rest = r->len - at;
        size_t size =
            rest < LETTER_SOURCE_HEAD ? LETTER_SOURCE_HEAD : letter_source_size(r->bytes + at);
        if (size > rest) {
            *wanted = r->records == 0 ? size : 0;
            return;
        }
        r->record[r->records] = (struct sr_span){(uint32_t)(at + LETTER_SOURCE_HEAD),
                                                 (uint32_t)(size - LETTER_SOURCE_HEAD)};
        at += size;
    }
}

static sr_rc letter_source_read(struct letter_reader *r, struct sr_error *err)
{
    size_t wanted = 0;
    sr_rc rc = letter_source_fill(r, LETTER_SOURCE_READ, err);
    if (rc == SR_OK) letter_source_frame(r, &wanted);
    if (rc == SR_OK && wanted > r->len && r->len == LETTER_SOURCE_READ && wanted <= INT32_MAX) {
        rc = letter_source_fill(r, wanted, err);
        if (rc == SR_OK) letter_source_frame(r, &wanted);
    }
    if (rc == SR_OK && wanted > 0) {
        rc = r->host->fail(r->host, err, SR_ECORRUPT, "%s is cut off at byte %llu", r->conf->path,
                           (unsigned long long)r->at);
    }
    r->is_over = rc == SR_OK && r->len == 0;
    return rc;
}

static enum sr_polled letter_source_poll(void *reader, struct sr_poll *p, struct sr_error *err)
{
    struct letter_reader *r = reader;
    p->wait = (struct sr_wait){.fd = -1, .until_us = INT64_MAX};
    if (!r->has_split || r->is_over) return SR_POLL_IDLE;
    if (letter_source_read(r, err) != SR_OK) return SR_POLL_FAILED;
    p->split = r->number;
    if (r->is_over) return SR_POLL_SPLIT_END;
    p->bytes = r->bytes;
    p->len = (uint32_t)r->len;
    p->record = r->record;
    p->records = r->records;
    p->at_end = true; /* of each record */
    return SR_POLL_DATA;
}

static void letter_source_consume(void *reader, uint32_t number, uint32_t used)
{
    (void)number;
    struct letter_reader *r = reader;
    for (uint32_t i = 0; i < used; i++) {
        r->at += (uint64_t)LETTER_SOURCE_HEAD + r->record[i].len;
    }
}

static sr_rc letter_source_position(void *reader, uint32_t number, struct sr_out *note,
                                    struct sr_error *err)
{
    (void)number;
    struct letter_reader *r = reader;
    return bytes_put_u64(note, r->at) ? SR_OK
                                      : r->host->fail(r->host, err, SR_ENOMEM, "out of memory");
}

static sr_rc letter_source_fill_metadata(void *reader, uint32_t number, const uint32_t *record,
                                         uint32_t rows, struct sr_builder *out,
                                         struct sr_error *err)
{
    (void)number, (void)record, (void)err;
    const struct letter_reader *r = reader;
    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t k = 0; k < r->metadatas; k++) {
            if (out->wanted[r->columns + k]) sr_put_null(out, r->columns + k);
        }
        sr_row_done(out);
    }
    return SR_OK;
}

static void letter_source_close(void *reader)
{
    struct letter_reader *r = reader;
    if (r->host) (void)r->host->files->close(r->file, NULL); /* only read */
    free(r->bytes);
    r->bytes = NULL;
}

/* --- The type --------------------------------------------------------------------------------- */

static const struct sr_opt letter_source_opts[] = {SR_OPT(struct letter_source_conf, "path", path,
                                                          .flags = SR_OPT_REQUIRED | SR_OPT_PATH,
                                                          .doc = "The file of records."),
                                                   SR_OPT_END};

static const struct sr_source_type letter_source = {
    .size = sizeof(struct sr_source_type),
    .name = "dead-letters",
    .doc = "Dead letters, to be read again.",
    .keeps = "the record",
    .opts = letter_source_opts,
    .conf_size = sizeof(struct letter_source_conf),
    .discoverer_size = sizeof(struct letter_finder),
    .reader_size = sizeof(struct letter_reader),
    .check = letter_source_check,
    .discover_open = letter_finder_open,
    .known = letter_finder_known,
    .discover = letter_finder_discover,
    .discover_close = letter_finder_close,
    .open = letter_source_open,
    .add = letter_source_add,
    .poll = letter_source_poll,
    .consume = letter_source_consume,
    .position = letter_source_position,
    .close = letter_source_close,
    .fill_metadata = letter_source_fill_metadata,
};

const struct sr_source_type *letter_source_type(struct arena *a, const struct sr_source_type *of)
{
    struct sr_source_type *type = arena_copy(a, &letter_source, sizeof(letter_source));
    uint32_t count = 0;
    while (of && of->metadata && of->metadata[count].name) {
        count++;
    }
    struct sr_metadata *all = arena_array(a, (size_t)count + 1, sizeof(*all));
    if (!type || !all) return NULL;
    for (uint32_t i = 0; i < count; i++) {
        all[i] = of->metadata[i];
        all[i].type.is_nullable = true;
    }
    type->metadata = all;
    return type;
}

bool letter_source_put(struct sr_out *file, const void *bytes, size_t len)
{
    return len <= INT32_MAX - LETTER_SOURCE_HEAD && bytes_put_blob(file, bytes, (uint32_t)len);
}
