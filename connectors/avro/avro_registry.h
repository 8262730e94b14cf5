/* A schema registry, asked over HTTP: schemas by number, and numbers of schemas.
 *
 * Calls wait for the answer, at most AVRO_REGISTRY_WAIT_MS: they come when an encoder is opened,
 * and at the first record of each schema.
 */
#ifndef SR_AVRO_REGISTRY_H
#define SR_AVRO_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>
#include <streamrun/error.h>

#define AVRO_REGISTRY_WAIT_MS 30000l
#define AVRO_ANSWER_MAX       (4u << 20) /* bytes of an answer */

struct avro_registry_conf {
    const char *url; /* "http://a:8081", or several behind commas: the next is asked if one fails */
    const char *user_info;         /* "name:password" for basic authentication; NULL: none */
    const char *token;             /* for bearer authentication; NULL: none */
    const char *ca;                /* file of certificates that are trusted; NULL: the system's */
    const char *certificate, *key; /* of ours, in PEM; NULL: none */
};

/* The schema of that number, to be freed. SR_EABSENT: the registry has none. */
sr_rc avro_registry_get(const struct avro_registry_conf *conf, uint32_t id, char **out,
                        char why[300]);
/* The number of a schema under a subject, which is registered if it is not there yet. */
sr_rc avro_registry_put(const struct avro_registry_conf *conf, const char *subject,
                        const char *schema, uint32_t *id, char why[300]);

#endif
