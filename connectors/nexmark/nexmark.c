/* nexmark: the benchmark's events as a source; positions are event numbers.
 *
 * One of the suite's three tables a source (`nexmark.table`), straight into columns. A split is one
 * generator; its note holds the next event number.
 */
#include <stdio.h>
#include <string.h>

#include <streamrun/plugin.h>

#include "connectors/common/note.h"
#include "connectors/nexmark/generator.h"

#define NEXMARK_SPLITS_MAX   1024u
#define NEXMARK_NOTE_VERSION 1u

struct nexmark_conf {
    int64_t events; /* 0: without end */
    int64_t rate;
    int64_t generators; /* 0: as many as readers */
    sr_choice table;
    int64_t seed;
    int64_t persons, auctions, bids;
    int64_t person_size, auction_size, bid_size;
    int64_t hot_auctions, hot_bidders, hot_sellers;
};

enum nexmark_table { NEXMARK_BID, NEXMARK_AUCTION, NEXMARK_PERSON };

/* What a split's note holds. */
struct nexmark_split {
    uint32_t generator, generators;
    int64_t count; /* events of this generator; INT64_MAX: without end */
    int64_t next;  /* event that comes next */
    int64_t first_id;
};

struct nexmark_reader {
    const struct sr_host *host;
    const struct nexmark_conf *conf;
    struct tables tables;
    uint32_t splits;
    uint32_t turn; /* the split that is read */
    struct nexmark_split split[NEXMARK_SPLITS_MAX];
    struct generator generator[NEXMARK_SPLITS_MAX];
    bool is_ended[NEXMARK_SPLITS_MAX]; /* its end was told */
};

struct nexmark_discoverer {
    const struct sr_host *host;
    const struct nexmark_conf *conf;
    uint32_t readers;
    uint32_t known; /* splits that a restored job brought */
};

/* clang-format off */
static const char *const nexmark_tables[] = {"bid", "auction", "person", NULL};

static const struct sr_opt nexmark_opts[] = {
    SR_OPT(struct nexmark_conf, "nexmark.table", table, .def = "bid", .choices = nexmark_tables, .flags = SR_OPT_OURS,
           .doc = "Which of the suite's tables the source is; events of the other two are skipped, but counted in events.num."),
    SR_OPT(struct nexmark_conf, "events.num", events, .def = "0", .min = 0, .max = INT64_MAX,
           .doc = "Events of all tables together; 0: without end."),
    SR_OPT(struct nexmark_conf, "first-event.rate", rate, .def = "10000", .min = 1, .max = 1000000000,
           .doc = "Events a second of event time; the source itself runs as fast as it can."),
    SR_OPT(struct nexmark_conf, "generators", generators, .def = "1", .min = 1, .max = NEXMARK_SPLITS_MAX, .flags = SR_OPT_OURS,
           .doc = "Splits that share the events, each with a timeline of its own."),
    SR_OPT(struct nexmark_conf, "seed", seed, .def = "0", .flags = SR_OPT_OURS,
           .doc = "Other events of the same kind; 0 gives the ones with published checksums."),
    SR_OPT(struct nexmark_conf, "person.proportion", persons, .def = "1", .min = 1, .max = 1000000,
           .doc = "People in so many events as the three proportions add up to."),
    SR_OPT(struct nexmark_conf, "auction.proportion", auctions, .def = "3", .min = 1, .max = 1000000, .doc = "Auctions among them."),
    SR_OPT(struct nexmark_conf, "bid.proportion", bids, .def = "46", .min = 1, .max = 1000000, .doc = "Bids among them."),
    SR_OPT(struct nexmark_conf, "person.avg-size", person_size, .def = "200", .min = 1, .max = 500000, .doc = "Average bytes of a person."),
    SR_OPT(struct nexmark_conf, "auction.avg-size", auction_size, .def = "500", .min = 1, .max = 500000, .doc = "Average bytes of an auction."),
    SR_OPT(struct nexmark_conf, "bid.avg-size", bid_size, .def = "100", .min = 1, .max = 500000, .doc = "Average bytes of a bid."),
    SR_OPT(struct nexmark_conf, "bid.hot-ratio.auctions", hot_auctions, .def = "2", .min = 1, .max = 1000000,
           .doc = "All but one in so many bids go to a hot auction."),
    SR_OPT(struct nexmark_conf, "bid.hot-ratio.bidders", hot_bidders, .def = "4", .min = 1, .max = 1000000,
           .doc = "All but one in so many bids come from a hot bidder."),
    SR_OPT(struct nexmark_conf, "auction.hot-ratio.sellers", hot_sellers, .def = "4", .min = 1, .max = 1000000,
           .doc = "All but one in so many auctions come from a hot seller."),
    SR_OPT_END};

#define NEXMARK_STRING {SR_VARCHAR, true, SR_LENGTH_MAX, 0, 0, NULL, NULL}
#define NEXMARK_BIGINT {SR_BIGINT, true, 0, 0, 0, NULL, NULL}
#define NEXMARK_TIME   {SR_TIMESTAMP, true, 3, 0, 0, NULL, NULL}

static const struct sr_field nexmark_bid_fields[] = {
    {"auction", NEXMARK_BIGINT}, {"bidder", NEXMARK_BIGINT}, {"price", NEXMARK_BIGINT}, {"channel", NEXMARK_STRING},
    {"url", NEXMARK_STRING}, {"dateTime", NEXMARK_TIME}, {"extra", NEXMARK_STRING}};
static const struct sr_field nexmark_auction_fields[] = {
    {"id", NEXMARK_BIGINT}, {"itemName", NEXMARK_STRING}, {"description", NEXMARK_STRING}, {"initialBid", NEXMARK_BIGINT},
    {"reserve", NEXMARK_BIGINT}, {"dateTime", NEXMARK_TIME}, {"expires", NEXMARK_TIME}, {"seller", NEXMARK_BIGINT},
    {"category", NEXMARK_BIGINT}, {"extra", NEXMARK_STRING}};
static const struct sr_field nexmark_person_fields[] = {
    {"id", NEXMARK_BIGINT}, {"name", NEXMARK_STRING}, {"emailAddress", NEXMARK_STRING}, {"creditCard", NEXMARK_STRING},
    {"city", NEXMARK_STRING}, {"state", NEXMARK_STRING}, {"dateTime", NEXMARK_TIME}, {"extra", NEXMARK_STRING}};

static const struct sr_schema nexmark_schemas[] = {
    {7, nexmark_bid_fields, -1, 0, NULL}, {10, nexmark_auction_fields, -1, 0, NULL}, {8, nexmark_person_fields, -1, 0, NULL}};
/* clang-format on */

static const struct sr_schema *nexmark_schema(const void *conf)
{
    const struct nexmark_conf *c = conf;
    return &nexmark_schemas[c->table.index];
}

static sr_rc nexmark_fail(struct sr_error *err, sr_rc rc, const char *words, const char *what)
{
    if (err) {
        err->rc = rc;
        (void)snprintf(err->words, sizeof(err->words), "%s%s", words, what);
    }
    return rc;
}

static sr_rc nexmark_check(const void *conf, const struct sr_schema *schema,
                           struct sr_source_caps *caps, struct sr_error *err)
{
    const struct nexmark_conf *c = conf;
    const struct sr_schema *own = nexmark_schema(conf);
    for (uint32_t i = 0; i < own->fields; i++) {
        if (i >= schema->fields || strcmp(schema->field[i].name, own->field[i].name) != 0 ||
            schema->field[i].type.kind != own->field[i].type.kind) {
            return nexmark_fail(
                err, SR_ECONFIG,
                "the schema of nexmark is given; leave it out, or begin it with its "
                "columns as they are, here ",
                own->field[i].name);
        }
    }
    if (schema->fields != own->fields) {
        return nexmark_fail(err, SR_ECONFIG, "nexmark has no column ",
                            schema->field[own->fields].name);
    }
    *caps = (struct sr_source_caps){.is_bounded = c->events > 0,
                                    .can_rewind = true,
                                    .makes_rows = true,
                                    .parts_max = (uint32_t)c->generators};
    return SR_OK;
}

/* --- Splits ---------------------------------------------------------------------------------- */

static sr_rc nexmark_discover_open(void *d, const struct sr_source_open *o, struct sr_error *err)
{
    struct nexmark_discoverer *n = d;
    (void)err;
    *n = (struct nexmark_discoverer){.host = o->host, .conf = o->conf, .readers = o->parts};
    return SR_OK;
}

static void nexmark_known(void *d, const struct sr_split *split)
{
    struct nexmark_discoverer *n = d;
    (void)split;
    n->known++;
}

static sr_rc nexmark_save(const struct nexmark_split *s, struct sr_out *note)
{
    bool is_put = note_put_u8(note, NEXMARK_NOTE_VERSION) && note_put_u32(note, s->generator) &&
                  note_put_u32(note, s->generators) && note_put_u64(note, (uint64_t)s->count) &&
                  note_put_u64(note, (uint64_t)s->next) &&
                  note_put_u64(note, (uint64_t)s->first_id);
    return is_put ? SR_OK : SR_ENOMEM;
}

/* SR_ECORRUPT for what is no such note. */
static sr_rc nexmark_load(struct nexmark_split *s, struct sr_bytes note)
{
    struct note_in in = note_in(note);
    uint8_t version = note_get_u8(&in);
    s->generator = note_get_u32(&in);
    s->generators = note_get_u32(&in);
    s->count = (int64_t)note_get_u64(&in);
    s->next = (int64_t)note_get_u64(&in);
    s->first_id = (int64_t)note_get_u64(&in);
    bool is_sound = s->generator < s->generators && s->count >= 0 && s->next >= 0;
    return version == NEXMARK_NOTE_VERSION && note_is_done(&in) && is_sound ? SR_OK : SR_ECORRUPT;
}

/* Tells the engine of one split. */
static sr_rc nexmark_name(const struct nexmark_split *s, struct sr_splits *out,
                          struct sr_error *err)
{
    char id[32];
    (void)snprintf(id, sizeof(id), "generator-%05u", s->generator);
    struct sr_out note = note_out();
    sr_rc rc = nexmark_save(s, &note);
    if (rc == SR_OK) {
        struct sr_split split = {
            .id = id, .note = {note.data, (uint32_t)note.len}, .order = s->generator};
        rc = out->add(out, &split);
    }
    note_free(&note);
    return rc == SR_OK ? rc : nexmark_fail(err, rc, "cannot name a split: ", id);
}

static enum sr_discovered nexmark_discover(void *d, struct sr_splits *out, struct sr_wait *wait,
                                           struct sr_error *err)
{
    struct nexmark_discoverer *n = d;
    (void)wait;
    uint32_t g = (uint32_t)n->conf->generators;
    /* A restored job brings all its splits: the number of generators belongs to the events. */
    for (uint32_t k = n->known > 0 ? g : 0; k < g; k++) {
        int64_t share = n->conf->events / g;
        bool is_last = k + 1 == g;
        struct nexmark_split s = {.generator = k, .generators = g, .first_id = 1 + k * share};
        s.count = n->conf->events == 0 ? INT64_MAX
                  : is_last            ? n->conf->events - share * (g - 1)
                                       : share;
        if (nexmark_name(&s, out, err) != SR_OK) {
            return SR_DISCOVER_FAILED;
        }
    }
    return SR_DISCOVERED_ALL;
}

static void nexmark_discover_close(void *d) { (void)d; /* holds nothing */ }

/* --- Reading --------------------------------------------------------------------------------- */

static sr_rc nexmark_open(void *r, const struct sr_source_open *o, struct sr_error *err)
{
    struct nexmark_reader *n = r;
    n->host = o->host;
    n->conf = o->conf;
    return tables_open(&n->tables, o->host, err);
}

static struct generator_conf nexmark_generator_conf(const struct nexmark_conf *c,
                                                    const struct nexmark_split *s)
{
    struct generator_conf g = generator_conf_default();
    g.persons = (uint32_t)c->persons;
    g.auctions = (uint32_t)c->auctions;
    g.bids = (uint32_t)c->bids;
    g.rate = c->rate;
    g.generators = s->generators;
    g.first_id = s->first_id;
    g.seed = (uint64_t)c->seed;
    g.person_size = (uint32_t)c->person_size;
    g.auction_size = (uint32_t)c->auction_size;
    g.bid_size = (uint32_t)c->bid_size;
    g.hot_auctions = (uint32_t)c->hot_auctions;
    g.hot_bidders = (uint32_t)c->hot_bidders;
    g.hot_sellers = (uint32_t)c->hot_sellers;
    return g;
}

static sr_rc nexmark_add(void *r, uint32_t number, const struct sr_split *split,
                         struct sr_error *err)
{
    struct nexmark_reader *n = r;
    if (number >= NEXMARK_SPLITS_MAX || number != n->splits) {
        return nexmark_fail(err, SR_ELIMIT, "too many generators: ", split->id);
    }
    struct nexmark_split *s = &n->split[number];
    if (nexmark_load(s, split->note) != SR_OK) {
        return nexmark_fail(err, SR_ECORRUPT, "the saved position is damaged: ", split->id);
    }
    struct generator_conf conf = nexmark_generator_conf(n->conf, s);
    generator_init(&n->generator[number], &conf, &n->tables);
    n->splits++;
    return SR_OK;
}

static void nexmark_put(struct sr_builder *b, uint32_t c, const struct generator_text *t)
{
    sr_put_bytes(b, c, t->bytes, t->len);
}

static void nexmark_put_word(struct sr_builder *b, uint32_t c, const char *word)
{
    sr_put_bytes(b, c, word, (uint32_t)strlen(word));
}

static enum generator_depth nexmark_depth(const bool *wanted)
{
    return wanted[6]                ? GENERATOR_ALL
           : wanted[3] || wanted[4] ? GENERATOR_CHANNEL
           : wanted[2]              ? GENERATOR_PRICE
                                    : GENERATOR_IDS;
}

/* Bids make up nearly all events: their columns are written without a detour. */
static int64_t nexmark_bids(const struct nexmark_reader *n, const struct generator *g, int64_t i,
                            int64_t end, struct sr_builder *b)
{
    const bool *wanted = b->wanted;
    enum generator_depth depth = nexmark_depth(wanted);
    if (b->rows == 0) {
        n->host->builder_use(b, 3, n->tables.names);
        n->host->builder_use(b, 4, n->tables.urls);
        n->host->builder_use(b, 6, n->tables.pool);
    }
    int64_t *auction = b->col[0]->values, *bidder = b->col[1]->values, *price = b->col[2]->values;
    struct sr_span *channel = b->col[3]->values, *url = b->col[4]->values;
    int64_t *time = b->col[5]->values;
    struct sr_span *extra = b->col[6]->values;
    uint32_t r = b->rows;
    for (; i < end && r < b->rows_max; i++) {
        struct generator_place p = generator_at(g, i);
        if (p.kind != GENERATOR_BID) continue;
        struct generator_bid bid;
        generator_bid(g, &p, depth, &bid);
        auction[r] = bid.auction;
        bidder[r] = bid.bidder;
        time[r] = p.ms * 1000;
        if (depth >= GENERATOR_PRICE) price[r] = bid.price;
        if (depth >= GENERATOR_CHANNEL) {
            channel[r] = n->tables.name[bid.channel];
            url[r] = n->tables.url[bid.channel];
        }
        if (depth >= GENERATOR_ALL) extra[r] = bid.extra;
        r++;
    }
    b->rows = r;
    return i;
}

static void nexmark_auction(const struct generator *g, const struct generator_place *p,
                            struct sr_builder *b)
{
    struct generator_auction a;
    generator_auction(g, p, &a);
    sr_put_i64(b, 0, a.id);
    nexmark_put(b, 1, &a.name);
    nexmark_put(b, 2, &a.description);
    sr_put_i64(b, 3, a.initial_bid);
    sr_put_i64(b, 4, a.reserve);
    sr_put_i64(b, 5, p->ms * 1000);
    sr_put_i64(b, 6, a.expires_ms * 1000);
    sr_put_i64(b, 7, a.seller);
    sr_put_i64(b, 8, a.category);
    sr_put_span(b, 9, a.extra.at, a.extra.len);
    sr_row_done(b);
}

static void nexmark_person(const struct generator *g, const struct generator_place *p,
                           struct sr_builder *b)
{
    struct generator_person e;
    generator_person(g, p, &e);
    sr_put_i64(b, 0, e.id);
    nexmark_put(b, 1, &e.name);
    nexmark_put(b, 2, &e.email);
    nexmark_put(b, 3, &e.card);
    nexmark_put_word(b, 4, e.city);
    nexmark_put_word(b, 5, e.state);
    sr_put_i64(b, 6, p->ms * 1000);
    sr_put_span(b, 7, e.extra.at, e.extra.len);
    sr_row_done(b);
}

static int64_t nexmark_rare(const struct nexmark_reader *n, const struct generator *g, int64_t i,
                            int64_t end, struct sr_builder *b)
{
    bool is_person = n->conf->table.index == NEXMARK_PERSON;
    enum generator_kind kind = is_person ? GENERATOR_PERSON : GENERATOR_AUCTION;
    if (b->rows == 0) n->host->builder_use(b, is_person ? 7 : 9, n->tables.pool);
    for (; i < end && !sr_builder_is_full(b); i++) {
        struct generator_place p = generator_at(g, i);
        if (p.kind != kind) continue;
        if (is_person) {
            nexmark_person(g, &p, b);
        } else {
            nexmark_auction(g, &p, b);
        }
    }
    return i;
}

/* The next split that has not told its end, in turn. */
static bool nexmark_turn(struct nexmark_reader *n)
{
    for (uint32_t k = 0; k < n->splits; k++) {
        n->turn = (n->turn + 1) % n->splits;
        if (!n->is_ended[n->turn]) return true;
    }
    return false;
}

static enum sr_polled nexmark_poll(void *r, struct sr_poll *p, struct sr_error *err)
{
    struct nexmark_reader *n = r;
    (void)err;
    if (!nexmark_turn(n)) {
        p->wait = (struct sr_wait){.fd = -1, .until_us = INT64_MAX};
        return SR_POLL_IDLE;
    }
    struct nexmark_split *s = &n->split[n->turn];
    p->split = n->turn;
    if (s->next >= s->count) {
        n->is_ended[n->turn] = true;
        return SR_POLL_SPLIT_END;
    }
    const struct generator *g = &n->generator[n->turn];
    s->next = n->conf->table.index == NEXMARK_BID ? nexmark_bids(n, g, s->next, s->count, p->rows)
                                                  : nexmark_rare(n, g, s->next, s->count, p->rows);
    return SR_POLL_DATA;
}

static void nexmark_consume(void *r, uint32_t number, uint32_t used)
{
    (void)r, (void)number, (void)used; /* whole polls: `next` has moved on already */
}

static sr_rc nexmark_position(void *r, uint32_t number, struct sr_out *note, struct sr_error *err)
{
    struct nexmark_reader *n = r;
    sr_rc rc = nexmark_save(&n->split[number], note);
    return rc == SR_OK ? rc : nexmark_fail(err, rc, "out of memory for a position", "");
}

static void nexmark_close(void *r)
{
    struct nexmark_reader *n = r;
    if (n->host) tables_close(&n->tables, n->host);
}

static const struct sr_source_type nexmark_source = {
    .size = sizeof(struct sr_source_type),
    .name = "nexmark",
    .doc = "The events of the Nexmark benchmark, made in place; the same ones every time.",
    .keeps = "the event",
    .opts = nexmark_opts,
    .conf_size = sizeof(struct nexmark_conf),
    .discoverer_size = sizeof(struct nexmark_discoverer),
    .reader_size = sizeof(struct nexmark_reader),
    .schema = nexmark_schema,
    .check = nexmark_check,
    .discover_open = nexmark_discover_open,
    .known = nexmark_known,
    .discover = nexmark_discover,
    .discover_close = nexmark_discover_close,
    .open = nexmark_open,
    .add = nexmark_add,
    .poll = nexmark_poll,
    .consume = nexmark_consume,
    .position = nexmark_position,
    .close = nexmark_close};

static const struct sr_source_type *const nexmark_sources[] = {&nexmark_source, NULL};

SR_PLUGIN(nexmark) = {.abi_major = SR_ABI_MAJOR,
                      .abi_minor = SR_ABI_MINOR,
                      .name = "nexmark",
                      .version = "0.1.0",
                      .doc = "The Nexmark benchmark's event generator.",
                      .sources = nexmark_sources};
