#include "connectors/datagen/datagen_field.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "connectors/text/number.h"
#include "connectors/text/real.h"

#define DATAGEN_LENGTH 100 /* of texts without a length of their own, as in Flink */
#define DATAGEN_DAY_MS INT64_C(86400000)

/* --- Options --------------------------------------------------------------------------------- */

/* What an option may be written for. */
enum {
    DATAGEN_FOR_NUMBERS = 1u << 0,
    DATAGEN_FOR_TEXTS = 1u << 1,
    DATAGEN_FOR_TIMES = 1u << 2,
    DATAGEN_FOR_OTHERS = 1u << 3,
    DATAGEN_FOR_ALL = 15u
};

static unsigned datagen_group(enum sr_kind kind)
{
    switch (kind) {
    case SR_TINYINT:
    case SR_SMALLINT:
    case SR_INT:
    case SR_BIGINT:
    case SR_FLOAT:
    case SR_DOUBLE:
    case SR_DECIMAL:
        return DATAGEN_FOR_NUMBERS;
    case SR_CHAR:
    case SR_VARCHAR:
    case SR_BINARY:
    case SR_VARBINARY:
        return DATAGEN_FOR_TEXTS;
    case SR_TIMESTAMP:
    case SR_TIMESTAMP_LTZ:
        return DATAGEN_FOR_TIMES;
    case SR_BOOLEAN:
    case SR_DATE:
    case SR_TIME:
        return DATAGEN_FOR_OTHERS;
    case SR_INTERVAL_MONTH:
    case SR_INTERVAL_SECOND:
    case SR_ARRAY:
    case SR_MAP:
    case SR_MULTISET:
    case SR_ROW:
    case SR_NULL:
    case SR_KIND_COUNT:
        break;
    }
    return 0;
}

struct datagen_reading {
    const struct sr_schema *schema;
    struct datagen_field *field;
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

static sr_rc datagen_whole(const struct datagen_reading *r, int64_t min, int64_t max, int64_t *out)
{
    bool is_good = number_get_i64(r->value, (uint32_t)strlen(r->value), out) == NUMBER_OK;
    if (is_good && *out >= min && *out <= max) {
        return SR_OK;
    }
    return datagen_fault(r, is_good ? "is out of range" : "is no whole number");
}

/* The range of a type of whole numbers. */
static void datagen_range(enum sr_kind kind, int64_t *min, int64_t *max)
{
    int bits = kind == SR_TINYINT ? 8 : kind == SR_SMALLINT ? 16 : kind == SR_INT ? 32 : 64;
    *max = (int64_t)(UINT64_MAX >> (65 - bits));
    *min = -*max - 1;
}

static bool datagen_is_whole(enum sr_kind kind)
{
    return kind == SR_TINYINT || kind == SR_SMALLINT || kind == SR_INT || kind == SR_BIGINT;
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
    bool can = (datagen_group(f->type.kind) & DATAGEN_FOR_NUMBERS) || sr_is_text(f->type.kind);
    f->kind = DATAGEN_SEQUENCE;
    return can ? SR_OK : datagen_fault(r, "is not for this type: numbers and texts can be one");
}

static sr_rc datagen_set_null_rate(const struct datagen_reading *r, struct datagen_field *f)
{
    bool is_good = real_get_f64(r->value, (uint32_t)strlen(r->value), &f->null_rate) == REAL_OK;
    if (!is_good || !(f->null_rate >= 0 && f->null_rate <= 1)) {
        return datagen_fault(r, "is no share from 0 to 1");
    }
    return f->null_rate > 0 && !f->type.is_nullable
               ? datagen_fault(r, "for a column that is NOT NULL")
               : SR_OK;
}

static sr_rc datagen_set_length(const struct datagen_reading *r, struct datagen_field *f)
{
    int64_t n = 0;
    int32_t most = f->type.length < DATAGEN_LENGTH_MAX ? f->type.length : DATAGEN_LENGTH_MAX;
    sr_rc rc = datagen_whole(r, 1, most, &n);
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
    {"length", DATAGEN_FOR_TEXTS, true, false, datagen_set_length},
    {"var-len", DATAGEN_FOR_TEXTS, true, false, datagen_set_var_len},
    {"max-past", DATAGEN_FOR_TIMES, true, false, datagen_set_max_past},
    {"null-rate", DATAGEN_FOR_ALL, true, false, datagen_set_null_rate},
    {"start", DATAGEN_FOR_NUMBERS | DATAGEN_FOR_TEXTS, false, true, datagen_set_start},
    {"end", DATAGEN_FOR_NUMBERS | DATAGEN_FOR_TEXTS, false, true, datagen_set_end}};

/* The column that an option is of, and what stands behind its name and a dot; -1: none. */
static int32_t datagen_column(const struct datagen_reading *r, const char **option)
{
    for (uint32_t i = 0; i < r->schema->fields; i++) {
        size_t len = strlen(r->schema->field[i].name);
        if (strncmp(r->key, r->schema->field[i].name, len) == 0 && r->key[len] == '.') {
            *option = r->key + len + 1;
            return (int32_t)i;
        }
    }
    return -1;
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
    return datagen_fault(r, "belongs to no option: kind, min, max, max-past, length, var-len, "
                            "null-rate, start, end");
}

static void datagen_default(struct datagen_field *f, const struct sr_type *type, uint64_t seed)
{
    *f = (struct datagen_field){.type = *type, .seed = seed};
    datagen_range(type->kind, &f->min, &f->max);
    bool is_decimal = type->kind == SR_DECIMAL;
    f->real_max = is_decimal               ? pow(10, type->length - type->scale)
                  : type->kind == SR_FLOAT ? (double)FLT_MAX
                                           : DBL_MAX;
    bool is_text = sr_is_text(type->kind) || sr_is_bytes(type->kind);
    f->length =
        is_text && type->length < DATAGEN_LENGTH_MAX ? (uint32_t)type->length : DATAGEN_LENGTH;
}

static uint64_t datagen_mix(uint64_t x)
{
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
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

/* What only all options of a column together say. */
static sr_rc datagen_settle(const struct datagen_conf *conf, const struct datagen_reading *r,
                            uint32_t c, int64_t *rows)
{
    struct datagen_field *f = &r->field[c];
    const char *name = r->schema->field[c].name;
    const char *words = NULL;
    if (f->kind == DATAGEN_SEQUENCE &&
        (!datagen_is_written(conf, name, "start") || !datagen_is_written(conf, name, "end"))) {
        words = "a sequence needs start and end";
    } else if (f->kind == DATAGEN_SEQUENCE ? f->min > f->max
                                           : f->min > f->max || f->real_min > f->real_max) {
        words = f->kind == DATAGEN_SEQUENCE ? "it starts behind its end" : "min is above max";
    }
    if (words) {
        r->err->rc = SR_ECONFIG;
        (void)snprintf(r->err->words, sizeof(r->err->words), "fields.%s: %s", name, words);
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
        int32_t c = datagen_column(r, &option);
        if (c < 0) {
            return datagen_fault(r, "is for no column of the schema");
        }
        if ((strcmp(option, "kind") == 0) == is_kind) {
            rc = is_kind ? datagen_set_kind(r, &r->field[c])
                         : datagen_read_option(r, &r->field[c], option);
        }
    }
    return rc;
}

sr_rc datagen_fields(const struct datagen_conf *conf, const struct sr_schema *schema,
                     struct datagen_field *out, int64_t *rows, struct sr_error *err)
{
    struct datagen_reading r = {.schema = schema, .field = out, .err = err, .value = ""};
    for (uint32_t c = 0; c < schema->fields; c++) {
        const struct sr_type *type = &schema->field[c].type;
        r.key = schema->field[c].name;
        if (datagen_group(type->kind) == 0) {
            (void)snprintf(err->words, sizeof(err->words),
                           "column '%s' is of a type that datagen does not make", r.key);
            return err->rc = SR_ECONFIG;
        }
        datagen_default(&out[c], type, datagen_mix((uint64_t)conf->seed + (uint64_t)c * 1000003u));
    }
    sr_rc rc = datagen_read(conf, &r, true); /* kinds first: they say what else fits */
    rc = rc == SR_OK ? datagen_read(conf, &r, false) : rc;
    *rows = conf->rows > 0 ? conf->rows : INT64_MAX;
    for (uint32_t c = 0; rc == SR_OK && c < schema->fields; c++) {
        rc = datagen_settle(conf, &r, c, rows);
    }
    return rc;
}

/* --- Values ---------------------------------------------------------------------------------- */

static double datagen_share(uint64_t random) /* 0 to less than 1 */
{
    return (double)(random >> 11) * 0x1p-53;
}

static int64_t datagen_between(uint64_t random, int64_t min, int64_t max)
{
    uint64_t span = (uint64_t)max - (uint64_t)min + 1; /* 0: all there are */
    uint64_t v = span == 0 ? random : (uint64_t)(((unsigned __int128)random * span) >> 64);
    return (int64_t)((uint64_t)min + v);
}

static double datagen_real(const struct datagen_field *f, uint64_t random)
{
    double share = datagen_share(random);
    return f->real_min * (1 - share) + f->real_max * share; /* the difference may overflow */
}

static void datagen_put_decimal(const struct datagen_field *f, struct sr_builder *b, uint32_t c,
                                __int128 unscaled)
{
    if (f->type.length <= SR_DECIMAL_SMALL) {
        sr_put_i64(b, c, (int64_t)unscaled);
    } else {
        ((struct sr_wide *)b->col[c]->values)[b->rows] = number_to_wide(unscaled);
    }
}

static __int128 datagen_power(int32_t n)
{
    __int128 v = 1;
    for (; n > 0; n--) {
        v *= 10;
    }
    return v;
}

/* With all digits of the scale, and never more than the precision holds. */
static __int128 datagen_decimal(const struct datagen_field *f, uint64_t random)
{
    double v = datagen_real(f, random) * pow(10, f->type.scale);
    __int128 most = datagen_power(f->type.length) - 1;
    if (v >= (double)most) {
        return most;
    }
    return v <= -(double)most ? -most : (__int128)v;
}

static void datagen_put_time(const struct datagen_field *f, struct sr_builder *b, uint32_t c,
                             uint64_t random, int64_t now_us)
{
    int64_t past_ms = f->max_past_ms > 0 ? datagen_between(random, 0, f->max_past_ms) : 0;
    int64_t ms = now_us / 1000 - past_ms;
    if (f->type.length < 3) {
        int64_t unit = f->type.length == 0 ? 1000 : f->type.length == 1 ? 100 : 10;
        ms -= ms % unit;
    }
    if (f->type.length <= 6) {
        sr_put_i64(b, c, ms * 1000);
    } else {
        ((struct sr_instant *)b->col[c]->values)[b->rows] = (struct sr_instant){.ms = ms};
    }
}

static uint32_t datagen_put_bytes(const struct datagen_field *f, struct sr_builder *b, uint32_t c,
                                  uint64_t random)
{
    static const char digits[] = "0123456789abcdef";
    uint32_t len = f->is_var_len ? (uint32_t)datagen_between(random, 1, f->length) : f->length;
    uint8_t *to = sr_put_space(b, c, len);
    bool is_text = sr_is_text(f->type.kind);
    uint64_t bits = 0;
    for (uint32_t i = 0; to && i < len; i++) {
        if (i % 8 == 0) {
            random = datagen_mix(random);
            bits = random;
        }
        to[i] = is_text ? (uint8_t)digits[bits & 15] : (uint8_t)bits;
        bits >>= 8;
    }
    return len;
}

/* A sequence's next value; one that the type cannot hold wraps, as a cast does in Flink. */
static uint32_t datagen_put_next(const struct datagen_field *f, struct sr_builder *b, uint32_t c,
                                 int64_t v)
{
    char text[NUMBER_TEXT_MAX];
    uint32_t len = 0;
    switch (f->type.kind) {
    case SR_TINYINT:
        sr_put_i8(b, c, (int8_t)v);
        return 1;
    case SR_SMALLINT:
        sr_put_i16(b, c, (int16_t)v);
        return 2;
    case SR_INT:
        sr_put_i32(b, c, (int32_t)v);
        return 4;
    case SR_BIGINT:
        sr_put_i64(b, c, v);
        return 8;
    case SR_FLOAT:
        sr_put_f32(b, c, (float)v);
        return 4;
    case SR_DOUBLE:
        sr_put_f64(b, c, (double)v);
        return 8;
    case SR_DECIMAL:
        datagen_put_decimal(f, b, c, (__int128)v * datagen_power(f->type.scale));
        return 16;
    case SR_CHAR:
    case SR_VARCHAR:
        len = number_put_i64(text, v);
        sr_put_bytes(b, c, text, len);
        return len;
    case SR_BOOLEAN:
    case SR_BINARY:
    case SR_VARBINARY:
    case SR_DATE:
    case SR_TIME:
    case SR_TIMESTAMP:
    case SR_TIMESTAMP_LTZ:
    case SR_INTERVAL_MONTH:
    case SR_INTERVAL_SECOND:
    case SR_ARRAY:
    case SR_MAP:
    case SR_MULTISET:
    case SR_ROW:
    case SR_NULL:
    case SR_KIND_COUNT:
        break;
    }
    return 0; /* datagen_set_kind refused it */
}

static uint32_t datagen_put_random(const struct datagen_field *f, struct sr_builder *b, uint32_t c,
                                   uint64_t random, int64_t now_us)
{
    switch (f->type.kind) {
    case SR_TINYINT:
    case SR_SMALLINT:
    case SR_INT:
    case SR_BIGINT:
        return datagen_put_next(f, b, c, datagen_between(random, f->min, f->max));
    case SR_BOOLEAN:
        sr_put_bool(b, c, (random & 1) != 0);
        return 1;
    case SR_FLOAT:
        sr_put_f32(b, c, (float)datagen_real(f, random));
        return 4;
    case SR_DOUBLE:
        sr_put_f64(b, c, datagen_real(f, random));
        return 8;
    case SR_DECIMAL:
        datagen_put_decimal(f, b, c, datagen_decimal(f, random));
        return 16;
    case SR_CHAR:
    case SR_VARCHAR:
    case SR_BINARY:
    case SR_VARBINARY:
        return datagen_put_bytes(f, b, c, random);
    case SR_DATE:
        sr_put_i32(b, c, (int32_t)(now_us / 1000 / DATAGEN_DAY_MS));
        return 4;
    case SR_TIME:
        sr_put_i32(b, c, (int32_t)(now_us / 1000 % DATAGEN_DAY_MS / 1000 * 1000));
        return 4;
    case SR_TIMESTAMP:
    case SR_TIMESTAMP_LTZ:
        datagen_put_time(f, b, c, random, now_us);
        return 8;
    case SR_INTERVAL_MONTH:
    case SR_INTERVAL_SECOND:
    case SR_ARRAY:
    case SR_MAP:
    case SR_MULTISET:
    case SR_ROW:
    case SR_NULL:
    case SR_KIND_COUNT:
        break;
    }
    return 0; /* datagen_fields refused it */
}

uint32_t datagen_put(const struct datagen_field *f, struct sr_builder *b, uint32_t c, uint64_t row,
                     int64_t now_us)
{
    if (f->kind == DATAGEN_SEQUENCE) {
        return datagen_put_next(f, b, c, (int64_t)((uint64_t)f->min + row));
    }
    uint64_t random = datagen_mix(f->seed ^ datagen_mix(row));
    if (f->null_rate > 0 && datagen_share(datagen_mix(random)) < f->null_rate) {
        sr_put_null(b, c);
        return 1;
    }
    return datagen_put_random(f, b, c, random, now_us);
}
