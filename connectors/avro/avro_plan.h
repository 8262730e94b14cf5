/* How values of an Avro schema become columns, and columns values: the schema resolved, once.
 *
 * Fields go by name. A column that no field is for is NULL when it is read; a field that no column
 * is for is passed over when it is read, and must be able to be null when it is written. A plan
 * borrows the schemas of both sides.
 */
#ifndef SR_AVRO_PLAN_H
#define SR_AVRO_PLAN_H

#include "connectors/avro/avro_schema.h"

#define AVRO_NO_COLUMN UINT32_MAX

struct avro_plan {
    const struct avro_node *node;
    const struct sr_type *type; /* NULL: passed over, or written as null */
    const char *name;           /* of the column, for words */
    uint32_t column;            /* of a record's field: where it stands; AVRO_NO_COLUMN: nowhere */
    bool fits;                  /* false: a branch of a union that has no place in the column */
    bool reads_back;            /* of a branch that is written: the column would read it */
    uint32_t children;          /* fields, branches, the element, or the value of a map */
    struct avro_plan *child;
    uint32_t absents; /* of a record that is read: columns that have no field */
    uint32_t *absent;
    uint32_t null_branch; /* of a union: the one that is null; AVRO_NO_COLUMN: none */
};

/* `is_write`: columns to values. NULL: `why` says what does not fit. */
struct avro_plan *avro_plan_new(const struct avro_schema *s, const struct sr_schema *columns,
                                bool is_write, char why[160]);
void avro_plan_free(struct avro_plan *p); /* NULL allowed */

#endif
