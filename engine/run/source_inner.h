/* Inside of a source task: what source_task.c, source_decode.c and source_save.c share. */
#ifndef SR_RUN_SOURCE_INNER_H
#define SR_RUN_SOURCE_INNER_H

#include "engine/run/source_task.h"

struct source_split *source_find(const struct source *s, uint32_t number); /* it is there */
/* The reader gets to know what is decoded, and the split's count moves on. */
void source_settle(struct source *s);
/* The reader's note of where it is, into the split. */
sr_rc source_note(struct source *s, struct source_split *own, struct sr_error *err);
/* The split that the reader has read to its end becomes a finished one. */
sr_rc source_end_split(struct source *s, struct sr_error *err);
/* Notes that the position is to be acknowledged when the checkpoint is shown. */
sr_rc source_keep_ack(struct source *s, uint64_t checkpoint, const struct source_split *own);
/* Forgets the first `count` positions that wait to be acknowledged. */
void source_free_acks(struct source *s, uint32_t count);
/* Decodes on in the block; what is left of it when nothing more can be read waits for the next
 * poll, which brings it again with what follows. */
sr_rc source_decode(struct source *s, struct sr_error *err);
/* The reader's metadata into the rows behind the first `before`, after source_place. */
sr_rc source_fill_metadata(struct source *s, uint32_t before, struct sr_error *err);
/* Offset in its split of what is decoded next: bytes of a stream, else records or rows. */
int64_t source_offset(const struct source *s);
/* Tells the origin where the rows [before, rows) are from; `first`: offset of what `d` began at. */
void source_place(struct source *s, const struct sr_decode *d, uint32_t before, int64_t first);
/* An origin for the rows that come next, unless there are `before` in hand already. */
sr_rc source_begin_origin(struct source *s, enum origin_kind kind, uint32_t before,
                          struct sr_error *err);
/* The block's bytes, which the next poll would take away, into a buffer that rows can hold. */
sr_rc source_copy(struct source *s, struct sr_error *err);
/* Are records of the block from here on to be read one by one? Narrows the batch, or widens it
 * again. */
bool source_is_suspect(struct source *s, int64_t from);
/* The same before a poll that fills rows. */
void source_narrow_poll(struct source *s);
/* Takes out of a view what has failed the job too often, and makes dead letters of it. */
sr_rc source_set_aside(struct source *s, struct sr_view *v, struct sr_error *err);
/* The reader has passed over a record that is longer than it holds: a bad one. */
sr_rc source_passed(struct source *s, struct sr_error *err);
/* The row behind `before` rows of the poll could not be read. */
sr_rc source_bad_row(struct source *s, uint32_t before, struct sr_error *err);

/* --- Keys of records: source_keys.c ----------------------------------------------------------- */

sr_rc source_keys_open(struct source *s, struct sr_error *err);
void source_keys_close(struct source *s); /* half-open ones too */
/* Has the next record of the block no value? */
bool source_is_absent(const struct source *s);
/* Records from the next one on that have a value as it has, or all have none, up to one whose key
 * is known to be bad: 0 when that is the next one. */
uint32_t source_records_ahead(const struct source *s);
/* In place of the format's decode, for records without a value. */
sr_rc source_put_absent(struct source *s, struct sr_decode *d, struct sr_error *err);
/* Fills the key's columns of the rows behind the first `before`, after source_place. *is_again: a
 * key was bad, the rows are gone, and the records are to be decoded again. */
sr_rc source_read_keys(struct source *s, uint32_t before, bool *is_again, struct sr_error *err);

#endif
