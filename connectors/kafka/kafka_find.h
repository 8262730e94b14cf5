/* Finds partitions, now and later: the discoverer of a kafka source. */
#ifndef CONNECTORS_KAFKA_KAFKA_FIND_H
#define CONNECTORS_KAFKA_KAFKA_FIND_H

#include "connectors/kafka/kafka_look.h"
#include "connectors/kafka/pattern.h"

struct kafka_find_known {
    char *topic; /* owned */
    int32_t partition;
};

/* A split of a checkpoint, until the first discovery. */
struct kafka_find_old {
    struct kafka_note note;
    uint32_t number;
    bool is_finished;
};

struct kafka_find {
    const struct sr_host *host;
    const struct kafka_source_conf *conf;
    struct client client;
    struct kafka_look look;
    struct pattern *pattern; /* NULL: none */
    struct kafka_find_known *known;
    uint32_t knowns, known_room;
    struct kafka_find_old *old;
    uint32_t olds, old_room;
    sr_rc old_rc; /* a note could not be read */
    bool goes_on;
    bool has_found;  /* a look is done, or there were some in a checkpoint */
    int64_t next_us; /* when to look again */
};

sr_rc kafka_find_open(void *find, const struct sr_source_open *o, struct sr_error *err);
void kafka_find_restored(void *find, uint32_t number, const struct sr_split *split,
                         bool is_finished);
enum sr_discovered kafka_find_discover(void *find, struct sr_splits *out, struct sr_wait *wait,
                                       struct sr_error *err);
void kafka_find_close(void *find);

#endif
