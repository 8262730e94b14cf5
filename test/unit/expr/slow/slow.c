#include "test/unit/expr/slow/slow.h"

#include <stdlib.h>
#include <string.h>

#include "engine/data/pool.h"
#include "engine/data/schema.h"
#include "engine/expr/family.h"
#include "engine/expr/program.h"
#include "engine/expr/promote.h"
#include "test/unit/unit.h"

#define SLOW_FAR_MS INT64_C(9000000000000000)

/* Recursion in this file goes down a tree, whose depth is at most EXPR_DEPTH_MAX. */

void slow_fail(struct slow *s) { s->has_failed = true; }

/* --- The engine, for calls that are not known. ------------------------------------------------ */

struct slow_program {
    const struct expr *e;
    struct sr_schema in; /* a column an argument that is no literal */
    struct program *program;
};

struct slow_engine {
    struct arena *arena;
    struct slow_program *program;
    uint32_t programs, room;
};

static void slow_prepare(struct slow_engine *g, struct slow_program *p, const struct expr *e)
{
    struct sr_error err = {0};
    struct sr_field *field = arena_array(g->arena, e->args + 1u, sizeof(*field));
    struct expr *copy = arena_copy(g->arena, e, sizeof(*e));
    const struct expr **arg = expr_array(g->arena, e->args);
    *p = (struct slow_program){.e = e, .in = {.field = field, .rowtime = -1}};
    for (uint32_t i = 0; i < e->args; i++) {
        field[p->in.fields] = (struct sr_field){.name = "x", .type = e->arg[i]->type};
        arg[i] = e->arg[i];
        if (e->arg[i]->kind != EXPR_LITERAL) {
            arg[i] = expr_column(g->arena, &p->in, p->in.fields++);
        }
    }
    copy->arg = arg;
    const struct expr *out = copy;
    struct program_conf conf = {.in = &p->in, .out = &out, .outs = 1, .time_zone = "UTC"};
    ck_assert_msg(program_new(&p->program, &conf, &err) == SR_OK, "%s", err.words);
}

static struct slow_program *slow_program_of(struct slow *s, const struct expr *e)
{
    if (!s->engine) {
        s->engine = calloc(1, sizeof(*s->engine));
        ck_assert_ptr_nonnull(s->engine);
        s->engine->arena = arena_new();
    }
    struct slow_engine *g = s->engine;
    for (uint32_t i = 0; i < g->programs; i++) {
        if (g->program[i].e == e) {
            return &g->program[i];
        }
    }
    if (g->programs == g->room) {
        g->room = g->room * 2 + 16;
        g->program = realloc(g->program, g->room * sizeof(*g->program));
        ck_assert_ptr_nonnull(g->program);
    }
    slow_prepare(g, &g->program[g->programs], e);
    return &g->program[g->programs++];
}

static struct box slow_foreign(struct slow *s, const struct expr *e, const struct box *arg)
{
    struct slow_program *p = slow_program_of(s, e);
    struct sr_error err = {0};
    struct sr_view *v = view_new(s->home, p->in.fields);
    v->rows = v->picked = 1;
    for (uint32_t i = 0, n = 0; i < e->args; i++) {
        if (e->arg[i]->kind != EXPR_LITERAL) {
            v->col[n] = column_new(s->home, &p->in.field[n].type, SR_BATCH_ROWS);
            box_put(s->home, v->col[n], 0, &arg[i]);
            ck_assert(column_finish(s->home, v->col[n], 1));
            n++;
        }
    }
    struct sr_column *col;
    struct sr_bad_row *bad = calloc(SR_BAD_ROWS_MAX, sizeof(*bad));
    struct program_result r = {.col = &col, .bad = bad};
    ck_assert_int_eq(program_run(p->program, s->home, v, 0, &r, &err), SR_OK);
    struct box out = {.is_null = true};
    if (r.bads > 0) {
        slow_fail(s);
    } else {
        out = box_get(s->arena, col, 0);
    }
    column_release(col);
    view_release(v);
    free(bad);
    s->foreign++;
    return out;
}

void slow_done(struct slow *s)
{
    for (uint32_t i = 0; s->engine && i < s->engine->programs; i++) {
        program_free(s->engine->program[i].program);
    }
    if (s->engine) {
        arena_free(s->engine->arena);
        free(s->engine->program);
        free(s->engine);
        s->engine = NULL;
    }
}

/* --- Conditions. ------------------------------------------------------------------------------ */

static struct box slow_bool(bool v) { return (struct box){.i = v}; }
static const struct box slow_null = {.is_null = true};

/* NOLINTNEXTLINE(misc-no-recursion) */
static struct box slow_logic(struct slow *s, const struct expr *e, bool decides)
{
    struct box a = slow_value(s, e->arg[0]);
    if (s->has_failed || (!a.is_null && (a.i != 0) == decides)) {
        return a;
    }
    struct box b = slow_value(s, e->arg[1]);
    return !b.is_null && (b.i != 0) == decides ? b : a.is_null ? a : b;
}

/* The branches come first, ELSE the last of them, then the conditions. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static struct box slow_case(struct slow *s, const struct expr *e)
{
    uint32_t branches = e->args / 2 + 1;
    for (uint32_t i = 0; i + 1 < branches && !s->has_failed; i++) {
        struct box when = slow_value(s, e->arg[branches + i]);
        if (!s->has_failed && !when.is_null && when.i != 0) {
            return slow_value(s, e->arg[i]);
        }
    }
    return s->has_failed ? slow_null : slow_value(s, e->arg[branches - 1]);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static struct box slow_coalesce(struct slow *s, const struct expr *e)
{
    struct box v = slow_null;
    for (uint32_t i = 0; i < e->args && v.is_null && !s->has_failed; i++) {
        v = slow_value(s, e->arg[i]);
    }
    return v;
}

/* IS NULL, IS TRUE and the like, and NOT. */
static bool slow_test(const char *name, struct box a, struct box *out)
{
    bool is_not = strncmp(name, "IS NOT ", 7) == 0;
    const char *what = name + (is_not ? 7 : 3);
    if (strcmp(name, "NOT") == 0) {
        *out = a.is_null ? a : slow_bool(a.i == 0);
    } else if (strncmp(name, "IS ", 3) != 0) {
        return false;
    } else if (strcmp(what, "NULL") == 0 || strcmp(what, "UNKNOWN") == 0) {
        *out = slow_bool(a.is_null != is_not);
    } else if (strcmp(what, "TRUE") == 0 || strcmp(what, "FALSE") == 0) {
        bool is_it = !a.is_null && (a.i != 0) == (what[0] == 'T');
        *out = slow_bool(is_it != is_not);
    } else {
        return false;
    }
    return true;
}

/* --- Calls. ----------------------------------------------------------------------------------- */

/* NULL when any argument is. */
static bool slow_is_strict(const char *name)
{
    static const char *const names[] = {"+",
                                        "-",
                                        "*",
                                        "/",
                                        "%",
                                        "MOD",
                                        "=",
                                        "<>",
                                        "<",
                                        "<=",
                                        ">",
                                        ">=",
                                        "IN",
                                        "LIKE",
                                        "GREATEST",
                                        "LEAST",
                                        "ABS",
                                        "SIGN",
                                        "FLOOR",
                                        "CEIL",
                                        "CEILING",
                                        "CAST",
                                        "TRY_CAST",
                                        "UPPER",
                                        "LOWER",
                                        "SUBSTRING",
                                        "SUBSTR",
                                        "LEFT",
                                        "RIGHT",
                                        "TRIM",
                                        "LTRIM",
                                        "RTRIM",
                                        "BTRIM",
                                        "REVERSE",
                                        "REPEAT",
                                        "LPAD",
                                        "RPAD",
                                        "REPLACE",
                                        "CONCAT",
                                        "||",
                                        "POSITION",
                                        "LOCATE",
                                        "INSTR",
                                        "STARTSWITH",
                                        "ENDSWITH",
                                        "HEX",
                                        "ASCII",
                                        "CHAR_LENGTH",
                                        "CHARACTER_LENGTH",
                                        "SPLIT_INDEX",
                                        "EXTRACT",
                                        "SQRT",
                                        "TIMESTAMPDIFF"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool slow_families(struct slow_call *c, bool has_null)
{
    if (slow_nest(c)) {
        return true;
    }
    if (has_null && strcmp(c->name, "CONCAT_WS") != 0) {
        c->out->is_null = true;
        return slow_is_strict(c->name);
    }
    return slow_number(c) || slow_compare(c) || slow_text(c) || slow_time(c) || slow_cast(c);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static struct box slow_call(struct slow *s, const struct expr *e)
{
    struct box *arg = arena_array(s->arena, e->args + 1u, sizeof(*arg)), out = {0};
    bool has_null = false;
    for (uint32_t i = 0; i < e->args; i++) {
        arg[i] = slow_value(s, e->arg[i]);
        has_null = has_null || arg[i].is_null;
        if (s->has_failed) {
            return slow_null;
        }
    }
    if (!e->is_try && slow_test(e->func->name, arg[0], &out)) {
        s->own++;
        return out;
    }
    struct slow_call c = {.s = s, .e = e, .name = e->func->name, .arg = arg, .out = &out};
    if (!slow_families(&c, has_null)) {
        out = slow_foreign(s, e, arg);
        s->own--;
    }
    s->own++;
    if (s->has_failed && e->is_try) {
        s->has_failed = false;
        return slow_null;
    }
    s->is_far = s->is_far || (sr_is_timestamp(e->type.kind) && !out.is_null &&
                              (out.i > SLOW_FAR_MS || out.i < -SLOW_FAR_MS));
    return out.is_null ? slow_null : out;
}

/* The value of a literal. */
static struct box slow_literal(struct arena *a, const struct expr *e)
{
    struct box b = {.is_null = e->is_null, .i = e->value.i};
    const struct sr_type *t = &e->type;
    if (sr_has_bytes(t->kind)) {
        b.text = arena_text_n(a, e->text ? e->text : "", e->text_len);
        b.len = e->text_len;
    } else if (sr_is_approx(t->kind)) {
        b.d = t->kind == SR_FLOAT ? (double)(float)e->value.d : e->value.d;
    } else if (t->kind == SR_DECIMAL) {
        b.n = t->length <= SR_DECIMAL_SMALL
                  ? (__int128)e->value.i
                  : (__int128)((unsigned __int128)(uint64_t)e->value.wide.high << 64 |
                               e->value.wide.low);
    } else if (sr_is_timestamp(t->kind) && t->length > 6) {
        b.i = e->value.instant.ms;
        b.ns = e->value.instant.ns;
    } else if (sr_is_timestamp(t->kind)) {
        b.i = e->value.i / 1000 - (e->value.i % 1000 < 0 ? 1 : 0);
        b.ns = (int32_t)(e->value.i - b.i * 1000) * 1000;
    }
    return b;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
struct box slow_value(struct slow *s, const struct expr *e)
{
    if (e->kind == EXPR_COLUMN) {
        return s->row[e->column];
    }
    if (e->kind == EXPR_LITERAL) {
        return slow_literal(s->arena, e);
    }
    if (e->kernel) {
        return slow_call(s, e);
    }
    s->own++;
    const char *name = e->func->name;
    return strcmp(name, "AND") == 0    ? slow_logic(s, e, false)
           : strcmp(name, "OR") == 0   ? slow_logic(s, e, true)
           : strcmp(name, "CASE") == 0 ? slow_case(s, e)
                                       : slow_coalesce(s, e);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
bool slow_passes(struct slow *s, const struct expr *e)
{
    if (e->kind == EXPR_CALL && !e->kernel && strcmp(e->func->name, "AND") == 0) {
        return slow_passes(s, e->arg[0]) && slow_passes(s, e->arg[1]);
    }
    struct box v = slow_value(s, e);
    return !s->has_failed && !v.is_null && v.i != 0;
}
