/* Rows of the option table of json, for it and for formats that hold JSON: their structs begin with
 * a struct json_conf.
 */
#ifndef SR_JSON_JSON_OPTS_H
#define SR_JSON_JSON_OPTS_H

#include "connectors/json/json.h"

/* clang-format off */
#define JSON_OPTS \
    SR_OPT(struct json_conf, "fail-on-missing-field", is_missing_fatal, .def = "false", \
           .doc = "An object without one of the columns is a bad record; else that column is NULL."), \
    SR_OPT(struct json_conf, "ignore-parse-errors", is_lenient, .def = "false", \
           .doc = "Fields that cannot be read become NULL and records that are not JSON are " \
                  "skipped, instead of being bad records."), \
    SR_OPT(struct json_conf, "timestamp-format.standard", stamp, .def = "SQL", \
           .choices = json_stamps, \
           .doc = "How timestamps look: SQL: 2026-01-31 12:00:00.123; ISO-8601: with a T; " \
                  "ISO-8601-WITH-OFFSET: TIMESTAMP_LTZ with any offset, written as Z."), \
    SR_OPT(struct json_conf, "map-null-key.mode", map_null_key, .def = "FAIL", \
           .choices = json_null_keys, \
           .doc = "What becomes of a NULL key of a MAP when it is written."), \
    SR_OPT(struct json_conf, "map-null-key.literal", map_null_literal, .def = "null", \
           .doc = "The key that stands for NULL when map-null-key.mode is LITERAL."), \
    SR_OPT(struct json_conf, "encode.decimal-as-plain-number", is_decimal_plain, .def = "false", \
           .doc = "DECIMAL 0.000000027 is written 2.7E-8; true: without exponents."), \
    SR_OPT(struct json_conf, "encode.ignore-null-fields", drops_nulls, .def = "false", \
           .doc = "Columns that are NULL are left out of the object."), \
    SR_OPT(struct json_conf, "decode.json-parser.enabled", has_parser, .def = "true", \
           .flags = SR_OPT_IGNORED, \
           .doc = "Which of Flink's two parsers reads; there is one here.")
/* clang-format on */

#endif
