#include <string.h>

#include "engine/base/assert.h"
#include "engine/bind/aggregate.h"
#include "engine/data/schema.h"

/* A transform, however it is written. */
struct transform {
    struct binder *b;
    const struct job_step *step;
    struct logic *input;
    struct scope scope;
    const struct job_text *where_text;
    const struct ast *where, *having;
    const struct ast **item; /* AST_ITEM; none: all columns */
    const struct job_text **item_text;
    uint32_t items;
    bool is_grouped;
    bool has_failed; /* an item or WHERE could not be read; the rest is bound for its own faults */
    struct grouping grouping;
};

/* Rows in front of a step that cannot be computed share the fate of the strictest input, unless the
 * step says what becomes of them. */
enum job_on_error bind_on_error(const struct job_step *step, const struct logic *input)
{
    return step->has_on_error || step->on_error != JOB_FAIL ? step->on_error : input->on_error;
}

/* --- Inputs ----------------------------------------------------------------------------------- */

static bool bind_same_columns(struct binder *b, const struct bound *s, uint32_t i)
{
    const struct sr_schema *first = s->from[0]->tail->out, *other = s->from[i]->tail->out;
    const struct job_text *t = s->step->from.count > i ? &s->step->from.item[i] : &s->step->name;
    if (first->fields != other->fields) {
        bind_fault(b, t, 0, "select the same columns in front of a union",
                   "SR0506: '%s' has %u columns, '%s' has %u", s->from[i]->step->name.text,
                   other->fields, s->from[0]->step->name.text, first->fields);
        return false;
    }
    for (uint32_t c = 0; c < first->fields; c++) {
        if (!type_equal(&first->field[c].type, &other->field[c].type, false)) {
            bind_fault(b, t, 0, "CAST one of them in front of the union",
                       "SR0506: column %u, '%s', is %s in '%s' and %s in '%s'", c + 1,
                       first->field[c].name, type_text(b->arena, &first->field[c].type),
                       s->from[0]->step->name.text, type_text(b->arena, &other->field[c].type),
                       s->from[i]->step->name.text);
            return false;
        }
        if (strcmp(first->field[c].name, other->field[c].name) != 0) {
            bind_fault(b, t, 0, "the inputs of a union have the same columns in the same order",
                       "SR0506: column %u is '%s' in '%s' and '%s' in '%s'", c + 1,
                       first->field[c].name, s->from[0]->step->name.text, other->field[c].name,
                       s->from[i]->step->name.text);
            return false;
        }
    }
    return true;
}

/* The schema of a union: a column may be NULL where one input's may; the time attribute stays if
 * all inputs agree on it. */
static struct sr_schema *bind_union_schema(struct binder *b, const struct bound *s)
{
    struct sr_schema *out = schema_copy(b->arena, s->from[0]->tail->out);
    struct sr_field *field =
        out ? arena_copy(b->arena, out->field, out->fields * sizeof(*field)) : NULL;
    if (!field) {
        (void)bind_no_memory(b);
        return NULL;
    }
    for (uint32_t i = 1; i < s->froms; i++) {
        const struct sr_schema *other = s->from[i]->tail->out;
        out->rowtime = other->rowtime == out->rowtime ? out->rowtime : -1;
        for (uint32_t c = 0; c < out->fields; c++) {
            field[c].type.is_nullable |= other->field[c].type.is_nullable;
        }
    }
    out->field = field;
    out->keys = 0;
    return out;
}

static struct logic *bind_union(struct binder *b, struct bound *s)
{
    struct logic **in = arena_array(b->arena, s->froms, sizeof(struct logic *));
    struct sr_schema *out = bind_union_schema(b, s);
    if (!in || !out) {
        return NULL;
    }
    bool is_updating = false;
    enum job_on_error on_error = s->from[0]->tail->on_error;
    for (uint32_t i = 0; i < s->froms; i++) {
        in[i] = logic_add_identity(b->graph, s->from[i]->step, s->from[i]->tail);
        if (!in[i]) {
            (void)bind_no_memory(b);
            return NULL;
        }
        in[i]->keys = 0;
        is_updating = is_updating || in[i]->is_updating;
        on_error = in[i]->on_error < on_error ? in[i]->on_error : on_error;
    }
    struct logic *n = logic_add(b->graph, LOGIC_UNION, s->step, in, s->froms);
    if (!n) {
        (void)bind_no_memory(b);
        return NULL;
    }
    if (n->ways > LOGIC_WAYS_MAX) {
        bind_fault(b, s->step->from.count > 0 ? &s->step->from.item[0] : &s->step->name, 0,
                   "a step that is named twice gives its rows twice",
                   "SR0705: rows come to '%s' by more than %u ways, with unions in its inputs "
                   "taken apart",
                   s->step->name.text, LOGIC_WAYS_MAX);
        return NULL;
    }
    n->out = out;
    n->is_updating = is_updating;
    n->on_error = on_error;
    return n;
}

struct logic *bind_inputs(struct binder *b, struct bound *s)
{
    bool is_good = s->froms > 0;
    for (uint32_t i = 0; i < s->froms; i++) {
        if (s->from[i]->has_failed || !s->from[i]->tail) {
            return NULL; /* said already */
        }
    }
    for (uint32_t i = 1; i < s->froms; i++) {
        is_good = bind_same_columns(b, s, i) && is_good;
    }
    if (!is_good) {
        return NULL;
    }
    return s->froms == 1 ? s->from[0]->tail : bind_union(b, s);
}

/* --- Reading what is written ------------------------------------------------------------------ */

static bool transform_group(struct transform *t, const struct ast *n, const struct job_text *text)
{
    if (t->grouping.keys == AGG_KEYS_MAX) {
        bind_fault(t->b, text, n->at, NULL, "SR0705: more than %u columns to group by",
                   AGG_KEYS_MAX);
        return false;
    }
    t->grouping.key[t->grouping.keys] = n;
    t->grouping.key_text[t->grouping.keys++] = text;
    t->is_grouped = true;
    return true;
}

/* n names the window; its item `time` is the time column, and the arguments stand behind that. */
static bool transform_set_window(struct transform *t, const struct ast *n, uint32_t time,
                                 const struct job_text *text)
{
    if (t->grouping.window_text) {
        bind_fault(t->b, text, n->at, NULL, "SR0704: rows are grouped by one window at most");
        return false;
    }
    t->grouping.window_text = text;
    t->grouping.window = n->name;
    t->grouping.time = n->item[time];
    t->grouping.arg = n->item + time + 1;
    t->grouping.args = n->count - time - 1;
    t->grouping.at = n->at;
    t->is_grouped = true;
    return true;
}

/* window: TUMBLE(ts, INTERVAL '1' MINUTE) */
static bool transform_window(struct transform *t, const struct ast *n, const struct job_text *text)
{
    if (n->kind != AST_CALL || n->count < 1 || n->item[0]->kind != AST_NAME) {
        bind_fault(t->b, text, n->at, NULL,
                   "SR0704: a window is written TUMBLE(time column, INTERVAL '...' unit)");
        return false;
    }
    return transform_set_window(t, n, 0, text);
}

static bool transform_items(struct transform *t, uint32_t count)
{
    t->item = arena_array(t->b->arena, (size_t)count + 1, sizeof(struct ast *));
    t->item_text = arena_array(t->b->arena, (size_t)count + 1, sizeof(struct job_text *));
    return t->item && t->item_text ? true : bind_no_memory(t->b);
}

/* False: what is grouped by is not known, so that nothing else makes sense. */
static bool transform_read_short(struct transform *t)
{
    const struct job_step *step = t->step;
    bool is_good = transform_items(t, step->select.count);
    for (uint32_t i = 0; i < step->select.count && t->item && t->item_text; i++) {
        const struct ast *n = bind_parse(t->b, PARSE_ITEM, &step->select.item[i]);
        t->item[t->items] = n;
        t->item_text[t->items] = &step->select.item[i];
        t->items += n ? 1 : 0;
        t->has_failed = t->has_failed || !n;
    }
    if (step->where.text) {
        t->where = bind_parse(t->b, PARSE_EXPR, &step->where);
        t->where_text = &step->where;
        t->has_failed = t->has_failed || !t->where;
    }
    if (step->window.text) {
        const struct ast *n = bind_parse(t->b, PARSE_EXPR, &step->window);
        is_good = n && transform_window(t, n, &step->window) && is_good;
    }
    for (uint32_t i = 0; i < step->group_by.count; i++) {
        const struct ast *n = bind_parse(t->b, PARSE_EXPR, &step->group_by.item[i]);
        is_good = n && transform_group(t, n, &step->group_by.item[i]) && is_good;
    }
    return is_good;
}

static bool transform_is_bound_name(const struct ast *n, const char *name)
{
    return n->kind == AST_NAME && strcmp(n->item[n->count - 1]->name, name) == 0;
}

static bool transform_is_listed(const struct ast *const *list, uint32_t count, const struct ast *n)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct ast *m = list[i];
        if (m->kind == AST_NAME && n->kind == AST_NAME &&
            strcmp(m->item[m->count - 1]->name, n->item[n->count - 1]->name) == 0) {
            return true;
        }
    }
    return false;
}

/* Sessions are those of what they are partitioned by, which here must be what is grouped by. */
static bool transform_check_partition(struct transform *t, const struct ast *window,
                                      const struct job_text *text)
{
    const struct ast *by = window->filter;
    const struct grouping *g = &t->grouping;
    if (strcmp(window->name, "SESSION") != 0) {
        if (by) {
            bind_fault(t->b, text, by->at, NULL, "SR0704: only SESSION takes PARTITION BY");
        }
        return !by;
    }
    bool is_same = g->keys == (by ? by->count : 0);
    for (uint32_t k = 0; k < g->keys && is_same; k++) {
        is_same = transform_is_listed(by->item, by->count, g->key[k]);
    }
    for (uint32_t i = 0; by && i < by->count && is_same; i++) {
        is_same = transform_is_listed(g->key, g->keys, by->item[i]);
    }
    if (!is_same) {
        bind_fault(
            t->b, text, by ? by->at : window->at,
            "SESSION(TABLE t PARTITION BY k, ...), and GROUP BY window_start, window_end, k",
            "SR0207: sessions are only supported where PARTITION BY names what GROUP BY does");
    }
    return is_same;
}

/* GROUP BY window_start, window_end, k over TABLE(TUMBLE(...)): the bounds are no keys. */
static bool transform_group_window(struct transform *t, const struct ast *window,
                                   const struct ast *group, const struct job_text *text)
{
    bool has_start = false, has_end = false, is_good = true;
    for (uint32_t i = 0; group && i < group->count; i++) {
        const struct ast *n = group->item[i];
        has_start = has_start || transform_is_bound_name(n, "window_start");
        has_end = has_end || transform_is_bound_name(n, "window_end");
        bool is_bound = transform_is_bound_name(n, "window_start") ||
                        transform_is_bound_name(n, "window_end") ||
                        transform_is_bound_name(n, "window_time");
        is_good = (is_bound || transform_group(t, n, text)) && is_good;
    }
    if (!has_start || !has_end) {
        bind_fault(t->b, text, window->at, "GROUP BY window_start, window_end, ...",
                   "SR0704: a window function is only supported with GROUP BY window_start and "
                   "window_end");
        return false;
    }
    is_good = is_good && transform_check_partition(t, window, text);
    return transform_set_window(t, window, 1, text) && is_good;
}

static bool transform_read_groups(struct transform *t, const struct ast *q)
{
    const struct ast *from = q->item[AST_FROM], *group = q->item[AST_GROUP_BY];
    const struct job_text *text = &t->step->sql;
    if (from->kind == AST_WINDOW) {
        return transform_group_window(t, from, group, text);
    }
    bool is_good = true;
    for (uint32_t i = 0; group && i < group->count; i++) {
        const struct ast *n = group->item[i];
        bool is_window =
            n->kind == AST_CALL && (strcmp(n->name, "TUMBLE") == 0 || strcmp(n->name, "HOP") == 0 ||
                                    strcmp(n->name, "SESSION") == 0);
        is_good =
            (is_window ? transform_window(t, n, text) : transform_group(t, n, text)) && is_good;
        t->grouping.is_older = t->grouping.is_older || is_window;
    }
    return is_good;
}

static bool transform_read_sql(struct transform *t, const struct ast *q)
{
    const struct job_text *text = &t->step->sql;
    if (q->is_distinct) {
        bind_fault(t->b, text, q->at, "GROUP BY all columns gives the same",
                   "SR0207: SELECT DISTINCT is not supported yet");
        return false;
    }
    const struct ast *list = q->item[AST_SELECT], *from = q->item[AST_FROM];
    const struct ast *table = from->kind == AST_WINDOW ? from->item[0] : from;
    if (!transform_items(t, list->count)) {
        return false;
    }
    for (uint32_t i = 0; i < list->count; i++) {
        t->item[i] = list->item[i];
        t->item_text[i] = text;
    }
    t->items = list->count;
    t->where = q->item[AST_WHERE];
    t->where_text = text;
    t->having = q->item[AST_HAVING];
    t->scope.table = table->name;
    t->scope.alias = table->count > 0 ? table->item[0]->name : NULL;
    return transform_read_groups(t, q);
}

/* --- Binding ---------------------------------------------------------------------------------- */

/* NOLINTNEXTLINE(misc-no-recursion): a syntax tree is at most AST_DEPTH_MAX deep */
static bool transform_has_aggregate(const struct ast *n)
{
    if (n->kind == AST_CALL && func_is_aggregate(n->name)) {
        return true;
    }
    for (uint32_t i = 0; i < n->count; i++) {
        if (n->item[i] && transform_has_aggregate(n->item[i])) {
            return true;
        }
    }
    return false;
}

static const struct expr *transform_where(struct transform *t, bool *is_good)
{
    if (!t->where) {
        return NULL;
    }
    struct scope s = t->scope;
    s.text = t->where_text;
    const struct expr *e = bind_condition(&s, t->where, "where");
    *is_good = *is_good && e;
    return e;
}

static void transform_select(struct transform *t, struct select *l, struct scope *s)
{
    for (uint32_t i = 0; i < t->items; i++) {
        s->text = t->item_text[i];
        select_add(l, s, t->item[i]);
    }
}

static struct logic *transform_plain(struct transform *t)
{
    bool is_good = true;
    const struct expr *where = transform_where(t, &is_good);
    struct select l = {.binder = t->b, .in = t->input->out};
    struct scope s = t->scope;
    transform_select(t, &l, &s);
    if (t->items == 0) {
        for (uint32_t c = 0; c < t->input->out->fields; c++) {
            select_put(&l, t->input->out->field[c].name, expr_column(t->b->arena, t->input->out, c),
                       &t->step->name, 0);
        }
    }
    return is_good ? select_calc(&l, t->step, t->input, where) : NULL;
}

/* The aggregate's columns are only known once the select list is bound, so that list's calc is made
 * last. */
static struct logic *transform_grouped(struct transform *t)
{
    bool is_good = true;
    const struct expr *where = transform_where(t, &is_good);
    t->grouping.input = t->input;
    struct agg_scope *g = agg_scope_new(&t->scope, &t->grouping);
    if (!g) {
        return NULL;
    }
    struct select l = {.binder = t->b, .in = &g->out};
    struct scope s = t->scope;
    s.agg = g;
    transform_select(t, &l, &s);
    s.text = &t->step->sql;
    const struct expr *having = t->having ? bind_condition(&s, t->having, "HAVING") : NULL;
    if (!is_good || l.has_failed || (t->having && !having)) {
        return NULL;
    }
    struct logic *n = agg_scope_nodes(g, t->step, t->input, where);
    n = n ? bind_feed(t->b, t->step, n, JOB_FEED_RESULTS) : NULL;
    return n ? select_calc(&l, t->step, n, having) : NULL;
}

static bool transform_check_groups(struct transform *t)
{
    for (uint32_t i = 0; i < t->items && !t->is_grouped; i++) {
        t->is_grouped = transform_has_aggregate(t->item[i]);
    }
    if (t->is_grouped && t->items == 0 && !t->has_failed) {
        bind_fault(t->b, &t->step->name, 0, "select: [keys..., COUNT(*) AS n]",
                   "SR0703: step '%s' groups rows, but selects nothing", t->step->name.text);
        return false;
    }
    if (t->is_grouped && t->items == 0) {
        return false;
    }
    if (t->having && !t->is_grouped) {
        bind_fault(t->b, &t->step->sql, t->having->at, "WHERE drops single rows",
                   "SR0703: HAVING without GROUP BY");
        return false;
    }
    return true;
}

/* Rows of an aggregate need one. */
static bool transform_check_feeds(struct transform *t)
{
    const struct job_step *step = t->step;
    if (t->is_grouped || (!step->feed[JOB_FEED_GROUPED] && !step->feed[JOB_FEED_RESULTS])) {
        return true;
    }
    bind_fault(t->b, &step->name, 0, NULL,
               "SR0510: rows that were set aside at the aggregate of step '%s' find none there",
               step->name.text);
    return false;
}

/* Only a window can say that a row is late. */
static bool transform_check_late(struct transform *t, const struct logic *tail)
{
    while (tail->kind != LOGIC_AGGREGATE && tail->step == t->step && tail->inputs > 0) {
        tail = tail->input[0];
    }
    bool has_window = tail->kind == LOGIC_AGGREGATE && tail->step == t->step &&
                      tail->aggregate.window != WINDOW_NONE;
    if (t->step->on_late == JOB_LATE_DROP || has_window) {
        return true;
    }
    bind_fault(t->b, &t->step->name, 0, "take it out, or write `window:`",
               "SR0704: step '%s': on-late needs a window", t->step->name.text);
    return false;
}

void bind_transform(struct binder *b, struct bound *s)
{
    struct transform *t = arena_get(b->arena, sizeof(*t));
    s->has_failed = true;
    if (!t) {
        (void)bind_no_memory(b);
        return;
    }
    t->b = b;
    t->step = s->step;
    /* What is written is read even where an input failed: its own faults are shown too. */
    bool is_good =
        s->step->sql.text ? s->query && transform_read_sql(t, s->query) : transform_read_short(t);
    t->input = bind_inputs(b, s);
    t->input = t->input ? bind_replays(b, s->step, t->input) : NULL;
    t->input = t->input ? bind_feed(b, s->step, t->input, JOB_FEED_INPUT) : NULL;
    if (!is_good || !t->input || !transform_check_groups(t) || !transform_check_feeds(t)) {
        return;
    }
    t->scope.binder = b;
    t->scope.text = s->step->sql.text ? &s->step->sql : &s->step->name;
    t->scope.in = t->input->out;
    if (!t->scope.table && s->froms == 1) {
        t->scope.table = s->from[0]->step->name.text;
    }
    s->tail = t->is_grouped ? transform_grouped(t) : transform_plain(t);
    s->has_failed = t->has_failed || !s->tail || !transform_check_late(t, s->tail);
}
