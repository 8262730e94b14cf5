/* What a source puts into a checkpoint, and what the pool takes out of one. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/base/room.h"
#include "engine/run/source_inner.h"

sr_rc source_keep_ack(struct source *s, uint64_t checkpoint, const struct source_split *own)
{
    if (!s->node->source->acknowledge) return SR_OK;
    struct source_ack *grown = room_for_one(s->ack, s->acks, &s->ack_capacity, sizeof(*grown));
    if (!grown) return SR_ENOMEM;
    s->ack = grown;
    uint8_t *note = malloc((size_t)own->split.note_len + 1);
    if (!note) return SR_ENOMEM;
    memcpy(note, own->split.note, own->split.note_len);
    s->ack[s->acks++] = (struct source_ack){.checkpoint = checkpoint,
                                            .number = own->number,
                                            .is_end = own->split.state == SPLIT_FINISHED,
                                            .note_len = own->split.note_len,
                                            .note = note};
    return SR_OK;
}

sr_rc source_save(struct source *s, uint64_t checkpoint, struct sr_out *splits,
                  struct sr_out *waiting, struct sr_error *err)
{
    sr_assert(s->rows.rows == 0); /* rows in hand belong to this checkpoint: they went before */
    source_settle(s);
    /* The reader has said already that this one is over, and would not say so again. */
    sr_rc ended = s->ending >= 0 ? source_end_split(s, err) : SR_OK;
    if (ended != SR_OK) return ended;
    for (uint32_t i = 0; i < s->acks; i++) {
        if (s->ack[i].checkpoint == SOURCE_ACK_NEXT) s->ack[i].checkpoint = checkpoint;
    }
    bool is_silent = s->is_idle || s->splits == 0;
    bool is_ok =
        bytes_put_u64(splits, (uint64_t)(is_silent ? SR_WATERMARK_END : s->stamp.watermark)) &&
        bytes_put_u32(splits, s->splits + s->finished.count);
    for (uint32_t i = 0; i < s->splits && is_ok; i++) {
        struct source_split *own = &s->split[i];
#ifndef MUTANT_POSITION_STALE /* rows between the last two positions come twice */
        sr_rc rc = source_note(s, own, err);
        if (rc != SR_OK) return rc;
#endif
        is_ok = split_put(splits, &own->split) && source_keep_ack(s, checkpoint, own) == SR_OK;
    }
#ifndef MUTANT_FINISHED_FORGOTTEN /* a split that was read to its end is found anew */
    for (uint32_t i = 0; i < s->finished.count && is_ok; i++) {
        is_ok = split_put(splits, &s->finished.item[i]);
    }
#endif
#ifndef MUTANT_POOL_UNSAVED /* splits that nobody reads yet are lost */
    if (is_ok) is_ok = splits_save(s->pool, checkpoint, waiting) == SR_OK;
#endif
    return is_ok ? SR_OK
                 : error_set(err, SR_ENOMEM, "source '%s': out of memory to save its splits",
                             s->node->step);
}

void source_acknowledge(struct source *s, uint64_t n)
{
    uint32_t count = 0;
    while (count < s->acks && s->ack[count].checkpoint <= n) {
        const struct source_ack *a = &s->ack[count++];
        bool is_held = false; /* what a split that has ended meanwhile was at is of no use */
        for (uint32_t i = 0; i < s->splits; i++) {
            if (s->split[i].number == a->number) is_held = true;
        }
        /* A later checkpoint has the end too, if the first one came to nothing. */
        if (a->is_end || (a->checkpoint == n && is_held)) {
            struct sr_bytes note = {a->note, a->note_len};
            s->node->source->acknowledge(s->reader, a->number, note);
        }
    }
    source_free_acks(s, count);
}
