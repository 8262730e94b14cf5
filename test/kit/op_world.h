/* One operator by itself: rows in as text, rows out as text, as run would call it.
 */
#ifndef TEST_KIT_OP_WORLD_H
#define TEST_KIT_OP_WORLD_H

#include <streamrun/op.h>

#include "engine/data/host.h"
#include "engine/state/backend.h"
#include "test/kit/rows.h"

struct op_world {
    struct arena *arena;
    struct sr_home *home;
    struct env env;
    struct host_ctx ctx;
    struct sr_host host;
    const struct sr_op_type *type;
    const void *conf;
    const struct sr_schema *in, *out;
    struct sr_state *state; /* NULL: the operator has none */
    void *op;
    uint32_t used, filtered, late, absorbed, bads; /* so far */
    char bad_words[126];                           /* of the last bad row */
    struct sr_error err;
};

/* in and out: as rows_schema takes them. Answers what open answered. */
sr_rc op_world_open(struct op_world *w, const struct sr_op_type *type, const void *conf,
                    const struct sr_schema *in, const char *out);
void op_world_init(struct op_world *w); /* before open: arena and home for conf and schemas */
void op_world_done(struct op_world *w);
/* Everything that comes out for these rows, "; " between rows. Releases v. NULL: it failed. */
const char *op_world_view(struct op_world *w, struct sr_view *v);
const char *op_world_rows(struct op_world *w, const char *rows);
const char *op_world_tell(struct op_world *w, int64_t ms);
/* The operator closed, its state saved and loaded into a new one. */
void op_world_reborn(struct op_world *w);

#endif
