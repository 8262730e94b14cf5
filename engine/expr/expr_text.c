/* A tree as SQL, for drawings and faults: operators between their operands, as few brackets as the
 * precedence allows. */
#include <ctype.h>
#include <string.h>

#include "engine/data/schema.h"
#include "engine/expr/family.h"
#include "engine/expr/program.h"

/* How tight an operator binds; what binds less than its place asks for goes into brackets. */
enum {
    TEXT_OR = 1,
    TEXT_AND,
    TEXT_NOT,
    TEXT_IS,
    TEXT_COMPARE,
    TEXT_RANGE,
    TEXT_ADD,
    TEXT_MULTIPLY,
    TEXT_SIGN,
    TEXT_CALL
};

struct text_infix {
    const char *name;
    int level;
};

static const struct text_infix text_infixes[] = {
    {"OR", TEXT_OR},
    {"AND", TEXT_AND},
    {"=", TEXT_COMPARE},
    {"<>", TEXT_COMPARE},
    {"<", TEXT_COMPARE},
    {"<=", TEXT_COMPARE},
    {">", TEXT_COMPARE},
    {">=", TEXT_COMPARE},
    {"IS DISTINCT FROM", TEXT_COMPARE},
    {"IS NOT DISTINCT FROM", TEXT_COMPARE},
    {"LIKE", TEXT_RANGE},
    {"SIMILAR TO", TEXT_RANGE},
    {"+", TEXT_ADD},
    {"-", TEXT_ADD},
    {"*", TEXT_MULTIPLY},
    {"/", TEXT_MULTIPLY},
    {"%", TEXT_MULTIPLY},
    {"||", TEXT_MULTIPLY},
};

static int text_infix_level(const char *name)
{
    for (size_t i = 0; i < sizeof(text_infixes) / sizeof(text_infixes[0]); i++) {
        if (strcmp(text_infixes[i].name, name) == 0) {
            return text_infixes[i].level;
        }
    }
    return 0;
}

static const char *text_quoted(struct arena *a, const char *prefix, const char *bytes, uint32_t len)
{
    char *out = arena_get(a, (size_t)len * 2 + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; out && i < len; i++) {
        out[n++] = bytes[i];
        if (bytes[i] == '\'') {
            out[n++] = '\'';
        }
    }
    return out ? arena_printf(a, "%s'%s'", prefix, out) : NULL;
}

/* In the largest unit that leaves no rest, so that it reads as it was written. */
static const char *text_interval(struct arena *a, int64_t ms)
{
    static const struct {
        int64_t ms;
        const char *unit;
    } units[] = {{86400000, "DAY"}, {3600000, "HOUR"}, {60000, "MINUTE"}, {1000, "SECOND"}};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (ms != 0 && ms % units[i].ms == 0) {
            return arena_printf(a, "INTERVAL '%lld' %s", (long long)(ms / units[i].ms),
                                units[i].unit);
        }
    }
    bool is_negative = ms < 0;
    uint64_t size = is_negative ? 0 - (uint64_t)ms : (uint64_t)ms;
    return arena_printf(a, "INTERVAL %s'%llu.%03llu' SECOND", is_negative ? "-" : "",
                        (unsigned long long)(size / 1000), (unsigned long long)(size % 1000));
}

static const char *text_literal(struct arena *a, const struct expr *e)
{
    struct program_text v;
    struct sr_error err;
    if (e->is_null) {
        return "NULL";
    }
    if (sr_is_text(e->type.kind)) {
        return text_quoted(a, "", e->text, e->text_len);
    }
    if (program_constant(a, e, "UTC", NULL, &v, &err) != SR_OK || !v.text) {
        return "?";
    }
    switch (e->type.kind) {
    case SR_DATE:
        return text_quoted(a, "DATE ", v.text, v.len);
    case SR_TIME:
        return text_quoted(a, "TIME ", v.text, v.len);
    case SR_TIMESTAMP:
    case SR_TIMESTAMP_LTZ:
        return text_quoted(a, "TIMESTAMP ", v.text, v.len);
    case SR_INTERVAL_MONTH:
        return arena_printf(a, "INTERVAL '%lld' MONTH", (long long)e->value.i);
    case SR_INTERVAL_SECOND:
        return text_interval(a, e->value.i);
    case SR_VARIANT:
        return arena_printf(a, "PARSE_JSON(%s)", text_quoted(a, "", v.text, v.len));
    case SR_BINARY:
    case SR_VARBINARY:
        return v.text;
    case SR_BOOLEAN:
    case SR_TINYINT:
    case SR_SMALLINT:
    case SR_INT:
    case SR_BIGINT:
    case SR_FLOAT:
    case SR_DOUBLE:
    case SR_DECIMAL:
    case SR_CHAR:
    case SR_VARCHAR:
    case SR_ARRAY:
    case SR_MAP:
    case SR_MULTISET:
    case SR_ROW:
    case SR_NULL:
    case SR_KIND_COUNT:
        break;
    }
    return v.text;
}

/* Names as they are, but those that could be taken for something else. */
static const char *text_column(struct arena *a, const struct expr *e, const struct sr_schema *s)
{
    if (!s || e->column >= s->fields) {
        return arena_printf(a, "$%u", e->column);
    }
    const char *name = s->field[e->column].name;
    for (const char *c = name; *c; c++) {
        if (!isalnum((unsigned char)*c) && !strchr("_$()*", *c) && (unsigned char)*c < 0x80) {
            return arena_printf(a, "`%s`", name);
        }
    }
    return name;
}

/* A call whose arguments are texts already. */
struct text_call {
    struct arena *arena;
    const struct expr *e;
    const char **arg;
    int level; /* of the text that was made */
};

#define TEXT_LIST_MAX 50u /* arguments of a call that are written; of more, only how many */

static const char *text_list(const struct text_call *c, uint32_t from)
{
    const char *text = from < c->e->args ? c->arg[from] : "";
    uint32_t i = from + 1;
    for (; i < c->e->args && i - from < TEXT_LIST_MAX && text; i++) {
        text = arena_printf(c->arena, "%s, %s", text, c->arg[i]);
    }
    return i < c->e->args && text ? arena_printf(c->arena, "%s, and %u more", text, c->e->args - i)
                                  : text;
}

/* The values stand in front, that of ELSE last among them; then the conditions. */
static const char *text_case(const struct text_call *c)
{
    const char *text = "CASE";
    uint32_t values = c->e->args / 2 + 1;
    for (uint32_t i = 0; i + 1 < values && text; i++) {
        text = arena_printf(c->arena, "%s WHEN %s THEN %s", text, c->arg[values + i], c->arg[i]);
    }
    return text ? arena_printf(c->arena, "%s ELSE %s END", text, c->arg[values - 1]) : NULL;
}

/* Prefix and postfix operators, and ranges; NULL: none of them. */
static const char *text_form(struct text_call *c, const char *name)
{
    if (strcmp(name, "NOT") == 0 && c->e->args == 1) {
        c->level = TEXT_NOT;
        return arena_printf(c->arena, "NOT %s", c->arg[0]);
    }
    if (strcmp(name, "-") == 0 && c->e->args == 1) {
        c->level = TEXT_SIGN;
        return arena_printf(c->arena, "-%s", c->arg[0]);
    }
    if (strncmp(name, "IS ", 3) == 0 && c->e->args == 1) {
        c->level = TEXT_IS;
        return arena_printf(c->arena, "%s %s", c->arg[0], name);
    }
    if (strcmp(name, "BETWEEN") == 0 && c->e->args == 3) {
        c->level = TEXT_RANGE;
        return arena_printf(c->arena, "%s BETWEEN %s AND %s", c->arg[0], c->arg[1], c->arg[2]);
    }
    if (strcmp(name, "IN") == 0 && c->e->args > 1) {
        c->level = TEXT_RANGE;
        return arena_printf(c->arena, "%s IN (%s)", c->arg[0], text_list(c, 1));
    }
    return NULL;
}

/* a AND b AND c */
static const char *text_chain(struct text_call *c, const char *name)
{
    const char *text = c->arg[0];
    for (uint32_t i = 1; i < c->e->args && text; i++) {
        text = arena_printf(c->arena, "%s %s %s", text, name, c->arg[i]);
    }
    return text;
}

static const char *text_make(struct text_call *c)
{
    const char *name = c->e->func->name;
    uint32_t args = c->e->args;
    int infix = text_infix_level(name);
    if (infix > 0 && args == 2) {
        c->level = infix;
        return arena_printf(c->arena, "%s %s %s", c->arg[0], name, c->arg[1]);
    }
    if (infix > 0 && args > 2 && infix <= TEXT_AND) {
        c->level = infix;
        return text_chain(c, name);
    }
    const char *form = text_form(c, name);
    if (form) {
        return form;
    }
    c->level = TEXT_CALL;
    if (strcmp(name, "CASE") == 0) {
        return text_case(c);
    }
    if (args == 1 && (strcmp(name, "CAST") == 0 || strcmp(name, "TRY_CAST") == 0)) {
        struct sr_type type = type_nullable(c->e->type, true);
        return arena_printf(c->arena, "%s(%s AS %s)", name, c->arg[0], type_text(c->arena, &type));
    }
    return arena_printf(c->arena, "%s(%s)", name, text_list(c, 0));
}

/* Operands of what binds tightly need brackets when they bind less; arguments of calls never do. */
static int text_asked(const struct expr *e, uint32_t arg)
{
    const char *name = e->func->name;
    int infix = text_infix_level(name);
    if (infix > 0 && e->args >= 2) {
        return arg == 0 || infix <= TEXT_AND ? infix : infix + 1;
    }
    if (strcmp(name, "NOT") == 0) {
        return TEXT_IS;
    }
    if (strcmp(name, "-") == 0) {
        return TEXT_CALL;
    }
    if (strncmp(name, "IS ", 3) == 0) {
        return TEXT_IS;
    }
    bool is_range = strcmp(name, "BETWEEN") == 0 || (strcmp(name, "IN") == 0 && arg == 0);
    return is_range ? TEXT_ADD : 0;
}

/* NOLINTNEXTLINE(misc-no-recursion): a tree is at most EXPR_DEPTH_MAX deep */
static const char *text_of(struct arena *a, const struct expr *e, const struct sr_schema *s,
                           int *level)
{
    *level = TEXT_CALL;
    if (e->kind == EXPR_COLUMN) {
        return text_column(a, e, s);
    }
    if (e->kind == EXPR_LITERAL) {
        return text_literal(a, e);
    }
    struct text_call c = {.arena = a, .e = e};
    c.arg = arena_array(a, (size_t)e->args + 1, sizeof(char *));
    for (uint32_t i = 0; c.arg && i < e->args; i++) {
        int inner = 0;
        const char *text = text_of(a, e->arg[i], s, &inner);
        text = text ? text : "";
        c.arg[i] = inner < text_asked(e, i) ? arena_printf(a, "(%s)", text) : text;
    }
    if (!c.arg || arena_is_broken(a)) {
        return "";
    }
    const char *text = text_make(&c);
    *level = c.level;
    return text ? text : "";
}

const char *expr_text(struct arena *a, const struct expr *e, const struct sr_schema *s)
{
    int level = 0;
    const char *text = text_of(a, e, s, &level);
    return text ? text : "";
}
