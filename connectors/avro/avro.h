/* What the files of the avro formats share: options, and instances. */
#ifndef SR_AVRO_H
#define SR_AVRO_H

#include <streamrun/format.h>

#include "connectors/avro/avro_plan.h"
#include "connectors/schemas/schemas.h"

#define AVRO_SCHEMAS_MAX 1000u /* schemas that one decoder keeps */

/* Of both formats; `avro` has no registry. */
struct avro_conf {
    bool is_legacy; /* timestamps as before Flink 1.19 */
    sr_choice encoding;
    const char *codec;
    const char *schema;
    struct schemas_conf registry;
};

extern const struct sr_opt avro_opts[], avro_confluent_opts[];

/* A schema of the registry, and how it becomes columns. */
struct avro_known_schema {
    uint32_t id;
    struct avro_schema schema;
    struct avro_plan *plan; /* NULL: `why` says why not */
    char why[160];
};

struct avro_decoder {
    const struct sr_host *host;
    const struct avro_conf *conf;
    const struct sr_schema *columns;
    struct avro_known_schema own;     /* of `avro` */
    struct avro_known_schema **known; /* of `avro-confluent` */
    uint32_t knowns, last;
    struct schemas_fetch *fetch; /* a number that is asked for; NULL: none is */
};

struct avro_encoder {
    const struct sr_host *host;
    struct avro_schema schema;
    struct avro_plan *plan;
    uint8_t frame[SCHEMAS_FRAME_BYTES];
    uint32_t frame_bytes; /* 0: none */
};

/* The plan of a schema's text for these columns; false: k->why. To be done in any case. */
bool avro_resolve(struct avro_known_schema *k, const char *text, const struct sr_schema *columns,
                  bool is_write);
void avro_forget(struct avro_known_schema *k);
/* The schema as it is written in the options, else that of the columns; to be freed. */
char *avro_text_of(const struct avro_conf *conf, const struct sr_schema *columns, char why[160]);

/* The schema with that number. SR_EBUSY: not yet, where may_wait; others: the call fails. */
sr_rc avro_find(struct avro_decoder *x, uint32_t id, bool may_wait,
                const struct avro_known_schema **out, struct sr_error *err);
/* Registers the encoder's schema. */
sr_rc avro_register(struct avro_encoder *x, const struct avro_conf *conf, const char *text,
                    struct sr_error *err);

#endif
