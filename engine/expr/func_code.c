/* Texts and bytes as codes: digests, base64, hexadecimal digits, character sets. */
#include <nettle/md5.h>
#include <nettle/sha1.h>
#include <nettle/sha2.h>
#include <string.h>
#include <strings.h>

#include "engine/base/base64.h"
#include "engine/data/schema.h"
#include "engine/expr/family.h"
#include "engine/expr/promote.h"
#include "engine/expr/utf8.h"

static const char code_digits[] = "0123456789abcdef";

/* Whether a result would be too long; the row fails then. */
static bool code_is_too_long(struct call *k, uint32_t r, uint64_t len)
{
    if (len > CALL_TEXT_MAX) {
        call_fail(k, r, "the text would be longer than %u bytes", CALL_TEXT_MAX);
        return true;
    }
    return false;
}

/* The digits of n bytes, as the text of row r. */
static void code_put_hex(struct call *k, uint32_t r, const uint8_t *bytes, uint32_t n,
                         bool is_upper)
{
    uint8_t *to = call_space(k, r, n * 2);
    for (uint32_t i = 0; to && i < n; i++) {
        char high = code_digits[bytes[i] >> 4], low = code_digits[bytes[i] & 15];
        to[(size_t)2 * i] = (uint8_t)(is_upper && high >= 'a' ? high - 32 : high);
        to[(size_t)2 * i + 1] = (uint8_t)(is_upper && low >= 'a' ? low - 32 : low);
    }
}

/* --- Digests. --------------------------------------------------------------------------------- */

#define CODE_DIGEST(name, size)                               \
    static void code_##name(struct call *k)                   \
    {                                                         \
        CALL_EACH_ROW(k, r)                                   \
        {                                                     \
            uint32_t len;                                     \
            const char *s = call_get(k, 0, r, &len);          \
            struct name##_ctx context;                        \
            uint8_t digest[size];                             \
            name##_init(&context);                            \
            name##_update(&context, len, (const uint8_t *)s); \
            name##_digest(&context, size, digest);            \
            code_put_hex(k, r, digest, size, false);          \
        }                                                     \
    }                                                         \
    static const struct kernel code_k_##name = {.run = code_##name};

CODE_DIGEST(md5, MD5_DIGEST_SIZE)
CODE_DIGEST(sha1, SHA1_DIGEST_SIZE)
CODE_DIGEST(sha224, SHA224_DIGEST_SIZE)
CODE_DIGEST(sha256, SHA256_DIGEST_SIZE)
CODE_DIGEST(sha384, SHA384_DIGEST_SIZE)
CODE_DIGEST(sha512, SHA512_DIGEST_SIZE)

static const struct {
    uint32_t bits;
    const struct kernel *kernel;
} code_sizes[] = {{128, &code_k_md5},    {160, &code_k_sha1},   {224, &code_k_sha224},
                  {256, &code_k_sha256}, {384, &code_k_sha384}, {512, &code_k_sha512}};

static const struct kernel *code_digest(int64_t bits)
{
    for (size_t i = 0; i < sizeof(code_sizes) / sizeof(code_sizes[0]); i++) {
        if (code_sizes[i].bits == bits) {
            return code_sizes[i].kernel;
        }
    }
    return NULL;
}

/* `data` is the size in bits. */
static bool code_bind_digest(struct bind_call *b)
{
    if (!sr_is_string(b->arg[0]->type.kind)) {
        return false;
    }
    b->type = type_with(SR_CHAR, (int32_t)b->func->data / 4, 0);
    b->type.is_nullable = b->arg[0]->type.is_nullable;
    b->kernel = code_digest(b->func->data);
    return true;
}

static bool code_bind_sha2(struct bind_call *b)
{
    const struct expr *bits = b->arg[1];
    b->type = type_nullable(type_with(SR_VARCHAR, 128, 0), bind_any_nullable(b));
    if (!sr_is_string(b->arg[0]->type.kind) ||
        (bits->type.kind != SR_NULL && !sr_is_integer(bits->type.kind))) {
        return false;
    }
    if (bits->kind != EXPR_LITERAL) {
        return bind_fails(b, "SHA2 takes a constant number of bits");
    }
    if (bits->is_null) {
        b->whole = expr_cast(b->arena, bits, &b->type, false, b->err);
        return b->whole != NULL;
    }
    b->kernel = bits->value.i >= 224 ? code_digest(bits->value.i) : NULL;
    b->args = 1;
    return b->kernel || bind_fails(b, "SHA2 takes 224, 256, 384 or 512 bits");
}

/* --- Base64. ---------------------------------------------------------------------------------- */

static void code_to_base64(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        uint32_t len;
        const uint8_t *s = (const uint8_t *)call_get(k, 0, r, &len);
        if (code_is_too_long(k, r, base64_text_size(len))) {
            continue;
        }
        uint8_t *to = call_space(k, r, (uint32_t)base64_text_size(len));
        if (to) {
            base64_write((char *)to, s, len);
        }
    }
}
static const struct kernel code_k_to_base64 = {.run = code_to_base64, .flags = KERNEL_FAILS};

/* What a letter stands for; 64: it is none. */
static inline uint32_t code_digit(char c)
{
    return c >= 'A' && c <= 'Z'   ? (uint32_t)(c - 'A')
           : c >= 'a' && c <= 'z' ? (uint32_t)(c - 'a') + 26
           : c >= '0' && c <= '9' ? (uint32_t)(c - '0') + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : 64;
}

/* Bytes written to `to`; UINT32_MAX: no base64. Closing = may be missing, as Java lets them. */
static uint32_t code_read_base64(const char *s, uint32_t len, uint8_t *to)
{
    uint32_t n = 0, v = 0, digits = len;
    while (digits > 0 && len - digits < 2 && s[digits - 1] == '=') {
        digits--;
    }
    if (digits % 4 == 1 || (digits < len && len % 4 != 0)) {
        return UINT32_MAX;
    }
    for (uint32_t i = 0; i < digits; i++) {
        uint32_t digit = code_digit(s[i]);
        if (digit > 63) {
            return UINT32_MAX;
        }
        v = v << 6 | digit;
        if (i % 4 != 0) {
            to[n++] = (uint8_t)(v >> (6 - 2 * (i % 4)));
        }
    }
    return n;
}

/* The text of row r becomes shorter: what was asked for by call_space last. */
static void code_shorten(struct call *k, uint32_t r, uint32_t len)
{
    struct sr_span *span = (struct sr_span *)k->out->values + r;
    k->out->bytes_used -= span->len - len;
    span->len = len;
}

static void code_of_base64(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        uint32_t len;
        const char *s = call_get(k, 0, r, &len);
        uint8_t *to = call_space(k, r, len / 4 * 3 + 3);
        uint32_t n = to ? code_read_base64(s, len, to) : 0;
        code_shorten(k, r, n == UINT32_MAX ? 0 : n);
        if (n == UINT32_MAX) {
            call_fail(k, r, "'%.*s' is not base64", (int)(len < 60 ? len : 60), s);
        }
    }
}
static const struct kernel code_k_of_base64 = {.run = code_of_base64, .flags = KERNEL_FAILS};

/* FROM_BASE64 gives text: what is no UTF-8 becomes U+FFFD, as in a CAST. */
static bool code_bind_of_base64(struct bind_call *b)
{
    struct sr_type bytes = type_with(SR_VARBINARY, SR_LENGTH_MAX, 0), text = bytes;
    if (!sr_is_text(b->arg[0]->type.kind)) {
        return false;
    }
    bytes.is_nullable = b->arg[0]->type.is_nullable;
    text.kind = SR_VARCHAR;
    const struct expr *e = expr_make(b->arena, b->func, &code_k_of_base64, bytes, b->arg, 1);
    b->whole = expr_cast(b->arena, e, &text, false, b->err);
    return b->whole || bind_fails(b, "out of memory");
}

/* --- Hexadecimal and binary digits. ----------------------------------------------------------- */

static void code_hex_text(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        uint32_t len;
        const char *s = call_get(k, 0, r, &len);
        if (!code_is_too_long(k, r, (uint64_t)len * 2)) {
            code_put_hex(k, r, (const uint8_t *)s, len, true);
        }
    }
}
static const struct kernel code_k_hex_text = {.run = code_hex_text, .flags = KERNEL_FAILS};

/* Of 64 bits, without zeros in front; `bits` a digit. */
static void code_number(struct call *k, unsigned bits)
{
    const int64_t *a = k->arg[0]->values;
    CALL_EACH_ROW(k, r)
    {
        char text[64];
        uint64_t v = (uint64_t)a[r];
        uint32_t n = sizeof(text);
        do {
            char digit = code_digits[v & ((1u << bits) - 1)];
            text[--n] = (char)(digit >= 'a' ? digit - 32 : digit);
            v >>= bits;
        } while (v > 0);
        call_text(k, r, text + n, (uint32_t)sizeof(text) - n);
    }
}
static void code_hex_number(struct call *k) { code_number(k, 4); }
static void code_bin_number(struct call *k) { code_number(k, 1); }
static const struct kernel code_k_hex_number = {.run = code_hex_number};
static const struct kernel code_k_bin_number = {.run = code_bin_number};

static bool code_bind_hex(struct bind_call *b)
{
    bool is_text = sr_is_text(b->arg[0]->type.kind);
    struct sr_type number = type_of(SR_BIGINT);
    if (!is_text && (!sr_is_integer(b->arg[0]->type.kind) || !bind_coerce(b, 0, &number))) {
        return false;
    }
    b->type = type_nullable(type_with(SR_VARCHAR, SR_LENGTH_MAX, 0), bind_any_nullable(b));
    b->kernel = is_text ? &code_k_hex_text : &code_k_hex_number;
    return true;
}

static int code_nibble(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Of an odd number of digits the first one is taken for a byte 0, as Flink does it. */
static void code_unhex(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        uint32_t len;
        const char *s = call_get(k, 0, r, &len);
        uint8_t *to = call_space(k, r, (len + 1) / 2);
        bool is_good = len % 2 == 0 || code_nibble(s[0]) >= 0;
        if (to && len % 2 == 1) {
            *to++ = 0;
        }
        for (uint32_t i = len % 2; to && i < len && is_good; i += 2) {
            int high = code_nibble(s[i]), low = code_nibble(s[i + 1]);
            is_good = high >= 0 && low >= 0;
            *to++ = (uint8_t)((high & 15) << 4 | (low & 15));
        }
        if (!is_good) {
            call_null(k, r);
        }
    }
}
static const struct kernel code_k_unhex = {.run = code_unhex};

/* --- Character sets. -------------------------------------------------------------------------- */

enum code_set {
    CODE_UTF8,
    CODE_ASCII,
    CODE_LATIN1,
    CODE_UTF16,
    CODE_UTF16BE,
    CODE_UTF16LE,
    CODE_NONE
};

static enum code_set code_set_of(const char *s, uint32_t len)
{
    static const struct {
        const char *name;
        enum code_set set;
    } names[] = {{"UTF-8", CODE_UTF8},        {"UTF8", CODE_UTF8},     {"US-ASCII", CODE_ASCII},
                 {"ASCII", CODE_ASCII},       {"UTF-16", CODE_UTF16},  {"UTF-16BE", CODE_UTF16BE},
                 {"ISO-8859-1", CODE_LATIN1}, {"LATIN1", CODE_LATIN1}, {"UTF-16LE", CODE_UTF16LE}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strlen(names[i].name) == len && strncasecmp(names[i].name, s, len) == 0) {
            return names[i].set;
        }
    }
    return CODE_NONE;
}

static enum code_set code_set_at(struct call *k, uint32_t r)
{
    uint32_t len;
    const char *s = call_get(k, 1, r, &len);
    enum code_set set = code_set_of(s, len);
    if (set == CODE_NONE) {
        call_fail(
            k, r,
            "there is no character set '%.*s'; known are UTF-8, US-ASCII, ISO-8859-1, UTF-16, "
            "UTF-16BE, UTF-16LE",
            (int)(len < 40 ? len : 40), s);
    }
    return set;
}

/* The code point at s, n bytes long. */
static uint32_t code_point(const char *s, uint32_t n)
{
    static const uint8_t mask[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t v = (uint8_t)s[0] & mask[n];
    for (uint32_t i = 1; i < n; i++) {
        v = v << 6 | ((uint8_t)s[i] & 0x3F);
    }
    return v;
}

static uint8_t *code_put_unit(uint8_t *to, uint32_t unit, bool is_little)
{
    to[is_little ? 0 : 1] = (uint8_t)unit;
    to[is_little ? 1 : 0] = (uint8_t)(unit >> 8);
    return to + 2;
}

static uint8_t *code_put_point(uint8_t *to, uint32_t v, enum code_set set)
{
    if (set == CODE_ASCII || set == CODE_LATIN1) {
        *to = (uint8_t)(v < (set == CODE_ASCII ? 0x80 : 0x100) ? v : '?');
        return to + 1;
    }
    if (v >= 0x10000) {
        to = code_put_unit(to, 0xD800 + ((v - 0x10000) >> 10), set == CODE_UTF16LE);
        v = 0xDC00 + ((v - 0x10000) & 0x3FF);
    }
    return code_put_unit(to, v, set == CODE_UTF16LE);
}

static void code_encode(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        uint32_t len;
        const char *s = call_get(k, 0, r, &len);
        enum code_set set = code_set_at(k, r);
        if (set == CODE_UTF8) {
            call_text(k, r, s, len);
        } else if (set != CODE_NONE && !code_is_too_long(k, r, (uint64_t)len * 2 + 2)) {
            uint8_t *from = call_space(k, r, len * 2 + 2), *to = from;
            if (!to) {
                return;
            }
            to = set == CODE_UTF16 ? code_put_unit(to, 0xFEFF, false) : to;
            for (uint32_t i = 0, n; i < len; i += n) {
                n = utf8_size(s + i, len - i);
                to = code_put_point(to, code_point(s + i, n), set);
            }
            code_shorten(k, r, (uint32_t)(to - from));
        }
    }
}
static const struct kernel code_k_encode = {.run = code_encode, .flags = KERNEL_FAILS};

static uint8_t *code_put_utf8(uint8_t *to, uint32_t v)
{
    uint32_t n = v < 0x80 ? 1 : v < 0x800 ? 2 : v < 0x10000 ? 3 : 4;
    for (uint32_t i = n - 1; i > 0; i--, v >>= 6) {
        to[i] = (uint8_t)(0x80 | (v & 0x3F));
    }
    to[0] = (uint8_t)(n == 1 ? v : (0xF00u >> n & 0xFF) | v);
    return to + n;
}

static uint32_t code_unit(const uint8_t *s, bool is_little)
{
    return is_little ? (uint32_t)s[1] << 8 | s[0] : (uint32_t)s[0] << 8 | s[1];
}

static uint8_t *code_from_utf16(const uint8_t *s, uint32_t len, enum code_set set, uint8_t *to)
{
    bool is_little = set == CODE_UTF16LE;
    uint32_t i = 0;
    if (set == CODE_UTF16 && len >= 2 &&
        (code_unit(s, false) == 0xFEFF || code_unit(s, true) == 0xFEFF)) {
        is_little = code_unit(s, true) == 0xFEFF;
        i = 2;
    }
    for (; i + 1 < len; i += 2) {
        uint32_t v = code_unit(s + i, is_little);
        bool is_high = v >= 0xD800 && v < 0xDC00 && i + 3 < len;
        uint32_t low = is_high ? code_unit(s + i + 2, is_little) : 0;
        if (is_high && low >= 0xDC00 && low < 0xE000) {
            v = 0x10000 + ((v - 0xD800) << 10) + (low - 0xDC00);
            i += 2;
        }
        to = code_put_utf8(to, v >= 0xD800 && v < 0xE000 ? 0xFFFD : v);
    }
    return i < len ? code_put_utf8(to, 0xFFFD) : to;
}

static void code_decode(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        uint32_t len;
        const uint8_t *s = (const uint8_t *)call_get(k, 0, r, &len);
        enum code_set set = code_set_at(k, r);
        if (set == CODE_NONE || code_is_too_long(k, r, (uint64_t)len * 3)) {
            continue;
        }
        uint8_t *from = call_space(k, r, len * 3), *to = from;
        for (uint32_t i = 0; to && i < len && (set == CODE_ASCII || set == CODE_LATIN1); i++) {
            to = code_put_utf8(to, set == CODE_ASCII && s[i] >= 0x80 ? 0xFFFD : s[i]);
        }
        if (to && set >= CODE_UTF16) {
            to = code_from_utf16(s, len, set, to);
        }
        if (to) {
            code_shorten(k, r, (uint32_t)(to - from));
        }
    }
}
static const struct kernel code_k_decode = {.run = code_decode, .flags = KERNEL_FAILS};

/* UTF-8 is the CAST, which knows what to do with bytes that are none. */
static bool code_bind_decode(struct bind_call *b)
{
    const struct expr *set = b->arg[1];
    b->type = type_nullable(type_with(SR_VARCHAR, SR_LENGTH_MAX, 0), bind_any_nullable(b));
    if (!sr_is_bytes(b->arg[0]->type.kind) || !sr_is_text(set->type.kind)) {
        return false;
    }
    bool is_known = set->kind == EXPR_LITERAL && !set->is_null;
    if (is_known && code_set_of(set->text, set->text_len) == CODE_UTF8) {
        b->whole = expr_cast(b->arena, b->arg[0], &b->type, false, b->err);
        return b->whole != NULL;
    }
    if (!is_known && !set->is_null) {
        return bind_fails(b, "DECODE takes a constant character set");
    }
    b->kernel = &code_k_decode;
    return true;
}

/* --- The table. ------------------------------------------------------------------------------- */

#define CODE_DIGEST_ROW(title, bits)                                                   \
    {                                                                                  \
        .name = title, .family = "hash", .bind = code_bind_digest, .min = 1, .max = 1, \
        .data = bits, .forms = title "(text STRING) -> CHAR",                          \
        .doc = "The " title " digest of "                                              \
               "the text, or of bytes, as hexadecimal digits."                         \
    }
#define CODE_ROW(title, low, high, letters, type, nullable, k, form, words)                    \
    {                                                                                          \
        .name = title, .family = "text", .bind = bind_simple, .min = low, .max = high,         \
        .args = letters, .result = type, .is_nullable = nullable, .kernel = &k, .forms = form, \
        .doc = words                                                                           \
    }
#define CODE_BIND(title, low, high, binds, form, words)                                         \
    {                                                                                           \
        .name = title, .family = "text", .bind = binds, .min = low, .max = high, .forms = form, \
        .doc = words                                                                            \
    }

static const struct func code_funcs[] = {
    CODE_DIGEST_ROW("MD5", 128),
    CODE_DIGEST_ROW("SHA1", 160),
    CODE_DIGEST_ROW("SHA224", 224),
    CODE_DIGEST_ROW("SHA256", 256),
    CODE_DIGEST_ROW("SHA384", 384),
    CODE_DIGEST_ROW("SHA512", 512),
    {.name = "SHA2",
     .family = "hash",
     .bind = code_bind_sha2,
     .min = 2,
     .max = 2,
     .forms = "SHA2(text STRING, bits INT) -> STRING",
     .doc = "The SHA-2 digest of 224, 256, 384 or 512 bits, as hexadecimal digits."},
    CODE_ROW("TO_BASE64", 1, 1, "y", RESULT_STRING, false, code_k_to_base64,
             "TO_BASE64(text STRING) -> STRING", "The text, or bytes, in base64."),
    CODE_BIND("FROM_BASE64", 1, 1, code_bind_of_base64, "FROM_BASE64(text STRING) -> STRING",
              "The text that the base64 stands for. What is no base64 fails."),
    CODE_BIND("HEX", 1, 1, code_bind_hex, "HEX(number BIGINT or text STRING) -> STRING",
              "The number, or the bytes of the text, as hexadecimal digits."),
    CODE_ROW("UNHEX", 1, 1, "s", RESULT_BYTES, true, code_k_unhex, "UNHEX(text STRING) -> BYTES",
             "The bytes that the hexadecimal digits stand for; NULL when they are none."),
    CODE_ROW("BIN", 1, 1, "l", RESULT_STRING, false, code_k_bin_number,
             "BIN(number BIGINT) -> STRING", "The number as binary digits."),
    CODE_ROW("ENCODE", 2, 2, "s", RESULT_BYTES, false, code_k_encode,
             "ENCODE(text STRING, charset STRING) -> BYTES",
             "The text in a character set: UTF-8, US-ASCII, ISO-8859-1, UTF-16, UTF-16BE or "
             "UTF-16LE. What it does not have becomes a question mark."),
    CODE_BIND("DECODE", 2, 2, code_bind_decode, "DECODE(bytes BYTES, charset STRING) -> STRING",
              "The text that the bytes are in a character set, as of ENCODE."),
};

const struct func_family func_code = {code_funcs, sizeof(code_funcs) / sizeof(code_funcs[0])};
