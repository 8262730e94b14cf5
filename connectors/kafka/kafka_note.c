/* What is kept of a partition in a checkpoint. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/common/note.h"
#include "connectors/kafka/kafka_source.h"

#define KAFKA_NOTE_VERSION 1

sr_rc kafka_note_get(struct sr_bytes note, struct kafka_note *out)
{
    struct note_in in = note_in(note);
    uint8_t version = note_get_u8(&in);
    *out = (struct kafka_note){.topic = NULL};
    out->topic = note_get_text(&in);
    out->partition = (int32_t)note_get_u32(&in);
    out->next = (int64_t)note_get_u64(&in);
    out->stop = (int64_t)note_get_u64(&in);
    out->last = (int64_t)note_get_u64(&in);
    out->last_ms = (int64_t)note_get_u64(&in);
    out->last_digest = note_get_u64(&in);
    bool is_sound = note_is_done(&in) && version == KAFKA_NOTE_VERSION && out->partition >= 0 &&
                    out->next >= 0 && out->stop >= 0 && strlen(out->topic) <= KAFKA_TOPIC_MAX;
    if (is_sound) {
        return SR_OK;
    }
    free(out->topic);
    out->topic = NULL;
    return in.lacks_memory ? SR_ENOMEM : SR_ECORRUPT;
}

bool kafka_note_put(struct sr_out *o, const struct kafka_note *n)
{
    return note_put_u8(o, KAFKA_NOTE_VERSION) && note_put_text(o, n->topic) &&
           note_put_u32(o, (uint32_t)n->partition) && note_put_u64(o, (uint64_t)n->next) &&
           note_put_u64(o, (uint64_t)n->stop) && note_put_u64(o, (uint64_t)n->last) &&
           note_put_u64(o, (uint64_t)n->last_ms) && note_put_u64(o, n->last_digest);
}

void kafka_split_name(char out[KAFKA_TOPIC_MAX + 16], const char *topic, int32_t partition)
{
    (void)snprintf(out, KAFKA_TOPIC_MAX + 16, "%.*s-%d", (int)KAFKA_TOPIC_MAX, topic, partition);
}
