/* Yardstick: the event generator alone, into arrays that nobody reads. nexmark_alone EVENTS
 * DEPTH */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/nexmark/generator.h"
#include "engine/data/host.h"

#define ROWS 1024u

struct columns {
    int64_t auction[ROWS], bidder[ROWS], price[ROWS], time[ROWS];
    uint32_t channel[ROWS];
    struct sr_span extra[ROWS];
};

int main(int argc, char **argv)
{
    int64_t events = argc > 1 ? strtoll(argv[1], NULL, 10) : 1000000;
    enum generator_depth depth = argc > 2 ? (enum generator_depth)atoi(argv[2]) : GENERATOR_ALL;
    struct env env = env_posix(SR_WARN);
    struct host_ctx ctx;
    struct sr_host host;
    struct sr_home *home = home_new();
    struct tables tables;
    struct sr_error err;
    host_init(&host, &ctx, &env, home, "bench");
    if (tables_open(&tables, &host, &err) != SR_OK) return 1;
    struct generator_conf conf = generator_conf_default();
    struct generator g;
    generator_init(&g, &conf, &tables);
    struct columns *c = calloc(1, sizeof(*c));
    int64_t rows = 0, sum = 0;
    uint32_t r = 0;
    for (int64_t i = 0; i < events; i++) {
        struct generator_place p = generator_at(&g, i);
        if (p.kind != GENERATOR_BID) continue;
        struct generator_bid bid;
        memset(&bid, 0, sizeof(bid));
        generator_bid(&g, &p, depth, &bid);
        c->auction[r] = bid.auction;
        c->bidder[r] = bid.bidder;
        c->price[r] = bid.price;
        c->time[r] = p.ms;
        c->channel[r] = bid.channel;
        c->extra[r] = bid.extra;
        rows++;
        if (++r == ROWS) {
            sum += c->auction[7] + c->price[9]; /* so that nothing is optimised away */
            r = 0;
        }
    }
    printf("%" PRId64 " rows, %" PRId64 "\n", rows, sum);
    free(c);
    tables_close(&tables, &host);
    home_close(home);
    return 0;
}
