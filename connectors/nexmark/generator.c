#include "connectors/nexmark/generator.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define GENERATOR_FIRST      1000 /* id of the first auction and person */
#define GENERATOR_PRIME      953  /* shuffles the events of a group */
#define GENERATOR_IN_FLIGHT  100  /* auctions that get bids */
#define GENERATOR_ACTIVE     1000 /* people that act */
#define GENERATOR_LEAD       10   /* ids ahead of the newest */
#define GENERATOR_HOT        100  /* ids that share a hot one */
#define GENERATOR_CATEGORY   10
#define GENERATOR_CATEGORIES 5

struct generator_conf generator_conf_default(void)
{
    return (struct generator_conf){.persons = 1,
                                   .auctions = 3,
                                   .bids = 46,
                                   .rate = 10000,
                                   .generators = 1,
                                   .first_id = 1,
                                   .group = 1,
                                   .person_size = 200,
                                   .auction_size = 500,
                                   .bid_size = 100,
                                   .hot_auctions = 2,
                                   .hot_bidders = 4,
                                   .hot_sellers = 4};
}

void generator_init(struct generator *g, const struct generator_conf *conf,
                    const struct tables *tables)
{
    g->conf = *conf;
    g->total = conf->persons + conf->auctions + conf->bids;
    g->step_us = 1000000.0 / (double)conf->rate * (double)conf->generators;
    g->seed_mix = random_mix64(conf->seed);
    g->tables = tables;
}

static int64_t generator_ms(const struct generator *g, int64_t adjusted)
{
    return GENERATOR_BASE_MS + (int64_t)((double)adjusted * g->step_us) / 1000;
}

struct generator_place generator_at(const struct generator *g, int64_t i)
{
    struct generator_place p;
    int64_t e = 1 + i, group = g->conf.group;
    p.adjusted = group == 1 ? e : e / group * group + e * GENERATOR_PRIME % group;
    p.id = g->conf.first_id + p.adjusted;
    p.epoch = p.id / g->total;
    p.offset = (uint32_t)(p.id - p.epoch * g->total);
    p.ms = generator_ms(g, p.adjusted);
    p.kind = p.offset < g->conf.persons                      ? GENERATOR_PERSON
             : p.offset < g->conf.persons + g->conf.auctions ? GENERATOR_AUCTION
                                                             : GENERATOR_BID;
    return p;
}

/* --- Ids ------------------------------------------------------------------------------------- */

static int64_t generator_last_person(const struct generator *g, const struct generator_place *p)
{
    uint32_t n = g->conf.persons;
    return p->epoch * n + (p->offset >= n ? n - 1 : p->offset);
}

static int64_t generator_last_auction(const struct generator *g, const struct generator_place *p)
{
    uint32_t persons = g->conf.persons, n = g->conf.auctions;
    if (p->offset < persons) return (p->epoch - 1) * n + n - 1;
    if (p->offset >= persons + n) return p->epoch * n + n - 1;
    return p->epoch * n + (p->offset - persons);
}

static int64_t generator_any_person(struct random *r, int64_t last)
{
    int64_t n = last + 1, active = n < GENERATOR_ACTIVE ? n : GENERATOR_ACTIVE;
    return n - active + random_long_below(r, active + GENERATOR_LEAD);
}

static int64_t generator_any_auction(struct random *r, int64_t last)
{
    int64_t low = last > GENERATOR_IN_FLIGHT ? last - GENERATOR_IN_FLIGHT : 0;
    return low + random_long_below(r, last - low + 1 + GENERATOR_LEAD);
}

/* --- Values ---------------------------------------------------------------------------------- */

static char generator_letter(struct random *r)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    return letters[random_below(r, 26)];
}

uint32_t generator_string(struct random *r, uint32_t max, char space, char *to)
{
    uint32_t len = 3 + random_below(r, max - 3), first = 0;
    for (uint32_t i = 0; i < len; i++) {
        if (random_below(r, 13) == 0) {
            to[i] = space;
        } else {
            to[i] = generator_letter(r);
        }
    }
    while (len > 0 && to[len - 1] == ' ') {
        len--;
    }
    while (first < len && to[first] == ' ') {
        first++;
    }
    memmove(to, to + first, len - first);
    return len - first;
}

/* Cents, from 100 to 100,000,000, evenly on a logarithmic scale. */
static int64_t generator_price(struct random *r)
{
    return (int64_t)floor(pow(10.0, random_unit(r) * 6.0) * 100.0 + 0.5);
}

static struct sr_span generator_extra(struct random *r, uint32_t have, uint32_t want)
{
    if (have > want) return (struct sr_span){0, 0};
    uint32_t w = want - have;
    uint32_t q = (uint32_t)floor((double)w * 0.2 + 0.5);
    uint32_t len = w - q + (q > 0 ? random_below(r, 2 * q) : 0);
    return (struct sr_span){random_below(r, TABLES_POOL - len), len};
}

static struct random generator_random(const struct generator *g, const struct generator_place *p)
{
    return (struct random){(uint64_t)p->id ^ g->seed_mix};
}

/* --- Events ---------------------------------------------------------------------------------- */

static void generator_email(struct random *r, struct generator_text *t)
{
    t->len = generator_string(r, 7, ' ', t->bytes);
    t->bytes[t->len++] = '@';
    t->len += generator_string(r, 5, ' ', t->bytes + t->len);
    memcpy(t->bytes + t->len, ".com", 4);
    t->len += 4;
}

static void generator_card(struct random *r, struct generator_text *t)
{
    uint32_t d[4];
    for (int i = 0; i < 4; i++) {
        d[i] = random_below(r, 10000);
    }
    t->len = (uint32_t)snprintf(t->bytes, sizeof(t->bytes), "%04u %04u %04u %04u", d[0], d[1], d[2],
                                d[3]);
}

void generator_person(const struct generator *g, const struct generator_place *p,
                      struct generator_person *out)
{
    static const char *const first[] = {"Peter", "Paul",  "Luke",  "John",   "Saul",  "Vicky",
                                        "Kate",  "Julie", "Sarah", "Deiter", "Walter"};
    static const char *const last[] = {"Shultz", "Abrams", "Spencer", "White", "Bartels",
                                       "Walton", "Smith",  "Jones",   "Noris"};
    static const char *const city[] = {"Phoenix",  "Los Angeles", "San Francisco", "Boise",
                                       "Portland", "Bend",        "Redmond",       "Seattle",
                                       "Kent",     "Cheyenne"};
    static const char *const state[] = {"AZ", "CA", "ID", "OR", "WA", "WY"};
    struct random r = generator_random(g, p);
    const char *f = first[random_below(&r, 11)];
    const char *l = last[random_below(&r, 9)];
    out->id = generator_last_person(g, p) + GENERATOR_FIRST;
    out->name.len = (uint32_t)snprintf(out->name.bytes, sizeof(out->name.bytes), "%s %s", f, l);
    generator_email(&r, &out->email);
    generator_card(&r, &out->card);
    out->city = city[random_below(&r, 10)];
    out->state = state[random_below(&r, 6)];
    uint32_t have = 8 + out->name.len + out->email.len + out->card.len +
                    (uint32_t)strlen(out->city) + (uint32_t)strlen(out->state);
    out->extra = generator_extra(&r, have, g->conf.person_size);
}

/* Until some event a third of the in-flight auctions ahead; events are evenly spaced. */
static int64_t generator_lifetime(const struct generator *g, struct random *r,
                                  const struct generator_place *p)
{
    int64_t ahead = (int64_t)GENERATOR_IN_FLIGHT * g->total / g->conf.auctions;
    int64_t horizon = generator_ms(g, p->adjusted + ahead) - p->ms;
    return 1 + random_long_below(r, horizon * 2 > 1 ? horizon * 2 : 1);
}

void generator_auction(const struct generator *g, const struct generator_place *p,
                       struct generator_auction *out)
{
    struct random r = generator_random(g, p);
    int64_t person = generator_last_person(g, p);
    bool is_hot = random_below(&r, g->conf.hot_sellers) > 0;
    out->seller = GENERATOR_FIRST + (is_hot ? person / GENERATOR_HOT * GENERATOR_HOT
                                            : generator_any_person(&r, person));
    out->category = GENERATOR_CATEGORY + random_below(&r, GENERATOR_CATEGORIES);
    out->initial_bid = generator_price(&r);
    out->expires_ms = p->ms + generator_lifetime(g, &r, p);
    out->name.len = generator_string(&r, 20, ' ', out->name.bytes);
    out->description.len = generator_string(&r, 100, ' ', out->description.bytes);
    out->reserve = out->initial_bid + generator_price(&r);
    out->extra =
        generator_extra(&r, 48 + out->name.len + out->description.len, g->conf.auction_size);
    out->id = generator_last_auction(g, p) + GENERATOR_FIRST;
}

void generator_bid(const struct generator *g, const struct generator_place *p,
                   enum generator_depth with, struct generator_bid *out)
{
    struct random r = generator_random(g, p);
    int64_t auction = generator_last_auction(g, p), person = generator_last_person(g, p);
    bool is_hot = random_below(&r, g->conf.hot_auctions) > 0;
    out->auction = GENERATOR_FIRST + (is_hot ? auction / GENERATOR_HOT * GENERATOR_HOT
                                             : generator_any_auction(&r, auction));
    is_hot = random_below(&r, g->conf.hot_bidders) > 0;
    /* Twice the first id: the suite adds it once more to bidders, and results depend on it. */
    out->bidder =
        INT64_C(2) * GENERATOR_FIRST +
        (is_hot ? person / GENERATOR_HOT * GENERATOR_HOT + 1 : generator_any_person(&r, person));
    if (with < GENERATOR_PRICE) return;
    out->price = generator_price(&r);
    if (with < GENERATOR_CHANNEL) return;
    out->channel = random_below(&r, 2) > 0 ? random_below(&r, TABLES_HOT)
                                           : TABLES_HOT + random_below(&r, TABLES_CHANNELS);
    if (with < GENERATOR_ALL) return;
    out->extra = generator_extra(&r, 32, g->conf.bid_size);
}
