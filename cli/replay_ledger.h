/* What was replayed: a list beside the dead letters, replaced as a whole. A batch is noted before
 * it runs and once it is done, so that no letter is ever taken twice, and an interrupted replay
 * goes on.
 */
#ifndef SR_CLI_REPLAY_LEDGER_H
#define SR_CLI_REPLAY_LEDGER_H

#include <jansson.h>

#include "cli/letter_list.h"

struct replay_ledger {
    const char *path; /* of the list */
    const char *base; /* of the directories of batches: its number follows */
    json_t *batch;    /* array of {number, done, ids: []} */
};

sr_rc replay_ledger_open(const struct cli *c, const struct letter_list *letters,
                         struct replay_ledger *out, struct sr_error *err);
void replay_ledger_close(struct replay_ledger *g);
bool replay_ledger_has(const struct replay_ledger *g, const char *id);
/* The number of a batch that was begun and is not done; 0: none. */
uint32_t replay_ledger_open_batch(const struct replay_ledger *g);
uint32_t replay_ledger_next(const struct replay_ledger *g); /* number of a new batch */
/* Notes a new batch of these ids, which are taken. */
sr_rc replay_ledger_begin(struct replay_ledger *g, const struct cli *c, uint32_t number,
                          json_t *ids, struct sr_error *err);
sr_rc replay_ledger_done(struct replay_ledger *g, const struct cli *c, uint32_t number,
                         struct sr_error *err);
/* Notes in `g` as done what batch `number` of `from` holds of these letters, once. */
sr_rc replay_ledger_copy(struct replay_ledger *g, const struct replay_ledger *from,
                         const struct cli *c, uint32_t number, const struct letter_list *letters,
                         struct sr_error *err);
const char *replay_ledger_dir(const struct replay_ledger *g, const struct cli *c, uint32_t number);

#endif
