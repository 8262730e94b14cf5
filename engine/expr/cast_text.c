/* Casts from and to text and bytes. */
#include <string.h>
#include <strings.h>

#include "engine/data/pool.h"
#include "engine/expr/cast.h"
#include "engine/expr/decimal.h"
#include "engine/expr/instant.h"
#include "engine/expr/moment.h"
#include "engine/expr/number.h"
#include "engine/expr/promote.h"
#include "engine/expr/utf8.h"
#include "engine/expr/value_text.h"

/* Long texts are cut in the words of a failure. */
#define CAST_SHOWN(len) ((int)((len) > 60 ? 60 : (len)))

static void cast_trim(const char **s, uint32_t *len)
{
    while (*len > 0 && (*s)[0] == ' ') {
        (*s)++;
        (*len)--;
    }
    while (*len > 0 && (*s)[*len - 1] == ' ') {
        (*len)--;
    }
}

/* --- From text. ------------------------------------------------------------------------------- */

static int cast_word(const char *s, uint32_t len)
{
    static const struct {
        const char *word;
        int value;
    } words[] = {{"true", 1},  {"t", 1}, {"yes", 1}, {"y", 1}, {"1", 1},
                 {"false", 0}, {"f", 0}, {"no", 0},  {"n", 0}, {"0", 0}};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strlen(words[i].word) == len && strncasecmp(words[i].word, s, len) == 0) {
            return words[i].value;
        }
    }
    return -1;
}

static void cast_text_bool(struct call *k)
{
    uint8_t *to = k->out->values;
    CALL_EACH_ROW(k, r)
    {
        uint32_t len;
        const char *s = call_get(k, 0, r, &len);
        int v = cast_word(s, len);
        if (v < 0) {
            call_fail(k, r, "'%.*s' is not a BOOLEAN", CAST_SHOWN(len), s);
        } else {
            to[r] = (uint8_t)v;
        }
    }
}
static const struct kernel cast_k_text_bool = {.run = cast_text_bool, .flags = KERNEL_FAILS};

/* Eight digits at once: pairs, then fours, then all of them. False: not all are digits. */
static inline bool cast_eight(const char *s, uint64_t *out)
{
    uint64_t w;
    memcpy(&w, s, sizeof(w));
    uint64_t digits = w - UINT64_C(0x3030303030303030);
    if (((w + UINT64_C(0x4646464646464646)) | digits) & UINT64_C(0x8080808080808080)) {
        return false;
    }
    digits = digits * 10 + (digits >> 8);
    uint64_t low = (digits & UINT64_C(0x000000FF000000FF)) * UINT64_C(0x000F424000000064);
    uint64_t high = (digits >> 16 & UINT64_C(0x000000FF000000FF)) * UINT64_C(0x0000271000000001);
    *out = (low + high) >> 32;
    return true;
}

/* A sign and so few digits that they fit, and nothing else: most numbers. False: something else. */
static inline bool cast_plain(const char *s, uint32_t len, int64_t min, int64_t max, int64_t *out)
{
    bool is_negative = len > 0 && s[0] == '-';
    uint32_t i = is_negative ? 1 : 0;
    uint64_t v = 0, eight;
    if (len == i || len - i > 19) {
        return false;
    }
    for (; i + 8 <= len; i += 8) {
        if (!cast_eight(s + i, &eight)) {
            return false;
        }
        v = v * 100000000 + eight;
    }
    for (; i < len; i++) {
        uint32_t digit = (uint32_t)(unsigned char)s[i] - '0';
        if (digit > 9) {
            return false;
        }
        v = v * 10 + digit;
    }
    *out = (int64_t)(is_negative ? 0 - v : v);
    return is_negative ? v <= (uint64_t)0 - (uint64_t)min : v <= (uint64_t)max;
}

enum cast_read { CAST_GOOD, CAST_BAD, CAST_BEYOND };

/* A sign, digits, and perhaps a fraction, which is cut off. */
static enum cast_read cast_integer(const char *s, uint32_t len, int64_t min, int64_t max,
                                   int64_t *out)
{
    cast_trim(&s, &len);
    bool is_negative = len > 0 && s[0] == '-';
    uint32_t i = len > 0 && (s[0] == '-' || s[0] == '+') ? 1 : 0;
    if (i == len) {
        return CAST_BAD;
    }
    decimal v = 0;
    bool is_beyond = false;
    for (; i < len && s[i] != '.'; i++) {
        if (s[i] < '0' || s[i] > '9') {
            return CAST_BAD;
        }
        v = v * 10 + (is_negative ? -(s[i] - '0') : s[i] - '0');
        if (v < min || v > max) {
            is_beyond = true;
            v = 0;
        }
    }
    for (i++; i < len; i++) {
        if (s[i] < '0' || s[i] > '9') {
            return CAST_BAD;
        }
    }
    *out = (int64_t)v;
    return is_beyond ? CAST_BEYOND : CAST_GOOD;
}

#define CAST_TEXT_INTEGER(suffix, T, min, max, name)                                              \
    static void cast_text_##suffix(struct call *k)                                                \
    {                                                                                             \
        T *to = k->out->values;                                                                   \
        CALL_EACH_ROW(k, r)                                                                       \
        {                                                                                         \
            uint32_t len;                                                                         \
            const char *s = call_get(k, 0, r, &len);                                              \
            int64_t v = 0;                                                                        \
            if (cast_plain(s, len, min, max, &v)) {                                               \
                to[r] = (T)v;                                                                     \
                continue;                                                                         \
            }                                                                                     \
            enum cast_read how = cast_integer(s, len, min, max, &v);                              \
            if (how == CAST_GOOD) {                                                               \
                to[r] = (T)v;                                                                     \
            } else {                                                                              \
                call_fail(k, r, "'%.*s' %s " name, CAST_SHOWN(len), s,                            \
                          how == CAST_BEYOND ? "is out of the range of" : "is not a number for"); \
            }                                                                                     \
        }                                                                                         \
    }                                                                                             \
    static const struct kernel cast_k_text_##suffix = {.run = cast_text_##suffix,                 \
                                                       .flags = KERNEL_FAILS};

CAST_TEXT_INTEGER(i8, int8_t, INT8_MIN, INT8_MAX, "TINYINT")
CAST_TEXT_INTEGER(i16, int16_t, INT16_MIN, INT16_MAX, "SMALLINT")
CAST_TEXT_INTEGER(i32, int32_t, INT32_MIN, INT32_MAX, "INT")
CAST_TEXT_INTEGER(i64, int64_t, INT64_MIN, INT64_MAX, "BIGINT")

#define CAST_TEXT_APPROX(suffix, T, parse, name)                                         \
    static void cast_text_##suffix(struct call *k)                                       \
    {                                                                                    \
        T *to = k->out->values;                                                          \
        CALL_EACH_ROW(k, r)                                                              \
        {                                                                                \
            uint32_t len;                                                                \
            const char *s = call_get(k, 0, r, &len);                                     \
            if (!parse(s, len, &to[r])) {                                                \
                call_fail(k, r, "'%.*s' is not a number for " name, CAST_SHOWN(len), s); \
            }                                                                            \
        }                                                                                \
    }                                                                                    \
    static const struct kernel cast_k_text_##suffix = {.run = cast_text_##suffix,        \
                                                       .flags = KERNEL_FAILS};

CAST_TEXT_APPROX(f32, float, number_parse_float, "FLOAT")
CAST_TEXT_APPROX(f64, double, number_parse_double, "DOUBLE")

static void cast_text_decimal(struct call *k)
{
    const struct sr_type *t = &k->out->type;
    CALL_EACH_ROW(k, r)
    {
        uint32_t len, cut;
        const char *whole = call_get(k, 0, r, &len), *s = whole;
        decimal v = 0;
        bool is_number;
        cut = len;
        cast_trim(&s, &cut);
        bool is_good = decimal_parse(s, cut, t->scale, &v, &is_number);
        if (!is_good || !decimal_fits(v, t->length)) {
            call_fail(k, r, "'%.*s' %s DECIMAL(%d, %d)", CAST_SHOWN(len), whole,
                      is_number ? "is out of the range of" : "is not a number for", t->length,
                      t->scale);
        } else {
            decimal_store(k, r, true, v);
        }
    }
}
static const struct kernel cast_k_text_decimal = {.run = cast_text_decimal, .flags = KERNEL_FAILS};

static void cast_text_date(struct call *k)
{
    int32_t *to = k->out->values;
    CALL_EACH_ROW(k, r)
    {
        uint32_t len, cut;
        const char *whole = call_get(k, 0, r, &len), *s = whole;
        cut = len;
        cast_trim(&s, &cut);
        if (!moment_cast_date(s, cut, &to[r])) {
            call_fail(k, r, "'%.*s' is not a DATE like 2020-12-31", CAST_SHOWN(len), whole);
        }
    }
}
static const struct kernel cast_k_text_date = {.run = cast_text_date, .flags = KERNEL_FAILS};

static void cast_text_time(struct call *k)
{
    int32_t *to = k->out->values;
    CALL_EACH_ROW(k, r)
    {
        uint32_t len, cut;
        int32_t digits;
        const char *whole = call_get(k, 0, r, &len), *s = whole;
        cut = len;
        cast_trim(&s, &cut);
        if (!moment_parse_time(s, cut, true, &to[r], &digits)) {
            call_fail(k, r, "'%.*s' is not a TIME like 23:59:59", CAST_SHOWN(len), whole);
        }
    }
}
static const struct kernel cast_k_text_time = {.run = cast_text_time, .flags = KERNEL_FAILS};

static void cast_text_stamp(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        uint32_t len;
        int32_t digits;
        struct sr_instant v;
        const char *s = call_get(k, 0, r, &len);
        if (moment_parse_stamp(s, len, true, &v, &digits)) {
            instant_put(k->out, r, v);
        } else {
            call_fail(k, r, "'%.*s' is not a TIMESTAMP like 2020-12-31 23:59:59", CAST_SHOWN(len),
                      s);
        }
    }
}
static const struct kernel cast_k_text_stamp = {.run = cast_text_stamp, .flags = KERNEL_FAILS};

const struct kernel *cast_from_text(const struct sr_type *to)
{
    static const struct kernel *const numbers[] = {
        &cast_k_text_bool, &cast_k_text_i8,  &cast_k_text_i16, &cast_k_text_i32,
        &cast_k_text_i64,  &cast_k_text_f32, &cast_k_text_f64, &cast_k_text_decimal};
    if (to->kind <= SR_DECIMAL) {
        return numbers[to->kind];
    }
    return to->kind == SR_DATE         ? &cast_k_text_date
           : to->kind == SR_TIME       ? &cast_k_text_time
           : sr_is_timestamp(to->kind) ? &cast_k_text_stamp
                                       : NULL;
}

/* --- To text. --------------------------------------------------------------------------------- */

/* The text of row r, cut to the type's length and, for CHAR, filled up with blanks. */
static void cast_put_text(struct call *k, uint32_t r, const char *s, uint32_t len)
{
    uint32_t max = (uint32_t)k->out->type.length;
    if (max >= len && k->out->type.kind != SR_CHAR) {
        call_text(k, r, s, len);
        return;
    }
    uint32_t cut = utf8_skip(s, len, max);
    uint32_t blanks = k->out->type.kind == SR_CHAR ? max - utf8_count(s, cut) : 0;
    uint8_t *to = call_space(k, r, cut + blanks);
    if (to) {
        memcpy(to, s, cut);
        memset(to + cut, ' ', blanks);
    }
}

static void cast_value_text(struct call *k)
{
    char text[VALUE_TEXT_MAX];
    CALL_EACH_ROW(k, r) { cast_put_text(k, r, text, value_text(k->arg[0], r, text)); }
}
static const struct kernel cast_k_value_text = {.run = cast_value_text};

/* Text to shorter text: spans into the same bytes. */
static void cast_text_cut(struct call *k)
{
    const struct sr_span *a = k->arg[0]->values;
    const char *base = column_text(k->arg[0]);
    uint32_t max = (uint32_t)k->out->type.length;
    call_share(k, 0);
    CALL_EACH_ROW(k, r)
    {
        uint32_t len = a[r].len;
        call_span(k, r, a[r].at, len <= max ? len : utf8_skip(base + a[r].at, len, max));
    }
}
static const struct kernel cast_k_text_cut = {.run = cast_text_cut};

static void cast_text_char(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        uint32_t len;
        const char *s = call_get(k, 0, r, &len);
        cast_put_text(k, r, s, len);
    }
}
static const struct kernel cast_k_text_char = {.run = cast_text_char};

/* Bytes of the character at s if it is well-formed UTF-8; 0: it is not. */
static uint32_t cast_well_formed(const unsigned char *s, uint32_t left)
{
    uint32_t n = s[0] < 0x80 ? 1 : s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4;
    if (n == 0 || n > left || s[0] > 0xF4) {
        return 0;
    }
    for (uint32_t i = 1; i < n; i++) {
        if ((s[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    bool is_bad = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) ||
                  (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F);
    return is_bad ? 0 : n;
}

/* Blanks behind the text of row r, which is the last one of the column, up to CHAR's length. */
static void cast_fill_char(struct call *k, uint32_t r)
{
    struct sr_column *c = k->out;
    struct sr_span *span = (struct sr_span *)c->values + r;
    uint32_t blanks = (uint32_t)c->type.length - utf8_count(column_text(c) + span->at, span->len);
    if (c->bytes->capacity - c->bytes_used < blanks && !column_grow_bytes(k->home, c, blanks)) {
        call_broken(k, SR_ENOMEM);
        return;
    }
    memset(c->bytes->data + c->bytes_used, ' ', blanks);
    c->bytes_used += blanks;
    span->len += blanks;
}

/* Bytes that are no UTF-8 become U+FFFD, which is three bytes long. */
static void cast_bytes_text(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        uint32_t len, at = 0;
        const unsigned char *s = (const unsigned char *)call_get(k, 0, r, &len);
        uint8_t *to = call_space(k, r, len * 3);
        if (!to) {
            return;
        }
        for (uint32_t i = 0, n; i < len; i += n ? n : 1) {
            n = cast_well_formed(s + i, len - i);
            if (n == 1) { /* plain ones at once */
                to[at++] = s[i];
                continue;
            }
            memcpy(to + at, n > 0 ? (const char *)s + i : "\xEF\xBF\xBD", n > 0 ? n : 3);
            at += n > 0 ? n : 3;
        }
        struct sr_span *span = (struct sr_span *)k->out->values + r;
        uint32_t max = (uint32_t)k->out->type.length;
        span->len = at <= max ? at : utf8_skip((const char *)to, at, max);
        k->out->bytes_used = span->at + span->len;
        if (k->out->type.kind == SR_CHAR) {
            cast_fill_char(k, r);
        }
    }
}
static const struct kernel cast_k_bytes_text = {.run = cast_bytes_text};

/* Text or bytes to bytes: cut to the length; BINARY is filled up with zeros. */
static void cast_to_bytes(struct call *k)
{
    uint32_t max = (uint32_t)k->out->type.length;
    CALL_EACH_ROW(k, r)
    {
        uint32_t len;
        const char *s = call_get(k, 0, r, &len);
        uint32_t cut = len < max ? len : max;
        uint32_t whole = k->out->type.kind == SR_BINARY ? max : cut;
        uint8_t *to = call_space(k, r, whole);
        if (to && whole > 0) {
            memcpy(to, s, cut);
            memset(to + cut, 0, whole - cut);
        }
    }
}
static const struct kernel cast_k_to_bytes = {.run = cast_to_bytes};

/* The same bytes under another kind. */
static void cast_text_same(struct call *k)
{
    const struct sr_span *a = k->arg[0]->values;
    struct sr_span *to = k->out->values;
    call_share(k, 0);
    CALL_EACH_ROW(k, r) { to[r] = a[r]; }
}
static const struct kernel cast_k_text_same = {.run = cast_text_same};

static const struct kernel *cast_between_text(const struct sr_type *from, const struct sr_type *to)
{
    if (to->kind == SR_CHAR) {
        return from->kind == SR_CHAR && from->length == to->length ? &cast_alias
                                                                   : &cast_k_text_char;
    }
    return from->length <= to->length ? &cast_alias : &cast_k_text_cut;
}

const struct kernel *cast_to_text(const struct sr_type *from, const struct sr_type *to)
{
    if (sr_is_bytes(to->kind)) {
        bool is_kept = to->kind == SR_VARBINARY && to->length == SR_LENGTH_MAX;
        return !sr_is_string(from->kind) ? NULL
               : !is_kept                ? &cast_k_to_bytes
               : sr_is_bytes(from->kind) ? &cast_alias
                                         : &cast_k_text_same;
    }
    if (sr_is_text(from->kind)) {
        return cast_between_text(from, to);
    }
    if (sr_is_bytes(from->kind)) {
        return &cast_k_bytes_text;
    }
    return sr_is_nested(from->kind) || from->kind == SR_NULL ? NULL : &cast_k_value_text;
}
