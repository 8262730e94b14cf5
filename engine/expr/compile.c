#include "engine/expr/compile.h"

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

static uint32_t compile_broken(struct code *code)
{
    if (code->rc == SR_OK) {
        code->rc = error_set(code->err, SR_ENOMEM, "out of memory");
    }
    return COMPILE_NONE;
}

/* --- Registers, slots, steps. ----------------------------------------------------------------- */

static uint32_t compile_register(struct code *code, enum register_kind kind, const struct expr *e)
{
    struct reg *grown = room_for_one(code->reg, code->regs, &code->regs_room, sizeof(*grown));
    if (!grown) {
        return compile_broken(code);
    }
    code->reg = grown;
    code->reg[code->regs] = (struct reg){.kind = kind, .e = e};
    return code->regs++;
}

static uint32_t compile_slot(struct code *code, uint32_t parent)
{
    struct slot **grown =
        room_for_one(code->slot, code->slots, &code->slots_room, sizeof(struct slot *));
    if (!grown) {
        return compile_broken(code);
    }
    code->slot = grown;
    struct slot *s = arena_get(code->arena, sizeof(*s));
    if (!s) {
        return compile_broken(code);
    }
    s->parent = parent;
    code->slot[code->slots] = s;
    return code->slots++;
}

static bool compile_is_within(const struct code *code, uint32_t slot, uint32_t outer)
{
    while (slot != outer && slot != 0) {
        slot = code->slot[slot]->parent;
    }
    return slot == outer;
}

static struct step *compile_step(struct code *code, enum step_kind kind, uint32_t slot)
{
    struct step *s = arena_get(code->arena, sizeof(*s));
    if (!s) {
        (void)compile_broken(code);
        return NULL;
    }
    *s = (struct step){
        .kind = kind, .slot = slot, .out = COMPILE_NONE, .to = COMPILE_NONE, .rest = COMPILE_NONE};
    *code->last = s;
    code->last = &s->next;
    return s;
}

static bool compile_args(struct code *code, struct step *s, const uint32_t *arg, uint32_t args)
{
    bool *is_constant = arena_array(code->arena, args > 0 ? args : 1, sizeof(*is_constant));
    uint32_t *copy = arena_array(code->arena, args > 0 ? args : 1, sizeof(*copy));
    if (!is_constant || !copy) {
        (void)compile_broken(code);
        return false;
    }
    for (uint32_t i = 0; i < args; i++) {
        /* compile_operands fills as many as compile_columns counts; the analyzer loses count.
         * NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign) */
        copy[i] = arg[i];
        is_constant[i] = code->reg[arg[i]].kind == REGISTER_CONSTANT;
    }
    s->arg = copy;
    s->is_constant = is_constant;
    s->args = args;
    return true;
}

/* --- Constants. ------------------------------------------------------------------------------- */

static void compile_fill(const struct expr *e, struct sr_column *c, uint32_t rows)
{
    uint8_t value[16] = {0};
    uint32_t size = sr_value_size(&e->type);
    if (e->type.kind == SR_FLOAT) {
        float f = (float)e->value.d;
        memcpy(value, &f, sizeof(f));
    } else if (sr_has_bytes(e->type.kind)) {
        struct sr_span span = {0, e->text_len};
        memcpy(value, &span, sizeof(span));
    } else {
        memcpy(value, &e->value, size); /* little-endian: the low bytes of i are the narrower int */
    }
    for (uint32_t r = 0; r < rows; r++) {
        memcpy((uint8_t *)c->values + (size_t)r * size, value, size);
    }
}

static uint32_t compile_constant(struct code *code, const struct expr *e)
{
    for (uint32_t i = 0; i < code->regs; i++) {
        if (code->reg[i].kind == REGISTER_CONSTANT && expr_equal(code->reg[i].e, e)) {
            return i;
        }
    }
    uint32_t r = compile_register(code, REGISTER_CONSTANT, e);
    struct sr_column *c =
        r == COMPILE_NONE ? NULL : column_new(code->home, &e->type, SR_BATCH_ROWS);
    if (!c) {
        return compile_broken(code);
    }
    code->reg[r].col = c;
    c->rows = code->constants;
    if (e->is_null) {
        nest_blank(c, code->constants);
        for (uint32_t i = 0; i < code->constants; i++) {
            column_set_null(c, i);
        }
    }
    if (sr_has_bytes(e->type.kind)) {
        c->bytes = e->text_len > 0 && !e->is_null ? buffer_new(code->home, e->text_len)
                                                  : buffer_hold(code->empty);
        if (!c->bytes) {
            return compile_broken(code);
        }
    }
    if (!e->is_null) {
        if (e->text_len > 0) {
            memcpy(c->bytes->data, e->text, e->text_len);
            c->bytes_used = e->text_len;
        }
        compile_fill(e, c, code->constants);
    }
    return r;
}

/* --- Values. ---------------------------------------------------------------------------------- */

/* CASE and COALESCE of so few values of a fixed size that all of them are computed for every row,
 * and one picked behind, if computing them is cheap. */
static bool compile_is_blend(const struct expr *e)
{
    bool is_choice = cond_of(e) == COND_CASE || cond_of(e) == COND_COALESCE;
    return is_choice && e->args <= COMPILE_BLEND_MAX && !sr_is_nested(e->type.kind) &&
           !sr_has_bytes(e->type.kind);
}

/* Nothing in it can fail, and all of it is cheap: not worth a narrower selection. */
static bool compile_is_cheap(const struct expr *e) /* NOLINT(misc-no-recursion) */
{
    bool is_choice = cond_of(e) == COND_CASE || cond_of(e) == COND_COALESCE;
    if (e->kind == EXPR_CALL && e->kernel != &cast_alias &&
        ((is_choice && !compile_is_blend(e)) ||
         (e->kernel && !(e->kernel->flags & KERNEL_DENSE)))) {
        return false;
    }
    for (uint32_t i = 0; i < e->args; i++) {
        if (!compile_is_cheap(e->arg[i])) {
            return false;
        }
    }
    return true;
}

static uint32_t compile_known(const struct code *code, const struct expr *e, uint32_t slot)
{
    for (uint32_t i = 0; i < code->regs; i++) {
        const struct reg *r = &code->reg[i];
        bool is_good = r->kind == REGISTER_INPUT ||
                       (r->kind == REGISTER_COMPUTED && compile_is_within(code, slot, r->slot));
        if (is_good && r->e && expr_equal(r->e, e)) {
            return i;
        }
    }
    return COMPILE_NONE;
}

/* A new register for e under a slot, computed by step s. */
static uint32_t compile_out(struct code *code, struct step *s, const struct expr *e)
{
    uint32_t r = compile_register(code, REGISTER_COMPUTED, e);
    if (r != COMPILE_NONE) {
        code->reg[r].slot = s->slot;
        s->out = r;
        s->e = e;
    }
    return r;
}

/* How many arguments of a call are columns. */
static uint32_t compile_columns(const struct expr *e)
{
    return e->kernel && (e->kernel->flags & KERNEL_FIRST) ? 1 : e->args;
}

static struct step *compile_call_step(struct code *code, const struct kernel *kernel,
                                      const uint32_t *arg, uint32_t args, uint32_t slot)
{
    struct step *s = compile_step(code, STEP_CALL, slot);
    if (!s || !compile_args(code, s, arg, args)) {
        return NULL;
    }
    s->kernel = kernel;
    return s;
}

static uint32_t compile_apply(struct code *code, const struct expr *e, const struct kernel *kernel,
                              const uint32_t *arg, uint32_t slot)
{
    struct step *s = compile_call_step(code, kernel, arg, compile_columns(e), slot);
    if (!s) {
        return COMPILE_NONE;
    }
    if (kernel->prepare) {
        code->rc = kernel->prepare(e, &s->state, code->err);
        if (code->rc != SR_OK) {
            return COMPILE_NONE;
        }
    }
    return compile_out(code, s, e);
}

/* Splits a slot by a BOOLEAN register (or one's validity); *rest may be NULL. */
static uint32_t compile_pick(struct code *code, uint32_t reg, enum pick_by by, uint32_t slot,
                             uint32_t *rest)
{
    struct step *s = compile_step(code, STEP_PICK, slot);
    if (!s || !compile_args(code, s, &reg, 1)) {
        return COMPILE_NONE;
    }
    s->by = by;
    s->to = compile_slot(code, slot);
    if (rest) {
        s->rest = compile_slot(code, slot);
        *rest = s->rest;
    }
    return code->rc == SR_OK ? s->to : COMPILE_NONE;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static uint32_t compile_logic(struct code *code, const struct expr *e, uint32_t slot)
{
    bool is_and = cond_of(e) == COND_AND;
    uint32_t arg[2], under = slot;
    arg[0] = compile_value(code, e->arg[0], slot);
    if (arg[0] == COMPILE_NONE) {
        return COMPILE_NONE;
    }
    if (!compile_is_cheap(e->arg[1])) {
        under = compile_pick(code, arg[0], is_and ? PICK_NOT_FALSE : PICK_NOT_TRUE, slot, NULL);
    }
    arg[1] = under == COMPILE_NONE ? COMPILE_NONE : compile_value(code, e->arg[1], under);
    if (arg[1] == COMPILE_NONE) {
        return COMPILE_NONE;
    }
    return compile_apply(code, e, is_and ? &cond_and : &cond_or, arg, slot);
}

/* CASE and COALESCE of cheap parts: the last value, and each one before it laid over that. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static uint32_t compile_blend(struct code *code, const struct expr *e, uint32_t slot)
{
    bool is_case = cond_of(e) == COND_CASE;
    uint32_t values = is_case ? e->args / 2 + 1 : e->args;
    uint32_t r = compile_value(code, e->arg[values - 1], slot);
    for (uint32_t i = values - 1; r != COMPILE_NONE && i-- > 0;) {
        uint32_t value = compile_value(code, e->arg[i], slot);
        uint32_t when = is_case && value != COMPILE_NONE
                            ? compile_value(code, e->arg[values + i], slot)
                            : value;
        if (value == COMPILE_NONE || when == COMPILE_NONE) {
            return COMPILE_NONE;
        }
        const uint32_t arg[3] = {when, is_case ? value : r, r};
        struct step *s = compile_call_step(code, is_case ? &cond_select : &cond_first, arg,
                                           is_case ? 3 : 2, slot);
        r = s ? compile_out(code, s, e) : COMPILE_NONE;
        if (r != COMPILE_NONE && i > 0) {
            code->reg[r].e = NULL; /* only the last one is the whole */
        }
    }
    return r;
}

/* The branches of a CASE or COALESCE as they are found. */
struct compile_choice {
    uint32_t *arg, *under;
    uint32_t n;
};

static bool compile_branch(struct code *code, struct compile_choice *c, uint32_t reg, uint32_t slot)
{
    if (reg == COMPILE_NONE || slot == COMPILE_NONE || code->rc != SR_OK) {
        return false;
    }
    c->arg[c->n] = reg;
    c->under[c->n++] = slot;
    return true;
}

/* Arguments: the branches, the last of them ELSE; then the conditions. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static bool compile_case(struct code *code, const struct expr *e, uint32_t slot,
                         struct compile_choice *c)
{
    uint32_t branches = e->args / 2 + 1, rest = slot;
    for (uint32_t i = 0; i + 1 < branches; i++) {
        uint32_t when = compile_value(code, e->arg[branches + i], rest);
        if (when == COMPILE_NONE) {
            return false;
        }
        uint32_t taken = compile_pick(code, when, PICK_TRUE, rest, &rest);
        if (taken == COMPILE_NONE ||
            !compile_branch(code, c, compile_value(code, e->arg[i], taken), taken)) {
            return false;
        }
    }
    return compile_branch(code, c, compile_value(code, e->arg[branches - 1], rest), rest);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static bool compile_coalesce(struct code *code, const struct expr *e, uint32_t slot,
                             struct compile_choice *c)
{
    uint32_t rest = slot;
    for (uint32_t i = 0; i < e->args; i++) {
        uint32_t v = compile_value(code, e->arg[i], rest);
        if (v == COMPILE_NONE) {
            return false;
        }
        if (i + 1 == e->args || !e->arg[i]->type.is_nullable) {
            return compile_branch(code, c, v, rest);
        }
        uint32_t taken = compile_pick(code, v, PICK_VALID, rest, &rest);
        if (!compile_branch(code, c, v, taken)) {
            return false;
        }
    }
    return true;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static uint32_t compile_choose(struct code *code, const struct expr *e, uint32_t slot)
{
    if (compile_is_blend(e) && compile_is_cheap(e)) {
        return compile_blend(code, e, slot);
    }
    struct compile_choice c = {.arg = arena_array(code->arena, e->args, sizeof(*c.arg)),
                               .under = arena_array(code->arena, e->args, sizeof(*c.under))};
    if (!c.arg || !c.under) {
        return compile_broken(code);
    }
    bool is_good = cond_of(e) == COND_CASE ? compile_case(code, e, slot, &c)
                                           : compile_coalesce(code, e, slot, &c);
    struct step *s = is_good ? compile_step(code, STEP_CHOOSE, slot) : NULL;
    if (!s || !compile_args(code, s, c.arg, c.n)) {
        return COMPILE_NONE;
    }
    s->under = c.under;
    return compile_out(code, s, e);
}

/* The registers of a call's arguments; NULL when rc is set. NOLINTNEXTLINE(misc-no-recursion) */
static uint32_t *compile_operands(struct code *code, const struct expr *e, uint32_t slot)
{
    uint32_t n = compile_columns(e);
    uint32_t *arg = arena_array(code->arena, n > 0 ? n : 1, sizeof(*arg));
    if (!arg) {
        (void)compile_broken(code);
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++) {
        arg[i] = compile_value(code, e->arg[i], slot);
        if (arg[i] == COMPILE_NONE) {
            return NULL;
        }
    }
    return arg;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static uint32_t compile_call(struct code *code, const struct expr *e, uint32_t slot)
{
    const uint32_t *arg = compile_operands(code, e, slot);
    return arg ? compile_apply(code, e, e->kernel, arg, slot) : COMPILE_NONE;
}

/* A call of constants only becomes a literal, unless computing it fails: then each row that needs
 * it fails, and those that do not, do not. */
static const struct expr *compile_folded(struct code *code, const struct expr *e)
{
    bool is_call = e->kind == EXPR_CALL;
    return is_call && !code->is_folding && expr_is_constant(e)
               ? program_fold(code->arena, e, code->time_zone)
               : e;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
uint32_t compile_value(struct code *code, const struct expr *e, uint32_t slot)
{
    e = compile_folded(code, e);
    while (e->kind == EXPR_CALL && e->kernel == &cast_alias) {
        e = e->arg[0];
    }
    if (e->kind == EXPR_LITERAL) {
        return compile_constant(code, e);
    }
    uint32_t known = compile_known(code, e, slot);
    if (known != COMPILE_NONE) {
        return known;
    }
    if (e->kind == EXPR_COLUMN) {
        uint32_t r = compile_register(code, REGISTER_INPUT, e);
        if (r != COMPILE_NONE) {
            code->reg[r].column = e->column;
        }
        return r;
    }
    switch (cond_of(e)) {
    case COND_AND:
    case COND_OR:
        return compile_logic(code, e, slot);
    case COND_CASE:
    case COND_COALESCE:
        return compile_choose(code, e, slot);
    case COND_NONE:
        break;
    }
    return compile_call(code, e, slot);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static uint32_t compile_compare(struct code *code, const struct expr *e, uint32_t slot)
{
    const uint32_t *arg = compile_operands(code, e, slot);
    struct step *s = arg ? compile_step(code, STEP_COMPARE, slot) : NULL;
    if (!s || !compile_args(code, s, arg, compile_columns(e))) {
        return COMPILE_NONE;
    }
    s->e = e;
    s->kernel = e->kernel;
    if (e->kernel->prepare) {
        code->rc = e->kernel->prepare(e, &s->state, code->err);
    }
    s->to = compile_slot(code, slot);
    return code->rc == SR_OK ? s->to : COMPILE_NONE;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
uint32_t compile_filter(struct code *code, const struct expr *e, uint32_t slot)
{
    e = compile_folded(code, e);
    if (cond_of(e) == COND_AND) {
        uint32_t first = compile_filter(code, e->arg[0], slot);
        return first == COMPILE_NONE ? first : compile_filter(code, e->arg[1], first);
    }
    if (e->kind == EXPR_LITERAL && !e->is_null && e->value.i == 1) {
        return slot;
    }
    if (e->kind == EXPR_CALL && e->kernel && e->kernel->pick) {
        return compile_compare(code, e, slot);
    }
    uint32_t v = compile_value(code, e, slot);
    return v == COMPILE_NONE ? COMPILE_NONE : compile_pick(code, v, PICK_TRUE, slot, NULL);
}

/* --- Begin and end. --------------------------------------------------------------------------- */

sr_rc compile_init(struct code *code, const struct program_conf *conf, bool is_folding,
                   struct sr_error *err)
{
    *code = (struct code){.in = conf->in,
                          .time_zone = conf->time_zone,
                          .is_folding = is_folding,
                          .constants = is_folding ? 1 : SR_BATCH_ROWS,
                          .err = err};
    code->last = &code->first;
    code->arena = arena_new();
    code->home = home_new();
    code->empty = code->home ? buffer_new(code->home, 1) : NULL;
    if (!code->arena || !code->empty) {
        (void)compile_broken(code);
        return code->rc;
    }
    uint32_t base = compile_slot(code, 0);
    sr_assert(base == 0 || code->rc != SR_OK);
    return code->rc;
}

void compile_done(struct code *code)
{
    for (struct step *s = code->first; s; s = s->next) {
        if (s->kernel && s->kernel->release) {
            s->kernel->release(s->state);
        }
    }
    for (uint32_t i = 0; i < code->regs; i++) {
        if (code->reg[i].kind == REGISTER_CONSTANT) {
            column_release(code->reg[i].col);
        }
    }
    buffer_release(code->empty);
    home_close(code->home);
    arena_free(code->arena);
    free(code->reg);
    free(code->slot);
    *code = (struct code){0};
}
