#include <stdio.h>
#include <string.h>

#include "connectors/json/cdc.h"
#include "connectors/json/cdc_filter.h"
#include "connectors/json/json_nest.h"
#include "connectors/json/json_object.h"
#include "connectors/text/number.h"

#define CDC_NONE UINT32_MAX

#define CDC_FOUND_MAX (CDC_MEMBERS + CDC_METADATA_MAX) /* members that are looked for at once */

/* What was found in an envelope. */
struct cdc_envelope {
    struct json_token value[CDC_FOUND_MAX];
    uint32_t token[CDC_FOUND_MAX]; /* the walk's, where the value begins; CDC_NONE: not there */
};

/* Names of members, any of them NULL. */
struct cdc_names {
    const char *const *name;
    uint32_t count;
};

/* One record while it is decoded. */
struct cdc_record {
    struct cdc_decoder *x;
    struct sr_decode *d;
    struct json_walk *w;
    struct json_fault *fault;
    uint32_t at;                       /* byte where it begins */
    const struct cdc_envelope *beside; /* where the metadata stand, by column behind the rows' */
};

static bool cdc_fail(const struct cdc_record *k, const char *words)
{
    k->fault->words = words;
    k->fault->is_content = true;
    return false;
}

/* --- Envelopes ------------------------------------------------------------------------------- */

/* Text of a string token, with escapes resolved. NULL: w->fault tells. */
static const char *cdc_text(const struct cdc_record *k, const struct json_token *t, uint32_t *len)
{
    *len = t->len;
    if (!t->has_escapes) {
        return (const char *)k->w->bytes + t->at;
    }
    struct json_decoder *x = &k->x->json;
    if (!json_value_room(x, t->len)) {
        (void)json_walk_fail(k->w, t->at, "out of memory");
        return NULL;
    }
    return json_walk_plain(k->w, t, x->scratch, len) ? x->scratch : NULL;
}

static bool cdc_is(const char *s, uint32_t len, const char *word)
{
    return word && strlen(word) == len && memcmp(s, word, len) == 0;
}

/* Notes that the member `key` stands at token `token`, once for each time that it is looked for.
 * False: w->fault tells. */
static bool cdc_note(const struct cdc_record *k, const struct cdc_names *names,
                     const struct json_token *key, const struct json_token *value, uint32_t token,
                     struct cdc_envelope *e)
{
    uint32_t len = 0;
    const char *s = cdc_text(k, key, &len);
    for (uint32_t i = 0; s && i < names->count; i++) {
        if (cdc_is(s, len, names->name[i])) {
            e->token[i] = value->kind == JSON_NULL ? CDC_NONE : token;
            e->value[i] = *value;
        }
    }
    return s != NULL;
}

/* Takes the object that is next; notes where its members stand. False: w->fault tells. */
static bool cdc_scan(const struct cdc_record *k, const struct cdc_names *names,
                     struct cdc_envelope *e)
{
    struct json_walk *w = k->w;
    for (uint32_t i = 0; i < names->count; i++) {
        e->token[i] = CDC_NONE;
    }
    if (!json_walk_take(w, '{')) {
        return json_walk_fail(w, json_walk_place(w), "a record must be a JSON object");
    }
    bool is_over = json_walk_take(w, '}');
    while (!is_over) {
        struct json_token key = {0}, t = {0};
        if (!json_walk_string(w, &key)) {
            return false;
        }
        if (!json_walk_take(w, ':')) {
            return json_walk_fail(w, json_walk_place(w), "':' is expected here, behind the key");
        }
        uint32_t token = w->next;
        if (!json_walk_value(w, &t) || !json_walk_check(w, &t) ||
            !cdc_note(k, names, &key, &t, token, e)) {
            return false;
        }
        is_over = json_walk_take(w, '}');
        if (!is_over && !json_walk_take(w, ',')) {
            return json_walk_fail(w, json_walk_place(w), "',' or '}' is expected here");
        }
    }
    return true;
}

/* --- Metadata -------------------------------------------------------------------------------- */

/* Metadata i of those that are asked for. */
static const struct cdc_beside *cdc_beside(const struct cdc_decoder *x, uint32_t i)
{
    return &x->dialect->beside[x->metadata[i]];
}

/* Looks into the objects that hold some of the metadata: `found` are their members of the envelope.
 * False: w->fault tells. */
static bool cdc_look_beside(const struct cdc_record *k, const struct cdc_envelope *found,
                            struct cdc_envelope *out)
{
    struct json_walk all = *k->w;
    for (uint32_t i = 0; i < k->x->metadatas; i++) {
        const char *inner = cdc_beside(k->x, i)->inner;
        out->token[i] = found->token[CDC_MEMBERS + i];
        out->value[i] = found->value[CDC_MEMBERS + i];
        if (!inner || out->token[i] == CDC_NONE) {
            continue;
        }
        struct cdc_envelope inside;
        inside.token[0] = CDC_NONE;
        struct cdc_names names = {.name = &inner, .count = 1};
        k->w->next = out->token[i];
        if (out->value[i].kind == JSON_OBJECT && !cdc_scan(k, &names, &inside)) {
            return false;
        }
        out->token[i] = inside.token[0];
        out->value[i] = inside.value[0];
    }
    *k->w = all;
    return true;
}

/* A number of milliseconds as a timestamp. */
static bool cdc_put_millis(const struct cdc_record *k, const struct json_place *p,
                           const struct json_token *t)
{
    int64_t ms = 0;
    const char *s = (const char *)k->w->bytes + t->at;
    if (t->kind != JSON_NUMBER || number_get_integral(s, t->len, &ms) != NUMBER_OK ||
        ms > INT64_MAX / 1000 || ms < INT64_MIN / 1000) {
        k->fault->rc = VALUE_BAD;
        k->fault->value = &p->node->value;
        k->fault->text = s;
        k->fault->len = t->len;
        return false;
    }
    sr_put_i64(p->b, p->c, ms * 1000);
    return true;
}

/* The metadata of the current row: where there is none, NULL. */
static bool cdc_put_beside(const struct cdc_record *k)
{
    struct cdc_decoder *x = k->x;
    struct sr_builder *b = k->d->out;
    for (uint32_t i = 0; i < x->metadatas; i++) {
        uint32_t c = x->json.columns + i;
        const struct json_place p = {.b = b, .c = c, .node = &x->json.node[c]};
        struct json_walk w = *k->w;
        bool is_put = true;
        if (!b->wanted[c]) {
            continue;
        }
        w.next = k->beside->token[i];
        if (w.next == CDC_NONE) {
            sr_put_null(b, c);
        } else if (cdc_beside(x, i)->is_millis) {
            is_put = cdc_put_millis(k, &p, &k->beside->value[i]);
        } else if (p.node->value.op == VALUE_NESTED) {
            is_put = json_nest_put(&x->json, &w, &p, k->fault);
        } else {
            is_put = json_value_put(&x->json, &w, &p, k->fault);
        }
        if (!is_put) {
            k->w->fault = w.fault;
            k->w->fault_at = w.fault_at;
            return false;
        }
    }
    return true;
}

/* --- Rows ------------------------------------------------------------------------------------ */

/* The object at `row`, changed by the one at `over` unless that is NULL, as a row. */
static bool cdc_put(const struct cdc_record *k, enum sr_change change, struct json_walk *row,
                    struct json_walk *over)
{
    struct json_decoder *x = &k->x->json;
    struct sr_builder *b = k->d->out;
    struct json_walk *failed = row;
    bool is_put = json_object_put(x, b, row, JSON_OBJECT_WHOLE, k->fault);
    if (is_put && over) {
        failed = over;
        is_put = json_object_put(x, b, over, JSON_OBJECT_OVER, k->fault);
    }
    if (!is_put) {
        k->w->fault = failed->fault;
        k->w->fault_at = failed->fault_at;
        return false;
    }
    if (!cdc_put_beside(k)) {
        return false;
    }
    sr_put_change(b, change);
    k->d->row_at[b->rows] = k->at;
    sr_row_done(b);
    return true;
}

/* One change: `before` and `after` stand at rows, or are NULL. */
static bool cdc_change(const struct cdc_record *k, enum cdc_kind kind, struct json_walk *before,
                       struct json_walk *after)
{
    const struct cdc_dialect *a = k->x->dialect;
    struct json_walk again;
    switch (kind) {
    case CDC_INSERT:
        return cdc_put(k, SR_INSERT, after, NULL);
    case CDC_DELETE:
        return cdc_put(k, SR_DELETE, a->is_old ? after : before, NULL);
    case CDC_UPDATE:
        if (!a->is_old) {
            return cdc_put(k, SR_UPDATE_BEFORE, before, NULL) &&
                   cdc_put(k, SR_UPDATE_AFTER, after, NULL);
        }
        again = *after;
        return cdc_put(k, SR_UPDATE_BEFORE, &again, before) &&
               cdc_put(k, SR_UPDATE_AFTER, after, NULL);
    case CDC_NOTHING:
        return true;
    }
    return true;
}

/* Elements of the array at `w`, which is well formed. */
static uint32_t cdc_count(struct json_walk w)
{
    uint32_t n = 0;
    struct json_token t;
    (void)json_walk_take(&w, '[');
    while (!json_walk_take(&w, ']') && json_walk_value(&w, &t)) {
        n++;
        (void)json_walk_take(&w, ',');
    }
    return n;
}

/* Rows in arrays, each a change. */
static bool cdc_changes(const struct cdc_record *k, enum cdc_kind kind, struct json_walk *before,
                        struct json_walk *after)
{
    (void)json_walk_take(after, '[');
    if (before) {
        (void)json_walk_take(before, '[');
    }
    while (!json_walk_take(after, ']')) {
        if (json_walk_peek(after) != '{' || (before && json_walk_peek(before) != '{')) {
            return cdc_fail(k,
                            "'data', or 'old', holds something that is not an object for each row");
        }
        if (!cdc_change(k, kind, before, after)) {
            return false;
        }
        (void)json_walk_take(after, ',');
        if (before) {
            (void)json_walk_take(before, ',');
        }
    }
    return true;
}

/* --- Records --------------------------------------------------------------------------------- */

/* Is `member` there, and an object, or an array where rows stand in arrays? */
static bool cdc_has(const struct cdc_record *k, const struct cdc_envelope *e,
                    enum cdc_member member, const char *event)
{
    const struct cdc_dialect *a = k->x->dialect;
    enum json_kind wanted = a->is_array ? JSON_ARRAY : JSON_OBJECT;
    bool is_there = e->token[member] != CDC_NONE;
    if (is_there && e->value[member].kind == wanted) {
        return true;
    }
    (void)snprintf(k->x->words, sizeof(k->x->words), "%s has no '%s'%s", event, a->member[member],
                   is_there                             ? " of the right type"
                   : member == CDC_BEFORE && !a->is_old ? a->no_old
                                                        : "");
    return cdc_fail(k, k->x->words);
}

/* Does the record have the schema around it that Debezium writes unless told not to? */
static bool cdc_has_payload(const struct cdc_record *k)
{
    static const char words[] = "\"payload\"";
    return !k->x->has_schema && k->w->stop > k->at &&
           memmem(k->w->bytes + k->at, k->w->stop - k->at, words, sizeof(words) - 1);
}

/* False: the kind is not one of the dialect's. */
static bool cdc_kind(const struct cdc_record *k, const struct cdc_envelope *e, enum cdc_kind *kind)
{
    const struct cdc_dialect *a = k->x->dialect;
    uint32_t len = 0;
    const char *s = NULL;
    if (e->token[CDC_KIND] == CDC_NONE || e->value[CDC_KIND].kind != JSON_STRING) {
        (void)snprintf(k->x->words, sizeof(k->x->words), "the record has no '%s' that is text%s",
                       a->member[CDC_KIND],
                       a->can_have_schema && cdc_has_payload(k)
                           ? ": 'payload' has it; debezium-json.schema-include: true reads that"
                           : "");
        return cdc_fail(k, k->x->words);
    }
    s = cdc_text(k, &e->value[CDC_KIND], &len);
    for (uint32_t i = 0; s && a->kind[i].word; i++) {
        if (cdc_is(s, len, a->kind[i].word)) {
            *kind = a->kind[i].kind;
            return true;
        }
    }
    (void)snprintf(k->x->words, sizeof(k->x->words), "'%s' is '%.*s', and not %s",
                   a->member[CDC_KIND], (int)(len < 20 ? len : 20), s ? s : "", a->kinds);
    return cdc_fail(k, k->x->words);
}

/* Passes the record the filters by name? *is_wanted; false: it has no such name. */
static bool cdc_wanted(const struct cdc_record *k, const struct cdc_envelope *e, bool *is_wanted)
{
    static const enum cdc_member member[] = {CDC_DATABASE, CDC_TABLE};
    *is_wanted = true;
    for (uint32_t i = 0; i < 2; i++) {
        struct cdc_filter *f = k->x->filter[i];
        if (!f) {
            continue;
        }
        if (e->token[member[i]] == CDC_NONE || e->value[member[i]].kind != JSON_STRING) {
            return cdc_fail(k, i == 0 ? "the record has no 'database', which database.include needs"
                                      : "the record has no 'table', which table.include needs");
        }
        uint32_t len = 0;
        const char *s = cdc_text(k, &e->value[member[i]], &len);
        *is_wanted = *is_wanted && s && cdc_filter_takes(f, s, len);
    }
    *is_wanted =
        *is_wanted && (e->token[CDC_DDL] == CDC_NONE || e->value[CDC_DDL].kind != JSON_TRUE);
    return true;
}

/* Room for all rows of the change? */
static enum json_end cdc_room(const struct cdc_record *k, enum cdc_kind kind, uint32_t changes)
{
    struct sr_builder *b = k->d->out;
    uint32_t rows = kind == CDC_UPDATE ? 2 : 1;
    if (changes <= SR_BATCH_ROWS && sr_builder_has_room(b, changes * rows)) {
        return JSON_DONE;
    }
    if (b->rows > 0) {
        b->must_seal = true; /* it comes again, alone */
        return JSON_FULL;
    }
    (void)cdc_fail(k, "the record has more rows than fit a batch");
    return JSON_BAD;
}

static enum json_end cdc_rows(const struct cdc_record *k, const struct cdc_envelope *e,
                              enum cdc_kind kind)
{
    static const char *const event[] = {"an insert", "an update", "a delete", ""};
    const struct cdc_dialect *a = k->x->dialect;
    bool needs_after = kind != CDC_DELETE || a->is_old;
    bool needs_before = kind == CDC_UPDATE || (kind == CDC_DELETE && !a->is_old);
    if ((needs_before && !cdc_has(k, e, CDC_BEFORE, event[kind])) ||
        (needs_after && !cdc_has(k, e, CDC_AFTER, event[kind]))) {
        return JSON_BAD;
    }
    struct json_walk before = *k->w;
    struct json_walk after = *k->w;
    before.next = needs_before ? e->token[CDC_BEFORE] : 0;
    after.next = needs_after ? e->token[CDC_AFTER] : 0;
    uint32_t changes = a->is_array ? cdc_count(after) : 1;
    if (a->is_array && needs_before && cdc_count(before) != changes) {
        (void)cdc_fail(k, "'old' has not as many rows as 'data'");
        return JSON_BAD;
    }
    if (changes == 0) {
        return JSON_SKIPPED;
    }
    enum json_end end = cdc_room(k, kind, changes);
    if (end != JSON_DONE) {
        return end;
    }
    struct json_walk *old = needs_before ? &before : NULL;
    bool is_put =
        a->is_array ? cdc_changes(k, kind, old, &after) : cdc_change(k, kind, old, &after);
    return is_put ? JSON_DONE : JSON_BAD;
}

/* The envelope inside {"schema": ..., "payload": ...}: the walk stands before it. */
static enum json_end cdc_payload(const struct cdc_record *k)
{
    static const char *const name[] = {"payload"};
    static const struct cdc_names names = {.name = name, .count = 1};
    struct cdc_envelope e;
    if (!cdc_scan(k, &names, &e)) {
        return JSON_BAD;
    }
    if (k->w->next < k->w->end) {
        (void)json_walk_fail(k->w, json_walk_place(k->w), "nothing may follow the record's value");
        return JSON_BAD;
    }
    if (e.token[0] == CDC_NONE) {
        return JSON_SKIPPED; /* a tombstone with its schema */
    }
    k->w->next = e.token[0];
    return JSON_DONE;
}

/* The envelope that is next: where its members and the metadata stand. */
static bool cdc_look(const struct cdc_record *k, struct cdc_envelope *e,
                     struct cdc_envelope *beside)
{
    const struct cdc_decoder *x = k->x;
    const char *name[CDC_FOUND_MAX];
    struct cdc_names names = {.name = name, .count = CDC_MEMBERS + x->metadatas};
    for (uint32_t i = 0; i < CDC_MEMBERS; i++) {
        name[i] = x->dialect->member[i];
    }
    for (uint32_t i = 0; i < x->metadatas; i++) {
        name[CDC_MEMBERS + i] = cdc_beside(x, i)->member;
    }
    if (!cdc_scan(k, &names, e)) {
        return false;
    }
    if (!x->has_schema && k->w->next < k->w->end) {
        return json_walk_fail(k->w, json_walk_place(k->w), "nothing may follow the record's value");
    }
    return x->metadatas == 0 || cdc_look_beside(k, e, beside);
}

static enum json_end cdc_text_of(struct json_decoder *json, struct sr_decode *d,
                                 struct json_walk *w, uint32_t at, struct json_fault *fault)
{
    struct cdc_envelope e, beside;
    const struct cdc_record k = {.x = (struct cdc_decoder *)json,
                                 .d = d,
                                 .w = w,
                                 .fault = fault,
                                 .at = at,
                                 .beside = &beside};
    enum cdc_kind kind = CDC_NOTHING;
    bool is_wanted = true;
    if (json_walk_peek(w) == 'n') {
        return json_decode_text(json, d, w, at, fault); /* null: a tombstone */
    }
    enum json_end end = k.x->has_schema ? cdc_payload(&k) : JSON_DONE;
    if (end != JSON_DONE) {
        return end;
    }
    if (!cdc_look(&k, &e, &beside)) {
        return JSON_BAD;
    }
    if (!cdc_wanted(&k, &e, &is_wanted) || (is_wanted && !cdc_kind(&k, &e, &kind))) {
        return JSON_BAD;
    }
    return is_wanted && kind != CDC_NOTHING ? cdc_rows(&k, &e, kind) : JSON_SKIPPED;
}

sr_rc cdc_decode_open(struct cdc_decoder *x, const struct cdc_dialect *dialect,
                      const struct sr_format_open *o, struct sr_error *err)
{
    const struct cdc_conf *conf = o->conf;
    x->dialect = dialect;
    x->has_schema = conf->has_schema;
    x->metadata = o->metadata;
    x->metadatas = o->metadatas;
    if (x->metadatas > CDC_METADATA_MAX) {
        return o->host->fail(o->host, err, SR_ECONFIG, "more than %u columns of metadata",
                             CDC_METADATA_MAX);
    }
    sr_rc rc = json_decode_open(&x->json, o, err);
    x->json.text = cdc_text_of;
    const char *pattern[] = {conf->database, conf->table};
    for (uint32_t i = 0; rc == SR_OK && i < 2; i++) {
        char words[128];
        x->filter[i] = pattern[i] ? cdc_filter_new(pattern[i], words) : NULL;
        if (pattern[i] && !x->filter[i]) {
            rc = o->host->fail(o->host, err, SR_ECONFIG, "'%s': %s", pattern[i], words);
        }
    }
    return rc;
}

void cdc_decode_close(void *dec)
{
    struct cdc_decoder *x = dec;
    cdc_filter_free(x->filter[0]);
    cdc_filter_free(x->filter[1]);
    x->filter[0] = x->filter[1] = NULL;
    json_decode_close(&x->json);
}
