/* What the scanner, the grammar and parse.c share while one text is parsed.
 *
 *   parse_sql --lex_next--> token --Sql (grammar.c, made from grammar.y)--> tree in p->root
 */
#ifndef SR_SQL_PARSER_H
#define SR_SQL_PARSER_H

#include "engine/sql/parse.h"

struct token {
    uint32_t at, len; /* bytes of the text */
};

struct parser {
    struct arena *arena;
    const char *text;
    uint32_t len;
    bool has_failed;
    struct parse_fault *fault; /* of the first failure */
    struct token last;         /* the token given to the grammar last: where a rule may end */
    uint32_t behind;           /* end of the token before it */
    const struct ast *root;
};

/* A list that grows while the grammar reads its items. */
struct ast_list {
    const struct ast **item;
    uint32_t count, capacity;
};

/* --- parse.c ---------------------------------------------------------------------------------- */

/* Only the first failure of a text is kept. */
void parser_fail(struct parser *p, uint32_t at, const char *hint, const char *fmt, ...)
    SR_PRINTF(4, 5);
/* Says what the grammar could have taken instead of the token: can[kind] is true for those. */
void parser_unexpected(struct parser *p, int kind, struct token t, const bool *can);

/* --- build.c: nodes of the tree --------------------------------------------------------------- */

struct ast *ast_leaf(struct parser *p, enum ast_kind kind, struct token t); /* name: as written */
struct ast *ast_word(struct parser *p, struct token t);                     /* without backticks */
struct ast *ast_upper(struct parser *p, enum ast_kind kind, struct token t);
struct ast *ast_string(struct parser *p, enum ast_kind kind, struct token t); /* '..' unquoted */
/* Of the first field of an INTERVAL, by what stands behind its unit; 2 when nothing does. */
uint32_t ast_precision(struct parser *p, struct token t);
struct ast *ast_moment(struct parser *p, struct token unit, struct token text);
struct ast *ast_unicode(struct parser *p, struct token t, struct token escape); /* U&'d!0061' */
/* (a, b) OVERLAPS (c, d), and (a - b) DAY. */
struct ast *ast_overlaps(struct parser *p, const struct ast *a, const struct ast *b);
struct ast *ast_between(struct parser *p, const struct ast *x, struct token unit);
struct ast *ast_word_text(struct parser *p, struct token t);                /* a name, as a text */
struct ast *ast_words(struct parser *p, struct token t, const char *words); /* a text of ours */
/* Options of JSON functions: NULL ON EMPTY and its relatives, then the call with all of them. */
struct ast *ast_instead(struct parser *p, struct token t, const char *words, const char *which,
                        const struct ast *value);
struct ast *ast_json(struct parser *p, const char *name, const struct ast *json,
                     const struct ast *path, const struct ast *type,
                     const struct ast_list *behaviors, const char *wrapper);
struct ast_list *ast_join(struct parser *p, struct ast_list *l, const struct ast_list *more);
struct ast *ast_of(struct parser *p, enum ast_kind kind, const struct ast_list *items);
struct ast *ast_of1(struct parser *p, enum ast_kind kind, const struct ast *item);
struct ast *ast_of2(struct parser *p, enum ast_kind kind, const struct ast *a, const struct ast *b);
struct ast *ast_call(struct parser *p, const char *name, const struct ast_list *args);
struct ast *ast_call1(struct parser *p, const char *name, const struct ast *a);
struct ast *ast_call2(struct parser *p, const char *name, const struct ast *a, const struct ast *b);
struct ast *ast_call3(struct parser *p, const char *name, const struct ast *a, const struct ast *b,
                      const struct ast *c);
/* x IS NULL: ends with token t. */
struct ast *ast_postfix(struct parser *p, const char *name, const struct ast *x, struct token t);
struct ast *ast_case(struct parser *p, const struct ast *subject, const struct ast_list *branches,
                     const struct ast *otherwise);
struct ast *ast_negate(struct parser *p, const struct ast *n); /* -n; a number takes the sign */
/* A type that begins at `at` and ends before the token that the grammar looks at. */
struct ast *ast_type(struct parser *p, uint32_t at);
struct ast *ast_extend(struct parser *p, const struct ast *n,
                       const struct ast *item); /* n + item */
/* Each changes n (NULL allowed) and answers it. */
struct ast *ast_span(struct ast *n, uint32_t at, uint32_t end); /* its place; end 0: kept */
/* A column is METADATA; unit_to says whether it is VIRTUAL. NULL allowed. */
void ast_metadata(struct ast *n, bool is_virtual);
struct ast *ast_named(struct parser *p, struct token name, struct ast *n); /* begins at the name */
struct ast *ast_alias(struct parser *p, struct ast *n, struct token name);
/* F(TABLE t [PARTITION BY p], DESCRIPTOR(args[0]), args[1]...), up to the bracket `end`. */
struct ast *ast_window(struct parser *p, struct token f, struct token table, struct ast_list *args,
                       const struct ast *partition, struct token end);
/* Gives the table of a window function its alias (NULL: none), which stands behind the function. */
struct ast *ast_window_alias(struct parser *p, struct ast *window, const struct ast *alias);
const char *ast_copy_upper(struct parser *p, struct token t);

struct ast_list *ast_list(struct parser *p, const struct ast *first); /* first may be NULL */
struct ast_list *ast_push(struct parser *p, struct ast_list *l, const struct ast *n);
struct ast_list *ast_prepend(struct parser *p, struct ast_list *l, const struct ast *n);

#endif
