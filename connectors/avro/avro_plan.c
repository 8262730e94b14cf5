#include "connectors/avro/avro_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Recursion in this file goes down a column's type, and a schema of at most AVRO_DEPTH_MAX. */

struct avro_planner {
    bool is_write;
    char *why;
};

static bool avro_refuse(struct avro_planner *k, const char *name, const struct avro_node *n,
                        const struct sr_type *t)
{
    if (!k->why[0]) {
        (void)snprintf(k->why, 160, "column '%.60s' of type %s does not fit Avro's %s%s", name,
                       sr_kind_word(t->kind), avro_kind_word(n->kind),
                       n->logical == AVRO_DECIMAL ? " (decimal)" : "");
    }
    return false;
}

static bool avro_out_of_memory(struct avro_planner *k)
{
    (void)snprintf(k->why, 160, "out of memory");
    return false;
}

/* Integers: to what may hold them, Avro's promotions among it. */
static bool avro_fits_integer(const struct avro_node *n, const struct sr_type *t, bool is_write)
{
    bool is_int = n->kind == AVRO_INT;
    switch (n->logical) {
    case AVRO_DATE:
        return t->kind == SR_DATE || t->kind == SR_INT;
    case AVRO_TIME_MILLIS:
    case AVRO_TIME_MICROS:
        return t->kind == SR_TIME;
    case AVRO_STAMP_MILLIS:
    case AVRO_STAMP_MICROS:
        return sr_is_timestamp(t->kind) || t->kind == SR_BIGINT;
    case AVRO_PLAIN:
    case AVRO_DECIMAL:
        break;
    }
    if (is_write) {
        return is_int ? sr_is_integer(t->kind) && t->kind != SR_BIGINT : sr_is_integer(t->kind);
    }
    bool is_short = sr_is_integer(t->kind) && (is_int || t->kind == SR_BIGINT);
    return is_short || sr_is_approx(t->kind) || (is_int && t->kind == SR_DATE);
}

static bool avro_fits_scalar(const struct avro_node *n, const struct sr_type *t, bool is_write)
{
    switch (n->kind) {
    case AVRO_BOOLEAN:
        return t->kind == SR_BOOLEAN;
    case AVRO_INT:
    case AVRO_LONG:
        return avro_fits_integer(n, t, is_write);
    case AVRO_FLOAT:
        return is_write ? t->kind == SR_FLOAT : sr_is_approx(t->kind);
    case AVRO_DOUBLE:
        return is_write ? sr_is_approx(t->kind) : t->kind == SR_DOUBLE;
    case AVRO_BYTES:
    case AVRO_FIXED:
        return n->logical == AVRO_DECIMAL
                   ? t->kind == SR_DECIMAL && n->scale == t->scale
                   : sr_is_bytes(t->kind) ||
                         (sr_is_text(t->kind) && n->kind == AVRO_BYTES && !is_write);
    case AVRO_STRING:
        return sr_is_text(t->kind) || (sr_is_bytes(t->kind) && !is_write);
    case AVRO_ENUM:
        return sr_is_text(t->kind);
    case AVRO_NULL:
    case AVRO_ARRAY:
    case AVRO_MAP:
    case AVRO_RECORD:
    case AVRO_UNION:
        break;
    }
    return false;
}

static bool avro_plan_children(struct avro_plan *p, uint32_t children)
{
    p->child = calloc((size_t)children + 1, sizeof(*p->child));
    p->children = p->child ? children : 0;
    for (uint32_t i = 0; i < p->children; i++) {
        p->child[i] = (struct avro_plan){.column = AVRO_NO_COLUMN, .null_branch = AVRO_NO_COLUMN};
    }
    return p->child != NULL;
}

static bool avro_plan_make(struct avro_planner *k, struct avro_plan *p, const char *name,
                           const struct avro_node *n, const struct sr_type *t);

static void avro_plan_done(struct avro_plan *p);

/* Would the column read what is written to the branch? */
/* NOLINTNEXTLINE(misc-no-recursion) */
static bool avro_plan_reads_back(const struct avro_plan *p, const struct avro_node *n)
{
    char why[160] = "";
    struct avro_planner reading = {false, why};
    struct avro_plan child = {.column = AVRO_NO_COLUMN};
    bool reads = avro_plan_make(&reading, &child, p->name, n, p->type);
    avro_plan_done(&child);
    return reads;
}

/* A value goes to the first branch that fits: of [long, int] an INT to the one that it is read from
 * again. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static void avro_plan_prefer(struct avro_plan *p)
{
    bool any = false;
    for (uint32_t i = 0; i < p->children; i++) {
        const struct avro_node *n = p->node->child[i].type;
        struct avro_plan *one = &p->child[i];
        one->reads_back = n->kind == AVRO_NULL || (one->fits && avro_plan_reads_back(p, n));
        any = any || (n->kind != AVRO_NULL && one->reads_back);
    }
    for (uint32_t i = 0; any && i < p->children; i++) {
        p->child[i].fits = p->child[i].reads_back;
    }
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static bool avro_plan_union(struct avro_planner *k, struct avro_plan *p)
{
    char why[160] = "";
    struct avro_planner quiet = {k->is_write, why};
    bool any = false;
    if (!avro_plan_children(p, p->node->children)) {
        return avro_out_of_memory(k);
    }
    for (uint32_t i = 0; i < p->children; i++) {
        const struct avro_node *n = p->node->child[i].type;
        if (n->kind == AVRO_NULL) {
            p->null_branch = i;
            p->child[i].node = n;
            p->child[i].fits = true;
            continue;
        }
        p->child[i].fits = avro_plan_make(&quiet, &p->child[i], p->name, n, p->type);
        p->child[i].node = n;
        any = any || p->child[i].fits;
    }
    if (k->is_write) {
        avro_plan_prefer(p);
    }
    if (!any && !k->why[0] && why[0]) {
        (void)snprintf(k->why, 160, "%s", why);
    }
    return any || avro_refuse(k, p->name, p->node, p->type);
}

static bool avro_may_be_null(const struct avro_node *n)
{
    bool may = n->kind == AVRO_NULL;
    for (uint32_t i = 0; n->kind == AVRO_UNION && i < n->children && !may; i++) {
        may = n->child[i].type->kind == AVRO_NULL;
    }
    return may;
}

/* Columns of a record that have no field. */
static bool avro_plan_absent(struct avro_planner *k, struct avro_plan *p,
                             const struct sr_field *field, uint32_t fields)
{
    p->absent = calloc((size_t)fields + 1, sizeof(*p->absent));
    if (!p->absent) {
        return avro_out_of_memory(k);
    }
    for (uint32_t c = 0; c < fields; c++) {
        bool is_there = false;
        for (uint32_t i = 0; i < p->children; i++) {
            is_there = is_there || p->child[i].column == c;
        }
        if (is_there) {
            continue;
        }
        if (!field[c].type.is_nullable || k->is_write) {
            (void)snprintf(k->why, 160, "column '%.60s': the schema has no such field%s",
                           field[c].name, k->is_write ? "" : ", and it is NOT NULL");
            return false;
        }
        p->absent[p->absents++] = c;
    }
    return true;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static bool avro_plan_record(struct avro_planner *k, struct avro_plan *p,
                             const struct sr_field *field, uint32_t fields)
{
    if (!avro_plan_children(p, p->node->children)) {
        return avro_out_of_memory(k);
    }
    for (uint32_t i = 0; i < p->children; i++) {
        struct avro_plan *one = &p->child[i];
        const struct avro_field *f = &p->node->child[i];
        one->node = f->type;
        for (uint32_t c = 0; c < fields && one->column == AVRO_NO_COLUMN; c++) {
            one->column = strcmp(field[c].name, f->name) == 0 ? c : AVRO_NO_COLUMN;
        }
        if (one->column != AVRO_NO_COLUMN) {
            const struct sr_field *its = &field[one->column];
            if (!avro_plan_make(k, one, its->name, f->type, &its->type)) {
                return false;
            }
        } else if (k->is_write && !avro_may_be_null(f->type)) {
            (void)snprintf(k->why, 160, "field '%.60s' of the schema has no column, and no null",
                           f->name);
            return false;
        }
    }
    return avro_plan_absent(k, p, field, fields);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static bool avro_plan_make(struct avro_planner *k, struct avro_plan *p, const char *name,
                           const struct avro_node *n, const struct sr_type *t)
{
    p->node = n;
    p->type = t;
    p->name = name;
    p->null_branch = AVRO_NO_COLUMN;
    if (n->kind == AVRO_UNION) {
        return avro_plan_union(k, p);
    }
    if (n->kind == AVRO_RECORD && t->kind == SR_ROW) {
        return avro_plan_record(k, p, t->child, t->children);
    }
    bool is_map = n->kind == AVRO_MAP && t->kind == SR_MAP && sr_is_text(t->child[0].type.kind);
    if (is_map || (n->kind == AVRO_ARRAY && t->kind == SR_ARRAY)) {
        if (!avro_plan_children(p, 1)) {
            return avro_out_of_memory(k);
        }
        return avro_plan_make(k, &p->child[0], name, n->child[0].type,
                              &t->child[is_map ? 1 : 0].type);
    }
    return (n->kind == AVRO_NULL && t->is_nullable) || avro_fits_scalar(n, t, k->is_write) ||
           avro_refuse(k, name, n, t);
}

struct avro_plan *avro_plan_new(const struct avro_schema *s, const struct sr_schema *columns,
                                bool is_write, char why[160])
{
    struct avro_planner k = {is_write, why};
    struct avro_plan *p = calloc(1, sizeof(*p));
    const struct avro_node *root = s->root;
    why[0] = '\0';
    for (uint32_t i = 0; root->kind == AVRO_UNION && i < root->children; i++) {
        const struct avro_node *n = root->child[i].type;
        root = n->kind == AVRO_RECORD && root->children == 1 ? n : root;
    }
    if (!p) {
        (void)avro_out_of_memory(&k);
        return NULL;
    }
    p->node = root;
    p->null_branch = AVRO_NO_COLUMN;
    bool is_good = root->kind == AVRO_RECORD;
    if (!is_good) {
        (void)snprintf(why, 160, "the schema is %s, and not a record", avro_kind_word(root->kind));
    }
    if (!is_good || !avro_plan_record(&k, p, columns->field, columns->fields)) {
        avro_plan_free(p);
        return NULL;
    }
    return p;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static void avro_plan_done(struct avro_plan *p)
{
    for (uint32_t i = 0; i < p->children; i++) {
        avro_plan_done(&p->child[i]);
    }
    free(p->child);
    free(p->absent);
}

void avro_plan_free(struct avro_plan *p)
{
    if (p) {
        avro_plan_done(p);
        free(p);
    }
}
