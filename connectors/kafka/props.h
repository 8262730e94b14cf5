/* `properties.*` as users of Flink write them: the names of Java's clients, and librdkafka's.
 *
 * Most names are the same in both. What differs is translated; what means nothing to a client that
 * is not Java is let be; what cannot be had is a fault with a hint.
 */
#ifndef CONNECTORS_KAFKA_PROPS_H
#define CONNECTORS_KAFKA_PROPS_H

#include <librdkafka/rdkafka.h>
#include <streamrun/error.h>
#include <streamrun/opt.h>

/* The value that was written for a property; NULL: none was. */
const char *props_find(const struct sr_pairs *written, const char *name);
/* Puts them all into `conf`. What the caller sets afterwards wins. SR_ECONFIG, with the property's
 * name and never a secret's value. */
sr_rc props_apply(const struct sr_pairs *written, rd_kafka_conf_t *conf, struct sr_error *err);
/* The first written property, from *i on, that has no meaning here and was let be; NULL: none
 * more. */
const char *props_idle(const struct sr_pairs *written, uint32_t *i);

/* Fills err; answers rc. */
sr_rc props_fail(struct sr_error *err, sr_rc rc, const char *fmt, ...) SR_PRINTF(3, 4);

#endif
