#include "engine/sql/lex.h"

#include <stdlib.h>
#include <string.h>

#include "engine/sql/grammar.h"

#define LEX_WORD_MAX 40u /* longer words are no keywords */

struct lex_word {
    const char *word;
    int kind;
};

/* Words with a use in the grammar, and words that Flink reserves (TK_RESERVED); sorted. */
static const struct lex_word lex_words[] = {
#define R(word)       {#word, TK_RESERVED},
#define K(word)       {#word, TK_##word},
#define A(word, kind) {#word, TK_##kind},
#include "engine/sql/words.h"
#undef R
#undef K
#undef A
};

static bool lex_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

static bool lex_is_digit(char c) { return c >= '0' && c <= '9'; }

static bool lex_is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || lex_is_digit(c) || c == '_' ||
           c == '$' || (unsigned char)c >= 0x80;
}

static int lex_compare(const void *key, const void *item)
{
    return strcmp(key, ((const struct lex_word *)item)->word);
}

int lex_keyword(const char *word, uint32_t len)
{
    char upper[LEX_WORD_MAX + 1];
    if (len > LEX_WORD_MAX) {
        return 0;
    }
    for (uint32_t i = 0; i < len; i++) {
        upper[i] = (char)(word[i] >= 'a' && word[i] <= 'z' ? word[i] - 'a' + 'A' : word[i]);
    }
    upper[len] = '\0';
    const struct lex_word *w = bsearch(upper, lex_words, sizeof(lex_words) / sizeof(lex_words[0]),
                                       sizeof(lex_words[0]), lex_compare);
    return w ? w->kind : 0;
}

/* The first byte behind white space and comments, or UINT32_MAX after a failure. */
static uint32_t lex_skip(struct parser *p, uint32_t at)
{
    const char *s = p->text;
    while (at < p->len) {
        if (lex_is_space(s[at])) {
            at++;
        } else if (at + 1 < p->len && s[at] == '-' && s[at + 1] == '-') {
            while (at < p->len && s[at] != '\n') {
                at++;
            }
        } else if (at + 1 < p->len && s[at] == '/' && s[at + 1] == '*') {
            const char *end = memmem(s + at + 2, p->len - at - 2, "*/", 2);
            if (!end) {
                parser_fail(p, at, "end it with */", "this comment is not closed");
                return UINT32_MAX;
            }
            at = (uint32_t)(end - s) + 2;
        } else {
            break;
        }
    }
    return at;
}

/* Length of a quoted piece that begins at `at` with its quote; 0 after a failure. */
static uint32_t lex_quoted(struct parser *p, uint32_t at)
{
    char quote = p->text[at];
    for (uint32_t i = at + 1; i < p->len; i++) {
        if (p->text[i] != quote) {
            continue;
        }
        if (i + 1 < p->len && p->text[i + 1] == quote) {
            i++;
            continue;
        }
        return i + 1 - at;
    }
    parser_fail(p, at, quote == '\'' ? "a quote inside a text is written twice: 'it''s'" : NULL,
                quote == '\'' ? "this text is not closed" : "this name is not closed");
    return 0;
}

static uint32_t lex_digits(const struct parser *p, uint32_t at)
{
    while (at < p->len && lex_is_digit(p->text[at])) {
        at++;
    }
    return at;
}

/* 12, 1.5, .5, 1., 1e3, 1.5E-3 */
static int lex_number(struct parser *p, uint32_t at, struct token *out)
{
    uint32_t i = lex_digits(p, at);
    if (i < p->len && p->text[i] == '.') {
        i = lex_digits(p, i + 1);
    }
    if (i < p->len && (p->text[i] == 'e' || p->text[i] == 'E')) {
        uint32_t e = i + 1;
        if (e < p->len && (p->text[e] == '+' || p->text[e] == '-')) {
            e++;
        }
        uint32_t end = lex_digits(p, e);
        i = end > e ? end : i;
    }
    if (i < p->len && lex_is_word(p->text[i])) {
        uint32_t end = i;
        while (end < p->len && lex_is_word(p->text[end])) {
            end++;
        }
        parser_fail(p, at, "put a name that begins with a digit into backticks",
                    "'%.*s' is neither a number nor a name", (int)(end - at < 60 ? end - at : 60),
                    p->text + at);
        return -1;
    }
    *out = (struct token){at, i - at};
    return TK_NUMBER;
}

static bool lex_is_before(struct parser *p, uint32_t at, const char *chars)
{
    uint32_t next = lex_skip(p, at);
    return next < p->len && p->text[next] != '\0' && strchr(chars, p->text[next]) != NULL;
}

/* NOT in front of BETWEEN, IN, LIKE, SIMILAR belongs to them. */
static bool lex_is_infix_not(struct parser *p, uint32_t at)
{
    uint32_t from = lex_skip(p, at), to = from;
    while (to < p->len && lex_is_word(p->text[to])) {
        to++;
    }
    int kind = from < p->len ? lex_keyword(p->text + from, to - from) : 0;
    return kind == TK_BETWEEN || kind == TK_IN || kind == TK_LIKE || kind == TK_SIMILAR;
}

static int lex_word(struct parser *p, uint32_t at, struct token *out)
{
    uint32_t end = at;
    while (end < p->len && lex_is_word(p->text[end])) {
        end++;
    }
    if (p->text[at] == '_' && end < p->len && p->text[end] == '\'') { /* _UTF16'...' */
        uint32_t len = lex_quoted(p, end);
        *out = (struct token){at, end - at + len};
        return len > 0 ? TK_STRING : -1;
    }
    *out = (struct token){at, end - at};
    int kind = lex_keyword(p->text + at, end - at);
    switch (kind) {
    case 0:
        return TK_ID;
    case TK_RESERVED:
        return lex_is_before(p, end, "(") ? TK_FUNCTION : TK_RESERVED;
    case TK_MAP: /* not reserved: MAP['a', 1] and MAP<STRING, INT> only */
        return lex_is_before(p, end, "[<") ? TK_MAP : TK_ID;
    case TK_TRY_CAST:
        return lex_is_before(p, end, "(") ? TK_TRY_CAST : TK_ID;
    case TK_NOT:
        return lex_is_infix_not(p, end) ? TK_NOT_INFIX : TK_NOT;
    default:
        return kind;
    }
}

static bool lex_is_prefix(char c) { return c == 'x' || c == 'X' || c == 'n' || c == 'N'; }

/* x'00ff' is binary; N'...' is a text: all text is Unicode here. */
static int lex_prefixed(struct parser *p, uint32_t at, struct token *out)
{
    uint32_t len = lex_quoted(p, at + 1);
    *out = (struct token){at, len + 1};
    if (len == 0) {
        return -1;
    }
    return p->text[at] == 'x' || p->text[at] == 'X' ? TK_BINARY : TK_STRING;
}

/* U&'d\0061t' */
static bool lex_is_unicode(const struct parser *p, uint32_t at)
{
    return p->len - at > 2 && (p->text[at] == 'u' || p->text[at] == 'U') &&
           p->text[at + 1] == '&' && p->text[at + 2] == '\'';
}

static int lex_unicode(struct parser *p, uint32_t at, struct token *out)
{
    uint32_t len = lex_quoted(p, at + 2);
    *out = (struct token){at, len + 2};
    return len > 0 ? TK_USTRING : -1;
}

static int lex_text(struct parser *p, uint32_t at, struct token *out)
{
    *out = (struct token){at, lex_quoted(p, at)};
    if (out->len == 0) {
        return -1;
    }
    return p->text[at] == '\'' ? TK_STRING : TK_ID;
}

struct lex_sign {
    char text[3];
    int kind;
};

/* Longer ones first. */
static const struct lex_sign lex_signs[] = {
    {"<>", TK_NE},      {"<=", TK_LE},     {">=", TK_GE},  {"||", TK_CONCAT}, {"<", TK_LT},
    {">", TK_GT},       {"=", TK_EQ},      {"+", TK_PLUS}, {"-", TK_MINUS},   {"*", TK_STAR},
    {"/", TK_SLASH},    {"%", TK_PERCENT}, {"(", TK_LP},   {")", TK_RP},      {"[", TK_LBRACKET},
    {"]", TK_RBRACKET}, {",", TK_COMMA},   {".", TK_DOT},  {":", TK_COLON},   {";", TK_SEMICOLON},
};

static int lex_sign(struct parser *p, uint32_t at, struct token *out)
{
    for (size_t i = 0; i < sizeof(lex_signs) / sizeof(lex_signs[0]); i++) {
        uint32_t len = (uint32_t)strlen(lex_signs[i].text);
        if (p->len - at >= len && memcmp(p->text + at, lex_signs[i].text, len) == 0) {
            *out = (struct token){at, len};
            return lex_signs[i].kind;
        }
    }
    unsigned char c = (unsigned char)p->text[at];
    if (c == '!' && at + 1 < p->len && p->text[at + 1] == '=') {
        parser_fail(p, at, "write <>", "!= is not allowed in Flink SQL");
    } else if (c == '"') {
        parser_fail(p, at, "text stands in single quotes, a name in backticks",
                    "double quotes have no meaning in Flink SQL");
    } else if (c > ' ' && c < 0x7f) {
        parser_fail(p, at, NULL, "'%c' has no meaning here", c);
    } else {
        parser_fail(p, at, NULL, "byte 0x%02x has no meaning here", c);
    }
    return -1;
}

int lex_next(struct parser *p, uint32_t *at, struct token *out)
{
    uint32_t i = lex_skip(p, *at);
    int kind = -1;
    if (i == UINT32_MAX) {
        return -1;
    }
    if (i >= p->len) {
        *out = (struct token){p->len, 0};
        return 0;
    }
    char c = p->text[i], next = '\0';
    if (i + 1 < p->len) {
        next = p->text[i + 1];
    }
    if (c == '\'' || c == '`') {
        kind = lex_text(p, i, out);
    } else if (lex_is_unicode(p, i)) {
        kind = lex_unicode(p, i, out);
    } else if (next == '\'' && lex_is_prefix(c)) {
        kind = lex_prefixed(p, i, out);
    } else if (lex_is_digit(c) || (c == '.' && lex_is_digit(next))) {
        kind = lex_number(p, i, out);
    } else if (lex_is_word(c)) {
        kind = lex_word(p, i, out);
    } else {
        kind = lex_sign(p, i, out);
    }
    *at = kind < 0 ? i : out->at + out->len;
    return kind;
}

const char *lex_kind_words(int kind)
{
    static const char *const more[][2] = {{"NUMBER", "a number"}, {"STRING", "a text"}};
    for (size_t i = 0; i < sizeof(lex_signs) / sizeof(lex_signs[0]); i++) {
        if (lex_signs[i].kind == kind) {
            return lex_signs[i].text;
        }
    }
    for (size_t i = 0; i < sizeof(lex_words) / sizeof(lex_words[0]); i++) {
        if (lex_words[i].kind == kind && kind != TK_RESERVED) {
            return lex_words[i].word;
        }
    }
    return kind == TK_NUMBER ? more[0][1] : kind == TK_STRING ? more[1][1] : NULL;
}
