/* The raw format: a record's bytes are the value of the one column there is.
 *
 * In a stream a record is a line, without its newline (and a carriage return before that), as in
 * Flink's file source; in messages it is the whole message. NULL is written as nothing.
 */
#include <stdio.h>
#include <streamrun/plugin.h>
#include <string.h>
#include <strings.h>

#include "connectors/text/utf8.h"
#include "connectors/text/value.h"

struct raw_conf {
    const char *charset;
    sr_choice endianness;
};

struct raw_instance {
    const struct sr_host *host;
    struct value value;
};

static const char *const raw_orders[] = {"big-endian", "little-endian", NULL};

/* clang-format off */
static const struct sr_opt raw_opts[] = {
    SR_OPT(struct raw_conf, "charset", charset, .def = "UTF-8",
           .doc = "How text is encoded. Only UTF-8 is supported; BYTES take any bytes."),
    SR_OPT(struct raw_conf, "endianness", endianness, .def = "big-endian", .choices = raw_orders,
           .flags = SR_OPT_IGNORED,
           .doc = "The order of the bytes of numbers: there are none, as text and bytes have no order."),
    SR_OPT_END};
/* clang-format on */

/* Words about something: "words: 'what'". */
static sr_rc raw_fail(struct sr_error *err, const char *words, const char *what)
{
    if (err) {
        err->rc = SR_ECONFIG;
        (void)snprintf(err->words, sizeof(err->words), "%s, not '%.60s'", words, what);
    }
    return SR_ECONFIG;
}

static sr_rc raw_check(const void *conf, const struct sr_schema *schema, bool is_write,
                       uint32_t *flags, struct sr_error *err)
{
    (void)is_write;
    const struct raw_conf *k = conf;
    char text[48];
    if (strcasecmp(k->charset, "UTF-8") != 0 && strcasecmp(k->charset, "UTF8") != 0) {
        return raw_fail(err, "raw.charset: must be UTF-8", k->charset);
    }
    if (schema->fields != 1) {
        (void)snprintf(text, sizeof(text), "%u columns", schema->fields);
        return raw_fail(err, "format raw: the schema must have exactly one column", text);
    }
    enum sr_kind kind = schema->field[0].type.kind;
    if (!sr_is_text(kind) && !sr_is_bytes(kind)) {
        value_type_name(&schema->field[0].type, text);
        return raw_fail(err, "format raw: the column must be STRING or BYTES", text);
    }
    *flags = SR_FORMAT_LINES | SR_FORMAT_RESYNC;
    return SR_OK;
}

static sr_rc raw_open(void *instance, const struct sr_format_open *o, struct sr_error *err)
{
    struct raw_instance *x = instance;
    uint32_t flags = 0;
    sr_rc rc = raw_check(o->conf, o->schema, false, &flags, err);
    x->host = o->host;
    if (rc == SR_OK) {
        (void)value_init(&x->value, &o->schema->field[0], 0, 0);
        x->value.op = VALUE_TEXT; /* bytes are not base64 here */
    }
    return rc;
}

static void raw_close(void *instance) { (void)instance; }

/* One record; false: the list of bad ones is full. */
static bool raw_put(const struct raw_instance *x, struct sr_decode *d, uint32_t at, uint32_t len)
{
    struct sr_builder *b = d->out;
    const char *s = (const char *)d->bytes + at;
    if (b->wanted[0]) {
        if (sr_is_text(x->value.type.kind) && !utf8_is_valid(s, len)) {
            struct sr_bad *bad = value_bad(d, at, len);
            if (bad) {
                value_words(bad->words, sizeof(bad->words), &x->value, VALUE_UTF8, s, len);
            }
            return bad != NULL;
        }
        (void)value_put(b, 0, &x->value, s, len, d->buffer); /* memory: b->is_broken tells */
    }
    d->row_at[b->rows] = at;
    sr_row_done(b);
    return true;
}

static void raw_decode_lines(const struct raw_instance *x, struct sr_decode *d)
{
    while (d->used < d->len && !sr_builder_is_full(d->out) && !d->out->is_broken) {
        const uint8_t *begin = d->bytes + d->used;
        const uint8_t *newline = memchr(begin, '\n', d->len - d->used);
        if (!newline && !d->at_end) {
            return;
        }
        uint32_t len = newline ? (uint32_t)(newline - begin) : d->len - d->used;
        uint32_t next = d->used + len + (newline ? 1 : 0);
        if (len > 0 && begin[len - 1] == '\r') {
            len--;
        }
        if (!raw_put(x, d, d->used, len)) {
            return;
        }
        d->used = next;
        d->lines += newline ? 1 : 0;
    }
}

static sr_rc raw_decode(void *dec, struct sr_decode *d, struct sr_error *err)
{
    const struct raw_instance *x = dec;
    d->used = d->bads = d->skipped = 0;
    value_use_buffer(d->out, &x->value, d->buffer);
    if (!d->record) {
        d->lines = 0;
        raw_decode_lines(x, d);
    }
    while (d->record && d->used < d->records && !sr_builder_is_full(d->out) && !d->out->is_broken) {
        struct sr_span m = d->record[d->used];
        if (!raw_put(x, d, m.at, m.len)) {
            break;
        }
        d->used++;
    }
    return d->out->is_broken ? x->host->fail(x->host, err, SR_ENOMEM, "raw: out of memory") : SR_OK;
}

static sr_rc raw_encode(void *enc, struct sr_encode *e, struct sr_error *err)
{
    const struct raw_instance *x = enc;
    const struct sr_column *c = e->view->col[0];
    for (e->done = 0; e->done < e->count; e->done++) {
        uint32_t r = sr_row(e->view, e->from + e->done);
        uint32_t len = 0;
        const char *s = sr_is_valid(c, r) ? sr_text(c, r, &len) : "";
        uint8_t *to = sr_out_room(e->out, (size_t)len + 1);
        if (!to) {
            return x->host->fail(x->host, err, SR_ENOMEM, "raw: out of memory");
        }
        if (len > 0) {
            memcpy(to, s, len);
        }
        to[len] = '\n';
        e->out->len += (size_t)len + 1;
        if (e->end) {
            e->end[e->done] = e->out->len;
        }
    }
    return SR_OK;
}

static const struct sr_format_type raw_type = {
    .size = sizeof(struct sr_format_type),
    .name = "raw",
    .doc = "Each line, or message, as the value of one column.",
    .opts = raw_opts,
    .conf_size = sizeof(struct raw_conf),
    .decoder_size = sizeof(struct raw_instance),
    .encoder_size = sizeof(struct raw_instance),
    .check = raw_check,
    .decode_open = raw_open,
    .decode = raw_decode,
    .decode_close = raw_close,
    .encode_open = raw_open,
    .encode = raw_encode,
    .encode_close = raw_close,
};

static const struct sr_format_type *const raw_formats[] = {&raw_type, NULL};

SR_PLUGIN(raw) = {
    .abi_major = SR_ABI_MAJOR,
    .abi_minor = SR_ABI_MINOR,
    .name = "raw",
    .version = "0.1.0",
    .doc = "The raw format.",
    .formats = raw_formats,
};
