/* Types and schemas: text to and from, equality, look-up. */
#ifndef SR_DATA_SCHEMA_H
#define SR_DATA_SCHEMA_H

#include <streamrun/error.h>
#include <streamrun/types.h>

#include "engine/base/arena.h"

#define TYPE_DEPTH_MAX 16u /* of ARRAY, MAP, MULTISET and ROW within each other */

/* "DECIMAL(10, 2) NOT NULL" as Flink prints it. NULL: out of memory. */
const char *type_text(struct arena *a, const struct sr_type *t);
/* Parses such a text (any case, Flink's synonyms: STRING, BYTES, INTEGER, NUMERIC, TIMESTAMP_LTZ,
 * TIMESTAMP(3) WITH LOCAL TIME ZONE ...). err says what is wrong; *at is where (bytes). */
sr_rc type_parse(struct arena *a, const char *text, struct sr_type *out, uint32_t *at,
                 struct sr_error *err);
bool type_equal(const struct sr_type *a, const struct sr_type *b, bool with_nullability);
/* Is that a name of a class, as Java has them: "com.example.User"? */
bool type_is_class(const char *name);
struct sr_type type_of(enum sr_kind kind); /* nullable, Flink's default length */
struct sr_type type_with(enum sr_kind kind, int32_t length, int32_t scale);
struct sr_type type_copy(struct arena *a, const struct sr_type *t); /* deep */
struct sr_type type_nullable(struct sr_type t, bool is_nullable);

struct sr_schema *schema_copy(struct arena *a, const struct sr_schema *s); /* deep */
int32_t schema_find(const struct sr_schema *s, const char *name); /* -1: not there; case counts */
bool schema_equal(const struct sr_schema *a, const struct sr_schema *b);

#endif
