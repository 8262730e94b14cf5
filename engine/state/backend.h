/* The engine's side of keyed state: makes it for a subtask, saves it, loads it.
 *
 * Operators see struct sr_state of the lobby's state.h. What is saved is sorted by key group, so
 * that a loader takes only the groups that are its own.
 */
#ifndef SR_STATE_BACKEND_H
#define SR_STATE_BACKEND_H

#include <streamrun/state.h>

#include "engine/base/bytes.h"

struct state_conf {
    uint32_t max_parallelism; /* key groups */
    uint32_t part, parts;
    const char *uid; /* of the operator, for messages */
};

sr_rc state_new(struct sr_state **out, const struct state_conf *conf, struct sr_error *err);
void state_free(struct sr_state *s); /* NULL allowed */
/* A view of the state as it is now, which costs little; between two calls of the operator. The
 * state may go on, and be freed before the view. */
struct frozen;
sr_rc state_freeze(struct sr_state *s, struct frozen **out, struct sr_error *err);
/* Appends a piece of what the view holds, until *is_done: definitions of maps (names, key and value
 * columns), entries and timers by key group. The same state gives the same bytes. By any thread,
 * one at a time. SR_ENOMEM also when the state had no memory to go on beside the view. */
sr_rc frozen_save(struct frozen *f, struct sr_out *out, bool *is_done, struct sr_error *err);
void frozen_free(struct frozen *f); /* any thread; NULL allowed */
/* Both at once. */
sr_rc state_save(struct sr_state *s, struct sr_out *out, struct sr_error *err);
/* Adds what another subtask saved, as far as its key groups are this one's. Called after the
 * operator was opened, so its maps are declared: SR_EMISFIT names both sides when a map's columns
 * changed. */
sr_rc state_load(struct sr_state *s, const void *bytes, size_t len, struct sr_error *err);
/* After a load: what the operator keeps now and was not saved, for people; NULL: nothing. */
const char *state_grown(const struct sr_state *s);
uint64_t state_bytes(const struct sr_state *s); /* memory held */

#endif
