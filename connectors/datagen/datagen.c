/* datagen: made-up rows, with Flink's options; positions are numbers of rows.
 *
 * Split k of n has the rows whose number leaves k when divided by n, so that a sequence is in order
 * where one subtask reads, and complete whatever the splits are. n is that of the first run: a
 * restored job brings its splits, with another parallelism too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <streamrun/plugin.h>

#include "connectors/common/list.h"
#include "connectors/common/note.h"
#include "connectors/datagen/datagen_value.h"

#define DATAGEN_NOTE_VERSION 1u
#define DATAGEN_TICK_US      10000 /* rows are due in lots of this, where the rate is high */

struct datagen_split {
    uint32_t number, splits;
    uint64_t next; /* row of the split that comes next */
    bool is_ended; /* its end was told */
    uint64_t made; /* since this reader began */
};

struct datagen_reader {
    const struct sr_host *host;
    const struct datagen_conf *conf;
    uint32_t fields;
    struct datagen_field *field;
    int64_t rows; /* of all splits */
    struct datagen_split *split;
    uint32_t splits, capacity, turn;
    int64_t began_us; /* monotonic; 0: not yet */
};

struct datagen_finder {
    uint32_t readers;
    bool has_known;
};

/* clang-format off */
static const struct sr_opt datagen_opts[] = {
    SR_OPT(struct datagen_conf, "rows-per-second", rows_per_second, .def = "10000", .min = 1, .max = 1000000000,
           .doc = "How many rows a second are made, by all subtasks together."),
    SR_OPT(struct datagen_conf, "number-of-rows", rows, .def = "0", .min = 0, .max = INT64_MAX,
           .doc = "How many rows there are in all; 0: without end, unless a sequence ends."),
    SR_OPT(struct datagen_conf, "fields.", fields,
           .doc = "How the values of a column are made: fields.NAME.kind (random or sequence), .min, .max, .max-past, .length "
                  "(of texts, and how many elements ARRAY, MAP and MULTISET have), .var-len, .null-rate; of a sequence .start "
                  "and .end. What is inside a column: fields.NAME.element.min, .key.min, .value.min, and of a ROW the names of its "
                  "fields."),
    SR_OPT(struct datagen_conf, "seed", seed, .def = "0", .flags = SR_OPT_OURS,
           .doc = "Other random values of the same kind; the same ones at each run with the same seed."),
    SR_OPT_END};
/* clang-format on */

static sr_rc datagen_no_memory(struct sr_error *err)
{
    err->rc = SR_ENOMEM;
    (void)snprintf(err->words, sizeof(err->words), "out of memory");
    return SR_ENOMEM;
}

static sr_rc datagen_check(const void *conf, const struct sr_schema *schema,
                           struct sr_source_caps *caps, struct sr_error *err)
{
    struct datagen_field *field = NULL;
    int64_t rows = 0;
    sr_rc rc = datagen_fields(conf, schema, &field, &rows, err);
    free(field);
    *caps = (struct sr_source_caps){
        .is_bounded = rows < INT64_MAX, .can_rewind = true, .makes_rows = true};
    return rc;
}

/* --- Splits ---------------------------------------------------------------------------------- */

static sr_rc datagen_save(const struct datagen_split *s, struct sr_out *note)
{
    bool is_put = note_put_u8(note, DATAGEN_NOTE_VERSION) && note_put_u32(note, s->number) &&
                  note_put_u32(note, s->splits) && note_put_u64(note, s->next);
    return is_put ? SR_OK : SR_ENOMEM;
}

static sr_rc datagen_load(struct datagen_split *s, struct sr_bytes note)
{
    struct note_in in = note_in(note);
    uint8_t version = note_get_u8(&in);
    *s = (struct datagen_split){.number = note_get_u32(&in)};
    s->splits = note_get_u32(&in);
    s->next = note_get_u64(&in);
    bool is_sound = s->number < s->splits && s->next <= INT64_MAX;
    return version == DATAGEN_NOTE_VERSION && note_is_done(&in) && is_sound ? SR_OK : SR_ECORRUPT;
}

static sr_rc datagen_discover_open(void *finder, const struct sr_source_open *o,
                                   struct sr_error *err)
{
    (void)err;
    struct datagen_finder *f = finder;
    f->readers = o->parts > 0 ? o->parts : 1;
    return SR_OK;
}

static void datagen_known(void *finder, const struct sr_split *split)
{
    (void)split;
    ((struct datagen_finder *)finder)->has_known = true;
}

static enum sr_discovered datagen_discover(void *finder, struct sr_splits *out,
                                           struct sr_wait *wait, struct sr_error *err)
{
    (void)wait;
    struct datagen_finder *f = finder;
    for (uint32_t k = 0; !f->has_known && k < f->readers; k++) {
        struct datagen_split s = {.number = k, .splits = f->readers};
        struct sr_out note = note_out();
        char id[32];
        (void)snprintf(id, sizeof(id), "rows-%05u", k);
        sr_rc rc = datagen_save(&s, &note);
        if (rc == SR_OK) {
            struct sr_split split = {.id = id, .note = {note.data, (uint32_t)note.len}, .order = k};
            rc = out->add(out, &split);
        }
        note_free(&note);
        if (rc != SR_OK) {
            err->rc = rc;
            (void)snprintf(err->words, sizeof(err->words), "cannot name split %s", id);
            return SR_DISCOVER_FAILED;
        }
    }
    return SR_DISCOVERED_ALL;
}

static void datagen_discover_close(void *finder) { (void)finder; /* holds nothing */ }

/* --- Reading --------------------------------------------------------------------------------- */

static sr_rc datagen_open(void *reader, const struct sr_source_open *o, struct sr_error *err)
{
    struct datagen_reader *r = reader;
    r->host = o->host;
    r->conf = o->conf;
    r->fields = o->schema->fields;
    return datagen_fields(r->conf, o->schema, &r->field, &r->rows, err);
}

static sr_rc datagen_add(void *reader, uint32_t number, const struct sr_split *split,
                         struct sr_error *err)
{
    struct datagen_reader *r = reader;
    void *moved = list_room(r->split, r->splits, &r->capacity, sizeof(*r->split));
    if (!moved) {
        return datagen_no_memory(err);
    }
    r->split = moved;
    if (number != r->splits || datagen_load(&r->split[number], split->note) != SR_OK) {
        return r->host->fail(r->host, err, SR_ECORRUPT, "the saved position of %s is damaged",
                             split->id);
    }
    r->splits++;
    return SR_OK;
}

/* The next split that has not told its end, in turn. */
static bool datagen_turn(struct datagen_reader *r)
{
    for (uint32_t k = 0; k < r->splits; k++) {
        r->turn = (r->turn + 1) % r->splits;
        if (!r->split[r->turn].is_ended) {
            return true;
        }
    }
    return false;
}

/* Rows that the split still has. */
static uint64_t datagen_left(const struct datagen_reader *r, const struct datagen_split *s)
{
    uint64_t rows = (uint64_t)r->rows;
    uint64_t all = rows > s->number ? (rows - s->number - 1) / s->splits + 1 : 0;
    return all > s->next ? all - s->next : 0;
}

/* Rows that are due now by the rate, of this split's share; none: *until_us says when some are. */
static uint64_t datagen_due(struct datagen_reader *r, const struct datagen_split *s,
                            int64_t *until_us)
{
    int64_t now_us = r->host->mono_us(r->host);
    r->began_us = r->began_us > 0 ? r->began_us : now_us - DATAGEN_TICK_US;
    double rate = (double)r->conf->rows_per_second / s->splits;
    double due = (double)(now_us - r->began_us) / 1e6 * rate;
    if (due >= (double)s->made + 1) {
        return (uint64_t)due - s->made;
    }
    int64_t next_us = r->began_us + (int64_t)((double)(s->made + 1) / rate * 1e6) + 1;
    int64_t tick_us = now_us + DATAGEN_TICK_US;
    *until_us = next_us > tick_us ? next_us : tick_us;
    return 0;
}

static void datagen_fill(struct datagen_reader *r, struct datagen_split *s, uint64_t count,
                         struct sr_builder *b)
{
    int64_t now_us = r->host->wall_us(r->host);
    uint64_t bytes = 0;
    for (; count > 0 && !sr_builder_is_full(b) && bytes < SR_BATCH_BYTES; count--) {
        uint64_t row = s->next * s->splits + s->number;
        for (uint32_t c = 0; c < r->fields; c++) {
            if (b->wanted[c]) {
                bytes += datagen_put(&r->field[c], b, c, row, now_us);
            }
        }
        sr_row_done(b);
        s->next++;
        s->made++;
    }
}

static enum sr_polled datagen_poll(void *reader, struct sr_poll *p, struct sr_error *err)
{
    (void)err;
    struct datagen_reader *r = reader;
    p->wait = (struct sr_wait){.fd = -1, .until_us = INT64_MAX};
    for (uint32_t k = 0; k < r->splits && datagen_turn(r); k++) {
        struct datagen_split *s = &r->split[r->turn];
        uint64_t left = datagen_left(r, s);
        p->split = r->turn;
        if (left == 0) {
            s->is_ended = true;
            return SR_POLL_SPLIT_END;
        }
        int64_t until_us = INT64_MAX;
        uint64_t due = datagen_due(r, s, &until_us);
        if (due > 0) {
            datagen_fill(r, s, due < left ? due : left, p->rows);
            return SR_POLL_DATA;
        }
        p->wait.until_us = until_us < p->wait.until_us ? until_us : p->wait.until_us;
    }
    return SR_POLL_IDLE;
}

static void datagen_consume(void *reader, uint32_t number, uint32_t used)
{
    (void)reader, (void)number, (void)used; /* whole polls: `next` has moved on already */
}

static sr_rc datagen_position(void *reader, uint32_t number, struct sr_out *note,
                              struct sr_error *err)
{
    struct datagen_reader *r = reader;
    return datagen_save(&r->split[number], note) == SR_OK ? SR_OK : datagen_no_memory(err);
}

static void datagen_close(void *reader)
{
    struct datagen_reader *r = reader;
    free(r->field);
    free(r->split);
    *r = (struct datagen_reader){0};
}

static const struct sr_source_type datagen_source = {
    .size = sizeof(struct sr_source_type),
    .name = "datagen",
    .doc = "Made-up rows, random or in sequence, at a given rate.",
    .keeps = "the row",
    .opts = datagen_opts,
    .conf_size = sizeof(struct datagen_conf),
    .discoverer_size = sizeof(struct datagen_finder),
    .reader_size = sizeof(struct datagen_reader),
    .check = datagen_check,
    .discover_open = datagen_discover_open,
    .known = datagen_known,
    .discover = datagen_discover,
    .discover_close = datagen_discover_close,
    .open = datagen_open,
    .add = datagen_add,
    .poll = datagen_poll,
    .consume = datagen_consume,
    .position = datagen_position,
    .close = datagen_close};

static const struct sr_source_type *const datagen_sources[] = {&datagen_source, NULL};

SR_PLUGIN(datagen) = {.abi_major = SR_ABI_MAJOR,
                      .abi_minor = SR_ABI_MINOR,
                      .name = "datagen",
                      .version = "0.1.0",
                      .doc = "Made-up rows for trying jobs out.",
                      .sources = datagen_sources};
