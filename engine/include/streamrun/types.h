/* Types are Flink SQL's, with Flink's names, and so are schemas.
 *
 * STRING is VARCHAR of SR_LENGTH_MAX, BYTES is VARBINARY of it, as in Flink. A type is a value;
 * what it points to (children, names) lives as long as the job.
 */
#ifndef STREAMRUN_TYPES_H
#define STREAMRUN_TYPES_H

#include <streamrun/abi.h>

#define SR_LENGTH_MAX    2147483647
#define SR_DECIMAL_MAX   38 /* digits */
#define SR_DECIMAL_SMALL 18 /* digits that fit an int64_t */

/* Every kind, and the word that SQL has for it. */
#define SR_KINDS(KIND)                                  \
    KIND(SR_BOOLEAN, "BOOLEAN")                         \
    KIND(SR_TINYINT, "TINYINT")                         \
    KIND(SR_SMALLINT, "SMALLINT")                       \
    KIND(SR_INT, "INT")                                 \
    KIND(SR_BIGINT, "BIGINT")                           \
    KIND(SR_FLOAT, "FLOAT")                             \
    KIND(SR_DOUBLE, "DOUBLE")                           \
    KIND(SR_DECIMAL, "DECIMAL")                         \
    KIND(SR_CHAR, "CHAR")                               \
    KIND(SR_VARCHAR, "VARCHAR")                         \
    KIND(SR_BINARY, "BINARY")                           \
    KIND(SR_VARBINARY, "VARBINARY")                     \
    KIND(SR_DATE, "DATE")                               \
    KIND(SR_TIME, "TIME")                               \
    KIND(SR_TIMESTAMP, "TIMESTAMP")                     \
    KIND(SR_TIMESTAMP_LTZ, "TIMESTAMP_LTZ")             \
    KIND(SR_INTERVAL_MONTH, "INTERVAL MONTH")           \
    KIND(SR_INTERVAL_SECOND, "INTERVAL SECOND(3)")      \
    KIND(SR_ARRAY, "ARRAY")                             \
    KIND(SR_MAP, "MAP")                                 \
    KIND(SR_MULTISET, "MULTISET")                       \
    KIND(SR_ROW, "ROW")                                 \
    KIND(SR_NULL, "NULL") /* the type of a bare NULL */ \
    KIND(SR_VARIANT, "VARIANT")

enum sr_kind {
#define SR_KIND(kind, word) kind,
    SR_KINDS(SR_KIND)
#undef SR_KIND
        SR_KIND_COUNT
};

static inline const char *sr_kind_word(enum sr_kind k)
{
#define SR_KIND(kind, word) word, /* in their order, so that C++ takes it too */
    static const char *const words[SR_KIND_COUNT] = {SR_KINDS(SR_KIND)};
#undef SR_KIND
    return k < SR_KIND_COUNT ? words[k] : "?";
}

struct sr_field;

struct sr_type {
    enum sr_kind kind;
    bool is_nullable;
    int32_t length;    /* CHAR to VARBINARY: length; DECIMAL, TIME, TIMESTAMP*: precision; else 0 */
    int32_t scale;     /* DECIMAL: digits behind the point; else 0 */
    uint32_t children; /* ARRAY, MULTISET: 1; MAP: 2 (key, value); ROW: its fields */
    const struct sr_field *child; /* names are "" but for ROW */
    /* ROW: the class that it is a value of, which makes it Flink's STRUCTURED<'class', ...>; else
     * NULL. */
    const char *class_name;
};

struct sr_field {
    const char *name;
    struct sr_type type;
};

struct sr_schema {
    uint32_t fields;
    const struct sr_field *field;
    int32_t rowtime; /* the field that is the event time attribute; -1: none */
    uint32_t keys;   /* fields of the primary key, 0: none */
    const uint32_t *key;
};

static inline bool sr_is_text(enum sr_kind k) { return k == SR_CHAR || k == SR_VARCHAR; }
static inline bool sr_is_bytes(enum sr_kind k) { return k == SR_BINARY || k == SR_VARBINARY; }
static inline bool sr_is_string(enum sr_kind k) { return k >= SR_CHAR && k <= SR_VARBINARY; }
/* Its values are spans into the column's bytes. */
static inline bool sr_has_bytes(enum sr_kind k) { return sr_is_string(k) || k == SR_VARIANT; }
static inline bool sr_is_integer(enum sr_kind k) { return k >= SR_TINYINT && k <= SR_BIGINT; }
static inline bool sr_is_number(enum sr_kind k) { return k >= SR_TINYINT && k <= SR_DECIMAL; }
static inline bool sr_is_approx(enum sr_kind k) { return k == SR_FLOAT || k == SR_DOUBLE; }
static inline bool sr_is_exact(enum sr_kind k) { return sr_is_integer(k) || k == SR_DECIMAL; }
static inline bool sr_is_timestamp(enum sr_kind k)
{
    return k == SR_TIMESTAMP || k == SR_TIMESTAMP_LTZ;
}
static inline bool sr_is_interval(enum sr_kind k)
{
    return k == SR_INTERVAL_MONTH || k == SR_INTERVAL_SECOND;
}
static inline bool sr_is_nested(enum sr_kind k) { return k >= SR_ARRAY && k <= SR_ROW; }

#endif
