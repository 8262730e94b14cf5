#include "connectors/filesystem/fs_parting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/common/note.h"
#include "connectors/text/instant.h"
#include "connectors/text/number.h"

#define FS_VALUE_TEXT 128u /* bytes of a value that is no text */
#define FS_DAY        86400

struct fs_parting_scratch {
    uint32_t from, count;         /* live rows [from, from + count) */
    uint32_t at[SR_BATCH_ROWS];   /* of the partition's name, in text */
    uint32_t hash[SR_BATCH_ROWS]; /* of it */
    bool is_given[SR_BATCH_ROWS];
    struct sr_out text; /* names, each ended by a zero */
};

/* --- Plan time ------------------------------------------------------------------------------- */

static sr_rc fs_parting_fault(struct sr_error *err, const char *words, const char *name)
{
    err->rc = SR_ECONFIG;
    (void)snprintf(err->words, sizeof(err->words), "partition-keys: '%s' %s", name, words);
    return SR_ECONFIG;
}

static int32_t fs_parting_find(const struct sr_schema *schema, const char *name)
{
    for (uint32_t i = 0; i < schema->fields; i++) {
        if (strcmp(schema->field[i].name, name) == 0) {
            return (int32_t)i;
        }
    }
    return -1;
}

/* May a value of this type name a directory? */
static bool fs_parting_can_name(enum sr_kind kind)
{
    bool is_real = kind == SR_FLOAT || kind == SR_DOUBLE;
    return !is_real && !sr_is_bytes(kind) && kind != SR_TIME && !sr_is_interval(kind) &&
           !sr_is_nested(kind) && kind != SR_NULL && kind != SR_VARIANT;
}

bool fs_parting_has(const struct fs_sink_conf *conf, const char *column)
{
    for (uint32_t i = 0; i < conf->partition_keys.count; i++) {
        if (strcmp(conf->partition_keys.item[i], column) == 0) {
            return true;
        }
    }
    return false;
}

sr_rc fs_parting_check(const struct fs_sink_conf *conf, const struct sr_schema *schema,
                       struct sr_error *err)
{
    const sr_list *keys = &conf->partition_keys;
    for (uint32_t k = 0; k < keys->count; k++) {
        const char *name = keys->item[k];
        int32_t c = fs_parting_find(schema, name);
        if (c < 0) {
            return fs_parting_fault(err, "is no column of the sink", name);
        }
        if (!fs_parting_can_name(schema->field[c].type.kind)) {
            return fs_parting_fault(
                err, "has a type that names no directory: CAST it to STRING in a transform", name);
        }
        for (uint32_t i = 0; i < k; i++) {
            if (strcmp(keys->item[i], name) == 0) {
                return fs_parting_fault(err, "stands there twice", name);
            }
        }
    }
    if (keys->count > 0 && keys->count == schema->fields) {
        return fs_parting_fault(err, "and the other keys leave no column to write", keys->item[0]);
    }
    return SR_OK;
}

/* --- Names ----------------------------------------------------------------------------------- */

static bool fs_parting_is_plain(uint8_t b)
{
    return b >= ' ' && b != 0x7f && !strchr("\"#%'*/:=?\\{}[]^", (char)b);
}

static bool fs_parting_escape(struct sr_out *out, const char *s, size_t len)
{
    static const char digits[] = "0123456789ABCDEF";
    uint8_t *to = sr_out_room(out, len * 3 + 1);
    if (!to) {
        return false;
    }
    uint8_t *begin = to;
    for (size_t i = 0; i < len; i++) {
        uint8_t b = (uint8_t)s[i];
        if (fs_parting_is_plain(b)) {
            *to++ = b;
        } else {
            *to++ = '%';
            *to++ = (uint8_t)digits[b >> 4];
            *to++ = (uint8_t)digits[b & 15];
        }
    }
    out->len += (size_t)(to - begin);
    return true;
}

/* As Java's LocalDateTime writes itself, which Flink does: no seconds where there are none, and
 * 3, 6 or 9 digits of them. */
static uint32_t fs_parting_moment(char *to, struct moment m)
{
    int64_t day = m.seconds / FS_DAY, second = m.seconds % FS_DAY;
    if (second < 0) {
        day--;
        second += FS_DAY;
    }
    uint32_t n = moment_put_date(to, (int32_t)day);
    size_t room = FS_VALUE_TEXT - n;
    n += (uint32_t)snprintf(to + n, room, "T%02d:%02d", (int)(second / 3600),
                            (int)(second / 60 % 60));
    if (second % 60 == 0 && m.nano == 0) {
        return n;
    }
    n += (uint32_t)snprintf(to + n, FS_VALUE_TEXT - n, ":%02d", (int)(second % 60));
    if (m.nano > 0) {
        int digits = m.nano % 1000000 == 0 ? 3 : m.nano % 1000 == 0 ? 6 : 9;
        char fraction[16];
        (void)snprintf(fraction, sizeof(fraction), "%09d", (int)m.nano);
        n += (uint32_t)snprintf(to + n, FS_VALUE_TEXT - n, ".%.*s", digits, fraction);
    }
    return n;
}

/* The text of a value that is not NULL; in `space` unless it lies in the column. */
static const char *fs_parting_value(const struct sr_column *c, uint32_t r, char *space,
                                    uint32_t *len)
{
    switch (c->type.kind) {
    case SR_CHAR:
    case SR_VARCHAR:
        return sr_text(c, r, len);
    case SR_BOOLEAN:
        *len = (uint32_t)snprintf(space, FS_VALUE_TEXT, "%s",
                                  ((const uint8_t *)c->values)[r] ? "true" : "false");
        return space;
    case SR_TINYINT:
        *len = number_put_i64(space, ((const int8_t *)c->values)[r]);
        return space;
    case SR_SMALLINT:
        *len = number_put_i64(space, ((const int16_t *)c->values)[r]);
        return space;
    case SR_INT:
        *len = number_put_i64(space, ((const int32_t *)c->values)[r]);
        return space;
    case SR_BIGINT:
        *len = number_put_i64(space, ((const int64_t *)c->values)[r]);
        return space;
    case SR_DECIMAL:
        *len = number_put_decimal(space, number_of_row(c, r), c->type.scale);
        return space;
    case SR_DATE:
        *len = moment_put_date(space, ((const int32_t *)c->values)[r]);
        return space;
    case SR_TIMESTAMP:
    case SR_TIMESTAMP_LTZ:
        *len = fs_parting_moment(space, instant_of_row(c, r));
        return space;
    case SR_FLOAT:
    case SR_DOUBLE:
    case SR_BINARY:
    case SR_VARBINARY:
    case SR_TIME:
    case SR_INTERVAL_MONTH:
    case SR_INTERVAL_SECOND:
    case SR_ARRAY:
    case SR_MAP:
    case SR_MULTISET:
    case SR_ROW:
    case SR_NULL:
    case SR_VARIANT:
    case SR_KIND_COUNT:
        break;
    }
    *len = 0; /* check refused it */
    return "";
}

static sr_rc fs_parting_no_memory(const struct fs_parting *p, struct sr_error *err)
{
    return p->host->fail(p->host, err, SR_ENOMEM, "out of memory");
}

static bool fs_parting_copy(struct sr_out *out, const void *bytes, size_t len)
{
    uint8_t *to = sr_out_room(out, len);
    if (!to) {
        return false;
    }
    memcpy(to, bytes, len);
    out->len += len;
    return true;
}

static sr_rc fs_parting_put(struct fs_parting *p, const struct sr_view *v, uint32_t r,
                            struct sr_error *err)
{
    struct sr_out *out = &p->scratch->text;
    for (uint32_t k = 0; k < p->keys; k++) {
        const struct sr_column *c = v->col[p->key[k]];
        char space[FS_VALUE_TEXT];
        uint32_t len = 0;
        const char *text = sr_is_valid(c, r) ? fs_parting_value(c, r, space, &len) : "";
        size_t begin = out->len;
        bool is_put =
            (k == 0 || fs_parting_copy(out, "/", 1)) &&
            fs_parting_copy(out, p->prefix[k].data, p->prefix[k].len) &&
            (len > 0 ? fs_parting_escape(out, text, len)
                     : fs_parting_copy(out, p->conf->default_name, strlen(p->conf->default_name)));
        if (!is_put) {
            return fs_parting_no_memory(p, err);
        }
        if (out->len - begin > FS_PARTITION_NAME_MAX + (k > 0 ? 1u : 0u)) {
            return p->host->fail(p->host, err, SR_EDATA,
                                 "the value of partition key '%s' makes a name of more than %u "
                                 "bytes",
                                 p->conf->partition_keys.item[k], FS_PARTITION_NAME_MAX);
        }
    }
    return fs_parting_copy(out, "", 1) ? SR_OK : fs_parting_no_memory(p, err);
}

/* --- Rows ------------------------------------------------------------------------------------ */

static sr_rc fs_parting_columns(struct fs_parting *p, const struct sr_schema *schema,
                                struct sr_error *err)
{
    for (uint32_t k = 0; k < p->keys; k++) {
        int32_t c = fs_parting_find(schema, p->conf->partition_keys.item[k]);
        if (c < 0) {
            return fs_parting_fault(err, "is no column", p->conf->partition_keys.item[k]);
        }
        const char *name = schema->field[c].name;
        p->key[k] = (uint32_t)c;
        p->prefix[k] = note_out();
        if (!fs_parting_escape(&p->prefix[k], name, strlen(name)) ||
            !fs_parting_copy(&p->prefix[k], "=", 1)) {
            return fs_parting_no_memory(p, err);
        }
    }
    for (uint32_t i = 0; i < schema->fields; i++) {
        if (!fs_parting_has(p->conf, schema->field[i].name)) {
            p->field[p->rests] = schema->field[i];
            p->rest[p->rests++] = i;
        }
    }
    p->schema = (struct sr_schema){.fields = p->rests, .field = p->field, .rowtime = -1};
    return SR_OK;
}

sr_rc fs_parting_open(struct fs_parting *p, const struct sr_host *host,
                      const struct fs_sink_conf *conf, const struct sr_schema *schema,
                      struct sr_error *err)
{
    p->host = host;
    p->conf = conf;
    p->keys = conf->partition_keys.count;
    p->key = calloc(p->keys, sizeof(*p->key));
    p->prefix = calloc(p->keys, sizeof(*p->prefix));
    p->rest = calloc(schema->fields, sizeof(*p->rest));
    p->field = calloc(schema->fields, sizeof(*p->field));
    p->piece_col = calloc(schema->fields, sizeof(struct sr_column *));
    p->scratch = calloc(1, sizeof(*p->scratch));
    if (!p->key || !p->prefix || !p->rest || !p->field || !p->piece_col || !p->scratch) {
        return fs_parting_no_memory(p, err);
    }
    p->scratch->text = note_out();
    return fs_parting_columns(p, schema, err);
}

void fs_parting_done(struct fs_parting *p)
{
    for (uint32_t k = 0; p->prefix && k < p->keys; k++) {
        note_free(&p->prefix[k]);
    }
    if (p->scratch) {
        note_free(&p->scratch->text);
    }
    free(p->scratch);
    free(p->prefix);
    free(p->key);
    free(p->rest);
    free(p->field);
    free(p->piece_col);
    p->scratch = NULL;
    p->prefix = NULL;
    p->key = p->rest = NULL;
    p->field = NULL;
    p->piece_col = NULL;
}

static uint32_t fs_parting_hash(const uint8_t *s, size_t len)
{
    uint32_t h = 2166136261u; /* FNV-1a: names are short */
    for (size_t i = 0; i < len; i++) {
        h = (h ^ s[i]) * 16777619u;
    }
    return h;
}

sr_rc fs_parting_begin(struct fs_parting *p, const struct sr_view *v, uint32_t from,
                       uint32_t *limit, struct sr_error *err)
{
    struct fs_parting_scratch *s = p->scratch;
    s->from = from;
    s->text.len = 0;
    sr_rc rc = SR_OK;
    uint32_t i = from;
    for (; i < v->picked; i++) {
        size_t begin = s->text.len;
        rc = fs_parting_put(p, v, sr_row(v, i), err);
        if (rc != SR_OK) {
            break;
        }
        s->at[i - from] = (uint32_t)begin;
        s->hash[i - from] = fs_parting_hash(s->text.data + begin, s->text.len - 1 - begin);
    }
    s->count = i - from;
    *limit = i;
    fs_parting_rewind(p);
    return rc;
}

void fs_parting_rewind(struct fs_parting *p) { memset(p->scratch->is_given, 0, p->scratch->count); }

const char *fs_parting_next(struct fs_parting *p, const struct sr_view *v, uint32_t limit)
{
    struct fs_parting_scratch *s = p->scratch;
    uint32_t count = limit - s->from < s->count ? limit - s->from : s->count, first = 0;
    while (first < count && s->is_given[first]) {
        first++;
    }
    if (first == count) {
        return NULL;
    }
    const char *name = (const char *)s->text.data + s->at[first];
    struct sr_view *piece = &p->piece;
    piece->size = sizeof(*piece);
    piece->rows = v->rows;
    piece->cols = p->rests;
    piece->col = p->piece_col;
    piece->change = v->change;
    piece->sel = piece->sel_space;
    piece->watermark_end = SR_WATERMARK_NONE;
    piece->picked = 0;
    for (uint32_t c = 0; c < p->rests; c++) {
        p->piece_col[c] = v->col[p->rest[c]];
    }
    for (uint32_t i = first; i < count; i++) {
        if (!s->is_given[i] && s->hash[i] == s->hash[first] &&
            strcmp((const char *)s->text.data + s->at[i], name) == 0) {
            s->is_given[i] = true;
            p->live[piece->picked] = (uint16_t)(s->from + i);
            piece->sel_space[piece->picked++] = (uint16_t)sr_row(v, s->from + i);
        }
    }
    return name;
}

/* --- Times of partitions --------------------------------------------------------------------- */

static int fs_parting_digit(char c)
{
    const char *digits = "0123456789ABCDEF";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Appends the value of key k of a partition, as it was before it was escaped. */
static bool fs_parting_unescape(const char *partition, uint32_t k, char *to, size_t size, size_t *n)
{
    for (; k > 0; k--) {
        partition = strchr(partition, '/');
        if (!partition++) {
            return false;
        }
    }
    const char *at = strchr(partition, '=');
    for (at = at ? at + 1 : ""; *at && *at != '/'; at++) {
        char c = *at;
        if (c == '%' && fs_parting_digit(at[1]) >= 0 && fs_parting_digit(at[2]) >= 0) {
            c = (char)(fs_parting_digit(at[1]) * 16 + fs_parting_digit(at[2]));
            at += 2;
        }
        if (*n + 1 >= size) {
            return false;
        }
        to[(*n)++] = c;
    }
    return true;
}

/* The key whose name stands at `at`, the longest of them; -1: none. */
static int32_t fs_parting_named(const struct fs_parting *p, const char *at, size_t *len)
{
    int32_t found = -1;
    *len = 0;
    for (uint32_t k = 0; k < p->keys; k++) {
        const char *name = p->conf->partition_keys.item[k];
        size_t n = strlen(name);
        if (n > *len && strncmp(at, name, n) == 0) {
            found = (int32_t)k;
            *len = n;
        }
    }
    return found;
}

/* yyyy-[M]M-[d]d, with or without a time of the day behind a blank or a T. */
static bool fs_parting_read_time(const char *s, size_t len, int64_t *ms)
{
    const char *gap = memchr(s, ' ', len);
    gap = gap ? gap : memchr(s, 'T', len);
    int32_t days = 0, clock = 0;
    size_t date = gap ? (size_t)(gap - s) : len;
    if (!moment_get_date(s, (uint32_t)date, &days)) {
        return false;
    }
    const char *at = gap ? gap + 1 : "";
    size_t left = gap ? len - date - 1 : 0;
    char padded[FS_VALUE_TEXT];
    if (left > 1 && at[1] == ':') { /* one digit of the hour */
        left = (size_t)snprintf(padded, sizeof(padded), "0%.*s", (int)left, at);
        at = padded;
    }
    if (gap && !moment_get_time(at, (uint32_t)left, &clock)) {
        return false;
    }
    *ms = (int64_t)days * FS_DAY * 1000 + clock;
    return true;
}

bool fs_parting_time(const struct fs_parting *p, const char *partition, int64_t *ms)
{
    char text[FS_VALUE_TEXT];
    size_t n = 0;
    const char *pattern = p->conf->time_pattern;
    if (!pattern) {
        return fs_parting_unescape(partition, 0, text, sizeof(text), &n) &&
               fs_parting_read_time(text, n, ms);
    }
    while (*pattern) {
        size_t len = 0;
        int32_t k = *pattern == '$' ? fs_parting_named(p, pattern + 1, &len) : -1;
        if (k >= 0) {
            if (!fs_parting_unescape(partition, (uint32_t)k, text, sizeof(text), &n)) {
                return false;
            }
            pattern += len + 1;
        } else if (n + 1 < sizeof(text)) {
            text[n++] = *pattern++;
        } else {
            return false;
        }
    }
    return fs_parting_read_time(text, n, ms);
}
