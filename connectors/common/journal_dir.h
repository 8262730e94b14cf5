/* The files of a journal's directory: segments of sessions, by session and offset.
 *
 *   <session>-<offset of its first byte>.journal    a segment
 *   <session>.acked                                 up to where a checkpoint has what it holds
 *   lock                                            held by the one that writes
 *
 * Numbers are 16 hex digits, so names are in order. A session is one stream: what one pipe brought,
 * from its first byte. Other names are left alone.
 */
#ifndef CONNECTORS_COMMON_JOURNAL_DIR_H
#define CONNECTORS_COMMON_JOURNAL_DIR_H

#include "connectors/common/journal_frame.h"

#define JOURNAL_ORIGIN 16u /* bytes that say where a stream comes from */

struct journal_segment {
    uint64_t session, begin;
    uint64_t bytes; /* of the file */
};

/* Segments, by session and offset. */
struct journal_list {
    struct journal_segment *item; /* owned */
    uint32_t count, capacity;
};

/* No such directory: none. */
sr_rc journal_list(const struct sr_host *host, const char *dir, struct journal_list *out,
                   struct sr_error *err);
void journal_list_done(struct journal_list *l);
/* The first segment of the session; l->count: it has none. */
uint32_t journal_list_first(const struct journal_list *l, uint64_t session);
/* Behind its last segment. */
uint32_t journal_list_behind(const struct journal_list *l, uint64_t session);

/* Where the session comes from and whether it has an end; zeroes and false: nothing can be told. */
struct journal_look {
    uint8_t origin[JOURNAL_ORIGIN];
    bool has_end;
};
sr_rc journal_look(const struct sr_host *host, const char *dir, const struct journal_list *l,
                   uint64_t session, struct journal_look *out, struct sr_error *err);

/* The path of a segment, for free(); NULL: out of memory. */
char *journal_path(const char *dir, uint64_t session, uint64_t begin);

/* Up to where the session is of no use; 0: not known. */
uint64_t journal_acked(const struct sr_host *host, const char *dir, uint64_t session);
/* Writes it down; durable when `is_synced`. */
sr_rc journal_set_acked(const struct sr_host *host, const char *dir, uint64_t session,
                        uint64_t offset, bool is_synced, struct sr_error *err);
/* Removes the session, from the list too; durably. */
sr_rc journal_remove(const struct sr_host *host, const char *dir, struct journal_list *l,
                     uint64_t session, struct sr_error *err);

#endif
