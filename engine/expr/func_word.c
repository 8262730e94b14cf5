/* More functions of text: searching from a place, replacing by place or character, tests. */
#include <ctype.h>
#include <string.h>

#include "engine/data/schema.h"
#include "engine/expr/family.h"
#include "engine/expr/promote.h"
#include "engine/expr/utf8.h"

/* --- Searching. ------------------------------------------------------------------------------- */

/* LOCATE(part, text [, start]): 1 for an empty part. */
static void word_locate(struct call *k)
{
    int32_t *to = k->out->values;
    CALL_EACH_ROW(k, r)
    {
        uint32_t len, part_len;
        const char *part = call_get(k, 0, r, &part_len), *s = call_get(k, 1, r, &len);
        int32_t from = k->args > 2 ? call_int(k, 2, r) : 1;
        to[r] = part_len == 0 ? 1 : utf8_place(s, len, part, part_len, from);
    }
}
static const struct kernel word_k_locate = {.run = word_locate};

/* The n-th place of the part from character `start` on; 0: there is none. Finds may overlap. */
static int32_t word_forward(const char *s, uint32_t len, const char *part, uint32_t part_len,
                            uint32_t start, int32_t n)
{
    uint32_t from = utf8_skip(s, len, start - 1);
    for (;; n--) {
        const char *at = memmem(s + from, len - from, part, part_len);
        if (!at || n == 1) {
            return at ? (int32_t)utf8_count(s, (uint32_t)(at - s)) + 1 : 0;
        }
        from = (uint32_t)(at - s) + 1;
    }
}

struct word_text {
    const char *bytes;
    uint32_t len;
};

/* How many finds begin before character `end`, from 0; or where the one numbered `stop` begins. */
static int64_t word_finds(struct word_text s, struct word_text part, int64_t end, int64_t stop)
{
    int64_t found = 0;
    uint32_t i = 0;
    for (int64_t at = 0; at < end && i < s.len; at++) {
        bool is_found = part.len <= s.len - i && memcmp(s.bytes + i, part.bytes, part.len) == 0;
        found += is_found ? 1 : 0;
        if (is_found && found == stop) {
            return at;
        }
        i += utf8_size(s.bytes + i, s.len - i);
    }
    return found;
}

/* Likewise towards the beginning, from so many characters before the end. */
static int32_t word_backward(struct word_text s, struct word_text part, int64_t back, int32_t n)
{
    int64_t end = utf8_count(s.bytes, s.len) - back + 1;
    int64_t all = word_finds(s, part, end, 0);
    return all < n ? 0 : (int32_t)word_finds(s, part, end, all - n + 1) + 1;
}

static void word_instr(struct call *k)
{
    int32_t *to = k->out->values;
    CALL_EACH_ROW(k, r)
    {
        uint32_t len, part_len;
        const char *s = call_get(k, 0, r, &len), *part = call_get(k, 1, r, &part_len);
        int32_t start = k->args > 2 ? call_int(k, 2, r) : 1,
                n = k->args > 3 ? call_int(k, 3, r) : 1;
        if (n <= 0) {
            call_fail(k, r, "INSTR looks for the first, second ... place, not for number %d", n);
        } else if (part_len == 0 || start == 0) {
            to[r] = part_len == 0 ? 1 : 0;
        } else if (start > 0) {
            to[r] = word_forward(s, len, part, part_len, (uint32_t)start, n);
        } else {
            struct word_text in = {s, len};
            struct word_text what = {part, part_len};
            to[r] = word_backward(in, what, -(int64_t)start, n);
        }
    }
}
static const struct kernel word_k_instr = {.run = word_instr, .flags = KERNEL_FAILS};

static void word_ends(struct call *k, bool is_end)
{
    uint8_t *to = k->out->values;
    CALL_EACH_ROW(k, r)
    {
        uint32_t len, part_len;
        const char *s = call_get(k, 0, r, &len), *part = call_get(k, 1, r, &part_len);
        const char *at = is_end && part_len <= len ? s + len - part_len : s;
        to[r] = part_len <= len && memcmp(at, part, part_len) == 0;
    }
}
static void word_starts_with(struct call *k) { word_ends(k, false); }
static void word_ends_with(struct call *k) { word_ends(k, true); }
static const struct kernel word_k_ends[2] = {{.run = word_starts_with}, {.run = word_ends_with}};

static bool word_bind_ends(struct bind_call *b)
{
    enum sr_kind x = b->arg[0]->type.kind, y = b->arg[1]->type.kind;
    b->type = type_nullable(type_of(SR_BOOLEAN), bind_any_nullable(b));
    b->kernel = &word_k_ends[b->func->data];
    return (sr_is_text(x) && sr_is_text(y)) || (sr_is_bytes(x) && sr_is_bytes(y));
}

/* --- Characters. ------------------------------------------------------------------------------ */

/* Letters a to z only, and what is neither letter nor digit parts words, as in Flink. */
static void word_initcap(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        uint32_t len;
        const char *s = call_get(k, 0, r, &len);
        uint8_t *to = call_space(k, r, len);
        bool is_first = true;
        for (uint32_t i = 0; to && i < len; i++) {
            bool is_lower = s[i] >= 'a' && s[i] <= 'z', is_upper = s[i] >= 'A' && s[i] <= 'Z';
            bool is_other = is_first ? is_lower : is_upper;
            to[i] = (uint8_t)(is_other ? s[i] ^ 0x20 : s[i]);
            is_first = !is_lower && !is_upper && !(s[i] >= '0' && s[i] <= '9');
        }
    }
}
static const struct kernel word_k_initcap = {.run = word_initcap};

static void word_ascii(struct call *k)
{
    int32_t *to = k->out->values;
    CALL_EACH_ROW(k, r)
    {
        uint32_t len;
        const char *s = call_get(k, 0, r, &len);
        to[r] = len > 0 ? (int8_t)s[0] : 0;
    }
}
static const struct kernel word_k_ascii = {.run = word_ascii};

/* One of the first 256 characters of Unicode; none for a negative number. */
static void word_chr(struct call *k)
{
    const int64_t *a = k->arg[0]->values;
    CALL_EACH_ROW(k, r)
    {
        unsigned c = (unsigned)a[r] & 0xFF;
        uint8_t text[2] = {(uint8_t)(c < 0x80 ? c : 0xC0 | c >> 6), (uint8_t)(0x80 | (c & 0x3F))};
        call_text(k, r, text, a[r] < 0 ? 0 : c < 0x80 ? 1 : 2);
    }
}
static const struct kernel word_k_chr = {.run = word_chr};

/* --- Replacing. ------------------------------------------------------------------------------- */

/* OVERLAY(text PLACING with FROM start FOR n): a start that is no character of it changes nothing;
 * n of 0 or less drops the rest, as in Flink. */
static void word_overlay(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        uint32_t len, with_len;
        const char *s = call_get(k, 0, r, &len), *with = call_get(k, 1, r, &with_len);
        int64_t start = call_int(k, 2, r), chars = utf8_count(s, len);
        int64_t n = k->args > 3 ? call_int(k, 3, r) : (int64_t)utf8_count(with, with_len);
        if (start <= 0 || start > chars) {
            call_text(k, r, s, len);
            continue;
        }
        bool is_rest = n > 0 && start - 1 + n < chars;
        uint32_t front = utf8_skip(s, len, (uint32_t)start - 1);
        uint32_t back = is_rest ? utf8_skip(s, len, (uint32_t)(start - 1 + n)) : len;
        uint8_t *to = call_space(k, r, front + with_len + (len - back));
        if (to) {
            memcpy(to, s, front);
            memcpy(to + front, with, with_len);
            memcpy(to + front + with_len, s + back, len - back);
        }
    }
}
static const struct kernel word_k_overlay = {.run = word_overlay};

static bool word_bind_overlay(struct bind_call *b)
{
    struct sr_type number = type_of(SR_INT);
    const struct sr_type *x = &b->arg[0]->type, *y = &b->arg[1]->type;
    for (uint32_t i = 2; i < b->args; i++) {
        if (!sr_is_integer(b->arg[i]->type.kind) || !bind_coerce(b, i, &number)) {
            return false;
        }
    }
    if (!sr_is_text(x->kind) || !sr_is_text(y->kind)) {
        return false;
    }
    int64_t length = (int64_t)x->length + y->length;
    b->type = type_with(SR_VARCHAR, length > SR_LENGTH_MAX ? SR_LENGTH_MAX : (int32_t)length, 0);
    b->type.is_nullable = bind_any_nullable(b);
    b->kernel = &word_k_overlay;
    return true;
}

/* The place of the character in the set; -1: it is not there. */
static int64_t word_place(const char *set, uint32_t set_len, const char *s, uint32_t size)
{
    int64_t place = 0;
    for (uint32_t i = 0, n; i < set_len; i += n, place++) {
        n = utf8_size(set + i, set_len - i);
        if (n == size && memcmp(set + i, s, n) == 0) {
            return place;
        }
    }
    return -1;
}

/* Each character of `from` becomes the one at its place in `to`, or none. NULL is taken for ''. */
static void word_translate_row(struct call *k, uint32_t r)
{
    uint32_t len, from_len = 0, to_len = 0;
    const char *s = call_get(k, 0, r, &len), *from = "", *to = "";
    if (valid_bit(k->arg[1]->valid, r)) {
        from = call_get(k, 1, r, &from_len);
    }
    if (valid_bit(k->arg[2]->valid, r)) {
        to = call_get(k, 2, r, &to_len);
    }
    if (len > CALL_TEXT_MAX / 4) {
        call_fail(k, r, "the text would be longer than %u bytes", CALL_TEXT_MAX);
        return;
    }
    uint8_t *out = call_space(k, r, len * 4), *at = out;
    for (uint32_t i = 0, n; out && i < len; i += n) {
        n = utf8_size(s + i, len - i);
        int64_t place = word_place(from, from_len, s + i, n);
        uint32_t skip = place >= 0 ? utf8_skip(to, to_len, (uint32_t)place) : 0;
        const char *with = place < 0 ? s + i : to + skip;
        uint32_t size = place < 0 ? n : skip < to_len ? utf8_size(with, to_len - skip) : 0;
        memcpy(at, with, size);
        at += size;
    }
    if (out) {
        k->out->bytes_used -= len * 4 - (uint32_t)(at - out);
        ((struct sr_span *)k->out->values)[r].len = (uint32_t)(at - out);
    }
}

/* What each character of ASCII becomes. */
struct word_map {
    uint8_t to[128];
    bool is_dropped[128];
};

/* False: `from` or `to` has other characters, too. */
static bool word_map_make(struct word_map *m, const struct call *k)
{
    uint32_t from_len, to_len, first = k->sel ? k->sel[0] : 0;
    if (!valid_bit(k->arg[1]->valid, first) || !valid_bit(k->arg[2]->valid, first)) {
        return false;
    }
    const char *from = call_get(k, 1, first, &from_len), *to = call_get(k, 2, first, &to_len);
    if (!utf8_is_plain(from, from_len) || !utf8_is_plain(to, to_len)) {
        return false;
    }
    *m = (struct word_map){0};
    for (uint32_t i = 0; i < 128; i++) {
        m->to[i] = (uint8_t)i;
    }
    for (uint32_t i = from_len; i-- > 0;) { /* of the same one the first counts */
        uint8_t c = (uint8_t)from[i];
        m->is_dropped[c] = i >= to_len;
        m->to[c] = i < to_len ? (uint8_t)to[i] : 0;
    }
    return true;
}

static void word_translate_plain(struct call *k, uint32_t r, const struct word_map *m)
{
    uint32_t len, n = 0;
    const char *s = call_get(k, 0, r, &len);
    uint8_t *out = call_space(k, r, len);
    for (uint32_t i = 0; out && i < len; i++) {
        uint8_t c = (uint8_t)s[i];
        out[n] = c < 128 ? m->to[c] : c;
        n += c < 128 && m->is_dropped[c] ? 0 : 1;
    }
    if (out) {
        k->out->bytes_used -= len - n;
        ((struct sr_span *)k->out->values)[r].len = n;
    }
}

static void word_translate(struct call *k)
{
    struct word_map map;
    bool is_plain = k->is_constant[1] && k->is_constant[2] && k->n > 0 && word_map_make(&map, k);
    CALL_EACH_ROW(k, r)
    {
        if (!valid_bit(k->arg[0]->valid, r)) {
            call_null(k, r);
        } else if (is_plain) {
            word_translate_plain(k, r, &map);
        } else {
            word_translate_row(k, r);
        }
    }
}
static const struct kernel word_k_translate = {.run = word_translate,
                                               .flags = KERNEL_FAILS | KERNEL_NULLS};

static bool word_bind_translate(struct bind_call *b)
{
    for (uint32_t i = 0; i < 3; i++) {
        if (!sr_is_text(b->arg[i]->type.kind)) {
            return false;
        }
    }
    b->type = type_nullable(type_with(SR_VARCHAR, SR_LENGTH_MAX, 0), b->arg[0]->type.is_nullable);
    b->kernel = &word_k_translate;
    return true;
}

/* --- What stands for other calls. ------------------------------------------------------------- */

/* ELT(n, a, b): CASE n WHEN 1 THEN a WHEN 2 THEN b END. */
static bool word_bind_elt(struct bind_call *b)
{
    uint32_t n = (b->args - 1) * 2;
    const struct expr **branch = expr_array(b->arena, n + 1);
    if (!branch || !sr_is_integer(b->arg[0]->type.kind)) {
        return false;
    }
    for (uint32_t i = 1; i < b->args; i++) {
        if (!sr_is_string(b->arg[i]->type.kind)) {
            return false;
        }
        const char *place = arena_printf(b->arena, "%u", i);
        const struct expr *test[2] = {b->arg[0],
                                      place ? expr_number(b->arena, place, b->err) : NULL};
        branch[2 * i - 2] = bind_sub(b, "=", test, 2);
        branch[2 * i - 1] = b->arg[i];
        if (!branch[2 * i - 2]) {
            return false;
        }
    }
    branch[n] = expr_null(b->arena);
    b->whole = branch[n] ? bind_sub(b, "CASE", branch, n + 1) : NULL;
    return b->whole != NULL;
}

/* Never NULL: FALSE is. */
static bool word_bind_is(struct bind_call *b, const struct expr *test)
{
    const struct expr *either[2] = {test, expr_bool(b->arena, false)};
    b->whole = test && either[1] ? bind_sub(b, "COALESCE", either, 2) : NULL;
    return b->whole != NULL;
}

/* IS_ALPHA and IS_DIGIT: by a regular expression. */
static bool word_bind_class(struct bind_call *b)
{
    const char *pattern = b->func->data ? "\\A\\p{Nd}+\\z" : "\\A\\p{L}+\\z";
    struct sr_type text = type_with(SR_VARCHAR, SR_LENGTH_MAX, 0);
    const struct expr *arg[2] = {expr_cast(b->arena, b->arg[0], &text, false, b->err),
                                 expr_string(b->arena, pattern, (uint32_t)strlen(pattern))};
    if (!arg[0] || !arg[1]) {
        b->is_said = !arg[0];
        return false;
    }
    return word_bind_is(b, bind_sub(b, "REGEXP", arg, 2));
}

/* Text that is a DOUBLE, and numbers; of DECIMAL, Flink says FALSE. */
static bool word_bind_decimal(struct bind_call *b)
{
    enum sr_kind kind = b->arg[0]->type.kind;
    struct sr_type t = type_of(SR_DOUBLE);
    if (!sr_is_text(kind)) {
        bool is_number = sr_is_number(kind) && kind != SR_DECIMAL;
        const struct expr *there = bind_sub(b, "IS NOT NULL", b->arg, 1);
        return word_bind_is(b, is_number ? there : expr_bool(b->arena, false));
    }
    const struct expr *v = expr_cast(b->arena, b->arg[0], &t, true, b->err);
    return word_bind_is(b, v ? bind_sub(b, "IS NOT NULL", &v, 1) : NULL);
}

/* --- The table. ------------------------------------------------------------------------------- */

#define WORD_ROW(title, low, high, letters, type, nullable, k, form, words)                    \
    {                                                                                          \
        .name = title, .family = "text", .bind = bind_simple, .min = low, .max = high,         \
        .args = letters, .result = type, .is_nullable = nullable, .kernel = &k, .forms = form, \
        .doc = words                                                                           \
    }
#define WORD_BIND(title, low, high, binds, what, form, words)                                  \
    {                                                                                          \
        .name = title, .family = "text", .bind = binds, .min = low, .max = high, .data = what, \
        .forms = form, .doc = words                                                            \
    }

static const struct func word_funcs[] = {
    WORD_ROW(
        "LOCATE", 2, 3, "ssi", RESULT_INT, false, word_k_locate,
        "LOCATE(part STRING, text STRING [, start INT]) -> INT",
        "The character, from 1, at which the part is first found from `start` on; 0: nowhere."),
    WORD_ROW("INSTR", 2, 4, "ssii", RESULT_INT, false, word_k_instr,
             "INSTR(text STRING, part STRING [, start INT [, n INT]]) -> INT",
             "The character, from 1, at which the part is found for the n-th time; a negative "
             "`start` counts from the end and looks towards the beginning. 0: nowhere."),
    WORD_BIND("STARTSWITH", 2, 2, word_bind_ends, 0, "STARTSWITH(text, part) -> BOOLEAN",
              "Whether the text, or bytes, begin with the part."),
    WORD_BIND("ENDSWITH", 2, 2, word_bind_ends, 1, "ENDSWITH(text, part) -> BOOLEAN",
              "Whether the text, or bytes, end with the part."),
    WORD_ROW("INITCAP", 1, 1, "s", RESULT_SAME, false, word_k_initcap,
             "INITCAP(text STRING) -> STRING",
             "The text with the first letter of each word in upper case, the others in lower case; "
             "letters are those of ASCII."),
    WORD_ROW("ASCII", 1, 1, "s", RESULT_INT, false, word_k_ascii, "ASCII(text STRING) -> INT",
             "The first byte of the text as a number, negative from 128 on; 0 for none."),
    WORD_ROW("CHR", 1, 1, "l", RESULT_STRING, true, word_k_chr, "CHR(code INT) -> STRING",
             "The character of that number modulo 256; none for a negative one."),
    WORD_BIND("OVERLAY", 3, 4, word_bind_overlay, 0,
              "OVERLAY(text PLACING with FROM start [FOR n]) -> STRING",
              "The text with n characters from `start` on replaced; n is the length of `with` "
              "unless said."),
    WORD_BIND("TRANSLATE", 3, 3, word_bind_translate, 0,
              "TRANSLATE(text STRING, from STRING, to STRING) -> STRING",
              "The text with each character of `from` replaced by the one at the same place in "
              "`to`, or left out where `to` is shorter."),
    WORD_BIND("TRANSLATE3", 3, 3, word_bind_translate, 0,
              "TRANSLATE3(text STRING, from STRING, to STRING) -> STRING",
              "The same as TRANSLATE."),
    WORD_BIND("ELT", 2, CALL_ARGS_MAX / 2, word_bind_elt, 0, "ELT(n INT, text, ...)",
              "The n-th of the texts, from 1; NULL when there are fewer."),
    WORD_BIND("IS_ALPHA", 1, 1, word_bind_class, 0, "IS_ALPHA(text STRING) -> BOOLEAN",
              "Whether there are letters only, and one at least; FALSE for NULL."),
    WORD_BIND("IS_DIGIT", 1, 1, word_bind_class, 1, "IS_DIGIT(text STRING) -> BOOLEAN",
              "Whether there are digits only, and one at least; FALSE for NULL."),
    WORD_BIND("IS_DECIMAL", 1, 1, word_bind_decimal, 0, "IS_DECIMAL(text STRING) -> BOOLEAN",
              "Whether the text is a number as CAST(text AS DOUBLE) reads it; FALSE for NULL."),
};

const struct func_family func_word = {word_funcs, sizeof(word_funcs) / sizeof(word_funcs[0])};
