#include "connectors/datagen/datagen_field.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/common/list.h"
#include "connectors/datagen/datagen_value.h"
#include "connectors/text/number.h"
#include "connectors/text/real.h"

#define DATAGEN_LENGTH     100    /* of texts without a length of their own, as in Flink */
#define DATAGEN_ELEMENTS   3      /* of collections, as in Flink */
#define DATAGEN_MONTHS     120000 /* the longest interval, as in Flink */
#define DATAGEN_PATH_BYTES 200

/* --- Options --------------------------------------------------------------------------------- */

/* What an option may be written for. */
enum {
    DATAGEN_FOR_NUMBERS = 1u << 0,
    DATAGEN_FOR_TEXTS = 1u << 1,
    DATAGEN_FOR_TIMES = 1u << 2,
    DATAGEN_FOR_COLLECTIONS = 1u << 3,
    DATAGEN_FOR_OTHERS = 1u << 4,
    DATAGEN_FOR_ALL = 31u
};

static unsigned datagen_group(enum sr_kind kind)
{
    if (sr_is_number(kind) || sr_is_interval(kind)) {
        return DATAGEN_FOR_NUMBERS;
    }
    if (sr_is_string(kind)) {
        return DATAGEN_FOR_TEXTS;
    }
    if (sr_is_nested(kind)) {
        return kind == SR_ROW ? DATAGEN_FOR_OTHERS : DATAGEN_FOR_COLLECTIONS;
    }
    return sr_is_timestamp(kind) ? DATAGEN_FOR_TIMES : DATAGEN_FOR_OTHERS;
}

struct datagen_reading {
    const struct sr_schema *schema;
    struct datagen_field *field; /* those of the columns come first */
    uint32_t fields, capacity;
    struct sr_error *err;
    const char *key, *value; /* the option being read */
};

static sr_rc datagen_fault(const struct datagen_reading *r, const char *words)
{
    r->err->rc = SR_ECONFIG;
    (void)snprintf(r->err->words, sizeof(r->err->words), "fields.%s: '%.100s' %s", r->key, r->value,
                   words);
    return SR_ECONFIG;
}

static bool datagen_is_inside(const struct datagen_reading *r, const struct datagen_field *f)
{
    return (size_t)(f - r->field) >= r->schema->fields;
}

static bool datagen_is_key(const struct datagen_reading *r, const struct datagen_field *f)
{
    const struct datagen_field *map = &r->field[f->up];
    return datagen_is_inside(r, f) && map->type.kind == SR_MAP && f == &r->field[map->first];
}

static sr_rc datagen_whole(const struct datagen_reading *r, int64_t min, int64_t max, int64_t *out)
{
    bool is_good = number_get_i64(r->value, (uint32_t)strlen(r->value), out) == NUMBER_OK;
    if (is_good && *out >= min && *out <= max) {
        return SR_OK;
    }
    return datagen_fault(r, is_good ? "is out of range" : "is no whole number");
}

static bool datagen_is_whole(enum sr_kind kind)
{
    return sr_is_integer(kind) || sr_is_interval(kind);
}

/* The range of a type of whole numbers. */
static void datagen_range(enum sr_kind kind, int64_t *min, int64_t *max)
{
    bool is_int = kind == SR_INT || kind == SR_INTERVAL_MONTH;
    int bits = kind == SR_TINYINT ? 8 : kind == SR_SMALLINT ? 16 : is_int ? 32 : 64;
    *max = (int64_t)(UINT64_MAX >> (65 - bits));
    *min = -*max - 1;
}

/* min or max. */
static sr_rc datagen_limit(const struct datagen_reading *r, struct datagen_field *f, bool is_min)
{
    if (datagen_is_whole(f->type.kind)) {
        int64_t min = 0, max = 0;
        datagen_range(f->type.kind, &min, &max);
        return datagen_whole(r, min, max, is_min ? &f->min : &f->max);
    }
    double v = 0;
    if (real_get_f64(r->value, (uint32_t)strlen(r->value), &v) != REAL_OK || !isfinite(v) ||
        (f->type.kind == SR_FLOAT && fabs(v) > (double)FLT_MAX)) {
        return datagen_fault(r, "is no number of the type");
    }
    *(is_min ? &f->real_min : &f->real_max) = v;
    return SR_OK;
}

/* "1 h", "250 ms"; a bare number is milliseconds. */
static sr_rc datagen_duration(const struct datagen_reading *r, int64_t *ms)
{
    static const struct {
        const char *unit;
        int64_t ms;
    } units[] = {{"", 1},      {"ms", 1},      {"s", 1000},    {"min", 60000},
                 {"m", 60000}, {"h", 3600000}, {"d", 86400000}};
    size_t digits = strspn(r->value, "0123456789");
    const char *unit = r->value + digits;
    unit += strspn(unit, " ");
    for (size_t i = 0; digits > 0 && digits < 13 && i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(unit, units[i].unit) == 0) {
            int64_t n = 0;
            (void)number_get_i64(r->value, (uint32_t)digits, &n); /* digits only, and few */
            *ms = n * units[i].ms;
            return SR_OK;
        }
    }
    return datagen_fault(r, "is no duration, as in 10 min");
}

static sr_rc datagen_set_kind(const struct datagen_reading *r, struct datagen_field *f)
{
    if (strcmp(r->value, "random") == 0) {
        f->kind = DATAGEN_RANDOM;
        return SR_OK;
    }
    if (strcmp(r->value, "sequence") != 0) {
        return datagen_fault(r, "is neither random nor sequence");
    }
    bool can = sr_is_number(f->type.kind) || sr_is_text(f->type.kind);
    f->kind = DATAGEN_SEQUENCE;
    return can ? SR_OK : datagen_fault(r, "is not for this type: numbers and texts can be one");
}

static sr_rc datagen_set_null_rate(const struct datagen_reading *r, struct datagen_field *f)
{
    bool is_good = real_get_f64(r->value, (uint32_t)strlen(r->value), &f->null_rate) == REAL_OK;
    if (!is_good || !(f->null_rate >= 0 && f->null_rate <= 1)) {
        return datagen_fault(r, "is no share from 0 to 1");
    }
    if (f->null_rate > 0 && !f->type.is_nullable) {
        return datagen_fault(r, "for a column that is NOT NULL");
    }
    return f->null_rate > 0 && datagen_is_key(r, f) ? datagen_fault(r, "for the keys of a MAP")
                                                    : SR_OK;
}

static sr_rc datagen_set_length(const struct datagen_reading *r, struct datagen_field *f)
{
    int64_t n = 0;
    bool is_text = !sr_is_nested(f->type.kind);
    int32_t most =
        is_text && f->type.length < DATAGEN_LENGTH_MAX ? f->type.length : DATAGEN_LENGTH_MAX;
    sr_rc rc = datagen_whole(r, is_text ? 1 : 0, most, &n);
    f->length = (uint32_t)n;
    return rc;
}

static sr_rc datagen_set_var_len(const struct datagen_reading *r, struct datagen_field *f)
{
    f->is_var_len = strcmp(r->value, "true") == 0;
    if (!f->is_var_len && strcmp(r->value, "false") != 0) {
        return datagen_fault(r, "is neither true nor false");
    }
    bool can = f->type.kind == SR_VARCHAR || f->type.kind == SR_VARBINARY;
    return can ? SR_OK : datagen_fault(r, "is for types of varying length");
}

static sr_rc datagen_set_min(const struct datagen_reading *r, struct datagen_field *f)
{
    return datagen_limit(r, f, true);
}

static sr_rc datagen_set_max(const struct datagen_reading *r, struct datagen_field *f)
{
    return datagen_limit(r, f, false);
}

static sr_rc datagen_set_max_past(const struct datagen_reading *r, struct datagen_field *f)
{
    return datagen_duration(r, &f->max_past_ms);
}

static sr_rc datagen_set_start(const struct datagen_reading *r, struct datagen_field *f)
{
    return datagen_whole(r, INT64_MIN, INT64_MAX, &f->min);
}

static sr_rc datagen_set_end(const struct datagen_reading *r, struct datagen_field *f)
{
    return datagen_whole(r, INT64_MIN, INT64_MAX, &f->max);
}

struct datagen_option {
    const char *name;
    unsigned groups;
    bool is_random, is_sequence; /* for which kinds */
    sr_rc (*set)(const struct datagen_reading *r, struct datagen_field *f);
};

static const struct datagen_option datagen_options[] = {
    {"min", DATAGEN_FOR_NUMBERS, true, false, datagen_set_min},
    {"max", DATAGEN_FOR_NUMBERS, true, false, datagen_set_max},
    {"length", DATAGEN_FOR_TEXTS | DATAGEN_FOR_COLLECTIONS, true, false, datagen_set_length},
    {"var-len", DATAGEN_FOR_TEXTS, true, false, datagen_set_var_len},
    {"max-past", DATAGEN_FOR_TIMES, true, false, datagen_set_max_past},
    {"null-rate", DATAGEN_FOR_ALL, true, false, datagen_set_null_rate},
    {"start", DATAGEN_FOR_NUMBERS | DATAGEN_FOR_TEXTS, false, true, datagen_set_start},
    {"end", DATAGEN_FOR_NUMBERS | DATAGEN_FOR_TEXTS, false, true, datagen_set_end}};

/* Whether a key goes on inside what is called so: behind the name and a dot; 0: it does not. */
static size_t datagen_behind(const char *key, const char *name)
{
    size_t len = strlen(name);
    return strncmp(key, name, len) == 0 && key[len] == '.' ? len + 1 : 0;
}

/* The field that an option is of, and what stands behind its name and a dot; NULL: none. */
static struct datagen_field *datagen_find(const struct datagen_reading *r, const char **option)
{
    size_t longest = 0;
    struct datagen_field *f = NULL;
    for (uint32_t i = 0; i < r->schema->fields; i++) {
        size_t behind = datagen_behind(r->key, r->schema->field[i].name);
        f = behind > longest ? &r->field[i] : f;
        longest = behind > longest ? behind : longest;
    }
    *option = r->key + longest;
    for (uint32_t i = 0; f && i < f->type.children;) {
        struct datagen_field *inside = &r->field[f->first + i++];
        size_t behind = datagen_behind(*option, inside->name);
        if (behind > 0) {
            f = inside;
            *option += behind;
            i = 0;
        }
    }
    return f;
}

static sr_rc datagen_read_option(const struct datagen_reading *r, struct datagen_field *f,
                                 const char *name)
{
    for (size_t i = 0; i < sizeof(datagen_options) / sizeof(datagen_options[0]); i++) {
        const struct datagen_option *o = &datagen_options[i];
        if (strcmp(o->name, name) != 0) {
            continue;
        }
        bool fits = f->kind == DATAGEN_SEQUENCE ? o->is_sequence : o->is_random;
        if (!fits || !(o->groups & datagen_group(f->type.kind))) {
            return datagen_fault(r, f->kind == DATAGEN_SEQUENCE
                                        ? "is not for a sequence: start and end are"
                                        : "is not for random values of this type");
        }
        return o->set(r, f);
    }
    if (strcmp(name, "kind") == 0) {
        return datagen_fault(r, "is for columns: what is inside one is random");
    }
    return datagen_fault(r, "belongs to no option: kind, min, max, max-past, length, var-len, "
                            "null-rate, start, end");
}

static void datagen_default(struct datagen_field *f, const struct sr_type *type, uint64_t seed)
{
    *f = (struct datagen_field){.type = *type, .seed = seed};
    datagen_range(type->kind, &f->min, &f->max);
    if (type->kind == SR_INTERVAL_MONTH) {
        f->min = 0;
        f->max = DATAGEN_MONTHS;
    }
    bool is_decimal = type->kind == SR_DECIMAL;
    f->real_max = is_decimal               ? pow(10, type->length - type->scale)
                  : type->kind == SR_FLOAT ? (double)FLT_MAX
                                           : DBL_MAX;
    bool is_text = sr_is_string(type->kind);
    bool is_bounded = is_text && type->length < DATAGEN_LENGTH_MAX;
    f->length = is_bounded                 ? (uint32_t)type->length
                : sr_is_nested(type->kind) ? DATAGEN_ELEMENTS
                                           : DATAGEN_LENGTH;
}

static bool datagen_is_written(const struct datagen_conf *conf, const char *column,
                               const char *option)
{
    size_t len = strlen(column);
    for (uint32_t i = 0; i < conf->fields.count; i++) {
        const char *key = conf->fields.key[i];
        if (strncmp(key, column, len) == 0 && key[len] == '.' &&
            strcmp(key + len + 1, option) == 0) {
            return true;
        }
    }
    return false;
}

/* "f.element.key": where a field is. */
static const char *datagen_path(const struct datagen_reading *r, const struct datagen_field *f,
                                char text[DATAGEN_PATH_BYTES])
{
    char before[DATAGEN_PATH_BYTES];
    (void)snprintf(text, DATAGEN_PATH_BYTES, "%s", f->name);
    while (datagen_is_inside(r, f)) {
        f = &r->field[f->up];
        (void)snprintf(before, sizeof(before), "%s", text);
        (void)snprintf(text, DATAGEN_PATH_BYTES, "%.60s.%.130s", f->name, before);
    }
    return text;
}

/* How many of a field there are in one value of its column, at most; ends where it is too many. */
static uint64_t datagen_most(const struct datagen_reading *r, const struct datagen_field *f)
{
    uint64_t most = 1;
    while (datagen_is_inside(r, f) && most <= DATAGEN_VALUE_MAX) {
        f = &r->field[f->up];
        bool is_many = f->type.kind != SR_ROW;
        most *= is_many ? f->length : 1;
        most *= f->type.kind == SR_MULTISET ? DATAGEN_MULTIPLE_MAX : 1;
    }
    return most;
}

/* What only all options together say of a field; NULL: it is good. */
static const char *datagen_wrong(const struct datagen_conf *conf, const struct datagen_reading *r,
                                 const struct datagen_field *f)
{
    bool is_text = sr_is_string(f->type.kind);
    uint64_t bytes = is_text && f->length > 16 ? f->length : 16;
    if (datagen_most(r, f) * bytes > DATAGEN_VALUE_MAX && datagen_is_inside(r, f)) {
        return "there would be more than 64 MiB of it in one value: make a length smaller";
    }
    if (sr_is_nested(f->type.kind) && datagen_is_key(r, f)) {
        return "keys of a MAP that have values inside are not made";
    }
    if (f->kind == DATAGEN_RANDOM) {
        return f->min > f->max || f->real_min > f->real_max ? "min is above max" : NULL;
    }
    if (!datagen_is_written(conf, f->name, "start") || !datagen_is_written(conf, f->name, "end")) {
        return "a sequence needs start and end";
    }
    return f->min > f->max ? "it starts behind its end" : NULL;
}

static sr_rc datagen_settle(const struct datagen_conf *conf, const struct datagen_reading *r,
                            const struct datagen_field *f, int64_t *rows)
{
    const char *words = datagen_wrong(conf, r, f);
    char path[DATAGEN_PATH_BYTES];
    if (words) {
        r->err->rc = SR_ECONFIG;
        (void)snprintf(r->err->words, sizeof(r->err->words), "fields.%s: %s",
                       datagen_path(r, f, path), words);
        return SR_ECONFIG;
    }
    if (f->kind == DATAGEN_SEQUENCE) {
        uint64_t count = (uint64_t)f->max - (uint64_t)f->min; /* less one */
        if (count < (uint64_t)INT64_MAX && (int64_t)count + 1 < *rows) {
            *rows = (int64_t)count + 1;
        }
    }
    return SR_OK;
}

/* The options that say a kind, or all others. */
static sr_rc datagen_read(const struct datagen_conf *conf, struct datagen_reading *r, bool is_kind)
{
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; rc == SR_OK && i < conf->fields.count; i++) {
        r->key = conf->fields.key[i];
        r->value = conf->fields.value[i];
        const char *option = NULL;
        struct datagen_field *f = datagen_find(r, &option);
        if (!f) {
            return datagen_fault(r, "is for no column of the schema");
        }
        bool says_kind = strcmp(option, "kind") == 0 && !datagen_is_inside(r, f);
        if (says_kind == is_kind) {
            rc = is_kind ? datagen_set_kind(r, f) : datagen_read_option(r, f, option);
        }
    }
    return rc;
}

static bool datagen_add(struct datagen_reading *r, const struct datagen_conf *conf,
                        const char *name, const struct sr_type *type, uint32_t up)
{
    struct datagen_field *moved =
        list_room(r->field, r->fields, &r->capacity, sizeof(struct datagen_field));
    if (!moved) {
        r->err->rc = SR_ENOMEM;
        (void)snprintf(r->err->words, sizeof(r->err->words), "out of memory");
        return false;
    }
    r->field = moved;
    struct datagen_field *f = &r->field[r->fields];
    datagen_default(f, type, datagen_mix((uint64_t)conf->seed + (uint64_t)r->fields * 1000003u));
    f->name = name;
    f->up = up;
    r->fields++;
    return true;
}

static const char *datagen_child_name(const struct sr_type *t, uint32_t i)
{
    return t->kind == SR_ROW   ? t->child[i].name
           : t->kind != SR_MAP ? "element"
           : i                 ? "value"
                               : "key";
}

/* One a column, then what is inside those that are there already. */
static sr_rc datagen_grow(struct datagen_reading *r, const struct datagen_conf *conf)
{
    for (uint32_t c = 0; c < r->schema->fields; c++) {
        const struct sr_field *column = &r->schema->field[c];
        if (!datagen_add(r, conf, column->name, &column->type, c)) {
            return SR_ENOMEM;
        }
    }
    for (uint32_t i = 0; i < r->fields; i++) {
        const struct sr_type t = r->field[i].type;
        r->field[i].first = r->fields;
        for (uint32_t k = 0; k < t.children; k++) {
            if (!datagen_add(r, conf, datagen_child_name(&t, k), &t.child[k].type, i)) {
                return SR_ENOMEM;
            }
        }
    }
    for (uint32_t i = 0; i < r->fields; i++) {
        r->field[i].child = &r->field[r->field[i].first];
    }
    return SR_OK;
}

sr_rc datagen_fields(const struct datagen_conf *conf, const struct sr_schema *schema,
                     struct datagen_field **out, int64_t *rows, struct sr_error *err)
{
    struct datagen_reading r = {.schema = schema, .err = err, .value = ""};
    int64_t count = conf->rows > 0 ? conf->rows : INT64_MAX;
    sr_rc rc = datagen_grow(&r, conf);
    rc = rc == SR_OK ? datagen_read(conf, &r, true) : rc; /* they say what else fits */
    rc = rc == SR_OK ? datagen_read(conf, &r, false) : rc;
    for (uint32_t i = 0; rc == SR_OK && i < r.fields; i++) {
        rc = datagen_settle(conf, &r, &r.field[i], &count);
    }
    if (rc != SR_OK) {
        free(r.field);
        return rc;
    }
    *out = r.field;
    *rows = count;
    return SR_OK;
}
