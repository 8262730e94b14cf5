/* From a text of Flink SQL to its syntax tree, or the first fault in it.
 *
 * One grammar (grammar.y) serves every place where a job file has SQL. A fault names the token that
 * does not fit, what was expected, and, where a reserved word stands for a name, the backticks that
 * help.
 */
#ifndef SR_SQL_PARSE_H
#define SR_SQL_PARSE_H

#include <streamrun/error.h>

#include "engine/sql/ast.h"

#define PARSE_TEXT_MAX (1u << 20) /* bytes of one text */

enum parse_what {
    PARSE_EXPR,      /* size > 10 */
    PARSE_ITEM,      /* an AST_ITEM: COUNT(*) AS n, `*`, t.* */
    PARSE_COLUMN,    /* what stands behind a column's name: BIGINT, AS a * 2 */
    PARSE_SCHEMA,    /* an AST_LIST: as between the brackets of CREATE TABLE */
    PARSE_WATERMARK, /* an AST_WATERMARK: ts AS ts - INTERVAL '5' SECOND */
    PARSE_QUERY      /* an AST_QUERY: SELECT ... FROM ... */
};

struct parse_fault {
    uint32_t at;      /* byte of the text */
    char words[200];  /* "unexpected ')', expected an expression" */
    const char *hint; /* constant; NULL: none */
};

/* SR_ECONFIG: see fault. SR_ENOMEM: fault has words too. */
sr_rc parse_sql(struct arena *a, enum parse_what what, const char *text, uint32_t len,
                const struct ast **out, struct parse_fault *fault);

#endif
