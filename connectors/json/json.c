#include "connectors/json/cdc.h"

#include <stdio.h>
#include <stdlib.h>
#include <streamrun/plugin.h>

const char *const json_stamps[] = {"SQL", "ISO-8601", "ISO-8601-WITH-OFFSET", NULL};
const char *const json_null_keys[] = {"FAIL", "DROP", "LITERAL", NULL};

/* clang-format off */
static const struct sr_opt json_opts[] = {
    SR_OPT(struct json_conf, "fail-on-missing-field", is_missing_fatal, .def = "false",
           .doc = "An object without one of the columns is a bad record; else that column is NULL."),
    SR_OPT(struct json_conf, "ignore-parse-errors", is_lenient, .def = "false",
           .doc = "Fields that cannot be read become NULL and records that are not JSON are "
                  "skipped, instead of being bad records."),
    SR_OPT(struct json_conf, "timestamp-format.standard", stamp, .def = "SQL",
           .choices = json_stamps,
           .doc = "How timestamps look: SQL: 2026-01-31 12:00:00.123; ISO-8601: with a T; "
                  "ISO-8601-WITH-OFFSET: TIMESTAMP_LTZ with any offset, written as Z."),
    SR_OPT(struct json_conf, "map-null-key.mode", map_null_key, .def = "FAIL",
           .choices = json_null_keys,
           .doc = "What becomes of a NULL key of a MAP when it is written."),
    SR_OPT(struct json_conf, "map-null-key.literal", map_null_literal, .def = "null",
           .doc = "The key that stands for NULL when map-null-key.mode is LITERAL."),
    SR_OPT(struct json_conf, "encode.decimal-as-plain-number", is_decimal_plain, .def = "false",
           .doc = "DECIMAL 0.000000027 is written 2.7E-8; true: without exponents."),
    SR_OPT(struct json_conf, "encode.ignore-null-fields", drops_nulls, .def = "false",
           .doc = "Columns that are NULL are left out of the object."),
    SR_OPT(struct json_conf, "decode.json-parser.enabled", has_parser, .def = "true",
           .flags = SR_OPT_IGNORED,
           .doc = "Which of Flink's two parsers reads; there is one here."),
    SR_OPT_END};
/* clang-format on */

sr_rc json_check(const void *conf, const struct sr_schema *schema, bool is_write, uint32_t *flags,
                 struct sr_error *err)
{
    const struct json_conf *k = conf;
    *flags = SR_FORMAT_LINES | SR_FORMAT_RESYNC;
    if (k->is_missing_fatal && k->is_lenient) {
        if (err) {
            err->rc = SR_ECONFIG;
            (void)snprintf(err->words, sizeof(err->words),
                           "json.fail-on-missing-field and json.ignore-parse-errors cannot both be "
                           "true: one sets bad records aside, the other passes over them");
        }
        return SR_ECONFIG;
    }
    return node_check_schema(schema, is_write, "the json format", err);
}

static const struct sr_format_type json_type = {
    .size = sizeof(struct sr_format_type),
    .name = "json",
    .doc = "One JSON object a line, or a message; an array of objects is a row each. NaN and "
           "Infinity are written in quotes; half a surrogate pair makes a bad record.",
    .opts = json_opts,
    .conf_size = sizeof(struct json_conf),
    .decoder_size = sizeof(struct json_decoder),
    .encoder_size = sizeof(struct json_encoder),
    .check = json_check,
    .decode_open = json_decode_open,
    .decode = json_decode,
    .decode_close = json_decode_close,
    .encode_open = json_encode_open,
    .encode = json_encode,
    .encode_close = json_encode_close,
};

static const struct sr_format_type *const json_formats[] = {
    &json_type, &cdc_debezium_type, &cdc_maxwell_type, &cdc_canal_type, &cdc_ogg_type, NULL};

SR_PLUGIN(json) = {
    .abi_major = SR_ABI_MAJOR,
    .abi_minor = SR_ABI_MINOR,
    .name = "json",
    .version = "0.1.0",
    .doc = "The json format, and those of changes in JSON.",
    .formats = json_formats,
};
