/* The one grammar of Flink SQL here: expressions, select items, schemas, watermarks, queries.
 *
 * A leading START_ token says which of them is asked for. Precedence is Calcite's: OR, AND, NOT,
 * IS, comparison, then (value) BETWEEN IN LIKE, + -, * / % ||, sign. Operands of BETWEEN, LIKE and
 * POSITION are values (no bare predicates), which keeps AND and IN in there unambiguous. NOT in
 * front of BETWEEN, IN, LIKE, SIMILAR is a token of its own (NOT_INFIX), made by the scanner.
 */
%name Sql
%token_prefix TK_
%token_type {struct token}
%extra_argument {struct parser *p}
%stack_size 1200
%stack_overflow { parser_fail(p, p->last.at, NULL, "nested too deeply"); }
%parse_failure { p->has_failed = true; }

%include {
#include "engine/sql/lex.h"
#include "engine/sql/parser.h"
}

%syntax_error {
    bool can[YYNTOKEN] = {false};
    for (YYCODETYPE k = 1; k < YYNTOKEN; k++) {
        can[k] = yy_find_shift_action(k, yypParser->yytos->stateno) != YY_ERROR_ACTION;
    }
    parser_unexpected(p, yymajor, yyminor, can);
}

%token START_EXPR START_ITEM START_COLUMN START_SCHEMA START_WATERMARK START_QUERY.
%token RESERVED.

%fallback ID WATERMARK METADATA VIRTUAL COMMENT ENFORCED KEY ZONE DESCRIPTOR PLACING
  ABSENT CONDITIONAL ERROR JSON OBJECT RETURNING SCALAR UNCONDITIONAL WRAPPER.

%left OR.
%nonassoc TO.
%left AND.
%right NOT.
%left IS.
%left EQ NE LT LE GT GE.
%nonassoc NOT_INFIX BETWEEN IN LIKE SIMILAR OVERLAPS.
%left PLUS MINUS.
%left STAR SLASH PERCENT CONCAT.
%right SIGN.
%left LBRACKET DOT.

%type expr {struct ast *}
%type val {struct ast *}
%type name {struct ast *}
%type call {struct ast *}
%type exprs {struct ast_list *}
%type args {struct ast_list *}
%type arg {struct ast *}
%type literal {struct ast *}
%type branches {struct ast_list *}
%type otherwise {struct ast *}
%type filter {struct ast *}
%type returning {struct ast *}
%type behavior {struct ast *}
%type behaviors {struct ast_list *}
%type pair {struct ast_list *}
%type pairs {struct ast_list *}
%type which {const char *}
%type wrapper {const char *}
%type on_null {const char *}
%type json_kind {const char *}
%type fname {struct token}
%type unit {struct token}
%type unit_to {struct token}
%type precision {struct token}
%type sign {int}
%type distinct {int}
%type item {struct ast *}
%type items {struct ast_list *}
%type type {struct ast *}
%type tname {struct token}
%type column {struct ast *}
%type columns {struct ast_list *}
%type words {struct ast_list *}
%type query {struct ast *}
%type table {struct ast *}
%type source {struct ast *}
%type window {struct ast *}
%type alias {struct ast *}
%type names {struct ast_list *}
%type where {struct ast *}
%type group {struct ast *}
%type having {struct ast *}

start ::= START_EXPR expr(A).                  { p->root = A; }
start ::= START_ITEM item(A).                  { p->root = A; }
start ::= START_COLUMN type(T) column_options. {
    p->root = ast_of1(p, AST_COLUMN, T);
}
start ::= START_COLUMN type(T) METADATA virtual(V) comment. {
    struct ast *n = ast_of1(p, AST_COLUMN, T);
    ast_metadata(n, V);
    p->root = n;
}
start ::= START_COLUMN type(T) METADATA FROM STRING(S) virtual(V) comment. {
    struct ast *n = ast_of2(p, AST_COLUMN, T, ast_string(p, AST_STRING, S));
    ast_metadata(n, V);
    p->root = n;
}
start ::= START_COLUMN AS expr(E) comment.     { p->root = ast_of1(p, AST_COMPUTED, E); }
start ::= START_SCHEMA columns(A).             { p->root = ast_of(p, AST_LIST, A); }
start ::= START_WATERMARK ID(N) AS expr(E). {
    struct ast *n = ast_of1(p, AST_WATERMARK, E), *w = ast_word(p, N);
    if (n && w) { n->name = w->name; n->len = w->len; n->at = w->at; }
    p->root = n;
}
start ::= START_QUERY query(A) semicolon.      { p->root = A; }

semicolon ::= .
semicolon ::= SEMICOLON.

/* --- Predicates ------------------------------------------------------------------------------- */

expr(A) ::= val(X).                            { A = X; }
expr(A) ::= expr(X) OR expr(Y).                { A = ast_call2(p, "OR", X, Y); }
expr(A) ::= expr(X) AND expr(Y).               { A = ast_call2(p, "AND", X, Y); }
expr(A) ::= NOT(T) expr(X).                    { A = ast_span(ast_call1(p, "NOT", X), T.at, 0); }
expr(A) ::= expr(X) EQ expr(Y).                { A = ast_call2(p, "=", X, Y); }
expr(A) ::= expr(X) NE expr(Y).                { A = ast_call2(p, "<>", X, Y); }
expr(A) ::= expr(X) LT expr(Y).                { A = ast_call2(p, "<", X, Y); }
expr(A) ::= expr(X) LE expr(Y).                { A = ast_call2(p, "<=", X, Y); }
expr(A) ::= expr(X) GT expr(Y).                { A = ast_call2(p, ">", X, Y); }
expr(A) ::= expr(X) GE expr(Y).                { A = ast_call2(p, ">=", X, Y); }

expr(A) ::= expr(X) EQ ALL LP exprs(L) RP(T). {
    A = ast_span(ast_call2(p, "=", X, ast_call(p, "ALL", L)), X ? X->at : 0, T.at + 1);
}
expr(A) ::= expr(X) NE ALL LP exprs(L) RP(T). {
    A = ast_span(ast_call2(p, "<>", X, ast_call(p, "ALL", L)), X ? X->at : 0, T.at + 1);
}
expr(A) ::= expr(X) LT ALL LP exprs(L) RP(T). {
    A = ast_span(ast_call2(p, "<", X, ast_call(p, "ALL", L)), X ? X->at : 0, T.at + 1);
}
expr(A) ::= expr(X) LE ALL LP exprs(L) RP(T). {
    A = ast_span(ast_call2(p, "<=", X, ast_call(p, "ALL", L)), X ? X->at : 0, T.at + 1);
}
expr(A) ::= expr(X) GT ALL LP exprs(L) RP(T). {
    A = ast_span(ast_call2(p, ">", X, ast_call(p, "ALL", L)), X ? X->at : 0, T.at + 1);
}
expr(A) ::= expr(X) GE ALL LP exprs(L) RP(T). {
    A = ast_span(ast_call2(p, ">=", X, ast_call(p, "ALL", L)), X ? X->at : 0, T.at + 1);
}

expr(A) ::= expr(X) IS NULL(T).                { A = ast_postfix(p, "IS NULL", X, T); }
expr(A) ::= expr(X) IS NOT NULL(T).            { A = ast_postfix(p, "IS NOT NULL", X, T); }
expr(A) ::= expr(X) IS TRUE(T).                { A = ast_postfix(p, "IS TRUE", X, T); }
expr(A) ::= expr(X) IS NOT TRUE(T).            { A = ast_postfix(p, "IS NOT TRUE", X, T); }
expr(A) ::= expr(X) IS FALSE(T).               { A = ast_postfix(p, "IS FALSE", X, T); }
expr(A) ::= expr(X) IS NOT FALSE(T).           { A = ast_postfix(p, "IS NOT FALSE", X, T); }
expr(A) ::= expr(X) IS UNKNOWN(T).             { A = ast_postfix(p, "IS UNKNOWN", X, T); }
expr(A) ::= expr(X) IS NOT UNKNOWN(T).         { A = ast_postfix(p, "IS NOT UNKNOWN", X, T); }
expr(A) ::= expr(X) IS DISTINCT FROM expr(Y). [EQ] {
    A = ast_call2(p, "IS DISTINCT FROM", X, Y);
}
expr(A) ::= expr(X) IS JSON(T) json_kind(K). {
    A = ast_postfix(p, K, X, T);
}
expr(A) ::= expr(X) IS NOT JSON(T) json_kind(K). {
    A = ast_call1(p, "NOT", ast_postfix(p, K, X, T));
}
json_kind(A) ::= .                             { A = "IS JSON"; }
json_kind(A) ::= VALUE.                        { A = "IS JSON"; }
json_kind(A) ::= SCALAR.                       { A = "IS JSON SCALAR"; }
json_kind(A) ::= ARRAY.                        { A = "IS JSON ARRAY"; }
json_kind(A) ::= OBJECT.                       { A = "IS JSON OBJECT"; }
expr(A) ::= expr(X) IS NOT DISTINCT FROM expr(Y). [EQ] {
    A = ast_call2(p, "IS NOT DISTINCT FROM", X, Y);
}

expr(A) ::= expr(X) IN LP exprs(L) RP(T). {
    A = ast_call(p, "IN", ast_prepend(p, L, X));
    ast_span(A, X ? X->at : 0, T.at + 1);
}
expr(A) ::= expr(X) NOT_INFIX IN LP exprs(L) RP(T). [IN] {
    A = ast_span(ast_call(p, "IN", ast_prepend(p, L, X)), X ? X->at : 0, T.at + 1);
    A = ast_call1(p, "NOT", A);
}
expr(A) ::= expr(X) BETWEEN asymmetric val(Y) AND val(Z). [BETWEEN] {
    A = ast_call3(p, "BETWEEN", X, Y, Z);
}
expr(A) ::= expr(X) NOT_INFIX BETWEEN asymmetric val(Y) AND val(Z). [BETWEEN] {
    A = ast_call1(p, "NOT", ast_call3(p, "BETWEEN", X, Y, Z));
}
expr(A) ::= expr(X) BETWEEN SYMMETRIC val(Y) AND val(Z). [BETWEEN] {
    A = ast_call3(p, "BETWEEN SYMMETRIC", X, Y, Z);
}
expr(A) ::= expr(X) NOT_INFIX BETWEEN SYMMETRIC val(Y) AND val(Z). [BETWEEN] {
    A = ast_call1(p, "NOT", ast_call3(p, "BETWEEN SYMMETRIC", X, Y, Z));
}
asymmetric ::= .
asymmetric ::= ASYMMETRIC.
expr(A) ::= expr(X) LIKE val(Y). [LIKE]                          { A = ast_call2(p, "LIKE", X, Y); }
expr(A) ::= expr(X) NOT_INFIX LIKE val(Y). [LIKE] {
    A = ast_call1(p, "NOT", ast_call2(p, "LIKE", X, Y));
}
expr(A) ::= expr(X) LIKE val(Y) ESCAPE val(Z). [LIKE] {
    A = ast_call3(p, "LIKE", X, Y, Z);
}
expr(A) ::= expr(X) NOT_INFIX LIKE val(Y) ESCAPE val(Z). [LIKE] {
    A = ast_call1(p, "NOT", ast_call3(p, "LIKE", X, Y, Z));
}
expr(A) ::= expr(X) OVERLAPS val(Y).           { A = ast_overlaps(p, X, Y); }
expr(A) ::= expr(X) SIMILAR TO val(Y). [LIKE] {
    A = ast_call2(p, "SIMILAR TO", X, Y);
}
expr(A) ::= expr(X) NOT_INFIX SIMILAR TO val(Y). [LIKE] {
    A = ast_call1(p, "NOT", ast_call2(p, "SIMILAR TO", X, Y));
}
expr(A) ::= expr(X) SIMILAR TO val(Y) ESCAPE val(Z). [LIKE] {
    A = ast_call3(p, "SIMILAR TO", X, Y, Z);
}
expr(A) ::= expr(X) NOT_INFIX SIMILAR TO val(Y) ESCAPE val(Z). [LIKE] {
    A = ast_call1(p, "NOT", ast_call3(p, "SIMILAR TO", X, Y, Z));
}

/* --- Values ----------------------------------------------------------------------------------- */

val(A) ::= val(X) PLUS val(Y).                 { A = ast_call2(p, "+", X, Y); }
val(A) ::= val(X) MINUS val(Y).                { A = ast_call2(p, "-", X, Y); }
val(A) ::= val(X) STAR val(Y).                 { A = ast_call2(p, "*", X, Y); }
val(A) ::= val(X) SLASH val(Y).                { A = ast_call2(p, "/", X, Y); }
val(A) ::= val(X) PERCENT val(Y).              { A = ast_call2(p, "%", X, Y); }
val(A) ::= val(X) CONCAT val(Y).               { A = ast_call2(p, "||", X, Y); }
val(A) ::= MINUS(T) val(X). [SIGN]             { A = ast_span(ast_negate(p, X), T.at, 0); }
val(A) ::= PLUS val(X). [SIGN]                 { A = X; }
val(A) ::= LP expr(X) RP.                      { A = X; }
val(A) ::= LP(T) expr(X) RP UNIT(U) precision unit_to(V). {
    A = ast_span(ast_between(p, X, U), T.at, V.len ? V.at + V.len : U.at + U.len);
}
val(A) ::= LP(T) expr(X) COMMA exprs(L) RP(U). {
    A = ast_span(ast_call(p, "ROW", ast_prepend(p, L, X)), T.at, U.at + 1);
}
val(A) ::= literal(X).                         { A = X; }
val(A) ::= name(X). [SIGN]                     { A = X; }
val(A) ::= val(X) DOT ID(T). {
    A = ast_span(ast_call2(p, ".", X, ast_word_text(p, T)), X ? X->at : 0, T.at + T.len);
}
val(A) ::= call(X).                            { A = X; }
val(A) ::= val(X) LBRACKET expr(Y) RBRACKET(T). {
    A = ast_span(ast_call2(p, "ITEM", X, Y), X ? X->at : 0, T.at + 1);
}

name(A) ::= ID(T).                             { A = ast_of1(p, AST_NAME, ast_word(p, T)); }
name(A) ::= name(X) DOT ID(T).                 { A = ast_extend(p, X, ast_word(p, T)); }

literal(A) ::= NUMBER(T).                      { A = ast_leaf(p, AST_NUMBER, T); }
literal(A) ::= STRING(T).                      { A = ast_string(p, AST_STRING, T); }
literal(A) ::= BINARY(T).                      { A = ast_string(p, AST_BINARY, T); }
literal(A) ::= NULL(T).                        { A = ast_leaf(p, AST_NULL, T); }
literal(A) ::= USTRING(T).                     { A = ast_unicode(p, T, (struct token){0, 0}); }
literal(A) ::= USTRING(T) UESCAPE STRING(E).   { A = ast_span(ast_unicode(p, T, E), T.at, E.at + E.len); }
literal(A) ::= UNKNOWN(T). {
    A = ast_leaf(p, AST_NULL, T);
    if (A) A->unit = "BOOLEAN";
}
literal(A) ::= TRUE(T).                        { A = ast_upper(p, AST_BOOL, T); }
literal(A) ::= FALSE(T).                       { A = ast_upper(p, AST_BOOL, T); }
literal(A) ::= DATE(U) STRING(T).              { A = ast_moment(p, U, T); }
literal(A) ::= TIME(U) STRING(T).              { A = ast_moment(p, U, T); }
literal(A) ::= TIMESTAMP(U) STRING(T).         { A = ast_moment(p, U, T); }
literal(A) ::= INTERVAL(I) sign(S) STRING(T) unit(U) precision(D) unit_to(V). {
    A = ast_span(ast_string(p, AST_INTERVAL, T), I.at, V.len ? V.at + V.len : U.at + U.len);
    if (A) {
        A->is_negative = S;
        A->digits = ast_precision(p, D);
        A->unit = ast_copy_upper(p, U);
        A->unit_to = V.len ? ast_copy_upper(p, V) : NULL;
    }
}
sign(A) ::= .                                  { A = 0; }
sign(A) ::= PLUS.                              { A = 0; }
sign(A) ::= MINUS.                             { A = 1; }
unit(A) ::= UNIT(T).                           { A = T; }
unit(A) ::= ID(T).                             { A = T; }
unit_to(A) ::= . [OR]                          { A = (struct token){0, 0}; }
unit_to(A) ::= TO unit(U) precision.           { A = U; }
precision(A) ::= .                             { A = (struct token){0, 0}; }
precision(A) ::= LP NUMBER(T) RP.              { A = T; }
precision(A) ::= LP NUMBER(T) COMMA NUMBER RP. { A = T; }

/* --- Calls ------------------------------------------------------------------------------------ */

fname(A) ::= ID(T).                            { A = T; }
fname(A) ::= FUNCTION(T).                      { A = T; }
fname(A) ::= UNIT(T).                          { A = T; }
fname(A) ::= ROW(T).                           { A = T; }
fname(A) ::= DATE(T).                          { A = T; }

call(A) ::= fname(F) LP RP(T). {
    A = ast_span(ast_call(p, ast_copy_upper(p, F), NULL), F.at, T.at + 1);
}
call(A) ::= fname(F) LP distinct(D) args(L) RP(T) filter(W). {
    A = ast_span(ast_call(p, ast_copy_upper(p, F), L), F.at, T.at + 1);
    if (A) {
        A->is_distinct = D;
        A->filter = W;
    }
}
call(A) ::= fname(F) LP STAR(S) RP(T) filter(W). {
    A = ast_call(p, ast_copy_upper(p, F), ast_list(p, ast_leaf(p, AST_STAR, S)));
    A = ast_span(A, F.at, T.at + 1);
    if (A) A->filter = W;
}
distinct(A) ::= .                              { A = 0; }
distinct(A) ::= ALL.                           { A = 0; }
distinct(A) ::= DISTINCT.                      { A = 1; }
filter(A) ::= .                                { A = NULL; }
filter(A) ::= FILTER LP WHERE expr(X) RP.      { A = X; }
exprs(A) ::= expr(X).                          { A = ast_list(p, X); }
exprs(A) ::= exprs(L) COMMA expr(X).           { A = ast_push(p, L, X); }
args(A) ::= arg(X).                            { A = ast_list(p, X); }
args(A) ::= args(L) COMMA arg(X).              { A = ast_push(p, L, X); }
arg(A) ::= expr(X).                            { A = X; }
arg(A) ::= UNIT(T).                            { A = ast_upper(p, AST_STRING, T); }

call(A) ::= NILADIC(T). {
    A = ast_span(ast_call(p, ast_copy_upper(p, T), NULL), T.at, T.at + T.len);
}
call(A) ::= CAST(F) LP expr(X) AS type(T) RP(U). {
    A = ast_span(ast_of2(p, AST_CAST, X, T), F.at, U.at + 1);
}
call(A) ::= TRY_CAST(F) LP expr(X) AS type(T) RP(U). {
    A = ast_span(ast_of2(p, AST_CAST, X, T), F.at, U.at + 1);
    if (A) A->is_try = true;
}
call(A) ::= CASE(F) branches(L) otherwise(E) END(U). {
    A = ast_span(ast_case(p, NULL, L, E), F.at, U.at + 3);
}
call(A) ::= CASE(F) expr(X) branches(L) otherwise(E) END(U). {
    A = ast_span(ast_case(p, X, L, E), F.at, U.at + 3);
}
branches(A) ::= WHEN exprs(X) THEN expr(Y). {
    A = ast_push(p, ast_list(p, ast_of(p, AST_LIST, X)), Y);
}
branches(A) ::= branches(L) WHEN exprs(X) THEN expr(Y). {
    A = ast_push(p, ast_push(p, L, ast_of(p, AST_LIST, X)), Y);
}
otherwise(A) ::= .                             { A = NULL; }
otherwise(A) ::= ELSE expr(X).                 { A = X; }

call(A) ::= EXTRACT(F) LP unit(U) FROM expr(X) RP(T). {
    A = ast_span(ast_call2(p, "EXTRACT", ast_upper(p, AST_STRING, U), X), F.at, T.at + 1);
}
call(A) ::= CEIL_FLOOR(F) LP expr(X) RP(T). {
    A = ast_span(ast_call1(p, ast_copy_upper(p, F), X), F.at, T.at + 1);
}
call(A) ::= CEIL_FLOOR(F) LP expr(X) TO unit(U) RP(T). {
    A = ast_call2(p, ast_copy_upper(p, F), X, ast_upper(p, AST_STRING, U));
    A = ast_span(A, F.at, T.at + 1);
}
call(A) ::= POSITION(F) LP val(X) IN val(Y) RP(T). {
    A = ast_span(ast_call2(p, "POSITION", X, Y), F.at, T.at + 1);
}
call(A) ::= POSITION(F) LP val(X) IN val(Y) FROM val(Z) RP(T). {
    A = ast_span(ast_call3(p, "POSITION", X, Y, Z), F.at, T.at + 1);
}
call(A) ::= SUBSTRING(F) LP exprs(L) RP(T). {
    A = ast_span(ast_call(p, "SUBSTRING", L), F.at, T.at + 1);
}
call(A) ::= SUBSTRING(F) LP expr(X) FROM expr(Y) RP(T). {
    A = ast_span(ast_call2(p, "SUBSTRING", X, Y), F.at, T.at + 1);
}
call(A) ::= SUBSTRING(F) LP expr(X) FROM expr(Y) FOR expr(Z) RP(T). {
    A = ast_span(ast_call3(p, "SUBSTRING", X, Y, Z), F.at, T.at + 1);
}
call(A) ::= TRIM(F) LP expr(X) RP(T). {
    A = ast_span(ast_call1(p, "TRIM", X), F.at, T.at + 1);
}
call(A) ::= TRIM(F) LP expr(X) FROM expr(Y) RP(T). {
    A = ast_span(ast_call2(p, "TRIM", Y, X), F.at, T.at + 1);
}
call(A) ::= TRIM(F) LP BOTH FROM expr(Y) RP(T). {
    A = ast_span(ast_call1(p, "TRIM", Y), F.at, T.at + 1);
}
call(A) ::= TRIM(F) LP LEADING FROM expr(Y) RP(T). {
    A = ast_span(ast_call1(p, "LTRIM", Y), F.at, T.at + 1);
}
call(A) ::= TRIM(F) LP TRAILING FROM expr(Y) RP(T). {
    A = ast_span(ast_call1(p, "RTRIM", Y), F.at, T.at + 1);
}
call(A) ::= TRIM(F) LP BOTH expr(X) FROM expr(Y) RP(T). {
    A = ast_span(ast_call2(p, "TRIM", Y, X), F.at, T.at + 1);
}
call(A) ::= TRIM(F) LP LEADING expr(X) FROM expr(Y) RP(T). {
    A = ast_span(ast_call2(p, "LTRIM", Y, X), F.at, T.at + 1);
}
call(A) ::= TRIM(F) LP TRAILING expr(X) FROM expr(Y) RP(T). {
    A = ast_span(ast_call2(p, "RTRIM", Y, X), F.at, T.at + 1);
}
call(A) ::= OVERLAY(F) LP expr(X) PLACING expr(Y) FROM expr(Z) RP(T). {
    A = ast_span(ast_call3(p, "OVERLAY", X, Y, Z), F.at, T.at + 1);
}
call(A) ::= OVERLAY(F) LP expr(X) PLACING expr(Y) FROM expr(Z) FOR expr(W) RP(T). {
    struct ast_list *l = ast_push(p, ast_push(p, ast_list(p, X), Y), Z);
    A = ast_span(ast_call(p, "OVERLAY", ast_push(p, l, W)), F.at, T.at + 1);
}
call(A) ::= JSON_VALUE(F) LP expr(X) COMMA expr(Y) returning(R) behaviors(B) RP(T). {
    A = ast_span(ast_json(p, "JSON_VALUE", X, Y, R, B, NULL), F.at, T.at + 1);
}
call(A) ::= JSON_QUERY(F) LP expr(X) COMMA expr(Y) returning(R) wrapper(W) behaviors(B) RP(T). {
    A = ast_span(ast_json(p, "JSON_QUERY", X, Y, R, B, W), F.at, T.at + 1);
}
call(A) ::= JSON_EXISTS(F) LP expr(X) COMMA expr(Y) behaviors(B) RP(T). {
    A = ast_span(ast_json(p, "JSON_EXISTS", X, Y, NULL, B, NULL), F.at, T.at + 1);
}
returning(A) ::= .                             { A = NULL; }
returning(A) ::= RETURNING tname(N).           { A = ast_type(p, N.at); }
returning(A) ::= RETURNING tname(N) precision_of. { A = ast_type(p, N.at); }
returning(A) ::= RETURNING ARRAY(N) LT type GT. { A = ast_type(p, N.at); }
wrapper(A) ::= .                               { A = NULL; }
wrapper(A) ::= WITHOUT array WRAPPER.          { A = NULL; }
wrapper(A) ::= WITH array WRAPPER.             { A = "UNCONDITIONAL"; }
wrapper(A) ::= WITH UNCONDITIONAL array WRAPPER. { A = "UNCONDITIONAL"; }
wrapper(A) ::= WITH CONDITIONAL array WRAPPER. { A = "CONDITIONAL"; }
array ::= .
array ::= ARRAY.
behaviors(A) ::= .                             { A = NULL; }
behaviors(A) ::= behaviors(L) behavior(X).     { A = L ? ast_push(p, L, X) : ast_list(p, X); }
behavior(A) ::= NULL(T) ON which(W).           { A = ast_instead(p, T, "NULL", W, NULL); }
behavior(A) ::= ERROR(T) ON which(W).          { A = ast_instead(p, T, "ERROR", W, NULL); }
behavior(A) ::= TRUE(T) ON which(W).           { A = ast_instead(p, T, "TRUE", W, NULL); }
behavior(A) ::= FALSE(T) ON which(W).          { A = ast_instead(p, T, "FALSE", W, NULL); }
behavior(A) ::= UNKNOWN(T) ON which(W).        { A = ast_instead(p, T, "NULL", W, NULL); }
behavior(A) ::= EMPTY(T) ARRAY ON which(W).    { A = ast_instead(p, T, "EMPTY ARRAY", W, NULL); }
behavior(A) ::= EMPTY(T) OBJECT ON which(W).   { A = ast_instead(p, T, "EMPTY OBJECT", W, NULL); }
behavior(A) ::= DEFAULT(T) val(X) ON which(W). { A = ast_instead(p, T, "DEFAULT", W, X); }
which(A) ::= EMPTY.                            { A = "EMPTY"; }
which(A) ::= ERROR.                            { A = "ERROR"; }

call(A) ::= JSON_OBJECT(F) LP RP(T). {
    A = ast_span(ast_call(p, "JSON_OBJECT", ast_list(p, ast_words(p, F, "NULL"))), F.at, T.at + 1);
}
call(A) ::= JSON_OBJECT(F) LP pairs(L) on_null(N) RP(T). {
    struct ast *nulls = ast_words(p, F, N ? N : "NULL");
    A = ast_span(ast_call(p, "JSON_OBJECT", ast_prepend(p, L, nulls)), F.at, T.at + 1);
}
pairs(A) ::= pair(X).                          { A = X; }
pairs(A) ::= pairs(L) COMMA pair(X).           { A = ast_join(p, L, X); }
pair(A) ::= KEY val(X) VALUE expr(Y).          { A = ast_push(p, ast_list(p, X), Y); }
pair(A) ::= val(X) VALUE expr(Y).              { A = ast_push(p, ast_list(p, X), Y); }
pair(A) ::= val(X) COLON expr(Y).              { A = ast_push(p, ast_list(p, X), Y); }
on_null(A) ::= .                               { A = NULL; }
on_null(A) ::= NULL ON NULL.                   { A = "NULL"; }
on_null(A) ::= ABSENT ON NULL.                 { A = "ABSENT"; }
call(A) ::= JSON_ARRAY(F) LP RP(T). {
    A = ast_span(ast_call(p, "JSON_ARRAY", ast_list(p, ast_words(p, F, "ABSENT"))), F.at, T.at + 1);
}
call(A) ::= JSON_ARRAY(F) LP exprs(L) on_null(N) RP(T). {
    struct ast *nulls = ast_words(p, F, N ? N : "ABSENT");
    A = ast_span(ast_call(p, "JSON_ARRAY", ast_prepend(p, L, nulls)), F.at, T.at + 1);
}
call(A) ::= ARRAY(F) LBRACKET exprs(L) RBRACKET(T). {
    A = ast_span(ast_call(p, "ARRAY", L), F.at, T.at + 1);
}
call(A) ::= MAP(F) LBRACKET exprs(L) RBRACKET(T). {
    A = ast_span(ast_call(p, "MAP", L), F.at, T.at + 1);
}

/* --- Types: only their form; engine/data reads their text ------------------------------------- */

tname(A) ::= TYPE(T).                          { A = T; }
tname(A) ::= ID(T).                            { A = T; }
tname(A) ::= FUNCTION(T).                      { A = T; }
tname(A) ::= DATE(T).                          { A = T; }
tname(A) ::= TIME(T).                          { A = T; }
tname(A) ::= TIMESTAMP(T).                     { A = T; }
type(A) ::= tname(N) zone.                     { A = ast_type(p, N.at); }
type(A) ::= tname(N) precision_of zone.        { A = ast_type(p, N.at); }
type(A) ::= TYPE(N) TYPE precision_of.         { A = ast_type(p, N.at); }
type(A) ::= TYPE(N) TYPE.                      { A = ast_type(p, N.at); }
type(A) ::= INTERVAL(N) unit precision unit_to. { A = ast_type(p, N.at); }
type(A) ::= ARRAY(N) LT type GT.               { A = ast_type(p, N.at); }
type(A) ::= TYPE(N) LT type GT.                { A = ast_type(p, N.at); }
type(A) ::= MAP(N) LT type COMMA type GT.      { A = ast_type(p, N.at); }
type(A) ::= ROW(N) LT fields GT.               { A = ast_type(p, N.at); }
type(A) ::= ROW(N) LP fields RP.               { A = ast_type(p, N.at); }
type(A) ::= ID(N) LT STRING GT.                { A = ast_type(p, N.at); }
type(A) ::= ID(N) LT STRING COMMA fields GT.   { A = ast_type(p, N.at); }
type(A) ::= type(X) ARRAY.                     { A = ast_type(p, X ? X->at : 0); }
type(A) ::= type(X) NOT NULL.                  { A = ast_type(p, X ? X->at : 0); }
type(A) ::= type(X) NULL.                      { A = ast_type(p, X ? X->at : 0); }
precision_of ::= LP NUMBER RP.
precision_of ::= LP NUMBER COMMA NUMBER RP.
zone ::= .
zone ::= WITH LOCAL TIME ZONE.
zone ::= WITH TIME ZONE.
zone ::= WITHOUT TIME ZONE.
fields ::= field.
fields ::= fields COMMA field.
field ::= ID type.
field ::= ID type STRING.

/* --- Schemas ---------------------------------------------------------------------------------- */

columns(A) ::= column(X).                      { A = ast_list(p, X); }
columns(A) ::= columns(L) COMMA column(X).     { A = ast_push(p, L, X); }
column(A) ::= ID(N) type(T) column_options.    { A = ast_named(p, N, ast_of1(p, AST_COLUMN, T)); }
column(A) ::= ID(N) type(T) PRIMARY KEY not_enforced comment. {
    A = ast_named(p, N, ast_of2(p, AST_COLUMN, T, ast_of1(p, AST_KEY, ast_word(p, N))));
    if (A) A->unit = "KEY";
}
column(A) ::= ID(N) type(T) METADATA virtual(V) comment. {
    A = ast_named(p, N, ast_of1(p, AST_COLUMN, T));
    ast_metadata(A, V);
}
column(A) ::= ID(N) type(T) METADATA FROM STRING(S) virtual(V) comment. {
    A = ast_named(p, N, ast_of2(p, AST_COLUMN, T, ast_string(p, AST_STRING, S)));
    ast_metadata(A, V);
}
column(A) ::= ID(N) AS expr(E) comment.        { A = ast_named(p, N, ast_of1(p, AST_COMPUTED, E)); }
column(A) ::= WATERMARK FOR ID(N) AS expr(E). {
    A = ast_named(p, N, ast_of1(p, AST_WATERMARK, E));
}
column(A) ::= PRIMARY KEY LP words(L) RP not_enforced. { A = ast_of(p, AST_KEY, L); }
column(A) ::= CONSTRAINT ID PRIMARY KEY LP words(L) RP not_enforced. { A = ast_of(p, AST_KEY, L); }
column_options ::= comment.
comment ::= .
comment ::= COMMENT STRING.
%type virtual {bool}
virtual(V) ::= .                               { V = false; }
virtual(V) ::= VIRTUAL.                        { V = true; }
not_enforced ::= NOT ENFORCED.
words(A) ::= ID(T).                            { A = ast_list(p, ast_word(p, T)); }
words(A) ::= words(L) COMMA ID(T).             { A = ast_push(p, L, ast_word(p, T)); }

/* --- Queries ---------------------------------------------------------------------------------- */

item(A) ::= STAR(T). {
    A = ast_of1(p, AST_ITEM, ast_leaf(p, AST_STAR, T));
}
item(A) ::= name(N) DOT STAR(T). {
    A = ast_of1(p, AST_ITEM, ast_span(ast_of1(p, AST_STAR, N), N ? N->at : 0, T.at + 1));
}
item(A) ::= expr(X).                           { A = ast_of1(p, AST_ITEM, X); }
item(A) ::= expr(X) AS ID(N).                  { A = ast_alias(p, ast_of1(p, AST_ITEM, X), N); }
item(A) ::= expr(X) ID(N).                     { A = ast_alias(p, ast_of1(p, AST_ITEM, X), N); }
items(A) ::= item(X).                          { A = ast_list(p, X); }
items(A) ::= items(L) COMMA item(X).           { A = ast_push(p, L, X); }

query(A) ::= SELECT(T) distinct(D) items(L) FROM source(S) where(W) group(G) having(H). {
    struct ast_list *l = ast_list(p, ast_of(p, AST_LIST, L));
    l = ast_push(p, ast_push(p, ast_push(p, ast_push(p, l, S), W), G), H);
    A = ast_span(ast_of(p, AST_QUERY, l), T.at, p->last.at);
    if (A) A->is_distinct = D;
}
source(A) ::= table(X).                        { A = X; }
source(A) ::= TABLE LP window(X) RP alias(S).  { A = ast_window_alias(p, X, S); }
source(A) ::= window(X) alias(S).              { A = ast_window_alias(p, X, S); }
table(A) ::= ID(N) alias(S). {
    A = ast_named(p, N, S ? ast_of1(p, AST_TABLE, S) : ast_leaf(p, AST_TABLE, N));
}
alias(A) ::= .                                 { A = NULL; }
alias(A) ::= AS ID(T).                         { A = ast_word(p, T); }
alias(A) ::= ID(T).                            { A = ast_word(p, T); }
window(A) ::= ID(F) LP TABLE ID(N) COMMA DESCRIPTOR LP name(C) RP COMMA exprs(L) RP(T). {
    A = ast_window(p, F, N, ast_prepend(p, L, C), NULL, T);
}
window(A) ::= ID(F) LP TABLE ID(N) PARTITION BY names(P) COMMA DESCRIPTOR LP name(C) RP COMMA
              exprs(L) RP(T). {
    A = ast_window(p, F, N, ast_prepend(p, L, C), ast_of(p, AST_LIST, P), T);
}
names(A) ::= name(X).                          { A = ast_list(p, X); }
names(A) ::= names(L) COMMA name(X).           { A = ast_push(p, L, X); }
where(A) ::= .                                 { A = NULL; }
where(A) ::= WHERE expr(X).                    { A = X; }
group(A) ::= .                                 { A = NULL; }
group(A) ::= GROUP BY exprs(L).                { A = ast_of(p, AST_LIST, L); }
having(A) ::= .                                { A = NULL; }
having(A) ::= HAVING expr(X).                  { A = X; }
