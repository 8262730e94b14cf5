/* The `sasl.jaas.config` of Java's clients, taken apart: what librdkafka has properties of its own
 * for.
 *
 *   org.apache.kafka.common.security.scram.ScramLoginModule required username="a" password="b";
 */
#ifndef CONNECTORS_KAFKA_JAAS_H
#define CONNECTORS_KAFKA_JAAS_H

#include <streamrun/error.h>

#define JAAS_TEXT_MAX    4096u /* bytes of the whole text */
#define JAAS_OPTIONS_MAX 32u

struct jaas {
    char *text;         /* owned: what the others point into */
    size_t size_bytes;  /* of text */
    const char *module; /* "ScramLoginModule", without its package */
    uint32_t options;
    const char *key[JAAS_OPTIONS_MAX];
    const char *value[JAAS_OPTIONS_MAX];
};

/* NULL: it was read. Else what is wrong with it, which tells none of its secrets. */
const char *jaas_read(struct jaas *j, const char *text);
const char *jaas_find(const struct jaas *j, const char *key); /* NULL: not there */
void jaas_done(struct jaas *j);                               /* overwritten, then freed */

#endif
