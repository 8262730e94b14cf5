/* What every backend of keyed state must keep: streamrun/state.h and state/backend.h, as tests.
 *
 * state_kit.c (maps, timers) and state_saved_kit.c (saving, loading) have the tests and a main
 * each; a test program adds the backend that they run on.
 */
#ifndef TEST_KIT_STATE_KIT_H
#define TEST_KIT_STATE_KIT_H

#include "engine/state/backend.h"

struct state_kit {
    sr_rc (*make)(struct sr_state **out, const struct state_conf *conf, struct sr_error *err);
    void (*free)(struct sr_state *s);
    sr_rc (*save)(struct sr_state *s, struct sr_out *out, struct sr_error *err);
    sr_rc (*load)(struct sr_state *s, const void *bytes, size_t len, struct sr_error *err);
};

extern const struct state_kit state_kit_backend;

#endif
