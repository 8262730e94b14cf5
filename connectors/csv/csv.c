#include "connectors/csv/csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <streamrun/plugin.h>
#include <string.h>

#include "connectors/csv/csv_nest.h"
#include "connectors/csv/csv_scan.h"

static const char *const csv_headers[] = {"none", "skip", "match", NULL};

/* clang-format off */
static const struct sr_opt csv_opts[] = {
    SR_OPT(struct csv_conf, "field-delimiter", delimiter, .def = ",",
           .doc = "The character between fields; \\t and U&'\\0001' may be written for those that "
                  "cannot be seen."),
    SR_OPT(struct csv_conf, "disable-quote-character", is_quote_disabled, .def = "false",
           .doc = "No character quotes: a quote is a character like any other."),
    SR_OPT(struct csv_conf, "quote-character", quote, .def = "\"",
           .doc = "The character around fields that hold delimiters, newlines or quotes."),
    SR_OPT(struct csv_conf, "escape-character", escape,
           .doc = "The character that takes the meaning from the one behind it; none unless set."),
    SR_OPT(struct csv_conf, "allow-comments", has_comments, .def = "false",
           .doc = "Lines that begin with # are skipped."),
    SR_OPT(struct csv_conf, "ignore-parse-errors", is_lenient, .def = "false",
           .doc = "Fields that cannot be read become NULL and records that cannot be read are "
                  "skipped, instead of being bad records."),
    SR_OPT(struct csv_conf, "null-literal", null_literal,
           .doc = "The text, unquoted, that stands for NULL. Not set: an empty field is '' for "
                  "STRING and NULL for other types, and NULL is written as nothing."),
    SR_OPT(struct csv_conf, "array-element-delimiter", array_delimiter, .def = ";",
           .doc = "What stands between the elements of an ARRAY, and the fields of a ROW."),
    SR_OPT(struct csv_conf, "write-bigdecimal-in-scientific-notation", is_scientific,
           .def = "true",
           .doc = "DECIMAL 100000 is written 1E+5 and 1.10 as 1.1; false: all digits, as they are."),
    SR_OPT(struct csv_conf, "header", header, .def = "none", .choices = csv_headers,
           .flags = SR_OPT_OURS,
           .doc = "Whether a file begins with a header line: none; skip: read and forgotten; match: "
                  "it must name the schema's columns, in their order."),
    SR_OPT(struct csv_conf, "write-header", has_head, .def = "false", .flags = SR_OPT_OURS,
           .doc = "Each file begins with a line of column names."),
    SR_OPT_END};
/* clang-format on */

static sr_rc csv_fail(struct sr_error *err, const char *key, const char *value, const char *words)
{
    if (err) {
        err->rc = SR_ECONFIG;
        (void)snprintf(err->words, sizeof(err->words), "csv.%s: '%.60s' %s", key, value, words);
    }
    return SR_ECONFIG;
}

/* The one byte that an option's text stands for: itself, \t, \\, \0001, U&'\0001'; -1: none. */
static int csv_character(const char *s)
{
    size_t len = strlen(s);
    if (len == 1) {
        return (unsigned char)s[0];
    }
    if (len > 4 && strncmp(s, "U&'", 3) == 0 && s[len - 1] == '\'') {
        s += 3;
        len -= 4;
    }
    if (len < 2 || s[0] != '\\') {
        return CSV_NONE;
    }
    if (len == 2) {
        return s[1] == 't' ? '\t' : (s[1] == '\\' ? '\\' : CSV_NONE);
    }
    s += s[1] == 'u' ? 2 : 1;
    char *end = NULL;
    long code = strtol(s, &end, 16);
    return end == s + 4 && *end != ' ' && code > 0 && code < 128 ? (int)code : CSV_NONE;
}

static sr_rc csv_take(struct sr_error *err, const char *key, const char *value, int *out)
{
    *out = csv_character(value);
    if (*out == CSV_NONE || *out >= 128) {
        return csv_fail(err, key, value, "is not a single ASCII character");
    }
    if (*out == '\n' || *out == '\r' || *out == 0) {
        return csv_fail(err, key, value, "cannot be a line end: those separate records");
    }
    return SR_OK;
}

sr_rc csv_dialect_init(struct csv_dialect *d, const struct csv_conf *conf, struct sr_error *err)
{
    *d = (struct csv_dialect){.delimiter = CSV_NONE,
                              .quote = CSV_NONE,
                              .escape = CSV_NONE,
                              .has_comments = conf->has_comments,
                              .is_lenient = conf->is_lenient,
                              .null_literal = conf->null_literal,
                              .decimal =
                                  conf->is_scientific ? VALUE_DECIMAL_JAVA : VALUE_DECIMAL_FULL,
                              .inner = conf->array_delimiter ? conf->array_delimiter : ";"};
    d->inner_len = (uint32_t)strlen(d->inner);
    d->null_len = conf->null_literal ? (uint32_t)strlen(conf->null_literal) : 0;
    sr_rc rc = csv_take(err, "field-delimiter", conf->delimiter, &d->delimiter);
    if (rc == SR_OK && !conf->is_quote_disabled) {
        rc = csv_take(err, "quote-character", conf->quote, &d->quote);
    }
    if (rc == SR_OK && conf->escape) {
        rc = csv_take(err, "escape-character", conf->escape, &d->escape);
    }
    if (rc != SR_OK) {
        return rc;
    }
    if (d->delimiter == d->quote) {
        return csv_fail(err, "quote-character", conf->quote, "is the field delimiter too");
    }
    if (d->delimiter == d->escape) {
        return csv_fail(err, "escape-character", conf->escape, "is the field delimiter too");
    }
    if (d->inner_len == 0 || strpbrk(d->inner, "\r\n")) {
        return csv_fail(err, "array-element-delimiter", d->inner, "must be a text within a line");
    }
    if (d->escape == d->quote) {
        d->escape = CSV_NONE; /* a doubled quote is what that means, and it is read anyway */
    }
    for (uint32_t i = 0; i < d->null_len; i++) {
        int c = (unsigned char)d->null_literal[i];
        if (c == d->delimiter || c == d->quote || c == d->escape || c == '\n' || c == '\r') {
            return csv_fail(err, "null-literal", d->null_literal,
                            "holds a delimiter, a quote, an escape or a line end");
        }
    }
    return SR_OK;
}

static sr_rc csv_check_schema(const struct sr_schema *schema, struct sr_error *err)
{
    for (uint32_t i = 0; i < schema->fields; i++) {
        const struct sr_field *f = &schema->field[i];
        if (csv_nest_can(&f->type)) {
            continue;
        }
        char type[48];
        value_type_name(&f->type, type);
        if (err) {
            err->rc = SR_ECONFIG;
            (void)snprintf(err->words, sizeof(err->words),
                           "column '%.60s': type %s is not supported by this format, "
                           "only ARRAY and ROW of simple types are; declare it STRING to get its "
                           "text",
                           f->name, type);
        }
        return SR_ECONFIG;
    }
    return node_check_schema(schema, false, "the csv format", err);
}

sr_rc csv_columns_init(struct csv_columns *k, const struct sr_format_open *o, struct sr_error *err)
{
    const struct sr_schema *s = o->schema;
    uint32_t nodes = 0;
    sr_rc rc = csv_check_schema(s, err);
    if (rc != SR_OK) {
        return rc;
    }
    k->value = calloc(s->fields + 1, sizeof(*k->value));
    k->node = node_new(s, MOMENT_SPACE | MOMENT_T, MOMENT_SPACE, &nodes);
    if (!k->value || !k->node) {
        return o->host->fail(o->host, err, SR_ENOMEM, "csv: out of memory");
    }
    k->count = s->fields;
    k->schema = s;
    for (uint32_t i = 0; i < s->fields; i++) {
        k->value[i] = k->node[i].value;
        k->has_nested = k->has_nested || k->value[i].op == VALUE_NESTED;
    }
    return SR_OK;
}

void csv_columns_done(struct csv_columns *k)
{
    free(k->value);
    free(k->node);
    *k = (struct csv_columns){0};
}

/* Only where no newline can be quoted or escaped is every newline the end of a record. */
static sr_rc csv_check(const void *conf, const struct sr_schema *schema, bool is_write,
                       uint32_t *flags, struct sr_error *err)
{
    (void)is_write;
    struct csv_dialect d;
    sr_rc rc = csv_dialect_init(&d, conf, err);
    if (rc == SR_OK) {
        rc = csv_check_schema(schema, err);
    }
    *flags = SR_FORMAT_RESYNC;
    *flags |= d.quote == CSV_NONE && d.escape == CSV_NONE ? SR_FORMAT_LINES : 0;
    return rc;
}

static const struct sr_format_type csv_type = {
    .size = sizeof(struct sr_format_type),
    .name = "csv",
    .doc = "Comma-separated values, as RFC 4180 and Flink have them.",
    .opts = csv_opts,
    .conf_size = sizeof(struct csv_conf),
    .decoder_size = sizeof(struct csv_decoder),
    .encoder_size = sizeof(struct csv_encoder),
    .check = csv_check,
    .decode_open = csv_decode_open,
    .decode = csv_decode,
    .decode_close = csv_decode_close,
    .encode_open = csv_encode_open,
    .encode_head = csv_encode_head,
    .encode = csv_encode,
    .encode_close = csv_encode_close,
};

static const struct sr_format_type *const csv_formats[] = {&csv_type, NULL};

SR_PLUGIN(csv) = {
    .abi_major = SR_ABI_MAJOR,
    .abi_minor = SR_ABI_MINOR,
    .name = "csv",
    .version = "0.1.0",
    .doc = "The csv format.",
    .formats = csv_formats,
};
