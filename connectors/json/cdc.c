#include "connectors/json/cdc.h"

#include <stdio.h>

#include "connectors/json/cdc_filter.h"

/* --- Dialects -------------------------------------------------------------------------------- */

static const struct cdc_dialect cdc_debezium = {
    .can_have_schema = true,
    .member = {[CDC_BEFORE] = "before", [CDC_AFTER] = "after", [CDC_KIND] = "op"},
    .kind = {{"c", CDC_INSERT}, {"r", CDC_INSERT}, {"u", CDC_UPDATE}, {"d", CDC_DELETE}},
    .beside = {{"ts_ms", NULL, true},
               {"source", "ts_ms", true},
               {"source", "db", false},
               {"source", "schema", false},
               {"source", "table", false},
               {"source", NULL, false}},
    .kinds = "c, r, u or d",
    .no_old = ": REPLICA IDENTITY FULL makes PostgreSQL send it",
    .put = {
        {{"{\"before\":null,\"after\":", ",\"op\":\"c\"}\n"}, {"{\"after\":", ",\"op\":\"c\"}\n"}},
        {{"{\"before\":", ",\"after\":null,\"op\":\"d\"}\n"},
         {"{\"before\":", ",\"op\":\"d\"}\n"}}}};

static const struct cdc_dialect cdc_ogg = {
    .member = {[CDC_BEFORE] = "before", [CDC_AFTER] = "after", [CDC_KIND] = "op_type"},
    .kind = {{"I", CDC_INSERT}, {"U", CDC_UPDATE}, {"D", CDC_DELETE}},
    .beside = {{"table", NULL, false}, {"primary_keys", NULL, false}},
    .kinds = "I, U or D",
    .no_old = "",
    .put = {{{"{\"before\":null,\"after\":", ",\"op_type\":\"I\"}\n"},
             {"{\"after\":", ",\"op_type\":\"I\"}\n"}},
            {{"{\"before\":", ",\"after\":null,\"op_type\":\"D\"}\n"},
             {"{\"before\":", ",\"op_type\":\"D\"}\n"}}}};

static const struct cdc_dialect cdc_maxwell = {
    .member = {[CDC_BEFORE] = "old", [CDC_AFTER] = "data", [CDC_KIND] = "type"},
    .is_old = true,
    .kind = {{"insert", CDC_INSERT}, {"update", CDC_UPDATE}, {"delete", CDC_DELETE}},
    .beside = {{"database", NULL, false},
               {"table", NULL, false},
               {"primary_key_columns", NULL, false},
               {"ts", NULL, true}},
    .kinds = "insert, update or delete",
    .put = {
        {{"{\"data\":", ",\"type\":\"insert\"}\n"}, {"{\"data\":", ",\"type\":\"insert\"}\n"}},
        {{"{\"data\":", ",\"type\":\"delete\"}\n"}, {"{\"data\":", ",\"type\":\"delete\"}\n"}}}};

static const struct cdc_dialect cdc_canal = {
    .member = {[CDC_BEFORE] = "old",
               [CDC_AFTER] = "data",
               [CDC_KIND] = "type",
               [CDC_DATABASE] = "database",
               [CDC_TABLE] = "table",
               [CDC_DDL] = "isDdl"},
    .is_old = true,
    .is_array = true,
    .kind = {{"INSERT", CDC_INSERT},
             {"UPDATE", CDC_UPDATE},
             {"DELETE", CDC_DELETE},
             {"CREATE", CDC_NOTHING}},
    .beside = {{"database", NULL, false},
               {"table", NULL, false},
               {"sqlType", NULL, false},
               {"pkNames", NULL, false},
               {"ts", NULL, true},
               {"es", NULL, true}},
    .kinds = "INSERT, UPDATE or DELETE",
    .put = {
        {{"{\"data\":[", "],\"type\":\"INSERT\"}\n"}, {"{\"data\":[", "],\"type\":\"INSERT\"}\n"}},
        {{"{\"data\":[", "],\"type\":\"DELETE\"}\n"},
         {"{\"data\":[", "],\"type\":\"DELETE\"}\n"}}}};

/* --- Metadata, in the order of the dialects' `beside` ----------------------------------------- */

#define CDC_NULLABLE(k, n, c)                                            \
    {                                                                    \
        .kind = (k), .is_nullable = true, .length = (n), .children = (c) \
    }
#define CDC_TEXT CDC_NULLABLE(SR_VARCHAR, SR_LENGTH_MAX, 0)
#define CDC_TIME CDC_NULLABLE(SR_TIMESTAMP_LTZ, 3, 0)

static const struct sr_field cdc_texts[] = {{"", CDC_TEXT}};
static const struct sr_field cdc_text_to_text[] = {{"", CDC_TEXT}, {"", CDC_TEXT}};
static const struct sr_field cdc_text_to_int[] = {{"", CDC_TEXT}, {"", CDC_NULLABLE(SR_INT, 0, 0)}};

#define CDC_TEXTS                                                                \
    {                                                                            \
        .kind = SR_ARRAY, .is_nullable = true, .children = 1, .child = cdc_texts \
    }
#define CDC_MAP(to)                                                       \
    {                                                                     \
        .kind = SR_MAP, .is_nullable = true, .children = 2, .child = (to) \
    }

static const struct sr_metadata cdc_debezium_metadata[] = {
    {"ingestion-timestamp", CDC_TIME, "When Debezium handled the change: ts_ms."},
    {"source.timestamp", CDC_TIME, "When the change was made in the database: source.ts_ms."},
    {"source.database", CDC_TEXT, "The database: source.db."},
    {"source.schema", CDC_TEXT, "The schema: source.schema."},
    {"source.table", CDC_TEXT, "The table: source.table."},
    {"source.properties", CDC_MAP(cdc_text_to_text), "All members of source, as text."},
    {.name = NULL}};

static const struct sr_metadata cdc_ogg_metadata[] = {
    {"table", CDC_TEXT, "The table, with its schema."},
    {"primary-keys", CDC_TEXTS, "Columns of the primary key: primary_keys."},
    {.name = NULL}};

static const struct sr_metadata cdc_maxwell_metadata[] = {
    {"database", CDC_TEXT, "The database."},
    {"table", CDC_TEXT, "The table."},
    {"primary-key-columns", CDC_TEXTS, "Columns of the primary key: primary_key_columns."},
    {"ingestion-timestamp", CDC_TIME, "When the change was handled: ts, taken as milliseconds."},
    {.name = NULL}};

static const struct sr_metadata cdc_canal_metadata[] = {
    {"database", CDC_TEXT, "The database."},
    {"table", CDC_TEXT, "The table."},
    {"sql-type", CDC_MAP(cdc_text_to_int), "JDBC's number of each column's type: sqlType."},
    {"pk-names", CDC_TEXTS, "Columns of the primary key: pkNames."},
    {"ingestion-timestamp", CDC_TIME, "When Canal handled the change: ts."},
    {"event-timestamp", CDC_TIME, "When the change was made in the database: es."},
    {.name = NULL}};

/* --- Options --------------------------------------------------------------------------------- */

/* clang-format off */
#define CDC_OPTS \
    SR_OPT(struct cdc_conf, "ignore-parse-errors", json.is_lenient, .def = "false", \
           .doc = "Fields that cannot be read become NULL and records that are no change of a row " \
                  "are skipped, instead of being bad records."), \
    SR_OPT(struct cdc_conf, "timestamp-format.standard", json.stamp, .def = "SQL", \
           .choices = json_stamps, \
           .doc = "How timestamps look: SQL: 2026-01-31 12:00:00.123; ISO-8601: with a T; " \
                  "ISO-8601-WITH-OFFSET: TIMESTAMP_LTZ with any offset, written as Z."), \
    SR_OPT(struct cdc_conf, "map-null-key.mode", json.map_null_key, .def = "FAIL", \
           .choices = json_null_keys, \
           .doc = "What becomes of a NULL key of a MAP when it is written."), \
    SR_OPT(struct cdc_conf, "map-null-key.literal", json.map_null_literal, .def = "null", \
           .doc = "The key that stands for NULL when map-null-key.mode is LITERAL."), \
    SR_OPT(struct cdc_conf, "encode.decimal-as-plain-number", json.is_decimal_plain, \
           .def = "false", \
           .doc = "DECIMAL 0.000000027 is written 2.7E-8; true: without exponents."), \
    SR_OPT(struct cdc_conf, "encode.ignore-null-fields", json.drops_nulls, .def = "false", \
           .doc = "Columns that are NULL are left out of the object.")

static const struct sr_opt cdc_opts[] = {CDC_OPTS, SR_OPT_END};

static const struct sr_opt cdc_debezium_opts[] = {
    CDC_OPTS,
    SR_OPT(struct cdc_conf, "schema-include", has_schema, .def = "false",
           .doc = "Records stand in a \"payload\" beside their \"schema\", as Kafka Connect writes "
                  "them unless schemas.enable is false. For reading only."),
    SR_OPT_END};

static const struct sr_opt cdc_canal_opts[] = {
    CDC_OPTS,
    SR_OPT(struct cdc_conf, "database.include", database,
           .doc = "A regular expression: changes of other databases are skipped."),
    SR_OPT(struct cdc_conf, "table.include", table,
           .doc = "A regular expression: changes of other tables are skipped."),
    SR_OPT_END};
/* clang-format on */

static sr_rc cdc_check_pattern(const char *pattern, struct sr_error *err)
{
    char words[128];
    struct cdc_filter *f = pattern ? cdc_filter_new(pattern, words) : NULL;
    if (pattern && !f && err) {
        err->rc = SR_ECONFIG;
        (void)snprintf(err->words, sizeof(err->words), "'%.100s' is no regular expression: %s",
                       pattern, words);
    }
    sr_rc rc = pattern && !f ? SR_ECONFIG : SR_OK;
    cdc_filter_free(f);
    return rc;
}

static sr_rc cdc_check(const void *conf, const struct sr_schema *schema, bool is_write,
                       uint32_t *flags, struct sr_error *err)
{
    const struct cdc_conf *k = conf;
    if (is_write && k->has_schema) {
        if (err) {
            err->rc = SR_ECONFIG;
            (void)snprintf(err->words, sizeof(err->words),
                           "schema-include is for reading: records are written without a schema");
        }
        return SR_ECONFIG;
    }
    sr_rc rc = json_check(&k->json, schema, is_write, flags, err);
    *flags |= SR_FORMAT_CHANGES;
    rc = rc == SR_OK ? cdc_check_pattern(k->database, err) : rc;
    return rc == SR_OK ? cdc_check_pattern(k->table, err) : rc;
}

/* --- Formats --------------------------------------------------------------------------------- */

#define CDC_OPEN(dialect)                                                         \
    static sr_rc dialect##_decode_open(void *dec, const struct sr_format_open *o, \
                                       struct sr_error *err)                      \
    {                                                                             \
        return cdc_decode_open(dec, &dialect, o, err);                            \
    }                                                                             \
    static sr_rc dialect##_encode_open(void *enc, const struct sr_format_open *o, \
                                       struct sr_error *err)                      \
    {                                                                             \
        return cdc_encode_open(enc, &dialect, o, err);                            \
    }
CDC_OPEN(cdc_debezium)
CDC_OPEN(cdc_ogg)
CDC_OPEN(cdc_maxwell)
CDC_OPEN(cdc_canal)
#undef CDC_OPEN

#define CDC_TYPE(dialect, format, options, words)                                               \
    {                                                                                           \
        .size = sizeof(struct sr_format_type), .name = format, .doc = words, .opts = options,   \
        .conf_size = sizeof(struct cdc_conf), .decoder_size = sizeof(struct cdc_decoder),       \
        .encoder_size = sizeof(struct cdc_encoder), .check = cdc_check,                         \
        .decode_open = dialect##_decode_open, .decode = json_decode,                            \
        .decode_close = cdc_decode_close, .encode_open = dialect##_encode_open,                 \
        .encode = cdc_encode, .encode_close = json_encode_close, .metadata = dialect##_metadata \
    }

const struct sr_format_type cdc_debezium_type =
    CDC_TYPE(cdc_debezium, "debezium-json", cdc_debezium_opts,
             "Changes of rows as Debezium writes them: an update is -U and +U, a delete -D.");
const struct sr_format_type cdc_ogg_type =
    CDC_TYPE(cdc_ogg, "ogg-json", cdc_opts,
             "Changes of rows as Oracle GoldenGate writes them: an update is -U and +U, a delete "
             "-D.");
const struct sr_format_type cdc_maxwell_type =
    CDC_TYPE(cdc_maxwell, "maxwell-json", cdc_opts,
             "Changes of rows as Maxwell writes them: an update is -U and +U, a delete -D.");
const struct sr_format_type cdc_canal_type =
    CDC_TYPE(cdc_canal, "canal-json", cdc_canal_opts,
             "Changes of rows as Canal writes them: an update is -U and +U, a delete -D; DDL is "
             "skipped.");
