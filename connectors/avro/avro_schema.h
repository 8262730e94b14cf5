/* Avro schemas: read from JSON, and made of the columns of a table as Flink makes them. */
#ifndef SR_AVRO_SCHEMA_H
#define SR_AVRO_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>
#include <streamrun/types.h>

#define AVRO_DEPTH_MAX 32u        /* types within each other in a schema, and values in a record */
#define AVRO_TEXT_MAX  (1u << 20) /* bytes of a schema */

enum avro_kind {
    AVRO_NULL,
    AVRO_BOOLEAN,
    AVRO_INT,
    AVRO_LONG,
    AVRO_FLOAT,
    AVRO_DOUBLE,
    AVRO_BYTES,
    AVRO_STRING,
    AVRO_FIXED,
    AVRO_ENUM,
    AVRO_ARRAY, /* child 0 */
    AVRO_MAP,   /* child 0: the values */
    AVRO_RECORD,
    AVRO_UNION
};

enum avro_logical {
    AVRO_PLAIN,
    AVRO_DECIMAL,
    AVRO_DATE,
    AVRO_TIME_MILLIS,
    AVRO_TIME_MICROS,
    AVRO_STAMP_MILLIS, /* with or without "local-" */
    AVRO_STAMP_MICROS
};

struct avro_node;

struct avro_field {
    const char *name; /* of a record's field; "" */
    const struct avro_node *type;
};

struct avro_node {
    enum avro_kind kind;
    enum avro_logical logical;
    int32_t precision, scale; /* AVRO_DECIMAL */
    uint32_t size;            /* AVRO_FIXED: bytes */
    const char *name;         /* of a record, enum or fixed, without its namespace; NULL */
    uint32_t children;        /* fields, branches, symbols (without a type) */
    struct avro_field *child;
    struct avro_node *next; /* the schema's, to be freed */
};

struct avro_schema {
    const struct avro_node *root;
    struct avro_node *first; /* all of them */
    void *json;              /* what names point into */
};

/* False: `why` says what is wrong with it. To be done in any case. */
bool avro_schema_read(struct avro_schema *s, const char *text, char why[160]);
void avro_schema_done(struct avro_schema *s); /* NULL and zeroed allowed */
const char *avro_kind_word(enum avro_kind kind);

/* The schema of these columns as Flink's AvroSchemaConverter makes it, to be freed; NULL: `why`
 * says which column has none. `is_legacy`: timestamps as before Flink 1.19, which is the default.
 */
char *avro_schema_of(const struct sr_schema *s, bool is_legacy, char why[160]);

#endif
