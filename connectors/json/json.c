#include "connectors/json/cdc.h"

#include <stdio.h>
#include <stdlib.h>
#include <streamrun/plugin.h>

#include "connectors/json/json_opts.h"

const char *const json_stamps[] = {"SQL", "ISO-8601", "ISO-8601-WITH-OFFSET", NULL};
const char *const json_null_keys[] = {"FAIL", "DROP", "LITERAL", NULL};

/* clang-format off */
static const struct sr_opt json_opts[] = {
    JSON_OPTS,
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
