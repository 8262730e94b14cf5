/* The split that a reader works on: which comes next, whether its file is still the one that was
 * read, where that is by now, and how the split rests or ends. fs_reader.c reads its bytes.
 *
 *   fs_reading_pick -> fs_reading_start -> { fs_reading_remember | fs_reading_forget }*
 *                   -> fs_reading_rest, or fs_reading_end: r->now is NULL then
 */
#ifndef CONNECTORS_FILESYSTEM_FS_READING_H
#define CONNECTORS_FILESYSTEM_FS_READING_H

#include "connectors/filesystem/fs_reader.h"

/* The first split that has something to read; NULL: none, and *due_us is when to look again. */
struct fs_reading *fs_reading_pick(struct fs_reader *r, int64_t *due_us);
/* Opens the split's file where reading goes on. May leave it finished: r->now is NULL then. */
sr_rc fs_reading_start(struct fs_reader *r, struct fs_reading *item, struct sr_poll *p,
                       struct sr_error *err);
/* The discoverer is told what was read of a followed split, so that it knows a copy of it again. */
sr_rc fs_reading_tell(struct fs_reader *r, const struct fs_reading *item, struct sr_poll *p,
                      struct sr_error *err);
/* Keeps the last of some bytes that are being consumed. */
void fs_reading_remember(struct fs_reader *r, const uint8_t *bytes, uint32_t len);
void fs_reading_forget(struct fs_reader *r); /* the split's offset has jumped */
/* Sets the fingerprint of what was consumed last: not of what the file holds there now, it may have
 * been written anew meanwhile. */
void fs_reading_mark(struct fs_reader *r);
/* Nothing more for now: looks again when the interval is over. */
void fs_reading_rest(struct fs_reader *r);
/* The file that is read to its end must still be there: else its rows could not be read again. */
sr_rc fs_reading_end(struct fs_reader *r, struct sr_error *err);
void fs_reading_release(struct fs_reader *r); /* its file and its bytes */

#endif
