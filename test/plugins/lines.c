/* A source built outside the tree: numbered lines in splits, to be gone back to at any byte.
 *
 * It gives bytes to a format. Every line has LINE_BYTES bytes, so any position can be made again:
 * the note of a split is its number and the offset of the next byte.
 */
#include <stdio.h>
#include <string.h>

#include <streamrun/plugin.h>

#define LINE_BYTES 15u /* "0000 line 0000\n" */
#define LINES_MAX  9999
#define CHUNK_MAX  4096u
#define SPLITS_MAX 64

struct lines_conf {
    int64_t splits, lines;
};

struct lines_finder {
    const struct lines_conf *conf;
    bool known[SPLITS_MAX];
};

struct lines_note {
    uint32_t split, offset;
};

struct lines_reader {
    const struct sr_host *host;
    const struct lines_conf *conf;
    struct lines_note at[SPLITS_MAX]; /* by number */
    bool is_over[SPLITS_MAX];
    uint32_t numbers, turn;
    struct sr_buffer *chunk; /* what the last poll showed */
};

static sr_rc lines_check(const void *conf, const struct sr_schema *schema,
                         struct sr_source_caps *caps, struct sr_error *err)
{
    (void)conf, (void)schema, (void)err;
    *caps = (struct sr_source_caps){.is_bounded = true, .can_rewind = true};
    return SR_OK;
}

static sr_rc lines_discover_open(void *d, const struct sr_source_open *o, struct sr_error *err)
{
    (void)err;
    ((struct lines_finder *)d)->conf = o->conf;
    return SR_OK;
}

static void lines_known(void *d, const struct sr_split *split)
{
    unsigned number = 0;
    if (sscanf(split->id, "split-%u", &number) == 1 && number < SPLITS_MAX) {
        ((struct lines_finder *)d)->known[number] = true;
    }
}

static enum sr_discovered lines_discover(void *d, struct sr_splits *out, struct sr_wait *wait,
                                         struct sr_error *err)
{
    struct lines_finder *f = d;
    (void)wait;
    for (uint32_t i = 0; i < (uint32_t)f->conf->splits; i++) {
        char id[32];
        struct lines_note note = {i, 0};
        (void)snprintf(id, sizeof(id), "split-%02u", i);
        struct sr_split split = {
            .id = id, .note = {&note, sizeof(note)}, .size_bytes = f->conf->lines * LINE_BYTES};
        if (!f->known[i] && out->add(out, &split) != SR_OK) {
            err->rc = SR_ENOMEM;
            (void)snprintf(err->words, sizeof(err->words), "cannot name %s", id);
            return SR_DISCOVER_FAILED;
        }
        f->known[i] = true;
    }
    return SR_DISCOVERED_ALL;
}

static void lines_discover_close(void *d) { (void)d; }

static sr_rc lines_open(void *r, const struct sr_source_open *o, struct sr_error *err)
{
    struct lines_reader *n = r;
    (void)err;
    n->host = o->host;
    n->conf = o->conf;
    return SR_OK;
}

static sr_rc lines_add(void *r, uint32_t number, const struct sr_split *split, struct sr_error *err)
{
    struct lines_reader *n = r;
    if (number >= SPLITS_MAX || split->note.len != sizeof(n->at[0])) {
        return n->host->fail(n->host, err, SR_ECORRUPT, "the position of %s is damaged", split->id);
    }
    memcpy(&n->at[number], split->note.data, sizeof(n->at[0]));
    n->numbers = number + 1;
    return SR_OK;
}

static bool lines_turn(struct lines_reader *n)
{
    for (uint32_t i = 0; i < n->numbers; i++) {
        n->turn = (n->turn + 1) % n->numbers;
        if (!n->is_over[n->turn]) return true;
    }
    return false;
}

static uint8_t lines_byte(uint32_t split, uint32_t offset)
{
    char line[LINE_BYTES + 1];
    (void)snprintf(line, sizeof(line), "%04u line %04u\n", split % 10000u,
                   offset / LINE_BYTES % 10000u);
    return (uint8_t)line[offset % LINE_BYTES];
}

static enum sr_polled lines_poll(void *r, struct sr_poll *p, struct sr_error *err)
{
    struct lines_reader *n = r;
    if (!lines_turn(n)) {
        p->wait = (struct sr_wait){.fd = -1, .until_us = INT64_MAX};
        return SR_POLL_IDLE;
    }
    struct lines_note *at = &n->at[n->turn];
    uint32_t left = (uint32_t)n->conf->lines * LINE_BYTES - at->offset;
    p->split = n->turn;
    if (left == 0) {
        n->is_over[n->turn] = true;
        return SR_POLL_SPLIT_END;
    }
    n->host->buffer_release(n->chunk); /* the last poll's bytes are good until now */
    n->chunk = n->host->buffer_new(n->host, CHUNK_MAX);
    if (!n->chunk) {
        (void)n->host->fail(n->host, err, SR_ENOMEM, "out of memory");
        return SR_POLL_FAILED;
    }
    p->len = left < CHUNK_MAX ? left : CHUNK_MAX;
    for (uint32_t i = 0; i < p->len; i++) {
        n->chunk->data[i] = lines_byte(at->split, at->offset + i);
    }
    p->bytes = n->chunk->data;
    p->buffer = n->chunk;
    p->at_start = at->offset == 0;
    p->at_end = p->len == left;
    return SR_POLL_DATA;
}

static void lines_consume(void *r, uint32_t number, uint32_t used)
{
    ((struct lines_reader *)r)->at[number].offset += used;
}

static sr_rc lines_position(void *r, uint32_t number, struct sr_out *note, struct sr_error *err)
{
    struct lines_reader *n = r;
    uint8_t *to = sr_out_room(note, sizeof(n->at[0]));
    if (!to) return n->host->fail(n->host, err, SR_ENOMEM, "out of memory");
    memcpy(to, &n->at[number], sizeof(n->at[0]));
    note->len += sizeof(n->at[0]);
    return SR_OK;
}

static void lines_close(void *r)
{
    struct lines_reader *n = r;
    if (n->host) n->host->buffer_release(n->chunk);
}

static const struct sr_opt lines_opts[] = {
    SR_OPT(struct lines_conf, "splits", splits, .def = "4", .min = 1, .max = SPLITS_MAX,
           .doc = "Splits, each with its own lines."),
    SR_OPT(struct lines_conf, "lines", lines, .def = "100", .min = 1, .max = LINES_MAX,
           .doc = "Lines of a split."),
    SR_OPT_END};

static const struct sr_source_type lines_type = {
    .size = sizeof(struct sr_source_type),
    .name = "lines",
    .doc = "Numbered lines in splits.",
    .keeps = "the byte",
    .opts = lines_opts,
    .conf_size = sizeof(struct lines_conf),
    .discoverer_size = sizeof(struct lines_finder),
    .reader_size = sizeof(struct lines_reader),
    .check = lines_check,
    .discover_open = lines_discover_open,
    .known = lines_known,
    .discover = lines_discover,
    .discover_close = lines_discover_close,
    .open = lines_open,
    .add = lines_add,
    .poll = lines_poll,
    .consume = lines_consume,
    .position = lines_position,
    .close = lines_close,
};

static const struct sr_source_type *const lines_sources[] = {&lines_type, NULL};

SR_PLUGIN(lines) = {
    .abi_major = SR_ABI_MAJOR,
    .abi_minor = SR_ABI_MINOR,
    .name = "lines",
    .version = "1",
    .doc = "A source for tests.",
    .sources = lines_sources,
};
