/* The format json-confluent: an object of the json format behind the number of its schema, as
 * Confluent's JSON serializer frames it.
 *
 * Flink has no such format; its name and its options follow Flink's avro-confluent and json. The
 * number of a record is asked for once, and must be that of a JSON schema: records of another
 * type, or of another registry, are bad. What the schema says is not checked: columns are found by
 * their names, as in json.
 */
#include <stdio.h>
#include <stdlib.h>
#include <streamrun/plugin.h>
#include <string.h>

#include "connectors/confluent/json_schema.h"
#include "connectors/json/json_opts.h"
#include "connectors/schemas/schemas.h"

#define CONFLUENT_SCHEMAS_MAX 1000u /* numbers that one decoder keeps */

struct confluent_conf {
    struct json_conf json; /* first: its rows of the table fill it */
    struct schemas_conf registry;
    const char *schema;
    bool checks; /* whether numbers are asked for */
};

/* clang-format off */
static const struct sr_opt confluent_opts[] = {
    SCHEMAS_OPTS(struct confluent_conf),
    SR_OPT(struct confluent_conf, "schema", schema,
           .doc = "The JSON schema that a sink registers, instead of that of its columns. Rows are not checked against it."),
    SR_OPT(struct confluent_conf, "check-schema-id", checks, .def = "true",
           .doc = "A source asks the registry for each number once: a record whose number is not that of a JSON schema is "
                  "bad. With false the registry is not asked, and any number is taken."),
    JSON_OPTS,
    SR_OPT_END};
/* clang-format on */

static sr_rc confluent_check(const void *conf, const struct sr_schema *schema, bool is_write,
                             uint32_t *flags, struct sr_error *err)
{
    const struct confluent_conf *k = conf;
    sr_rc rc = schemas_check(&k->registry, "json-confluent", is_write, err);
    rc = rc == SR_OK ? json_check(&k->json, schema, is_write, flags, err) : rc;
    *flags = SR_FORMAT_MESSAGES;
    return rc;
}

static sr_rc confluent_ask(struct sr_ask *a, struct sr_error *err)
{
    const struct confluent_conf *k = a->conf;
    return schemas_ask(&k->registry, a, err);
}

/* --- Reading ---------------------------------------------------------------------------------- */

struct confluent_known {
    uint32_t id;
    char why[160]; /* its records are bad; "": they are not */
};

struct confluent_decoder {
    struct json_decoder json; /* of what stands behind the frames */
    const struct sr_host *host;
    const struct confluent_conf *conf;
    struct confluent_known *known; /* owned */
    uint32_t knowns, last;
    struct schemas_fetch *fetch; /* a number that is asked for; NULL: none is */
    struct sr_span *span;        /* records without their frames; owned */
};

static sr_rc confluent_decode_open(void *dec, const struct sr_format_open *o, struct sr_error *err)
{
    struct confluent_decoder *x = dec;
    struct sr_format_open inner = *o;
    x->host = o->host;
    x->conf = o->conf;
    inner.conf = &x->conf->json;
    sr_rc rc = json_decode_open(&x->json, &inner, err);
    x->known = calloc(CONFLUENT_SCHEMAS_MAX, sizeof(*x->known));
    x->span = calloc(SR_BATCH_ROWS, sizeof(*x->span));
    if (rc == SR_OK && (!x->known || !x->span)) {
        rc = o->host->fail(o->host, err, SR_ENOMEM, "json-confluent: out of memory");
    }
    return rc;
}

static void confluent_decode_close(void *dec)
{
    struct confluent_decoder *x = dec;
    json_decode_close(&x->json);
    schemas_fetch_free(x->fetch);
    free(x->known);
    free(x->span);
    x->fetch = NULL;
    x->known = NULL;
    x->span = NULL;
}

/* Asks for a number that is not known. SR_EBUSY: not yet. */
static sr_rc confluent_fetch(struct confluent_decoder *x, uint32_t id, bool may_wait,
                             struct sr_error *err)
{
    if (x->knowns == CONFLUENT_SCHEMAS_MAX) {
        return x->host->fail(x->host, err, SR_ELIMIT,
                             "json-confluent: records of more than %u schemas",
                             CONFLUENT_SCHEMAS_MAX);
    }
    struct schemas_wanted wanted = {
        .conf = &x->conf->registry, .type = "JSON", .id = id, .may_wait = may_wait};
    char *text = NULL, why[SCHEMAS_WHY] = "";
    sr_rc rc = schemas_fetch(&x->fetch, &wanted, &text, why);
    if (rc == SR_EBUSY) {
        return rc;
    }
    free(text);
    bool is_bad = rc == SR_EABSENT || rc == SR_EDATA;
    if (rc != SR_OK && !is_bad) {
        return x->host->fail(x->host, err, rc, "json-confluent: %s", why);
    }
    struct confluent_known *k = &x->known[x->knowns++];
    *k = (struct confluent_known){.id = id};
    if (is_bad) {
        (void)snprintf(k->why, sizeof(k->why), "%.150s", why);
    }
    return SR_OK;
}

/* Why a record with that number is bad: "" if it is not. SR_EBUSY: nobody knows yet. */
static sr_rc confluent_find(struct confluent_decoder *x, uint32_t id, bool may_wait,
                            const char **why, struct sr_error *err)
{
    *why = "";
    if (!x->conf->checks) {
        return SR_OK;
    }
    for (uint32_t i = 0; i < x->knowns; i++) {
        uint32_t at = (x->last + i) % x->knowns; /* the one of the record before comes first */
        if (x->known[at].id == id) {
            x->last = at;
            *why = x->known[at].why;
            return SR_OK;
        }
    }
    sr_rc rc = confluent_fetch(x, id, may_wait, err);
    if (rc == SR_OK) {
        x->last = x->knowns - 1;
        *why = x->known[x->last].why;
    }
    return rc;
}

/* What is wrong with the frame of a record; "": nothing. */
static sr_rc confluent_frame(struct confluent_decoder *x, const struct sr_decode *d,
                             struct sr_span m, const char **why, struct sr_error *err)
{
    uint32_t id = 0;
    if (!schemas_framed(d->bytes + m.at, m.len, &id)) {
        *why = SCHEMAS_NO_FRAME;
        return SR_OK;
    }
    return confluent_find(x, id, d->may_wait, why, err);
}

/* Records in front of the first one whose frame is bad, or is not known yet: x->span[0, *count). */
static sr_rc confluent_run(struct confluent_decoder *x, struct sr_decode *d, uint32_t *count,
                           const char **why, struct sr_error *err)
{
    uint32_t n = 0;
    sr_rc rc = SR_OK;
    *why = "";
    while (n < d->records && n < SR_BATCH_ROWS) {
        struct sr_span m = d->record[n];
        rc = confluent_frame(x, d, m, why, err);
        if (rc != SR_OK || **why) {
            break;
        }
        x->span[n++] = (struct sr_span){m.at + SCHEMAS_FRAME_BYTES, m.len - SCHEMAS_FRAME_BYTES};
    }
    *count = n;
    return rc;
}

/* The run, by the json format; places are those of the whole records. */
static sr_rc confluent_decode_run(struct confluent_decoder *x, struct sr_decode *d, uint32_t count,
                                  struct sr_error *err)
{
    const struct sr_span *record = d->record;
    uint32_t records = d->records, before = d->out->rows;
    d->record = x->span;
    d->records = count;
    sr_rc rc = json_decode(&x->json, d, err);
    d->record = record;
    d->records = records;
    for (uint32_t r = before; r < d->out->rows; r++) {
        d->row_at[r] -= SCHEMAS_FRAME_BYTES;
    }
    for (uint32_t i = 0; i < d->bads; i++) {
        d->bad[i].at -= SCHEMAS_FRAME_BYTES;
        d->bad[i].len += SCHEMAS_FRAME_BYTES;
        d->bad[i].mark += d->bad[i].mark > 0 ? SCHEMAS_FRAME_BYTES : 0;
    }
    return rc;
}

static sr_rc confluent_decode(void *dec, struct sr_decode *d, struct sr_error *err)
{
    struct confluent_decoder *x = dec;
    const char *why = "";
    uint32_t count = 0;
    d->used = d->bads = d->skipped = d->ignored = d->left_out = 0;
    if (!d->record) {
        return x->host->fail(x->host, err, SR_ECONFIG,
                             "json-confluent: records have no end of their own; this connector "
                             "frames none");
    }
    sr_rc rc = confluent_run(x, d, &count, &why, err);
    if (count > 0) {
        return confluent_decode_run(x, d, count, err); /* what ended the run is met again */
    }
    if (rc == SR_EBUSY) {
        d->wait_us = SCHEMAS_LOOK_US;
        return SR_OK;
    }
    if (rc != SR_OK || d->records == 0) {
        return rc;
    }
    struct sr_span m = d->record[0];
    d->bad[d->bads++] = (struct sr_bad){.at = m.at, .len = m.len, .row = d->out->rows};
    (void)snprintf(d->bad[0].words, sizeof(d->bad[0].words), "%.150s", why);
    d->used = 1;
    return SR_OK;
}

/* --- Writing ---------------------------------------------------------------------------------- */

struct confluent_encoder {
    struct json_encoder json;
    const struct sr_host *host;
    uint8_t frame[SCHEMAS_FRAME_BYTES];
};

static sr_rc confluent_encode_open(void *enc, const struct sr_format_open *o, struct sr_error *err)
{
    struct confluent_encoder *x = enc;
    const struct confluent_conf *conf = o->conf;
    struct sr_format_open inner = *o;
    char why[SCHEMAS_WHY] = "out of memory";
    uint32_t id = 0;
    x->host = o->host;
    inner.conf = &conf->json;
    sr_rc rc = json_encode_open(&x->json, &inner, err);
    if (rc != SR_OK) {
        return rc;
    }
    char *text = conf->schema ? strdup(conf->schema) : json_schema_of(o->schema);
    rc = text ? schemas_put(&conf->registry, "JSON", text, &id, why) : SR_ENOMEM;
    free(text);
    if (rc != SR_OK) {
        return x->host->fail(x->host, err, rc == SR_EABSENT ? SR_EIO : rc, "json-confluent: %s",
                             why);
    }
    schemas_frame(id, x->frame);
    return SR_OK;
}

static void confluent_encode_close(void *enc)
{
    struct confluent_encoder *x = enc;
    json_encode_close(&x->json);
}

static sr_rc confluent_encode(void *enc, struct sr_encode *e, struct sr_error *err)
{
    const struct confluent_encoder *x = enc;
    e->delimiter = SR_NO_DELIMITER;
    for (e->done = 0; e->done < e->count; e->done++) {
        size_t begin = e->out->len;
        uint32_t r = sr_row(e->view, e->from + e->done);
        bool is_framed = json_encode_bytes(e->out, (const char *)x->frame, SCHEMAS_FRAME_BYTES);
        enum json_put_rc rc =
            is_framed ? json_encode_object(&x->json, e->view, r, e->out) : JSON_PUT_MEMORY;
        if (rc != JSON_PUT_OK) {
            e->out->len = begin;
            return json_encode_fail(&x->json, rc, err);
        }
        if (e->end) {
            e->end[e->done] = e->out->len;
        }
    }
    return SR_OK;
}

/* --- The type --------------------------------------------------------------------------------- */

static const struct sr_format_type confluent_type = {
    .size = sizeof(struct sr_format_type),
    .name = "json-confluent",
    .doc = "A message as a JSON object behind the number of its schema, which Confluent's schema "
           "registry knows; else as json.",
    .opts = confluent_opts,
    .conf_size = sizeof(struct confluent_conf),
    .decoder_size = sizeof(struct confluent_decoder),
    .encoder_size = sizeof(struct confluent_encoder),
    .check = confluent_check,
    .decode_open = confluent_decode_open,
    .decode = confluent_decode,
    .decode_close = confluent_decode_close,
    .encode_open = confluent_encode_open,
    .encode = confluent_encode,
    .encode_close = confluent_encode_close,
    .ask = confluent_ask,
};

static const struct sr_format_type *const confluent_formats[] = {&confluent_type, NULL};

SR_PLUGIN(confluent) = {
    .abi_major = SR_ABI_MAJOR,
    .abi_minor = SR_ABI_MINOR,
    .name = "confluent",
    .version = "0.1.0",
    .doc = "JSON records with a schema registry.",
    .formats = confluent_formats,
};
