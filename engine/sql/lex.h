/* The scanner: bytes of SQL to the grammar's tokens.
 *
 * It knows which words Flink reserves. A reserved word in front of `(` is a function's name (UPPER,
 * COUNT); anywhere else it is no name, and the grammar refuses it.
 */
#ifndef SR_SQL_LEX_H
#define SR_SQL_LEX_H

#include "engine/sql/parser.h"

/* The next token's TK_ number; 0 at the end; -1 after a failure, see p->fault. *at moves. */
int lex_next(struct parser *p, uint32_t *at, struct token *out);
/* A token kind for people: "')'", "AND", "a name". */
const char *lex_kind_words(int kind);
/* TK_ number of a word; 0: no keyword and not reserved. TK_RESERVED: reserved, no use in here. */
int lex_keyword(const char *word, uint32_t len);

#endif
