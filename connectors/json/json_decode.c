#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/json/json.h"
#include "connectors/json/json_object.h"
#include "connectors/text/utf8.h"

/* Tokens are found for this many bytes of lines at a time: they and their places stay in the
 * second-level cache until the values are taken out. */
#define JSON_BLOCK_BYTES (32u << 10)

struct node *json_nodes(const struct sr_schema *s, const struct json_conf *conf, uint32_t *count)
{
    static const unsigned reads[] = {[JSON_STAMP_SQL] = MOMENT_SPACE,
                                     [JSON_STAMP_ISO] = MOMENT_T,
                                     [JSON_STAMP_ISO_OFFSET] = MOMENT_T | MOMENT_OFFSET};
    unsigned how = reads[conf->stamp.index];
    return node_new(s, how, how & MOMENT_T, count);
}

/* Names of the columns, and of the fields of each ROW inside them. False: out of memory. */
static bool json_decode_rows(struct json_decoder *x, const struct sr_schema *schema)
{
    uint32_t rows = 1;
    for (uint32_t i = 0; i < x->nodes; i++) {
        rows += x->node[i].value.type.kind == SR_ROW ? 1 : 0;
    }
    x->row = calloc(rows, sizeof(*x->row));
    x->row_of = calloc(x->nodes + 1, sizeof(*x->row_of));
    x->seen = calloc(x->nodes + 1, sizeof(*x->seen));
    if (!x->row || !x->row_of || !x->seen) {
        return false;
    }
    x->row[x->rows] = (struct json_row){.schema = *schema};
    x->row[x->rows++].schema.fields = x->columns;
    for (uint32_t i = 0; i < x->nodes; i++) {
        const struct sr_type *t = &x->node[i].value.type;
        if (t->kind == SR_ROW) {
            x->row_of[i] = x->rows;
            x->row[x->rows++].schema =
                (struct sr_schema){.fields = t->children, .field = t->child, .rowtime = -1};
        }
    }
    for (uint32_t i = 0; i < x->rows; i++) {
        if (!json_names_init(&x->row[i].names, &x->row[i].schema)) {
            return false;
        }
    }
    return true;
}

bool json_decode_init(struct json_decoder *x, const struct sr_host *host,
                      const struct json_conf *conf, const struct sr_schema *schema)
{
    x->host = host;
    x->text = json_decode_text;
    x->is_missing_fatal = conf->is_missing_fatal;
    x->is_lenient = conf->is_lenient;
    x->node = json_nodes(schema, conf, &x->nodes);
    x->parser = json_parser_new();
    return x->node && x->parser && json_decode_rows(x, schema);
}

sr_rc json_decode_open(void *dec, const struct sr_format_open *o, struct sr_error *err)
{
    struct json_decoder *x = dec;
    x->columns = o->schema->fields - o->metadatas; /* the format's metadata are no members */
    sr_rc rc = node_check_schema(o->schema, false, "the json format", err);
    if (rc != SR_OK) {
        return rc;
    }
    if (!json_decode_init(x, o->host, o->conf, o->schema)) {
        return o->host->fail(o->host, err, SR_ENOMEM, "json: out of memory");
    }
    return SR_OK;
}

void json_decode_close(void *dec)
{
    struct json_decoder *x = dec;
    json_parser_free(x->parser);
    for (uint32_t i = 0; i < x->rows; i++) {
        json_names_done(&x->row[i].names);
    }
    free(x->row);
    free(x->row_of);
    free(x->node);
    free(x->seen);
    free(x->scratch);
    *x = (struct json_decoder){0};
}

/* --- Records --------------------------------------------------------------------------------- */

/* Takes back rows from `base` on, the unfinished one too. */
static void json_decode_undo(struct sr_builder *b, uint32_t base)
{
    for (; b->rows > base; b->rows--) {
        sr_row_drop(b);
    }
    sr_row_drop(b);
}

/* An array of objects: a row each, all or none. */
static enum json_end json_decode_array(struct json_decoder *x, struct sr_decode *d,
                                       struct json_walk *w, uint32_t at, struct json_fault *fault)
{
    struct sr_builder *b = d->out;
    uint32_t base = b->rows;
    (void)json_walk_take(w, '[');
    if (json_walk_take(w, ']')) {
        return JSON_SKIPPED;
    }
    for (;;) {
        if (b->rows >= (base == 0 ? SR_BATCH_ROWS : b->rows_max)) {
            if (base > 0) {
                b->must_seal = true; /* it comes again, alone */
                return JSON_FULL;
            }
            (void)json_walk_fail(w, json_walk_place(w), "an array has more rows than fit a batch");
            return JSON_BAD;
        }
        if (!json_object_put(x, b, w, JSON_OBJECT_WHOLE, fault)) {
            return JSON_BAD;
        }
        d->row_at[b->rows] = at;
        sr_row_done(b);
        if (json_walk_take(w, ']')) {
            return JSON_DONE;
        }
        if (!json_walk_take(w, ',')) {
            (void)json_walk_fail(w, json_walk_place(w), "',' or ']' is expected here");
            return JSON_BAD;
        }
    }
}

enum json_end json_decode_text(struct json_decoder *x, struct sr_decode *d, struct json_walk *w,
                               uint32_t at, struct json_fault *fault)
{
    uint8_t c = json_walk_peek(w);
    struct json_token t;
    enum json_end end = JSON_DONE;
    if (c == '[') {
        end = json_decode_array(x, d, w, at, fault);
    } else if (c == 'n') {
        end = json_walk_value(w, &t) ? JSON_SKIPPED : JSON_BAD; /* null: no row, as in Flink */
    } else if (json_object_put(x, d->out, w, JSON_OBJECT_WHOLE, fault)) {
        d->row_at[d->out->rows] = at;
        sr_row_done(d->out);
    } else {
        end = JSON_BAD;
    }
    if ((end == JSON_DONE || end == JSON_SKIPPED) && w->next < w->end) {
        (void)json_walk_fail(w, json_walk_place(w), "nothing may follow the record's value");
        end = JSON_BAD;
    }
    return end;
}

static void json_decode_words(struct sr_bad *bad, const struct json_fault *fault)
{
    if (fault->value) {
        struct value named = *fault->value;
        named.name = fault->path ? fault->path : named.name;
        value_words(bad->words, sizeof(bad->words), &named, fault->rc, fault->text, fault->len);
    } else if (fault->is_content) {
        (void)snprintf(bad->words, sizeof(bad->words), "%s", fault->words);
    } else {
        (void)snprintf(bad->words, sizeof(bad->words), "not JSON at byte %u of the record: %s",
                       fault->at, fault->words);
    }
}

/* Where the value at fault begins, as struct sr_bad counts; 0: nowhere. */
static uint32_t json_decode_bad_mark(const struct sr_decode *d, uint32_t at, uint32_t len,
                                     const struct json_fault *fault)
{
    if (!fault->value) {
        return fault->is_content || fault->at > len ? 0 : fault->at + 1;
    }
    const uint8_t *begin = d->bytes + at;
    const uint8_t *text = (const uint8_t *)fault->text;
    return text >= begin && text < begin + len ? (uint32_t)(text - begin) + 1 : 0;
}

/* Counts a record that made no row. False: no room to note a bad one. */
static bool json_decode_refuse(struct json_decoder *x, struct sr_decode *d, uint32_t at,
                               uint32_t len, const struct json_fault *fault)
{
    if (x->is_lenient) {
        d->ignored++;
        return true;
    }
    struct sr_bad *bad = value_bad(d, at, len);
    if (bad) {
        json_decode_words(bad, fault);
        bad->mark = json_decode_bad_mark(d, at, len, fault);
    }
    return bad != NULL;
}

/* One record whose tokens are known. */
static enum json_end json_decode_record(struct json_decoder *x, struct sr_decode *d,
                                        struct json_walk *w, uint32_t at, uint32_t len)
{
    struct json_fault fault = {.rc = VALUE_OK};
    uint32_t base = d->out->rows;
    json_value_record(x);
    enum json_end end = x->text(x, d, w, at, &fault);
    if (end == JSON_DONE) {
        return end;
    }
    json_decode_undo(d->out, base);
    if (end == JSON_SKIPPED) {
        d->left_out++;
    } else if (end == JSON_BAD) {
        if (!fault.value && !fault.is_content) {
            fault.words = w->fault;
            fault.at = w->fault_at - at;
        }
        end = json_decode_refuse(x, d, at, len, &fault) ? JSON_BAD : JSON_FULL;
    }
    return end;
}

static const char *json_decode_index_words(enum json_index_rc rc)
{
    switch (rc) {
    case JSON_UTF8:
        return "it is not valid UTF-8";
    case JSON_CONTROL:
        return "a string holds a control character that is not escaped";
    case JSON_UNCLOSED:
        return "a string is not closed";
    case JSON_NO_MEMORY:
        return "out of memory";
    case JSON_EMPTY:
        return "the message is empty";
    case JSON_INDEXED:
        return "";
    }
    return "";
}

/* One record whose tokens are not known yet. */
static enum json_end json_decode_alone(struct json_decoder *x, struct sr_decode *d, uint32_t at,
                                       uint32_t len)
{
    struct json_places places = {0};
    enum json_index_rc rc = json_parser_index(x->parser, d->bytes + at, len, &places);
    if (rc == JSON_EMPTY && !d->record) { /* a blank line */
        d->skipped++;
        return JSON_SKIPPED;
    }
    if (rc != JSON_INDEXED) {
        const char *text = (const char *)d->bytes + at;
        struct json_fault fault = {.words = json_decode_index_words(rc),
                                   .at = rc == JSON_UTF8 ? utf8_valid_prefix(text, len) : 0};
        return json_decode_refuse(x, d, at, len, &fault) ? JSON_BAD : JSON_FULL;
    }
    struct json_walk w = {.bytes = d->bytes,
                          .at = places.at,
                          .end = places.count,
                          .base = at,
                          .stop = at + len,
                          .has_backslash = true};
    return json_decode_record(x, d, &w, at, len);
}

/* --- Lines ----------------------------------------------------------------------------------- */

/* End of the lines that are taken at once from `from` on; 0: no whole line is there. */
static uint32_t json_decode_block(const struct sr_decode *d, uint32_t from)
{
    const uint8_t *begin = d->bytes + from;
    uint32_t left = d->len - from;
    uint32_t size = left < JSON_BLOCK_BYTES ? left : JSON_BLOCK_BYTES;
    const uint8_t *newline = memrchr(begin, '\n', size);
    if (!newline && size < left) {
        newline = memchr(begin + size, '\n', left - size);
    }
    if (newline && (size < left || !d->at_end)) {
        return from + (uint32_t)(newline - begin) + 1;
    }
    return d->at_end ? d->len : 0;
}

struct json_lines {
    uint32_t begin, end;       /* of the block */
    struct json_places places; /* of its tokens, when is_known */
    bool is_known;
    uint32_t next;      /* first token of the next line */
    uint32_t backslash; /* the first one not before the line; `end` if there is none */
};

/* Is there a backslash in bytes [at, stop)? The lines are asked in their order. */
static bool json_decode_has_backslash(const struct sr_decode *d, struct json_lines *k, uint32_t at,
                                      uint32_t stop)
{
    if (k->backslash < at) {
        const uint8_t *p = memchr(d->bytes + at, '\\', k->end - at);
        k->backslash = p ? (uint32_t)(p - d->bytes) : k->end;
    }
    return k->backslash < stop;
}

static enum json_end json_decode_line(struct json_decoder *x, struct sr_decode *d,
                                      struct json_lines *k, uint32_t at, uint32_t len)
{
    if (!k->is_known) {
        return json_decode_alone(x, d, at, len);
    }
    uint32_t stop = at + len - k->begin;
    uint32_t first = k->next;
    uint32_t last = first;
    while (last < k->places.count && k->places.at[last] < stop) {
        last++;
    }
    k->next = last;
    if (first == last) {
        d->skipped++; /* a blank line */
        return JSON_SKIPPED;
    }
    struct json_walk w = {.bytes = d->bytes,
                          .at = k->places.at,
                          .next = first,
                          .end = last,
                          .base = k->begin,
                          .stop = at + len,
                          .has_backslash = json_decode_has_backslash(d, k, at, at + len)};
    return json_decode_record(x, d, &w, at, len);
}

/* The lines of one block, as far as there is room. False: no room. */
static bool json_decode_lines(struct json_decoder *x, struct sr_decode *d, uint32_t end)
{
    struct json_lines k = {.begin = d->used, .end = end};
    enum json_index_rc rc =
        json_parser_index(x->parser, d->bytes + k.begin, end - k.begin, &k.places);
    /* When something is wrong in the block as a whole, each line is looked at alone, so that a bad
     * one does not take its neighbours with it. */
    k.is_known = rc == JSON_INDEXED || rc == JSON_EMPTY;
    const uint8_t *backslash = memchr(d->bytes + k.begin, '\\', end - k.begin);
    k.backslash = backslash ? (uint32_t)(backslash - d->bytes) : end;
    while (d->used < end) {
        if (sr_builder_is_full(d->out) || d->out->is_broken) {
            return false;
        }
        const uint8_t *begin = d->bytes + d->used;
        const uint8_t *newline = memchr(begin, '\n', end - d->used);
        uint32_t len = newline ? (uint32_t)(newline - begin) : end - d->used;
        if (json_decode_line(x, d, &k, d->used, len) == JSON_FULL) {
            return false;
        }
        d->used += len + (newline ? 1 : 0);
        d->lines += newline ? 1 : 0;
    }
    return true;
}

/* A byte order mark before the first record of a split; elsewhere it is not JSON. */
static uint32_t json_decode_mark(const struct sr_decode *d)
{
    static const uint8_t mark[] = {0xEF, 0xBB, 0xBF};
    bool is_there =
        d->at_start && d->len >= sizeof(mark) && memcmp(d->bytes, mark, sizeof(mark)) == 0;
    return is_there ? sizeof(mark) : 0;
}

static void json_decode_stream(struct json_decoder *x, struct sr_decode *d)
{
    d->used = json_decode_mark(d);
    while (d->used < d->len) {
        uint32_t end = json_decode_block(d, d->used);
        if (end == 0 || !json_decode_lines(x, d, end)) {
            break;
        }
    }
}

sr_rc json_decode(void *dec, struct sr_decode *d, struct sr_error *err)
{
    struct json_decoder *x = dec;
    d->used = d->bads = d->skipped = d->ignored = d->left_out = 0;
    x->buffer = d->buffer;
    node_use_buffer(d->out, d->buffer);
    if (!d->record) {
        d->lines = 0;
        json_decode_stream(x, d);
    }
    while (d->record && d->used < d->records && !sr_builder_is_full(d->out)) {
        struct sr_span m = d->record[d->used];
        if (json_decode_alone(x, d, m.at, m.len) == JSON_FULL) {
            break;
        }
        d->used++;
    }
    return d->out->is_broken ? x->host->fail(x->host, err, SR_ENOMEM, "json: out of memory")
                             : SR_OK;
}
