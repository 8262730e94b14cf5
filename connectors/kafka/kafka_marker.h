/* The marker of a transaction: lineage and checkpoint as the offset of a consumer group of the
 * job's own, with a text beside it; and a row of it, which can tell when the marker is gone.
 *
 *   group ID, topic T, partition 0:  offset = checkpoint, metadata = "sr1 LINEAGE CHECKPOINT"
 *
 * All calls wait for brokers, and belong on a thread of their own.
 */
#ifndef CONNECTORS_KAFKA_KAFKA_MARKER_H
#define CONNECTORS_KAFKA_KAFKA_MARKER_H

#include <stdatomic.h>
#include <streamrun/decider.h>

#include "connectors/kafka/producer.h"

#define KAFKA_ID_BYTES 300u

/* Into the producer's open transaction; NULL: it is there. The error is the caller's. */
rd_kafka_error_t *kafka_marker_send(rd_kafka_t *producer, const char *group, const char *topic,
                                    const struct sr_marker *m, int timeout_ms);

struct kafka_reader_how {
    const struct sr_host *host;
    const struct sr_pairs *properties;
    const char *group, *topic;
    const char *way_out;     /* for people, where the group holds what is not ours */
    atomic_bool *is_stopped; /* relaxed: give up */
};

/* A consumer that is in no group's way; is_committed: it sees what was committed only. */
sr_rc kafka_marker_open(const struct kafka_reader_how *how, bool is_committed, struct client *c,
                        struct sr_error *err);

/* What was committed last; lineage 0: nothing. */
sr_rc kafka_marker_read(const struct kafka_reader_how *how, struct sr_marker *out,
                        struct sr_error *err);

/* Waits until a marker that was committed can be read. A broker says that a transaction is
 * committed before it is ended in the topics; one that is killed in between may leave that out (see
 * kafka_loose.h). SR_EIO: it did. */
sr_rc kafka_marker_confirm(const struct kafka_reader_how *how, const struct sr_marker *m,
                           struct sr_error *err);

bool kafka_marker_note(const struct producer_row *row, struct sr_out *note); /* false: no memory */
/* What became of a noted row. SR_EIO: it cannot be told now, as while brokers are away, or while
 * another producer's open transaction hides it; GONE is what nobody will tell any more. */
sr_rc kafka_marker_look(const struct kafka_reader_how *how, struct sr_bytes note,
                        enum sr_evidence *out, struct sr_error *err);

#endif
