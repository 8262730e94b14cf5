/* The formats avro and avro-confluent: records in Avro's binary encoding, each a message.
 *
 * A record has no delimiter, so both need a connector whose records are framed. Of `avro` the
 * schema is that of the columns, as Flink makes it; in `avro-confluent` each record begins with the
 * number of the schema that it was written with, which a schema registry knows.
 */
#include "connectors/avro/avro.h"

#include <stdio.h>
#include <stdlib.h>
#include <streamrun/plugin.h>
#include <string.h>

#include "connectors/avro/avro_read.h"
#include "connectors/avro/avro_write.h"

static const char *const avro_encodings[] = {"binary", NULL};

/* clang-format off */
#define AVRO_LEGACY \
    SR_OPT(struct avro_conf, "timestamp_mapping.legacy", is_legacy, .def = "true", \
           .doc = "Timestamps as Flink mapped them before 1.19: TIMESTAMP up to 3 digits is timestamp-millis, and " \
                  "TIMESTAMP_LTZ has no Avro type. With false TIMESTAMP up to 6 digits is local-timestamp-millis or " \
                  "-micros, and TIMESTAMP_LTZ timestamp-millis or -micros.")

const struct sr_opt avro_opts[] = {
    AVRO_LEGACY,
    SR_OPT(struct avro_conf, "encoding", encoding, .def = "binary", .choices = avro_encodings,
           .doc = "How records are encoded: binary; Flink's `json` is not there."),
    SR_OPT(struct avro_conf, "codec", codec, .flags = SR_OPT_IGNORED,
           .doc = "How Flink compresses Avro's container files, which are not there."),
    SR_OPT_END};

const struct sr_opt avro_confluent_opts[] = {
    SCHEMAS_OPTS(struct avro_conf),
    SR_OPT(struct avro_conf, "schema", schema,
           .doc = "The Avro schema that a sink writes with, as JSON, instead of that of its columns: fields go by name, "
                  "and those without a column must be able to be null."),
    AVRO_LEGACY,
    SR_OPT_END};
/* clang-format on */

static sr_rc avro_say(struct sr_error *err, const char *words)
{
    if (err) {
        err->rc = SR_ECONFIG;
        (void)snprintf(err->words, sizeof(err->words), "%s", words);
    }
    return SR_ECONFIG;
}

/* --- Schemas. --------------------------------------------------------------------------------- */

bool avro_resolve(struct avro_known_schema *k, const char *text, const struct sr_schema *columns,
                  bool is_write)
{
    bool is_read = avro_schema_read(&k->schema, text, k->why);
    k->plan = is_read ? avro_plan_new(&k->schema, columns, is_write, k->why) : NULL;
    return k->plan != NULL;
}

void avro_forget(struct avro_known_schema *k)
{
    avro_plan_free(k->plan);
    avro_schema_done(&k->schema);
    *k = (struct avro_known_schema){0};
}

char *avro_text_of(const struct avro_conf *conf, const struct sr_schema *columns, char why[160])
{
    char *text =
        conf->schema ? strdup(conf->schema) : avro_schema_of(columns, conf->is_legacy, why);
    if (!text && conf->schema) {
        (void)snprintf(why, 160, "out of memory");
    }
    return text;
}

static sr_rc avro_check(const void *conf, const struct sr_schema *schema, bool is_write,
                        uint32_t *flags, struct sr_error *err)
{
    struct avro_known_schema k = {0};
    *flags = SR_FORMAT_MESSAGES;
    char *text = avro_text_of(conf, schema, k.why);
    bool is_good = text && avro_resolve(&k, text, schema, is_write);
    sr_rc rc = is_good ? SR_OK : avro_say(err, k.why);
    avro_forget(&k);
    free(text);
    return rc;
}

static sr_rc avro_confluent_check(const void *conf, const struct sr_schema *schema, bool is_write,
                                  uint32_t *flags, struct sr_error *err)
{
    const struct avro_conf *k = conf;
    sr_rc rc = schemas_check(&k->registry, "avro-confluent", is_write, err);
    if (rc != SR_OK) {
        *flags = SR_FORMAT_MESSAGES;
        return rc;
    }
    return avro_check(conf, schema, is_write, flags, err);
}

/* --- Reading. --------------------------------------------------------------------------------- */

static sr_rc avro_confluent_decode_open(void *dec, const struct sr_format_open *o,
                                        struct sr_error *err)
{
    struct avro_decoder *x = dec;
    (void)err;
    x->host = o->host;
    x->conf = o->conf;
    x->columns = o->schema;
    return SR_OK;
}

static sr_rc avro_decode_open(void *dec, const struct sr_format_open *o, struct sr_error *err)
{
    struct avro_decoder *x = dec;
    (void)avro_confluent_decode_open(dec, o, err);
    char *text = avro_text_of(o->conf, o->schema, x->own.why);
    bool is_good = text && avro_resolve(&x->own, text, o->schema, false);
    free(text);
    return is_good ? SR_OK : o->host->fail(o->host, err, SR_ECONFIG, "avro: %s", x->own.why);
}

static void avro_decode_close(void *dec)
{
    struct avro_decoder *x = dec;
    avro_forget(&x->own);
    for (uint32_t i = 0; i < x->knowns; i++) {
        avro_forget(x->known[i]);
        free(x->known[i]);
    }
    free(x->known);
    schemas_fetch_free(x->fetch);
    x->known = NULL;
    x->knowns = 0;
    x->fetch = NULL;
}

/* A bad record; false: the list is full. */
static bool avro_refuse(struct sr_decode *d, struct sr_span m, const char *words, uint32_t mark)
{
    if (d->bads == SR_BAD_MAX) {
        return false;
    }
    struct sr_bad *bad = &d->bad[d->bads++];
    *bad = (struct sr_bad){.at = m.at, .len = m.len, .row = d->out->rows, .mark = mark};
    (void)snprintf(bad->words, sizeof(bad->words), "%.150s", words);
    return true;
}

/* The schema of a record. SR_EBUSY: it is not known yet. *why: the record is bad. */
static sr_rc avro_schema_for(struct avro_decoder *x, const struct sr_decode *d, struct sr_span m,
                             const struct avro_known_schema **out, const char **why,
                             struct sr_error *err)
{
    uint32_t id = 0;
    *why = NULL;
    *out = &x->own;
    if (x->own.plan) {
        return SR_OK;
    }
    if (!schemas_framed(d->bytes + m.at, m.len, &id)) {
        *why = SCHEMAS_NO_FRAME;
        return SR_OK;
    }
    sr_rc rc = avro_find(x, id, d->may_wait, out, err);
    *why = rc == SR_OK && !(*out)->plan ? (*out)->why : NULL;
    return rc;
}

/* One record. SR_OK with *is_taken false: no room for one more bad one, or its schema is waited
 * for. */
static sr_rc avro_take_record(struct avro_decoder *x, struct sr_decode *d, struct sr_span m,
                              bool *is_taken, struct sr_error *err)
{
    const uint8_t *bytes = d->bytes + m.at;
    const char *why;
    struct avro_fault fault;
    const struct avro_known_schema *k;
    sr_rc rc = avro_schema_for(x, d, m, &k, &why, err);
    if (rc == SR_EBUSY) {
        d->wait_us = SCHEMAS_LOOK_US;
        *is_taken = false;
        return SR_OK;
    }
    if (rc != SR_OK || why) {
        *is_taken = rc == SR_OK && avro_refuse(d, m, why, 0);
        return rc;
    }
    uint32_t frame = k == &x->own ? 0 : SCHEMAS_FRAME_BYTES;
    if (avro_read_row(k->plan, d->out, bytes + frame, m.len - frame, &fault)) {
        d->row_at[d->out->rows] = m.at;
        sr_row_done(d->out);
        *is_taken = true;
        return SR_OK;
    }
    sr_row_drop(d->out);
    *is_taken = avro_refuse(d, m, fault.why, frame + fault.mark + 1);
    return SR_OK;
}

static sr_rc avro_decode(void *dec, struct sr_decode *d, struct sr_error *err)
{
    struct avro_decoder *x = dec;
    sr_rc rc = SR_OK;
    bool is_taken = true;
    d->used = d->bads = d->skipped = 0;
    if (!d->record) {
        return x->host->fail(x->host, err, SR_ECONFIG,
                             "avro: records have no end of their own; this connector frames none");
    }
    while (rc == SR_OK && d->used < d->records && !sr_builder_is_full(d->out) &&
           !d->out->is_broken) {
        rc = avro_take_record(x, d, d->record[d->used], &is_taken, err);
        if (!is_taken) {
            break;
        }
        d->used++;
    }
    return rc == SR_OK && d->out->is_broken
               ? x->host->fail(x->host, err, SR_ENOMEM, "avro: out of memory")
               : rc;
}

/* --- Writing. --------------------------------------------------------------------------------- */

static sr_rc avro_encode_begin(struct avro_encoder *x, const struct sr_format_open *o,
                               bool has_registry, struct sr_error *err)
{
    struct avro_known_schema k = {0};
    char *text = avro_text_of(o->conf, o->schema, k.why);
    bool is_good = text && avro_resolve(&k, text, o->schema, true);
    x->host = o->host;
    x->schema = k.schema;
    x->plan = k.plan;
    sr_rc rc = is_good ? SR_OK : o->host->fail(o->host, err, SR_ECONFIG, "avro: %s", k.why);
    if (is_good && has_registry) {
        rc = avro_register(x, o->conf, text, err);
    }
    free(text);
    return rc;
}

static sr_rc avro_encode_open(void *enc, const struct sr_format_open *o, struct sr_error *err)
{
    return avro_encode_begin(enc, o, false, err);
}

static sr_rc avro_confluent_encode_open(void *enc, const struct sr_format_open *o,
                                        struct sr_error *err)
{
    return avro_encode_begin(enc, o, true, err);
}

static void avro_encode_close(void *enc)
{
    struct avro_encoder *x = enc;
    avro_plan_free(x->plan);
    avro_schema_done(&x->schema);
    x->plan = NULL;
}

static sr_rc avro_encode(void *enc, struct sr_encode *e, struct sr_error *err)
{
    struct avro_encoder *x = enc;
    char why[160];
    e->delimiter = SR_NO_DELIMITER;
    for (e->done = 0; e->done < e->count; e->done++) {
        size_t begin = e->out->len;
        uint8_t *to = sr_out_room(e->out, SCHEMAS_FRAME_BYTES);
        if (!to) {
            return x->host->fail(x->host, err, SR_ENOMEM, "avro: out of memory");
        }
        memcpy(to, x->frame, SCHEMAS_FRAME_BYTES);
        e->out->len += x->frame_bytes;
        uint32_t r = sr_row(e->view, e->from + e->done);
        if (!avro_write_row(x->plan, e->view->col, r, e->out, why)) {
            e->out->len = begin;
            return x->host->fail(x->host, err, why[0] ? SR_EDATA : SR_ENOMEM, "avro: %s",
                                 why[0] ? why : "out of memory");
        }
        if (e->end) {
            e->end[e->done] = e->out->len;
        }
    }
    return SR_OK;
}

static sr_rc avro_confluent_ask(struct sr_ask *a, struct sr_error *err)
{
    const struct avro_conf *k = a->conf;
    return schemas_ask(&k->registry, a, err);
}

/* --- The types. ------------------------------------------------------------------------------- */

static const struct sr_format_type avro_type = {
    .size = sizeof(struct sr_format_type),
    .name = "avro",
    .doc = "A message as a record in Avro's binary encoding, with the schema of the columns, as "
           "Flink makes it.",
    .opts = avro_opts,
    .conf_size = sizeof(struct avro_conf),
    .decoder_size = sizeof(struct avro_decoder),
    .encoder_size = sizeof(struct avro_encoder),
    .check = avro_check,
    .decode_open = avro_decode_open,
    .decode = avro_decode,
    .decode_close = avro_decode_close,
    .encode_open = avro_encode_open,
    .encode = avro_encode,
    .encode_close = avro_encode_close,
};

static const struct sr_format_type avro_confluent_type = {
    .size = sizeof(struct sr_format_type),
    .name = "avro-confluent",
    .doc = "A message as an Avro record behind the number of its schema, which Confluent's schema "
           "registry knows.",
    .opts = avro_confluent_opts,
    .conf_size = sizeof(struct avro_conf),
    .decoder_size = sizeof(struct avro_decoder),
    .encoder_size = sizeof(struct avro_encoder),
    .check = avro_confluent_check,
    .decode_open = avro_confluent_decode_open,
    .decode = avro_decode,
    .decode_close = avro_decode_close,
    .encode_open = avro_confluent_encode_open,
    .encode = avro_encode,
    .encode_close = avro_encode_close,
    .ask = avro_confluent_ask,
};

static const struct sr_format_type *const avro_formats[] = {&avro_type, &avro_confluent_type, NULL};

SR_PLUGIN(avro) = {
    .abi_major = SR_ABI_MAJOR,
    .abi_minor = SR_ABI_MINOR,
    .name = "avro",
    .version = "0.1.0",
    .doc = "Avro records, with or without a schema registry.",
    .formats = avro_formats,
};
