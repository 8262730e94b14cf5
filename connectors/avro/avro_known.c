/* Schemas of the registry that an instance knows; declared in avro.h. */
#include <stdio.h>
#include <stdlib.h>

#include "connectors/avro/avro.h"
#include "connectors/avro/avro_registry.h"

static struct avro_registry_conf avro_registry_of(const struct avro_conf *conf)
{
    return (struct avro_registry_conf){.url = conf->url,
                                       .user_info = conf->user_info,
                                       .token = conf->token,
                                       .ca = conf->truststore,
                                       .certificate = conf->keystore,
                                       .key = conf->keystore};
}

/* A new one, perhaps with the reason why its records are bad. NULL: see err. */
static struct avro_known_schema *avro_fetch(struct avro_decoder *x, uint32_t id,
                                            struct sr_error *err)
{
    const struct avro_registry_conf conf = avro_registry_of(x->conf);
    struct avro_known_schema *k = calloc(1, sizeof(*k));
    char *text = NULL, why[300];
    sr_rc rc = k ? avro_registry_get(&conf, id, &text, why) : SR_ENOMEM;
    if (rc == SR_OK) {
        (void)avro_resolve(k, text, x->columns, false);
    } else if (rc == SR_EABSENT || rc == SR_EDATA) {
        (void)snprintf(k->why, sizeof(k->why), "%.159s", why);
    } else {
        (void)x->host->fail(x->host, err, rc, "avro-confluent: %s",
                            rc == SR_ENOMEM ? "out of memory" : why);
        free(k);
        k = NULL;
    }
    free(text);
    if (k) {
        k->id = id;
    }
    return k;
}

const struct avro_known_schema *avro_find(struct avro_decoder *x, uint32_t id, struct sr_error *err)
{
    for (uint32_t i = 0; i < x->knowns; i++) {
        uint32_t at = (x->last + i) % x->knowns; /* the one of the record before comes first */
        if (x->known[at]->id == id) {
            x->last = at;
            return x->known[at];
        }
    }
    if (x->knowns == AVRO_SCHEMAS_MAX) {
        (void)x->host->fail(x->host, err, SR_ELIMIT,
                            "avro-confluent: records of more than %u schemas", AVRO_SCHEMAS_MAX);
        return NULL;
    }
    struct avro_known_schema **grown =
        realloc(x->known, (x->knowns + 1) * sizeof(struct avro_known_schema *));
    if (!grown) {
        (void)x->host->fail(x->host, err, SR_ENOMEM, "avro-confluent: out of memory");
        return NULL;
    }
    x->known = grown;
    struct avro_known_schema *k = avro_fetch(x, id, err);
    if (k) {
        x->last = x->knowns;
        x->known[x->knowns++] = k;
    }
    return k;
}

sr_rc avro_register(struct avro_encoder *x, const struct avro_conf *conf, const char *text,
                    struct sr_error *err)
{
    const struct avro_registry_conf registry = avro_registry_of(conf);
    uint32_t id = 0;
    char why[300];
    sr_rc rc = avro_registry_put(&registry, conf->subject, text, &id, why);
    if (rc != SR_OK) {
        return x->host->fail(x->host, err, rc == SR_EABSENT ? SR_EIO : rc, "avro-confluent: %s",
                             why);
    }
    x->frame_bytes = AVRO_FRAME_BYTES;
    for (uint32_t i = 0; i < 4; i++) {
        x->frame[1 + i] = (uint8_t)(id >> (24 - 8 * i));
    }
    return SR_OK;
}
