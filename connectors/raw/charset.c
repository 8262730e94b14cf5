#include "connectors/raw/charset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CHARSET_NAME_MAX 64u
#define CHARSET_NONE     ((iconv_t)(-1)) /* NOLINT: what iconv_open answers */

static bool charset_is(const char *name, const char *a, const char *b)
{
    return strcasecmp(name, a) == 0 || strcasecmp(name, b) == 0;
}

/* The name that iconv has for Java's; NULL: it can be none. */
static const char *charset_name(const char *java, char out[CHARSET_NAME_MAX], bool *has_mark)
{
    size_t len = strlen(java);
    *has_mark = charset_is(java, "UTF-16", "UTF_16") || charset_is(java, "UTF-32", "UTF_32");
    if (len == 0 || len >= CHARSET_NAME_MAX - 2 || strchr(java, '/')) {
        return NULL; /* a slash would begin glibc's own options */
    }
    memcpy(out, java, len + 1);
    for (size_t i = 0; i < len; i++) {
        out[i] = (char)(out[i] == '_' ? '-' : out[i]); /* ISO8859_1 */
    }
    if (*has_mark) {
        memcpy(out + len, "BE", 3);
    }
    return out;
}

static bool charset_learn(struct charset *c)
{
    size_t got = 0;
    if (charset_convert(c, false, "\n", 1, &got) != CHARSET_OK || got == 0 || got > 4) {
        return false;
    }
    memcpy(c->newline, c->text, got);
    c->unit = (uint32_t)got;
    if (charset_convert(c, false, "\r", 1, &got) != CHARSET_OK || got != c->unit) {
        return false;
    }
    memcpy(c->back, c->text, got);
    return true;
}

enum charset_rc charset_open(struct charset *c, const char *name)
{
    char known[CHARSET_NAME_MAX];
    *c = (struct charset){.in = CHARSET_NONE, .out = CHARSET_NONE, .unit = 1};
    c->newline[0] = '\n';
    c->back[0] = '\r';
    c->is_utf8 = charset_is(name, "UTF-8", "UTF8");
    if (c->is_utf8) {
        return CHARSET_OK;
    }
    if (!charset_name(name, known, &c->has_mark)) {
        return CHARSET_UNKNOWN;
    }
    c->in = iconv_open("UTF-8", known);
    c->out = iconv_open(known, "UTF-8");
    bool is_known = c->in != CHARSET_NONE && c->out != CHARSET_NONE && charset_learn(c);
    return is_known ? CHARSET_OK : CHARSET_UNKNOWN;
}

void charset_close(struct charset *c)
{
    if (c->unit > 0) {
        if (c->in != CHARSET_NONE) {
            (void)iconv_close(c->in); /* cannot fail for what was opened */
        }
        if (c->out != CHARSET_NONE) {
            (void)iconv_close(c->out);
        }
    }
    free(c->text);
    *c = (struct charset){0};
}

static bool charset_room(struct charset *c, size_t size)
{
    if (size <= c->size) {
        return true;
    }
    char *grown = realloc(c->text, size);
    if (!grown) {
        return false;
    }
    c->text = grown;
    c->size = size;
    return true;
}

enum charset_rc charset_convert(struct charset *c, bool to_utf8, const char *s, uint32_t len,
                                size_t *got)
{
    iconv_t with = to_utf8 ? c->in : c->out;
    if (!charset_room(c, (size_t)len * 2 + 16)) {
        return CHARSET_MEMORY;
    }
    size_t left = len, done = 0;
    char *from = NULL; /* iconv asks for one that it may write to, and does not */
    memcpy(&from, &s, sizeof(from));
    (void)iconv(with, NULL, NULL, NULL, NULL); /* each text for itself */
    bool is_over = false;
    while (!is_over) {
        char *to = c->text + done;
        size_t room = c->size - done;
        bool is_rest = left == 0; /* then what closes the text: a shift back */
        size_t rc =
            is_rest ? iconv(with, NULL, NULL, &to, &room) : iconv(with, &from, &left, &to, &room);
        done = (size_t)(to - c->text);
        bool is_short = rc == (size_t)-1 && errno == E2BIG;
        /* More than 0: characters were replaced, which would be a silent change. */
        if (!is_short && rc != 0) {
            return CHARSET_BAD;
        }
        if (is_short && !charset_room(c, c->size * 2)) {
            return CHARSET_MEMORY;
        }
        is_over = is_rest && !is_short;
    }
    *got = done;
    return CHARSET_OK;
}

const uint8_t *charset_newline(const struct charset *c, const uint8_t *from, size_t len)
{
    if (c->unit == 1) {
        return memchr(from, c->newline[0], len);
    }
    const uint8_t *at = from;
    for (;;) {
        size_t left = len - (size_t)(at - from);
        at = memmem(at, left, c->newline, c->unit);
        if (!at || (size_t)(at - from) % c->unit == 0) {
            return at;
        }
        at++;
    }
}
