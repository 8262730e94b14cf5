#include "engine/expr/text_case.h"

#include <locale.h>
#include <wctype.h>

#include "engine/base/error.h"
#include "engine/expr/utf8.h"

/* The locale is only a table of letters here. glibc has C.UTF-8 built in. */
static sr_rc case_prepare(const struct expr *e, void **state, struct sr_error *err)
{
    (void)e;
    locale_t l = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    if (!l) {
        return error_set(err, SR_EABSENT,
                         "the locale C.UTF-8, which UPPER and LOWER need, cannot be loaded: it is "
                         "not installed, or there was no memory for it");
    }
    *state = l;
    return SR_OK;
}

static void case_release(void *state)
{
    if (state) {
        freelocale(state);
    }
}

static uint32_t case_decode(const char *text, uint32_t n)
{
    const unsigned char *s = (const unsigned char *)text;
    switch (n) {
    case 2:
        return (s[0] & 0x1Fu) << 6 | (s[1] & 0x3Fu);
    case 3:
        return (s[0] & 0x0Fu) << 12 | (s[1] & 0x3Fu) << 6 | (s[2] & 0x3Fu);
    case 4:
        return (s[0] & 0x07u) << 18 | (s[1] & 0x3Fu) << 12 | (s[2] & 0x3Fu) << 6 | (s[3] & 0x3Fu);
    default:
        return s[0];
    }
}

static uint32_t case_encode(uint32_t c, uint8_t *to)
{
    if (c < 0x80) {
        to[0] = (uint8_t)c;
        return 1;
    }
    uint32_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (uint32_t i = n - 1; i > 0; i--) {
        to[i] = (uint8_t)(0x80 | (c & 0x3F));
        c >>= 6;
    }
    to[0] = (uint8_t)((n == 2 ? 0xC0 : n == 3 ? 0xE0 : 0xF0) | c);
    return n;
}

/* Whether a letter stands at s[at]. */
static bool case_is_letter(const char *s, uint32_t len, uint32_t at, locale_t l)
{
    return at < len && iswalpha_l(case_decode(s + at, utf8_size(s + at, len - at)), l);
}

static uint32_t case_before(const char *s, uint32_t at)
{
    while (at > 0 && ((unsigned char)s[--at] & 0xC0) == 0x80) {
    }
    return at;
}

/* The letter at s[at], n bytes long, written to `to` in the other case; at most twice as long. */
static uint32_t case_letter(const char *s, uint32_t len, uint32_t at, bool is_upper, uint8_t *to,
                            locale_t l)
{
    uint32_t n = utf8_size(s + at, len - at), c = case_decode(s + at, n);
    if (is_upper && c == 0xDF) {
        to[0] = to[1] = 'S';
        return 2;
    }
    if (!is_upper && c == 0x130) {
        to[0] = 'i';
        return 1 + case_encode(0x307, to + 1);
    }
    if (!is_upper && c == 0x3A3) {
        bool is_final = at > 0 && case_is_letter(s, len, case_before(s, at), l) &&
                        !case_is_letter(s, len, at + n, l);
        return case_encode(is_final ? 0x3C2 : 0x3C3, to);
    }
    bool is_sound = n == 1 ? c < 0x80 : c >= 0x80; /* what is no UTF-8 stays as it is */
    uint32_t other = is_sound ? (is_upper ? towupper_l(c, l) : towlower_l(c, l)) : c;
    if (other == c) {
        memcpy(to, s + at, n);
        return n;
    }
    return case_encode(other, to);
}

static void case_plain(const char *s, uint32_t len, bool is_upper, uint8_t *to)
{
    unsigned char first = is_upper ? 'a' : 'A';
    for (uint32_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)s[i];
        to[i] = (unsigned char)(c - first) < 26 ? c ^ 0x20 : c;
    }
}

static void case_run(struct call *k, bool is_upper)
{
    CALL_EACH_ROW(k, r)
    {
        uint32_t len, n = 0;
        const char *s = call_get(k, 0, r, &len);
        bool is_plain = utf8_is_plain(s, len);
        uint8_t *to = call_space(k, r, is_plain ? len : len * 2);
        if (!to) {
            return;
        }
        if (is_plain) {
            case_plain(s, len, is_upper, to);
            continue;
        }
        for (uint32_t i = 0; i < len; i += utf8_size(s + i, len - i)) {
            n += case_letter(s, len, i, is_upper, to + n, k->state);
        }
        k->out->bytes_used -= len * 2 - n;
        ((struct sr_span *)k->out->values)[r].len = n;
    }
}

static void case_upper(struct call *k) { case_run(k, true); }
static void case_lower(struct call *k) { case_run(k, false); }

const struct kernel text_case_upper = {
    .run = case_upper, .prepare = case_prepare, .release = case_release};
const struct kernel text_case_lower = {
    .run = case_lower, .prepare = case_prepare, .release = case_release};
