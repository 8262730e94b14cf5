#include "engine/sql/ast.h"

#include <string.h>

static const char *ast_join(struct arena *a, const char *text, const char *more)
{
    return arena_printf(a, "%s%s%s", text, text[0] != '\0' && more[0] != '\0' ? " " : "", more);
}

static const char *ast_head(struct arena *a, const struct ast *n)
{
    const char *name = n->name ? n->name : "";
    switch (n->kind) {
    case AST_NULL:
        return "NULL";
    case AST_BOOL:
    case AST_WORD:
        return name;
    case AST_NUMBER:
        return arena_printf(a, "%s%s", n->is_negative ? "-" : "", name);
    case AST_STRING:
        return arena_printf(a, "'%s'", name);
    case AST_BINARY:
        return arena_printf(a, "x'%s'", name);
    case AST_MOMENT:
        return arena_printf(a, "%s'%s'", n->unit, name);
    case AST_INTERVAL:
        return arena_printf(a, "INTERVAL %s'%s' %s%s%s", n->is_negative ? "-" : "", name, n->unit,
                            n->unit_to ? " TO " : "", n->unit_to ? n->unit_to : "");
    case AST_NAME:
        return "name";
    case AST_STAR:
        return "*";
    case AST_CALL:
        return arena_printf(a, "%s%s", name, n->is_distinct ? " DISTINCT" : "");
    case AST_CAST:
        return n->is_try ? "TRY_CAST" : "CAST";
    case AST_TYPE:
        return arena_printf(a, "type@%u-%u", n->at, n->end);
    case AST_ITEM:
        return ast_join(a, "item", name);
    case AST_LIST:
        return "list";
    case AST_COLUMN:
        return ast_join(a, ast_join(a, "column", name), n->unit ? n->unit : "");
    case AST_COMPUTED:
        return ast_join(a, "computed", name);
    case AST_WATERMARK:
        return ast_join(a, "watermark", name);
    case AST_KEY:
        return "key";
    case AST_QUERY:
        return n->is_distinct ? "SELECT DISTINCT" : "SELECT";
    case AST_TABLE:
        return ast_join(a, "table", name);
    case AST_WINDOW:
        return ast_join(a, "window", name);
    }
    return "";
}

/* NOLINTNEXTLINE(misc-no-recursion): a tree is at most AST_DEPTH_MAX deep */
const char *ast_text(struct arena *a, const struct ast *n)
{
    if (!n) {
        return "-";
    }
    const char *text = ast_head(a, n);
    if (n->count == 0 && !n->filter && n->kind != AST_CALL) {
        return text;
    }
    for (uint32_t i = 0; i < n->count && text; i++) {
        text = arena_printf(a, "%s %s", text, ast_text(a, n->item[i]));
    }
    if (n->filter) {
        text = arena_printf(a, "%s filter %s", text, ast_text(a, n->filter));
    }
    return arena_printf(a, "(%s)", text ? text : "");
}

static bool ast_same_text(const char *a, const char *b)
{
    return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

/* NOLINTNEXTLINE(misc-no-recursion): a tree is at most AST_DEPTH_MAX deep */
bool ast_equal(const struct ast *a, const struct ast *b)
{
    if (!a || !b) {
        return a == b;
    }
    if (a->kind != b->kind || a->count != b->count || a->len != b->len ||
        a->is_distinct != b->is_distinct || a->is_negative != b->is_negative ||
        a->is_try != b->is_try || !a->name != !b->name ||
        (a->name && memcmp(a->name, b->name, a->len) != 0) || !ast_same_text(a->unit, b->unit) ||
        !ast_same_text(a->unit_to, b->unit_to)) {
        return false;
    }
    for (uint32_t i = 0; i < a->count; i++) {
        if (!ast_equal(a->item[i], b->item[i])) {
            return false;
        }
    }
    return ast_equal(a->filter, b->filter);
}
