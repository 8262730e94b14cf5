#include "test/kit/state_kit.h"

const struct state_kit state_kit_backend = {
    .make = state_new, .free = state_free, .save = state_save, .load = state_load};
