/* The events of Nexmark, each from its number alone: any event can be made again, in any order.
 *
 * The draws follow the generator of the Nexmark suite for Flink; only its random numbers are seeded
 * by the event's id, so that positions can be gone back to and splits are independent.
 */
#ifndef NEXMARK_GENERATOR_H
#define NEXMARK_GENERATOR_H

#include <stddef.h>

#include "connectors/nexmark/random.h"
#include "connectors/nexmark/tables.h"

#define GENERATOR_BASE_MS  INT64_C(1436918400000) /* 2015-07-15T00:00:00Z */
#define GENERATOR_TEXT_MAX 128u

enum generator_kind { GENERATOR_PERSON, GENERATOR_AUCTION, GENERATOR_BID };

struct generator_conf {
    uint32_t persons, auctions, bids; /* proportions */
    int64_t rate;                     /* events a second of event time, all generators together */
    uint32_t generators;              /* that share the rate */
    int64_t first_id;                 /* F: id of event number 0 */
    int64_t group;                    /* events that are out of order among themselves; 1: none */
    uint64_t seed;
    uint32_t person_size, auction_size, bid_size; /* average bytes */
    uint32_t hot_auctions, hot_bidders, hot_sellers;
};

struct generator {
    struct generator_conf conf;
    uint32_t total; /* sum of the proportions */
    double step_us; /* between two events of one generator */
    uint64_t seed_mix;
    const struct tables *tables;
};

/* Where an event stands. */
struct generator_place {
    int64_t id, adjusted;
    int64_t epoch;   /* id / total */
    uint32_t offset; /* id % total */
    int64_t ms;
    enum generator_kind kind;
};

struct generator_text {
    uint32_t len;
    char bytes[GENERATOR_TEXT_MAX];
};

struct generator_person {
    int64_t id;
    struct generator_text name, email, card;
    const char *city, *state;
    struct sr_span extra; /* in the pool */
};

struct generator_auction {
    int64_t id, initial_bid, reserve, expires_ms, seller, category;
    struct generator_text name, description;
    struct sr_span extra;
};

struct generator_bid {
    int64_t auction, bidder, price;
    uint32_t channel; /* index of the tables' url and name */
    struct sr_span extra;
};

struct generator_conf generator_conf_default(void);
void generator_init(struct generator *g, const struct generator_conf *conf,
                    const struct tables *tables);
struct generator_place generator_at(const struct generator *g, int64_t i);
void generator_person(const struct generator *g, const struct generator_place *p,
                      struct generator_person *out);
void generator_auction(const struct generator *g, const struct generator_place *p,
                       struct generator_auction *out);
/* `with` says how far the draws must go: a column that nobody reads is not made. */
enum generator_depth { GENERATOR_IDS, GENERATOR_PRICE, GENERATOR_CHANNEL, GENERATOR_ALL };
void generator_bid(const struct generator *g, const struct generator_place *p,
                   enum generator_depth with, struct generator_bid *out);
/* A word of 3 to max - 1 letters, `space` instead of one in 13; without blanks at its ends. */
uint32_t generator_string(struct random *r, uint32_t max, char space, char *to);

#endif
