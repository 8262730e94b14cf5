/* Schemas of the registry that an instance knows; declared in avro.h. */
#include <stdio.h>
#include <stdlib.h>

#include "connectors/avro/avro.h"

/* A new one, perhaps with the reason why its records are bad. SR_EBUSY: not yet. */
static sr_rc avro_fetch(struct avro_decoder *x, uint32_t id, bool may_wait,
                        struct avro_known_schema **out, struct sr_error *err)
{
    struct schemas_wanted wanted = {
        .conf = &x->conf->registry, .type = "AVRO", .id = id, .may_wait = may_wait};
    char *text = NULL, why[SCHEMAS_WHY] = "";
    sr_rc rc = schemas_fetch(&x->fetch, &wanted, &text, why);
    if (rc == SR_EBUSY) {
        return rc;
    }
    struct avro_known_schema *k = calloc(1, sizeof(*k));
    rc = k ? rc : SR_ENOMEM;
    if (rc == SR_OK) {
        (void)avro_resolve(k, text, x->columns, false);
    } else if (rc == SR_EABSENT || rc == SR_EDATA) {
        (void)snprintf(k->why, sizeof(k->why), "%.159s", why);
        rc = SR_OK;
    }
    free(text);
    if (rc != SR_OK) {
        free(k);
        return x->host->fail(x->host, err, rc, "avro-confluent: %s",
                             rc == SR_ENOMEM ? "out of memory" : why);
    }
    k->id = id;
    *out = k;
    return SR_OK;
}

sr_rc avro_find(struct avro_decoder *x, uint32_t id, bool may_wait,
                const struct avro_known_schema **out, struct sr_error *err)
{
    for (uint32_t i = 0; i < x->knowns; i++) {
        uint32_t at = (x->last + i) % x->knowns; /* the one of the record before comes first */
        if (x->known[at]->id == id) {
            x->last = at;
            *out = x->known[at];
            return SR_OK;
        }
    }
    if (x->knowns == AVRO_SCHEMAS_MAX) {
        return x->host->fail(x->host, err, SR_ELIMIT,
                             "avro-confluent: records of more than %u schemas", AVRO_SCHEMAS_MAX);
    }
    struct avro_known_schema **grown =
        realloc(x->known, (x->knowns + 1) * sizeof(struct avro_known_schema *));
    if (!grown) {
        return x->host->fail(x->host, err, SR_ENOMEM, "avro-confluent: out of memory");
    }
    x->known = grown;
    struct avro_known_schema *k = NULL;
    sr_rc rc = avro_fetch(x, id, may_wait, &k, err);
    if (rc == SR_OK) {
        x->last = x->knowns;
        x->known[x->knowns++] = k;
        *out = k;
    }
    return rc;
}

sr_rc avro_register(struct avro_encoder *x, const struct avro_conf *conf, const char *text,
                    struct sr_error *err)
{
    uint32_t id = 0;
    char why[SCHEMAS_WHY];
    sr_rc rc = schemas_put(&conf->registry, "AVRO", text, &id, why);
    if (rc != SR_OK) {
        return x->host->fail(x->host, err, rc == SR_EABSENT ? SR_EIO : rc, "avro-confluent: %s",
                             why);
    }
    x->frame_bytes = SCHEMAS_FRAME_BYTES;
    schemas_frame(id, x->frame);
    return SR_OK;
}
