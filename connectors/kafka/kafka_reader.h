/* Reads partitions, each from its own position. librdkafka fetches ahead on its own threads; a
 * poll takes what is there of one partition after the other, and copies it once, into a buffer that
 * text columns may go on referring to.
 *
 *                 add: the last row is known             add: it is not
 *                          |                                   |
 *                          v                                   |
 *              CHECKING (reads that row again)                 |
 *   it is there, or was cleaned away |   | another one, or     |
 *                                    v   v it is out of range  v
 *                                READING     kafka_part_lost <-- READING ... ENDED
 *                                   ^               |           (next >= stop)
 *                                   |               v
 *                 kafka_part_answered (or fails) ASKING what the broker has (kafka_ask)
 */
#ifndef CONNECTORS_KAFKA_KAFKA_READER_H
#define CONNECTORS_KAFKA_KAFKA_READER_H

#include "connectors/kafka/kafka_ask.h"
#include "connectors/kafka/kafka_known.h"
#include "connectors/kafka/kafka_source.h"

/* What librdkafka may fetch ahead of a partition, in KiB: as much, as long as what all partitions
 * of the source have is no more than KAFKA_AHEAD_MAX; never less than the least. */
#define KAFKA_AHEAD       65536u
#define KAFKA_AHEAD_MAX   262144u
#define KAFKA_AHEAD_LEAST 1024u

#define KAFKA_BATCH_MAX SR_BATCH_ROWS
#define KAFKA_SLACK     64u             /* readable bytes behind the last record */
#define KAFKA_BEAT_US   INT64_C(200000) /* how often the client's own events are served */

enum kafka_part_state { KAFKA_CHECKING, KAFKA_READING, KAFKA_ASKING, KAFKA_ENDED };

struct kafka_part {
    uint32_t number; /* the engine's */
    enum kafka_part_state state;
    struct kafka_note at;
    rd_kafka_topic_t *rkt;
    rd_kafka_queue_t *queue; /* its own, only to be woken by */
    struct kafka_ask *ask;   /* while ASKING; owned */
    bool is_started;
    bool has_told;   /* that it ended */
    uint32_t starts; /* each makes what was taken before void */
};

struct kafka_reader {
    const struct sr_host *host;
    const struct kafka_source_conf *conf;
    const struct sr_schema *schema;
    const uint32_t *metadata;
    uint32_t metadatas;
    bool wants_keys, has_group;
    uint32_t readers;     /* of the source */
    struct client client; /* open once there are partitions */
    uint32_t ahead;       /* KiB a partition that it was opened with; 0: it is not open */
    bool has_new;         /* partitions that are not started yet */
    int wake;             /* eventfd: some queue has something; -1: not open */
    struct kafka_part *part;
    uint32_t parts, room;
    uint32_t turn; /* whose it is */
    /* What librdkafka gave of one partition, `turn`'s; shown a block at a time. */
    rd_kafka_message_t *message[KAFKA_BATCH_MAX];
    uint32_t messages, first, upto; /* [first, upto) is the block that is shown */
    uint32_t used;                  /* of it */
    uint32_t number;                /* its split */
    struct sr_buffer *buffer;
    struct sr_span value[KAFKA_BATCH_MAX], key[KAFKA_BATCH_MAX];
    bool absent[KAFKA_BATCH_MAX], keyless[KAFKA_BATCH_MAX];
    /* Positions of a checkpoint that was shown, for the group. */
    rd_kafka_topic_partition_list_t *shown; /* NULL: none */
    int64_t beat_us;                        /* when the client was served last */
    bool was_down;
};

sr_rc kafka_reader_open(void *reader, const struct sr_source_open *o, struct sr_error *err);
sr_rc kafka_reader_add(void *reader, uint32_t number, const struct sr_split *split,
                       struct sr_error *err);
enum sr_polled kafka_reader_poll(void *reader, struct sr_poll *p, struct sr_error *err);
void kafka_reader_consume(void *reader, uint32_t number, uint32_t used);
sr_rc kafka_reader_position(void *reader, uint32_t number, struct sr_out *note,
                            struct sr_error *err);
void kafka_reader_acknowledge(void *reader, uint32_t number, struct sr_bytes note);
void kafka_reader_close(void *reader);
sr_rc kafka_reader_fill_metadata(void *reader, uint32_t number, const uint32_t *record,
                                 uint32_t rows, struct sr_builder *out, struct sr_error *err);

/* --- One partition: kafka_part.c ------------------------------------------------------------- */

sr_rc kafka_part_start(struct kafka_reader *r, struct kafka_part *p, struct sr_error *err);
void kafka_part_stop(struct kafka_part *p); /* waits for the client's thread, not for a broker */
/* What stands for a record in a note. */
uint64_t kafka_part_digest(const struct kafka_reader *r, const rd_kafka_message_t *m);
/* The first record that came while its last row is looked for. *is_mine: it is that row, and not to
 * be shown. */
sr_rc kafka_part_check(struct kafka_reader *r, struct kafka_part *p, const rd_kafka_message_t *m,
                       bool *is_mine, struct sr_error *err);
/* The broker has said what it has of a partition whose position is lost. */
sr_rc kafka_part_answered(struct kafka_reader *r, struct kafka_part *p, struct sr_error *err);
/* An event in place of a record. */
sr_rc kafka_part_event(struct kafka_reader *r, struct kafka_part *p, const rd_kafka_message_t *m,
                       struct sr_error *err);

#endif
