#include "test/unit/expr/slow/grow.h"

#include <string.h>

#include "engine/data/schema.h"
#include "engine/expr/family.h"
#include "engine/expr/promote.h"
#include "test/unit/expr/slow/box.h"
#include "test/unit/unit.h"

/* Recursion in this file goes down by a depth, or a tree. */

static const char *const grow_types[] = {"BOOLEAN",
                                         "TINYINT",
                                         "SMALLINT",
                                         "INT",
                                         "INT NOT NULL",
                                         "BIGINT",
                                         "FLOAT",
                                         "DOUBLE",
                                         "DECIMAL(10, 2)",
                                         "DECIMAL(38, 10)",
                                         "DECIMAL(18, 18)",
                                         "DECIMAL(38, 0)",
                                         "CHAR(3)",
                                         "VARCHAR(5)",
                                         "STRING",
                                         "STRING NOT NULL",
                                         "BYTES",
                                         "BINARY(2)",
                                         "DATE",
                                         "TIME",
                                         "TIMESTAMP(0)",
                                         "TIMESTAMP(3)",
                                         "TIMESTAMP(6)",
                                         "TIMESTAMP(9)",
                                         "TIMESTAMP_LTZ(3)",
                                         "TIMESTAMP_LTZ(9)",
                                         "INTERVAL YEAR TO MONTH",
                                         "INTERVAL DAY TO SECOND(3)",
                                         "ARRAY<INT>",
                                         "ARRAY<INT NOT NULL>",
                                         "ARRAY<STRING>",
                                         "ARRAY<DOUBLE>",
                                         "ARRAY<DECIMAL(10, 2)>",
                                         "ARRAY<TIMESTAMP(9)>",
                                         "ARRAY<ARRAY<INT>>",
                                         "MAP<STRING, INT>",
                                         "MAP<INT, ARRAY<STRING>>",
                                         "ROW<a INT, b STRING, c ARRAY<DOUBLE>>",
                                         "ROW<x INT NOT NULL, y ROW<z STRING>>",
                                         "ARRAY<ROW<x INT, y STRING>>",
                                         "STRUCTURED<'a.B', x INT, y STRING>",
                                         "MULTISET<INT>",
                                         "VARIANT"};
#define GROW_TYPES (sizeof(grow_types) / sizeof(grow_types[0]))

void grow_open(struct grow *g, struct arena *a, uint64_t seed, bool broken)
{
    *g = (struct grow){.arena = a, .seed = seed, .broken = broken};
    struct sr_field *field = arena_array(a, GROW_TYPES, sizeof(*field));
    for (size_t i = 0; i < GROW_TYPES; i++) {
        struct sr_error err = {0};
        uint32_t at;
        field[i].name = arena_printf(a, "c%zu", i);
        ck_assert_msg(type_parse(a, grow_types[i], &field[i].type, &at, &err) == SR_OK, "%s: %s",
                      grow_types[i], err.words);
    }
    g->schema = (struct sr_schema){.fields = GROW_TYPES, .field = field, .rowtime = -1};
}

static uint64_t grow_number(struct grow *g, uint64_t below)
{
    return box_random_number(&g->seed) % below;
}

/* A letter a type. */
static char grow_letter(const struct sr_type *t)
{
    static const char letters[SR_KIND_COUNT + 1] = "bkkilfdnssyyDTtzMSamMrxv";
    return t->kind == SR_MULTISET ? 'u' : letters[t->kind];
}

/* Whether a type may stand where the letter is asked for: # any number, 0 any exact one, . any type
 * that can be ordered, * any. */
static bool grow_fits(char want, const struct sr_type *t)
{
    return want == '*' || (want == '#' && sr_is_number(t->kind)) ||
           (want == '0' && sr_is_exact(t->kind)) ||
           (want == '.' && !sr_is_nested(t->kind) && t->kind != SR_VARIANT) ||
           want == grow_letter(t);
}

/* --- Leaves. ---------------------------------------------------------------------------------- */

static const struct expr *grow_column(struct grow *g, char want)
{
    uint32_t at = (uint32_t)grow_number(g, GROW_TYPES);
    for (uint32_t i = 0; i < GROW_TYPES; i++) {
        uint32_t c = (at + i) % GROW_TYPES;
        if (grow_fits(want, &g->schema.field[c].type)) {
            return expr_column(g->arena, &g->schema, c);
        }
    }
    ck_abort_msg("no column of type %c", want);
    return NULL;
}

static const struct expr *grow_leaf(struct grow *g, char want)
{
    const struct expr *e = grow_column(g, want), *literal = NULL;
    if (grow_number(g, 3) == 0) {
        struct box b = box_random(g->arena, &e->type, g->broken, &g->seed);
        literal = box_literal(g->arena, &e->type, &b);
    }
    return literal ? literal : e;
}

static const struct expr *grow_word(struct grow *g, const char *const *words, size_t n)
{
    const char *w = words[grow_number(g, n)];
    return expr_string(g->arena, w, (uint32_t)strlen(w));
}
#define GROW_WORD(g, list) grow_word(g, list, sizeof(list) / sizeof((list)[0]))

/* How often or how long: small, for texts that are not too long; or far too much. */
static const struct expr *grow_count(struct grow *g)
{
    static const char *const counts[] = {"0", "1", "2", "3", "5", "17", "2147483647"};
    struct sr_error err;
    const struct expr *pair[2] = {grow_column(g, 'i'), expr_number(g->arena, "7", &err)};
    return grow_number(g, 2) ? expr_number(g->arena, counts[grow_number(g, 7)], &err)
                             : expr_call(g->arena, "MOD", pair, 2, &err);
}

/* Constants that calls need: U and V a unit of EXTRACT and of FLOOR, p a pattern of LIKE, q a
 * regular expression, w one of dates, j a JSON path, h a charset. NULL: none of these. */
static const struct expr *grow_constant(struct grow *g, char want)
{
    static const char *const units[] = {"YEAR",   "QUARTER",     "MONTH",      "DAY",    "HOUR",
                                        "MINUTE", "SECOND",      "DOY",        "DOW",    "WEEK",
                                        "EPOCH",  "MILLISECOND", "NANOSECOND", "DECADE", "ISOYEAR"};
    static const char *const floors[] = {"YEAR", "QUARTER", "MONTH",  "WEEK",
                                         "DAY",  "HOUR",    "MINUTE", "SECOND"};
    static const char *const patterns[] = {"%a%", "a%", "%", "_", "%b_c%", "abc", "", "%日_語%"};
    static const char *const regexes[] = {"[a-z]+", "(\\d+)-(\\d+)", "^a|b$",
                                          "",       "(x)?(y)?",      "[0-9]"};
    static const char *const dates[] = {"yyyy-MM-dd", "yyyy-MM-dd HH:mm:ss.SSS", "dd/MM/yy",
                                        "HH:mm", "EEE, d MMM yyyy"};
    static const char *const paths[] = {"$.a", "$.a[1]", "lax $.b", "strict $.a[*]", "$"};
    static const char *const charsets[] = {"UTF-8", "ISO-8859-1", "UTF-16", "US-ASCII"};
    switch (want) {
    case 'U':
        return GROW_WORD(g, units);
    case 'V':
        return GROW_WORD(g, floors);
    case 'p':
        return grow_number(g, 3) ? GROW_WORD(g, patterns) : grow_leaf(g, 's');
    case 'q':
        return GROW_WORD(g, regexes);
    case 'w':
        return GROW_WORD(g, dates);
    case 'j':
        return GROW_WORD(g, paths);
    case 'h':
        return GROW_WORD(g, charsets);
    case 'c':
        return grow_count(g);
    default:
        return NULL;
    }
}

/* --- Calls. ----------------------------------------------------------------------------------- */

struct recipe {
    const char *name;
    char gives;
    /* a letter an argument; = as the first, e its element, K its key, + once more or not */
    const char *takes;
};

static const struct recipe grow_recipes[] = {
    {"+", '#', "##"},
    {"-", '#', "##"},
    {"*", '#', "##"},
    {"/", '#', "##"},
    {"%", '0', "00"},
    {"MOD", '0', "00"},
    {"-", '#', "#"},
    {"ABS", '#', "#"},
    {"SIGN", '#', "#"},
    {"FLOOR", '#', "#"},
    {"CEIL", '#', "#"},
    {"ROUND", '#', "#c"},
    {"TRUNCATE", '#', "#c"},
    {"SQRT", 'd', "#"},
    {"POWER", 'd', "##"},
    {"LN", 'd', "#"},
    {"EXP", 'd', "#"},
    {"LOG", 'd', "##"},
    {"SIN", 'd', "#"},
    {"ATAN2", 'd', "##"},
    {"CHAR_LENGTH", 'i', "s"},
    {"POSITION", 'i', "ss"},
    {"LOCATE", 'i', "ssi"},
    {"INSTR", 'i', "ss"},
    {"ASCII", 'i', "s"},
    {"CARDINALITY", 'i', "a"},
    {"CARDINALITY", 'i', "m"},
    {"CARDINALITY", 'i', "u"},
    {"ARRAY_POSITION", 'i', "ae"},
    {"REGEXP_COUNT", 'i', "sq"},
    {"REGEXP_INSTR", 'i', "sq"},
    {"EXTRACT", 'l', "Ut"},
    {"EXTRACT", 'l', "UD"},
    {"EXTRACT", 'l', "Uz"},
    {"EXTRACT", 'l', "UT"},
    {"EXTRACT", 'l', "US"},
    {"EXTRACT", 'l', "UM"},
    {"YEAR", 'l', "t"},
    {"WEEK", 'l', "D"},
    {"DAYOFWEEK", 'l', "D"},
    {"UNIX_TIMESTAMP", 'l', "s"},
    {"SUBSTRING", 's', "sii"},
    {"SUBSTRING", 's', "si"},
    {"LEFT", 's', "si"},
    {"RIGHT", 's', "si"},
    {"TRIM", 's', "s"},
    {"BTRIM", 's', "ss"},
    {"LTRIM", 's', "ss"},
    {"RTRIM", 's', "ss"},
    {"RTRIM", 's', "s"},
    {"SPLIT_INDEX", 's', "ssi"},
    {"CONCAT", 's', "s+"},
    {"CONCAT_WS", 's', "ss+"},
    {"||", 's', "ss"},
    {"UPPER", 's', "s"},
    {"LOWER", 's', "s"},
    {"REPLACE", 's', "sss"},
    {"REPEAT", 's', "sc"},
    {"REVERSE", 's', "s"},
    {"LPAD", 's', "scs"},
    {"RPAD", 's', "scs"},
    {"INITCAP", 's', "s"},
    {"OVERLAY", 's', "ssii"},
    {"HEX", 's', "l"},
    {"HEX", 's', "s"},
    {"BIN", 's', "l"},
    {"MD5", 's', "s"},
    {"SHA2", 's', "sc"},
    {"CHR", 's', "i"},
    {"TO_BASE64", 's', "s"},
    {"FROM_BASE64", 's', "s"},
    {"REGEXP_EXTRACT", 's', "sqc"},
    {"REGEXP_REPLACE", 's', "sqs"},
    {"TRANSLATE", 's', "sss"},
    {"ELT", 's', "cs+"},
    {"URL_ENCODE", 's', "s"},
    {"URL_DECODE", 's', "s"},
    {"JSON_QUOTE", 's', "s"},
    {"JSON_UNQUOTE", 's', "s"},
    {"JSON_STRING", 's', "*"},
    {"JSON_VALUE", 's', "sj"},
    {"JSON_QUERY", 's', "sj"},
    {"DATE_FORMAT", 's', "tw"},
    {"ARRAY_JOIN", 's', "as"},
    {"FROM_UNIXTIME", 's', "l"},
    {"DECODE", 's', "yh"},
    {"PRINTF", 's', "s*"},
    {"ENCODE", 'y', "sh"},
    {"UNHEX", 'y', "s"},
    {"LIKE", 'b', "sp"},
    {"SIMILAR TO", 'b', "sp"},
    {"REGEXP", 'b', "sq"},
    {"STARTSWITH", 'b', "ss"},
    {"ENDSWITH", 'b', "ss"},
    {"IS_ALPHA", 'b', "s"},
    {"IS_DIGIT", 'b', "s"},
    {"IS_DECIMAL", 'b', "s"},
    {"PARSE_JSON", 'v', "s"},
    {"TRY_PARSE_JSON", 'v', "s"},
    {"ITEM", 'v', "vi"},
    {"ITEM", 'v', "vs"},
    {"=", 'b', "vv"},
    {"IN", 'b', "vv+"},
    {"JSON_QUERY", 's', "vj"},
    {"IS JSON", 'b', "s"},
    {"JSON_EXISTS", 'b', "sj"},
    {"=", 'b', "*="},
    {"<>", 'b', "*="},
    {"<", 'b', ".="},
    {"<=", 'b', ".="},
    {">", 'b', ".="},
    {">=", 'b', ".="},
    {"=", 'b', "##"},
    {"<", 'b', "00"},
    {">=", 'b', "##"},
    {"BETWEEN", 'b', ".=="},
    {"BETWEEN SYMMETRIC", 'b', ".=="},
    {"IN", 'b', ".=+"},
    {"IS DISTINCT FROM", 'b', "*="},
    {"IS NOT DISTINCT FROM", 'b', "*="},
    {"IS NULL", 'b', "*"},
    {"IS NOT NULL", 'b', "*"},
    {"IS TRUE", 'b', "b"},
    {"IS NOT FALSE", 'b', "b"},
    {"NOT", 'b', "b"},
    {"AND", 'b', "bb+"},
    {"OR", 'b', "bb+"},
    {"AND", 'b', "bb"},
    {"OR", 'b', "bb"},
    {"ARRAY_CONTAINS", 'b', "ae"},
    {"OVERLAPS", 'b', "tttt"},
    {"+", 't', "tM"},
    {"-", 't', "tS"},
    {"+", 'D', "DM"},
    {"-", 'D', "DS"},
    {"+", 'T', "TS"},
    {"+", 'z', "zM"},
    {"-", 'z', "zS"},
    {"FLOOR", 't', "tV"},
    {"CEIL", 't', "tV"},
    {"FLOOR", 'D', "DV"},
    {"CEIL", 'D', "DV"},
    {"FLOOR", 'T', "TV"},
    {"FLOOR", 'z', "zV"},
    {"TO_TIMESTAMP", 't', "s"},
    {"TO_DATE", 'D', "s"},
    {"TO_TIMESTAMP", 't', "sw"},
    {"TO_TIMESTAMP_LTZ", 'z', "l"},
    {"+", 'M', "MM"},
    {"-", 'S', "SS"},
    {"*", 'M', "Mi"},
    {"*", 'S', "Si"},
    {"-", 'S', "S"},
    {"ARRAY", 'a', "*=+"},
    {"ARRAY_APPEND", 'a', "ae"},
    {"ARRAY_PREPEND", 'a', "ae"},
    {"ARRAY_REMOVE", 'a', "ae"},
    {"ARRAY_DISTINCT", 'a', "a"},
    {"ARRAY_UNION", 'a', "a="},
    {"ARRAY_CONCAT", 'a', "a=+"},
    {"ARRAY_EXCEPT", 'a', "a="},
    {"ARRAY_INTERSECT", 'a', "a="},
    {"ARRAY_REVERSE", 'a', "a"},
    {"ARRAY_SORT", 'a', "a"},
    {"ARRAY_SORT", 'a', "ab"},
    {"ARRAY_SORT", 'a', "abb"},
    {"ARRAY_SLICE", 'a', "aii"},
    {"MAP_KEYS", 'a', "m"},
    {"MAP_VALUES", 'a', "m"},
    {"SPLIT", 'a', "ss"},
    {"MAP_ENTRIES", 'a', "m"},
    {"REGEXP_EXTRACT_ALL", 'a', "sqc"},
    {"MAP", 'm', "s*"},
    {"MAP", 'm', "i*"},
    {"MAP_UNION", 'm', "m="},
    {"STR_TO_MAP", 'm', "s"},
    {"ROW", 'r', "*+"},
    {"ROW", 'r', "**"},
    {"ITEM", '*', "ai"},
    {"ITEM", '*', "mK"},
    {"ELEMENT", '*', "a"},
    {"ARRAY_MIN", '*', "a"},
    {"ARRAY_MAX", '*', "a"},
};
#define GROW_RECIPES (sizeof(grow_recipes) / sizeof(grow_recipes[0]))

static const struct expr *grow_tree(struct grow *g, char want, int depth);

/* A tree of just that type; NULL: cannot be. NOLINTNEXTLINE(misc-no-recursion) */
static const struct expr *grow_of_type(struct grow *g, const struct sr_type *t, int depth)
{
    struct sr_error err;
    char letter = grow_letter(t);
    const struct expr *e = grow_tree(g, letter, depth);
    return type_equal(&e->type, t, false) ? e
                                          : expr_cast(g->arena, e, t, grow_number(g, 8) == 0, &err);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static const struct expr *grow_argument(struct grow *g, char take, const struct expr *first,
                                        int depth)
{
    const struct expr *e = grow_constant(g, take);
    if (e) {
        return e;
    }
    if (take == '=' || take == 'e' || take == 'K') {
        const struct sr_type *t = take == '=' ? &first->type : &first->type.child[0].type;
        e = grow_of_type(g, t, depth);
        return e ? e : take == '=' ? first : NULL;
    }
    return grow_tree(g, take, depth);
}

/* NULL: refused. NOLINTNEXTLINE(misc-no-recursion) */
static const struct expr *grow_call(struct grow *g, const struct recipe *r, int depth)
{
    const struct expr *arg[8];
    uint32_t n = 0;
    struct sr_error err = {0};
    for (const char *take = r->takes; *take; take++) {
        char letter = *take == '+' ? take[-1] : *take;
        uint64_t times = *take == '+' ? grow_number(g, 3) : 1;
        for (; times > 0; times--) {
            arg[n] = grow_argument(g, letter, arg[0], depth);
            if (!arg[n++]) {
                return NULL;
            }
        }
    }
    const struct expr *e = expr_call(g->arena, r->name, arg, n, &err);
    g->grown += e != NULL;
    g->refused += e == NULL;
    return e;
}

/* A field of a ROW. NOLINTNEXTLINE(misc-no-recursion) */
static const struct expr *grow_field(struct grow *g, int depth)
{
    struct sr_error err;
    const struct expr *pair[2] = {grow_tree(g, 'r', depth), NULL};
    const struct sr_type *t = &pair[0]->type;
    const char *name = t->child[grow_number(g, t->children)].name;
    pair[1] = expr_string(g->arena, name, (uint32_t)strlen(name));
    return expr_call(g->arena, ".", pair, 2, &err);
}

/* What gives a value of any type. NOLINTNEXTLINE(misc-no-recursion) */
static const struct expr *grow_choice(struct grow *g, char want, int depth)
{
    struct sr_error err;
    const struct expr *a = grow_tree(g, want, depth), *b = grow_of_type(g, &a->type, depth),
                      *arg[5];
    if (!b) {
        return a;
    }
    switch (grow_number(g, 7)) {
    case 0:
        arg[0] = grow_tree(g, 'b', depth);
        arg[1] = a;
        arg[2] = b;
        return expr_call(g->arena, "IF", arg, 3, &err);
    case 1:
        arg[0] = grow_tree(g, 'b', depth);
        arg[1] = a;
        arg[2] = grow_tree(g, 'b', depth);
        arg[3] = b;
        arg[4] = grow_leaf(g, want);
        return expr_call(g->arena, "CASE", arg, (uint32_t)(4 + grow_number(g, 2)), &err);
    case 2:
        arg[0] = a;
        arg[1] = b;
        return expr_call(g->arena, "NULLIF", arg, 2, &err);
    case 3:
        arg[0] = a;
        arg[1] = b;
        return expr_call(g->arena, grow_number(g, 2) ? "GREATEST" : "LEAST", arg, 2, &err);
    default:
        arg[0] = a;
        arg[1] = b;
        return expr_call(g->arena, "COALESCE", arg, 2, &err);
    }
}

/* A tree of another type, cast. NOLINTNEXTLINE(misc-no-recursion) */
static const struct expr *grow_cast(struct grow *g, char want, int depth)
{
    struct sr_error err;
    const struct expr *model = grow_column(g, want), *e = grow_tree(g, '*', depth);
    return expr_cast(g->arena, e, &model->type, grow_number(g, 4) == 0, &err);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static const struct expr *grow_tree(struct grow *g, char want, int depth)
{
    const struct expr *e = NULL;
    if (depth == 0) {
        return grow_leaf(g, want);
    }
    uint64_t how = grow_number(g, 9);
    if (how == 0) {
        e = grow_cast(g, want, depth - 1);
    } else if (how == 1) {
        e = grow_choice(g, want, depth - 1);
    } else if (how == 2) {
        e = grow_field(g, depth - 1);
    }
    for (uint64_t i = 0, at = grow_number(g, GROW_RECIPES); how > 2 && !e && i < GROW_RECIPES;
         i++) {
        const struct recipe *r = &grow_recipes[(at + i) % GROW_RECIPES];
        bool may_fit = want == '*' || r->gives == want || r->gives == '*' ||
                       (strchr("#0", want) && strchr("#0kilfdn", r->gives)) ||
                       (strchr("kilfdn", want) && strchr("#0", r->gives)) || want == '.';
        if (may_fit && grow_number(g, 3) > 0) {
            e = grow_call(g, r, depth - 1);
            i += e ? 0 : GROW_RECIPES;
        }
    }
    return e && grow_fits(want, &e->type) ? e : grow_leaf(g, want);
}

const struct expr *grow_any(struct grow *g, int depth) { return grow_tree(g, '*', depth); }

const struct expr *grow_condition(struct grow *g, int depth) { return grow_tree(g, 'b', depth); }

/* NOLINTNEXTLINE(misc-no-recursion) */
const struct expr *grow_unfold(struct grow *g, const struct expr *e, const struct expr **literal,
                               uint32_t *literals, uint32_t max)
{
    if (e->kind == EXPR_COLUMN || (e->kind == EXPR_LITERAL && *literals == max)) {
        return e;
    }
    struct expr *copy = arena_copy(g->arena, e, sizeof(*e));
    if (e->kind == EXPR_LITERAL) {
        literal[*literals] = e;
        *copy = (struct expr){.kind = EXPR_COLUMN,
                              .type = e->type,
                              .offset = UINT32_MAX,
                              .column = g->schema.fields + (*literals)++};
        return copy;
    }
    const struct expr **arg = expr_array(g->arena, e->args);
    bool is_open = !e->kernel || (!e->kernel->prepare && !(e->kernel->flags & KERNEL_FIRST));
    for (uint32_t i = 0; i < e->args; i++) {
        bool is_literal = e->arg[i]->kind == EXPR_LITERAL;
        arg[i] =
            is_literal && !is_open ? e->arg[i] : grow_unfold(g, e->arg[i], literal, literals, max);
    }
    copy->arg = arg;
    return copy;
}
