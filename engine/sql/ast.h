/* Syntax trees of Flink SQL: what stands in a text, with its places; no types, no meaning.
 *
 * Every operator is an AST_CALL whose name is the one of engine/expr's table: "+", "AND", "IS NOT
 * NULL", "BETWEEN". Special forms become plain calls, so that they need no second reading:
 *
 *   NOT x LIKE y          NOT(LIKE(x, y))          CASE x WHEN a THEN b END  CASE(=(x, a), b, NULL)
 *   TRIM(BOTH y FROM x)   TRIM(x, y)                TRIM(LEADING y FROM x)     LTRIM(x, y)
 *   EXTRACT(DAY FROM x)   EXTRACT('DAY', x)         FLOOR(x TO DAY)            FLOOR(x, 'DAY')
 *   POSITION(a IN b)      POSITION(a, b)            SUBSTRING(x FROM a FOR b)  SUBSTRING(x, a, b)
 *   x BETWEEN SYMMETRIC a AND b                     BETWEEN SYMMETRIC(x, a, b)
 *   x > ALL (a, b)        >(x, ALL(a, b))
 *   a[1]                  ITEM(a, 1)                (a, b)                     ROW(a, b)
 *
 * Trees live in an arena, are immutable once parsed, and are at most AST_DEPTH_MAX deep, so that
 * walking one by recursion is bounded.
 */
#ifndef SR_SQL_AST_H
#define SR_SQL_AST_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/arena.h"

#define AST_DEPTH_MAX 400u /* nesting of a tree */

enum ast_kind {
    AST_NULL,     /* NULL and UNKNOWN */
    AST_BOOL,     /* name "TRUE" or "FALSE" */
    AST_NUMBER,   /* name: as written */
    AST_STRING,   /* name, len: without quotes */
    AST_BINARY,   /* name, len: the hex digits */
    AST_MOMENT,   /* unit "DATE", "TIME" or "TIMESTAMP"; name, len: the text */
    AST_INTERVAL, /* name, len: the text; unit, unit_to, digits; is_negative */
    AST_NAME,     /* item: AST_WORD parts of a.b.c */
    AST_WORD,     /* name */
    AST_STAR,     /* `*`, or `t.*` with item[0] the AST_NAME t */
    AST_CALL,     /* name in upper case; item: arguments; is_distinct, filter; COUNT(*): AST_STAR */
    AST_CAST,     /* item[0] AS item[1] (AST_TYPE); is_try */
    AST_TYPE,     /* name: as written */
    AST_ITEM,     /* of a SELECT: item[0] is an expression or AST_STAR; name: AS name, or NULL */
    AST_LIST,     /* item: anything */
    /* of a schema */
    AST_COLUMN, /* name, item[0] AST_TYPE; unit "METADATA" when it is one: item[1] its AST_STRING */
    AST_COMPUTED,  /* name AS item[0]; name is NULL when only `AS expr` stands there */
    AST_WATERMARK, /* WATERMARK FOR name AS item[0] */
    AST_KEY,       /* PRIMARY KEY: item: AST_WORD */
    /* of a query */
    AST_QUERY, /* item by enum ast_part; an absent part is NULL */
    AST_TABLE, /* name; item[0] AST_WORD alias, if any */
    AST_WINDOW /* a window function over a table: name "TUMBLE"; item: AST_TABLE, AST_NAME of the
                  time column, then its arguments; filter: AST_LIST of PARTITION BY, or NULL */
};

enum ast_part { AST_SELECT, AST_FROM, AST_WHERE, AST_GROUP_BY, AST_HAVING, AST_PARTS };

struct ast {
    enum ast_kind kind;
    uint32_t at, end;    /* bytes of the text: first, and behind the last */
    uint32_t depth;      /* 1 for a leaf */
    const char *name;    /* see enum ast_kind; ends with \0 */
    uint32_t len;        /* of name */
    const char *unit;    /* in upper case */
    const char *unit_to; /* INTERVAL ... unit TO unit_to; NULL: single */
    uint32_t digits;     /* of the first field of an INTERVAL */
    bool is_distinct, is_negative, is_try;
    uint32_t count;
    const struct ast *const *item;
    const struct ast *filter; /* FILTER (WHERE ...); NULL: none */
};

/* The same syntax, wherever it stands. */
bool ast_equal(const struct ast *a, const struct ast *b);
/* As an s-expression, for tests: (+ a (* 2 b)). */
const char *ast_text(struct arena *a, const struct ast *n);

#endif
