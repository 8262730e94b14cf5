#include "engine/expr/layout.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/base/room.h"
#include "engine/expr/cast.h"
#include "engine/expr/cond.h"
#include "engine/expr/nest.h"
#include "engine/expr/promote.h"

/* Recursion in this file goes down expression trees, which are at most EXPR_DEPTH_MAX deep. */

static uint32_t layout_broken(struct layout *l)
{
    if (l->rc == SR_OK) {
        l->rc = error_set(l->err, SR_ENOMEM, "out of memory");
    }
    return LAYOUT_NONE;
}

/* --- Registers, slots, steps. ----------------------------------------------------------------- */

static uint32_t layout_register(struct layout *l, enum register_kind kind, const struct expr *e)
{
    struct reg *grown = room_for_one(l->reg, l->regs, &l->regs_room, sizeof(*grown));
    if (!grown) {
        return layout_broken(l);
    }
    l->reg = grown;
    l->reg[l->regs] = (struct reg){.kind = kind, .e = e};
    return l->regs++;
}

static uint32_t layout_slot(struct layout *l, uint32_t parent)
{
    struct slot **grown = room_for_one(l->slot, l->slots, &l->slots_room, sizeof(struct slot *));
    if (!grown) {
        return layout_broken(l);
    }
    l->slot = grown;
    struct slot *s = arena_get(l->arena, sizeof(*s));
    if (!s) {
        return layout_broken(l);
    }
    s->parent = parent;
    l->slot[l->slots] = s;
    return l->slots++;
}

static bool layout_is_within(const struct layout *l, uint32_t slot, uint32_t outer)
{
    while (slot != outer && slot != 0) {
        slot = l->slot[slot]->parent;
    }
    return slot == outer;
}

static struct step *layout_step(struct layout *l, enum step_kind kind, uint32_t slot)
{
    struct step *s = arena_get(l->arena, sizeof(*s));
    if (!s) {
        (void)layout_broken(l);
        return NULL;
    }
    *s = (struct step){
        .kind = kind, .slot = slot, .out = LAYOUT_NONE, .to = LAYOUT_NONE, .rest = LAYOUT_NONE};
    *l->last = s;
    l->last = &s->next;
    return s;
}

static bool layout_args(struct layout *l, struct step *s, const uint32_t *arg, uint32_t args)
{
    bool *is_constant = arena_array(l->arena, args > 0 ? args : 1, sizeof(*is_constant));
    uint32_t *copy = arena_array(l->arena, args > 0 ? args : 1, sizeof(*copy));
    if (!is_constant || !copy) {
        (void)layout_broken(l);
        return false;
    }
    for (uint32_t i = 0; i < args; i++) {
        /* layout_operands fills as many as layout_columns counts; the analyzer loses count of them.
         * NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign) */
        copy[i] = arg[i];
        is_constant[i] = l->reg[arg[i]].kind == REGISTER_CONSTANT;
    }
    s->arg = copy;
    s->is_constant = is_constant;
    s->args = args;
    return true;
}

/* --- Constants. ------------------------------------------------------------------------------- */

static void layout_fill(const struct expr *e, struct sr_column *c, uint32_t rows)
{
    uint8_t value[16] = {0};
    uint32_t size = sr_value_size(&e->type);
    if (e->type.kind == SR_FLOAT) {
        float f = (float)e->value.d;
        memcpy(value, &f, sizeof(f));
    } else if (type_is_string(e->type.kind)) {
        struct sr_span span = {0, e->text_len};
        memcpy(value, &span, sizeof(span));
    } else {
        memcpy(value, &e->value, size); /* little-endian: the low bytes of i are the narrower int */
    }
    for (uint32_t r = 0; r < rows; r++) {
        memcpy((uint8_t *)c->values + (size_t)r * size, value, size);
    }
}

static uint32_t layout_constant(struct layout *l, const struct expr *e)
{
    for (uint32_t i = 0; i < l->regs; i++) {
        if (l->reg[i].kind == REGISTER_CONSTANT && expr_equal(l->reg[i].e, e)) {
            return i;
        }
    }
    uint32_t r = layout_register(l, REGISTER_CONSTANT, e);
    struct sr_column *c = r == LAYOUT_NONE ? NULL : column_new(l->home, &e->type, SR_BATCH_ROWS);
    if (!c) {
        return layout_broken(l);
    }
    l->reg[r].col = c;
    c->rows = l->constants;
    if (e->is_null) {
        nest_blank(c, l->constants);
        for (uint32_t i = 0; i < l->constants; i++) {
            column_set_null(c, i);
        }
    }
    if (type_is_string(e->type.kind)) {
        c->bytes = e->text_len > 0 && !e->is_null ? buffer_new(l->home, e->text_len)
                                                  : buffer_hold(l->empty);
        if (!c->bytes) {
            return layout_broken(l);
        }
    }
    if (!e->is_null) {
        if (e->text_len > 0) {
            memcpy(c->bytes->data, e->text, e->text_len);
            c->bytes_used = e->text_len;
        }
        layout_fill(e, c, l->constants);
    }
    return r;
}

/* --- Values. ---------------------------------------------------------------------------------- */

/* Nothing in it can fail, and all of it is cheap: not worth a narrower selection. */
static bool layout_is_cheap(const struct expr *e) /* NOLINT(misc-no-recursion) */
{
    if (e->kind == EXPR_CALL && e->kernel != &cast_alias &&
        (cond_of(e) == COND_CASE || cond_of(e) == COND_COALESCE ||
         (e->kernel && !(e->kernel->flags & KERNEL_DENSE)))) {
        return false;
    }
    for (uint32_t i = 0; i < e->args; i++) {
        if (!layout_is_cheap(e->arg[i])) {
            return false;
        }
    }
    return true;
}

static uint32_t layout_known(const struct layout *l, const struct expr *e, uint32_t slot)
{
    for (uint32_t i = 0; i < l->regs; i++) {
        const struct reg *r = &l->reg[i];
        bool is_good = r->kind == REGISTER_INPUT ||
                       (r->kind == REGISTER_COMPUTED && layout_is_within(l, slot, r->slot));
        if (is_good && r->e && expr_equal(r->e, e)) {
            return i;
        }
    }
    return LAYOUT_NONE;
}

/* A new register for e under a slot, computed by step s. */
static uint32_t layout_out(struct layout *l, struct step *s, const struct expr *e)
{
    uint32_t r = layout_register(l, REGISTER_COMPUTED, e);
    if (r != LAYOUT_NONE) {
        l->reg[r].slot = s->slot;
        s->out = r;
        s->e = e;
    }
    return r;
}

/* How many arguments of a call are columns. */
static uint32_t layout_columns(const struct expr *e)
{
    return e->kernel && (e->kernel->flags & KERNEL_FIRST) ? 1 : e->args;
}

static uint32_t layout_apply(struct layout *l, const struct expr *e, const struct kernel *kernel,
                             const uint32_t *arg, uint32_t slot)
{
    struct step *s = layout_step(l, STEP_CALL, slot);
    if (!s || !layout_args(l, s, arg, layout_columns(e))) {
        return LAYOUT_NONE;
    }
    s->kernel = kernel;
    if (kernel->prepare) {
        l->rc = kernel->prepare(e, &s->state, l->err);
        if (l->rc != SR_OK) {
            return LAYOUT_NONE;
        }
    }
    return layout_out(l, s, e);
}

/* Splits a slot by a BOOLEAN register (or one's validity); *rest may be NULL. */
static uint32_t layout_pick(struct layout *l, uint32_t reg, enum pick_by by, uint32_t slot,
                            uint32_t *rest)
{
    struct step *s = layout_step(l, STEP_PICK, slot);
    if (!s || !layout_args(l, s, &reg, 1)) {
        return LAYOUT_NONE;
    }
    s->by = by;
    s->to = layout_slot(l, slot);
    if (rest) {
        s->rest = layout_slot(l, slot);
        *rest = s->rest;
    }
    return l->rc == SR_OK ? s->to : LAYOUT_NONE;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static uint32_t layout_logic(struct layout *l, const struct expr *e, uint32_t slot)
{
    bool is_and = cond_of(e) == COND_AND;
    uint32_t arg[2], under = slot;
    arg[0] = layout_value(l, e->arg[0], slot);
    if (arg[0] == LAYOUT_NONE) {
        return LAYOUT_NONE;
    }
    if (!layout_is_cheap(e->arg[1])) {
        under = layout_pick(l, arg[0], is_and ? PICK_NOT_FALSE : PICK_NOT_TRUE, slot, NULL);
    }
    arg[1] = under == LAYOUT_NONE ? LAYOUT_NONE : layout_value(l, e->arg[1], under);
    if (arg[1] == LAYOUT_NONE) {
        return LAYOUT_NONE;
    }
    return layout_apply(l, e, is_and ? &cond_and : &cond_or, arg, slot);
}

/* The branches of a CASE or COALESCE as they are found. */
struct layout_choice {
    uint32_t *arg, *under;
    uint32_t n;
};

static bool layout_branch(struct layout *l, struct layout_choice *c, uint32_t reg, uint32_t slot)
{
    if (reg == LAYOUT_NONE || slot == LAYOUT_NONE || l->rc != SR_OK) {
        return false;
    }
    c->arg[c->n] = reg;
    c->under[c->n++] = slot;
    return true;
}

/* Arguments: the branches, the last of them ELSE; then the conditions. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static bool layout_case(struct layout *l, const struct expr *e, uint32_t slot,
                        struct layout_choice *c)
{
    uint32_t branches = e->args / 2 + 1, rest = slot;
    for (uint32_t i = 0; i + 1 < branches; i++) {
        uint32_t when = layout_value(l, e->arg[branches + i], rest);
        if (when == LAYOUT_NONE) {
            return false;
        }
        uint32_t taken = layout_pick(l, when, PICK_TRUE, rest, &rest);
        if (taken == LAYOUT_NONE ||
            !layout_branch(l, c, layout_value(l, e->arg[i], taken), taken)) {
            return false;
        }
    }
    return layout_branch(l, c, layout_value(l, e->arg[branches - 1], rest), rest);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static bool layout_coalesce(struct layout *l, const struct expr *e, uint32_t slot,
                            struct layout_choice *c)
{
    uint32_t rest = slot;
    for (uint32_t i = 0; i < e->args; i++) {
        uint32_t v = layout_value(l, e->arg[i], rest);
        if (v == LAYOUT_NONE) {
            return false;
        }
        if (i + 1 == e->args || !e->arg[i]->type.is_nullable) {
            return layout_branch(l, c, v, rest);
        }
        uint32_t taken = layout_pick(l, v, PICK_VALID, rest, &rest);
        if (!layout_branch(l, c, v, taken)) {
            return false;
        }
    }
    return true;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static uint32_t layout_choose(struct layout *l, const struct expr *e, uint32_t slot)
{
    struct layout_choice c = {.arg = arena_array(l->arena, e->args, sizeof(*c.arg)),
                              .under = arena_array(l->arena, e->args, sizeof(*c.under))};
    if (!c.arg || !c.under) {
        return layout_broken(l);
    }
    bool is_good =
        cond_of(e) == COND_CASE ? layout_case(l, e, slot, &c) : layout_coalesce(l, e, slot, &c);
    struct step *s = is_good ? layout_step(l, STEP_CHOOSE, slot) : NULL;
    if (!s || !layout_args(l, s, c.arg, c.n)) {
        return LAYOUT_NONE;
    }
    s->under = c.under;
    return layout_out(l, s, e);
}

/* The registers of a call's arguments; NULL when rc is set. NOLINTNEXTLINE(misc-no-recursion) */
static uint32_t *layout_operands(struct layout *l, const struct expr *e, uint32_t slot)
{
    uint32_t n = layout_columns(e);
    uint32_t *arg = arena_array(l->arena, n > 0 ? n : 1, sizeof(*arg));
    if (!arg) {
        (void)layout_broken(l);
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++) {
        arg[i] = layout_value(l, e->arg[i], slot);
        if (arg[i] == LAYOUT_NONE) {
            return NULL;
        }
    }
    return arg;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static uint32_t layout_call(struct layout *l, const struct expr *e, uint32_t slot)
{
    const uint32_t *arg = layout_operands(l, e, slot);
    return arg ? layout_apply(l, e, e->kernel, arg, slot) : LAYOUT_NONE;
}

/* A call of constants only becomes a literal, unless computing it fails: then each row that needs
 * it fails, and those that do not, do not. */
static const struct expr *layout_folded(struct layout *l, const struct expr *e)
{
    bool is_call = e->kind == EXPR_CALL;
    return is_call && !l->is_folding && expr_is_constant(e)
               ? program_fold(l->arena, e, l->time_zone)
               : e;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
uint32_t layout_value(struct layout *l, const struct expr *e, uint32_t slot)
{
    e = layout_folded(l, e);
    while (e->kind == EXPR_CALL && e->kernel == &cast_alias) {
        e = e->arg[0];
    }
    if (e->kind == EXPR_LITERAL) {
        return layout_constant(l, e);
    }
    uint32_t known = layout_known(l, e, slot);
    if (known != LAYOUT_NONE) {
        return known;
    }
    if (e->kind == EXPR_COLUMN) {
        uint32_t r = layout_register(l, REGISTER_INPUT, e);
        if (r != LAYOUT_NONE) {
            l->reg[r].column = e->column;
        }
        return r;
    }
    switch (cond_of(e)) {
    case COND_AND:
    case COND_OR:
        return layout_logic(l, e, slot);
    case COND_CASE:
    case COND_COALESCE:
        return layout_choose(l, e, slot);
    case COND_NONE:
        break;
    }
    return layout_call(l, e, slot);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static uint32_t layout_compare(struct layout *l, const struct expr *e, uint32_t slot)
{
    const uint32_t *arg = layout_operands(l, e, slot);
    struct step *s = arg ? layout_step(l, STEP_COMPARE, slot) : NULL;
    if (!s || !layout_args(l, s, arg, layout_columns(e))) {
        return LAYOUT_NONE;
    }
    s->e = e;
    s->kernel = e->kernel;
    if (e->kernel->prepare) {
        l->rc = e->kernel->prepare(e, &s->state, l->err);
    }
    s->to = layout_slot(l, slot);
    return l->rc == SR_OK ? s->to : LAYOUT_NONE;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
uint32_t layout_filter(struct layout *l, const struct expr *e, uint32_t slot)
{
    e = layout_folded(l, e);
    if (cond_of(e) == COND_AND) {
        uint32_t first = layout_filter(l, e->arg[0], slot);
        return first == LAYOUT_NONE ? first : layout_filter(l, e->arg[1], first);
    }
    if (e->kind == EXPR_LITERAL && !e->is_null && e->value.i == 1) {
        return slot;
    }
    if (e->kind == EXPR_CALL && e->kernel && e->kernel->pick) {
        return layout_compare(l, e, slot);
    }
    uint32_t v = layout_value(l, e, slot);
    return v == LAYOUT_NONE ? LAYOUT_NONE : layout_pick(l, v, PICK_TRUE, slot, NULL);
}

/* --- Begin and end. --------------------------------------------------------------------------- */

sr_rc layout_init(struct layout *l, const struct program_conf *conf, bool is_folding,
                  struct sr_error *err)
{
    *l = (struct layout){.in = conf->in,
                         .time_zone = conf->time_zone,
                         .is_folding = is_folding,
                         .constants = is_folding ? 1 : SR_BATCH_ROWS,
                         .err = err};
    l->last = &l->first;
    l->arena = arena_new();
    l->home = home_new();
    l->empty = l->home ? buffer_new(l->home, 1) : NULL;
    if (!l->arena || !l->empty) {
        (void)layout_broken(l);
        return l->rc;
    }
    uint32_t base = layout_slot(l, 0);
    sr_assert(base == 0 || l->rc != SR_OK);
    return l->rc;
}

void layout_done(struct layout *l)
{
    for (struct step *s = l->first; s; s = s->next) {
        if (s->kernel && s->kernel->release) {
            s->kernel->release(s->state);
        }
    }
    for (uint32_t i = 0; i < l->regs; i++) {
        if (l->reg[i].kind == REGISTER_CONSTANT) {
            column_release(l->reg[i].col);
        }
    }
    buffer_release(l->empty);
    home_close(l->home);
    arena_free(l->arena);
    free(l->reg);
    free(l->slot);
    *l = (struct layout){0};
}
