#include "engine/sql/parse.h"

#include <string.h>

#include "test/unit/unit.h"

struct parse_case {
    enum parse_what what;
    const char *text, *want;
};

/* The tree of a text, or "byte: words [hint]". */
static const char *parse_shown(struct arena *a, enum parse_what what, const char *text)
{
    const struct ast *n = NULL;
    struct parse_fault f = {0};
    sr_rc rc = parse_sql(a, what, text, (uint32_t)strlen(text), &n, &f);
    if (rc == SR_OK) {
        return ast_text(a, n);
    }
    ck_assert_int_eq(rc, SR_ECONFIG);
    return arena_printf(a, "%u: %s%s%s%s", f.at, f.words, f.hint ? " [" : "", f.hint ? f.hint : "",
                        f.hint ? "]" : "");
}

static void parse_check(const struct parse_case *c, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct arena *a = arena_new();
        const char *got = parse_shown(a, c[i].what, c[i].text);
        ck_assert_msg(strcmp(got, c[i].want) == 0, "%s\n  gives %s\n  not   %s", c[i].text, got,
                      c[i].want);
        arena_free(a);
    }
}

#define PARSE_CHECK(cases) parse_check(cases, sizeof(cases) / sizeof((cases)[0]))

START_TEST(operators_bind_as_in_flink)
{
    static const struct parse_case cases[] = {
        {PARSE_EXPR, "1 + 2 * 3 - 4", "(- (+ 1 (* 2 3)) 4)"},
        {PARSE_EXPR, "a OR b AND NOT c = 1", "(OR (name a) (AND (name b) (NOT (= (name c) 1))))"},
        {PARSE_EXPR, "a = b IS NOT NULL", "(IS NOT NULL (= (name a) (name b)))"},
        {PARSE_EXPR, "a = b NOT IN (1, 2)", "(= (name a) (NOT (IN (name b) 1 2)))"},
        {PARSE_EXPR, "a BETWEEN 1 AND 2 AND b", "(AND (BETWEEN (name a) 1 2) (name b))"},
        {PARSE_EXPR, "a NOT BETWEEN SYMMETRIC 2 AND 1", "(NOT (BETWEEN SYMMETRIC (name a) 2 1))"},
        {PARSE_EXPR, "NOT a NOT LIKE 'x!%' ESCAPE '!'", "(NOT (NOT (LIKE (name a) 'x!%' '!')))"},
        {PARSE_EXPR, "a < 1 IS DISTINCT FROM TRUE", "(IS DISTINCT FROM (< (name a) 1) TRUE)"},
        {PARSE_EXPR, "'a' || 'b' || c", "(|| (|| 'a' 'b') (name c))"},
        {PARSE_EXPR, "-a + -5 - +3", "(- (+ (- (name a)) -5) 3)"},
        {PARSE_EXPR, "-9223372036854775808", "-9223372036854775808"},
        {PARSE_EXPR, "a -1", "(- (name a) 1)"},
        {PARSE_EXPR, "(1 + 2) % 3 <> 4 <> 5", "(<> (<> (% (+ 1 2) 3) 4) 5)"},
    };
    PARSE_CHECK(cases);
}
END_TEST

START_TEST(literals_keep_their_text)
{
    static const struct parse_case cases[] = {
        {PARSE_EXPR, "'it''s'", "'it's'"},
        {PARSE_EXPR, "x'00ff'", "x'00ff'"},
        {PARSE_EXPR, ".5 + 1. + 1.5E-3", "(+ (+ .5 1.) 1.5E-3)"},
        {PARSE_EXPR, "TIMESTAMP '2020-01-01 00:00:00'", "TIMESTAMP'2020-01-01 00:00:00'"},
        {PARSE_EXPR, "interval '1 02:03' day(2) to minute", "INTERVAL '1 02:03' DAY TO MINUTE"},
        {PARSE_EXPR, "INTERVAL -'10' SECOND(2, 3)", "INTERVAL -'10' SECOND"},
        {PARSE_EXPR, "true and unknown", "(AND TRUE NULL)"},
        {PARSE_EXPR, "/* why */ 1 -- not\n + 2", "(+ 1 2)"},
        {PARSE_EXPR, "`select`.`a``b`.c", "(name select a`b c)"},
    };
    PARSE_CHECK(cases);
}
END_TEST

START_TEST(special_forms_become_plain_calls)
{
    static const struct parse_case cases[] = {
        {PARSE_EXPR, "TRIM(BOTH 'x' FROM a)", "(TRIM (name a) 'x')"},
        {PARSE_EXPR, "TRIM(LEADING FROM a)", "(LTRIM (name a))"},
        {PARSE_EXPR, "trim(a)", "(TRIM (name a))"},
        {PARSE_EXPR, "SUBSTRING(a FROM 2 FOR 3)", "(SUBSTRING (name a) 2 3)"},
        {PARSE_EXPR, "SUBSTRING(a, 2)", "(SUBSTRING (name a) 2)"},
        {PARSE_EXPR, "POSITION('a' IN ('abc'))", "(POSITION 'a' 'abc')"},
        {PARSE_EXPR, "EXTRACT(day FROM t)", "(EXTRACT 'DAY' (name t))"},
        {PARSE_EXPR, "EXTRACT(MILLISECOND FROM t)", "(EXTRACT 'MILLISECOND' (name t))"},
        {PARSE_EXPR, "FLOOR(t TO HOUR) + CEIL(1.5)", "(+ (FLOOR (name t) 'HOUR') (CEIL 1.5))"},
        {PARSE_EXPR, "OVERLAY(a PLACING b FROM 1 FOR 2)", "(OVERLAY (name a) (name b) 1 2)"},
        {PARSE_EXPR, "CASE a WHEN 1 THEN 'x' ELSE 'y' END", "(CASE (= (name a) 1) 'x' 'y')"},
        {PARSE_EXPR, "CASE a WHEN 1, 2 THEN N'x' END", "(CASE (IN (name a) 1 2) 'x' NULL)"},
        {PARSE_EXPR, "CASE WHEN a THEN 1 WHEN b THEN 2 END", "(CASE (name a) 1 (name b) 2 NULL)"},
        {PARSE_EXPR, "CAST(a AS DECIMAL(10, 2) NOT NULL)", "(CAST (name a) type@10-33)"},
        {PARSE_EXPR, "TRY_CAST(a AS TIMESTAMP(3) WITH LOCAL TIME ZONE)",
         "(TRY_CAST (name a) type@14-47)"},
        {PARSE_EXPR, "CAST(a AS ROW<x INT, y ARRAY<STRING>>)", "(CAST (name a) type@10-37)"},
        {PARSE_EXPR, "TIMESTAMPADD(DAY, 1, t)", "(TIMESTAMPADD 'DAY' 1 (name t))"},
        {PARSE_EXPR, "CURRENT_TIMESTAMP", "(CURRENT_TIMESTAMP)"},
        {PARSE_EXPR, "year(t) + left(s, 1) + f()", "(+ (+ (YEAR (name t)) (LEFT (name s) 1)) (F))"},
        {PARSE_EXPR, "ARRAY[1, 2][1]", "(ITEM (ARRAY 1 2) 1)"},
        {PARSE_EXPR, "MAP['a', 1]['a']", "(ITEM (MAP 'a' 1) 'a')"},
        {PARSE_EXPR, "(1, 2)", "(ROW 1 2)"},
        {PARSE_EXPR, "COUNT(DISTINCT a) FILTER (WHERE b > 1)",
         "(COUNT DISTINCT (name a) filter (> (name b) 1))"},
        {PARSE_EXPR, "map + `value` + key", "(+ (+ (name map) (name value)) (name key))"},
    };
    PARSE_CHECK(cases);
}
END_TEST

START_TEST(items_schemas_and_queries_have_their_forms)
{
    static const struct parse_case cases[] = {
        {PARSE_ITEM, "*", "(item *)"},
        {PARSE_ITEM, "t.*", "(item (* (name t)))"},
        {PARSE_ITEM, "COUNT(*) AS n", "(item n (COUNT *))"},
        {PARSE_ITEM, "a b", "(item b (name a))"},
        {PARSE_COLUMN, "BIGINT", "(column type@0-6)"},
        {PARSE_COLUMN, "AS a * 2", "(computed (* (name a) 2))"},
        {PARSE_COLUMN, "STRING METADATA FROM 'file.path' VIRTUAL",
         "(column METADATA type@0-6 'file.path')"},
        {PARSE_WATERMARK, "ts AS ts - INTERVAL '5' SECOND",
         "(watermark ts (- (name ts) INTERVAL '5' SECOND))"},
        {PARSE_SCHEMA,
         "a INT NOT NULL, b AS a + 1, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (a, b) "
         "NOT ENFORCED",
         "(list (column a type@2-14) (computed b (+ (name a) 1)) (column ts type@31-43) (watermark "
         "ts (name ts)) (key a b))"},
        {PARSE_QUERY, "SELECT a, COUNT(*) n FROM t WHERE a > 1 GROUP BY a HAVING COUNT(*) > 2;",
         "(SELECT (list (item (name a)) (item n (COUNT *))) table t (> (name a) 1) (list (name a)) "
         "(> (COUNT *) 2))"},
        {PARSE_QUERY,
         "SELECT * FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) AS w GROUP BY "
         "k",
         "(SELECT (list (item *)) (window TUMBLE (table t w) (name ts) INTERVAL '1' MINUTE) - "
         "(list (name k)) -)"},
    };
    PARSE_CHECK(cases);
}
END_TEST

START_TEST(a_fault_says_token_place_and_what_was_expected)
{
    static const struct parse_case cases[] = {
        {PARSE_EXPR, "1 +", "3: the text ends too early, expected an expression"},
        {PARSE_EXPR, "f(a b)", "4: unexpected 'b', expected ')' or ','"},
        {PARSE_EXPR, "", "0: the text ends too early, expected an expression"},
        {PARSE_EXPR, "a = = b", "4: unexpected '=', expected an expression"},
        {PARSE_EXPR, "value > 1",
         "0: unexpected 'value', expected an expression [it is a reserved word: a column of that "
         "name needs backticks, `like this`]"},
        {PARSE_EXPR, "'abc",
         "0: this text is not closed [a quote inside a text is written twice: "
         "'it''s']"},
        {PARSE_EXPR, "a \"b\"",
         "2: double quotes have no meaning in Flink SQL [text stands in "
         "single quotes, a name in backticks]"},
        {PARSE_EXPR, "1abc",
         "0: '1abc' is neither a number nor a name [put a name that begins "
         "with a digit into backticks]"},
        {PARSE_EXPR, "a != b", "2: != is not allowed in Flink SQL [write <>]"},
        {PARSE_EXPR, "a ? b", "2: '?' has no meaning here"},
        {PARSE_EXPR, "/* a", "0: this comment is not closed [end it with */]"},
        {PARSE_EXPR, "CASE WHEN a THEN 1", "18: the text ends too early"},
        {PARSE_EXPR, "SUM(a) OVER (PARTITION BY b)",
         "7: unexpected 'OVER', expected an operator [Flink has this; streamrun does not have it "
         "yet]"},
        {PARSE_QUERY, "SELECT a FROM", "13: the text ends too early, expected a name"},
        {PARSE_SCHEMA, "a, b INT", "1: unexpected ',', expected a type"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena *a = arena_new();
        const char *got = parse_shown(a, cases[i].what, cases[i].text);
        ck_assert_msg(strncmp(got, cases[i].want, strlen(cases[i].want)) == 0,
                      "%s\n  gives %s\n  not   %s", cases[i].text, got, cases[i].want);
        arena_free(a);
    }
}
END_TEST

/* "((((...1...))))" and "1+1+1+...": deep in the grammar's stack, and deep in the tree. */
START_TEST(nesting_has_a_limit_and_no_text_crashes)
{
    struct arena *a = arena_new();
    char *deep = malloc(200001);
    memset(deep, '(', 200000);
    deep[200000] = '\0';
    ck_assert_ptr_nonnull(strstr(parse_shown(a, PARSE_EXPR, deep), "nested too deeply"));
    for (size_t i = 0; i < 200000; i++) {
        deep[i] = i % 2 ? '+' : '1';
    }
    ck_assert_ptr_nonnull(strstr(parse_shown(a, PARSE_EXPR, deep), "nested more than"));
    free(deep);
    const char *in = "a AND NOT b BETWEEN -1 AND x'0' OR CASE f(DISTINCT c) WHEN 1 THEN [2";
    for (uint32_t n = 0; n <= strlen(in); n++) {
        const struct ast *out = NULL;
        struct parse_fault f = {0};
        if (parse_sql(a, PARSE_EXPR, in, n, &out, &f) != SR_OK) {
            ck_assert_uint_le(f.at, n);
            ck_assert(f.words[0] != '\0');
        }
    }
    arena_free(a);
}
END_TEST

UNIT_MAIN("parse", operators_bind_as_in_flink, literals_keep_their_text,
          special_forms_become_plain_calls, items_schemas_and_queries_have_their_forms,
          a_fault_says_token_place_and_what_was_expected, nesting_has_a_limit_and_no_text_crashes)
