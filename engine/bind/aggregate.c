#include "engine/bind/aggregate.h"

#include <string.h>

#include "engine/base/assert.h"
#include "engine/data/schema.h"

#define AGG_WINDOW_COLUMNS 3u
#define AGG_WINDOW_MS_MAX  (INT64_C(1000) * 365 * 86400 * 1000)
#define AGG_SLIDES_MAX     10000 /* of one window */

static const char *const agg_window_names[AGG_WINDOW_COLUMNS] = {"window_start", "window_end",
                                                                 "window_time"};

/* A column of the calc in front; the same expression is computed once. */
static uint32_t agg_calc_column(struct agg_scope *g, const char *name, const struct expr *e,
                                const struct job_text *t, uint32_t at)
{
    for (uint32_t c = 0; c < g->calc.count; c++) {
        if (expr_equal(g->calc.expr[c], e)) {
            return c;
        }
    }
    select_put(&g->calc, name, e, t, at);
    return g->calc.count - 1;
}

/* e, computed by the calc in front, as its column; NULL: it could not be added, with a fault. */
static const struct expr *agg_through_calc(struct agg_scope *g, const char *name,
                                           const struct expr *e, const struct scope *s, uint32_t at)
{
    uint32_t c = agg_calc_column(g, name, e, s->text, at);
    if (g->calc.has_failed) {
        return NULL;
    }
    /* The schema of the calc is not there yet: only the column's type and number matter. */
    struct sr_schema calc = {.fields = g->calc.count, .field = g->calc.field, .rowtime = -1};
    return expr_column(s->binder->arena, &calc, c);
}

static void agg_put_out(struct agg_scope *g, const char *name, struct sr_type type)
{
    g->field[g->out.fields++] = (struct sr_field){name, type};
}

static bool agg_keys(struct agg_scope *g)
{
    bool is_good = true;
    for (uint32_t k = 0; k < g->grouping->keys; k++) {
        const struct ast *n = g->grouping->key[k];
        struct scope s = g->input;
        s.text = g->grouping->key_text[k];
        const struct expr *e = bind_expr(&s, n);
        if (!e) {
            is_good = false;
            continue;
        }
        if (sr_is_nested(e->type.kind) || e->type.kind == SR_NULL) {
            bind_fault(s.binder, s.text, n->at, NULL, "SR0703: rows cannot be grouped by %s",
                       type_text(s.binder->arena, &e->type));
            is_good = false;
            continue;
        }
        const char *name = n->kind == AST_NAME ? n->item[n->count - 1]->name
                                               : arena_printf(s.binder->arena, "$key_%u", k);
        g->key_column[k] = agg_calc_column(g, name, e, s.text, n->at);
        agg_put_out(g, name, e->type);
    }
    return is_good;
}

static bool agg_window_time(struct agg_scope *g, struct scope *s)
{
    int32_t c = bind_column(s, g->grouping->time);
    if (c < 0) {
        return false;
    }
    g->is_proctime = logic_is_proctime(g->grouping->input, (uint32_t)c);
    if (c != s->in->rowtime && !g->is_proctime) {
        const char *is = s->in->rowtime >= 0 ? s->in->field[s->in->rowtime].name : NULL;
        bind_fault(s->binder, s->text, g->grouping->time->at,
                   is ? arena_printf(s->binder->arena, "the time attribute here is '%s'", is)
                      : "give the source a `watermark:`, and pass that column on, or a column "
                        "`AS PROCTIME()`",
                   "SR0704: a window needs the event time attribute, '%s' is none",
                   s->in->field[c].name);
        return false;
    }
    const struct expr *e = expr_column(s->binder->arena, s->in, (uint32_t)c);
    g->time_column = agg_calc_column(g, s->in->field[c].name, e, s->text, g->grouping->time->at);
    struct sr_type plain = type_nullable(type_with(SR_TIMESTAMP, 3, 0), false);
    struct sr_type time = type_nullable(type_with(s->in->field[c].type.kind, 3, 0), false);
    agg_put_out(g, agg_window_names[0], plain);
    agg_put_out(g, agg_window_names[1], plain);
    agg_put_out(g, agg_window_names[2], time);
    return true;
}

/* The windows, and what stands behind the time attribute. */
static const struct agg_window {
    enum window_kind kind;
    const char *name, *form, *words;
    const char *slide; /* what its first argument is called; NULL: it has none, the size is first */
} agg_windows[] = {
    {WINDOW_TUMBLE, "TUMBLE", "TUMBLE(time, size[, offset])",
     "a time attribute, a size and perhaps an offset", NULL},
    {WINDOW_HOP, "HOP", "HOP(time, slide, size[, offset])",
     "a time attribute, a slide, a size and perhaps an offset", "slide"},
    {WINDOW_CUMULATE, "CUMULATE", "CUMULATE(time, step, size[, offset])",
     "a time attribute, a step, a size and perhaps an offset", "step"},
    {WINDOW_SESSION, "SESSION", "SESSION(time, gap)", "a time attribute and a gap", NULL},
};

#define AGG_WINDOWS (sizeof(agg_windows) / sizeof(agg_windows[0]))

static const struct agg_window *agg_find_window(struct agg_scope *g, struct scope *s)
{
    const struct grouping *w = g->grouping;
    for (size_t i = 0; i < AGG_WINDOWS; i++) {
        if (strcmp(agg_windows[i].name, w->window) == 0) {
            return &agg_windows[i];
        }
    }
    bind_fault(s->binder, s->text, w->at, "TUMBLE, HOP, CUMULATE or SESSION",
               "SR0704: there is no window '%s'", w->window);
    return NULL;
}

static bool agg_slide_fits(struct agg_scope *g, struct scope *s, const struct agg_window *how)
{
    const struct grouping *w = g->grouping;
    if (!how->slide) {
        return true;
    }
    if (g->slide_ms <= 0 || g->slide_ms > g->size_ms) {
        bind_fault(s->binder, s->text, w->arg[0]->at, how->form,
                   g->slide_ms <= 0 ? "SR0704: a window's %s must be above zero"
                                    : "SR0704: a window's %s must not be longer than its size",
                   how->slide);
        return false;
    }
    if (g->size_ms % g->slide_ms != 0 && !w->is_older) {
        bind_fault(s->binder, s->text, w->arg[1]->at, how->form,
                   "SR0704: the size of a %s window must be a multiple of its %s, as in Flink",
                   how->name, how->slide);
        return false;
    }
    if (g->size_ms / g->slide_ms > AGG_SLIDES_MAX) {
        bind_fault(s->binder, s->text, w->arg[0]->at, NULL,
                   "SR0704: a window's %s is too short for its size: more than %d of them",
                   how->slide, AGG_SLIDES_MAX);
        return false;
    }
    return true;
}

static bool agg_window_fits(struct agg_scope *g, struct scope *s, const struct agg_window *how)
{
    const struct grouping *w = g->grouping;
    uint32_t size_at = how->slide ? 1 : 0;
    if (g->size_ms <= 0 || g->size_ms > AGG_WINDOW_MS_MAX) {
        bind_fault(s->binder, s->text, w->arg[size_at]->at, NULL,
                   g->size_ms <= 0 ? "SR0704: a window's size must be above zero"
                                   : "SR0704: a window's size must be below 1000 years");
        return false;
    }
    int64_t most = how->slide ? AGG_WINDOW_MS_MAX : g->size_ms; /* only TUMBLE is strict in Flink */
    if (g->offset_ms <= -most || g->offset_ms >= most) {
        bind_fault(s->binder, s->text, w->arg[size_at + 1]->at, NULL,
                   "SR0704: a window's offset must be shorter than %s",
                   how->slide ? "1000 years" : "its size");
        return false;
    }
    return agg_slide_fits(g, s, how);
}

static bool agg_window(struct agg_scope *g)
{
    const struct grouping *w = g->grouping;
    struct scope s = g->input;
    s.text = w->window_text;
    const struct agg_window *how = agg_find_window(g, &s);
    if (!how) {
        return false;
    }
    uint32_t least = how->slide ? 2 : 1, most = how->kind == WINDOW_SESSION ? least : least + 1;
    if (w->args < least || w->args > most) {
        bind_fault(s.binder, s.text, w->at, how->form, "SR0703: %s takes %s", how->name,
                   how->words);
        return false;
    }
    g->window = how->kind;
    bool is_good = agg_window_time(g, &s);
    is_good = (!how->slide || bind_interval_ms(&s, w->arg[0], &g->slide_ms)) && is_good;
    is_good = bind_interval_ms(&s, w->arg[least - 1], &g->size_ms) && is_good;
    is_good = (w->args == least || bind_interval_ms(&s, w->arg[least], &g->offset_ms)) && is_good;
    return is_good && agg_window_fits(g, &s, how);
}

struct agg_scope *agg_scope_new(const struct scope *input, const struct grouping *g)
{
    struct arena *a = input->binder->arena;
    struct agg_scope *s = arena_get(a, sizeof(*s));
    struct sr_field *field =
        arena_array(a, AGG_KEYS_MAX + AGG_WINDOW_COLUMNS + AGG_CALLS_MAX, sizeof(*field));
    if (!s || !field) {
        (void)bind_no_memory(input->binder);
        return NULL;
    }
    s->input = *input;
    s->input.agg = NULL;
    s->grouping = g;
    s->calc = (struct select){.binder = input->binder, .in = input->in};
    s->field = field;
    s->out = (struct sr_schema){.field = field, .rowtime = -1};
    bool is_good = agg_keys(s);
    is_good = (!g->window_text || agg_window(s)) && is_good;
    if (is_good && s->window != WINDOW_NONE && !s->is_proctime) {
        s->out.rowtime = (int32_t)(g->keys + 2);
    }
    return is_good ? s : NULL;
}

/* --- The select list -------------------------------------------------------------------------- */

static const struct expr *agg_out_column(struct agg_scope *g, uint32_t c)
{
    return expr_column(g->input.binder->arena, &g->out, c);
}

static const char *agg_name_of(const struct scope *s, const struct expr *e, const char *what,
                               uint32_t number)
{
    return e->kind == EXPR_COLUMN ? s->in->field[e->column].name
                                  : arena_printf(s->binder->arena, "$%s_%u", what, number);
}

/* The aggregate's argument; false with faults. */
static bool agg_argument(struct agg_scope *g, struct scope *s, const struct ast *n,
                         const struct expr **out)
{
    *out = NULL;
    if (n->count != 1) {
        bind_fault(s->binder, s->text, n->at, NULL, "SR0703: %s takes one argument", n->name);
        return false;
    }
    if (n->item[0]->kind == AST_STAR) {
        if (strcmp(n->name, "COUNT") != 0) {
            bind_fault(s->binder, s->text, n->at, NULL, "SR0703: only COUNT takes *");
            return false;
        }
        return true;
    }
    const struct expr *e = bind_expr(s, n->item[0]);
    if (!e) {
        return false;
    }
    *out = agg_through_calc(g, agg_name_of(s, e, "arg", g->calc.count), e, s, n->item[0]->at);
    return *out != NULL;
}

static bool agg_filter(struct agg_scope *g, struct scope *s, const struct ast *n,
                       const struct expr **out)
{
    *out = NULL;
    if (!n->filter) {
        return true;
    }
    const struct expr *e = bind_condition(s, n->filter, "FILTER");
    if (!e) {
        return false;
    }
    *out = agg_through_calc(g, agg_name_of(s, e, "filter", g->calc.count), e, s, n->filter->at);
    return *out != NULL;
}

static const char *agg_result_name(const struct agg_scope *g, const struct scope *s,
                                   const struct ast *n, const struct agg *call)
{
    if (call->filter) {
        return arena_printf(s->binder->arena, "$agg_%u", g->aggs);
    }
    return arena_printf(s->binder->arena, "%s(%s)", n->name,
                        call->arg ? g->calc.field[call->arg->column].name : "*");
}

static bool agg_same_expr(const struct expr *a, const struct expr *b)
{
    return (!a && !b) || (a && b && expr_equal(a, b));
}

/* The column of an aggregate's result; the same call is computed once. */
static const struct expr *agg_result(struct agg_scope *g, struct scope *s, const struct ast *n,
                                     const struct agg *call)
{
    uint32_t first = g->out.fields - g->aggs;
    for (uint32_t i = 0; i < g->aggs; i++) {
        const struct agg *have = &g->agg[i];
        if (have->kind == call->kind && have->is_distinct == call->is_distinct &&
            agg_same_expr(have->arg, call->arg) && agg_same_expr(have->filter, call->filter)) {
            return agg_out_column(g, first + i);
        }
    }
    if (g->aggs == AGG_CALLS_MAX) {
        bind_fault(s->binder, s->text, n->at, NULL, "SR0705: more than %u aggregates in one step",
                   AGG_CALLS_MAX);
        return NULL;
    }
    g->agg[g->aggs] = *call;
    g->agg_text[g->aggs] = s->text;
    g->agg_at[g->aggs] = n->at;
    agg_put_out(g, agg_result_name(g, s, n, call), call->type);
    g->aggs++;
    return agg_out_column(g, g->out.fields - 1);
}

static const struct expr *agg_call(struct agg_scope *g, const struct scope *from,
                                   const struct ast *n)
{
    struct scope s = g->input;
    s.text = from->text;
    const struct expr *arg = NULL, *filter = NULL;
    bool is_good = agg_argument(g, &s, n, &arg);
    is_good = agg_filter(g, &s, n, &filter) && is_good;
    if (!is_good) {
        return NULL;
    }
    struct agg call = {0};
    struct sr_error err = {0};
    if (agg_bind(n->name, arg, &call, &err) != SR_OK) {
        bind_fault(s.binder, s.text, n->at, NULL, "SR0703: %s", err.words);
        return NULL;
    }
    call.filter = filter;
    call.is_distinct = n->is_distinct && call.kind != AGG_MIN && call.kind != AGG_MAX;
    if (call.is_distinct) {
        bind_fault(s.binder, s.text, n->at, NULL, "SR0207: %s(DISTINCT ...) is not supported yet",
                   n->name);
        return NULL;
    }
    return agg_result(g, &s, n, &call);
}

/* A name behind GROUP BY is a window column or a key, nothing else. */
static const struct expr *agg_name(struct agg_scope *g, const struct scope *from,
                                   const struct ast *n)
{
    struct scope s = g->input;
    s.text = from->text;
    const char *name = n->item[n->count - 1]->name;
    bool is_ours = n->count == 1 || (n->count == 2 && bind_is_table(&s, n->item[0]->name));
    for (uint32_t i = 0; i < AGG_WINDOW_COLUMNS && g->window != WINDOW_NONE; i++) {
        if (is_ours && strcmp(name, agg_window_names[i]) == 0) {
            return agg_out_column(g, g->grouping->keys + i);
        }
    }
    int32_t c = bind_column(&s, n);
    if (c < 0) {
        return NULL;
    }
    bind_fault(s.binder, s.text, n->at, "add it to group-by, or take MIN or MAX of it",
               "SR0703: column '%s' is neither grouped by nor inside an aggregate", name);
    return NULL;
}

static bool agg_same_argument(const struct ast *a, const struct ast *b)
{
    bool are_names = a->kind == AST_NAME && b->kind == AST_NAME; /* ts, t.ts */
    return are_names ? strcmp(a->item[a->count - 1]->name, b->item[b->count - 1]->name) == 0
                     : ast_equal(a, b);
}

/* Is the call, of TUMBLE_START say, given what the window of the grouping is given? */
static bool agg_same_window(const struct grouping *w, const struct ast *call)
{
    bool is_same = call->count == w->args + 1 && agg_same_argument(call->item[0], w->time);
    for (uint32_t i = 0; i < w->args && is_same; i++) {
        is_same = agg_same_argument(call->item[i + 1], w->arg[i]);
    }
    return is_same;
}

/* TUMBLE_START(...), HOP_END(...) and their kin of Flink's older syntax: which of the window's
 * columns that is; AGG_WINDOW_COLUMNS: it is none of them. */
static uint32_t agg_older_call(const struct agg_scope *g, const struct ast *n)
{
    const char *const parts[AGG_WINDOW_COLUMNS] = {"_START", "_END",
                                                   g->is_proctime ? "_PROCTIME" : "_ROWTIME"};
    uint32_t i = 0;
    if (g->window == WINDOW_NONE || n->kind != AST_CALL ||
        strncmp(n->name, g->grouping->window, strlen(g->grouping->window)) != 0) {
        return AGG_WINDOW_COLUMNS;
    }
    while (i < AGG_WINDOW_COLUMNS && strcmp(n->name + strlen(g->grouping->window), parts[i]) != 0) {
        i++;
    }
    return i;
}

static const struct expr *agg_older(struct agg_scope *g, const struct scope *s, const struct ast *n,
                                    uint32_t column)
{
    if (agg_same_window(g->grouping, n)) {
        return agg_out_column(g, g->grouping->keys + column);
    }
    bind_fault(s->binder, s->text, n->at, "give it the arguments of that window",
               "SR0703: %s is of another window than the %s that rows are grouped by", n->name,
               g->grouping->window);
    return NULL;
}

/* The key that a name means, in whatever way it is written: `page`, `t.page`; -1: none. */
static int32_t agg_key_of(struct agg_scope *g, const struct scope *s, const struct ast *n)
{
    struct scope input = g->input;
    input.text = s->text;
    for (uint32_t k = 0; k < g->grouping->keys; k++) {
        const struct ast *key = g->grouping->key[k];
        const struct expr *e = g->calc.expr[g->key_column[k]];
        if (key->kind != AST_NAME || e->kind != EXPR_COLUMN || !agg_same_argument(key, n)) {
            continue;
        }
        int32_t c = bind_column(&input, n);
        if (c < 0 || (uint32_t)c == e->column) {
            return c < 0 ? -1 : (int32_t)k;
        }
    }
    return -1;
}

const struct expr *agg_scope_bind(struct scope *s, const struct ast *n, bool *is_settled)
{
    struct agg_scope *g = s->agg;
    *is_settled = true;
    for (uint32_t k = 0; k < g->grouping->keys; k++) {
        if (ast_equal(g->grouping->key[k], n)) {
            return agg_out_column(g, k);
        }
    }
    uint32_t older = agg_older_call(g, n);
    if (older < AGG_WINDOW_COLUMNS) {
        return agg_older(g, s, n, older);
    }
    if (n->kind == AST_CALL && func_is_aggregate(n->name)) {
        return agg_call(g, s, n);
    }
    if (n->kind == AST_NAME) {
        int32_t key = agg_key_of(g, s, n);
        return key >= 0 ? agg_out_column(g, (uint32_t)key) : agg_name(g, s, n);
    }
    *is_settled = false;
    return NULL;
}

/* --- Nodes ------------------------------------------------------------------------------------ */

/* What an aggregate cannot take back is refused over rows that change. */
static bool agg_takes_changes(struct agg_scope *g)
{
    struct binder *b = g->input.binder;
    if (g->window != WINDOW_NONE) {
        bind_fault(b, g->grouping->window_text, g->grouping->at, NULL,
                   "SR0207: a window over updating results is not supported yet");
        return false;
    }
    for (uint32_t i = 0; i < g->aggs; i++) {
        if (g->agg[i].kind == AGG_MIN || g->agg[i].kind == AGG_MAX) {
            bind_fault(b, g->agg_text[i], g->agg_at[i], NULL,
                       "SR0207: MIN and MAX over updating results are not supported yet");
            return false;
        }
    }
    return true;
}

static bool agg_fill(struct agg_scope *g, struct logic *n)
{
    struct arena *a = g->input.binder->arena;
    uint32_t keys = g->grouping->keys;
    uint32_t *key = arena_array(a, (size_t)keys + 1, sizeof(*key));
    uint32_t *name = arena_array(a, (size_t)keys + 1, sizeof(*name));
    for (uint32_t k = 0; key && name && k < keys; k++) {
        key[k] = g->key_column[k];
        name[k] = k;
    }
    n->out = arena_copy(a, &g->out, sizeof(g->out));
    n->aggregate = (struct aggregate_step){.key = key,
                                           .keys = keys,
                                           .agg = g->agg,
                                           .aggs = g->aggs,
                                           .window = g->window,
                                           .time_column = g->time_column,
                                           .size_ms = g->size_ms,
                                           .slide_ms = g->slide_ms,
                                           .offset_ms = g->offset_ms,
                                           .is_proctime = g->is_proctime};
    n->is_updating = g->window == WINDOW_NONE;
    n->keys = n->is_updating ? keys : 0;
    n->key = name;
    return key && name && n->out;
}

struct logic *agg_scope_nodes(struct agg_scope *g, const struct job_step *step, struct logic *input,
                              const struct expr *where)
{
    struct binder *b = g->input.binder;
    if (input->is_updating && !agg_takes_changes(g)) {
        return NULL;
    }
    struct logic *calc = select_calc(&g->calc, step, input, where);
    calc = calc ? bind_feed(b, step, calc, JOB_FEED_GROUPED) : NULL;
    struct logic *n = calc ? logic_add(b->graph, LOGIC_AGGREGATE, step, &calc, 1) : NULL;
    if (!n) {
        return NULL;
    }
    n->on_error = calc->on_error;
    n->on_late = step->on_late;
    if (!agg_fill(g, n)) {
        (void)bind_no_memory(b);
        return NULL;
    }
    return n;
}
