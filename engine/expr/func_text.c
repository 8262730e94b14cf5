/* Functions of text. Those that cut give spans into the bytes of their argument. */
#include <string.h>

#include "engine/data/schema.h"
#include "engine/expr/family.h"
#include "engine/expr/like.h"
#include "engine/expr/promote.h"
#include "engine/expr/similar.h"
#include "engine/expr/text_case.h"
#include "engine/expr/utf8.h"

/* --- Cutting. --------------------------------------------------------------------------------- */

/* The part from character `start` (from 1; 0 is 1; from the end when negative), `n` characters. */
static struct sr_span text_part(const char *s, uint32_t len, int32_t start, uint32_t n)
{
    uint32_t at;
    if (start > 0) {
        at = utf8_skip(s, len, (uint32_t)start - 1);
    } else if (start == 0) {
        at = 0;
    } else {
        int64_t from = (int64_t)utf8_count(s, len) + start;
        if (from < 0) {
            return (struct sr_span){0, 0};
        }
        at = utf8_skip(s, len, (uint32_t)from);
    }
    return (struct sr_span){at, utf8_skip(s + at, len - at, n)};
}

static void text_substring(struct call *k)
{
    const struct sr_span *a = k->arg[0]->values;
    const char *base = column_text(k->arg[0]);
    call_share(k, 0);
    CALL_EACH_ROW(k, r)
    {
        int32_t n = k->args > 2 ? call_int(k, 2, r) : INT32_MAX;
        if (n < 0) {
            call_null(k, r);
            continue;
        }
        struct sr_span p = text_part(base + a[r].at, a[r].len, call_int(k, 1, r), (uint32_t)n);
        call_span(k, r, a[r].at + p.at, p.len);
    }
}
static const struct kernel text_k_substring = {.run = text_substring};

static void text_left(struct call *k)
{
    const struct sr_span *a = k->arg[0]->values;
    const char *base = column_text(k->arg[0]);
    call_share(k, 0);
    CALL_EACH_ROW(k, r)
    {
        int32_t n = call_int(k, 1, r);
        call_span(k, r, a[r].at, n <= 0 ? 0 : utf8_skip(base + a[r].at, a[r].len, (uint32_t)n));
    }
}
static const struct kernel text_k_left = {.run = text_left};

static void text_right(struct call *k)
{
    const struct sr_span *a = k->arg[0]->values;
    const char *base = column_text(k->arg[0]);
    call_share(k, 0);
    CALL_EACH_ROW(k, r)
    {
        int32_t n = call_int(k, 1, r);
        uint32_t all = n <= 0 ? 0 : utf8_count(base + a[r].at, a[r].len), at = a[r].len;
        if (n > 0) {
            at = all > (uint32_t)n ? utf8_skip(base + a[r].at, a[r].len, all - (uint32_t)n) : 0;
        }
        call_span(k, r, a[r].at + at, a[r].len - at);
    }
}
static const struct kernel text_k_right = {.run = text_right};

/* Whether the character at s is one of `set`. */
static bool text_has(const char *set, uint32_t set_len, const char *s, uint32_t size)
{
    for (uint32_t i = 0; i < set_len;) {
        uint32_t n = utf8_size(set + i, set_len - i);
        if (n == size && memcmp(set + i, s, n) == 0) {
            return true;
        }
        i += n;
    }
    return false;
}

static uint32_t text_trim_front(const char *s, uint32_t len, const char *set, uint32_t set_len)
{
    uint32_t at = 0;
    while (at < len) {
        uint32_t n = utf8_size(s + at, len - at);
        if (!text_has(set, set_len, s + at, n)) {
            break;
        }
        at += n;
    }
    return at;
}

static uint32_t text_trim_back(const char *s, uint32_t len, const char *set, uint32_t set_len)
{
    while (len > 0) {
        uint32_t at = len - 1;
        while (at > 0 && ((unsigned char)s[at] & 0xC0) == 0x80) {
            at--;
        }
        if (!text_has(set, set_len, s + at, len - at)) {
            break;
        }
        len = at;
    }
    return len;
}

static void text_trim(struct call *k, bool front, bool back)
{
    const struct sr_span *a = k->arg[0]->values;
    const char *base = column_text(k->arg[0]);
    call_share(k, 0);
    CALL_EACH_ROW(k, r)
    {
        uint32_t set_len = 1;
        const char *set = k->args > 1 ? call_get(k, 1, r, &set_len) : " ", *s = base + a[r].at;
        uint32_t len = back ? text_trim_back(s, a[r].len, set, set_len) : a[r].len;
        uint32_t at = front ? text_trim_front(s, len, set, set_len) : 0;
        call_span(k, r, a[r].at + at, len - at);
    }
}

static void text_trim_both(struct call *k) { text_trim(k, true, true); }
static void text_ltrim(struct call *k) { text_trim(k, true, false); }
static void text_rtrim(struct call *k) { text_trim(k, false, true); }
static const struct kernel text_k_trim = {.run = text_trim_both};
static const struct kernel text_k_ltrim = {.run = text_ltrim};
static const struct kernel text_k_rtrim = {.run = text_rtrim};

/* The index-th part between separators; false: there are fewer, or none of an empty text. */
static bool text_split(const char *s, uint32_t len, const char *by, uint32_t by_len, int32_t index,
                       struct sr_span *out)
{
    if (index < 0 || len == 0) {
        return false;
    }
    if (by_len == 0) {
        *out = (struct sr_span){0, len};
        return index == 0;
    }
    const char *from = s, *end = s + len;
    for (;; index--) {
        const char *at = by_len == 1 ? memchr(from, by[0], (size_t)(end - from))
                                     : memmem(from, (size_t)(end - from), by, by_len);
        if (index == 0) {
            *out = (struct sr_span){(uint32_t)(from - s), (uint32_t)((at ? at : end) - from)};
            return true;
        }
        if (!at) {
            return false;
        }
        from = at + by_len;
    }
}

static void text_split_index(struct call *k)
{
    const struct sr_span *a = k->arg[0]->values;
    const char *base = column_text(k->arg[0]);
    call_share(k, 0);
    CALL_EACH_ROW(k, r)
    {
        uint32_t by_len;
        const char *by = call_get(k, 1, r, &by_len);
        struct sr_span p;
        if (text_split(base + a[r].at, a[r].len, by, by_len, call_int(k, 2, r), &p)) {
            call_span(k, r, a[r].at + p.at, p.len);
        } else {
            call_null(k, r);
        }
    }
}
static const struct kernel text_k_split_index = {.run = text_split_index};

/* The separator as the code of a character. */
static void text_split_code(struct call *k)
{
    const struct sr_span *a = k->arg[0]->values;
    const char *base = column_text(k->arg[0]);
    call_share(k, 0);
    CALL_EACH_ROW(k, r)
    {
        int32_t code = call_int(k, 1, r);
        char by = (char)code;
        struct sr_span p;
        if (code >= 0 && code < 128 &&
            text_split(base + a[r].at, a[r].len, &by, 1, call_int(k, 2, r), &p)) {
            call_span(k, r, a[r].at + p.at, p.len);
        } else {
            call_null(k, r);
        }
    }
}
static const struct kernel text_k_split_code = {.run = text_split_code};

/* --- Measuring and finding. ------------------------------------------------------------------- */

static void text_length(struct call *k)
{
    const struct sr_span *a = k->arg[0]->values;
    const char *base = column_text(k->arg[0]);
    int32_t *to = k->out->values;
    CALL_EACH_ROW(k, r) { to[r] = (int32_t)utf8_count(base + a[r].at, a[r].len); }
}
static const struct kernel text_k_length = {.run = text_length};

/* POSITION(part, text [, from]) */
static void text_position(struct call *k)
{
    int32_t *to = k->out->values;
    CALL_EACH_ROW(k, r)
    {
        uint32_t len, part_len;
        const char *part = call_get(k, 0, r, &part_len), *s = call_get(k, 1, r, &len);
        to[r] = utf8_place(s, len, part, part_len, k->args > 2 ? call_int(k, 2, r) : 1);
    }
}
static const struct kernel text_k_position = {.run = text_position};

/* --- Making. ---------------------------------------------------------------------------------- */

static bool text_is_too_long(struct call *k, uint32_t r, uint64_t len)
{
    if (len > CALL_TEXT_MAX) {
        call_fail(k, r, "the text would be longer than %u bytes", CALL_TEXT_MAX);
        return true;
    }
    return false;
}

static void text_concat(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < k->args; i++) {
            sum += ((const struct sr_span *)k->arg[i]->values)[r].len;
        }
        uint8_t *to = text_is_too_long(k, r, sum) ? NULL : call_space(k, r, (uint32_t)sum);
        for (uint32_t i = 0; to && i < k->args; i++) {
            uint32_t len;
            const char *s = call_get(k, i, r, &len);
            memcpy(to, s, len);
            to += len;
        }
    }
}
static const struct kernel text_k_concat = {.run = text_concat, .flags = KERNEL_FAILS};

/* NULLs behind the separator are left out. */
static void text_concat_ws(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        uint32_t by_len, len;
        const char *by = call_get(k, 0, r, &by_len);
        uint64_t sum = 0, parts = 0;
        if (!sr_is_valid(k->arg[0], r)) {
            call_null(k, r);
            continue;
        }
        for (uint32_t i = 1; i < k->args; i++) {
            bool is_there = sr_is_valid(k->arg[i], r);
            sum += is_there ? ((const struct sr_span *)k->arg[i]->values)[r].len : 0;
            parts += is_there ? 1 : 0;
        }
        sum += parts > 1 ? (parts - 1) * by_len : 0;
        uint8_t *to = text_is_too_long(k, r, sum) ? NULL : call_space(k, r, (uint32_t)sum);
        for (uint32_t i = 1, n = 0; to && i < k->args; i++) {
            if (!sr_is_valid(k->arg[i], r)) {
                continue;
            }
            if (n++ > 0) {
                memcpy(to, by, by_len);
                to += by_len;
            }
            const char *s = call_get(k, i, r, &len);
            memcpy(to, s, len);
            to += len;
        }
    }
}
static const struct kernel text_k_concat_ws = {.run = text_concat_ws,
                                               .flags = KERNEL_NULLS | KERNEL_FAILS};

/* How often `what` is in s, without overlap. */
static uint32_t text_count(const char *s, uint32_t len, const char *what, uint32_t what_len)
{
    uint32_t n = 0;
    const char *end = s + len;
    while ((s = memmem(s, (size_t)(end - s), what, what_len)) != NULL) {
        n++;
        s += what_len;
    }
    return n;
}

/* An empty `what` stands between all characters: `with` goes around each. */
static void text_replace_empty(struct call *k, uint32_t r, const char *s, uint32_t len)
{
    uint32_t with_len;
    const char *with = call_get(k, 2, r, &with_len);
    uint64_t sum = len + ((uint64_t)utf8_count(s, len) + 1) * with_len;
    uint8_t *to = text_is_too_long(k, r, sum) ? NULL : call_space(k, r, (uint32_t)sum);
    for (uint32_t i = 0, n; to && i < len; i += n) {
        n = utf8_size(s + i, len - i);
        memcpy(to, with, with_len);
        memcpy(to + with_len, s + i, n);
        to += with_len + n;
    }
    if (to) {
        memcpy(to, with, with_len);
    }
}

static void text_replace(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        uint32_t len, what_len, with_len;
        const char *s = call_get(k, 0, r, &len), *what = call_get(k, 1, r, &what_len);
        const char *with = call_get(k, 2, r, &with_len), *end = s + len, *at;
        if (what_len == 0) {
            text_replace_empty(k, r, s, len);
            continue;
        }
        uint64_t n = text_count(s, len, what, what_len);
        uint64_t sum = len - n * what_len + n * with_len;
        uint8_t *to = text_is_too_long(k, r, sum) ? NULL : call_space(k, r, (uint32_t)sum);
        while (to && (at = memmem(s, (size_t)(end - s), what, what_len)) != NULL) {
            memcpy(to, s, (size_t)(at - s));
            memcpy(to + (at - s), with, with_len);
            to += (at - s) + with_len;
            s = at + what_len;
        }
        if (to) {
            memcpy(to, s, (size_t)(end - s));
        }
    }
}
static const struct kernel text_k_replace = {.run = text_replace, .flags = KERNEL_FAILS};

static void text_repeat(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        uint32_t len;
        const char *s = call_get(k, 0, r, &len);
        int32_t n = len > 0 && call_int(k, 1, r) > 0 ? call_int(k, 1, r) : 0;
        uint64_t sum = (uint64_t)len * (uint32_t)n;
        uint8_t *to = text_is_too_long(k, r, sum) ? NULL : call_space(k, r, (uint32_t)sum);
        for (int32_t i = 0; to && i < n; i++) {
            memcpy(to + (size_t)len * (uint32_t)i, s, len);
        }
    }
}
static const struct kernel text_k_repeat = {.run = text_repeat, .flags = KERNEL_FAILS};

static void text_reverse(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        uint32_t len;
        const char *s = call_get(k, 0, r, &len);
        uint8_t *to = call_space(k, r, len);
        for (uint32_t i = 0, n; to && i < len; i += n) {
            n = utf8_size(s + i, len - i);
            memcpy(to + len - i - n, s + i, n);
        }
    }
}
static const struct kernel text_k_reverse = {.run = text_reverse};

/* Bytes that `n` characters of `with`, again and again, take. */
static uint64_t text_pad_bytes(const char *with, uint32_t len, uint32_t n)
{
    uint32_t all = utf8_count(with, len);
    return (uint64_t)(n / all) * len + utf8_skip(with, len, n % all);
}

static void text_pad_put(uint8_t *to, uint64_t bytes, const char *with, uint32_t len)
{
    for (uint64_t i = 0; i < bytes; i += len) {
        memcpy(to + i, with, bytes - i < len ? bytes - i : len);
    }
}

static void text_pad(struct call *k, bool is_left)
{
    CALL_EACH_ROW(k, r)
    {
        uint32_t len, with_len;
        const char *s = call_get(k, 0, r, &len), *with = call_get(k, 2, r, &with_len);
        int32_t want = call_int(k, 1, r);
        if (want < 0 || with_len == 0) {
            call_null(k, r);
            continue;
        }
        uint32_t have = utf8_count(s, len);
        if (have >= (uint32_t)want) {
            call_text(k, r, s, utf8_skip(s, len, (uint32_t)want));
            continue;
        }
        uint64_t pad = text_pad_bytes(with, with_len, (uint32_t)want - have);
        uint8_t *to =
            text_is_too_long(k, r, pad + len) ? NULL : call_space(k, r, (uint32_t)pad + len);
        if (to) {
            text_pad_put(is_left ? to : to + len, pad, with, with_len);
            memcpy(is_left ? to + pad : to, s, len);
        }
    }
}

static void text_lpad(struct call *k) { text_pad(k, true); }
static void text_rpad(struct call *k) { text_pad(k, false); }
static const struct kernel text_k_lpad = {.run = text_lpad, .flags = KERNEL_FAILS};
static const struct kernel text_k_rpad = {.run = text_rpad, .flags = KERNEL_FAILS};

/* --- Typing. ---------------------------------------------------------------------------------- */

/* a || b: as long as both together, of fixed length when both are. */
static bool text_bind_join(struct bind_call *b)
{
    const struct sr_type *x = &b->arg[0]->type, *y = &b->arg[1]->type;
    if (!sr_is_text(x->kind) || !sr_is_text(y->kind)) {
        return false;
    }
    int64_t length = (int64_t)x->length + y->length;
    bool is_fixed = x->kind == SR_CHAR && y->kind == SR_CHAR;
    b->type = type_with(is_fixed ? SR_CHAR : SR_VARCHAR,
                        length > SR_LENGTH_MAX ? SR_LENGTH_MAX : (int32_t)length, 0);
    b->type.is_nullable = bind_any_nullable(b);
    b->kernel = &text_k_concat;
    return true;
}

static bool text_bind_concat_ws(struct bind_call *b)
{
    for (uint32_t i = 0; i < b->args; i++) {
        if (!sr_is_text(b->arg[i]->type.kind)) {
            return false;
        }
    }
    b->type = type_nullable(type_with(SR_VARCHAR, SR_LENGTH_MAX, 0), bind_any_nullable(b));
    b->kernel = &text_k_concat_ws;
    return true;
}

static bool text_bind_split(struct bind_call *b)
{
    struct sr_type t = type_of(SR_INT);
    bool is_code = sr_is_integer(b->arg[1]->type.kind);
    if (!sr_is_text(b->arg[0]->type.kind) || !bind_coerce(b, 2, &t) ||
        (is_code ? !bind_coerce(b, 1, &t) : !sr_is_text(b->arg[1]->type.kind))) {
        return false;
    }
    b->type = type_with(SR_VARCHAR, SR_LENGTH_MAX, 0);
    b->type.is_nullable = true;
    b->kernel = is_code ? &text_k_split_code : &text_k_split_index;
    return true;
}

#define TEXT_ROW(title, low, high, letters, type, nullable, k, form, words)                    \
    {                                                                                          \
        .name = title, .family = "text", .bind = bind_simple, .min = low, .max = high,         \
        .args = letters, .result = type, .is_nullable = nullable, .kernel = &k, .forms = form, \
        .doc = words                                                                           \
    }

static const struct func text_funcs[] = {
    TEXT_ROW("SUBSTRING", 2, 3, "sii", RESULT_VARCHAR, true, text_k_substring,
             "SUBSTRING(text STRING, start INT [, length INT]) -> STRING",
             "The characters from `start` (from 1; from the end when negative), `length` of them. "
             "NULL for a negative length."),
    TEXT_ROW("SUBSTR", 2, 3, "sii", RESULT_VARCHAR, true, text_k_substring,
             "SUBSTR(text STRING, start INT [, length INT]) -> STRING", "The same as SUBSTRING."),
    TEXT_ROW("LEFT", 2, 2, "si", RESULT_VARCHAR, true, text_k_left,
             "LEFT(text STRING, n INT) -> STRING", "The first n characters."),
    TEXT_ROW("RIGHT", 2, 2, "si", RESULT_VARCHAR, true, text_k_right,
             "RIGHT(text STRING, n INT) -> STRING", "The last n characters."),
    TEXT_ROW("TRIM", 1, 2, "ss", RESULT_VARCHAR, false, text_k_trim,
             "TRIM([BOTH|LEADING|TRAILING] [characters FROM] text) -> STRING",
             "The text without blanks, or those characters, at its ends."),
    TEXT_ROW("BTRIM", 1, 2, "ss", RESULT_STRING, false, text_k_trim,
             "BTRIM(text STRING [, characters STRING]) -> STRING",
             "The text without blanks, or those characters, at both ends."),
    TEXT_ROW("LTRIM", 1, 2, "ss", RESULT_VARCHAR, false, text_k_ltrim,
             "LTRIM(text STRING [, characters STRING]) -> STRING",
             "The text without blanks, or those characters, at its beginning."),
    TEXT_ROW("RTRIM", 1, 2, "ss", RESULT_VARCHAR, false, text_k_rtrim,
             "RTRIM(text STRING [, characters STRING]) -> STRING",
             "The text without blanks, or those characters, at its end."),
    {.name = "SPLIT_INDEX",
     .family = "text",
     .bind = text_bind_split,
     .min = 3,
     .max = 3,
     .forms = "SPLIT_INDEX(text STRING, separator STRING, index INT) -> STRING",
     .doc = "The part of that index, from 0, between separators; NULL when there are fewer."},
    TEXT_ROW("CHAR_LENGTH", 1, 1, "s", RESULT_INT, false, text_k_length,
             "CHAR_LENGTH(text STRING) -> INT", "How many characters the text has."),
    TEXT_ROW("CHARACTER_LENGTH", 1, 1, "s", RESULT_INT, false, text_k_length,
             "CHARACTER_LENGTH(text STRING) -> INT", "The same as CHAR_LENGTH."),
    TEXT_ROW("POSITION", 2, 3, "ssi", RESULT_INT, false, text_k_position,
             "POSITION(part IN text [FROM start]) -> INT",
             "The character, from 1, at which the part is first found in the text; 0: nowhere."),
    TEXT_ROW("CONCAT", 1, CALL_ARGS_MAX, "s", RESULT_STRING, false, text_k_concat,
             "CONCAT(text STRING, ...) -> STRING",
             "The texts one behind the other; NULL when any is NULL."),
    {.name = "CONCAT_WS",
     .family = "text",
     .bind = text_bind_concat_ws,
     .min = 2,
     .max = CALL_ARGS_MAX,
     .forms = "CONCAT_WS(separator STRING, text STRING, ...) -> STRING",
     .doc = "The texts that are not NULL with the separator between them; NULL when the separator "
            "is NULL."},
    {.name = "||",
     .family = "text",
     .bind = text_bind_join,
     .min = 2,
     .max = 2,
     .forms = "text || text",
     .doc = "Both texts one behind the other; NULL when either is NULL."},
    TEXT_ROW("UPPER", 1, 1, "s", RESULT_SAME, false, text_case_upper,
             "UPPER(text STRING) -> STRING", "The text in upper case."),
    TEXT_ROW("LOWER", 1, 1, "s", RESULT_SAME, false, text_case_lower,
             "LOWER(text STRING) -> STRING", "The text in lower case."),
    TEXT_ROW("REPLACE", 3, 3, "sss", RESULT_STRING, false, text_k_replace,
             "REPLACE(text STRING, what STRING, with STRING) -> STRING",
             "The text with every `what` replaced."),
    TEXT_ROW("REPEAT", 2, 2, "si", RESULT_STRING, false, text_k_repeat,
             "REPEAT(text STRING, n INT) -> STRING", "The text n times."),
    TEXT_ROW("REVERSE", 1, 1, "s", RESULT_STRING, true, text_k_reverse,
             "REVERSE(text STRING) -> STRING", "The characters from the last to the first."),
    TEXT_ROW("LPAD", 3, 3, "sis", RESULT_STRING, false, text_k_lpad,
             "LPAD(text STRING, n INT, pad STRING) -> STRING",
             "The text made n characters long: filled up at its beginning, or cut at its end. NULL "
             "for a negative n or an empty pad."),
    TEXT_ROW("RPAD", 3, 3, "sis", RESULT_STRING, false, text_k_rpad,
             "RPAD(text STRING, n INT, pad STRING) -> STRING",
             "The text made n characters long, filled up or cut at its end."),
    {.name = "LIKE",
     .family = "comparison",
     .bind = like_bind,
     .min = 2,
     .max = 3,
     .forms = "text LIKE pattern [ESCAPE character]",
     .doc = "Whether the whole text is as the pattern says: % stands for any characters, _ for "
            "one."},
    {.name = "SIMILAR TO",
     .family = "comparison",
     .bind = similar_bind,
     .min = 2,
     .max = 3,
     .forms = "text SIMILAR TO pattern [ESCAPE character]",
     .doc = "Whether the whole text is as the regular expression of SQL says: % and _ as of LIKE, "
            "and | * + ? {n} ( ) [ ]."},
};

const struct func_family func_text = {text_funcs, sizeof(text_funcs) / sizeof(text_funcs[0])};
