/* A regular expression that the whole name of a topic matches: `topic-pattern`. */
#ifndef CONNECTORS_KAFKA_PATTERN_H
#define CONNECTORS_KAFKA_PATTERN_H

#include "connectors/kafka/props.h"

struct pattern;

sr_rc pattern_check(const char *text, struct sr_error *err);
struct pattern *pattern_new(const char *text); /* one that was checked; NULL: no memory */
bool pattern_matches(const struct pattern *p, const char *name, size_t len);
void pattern_free(struct pattern *p); /* also NULL */

#endif
