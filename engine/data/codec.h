/* Rows to bytes and back, versioned: for redo files, channel state, and values in saved state. */
#ifndef SR_DATA_CODEC_H
#define SR_DATA_CODEC_H

#include "engine/base/bytes.h"
#include "engine/data/pool.h"

/* One value of any type, NULL included, self-delimiting. */
bool codec_put(struct sr_out *o, const struct sr_column *c, uint32_t r);
/* Sets row r of a column that is being filled. SR_ECORRUPT for what does not decode. */
sr_rc codec_get(struct bytes_in *in, struct sr_home *h, struct sr_column *c, uint32_t r);

/* The live rows of a view: columns, change kinds. */
bool codec_put_view(struct sr_out *o, const struct sr_view *v, uint32_t from, uint32_t count);
sr_rc codec_get_view(struct bytes_in *in, struct sr_home *h, const struct sr_schema *schema,
                     struct sr_view **out, struct sr_error *err);

/* A schema, so that saved state says what it holds. */
bool codec_put_schema(struct sr_out *o, const struct sr_schema *s);

#endif
