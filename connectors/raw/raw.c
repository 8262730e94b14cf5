/* The raw format: a record's bytes are the value of the one column there is.
 *
 * In a stream a record is a line, without its end (and a carriage return before that), as in
 * Flink's file source; in messages it is the whole message. Numbers and BOOLEAN have their size: so
 * many bytes and a newline, whatever the bytes are. NULL is written as nothing, where it can be
 * told from a value: in texts and bytes.
 */
#include <endian.h>
#include <stdio.h>
#include <streamrun/plugin.h>
#include <string.h>

#include "connectors/raw/charset.h"
#include "connectors/text/utf8.h"
#include "connectors/text/value.h"

#define RAW_LITTLE 1u /* of raw_orders */

struct raw_conf {
    const char *charset;
    sr_choice endianness;
};

struct raw_instance {
    const struct sr_host *host;
    const char *charset_name;
    struct value value;
    struct charset charset;
    uint32_t size; /* bytes of a number or BOOLEAN; 0: text or bytes */
    bool is_little;
    bool is_text;
};

static const char *const raw_orders[] = {"big-endian", "little-endian", NULL};

/* clang-format off */
static const struct sr_opt raw_opts[] = {
    SR_OPT(struct raw_conf, "charset", charset, .def = "UTF-8",
           .doc = "How text is encoded: UTF-8, ISO-8859-1, windows-1252, UTF-16LE and what else iconv "
                  "knows, by Java's names. Text that is not valid in it is a bad record."),
    SR_OPT(struct raw_conf, "endianness", endianness, .def = "big-endian", .choices = raw_orders,
           .doc = "The order of the bytes of numbers."),
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

static bool raw_can(const struct sr_type *t)
{
    return sr_is_string(t->kind) || (t->kind >= SR_BOOLEAN && t->kind <= SR_DOUBLE);
}

/* Columns and charset; the instance is to be closed in any case. */
static sr_rc raw_begin(struct raw_instance *x, const struct raw_conf *k,
                       const struct sr_schema *schema, struct sr_error *err)
{
    char text[48];
    if (schema->fields != 1) {
        (void)snprintf(text, sizeof(text), "%u columns", schema->fields);
        return raw_fail(err, "format raw: the schema must have exactly one column", text);
    }
    const struct sr_type *type = &schema->field[0].type;
    if (!raw_can(type)) {
        value_type_name(type, text);
        return raw_fail(err,
                        "format raw: the column must be STRING, BYTES, BOOLEAN, an integer, FLOAT "
                        "or DOUBLE",
                        text);
    }
    (void)value_init(&x->value, &schema->field[0], 0, 0);
    x->is_text = sr_is_text(type->kind);
    x->size = x->is_text || sr_is_bytes(type->kind) ? 0 : sr_value_size(type);
    x->is_little = k->endianness.index == RAW_LITTLE;
    x->charset_name = k->charset;
    const char *name = x->is_text ? k->charset : "UTF-8"; /* of others it means nothing */
    return charset_open(&x->charset, name) == CHARSET_OK
               ? SR_OK
               : raw_fail(err, "raw.charset: must be a charset that this machine's iconv knows",
                          k->charset);
}

static sr_rc raw_check(const void *conf, const struct sr_schema *schema, bool is_write,
                       uint32_t *flags, struct sr_error *err)
{
    (void)is_write;
    struct raw_instance x = {0};
    sr_rc rc = raw_begin(&x, conf, schema, err);
    *flags = 0;
    if (rc == SR_OK && x.charset.unit == 1 && x.charset.newline[0] == '\n') {
        *flags = SR_FORMAT_ABSENT | SR_FORMAT_RESYNC | (x.size > 0 ? 0 : SR_FORMAT_LINES);
    }
    charset_close(&x.charset);
    return rc;
}

static sr_rc raw_open(void *instance, const struct sr_format_open *o, struct sr_error *err)
{
    struct raw_instance *x = instance;
    x->host = o->host;
    sr_rc rc = raw_begin(x, o->conf, o->schema, err);
    x->value.op = x->size == 0 ? VALUE_TEXT : x->value.op; /* bytes are not base64 here */
    return rc;
}

static void raw_close(void *instance)
{
    struct raw_instance *x = instance;
    charset_close(&x->charset);
}

/* --- Numbers --------------------------------------------------------------------------------- */

static uint64_t raw_get(const uint8_t *from, uint32_t size, bool is_little)
{
    uint64_t v = 0;
    for (uint32_t i = 0; i < size; i++) {
        v = v << 8 | from[is_little ? size - 1 - i : i];
    }
    return v;
}

static void raw_put(uint8_t *to, uint32_t size, bool is_little, uint64_t v)
{
    for (uint32_t i = 0; i < size; i++) {
        to[is_little ? i : size - 1 - i] = (uint8_t)(v >> (8 * i));
    }
}

static void raw_put_value(const struct raw_instance *x, struct sr_builder *b, const uint8_t *from)
{
    uint64_t v = raw_get(from, x->size, x->is_little);
    if (x->value.type.kind == SR_BOOLEAN) {
        v = v != 0; /* as in Flink: any byte but 0 is true */
    }
    uint8_t *to = (uint8_t *)b->col[0]->values + (size_t)b->rows * x->size;
    raw_put(to, x->size, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, v);
}

/* --- Reading --------------------------------------------------------------------------------- */

/* False: the list of bad ones is full. */
static bool raw_refuse(const struct raw_instance *x, struct sr_decode *d, struct sr_span m)
{
    struct sr_bad *bad = value_bad(d, m.at, m.len);
    if (!bad) {
        return false;
    }
    if (x->size > 0) {
        char type[48];
        value_type_name(&x->value.type, type);
        (void)snprintf(bad->words, sizeof(bad->words),
                       "column '%.40s': %u bytes are not a value of type %s, which has %u",
                       x->value.name, m.len, type, x->size);
    } else if (!x->charset.is_utf8) {
        (void)snprintf(bad->words, sizeof(bad->words),
                       "column '%.40s': the text is not valid %.40s", x->value.name,
                       x->charset_name);
    } else {
        value_words(bad->words, sizeof(bad->words), &x->value, VALUE_UTF8, "", 0);
    }
    return true;
}

/* One record. False: the list of bad ones is full. */
static bool raw_take(struct raw_instance *x, struct sr_decode *d, struct sr_span m)
{
    struct sr_builder *b = d->out;
    const char *s = (const char *)d->bytes + m.at;
    const struct sr_buffer *buffer = d->buffer;
    size_t len = m.len;
    if (x->size > 0 && m.len != x->size) {
        return raw_refuse(x, d, m);
    }
    if (x->is_text && !x->charset.is_utf8 && b->wanted[0]) {
        enum charset_rc rc = charset_convert(&x->charset, true, s, m.len, &len);
        b->is_broken = b->is_broken || rc == CHARSET_MEMORY || len > UINT32_MAX;
        if (rc != CHARSET_OK) {
            return b->is_broken || raw_refuse(x, d, m);
        }
        s = x->charset.text;
        buffer = NULL;
    } else if (x->is_text && b->wanted[0] && !utf8_is_valid(s, m.len)) {
        return raw_refuse(x, d, m);
    }
    if (x->size > 0) {
        raw_put_value(x, b, (const uint8_t *)s);
    } else if (b->wanted[0] && !b->is_broken) {
        /* Memory: b->is_broken tells. */
        (void)value_put(b, 0, &x->value, s, (uint32_t)len, buffer);
    }
    d->row_at[b->rows] = m.at;
    sr_row_done(b);
    return true;
}

/* The end of a line that begins with a number, whose bytes may be those of a newline. False: more
 * must come to tell. *newline is NULL where the bytes end without one. */
static bool raw_number_end(const struct raw_instance *x, const struct sr_decode *d,
                           const uint8_t **newline)
{
    const uint8_t *begin = d->bytes + d->used;
    const uint32_t left = d->len - d->used, size = x->size;
    *newline = NULL;
    if (left <= size) {
        *newline = left < size ? memchr(begin, '\n', left) : NULL;
        return d->at_end;
    }
    if (begin[size] == '\r' && left == size + 1 && !d->at_end) {
        return false;
    }
    bool is_pair = begin[size] == '\r' && left > size + 1 && begin[size + 1] == '\n';
    *newline = begin + size + (is_pair ? 1 : 0);
    if (**newline != '\n') { /* not a value: the line ends where any line does */
        *newline = memchr(begin, '\n', left);
    }
    return *newline || d->at_end;
}

/* The next line at d->used: *next is behind its end. False: it is not whole. */
static bool raw_line(const struct raw_instance *x, const struct sr_decode *d, struct sr_span *line,
                     uint32_t *next)
{
    const uint8_t *begin = d->bytes + d->used, *newline = NULL;
    const uint32_t left = d->len - d->used, unit = x->charset.unit;
    if (x->size == 0) {
        newline = charset_newline(&x->charset, begin, left);
    } else if (!raw_number_end(x, d, &newline)) {
        return false;
    }
    if (!newline && !d->at_end) {
        return false;
    }
    uint32_t len = newline ? (uint32_t)(newline - begin) : left;
    *next = d->used + len + (newline ? unit : 0);
    bool is_number = x->size > 0 && len <= x->size; /* its last byte is no carriage return */
    if (!is_number && len >= unit && memcmp(begin + len - unit, x->charset.back, unit) == 0) {
        len -= unit;
    }
    *line = (struct sr_span){d->used, len};
    return true;
}

/* A byte order mark of UTF-16 or UTF-32 at the begin of a file. */
static sr_rc raw_mark(const struct raw_instance *x, struct sr_decode *d, struct sr_error *err)
{
    static const uint8_t big[] = {0, 0, 0xFE, 0xFF}, little[] = {0xFF, 0xFE, 0, 0};
    uint32_t unit = x->charset.unit;
    if (!d->at_start || !x->charset.has_mark || d->len < unit) {
        return SR_OK;
    }
    if (memcmp(d->bytes, little, unit) == 0) {
        return x->host->fail(x->host, err, SR_EDATA,
                             "raw: the file is little-endian, as its first bytes say: write "
                             "raw.charset: %sLE",
                             x->charset_name);
    }
    d->used = memcmp(d->bytes, big + 4 - unit, unit) == 0 ? unit : 0;
    return SR_OK;
}

static sr_rc raw_decode_lines(struct raw_instance *x, struct sr_decode *d, struct sr_error *err)
{
    sr_rc rc = raw_mark(x, d, err);
    struct sr_span line;
    uint32_t next = 0, begin = d->used, lines = 0;
    while (rc == SR_OK && d->used < d->len && !sr_builder_is_full(d->out) && !d->out->is_broken &&
           raw_line(x, d, &line, &next) && raw_take(x, d, line)) {
        d->used = next;
        lines += d->bytes[next - 1] == '\n' ? 1 : 0;
    }
    if (x->size == 0 && x->charset.unit == 1) { /* numbers may have newlines inside */
        d->lines = lines;
    }
    bool is_only_mark = d->used == begin && d->used < d->len;
    d->used = is_only_mark ? 0 : d->used; /* else the file would not be at its start any more */
    return rc;
}

static sr_rc raw_decode(void *dec, struct sr_decode *d, struct sr_error *err)
{
    struct raw_instance *x = dec;
    sr_rc rc = SR_OK;
    d->used = d->bads = d->skipped = 0;
    if (x->charset.is_utf8) {
        value_use_buffer(d->out, &x->value, d->buffer);
    }
    if (!d->record) {
        rc = raw_decode_lines(x, d, err);
    }
    while (d->record && d->used < d->records && !sr_builder_is_full(d->out) && !d->out->is_broken &&
           raw_take(x, d, d->record[d->used])) {
        d->used++;
    }
    return rc == SR_OK && d->out->is_broken
               ? x->host->fail(x->host, err, SR_ENOMEM, "raw: out of memory")
               : rc;
}

/* --- Writing --------------------------------------------------------------------------------- */

static sr_rc raw_encode_head(void *enc, struct sr_out *out, struct sr_error *err)
{
    struct raw_instance *x = enc;
    size_t got = 0;
    if (!x->charset.has_mark) {
        return SR_OK;
    }
    enum charset_rc rc = charset_convert(&x->charset, false, "\xEF\xBB\xBF", 3, &got);
    uint8_t *to = rc == CHARSET_OK ? sr_out_room(out, got) : NULL;
    if (!to) {
        return x->host->fail(x->host, err, SR_ENOMEM, "raw: out of memory");
    }
    memcpy(to, x->charset.text, got);
    out->len += got;
    return SR_OK;
}

/* The bytes of row r, in `number` or where they lie. */
static sr_rc raw_encode_value(struct raw_instance *x, const struct sr_column *c, uint32_t r,
                              uint8_t number[8], struct sr_bytes *out, struct sr_error *err)
{
    uint32_t len = 0;
    *out = (struct sr_bytes){"", 0};
    if (!sr_is_valid(c, r)) {
        return x->size == 0 ? SR_OK
                            : x->host->fail(x->host, err, SR_EDATA,
                                            "raw: column '%s' is NULL, which cannot be told from a "
                                            "value of its type",
                                            x->value.name);
    }
    if (x->size > 0) {
        const uint8_t *from = (const uint8_t *)c->values + (size_t)r * x->size;
        uint64_t v = raw_get(from, x->size, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
        raw_put(number, x->size, x->is_little, v);
        *out = (struct sr_bytes){number, x->size};
        return SR_OK;
    }
    const char *s = sr_text(c, r, &len);
    *out = (struct sr_bytes){s, len};
    if (!x->is_text || x->charset.is_utf8) {
        return SR_OK;
    }
    size_t got = 0;
    enum charset_rc rc = charset_convert(&x->charset, false, s, len, &got);
    *out = (struct sr_bytes){x->charset.text, (uint32_t)got};
    if (rc == CHARSET_BAD) {
        return x->host->fail(x->host, err, SR_EDATA,
                             "raw: column '%s' holds a character that %s does not have",
                             x->value.name, x->charset_name);
    }
    return rc == CHARSET_OK ? SR_OK : x->host->fail(x->host, err, SR_ENOMEM, "raw: out of memory");
}

static sr_rc raw_encode(void *enc, struct sr_encode *e, struct sr_error *err)
{
    struct raw_instance *x = enc;
    uint8_t number[8];
    e->delimiter = x->charset.unit;
    for (e->done = 0; e->done < e->count; e->done++) {
        struct sr_bytes value;
        uint32_t r = sr_row(e->view, e->from + e->done);
        sr_rc rc = raw_encode_value(x, e->view->col[0], r, number, &value, err);
        if (rc != SR_OK) {
            return rc;
        }
        uint8_t *to = sr_out_room(e->out, (size_t)value.len + x->charset.unit);
        if (!to) {
            return x->host->fail(x->host, err, SR_ENOMEM, "raw: out of memory");
        }
        if (value.len > 0) {
            memcpy(to, value.data, value.len);
        }
        memcpy(to + value.len, x->charset.newline, x->charset.unit);
        e->out->len += (size_t)value.len + x->charset.unit;
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
    .encode_head = raw_encode_head,
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
