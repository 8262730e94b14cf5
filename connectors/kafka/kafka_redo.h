/* Exactly-once of a kafka sink by redo: rows go to a file, and the file of a checkpoint that was
 * shown to the topics, in one transaction with a marker of its own.
 *
 *   write -> redo file -> prepare: durable, noted -> commit: one transaction -> file removed
 *
 * The marker lies in a consumer group of this subtask and lineage, as the offset of partition 0 of
 * the first topic: whoever commits a file looks there first whether it was committed before. There
 * is a first marker ahead of the first file, so one that is missing was lost.
 *
 * A row that could not be sent is found before it is in a file, where on-error can still take it.
 */
#ifndef CONNECTORS_KAFKA_KAFKA_REDO_H
#define CONNECTORS_KAFKA_KAFKA_REDO_H

#include "connectors/common/redo_box.h"
#include "connectors/kafka/kafka_apply.h"

struct kafka_redo {
    const struct sr_host *host;
    const struct sr_schema *schema;
    const struct kafka_sink_conf *conf;
    char *stem; /* prefix, job and step: how ids and groups begin */
    uint64_t lineage;
    uint32_t part;
    struct redo_box box;
    bool is_restoring;  /* ahead of recover, where nobody asks again: what is to be waited for is
                          waited for in the call */
    bool has_base;      /* the first marker is there */
    bool has_swept;     /* what older transactions have left was looked for */
    struct apply apply; /* the transaction that is under way */
    char *id, *group;   /* of it */
    struct flights flights; /* its rows */
    struct producer_owner owner;
    struct records *records; /* borrowed of the sink */
    struct producer *to;     /* likewise: it knows the topics, and what they take */
    struct redo_mark mark;   /* of the file that it is of; path NULL: none */
    struct redo_reader reader;
    bool is_read;         /* all of the file was given */
    struct sr_view *view; /* of it, being sent; NULL: none */
    uint32_t from;
};

sr_rc kafka_redo_open(struct kafka_redo *r, const struct sr_sink_open *o, struct records *records,
                      struct producer *to, struct sr_error *err);
void kafka_redo_close(struct kafka_redo *r); /* also of one that is zeroed or half open */
/* As of a sink; write only once `to` is ready. */
sr_rc kafka_redo_write(struct kafka_redo *r, const struct sr_view *v, uint32_t from, uint32_t *done,
                       struct sr_wait *wait, struct sr_error *err);
sr_rc kafka_redo_prepare(struct kafka_redo *r, uint64_t checkpoint, struct sr_notes *notes,
                         struct sr_wait *wait, struct sr_error *err);
sr_rc kafka_redo_commit(struct kafka_redo *r, struct sr_bytes note, struct sr_error *err);
sr_rc kafka_redo_recover(struct kafka_redo *r, const struct sr_bytes *live, uint32_t count,
                         struct sr_error *err);

#endif
