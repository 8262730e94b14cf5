/* Rows and markers of a transaction that a broker has ended without ending it in the topics.
 *
 * A broker that ends a transaction, because of its time-out or at its own start, while it does not
 * know the leaders of its partitions, takes these for deleted, leaves out their markers, and calls
 * the transaction complete (seen with Kafka 4.4.0 after a kill). What it wrote then waits in the
 * partitions until the next transaction of the same producer ends, and shares its fate: aborted
 * rows are read. The group's offset stays unstable, and the marker cannot be read.
 *
 *   no transaction of ours can be open, and yet a partition's last stable offset is not its end,
 *   or the group's offset is unstable -> a transaction that has a record in each partition, and
 *   an offset of the group, is aborted: its markers end what was loose
 *
 * Where another's transaction is open in a topic of ours that is done in vain, and harms nobody.
 */
#ifndef CONNECTORS_KAFKA_KAFKA_LOOSE_H
#define CONNECTORS_KAFKA_KAFKA_LOOSE_H

#include "connectors/kafka/kafka_marker.h"

/* Is there anything loose? Once the producers of all ids have been made. */
sr_rc kafka_loose_find(const struct kafka_reader_how *how, const sr_list *topics, bool *is_some,
                       struct sr_error *err);
/* Ends what is loose of this transactional id, by a producer that fences who has it. */
sr_rc kafka_loose_end(const struct kafka_reader_how *how, const sr_list *topics, const char *id,
                      struct sr_error *err);

#endif
