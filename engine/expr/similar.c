#include "engine/expr/similar.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/error.h"
#include "engine/data/schema.h"
#include "engine/expr/regex.h"

#define SIMILAR_PATTERN_MAX 4096u /* bytes of a pattern */
#define SIMILAR_MADE_BYTES  40u   /* that a byte of a pattern makes at most */

struct similar {
    struct regex *regex;
    bool is_set, is_good;
    uint32_t len, escape_len;
    char pattern[SIMILAR_PATTERN_MAX], escape[8]; /* as written, that the regex was made of */
    char made[SIMILAR_PATTERN_MAX * SIMILAR_MADE_BYTES + 32];
    uint32_t made_len;
};

static sr_rc similar_prepare(const struct expr *e, void **state, struct sr_error *err)
{
    (void)e;
    struct similar *s = calloc(1, sizeof(*s));
    *state = s;
    if (s) {
        s->regex = regex_new();
    }
    return s && s->regex ? SR_OK : error_set(err, SR_ENOMEM, "out of memory");
}

static void similar_release(void *state)
{
    struct similar *s = state;
    if (s) {
        regex_free(s->regex);
        free(s);
    }
}

/* --- Pattern to regular expression. ----------------------------------------------------------- */

static void similar_put(struct similar *s, const char *bytes, size_t len)
{
    memcpy(s->made + s->made_len, bytes, len); /* SIMILAR_MADE_BYTES are there */
    s->made_len += (uint32_t)len;
}

static void similar_put_text(struct similar *s, const char *text)
{
    similar_put(s, text, strlen(text));
}

/* A character that stands for itself. */
static void similar_put_plain(struct similar *s, char c)
{
    if (strchr("\\.[]{}()*+-?^$|#&~/", c) && c) {
        similar_put(s, "\\", 1);
    }
    similar_put(s, &c, 1);
}

/* [:ALPHA:] within brackets at p; answers its bytes, 0: there is none. */
static uint32_t similar_class(struct similar *s, const char *p, uint32_t len)
{
    static const char *const names[][2] = {{"[:ALPHA:]", "[:alpha:]"}, {"[:UPPER:]", "[:upper:]"},
                                           {"[:LOWER:]", "[:lower:]"}, {"[:DIGIT:]", "0-9"},
                                           {"[:ALNUM:]", "[:alnum:]"}, {"[:SPACE:]", " "},
                                           {"[:WHITESPACE:]", "\\s"}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        size_t n = strlen(names[i][0]);
        if (n <= len && strncasecmp(p, names[i][0], n) == 0) {
            similar_put_text(s, names[i][1]);
            return (uint32_t)n;
        }
    }
    return 0;
}

/* Brackets from p[i]; answers the place behind them, UINT32_MAX: they have no end. */
static uint32_t similar_brackets(struct similar *s, const char *p, uint32_t len, uint32_t i)
{
    similar_put(s, "[", 1);
    i++;
    if (i < len && p[i] == '^') {
        similar_put(s, "^", 1);
        i++;
    }
    while (i < len && p[i] != ']') {
        uint32_t n = similar_class(s, p + i, len - i);
        if (n == 0 && p[i] == '[') {
            return UINT32_MAX;
        }
        if (n == 0) {
            if (p[i] == '\\') {
                similar_put(s, "\\", 1);
            }
            similar_put(s, p + i, 1);
        }
        i += n > 0 ? n : 1;
    }
    similar_put(s, "]", 1);
    return i < len ? i + 1 : UINT32_MAX;
}

/* NOLINTNEXTLINE(readability-function-cognitive-complexity): one branch a character */
static bool similar_translate(struct similar *s)
{
    const char *p = s->pattern;
    s->made_len = 0;
    similar_put_text(s, "\\A(?:");
    for (uint32_t i = 0; i < s->len;) {
        if (s->escape_len == 1 && p[i] == s->escape[0]) {
            if (i + 1 == s->len) {
                return false;
            }
            similar_put_plain(s, p[i + 1]);
            i += 2;
        } else if (p[i] == '[') {
            i = similar_brackets(s, p, s->len, i);
            if (i == UINT32_MAX) {
                return false;
            }
        } else {
            if (p[i] == '%') {
                similar_put_text(s, "(?s:.*)");
            } else if (p[i] == '\\' || p[i] == '$') {
                similar_put_plain(s, p[i]);
            } else if (p[i] == '_') { /* what a dot is in Java */
                similar_put_text(s, "[^\\n\\r\\x{85}\\x{2028}\\x{2029}]");
            } else {
                similar_put(s, p + i, 1);
            }
            i++;
        }
    }
    similar_put_text(s, ")\\z");
    return true;
}

/* --- Matching. -------------------------------------------------------------------------------- */

/* The pattern of row r becomes the one of the regex. False: it is none, or memory is out. */
static bool similar_use(struct call *k, uint32_t r)
{
    struct similar *s = k->state;
    uint32_t len, escape_len = 0;
    const char *p = call_get(k, 1, r, &len);
    const char *escape = k->args > 2 ? call_get(k, 2, r, &escape_len) : "";
    bool is_same = s->is_set && s->len == len && memcmp(s->pattern, p, len) == 0 &&
                   s->escape_len == escape_len && memcmp(s->escape, escape, escape_len) == 0;
    if (!is_same) {
        s->is_set = len <= sizeof(s->pattern) && escape_len <= 1;
        s->is_good = false;
        if (s->is_set) {
            memcpy(s->pattern, p, len);
            memcpy(s->escape, escape, escape_len);
            s->len = len;
            s->escape_len = escape_len;
            s->is_good = similar_translate(s);
        }
    }
    enum regex_used used = s->is_good ? regex_use(s->regex, s->made, s->made_len) : REGEX_BAD;
    if (used == REGEX_NO_MEMORY) {
        call_broken(k, SR_ENOMEM);
    } else if (used == REGEX_BAD) {
        call_fail(k, r, "'%.*s' is not a pattern of SIMILAR TO%s%s", (int)(len < 60 ? len : 60), p,
                  s->is_good ? ": " : "", s->is_good ? regex_why(s->regex) : "");
    }
    return used == REGEX_GOOD;
}

static void similar_run(struct call *k)
{
    struct similar *s = k->state;
    uint8_t *to = k->out->values;
    CALL_EACH_ROW(k, r)
    {
        uint32_t len;
        const char *text = call_get(k, 0, r, &len);
        if (!similar_use(k, r)) {
            continue;
        }
        enum regex_found found = regex_find(s->regex, text, len, 0);
        to[r] = found == REGEX_YES;
        if (found == REGEX_OUT_OF_MEMORY) {
            call_broken(k, SR_ENOMEM);
        } else if (found == REGEX_GAVE_UP) {
            call_fail(k, r, "the pattern of SIMILAR TO takes too many steps on this text");
        }
    }
}
static const struct kernel similar_k = {.run = similar_run,
                                        .flags = KERNEL_FAILS,
                                        .prepare = similar_prepare,
                                        .release = similar_release};

bool similar_bind(struct bind_call *b)
{
    for (uint32_t i = 0; i < b->args; i++) {
        if (!sr_is_text(b->arg[i]->type.kind)) {
            return false;
        }
    }
    b->type = type_nullable(type_of(SR_BOOLEAN), bind_any_nullable(b));
    b->kernel = &similar_k;
    return true;
}
