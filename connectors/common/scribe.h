/* The one who writes a journal while others work: a thread that appends, syncs and trims.
 *
 *   scribe_open -> { scribe_begin -> told -> scribe_end }* -> scribe_close
 *                     scribe_ack, scribe_drop at any time
 *
 *            scribe_begin          synced, or failed         scribe_end
 *   IDLE ------------------> BUSY -------------------> DONE ------------> IDLE
 *                              ^ scribe_again (no space)  |
 *                              '--------------------------'
 *
 * From open to close the journal belongs to the thread; nobody else may touch it. What was handed
 * over by scribe_begin stays the caller's, and stays as it is until scribe_end. `told` is called on
 * the thread, with no lock held, whenever the state or is_full may have changed; the descriptor is
 * readable from then on, until scribe_hear.
 */
#ifndef CONNECTORS_COMMON_SCRIBE_H
#define CONNECTORS_COMMON_SCRIBE_H

#include "connectors/common/journal.h"

enum scribe_state { SCRIBE_IDLE, SCRIBE_BUSY, SCRIBE_DONE };

struct scribe; /* owned by who opened it */

struct scribe_conf {
    const struct sr_host *host;
    struct journal *journal;
    void (*told)(void *ctx); /* NULL: the descriptor is enough */
    void *ctx;
};

sr_rc scribe_open(struct scribe **out, const struct scribe_conf *conf, struct sr_error *err);
/* Waits for what is under way, and for the acknowledgements; then the journal is the caller's. */
void scribe_close(struct scribe *s); /* NULL allowed */

int scribe_fd(const struct scribe *s);
void scribe_hear(struct scribe *s); /* the descriptor is quiet again */
enum scribe_state scribe_state(struct scribe *s);
bool scribe_is_full(struct scribe *s); /* see journal_is_full */

/* When IDLE: appends bytes, any number of them, and the end of the stream behind them if is_end. */
void scribe_begin(struct scribe *s, const uint8_t *bytes, uint32_t len, bool is_end);
/* When DONE. SR_ENOSPC: nothing is broken, scribe_again tries what is left of it. */
sr_rc scribe_result(struct scribe *s, struct sr_error *err);
void scribe_again(struct scribe *s);
void scribe_end(struct scribe *s);

/* As journal_ack and journal_drop; when memory is short, more is kept than must be. */
void scribe_ack(struct scribe *s, uint64_t session, uint64_t offset);
void scribe_drop(struct scribe *s, uint64_t session, uint64_t end);

#endif
