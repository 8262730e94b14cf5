#include "engine/sql/parse.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/sql/grammar.h"
#include "engine/sql/lex.h"

/* The grammar's face, as lemon makes it. */
void *SqlAlloc(void *(*get)(size_t));
void SqlFree(void *grammar, void (*release)(void *));
void Sql(void *grammar, int kind, struct token t, struct parser *p);

static const int parse_start[] = {
    [PARSE_EXPR] = TK_START_EXPR,           [PARSE_ITEM] = TK_START_ITEM,
    [PARSE_COLUMN] = TK_START_COLUMN,       [PARSE_SCHEMA] = TK_START_SCHEMA,
    [PARSE_WATERMARK] = TK_START_WATERMARK, [PARSE_QUERY] = TK_START_QUERY,
};

void parser_fail(struct parser *p, uint32_t at, const char *hint, const char *fmt, ...)
{
    if (p->has_failed) {
        return;
    }
    p->has_failed = true;
    p->fault->at = at < p->len ? at : p->len;
    p->fault->hint = hint;
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(p->fault->words, sizeof(p->fault->words), fmt, args);
    va_end(args);
}

/* Words that Flink knows and this grammar does not, so that the fault can say just that. */
static bool parse_is_for_later(const char *word, uint32_t len)
{
    static const char *const later[] = {
        "CROSS", "EXCEPT",          "EXISTS", "FETCH", "FULL",  "INNER",  "INTERSECT", "JOIN",
        "LIMIT", "MATCH_RECOGNIZE", "ORDER",  "OVER",  "UNION", "VALUES", "WINDOW",    "COLLATE",
    };
    for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
        if (strlen(later[i]) == len && strncasecmp(later[i], word, len) == 0) {
            return true;
        }
    }
    return false;
}

/* Kinds that are shown one by one; the rest is an expression, an operator, a type or a name. */
static const int parse_shown[] = {
    TK_RP,   TK_RBRACKET, TK_COMMA, TK_AS,       TK_FROM, TK_AND,     TK_WHEN,   TK_THEN,
    TK_ELSE, TK_END,      TK_IN,    TK_BY,       TK_NULL, TK_LP,      TK_STRING, TK_NUMBER,
    TK_KEY,  TK_GT,       TK_FOR,   TK_DISTINCT, TK_NOT,  TK_PLACING, TK_SELECT, TK_ENFORCED,
};

struct parse_expected {
    char text[120];
    uint32_t count;
};

static void parse_expect(struct parse_expected *e, const char *words, bool is_quoted)
{
    size_t used = strlen(e->text);
    if (!words || e->count >= 5) {
        return;
    }
    (void)snprintf(e->text + used, sizeof(e->text) - used, is_quoted ? "%s'%s'" : "%s%s",
                   e->count > 0 ? " or " : ", expected ", words);
    e->count++;
}

static struct parse_expected parse_list_expected(const bool *can)
{
    struct parse_expected e = {.count = 0};
    bool has_expr = can[TK_NUMBER] && can[TK_STRING], has_type = can[TK_TYPE] && can[TK_INTERVAL];
    bool has_operator = can[TK_PLUS] && !has_expr;
    if (has_expr) {
        parse_expect(&e, "an expression", false);
    } else if (has_type) {
        parse_expect(&e, "a type", false);
    } else if (can[TK_ID]) {
        parse_expect(&e, "a name", false);
    }
    if (has_operator || (can[TK_OR] && !has_expr)) {
        parse_expect(&e, "an operator", false);
    }
    for (size_t i = 0; i < sizeof(parse_shown) / sizeof(parse_shown[0]); i++) {
        int kind = parse_shown[i];
        bool is_operator = (kind == TK_AND && can[TK_OR]) || kind == TK_IN || kind == TK_GT;
        bool is_name = can[TK_ID] && (kind == TK_KEY || kind == TK_PLACING || kind == TK_ENFORCED);
        bool is_covered = is_name || (is_operator && can[TK_OR]) ||
                          (has_expr && (kind == TK_STRING || kind == TK_NUMBER || kind == TK_LP ||
                                        kind == TK_NULL || kind == TK_NOT));
        if (can[kind] && !is_covered && !(has_type && kind != TK_RP && kind != TK_AS)) {
            parse_expect(&e, lex_kind_words(kind), kind != TK_STRING && kind != TK_NUMBER);
        }
    }
    if (can[0]) {
        parse_expect(&e, "the end", false);
    }
    return e;
}

#define PARSE_HINT_RESERVED \
    "it is a reserved word: a column of that name needs backticks, `like this`"

/* Whether the word that ends at `end` begins a literal, DATE '...' say, and was meant as a
 * column. */
static bool parse_begins_literal(const struct parser *p, uint32_t end)
{
    static const char *const words[] = {"DATE", "TIME", "TIMESTAMP", "INTERVAL"};
    uint32_t from = end;
    while (from > 0 && (isalnum((unsigned char)p->text[from - 1]) || p->text[from - 1] == '_')) {
        from--;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strlen(words[i]) == end - from &&
            strncasecmp(words[i], p->text + from, end - from) == 0) {
            return true;
        }
    }
    return false;
}

/* WITH in front of a query, or a bracket where a table is named. */
static bool parse_begins_subquery(const char *word, uint32_t len, const bool *can)
{
    bool is_with = len == 4 && strncasecmp(word, "WITH", len) == 0;
    bool is_bracket = len == 1 && *word == '(';
    return (is_with && can[TK_SELECT]) || (is_bracket && can[TK_ID] && !can[TK_LP]);
}

void parser_unexpected(struct parser *p, int kind, struct token t, const bool *can)
{
    struct parse_expected e = parse_list_expected(can);
    const char *word = p->text + t.at;
    if (kind == 0) {
        const char *after = parse_begins_literal(p, p->behind) ? PARSE_HINT_RESERVED : NULL;
        parser_fail(p, p->behind, after, "the text ends too early%s", e.text);
        return;
    }
    const char *hint = NULL;
    bool is_word = lex_keyword(word, t.len) != 0;
    if (parse_begins_subquery(word, t.len, can)) {
        hint = "a query within another is a transform of its own here: name it in FROM";
    } else if (is_word && parse_is_for_later(word, t.len)) {
        hint = "Flink has this; streamrun does not have it yet";
    } else if (is_word && (can[TK_ID] || kind == TK_RESERVED)) {
        hint = PARSE_HINT_RESERVED;
    } else if (parse_begins_literal(p, p->behind)) {
        hint = "the word before it is a reserved one: a column of that name needs backticks, "
               "`like this`";
    }
    parser_fail(p, t.at, hint, "unexpected '%.*s'%s", (int)(t.len < 60 ? t.len : 60), word, e.text);
}

/* Feeds the scanner's tokens to the grammar until the end or the first failure. */
static void parse_feed(struct parser *p, void *grammar, enum parse_what what)
{
    uint32_t at = 0;
    int kind = -1;
    Sql(grammar, parse_start[what], p->last, p);
    do {
        struct token t = {0, 0};
        kind = lex_next(p, &at, &t);
        if (kind < 0) {
            return;
        }
        p->behind = p->last.at + p->last.len;
        p->last = t;
        Sql(grammar, kind, t, p);
    } while (kind != 0 && !p->has_failed);
}

sr_rc parse_sql(struct arena *a, enum parse_what what, const char *text, uint32_t len,
                const struct ast **out, struct parse_fault *fault)
{
    sr_assert(what <= PARSE_QUERY);
    struct parser p = {.arena = a, .text = text, .len = len, .fault = fault};
    if (len > PARSE_TEXT_MAX) {
        parser_fail(&p, 0, NULL, "this text has %u bytes, the limit is %u", len, PARSE_TEXT_MAX);
        return SR_ECONFIG;
    }
    void *grammar = SqlAlloc(malloc);
    if (!grammar) {
        parser_fail(&p, 0, NULL, "out of memory");
        return SR_ENOMEM;
    }
    parse_feed(&p, grammar, what);
    SqlFree(grammar, free);
    if (!p.has_failed && !p.root) {
        parser_fail(&p, 0, NULL, "out of memory");
    }
    if (p.has_failed) {
        return arena_is_broken(a) ? SR_ENOMEM : SR_ECONFIG;
    }
    *out = p.root;
    return SR_OK;
}
