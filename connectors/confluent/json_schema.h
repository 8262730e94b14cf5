/* The JSON schema of columns: what the objects look like that the json format writes of them.
 */
#ifndef CONNECTORS_CONFLUENT_JSON_SCHEMA_H
#define CONNECTORS_CONFLUENT_JSON_SCHEMA_H

#include <streamrun/types.h>

/* A text, always the same for the same columns; to be freed. NULL: out of memory. */
char *json_schema_of(const struct sr_schema *s);

#endif
