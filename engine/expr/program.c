#include "engine/expr/program.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/data/schema.h"
#include "engine/expr/bits.h"
#include "engine/expr/compile.h"
#include "engine/expr/nest.h"
#include "engine/expr/promote.h"
#include "engine/expr/run.h"
#include "engine/expr/value_text.h"

struct program {
    struct code code;
    uint32_t outs;
    uint32_t *out;               /* registers */
    uint32_t picked;             /* the slot of rows that passed the condition */
    struct zone *zone;           /* NULL: UTC */
    struct run run;              /* failed and words are kept between runs */
    uint16_t sel[SR_BATCH_ROWS]; /* scratch of a step, then the rows picked */
    uint8_t mark[SR_BATCH_ROWS]; /* of a condition */
};

/* --- Making one. ------------------------------------------------------------------------------ */

static sr_rc program_make(struct program **out, const struct program_conf *conf, bool is_folding,
                          struct sr_error *err)
{
    struct program *p = calloc(1, sizeof(*p));
    if (!p) {
        return error_set(err, SR_ENOMEM, "out of memory");
    }
    sr_rc rc = compile_init(&p->code, conf, is_folding, err);
    if (rc == SR_OK && conf->time_zone) {
        rc = zone_load(conf->time_zone, &p->zone, err);
    }
    p->run.zone = p->zone;
    p->run.time_zone = conf->time_zone;
    p->run.host = conf->host;
    if (rc == SR_OK && conf->condition) {
        p->picked = compile_filter(&p->code, conf->condition, 0);
        rc = p->code.rc;
    }
    p->outs = conf->outs;
    p->out = calloc(conf->outs > 0 ? conf->outs : 1, sizeof(*p->out));
    if (rc == SR_OK && !p->out) {
        rc = error_set(err, SR_ENOMEM, "out of memory");
    }
    for (uint32_t i = 0; rc == SR_OK && i < conf->outs; i++) {
        p->out[i] = compile_value(&p->code, conf->out[i], p->picked);
        rc = p->code.rc;
    }
    if (rc != SR_OK) {
        program_free(p);
        return rc;
    }
    *out = p;
    return SR_OK;
}

sr_rc program_new(struct program **out, const struct program_conf *conf, struct sr_error *err)
{
    return program_make(out, conf, false, err);
}

void program_free(struct program *p)
{
    if (p) {
        compile_done(&p->code);
        zone_free(p->zone);
        free(p->run.words);
        free(p->out);
        free(p);
    }
}

/* --- Calls. ----------------------------------------------------------------------------------- */

static bool program_column(struct program *p, const struct step *s, struct sr_column **out)
{
    struct sr_column *c = column_new(p->run.home, &s->e->type, SR_BATCH_ROWS);
    if (!c) {
        p->run.rc = SR_ENOMEM;
        return false;
    }
    c->rows = p->run.rows;
    if (sr_is_nested(c->type.kind)) {
        nest_blank(c, c->rows);
    }
    p->code.reg[s->out].col = c;
    *out = c;
    return true;
}

/* Any argument NULL gives NULL: the AND of their bits. False: there is no NULL. */
static bool program_and(const struct call *k, uint32_t rows, uint64_t *valid)
{
    bool has_nulls = false;
    uint32_t words = (rows + 63) / 64;
    for (uint32_t i = 0; i < k->args; i++) {
        const uint64_t *v = k->arg[i]->valid;
        if (!v) {
            continue;
        }
        for (uint32_t w = 0; w < words; w++) {
            valid[w] = has_nulls ? valid[w] & v[w] : v[w];
        }
        has_nulls = true;
    }
    return has_nulls;
}

static void program_zero(struct sr_column *c, uint32_t r)
{
    switch (sr_value_size(&c->type)) {
    case 4:
        ((uint32_t *)c->values)[r] = 0;
        break;
    case 8:
        ((uint64_t *)c->values)[r] = 0;
        break;
    default:
        memset((uint8_t *)c->values + (size_t)r * sr_value_size(&c->type), 0,
               sr_value_size(&c->type));
        break;
    }
}

/* Rows of `sel` whose result is not NULL, to p->sel; answers how many. The others become zeros. */
static uint32_t program_narrow_picked(struct program *p, const struct call *k)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < k->n; i++) {
        uint32_t r = k->sel[i];
        p->sel[n] = (uint16_t)r;
        if (valid_bit(k->out->valid, r)) {
            n++;
        } else {
            program_zero(k->out, r);
        }
    }
    return n;
}

/* The same for rows 0 to n - 1. */
static uint32_t program_narrow_all(struct program *p, const struct call *k)
{
    uint64_t bits[SR_BATCH_WORDS] = {0};
    for (uint32_t w = 0; w < BITS_OF(k->n); w++) {
        uint64_t all = k->n - w * 64 >= 64 ? UINT64_MAX : (UINT64_C(1) << (k->n % 64)) - 1;
        bits[w] = k->out->valid[w] & all;
        for (uint64_t rest = all & ~bits[w]; rest != 0; rest &= rest - 1) {
            program_zero(k->out, w * 64 + (uint32_t)__builtin_ctzll(rest));
        }
    }
    return bits_rows(bits, k->n, p->sel);
}

/* Leaves out the rows whose result is NULL already; their values become zeros. */
static void program_narrow(struct program *p, struct call *k)
{
    k->n = k->sel ? program_narrow_picked(p, k) : program_narrow_all(p, k);
    k->sel = p->sel;
}

/* The call of a step: over all stored rows, or over those of its slot. */
static struct call program_call_of(struct program *p, const struct step *s, bool is_dense,
                                   struct sr_column **arg)
{
    struct code *code = &p->code;
    for (uint32_t i = 0; i < s->args; i++) {
        arg[i] = code->reg[s->arg[i]].col;
    }
    const struct slot *slot = is_dense ? NULL : slot_open(code->slot[s->slot], p->run.rows);
    return (struct call){.arg = arg,
                         .args = s->args,
                         .is_constant = s->is_constant,
                         .sel = slot ? slot->sel : NULL,
                         .n = slot ? slot->n : p->run.rows,
                         .state = s->state,
                         .is_try = s->e->is_try,
                         .home = p->run.home,
                         .run = &p->run};
}

/* Whether the kernel of a step may run over all stored rows, and that is the quicker way. */
static bool program_is_dense(const struct program *p, const struct step *s)
{
    return (s->kernel->flags & KERNEL_DENSE) && slot_is_dense(p->code.slot[s->slot], p->run.rows);
}

static void program_call(struct program *p, const struct step *s, struct sr_column **arg)
{
    struct call k = program_call_of(p, s, program_is_dense(p, s), arg);
    if (!program_column(p, s, &k.out)) {
        return;
    }
    if (!(s->kernel->flags & KERNEL_NULLS) && program_and(&k, p->run.rows, k.out->valid_space)) {
        k.out->valid = k.out->valid_space;
        if (!(s->kernel->flags & KERNEL_DENSE)) {
            program_narrow(p, &k);
        }
    }
    if (k.n > 0) {
        s->kernel->run(&k);
    }
    p->code.reg[s->out].col = k.out; /* perhaps an alias by now */
    if (!k.out->bytes && sr_has_bytes(k.out->type.kind)) {
        k.out->bytes = buffer_hold(p->run.empty);
    }
    if (sr_is_nested(k.out->type.kind) && !column_finish(p->run.home, k.out, p->run.rows)) {
        p->run.rc = SR_ENOMEM;
    }
}

/* A condition over all rows gives bytes, which become bits; one by selection picks row numbers. */
static void program_compare(struct program *p, const struct step *s, struct sr_column **arg)
{
    bool is_dense = program_is_dense(p, s);
    struct call k = program_call_of(p, s, is_dense, arg);
    struct slot *to = p->code.slot[s->to];
    uint32_t rows = p->run.rows;
    uint64_t valid[SR_BATCH_WORDS], bits[SR_BATCH_WORDS];
    bool has_nulls = program_and(&k, rows, valid);
    if (!is_dense) {
        slot_take(to, s->kernel->pick(&k, to->space), has_nulls ? valid : NULL, rows);
        return;
    }
    struct sr_column out = {.refs = 1, .rows = rows, .type = s->e->type, .values = p->mark};
    k.out = &out;
    s->kernel->run(&k);
    bits_pack(p->mark, rows, bits);
    for (uint32_t w = 0; has_nulls && w < BITS_OF(rows); w++) {
        bits[w] &= valid[w];
    }
    slot_meet(p->code.slot[s->slot], bits, to, rows);
}

static void program_pick(struct program *p, const struct step *s)
{
    struct code *code = &p->code;
    slot_pick(code->slot[s->slot], code->reg[s->arg[0]].col, s->by, code->slot[s->to],
              s->rest == COMPILE_NONE ? NULL : code->slot[s->rest], p->run.rows);
}

/* --- Choosing among branches. ----------------------------------------------------------------- */

static void program_copy(struct sr_column *out, const struct sr_column *c, const struct slot *s)
{
    uint32_t size = sr_value_size(&out->type);
    uint8_t *to = out->values;
    const uint8_t *from = c->values;
    for (uint32_t i = 0; i < s->n; i++) {
        size_t at = (size_t)slot_row(s, i) * size;
        memcpy(to + at, from + at, size);
    }
    for (uint32_t i = 0; c->valid && i < s->n; i++) {
        uint32_t r = slot_row(s, i);
        if (!valid_bit(c->valid, r)) {
            column_set_null(out, r);
        }
    }
}

/* The one buffer that all chosen texts lie in; NULL: there are several. */
static struct sr_buffer *program_common(const struct program *p, const struct step *s)
{
    struct sr_buffer *one = NULL;
    for (uint32_t i = 0; i < s->args; i++) {
        struct sr_buffer *b = p->code.reg[s->arg[i]].col->bytes;
        if (p->code.slot[s->under[i]]->n == 0 || b == p->run.empty || b == p->code.empty) {
            continue;
        }
        if (one && b != one) {
            return NULL;
        }
        one = b;
    }
    return one ? one : p->run.empty;
}

/* Texts from several buffers: copied into one. */
static void program_gather(struct program *p, const struct step *s, struct sr_column *out)
{
    struct sr_span *span = out->values;
    for (uint32_t i = 0; i < s->args; i++) {
        const struct sr_column *c = p->code.reg[s->arg[i]].col;
        const struct slot *from = slot_open(p->code.slot[s->under[i]], p->run.rows);
        const char *text = column_text(c);
        for (uint32_t j = 0; j < from->n; j++) {
            uint32_t r = slot_row(from, j);
            if (!valid_bit(out->valid, r)) {
                span[r] = (struct sr_span){0, 0};
            } else if (!column_put_bytes(p->run.home, out, r, text + span[r].at, span[r].len)) {
                p->run.rc = SR_ENOMEM;
                return;
            }
        }
    }
}

/* Values of ROW, ARRAY and MAP: copied with their inside. */
static void program_choose_nested(struct program *p, const struct step *s, struct sr_column *out)
{
    bool is_good = true;
    for (uint32_t i = 0; i < s->args; i++) {
        const struct slot *from = slot_open(p->code.slot[s->under[i]], p->run.rows);
        for (uint32_t j = 0; j < from->n && is_good; j++) {
            uint32_t r = slot_row(from, j);
            is_good = nest_copy(p->run.home, out, r, p->code.reg[s->arg[i]].col, r);
        }
    }
    if (!is_good || !column_finish(p->run.home, out, p->run.rows)) {
        p->run.rc = SR_ENOMEM;
    }
}

static void program_choose(struct program *p, const struct step *s)
{
    struct sr_column *out;
    if (!program_column(p, s, &out)) {
        return;
    }
    if (sr_is_nested(out->type.kind)) {
        program_choose_nested(p, s, out);
        return;
    }
    for (uint32_t i = 0; i < s->args; i++) {
        program_copy(out, p->code.reg[s->arg[i]].col,
                     slot_open(p->code.slot[s->under[i]], p->run.rows));
    }
    if (!sr_has_bytes(out->type.kind)) {
        return;
    }
    struct sr_buffer *common = program_common(p, s);
    if (common) {
        out->bytes = buffer_hold(common);
        out->bytes_used = common->capacity;
    } else {
        program_gather(p, s, out);
    }
    if (!out->bytes) {
        out->bytes = buffer_hold(p->run.empty);
    }
}

/* --- Running. --------------------------------------------------------------------------------- */

static void program_steps(struct program *p)
{
    struct sr_column *arg[CALL_ARGS_MAX];
    for (const struct step *s = p->code.first; s && p->run.rc == SR_OK; s = s->next) {
        switch (s->kind) {
        case STEP_CALL:
            program_call(p, s, arg);
            break;
        case STEP_PICK:
            program_pick(p, s);
            break;
        case STEP_COMPARE:
            program_compare(p, s, arg);
            break;
        case STEP_CHOOSE:
            program_choose(p, s);
            break;
        }
    }
}

/* A constant as a column of its own: those of the program are shared by all its batches, and know
 * nothing of how many rows a view has. */
static struct sr_column *program_spread(struct program *p, const struct sr_column *c)
{
    struct sr_column *out = column_new(p->run.home, &c->type, SR_BATCH_ROWS);
    if (!out) {
        return NULL;
    }
    if (sr_is_nested(c->type.kind)) { /* the only constant of these types is NULL */
        for (uint32_t r = 0; r < p->run.rows; r++) {
            column_set_null(out, r);
        }
        return column_finish(p->run.home, out, p->run.rows) ? out : (column_release(out), NULL);
    }
    out->rows = p->run.rows;
    memcpy(out->values, c->values, (size_t)sr_value_size(&c->type) * p->run.rows);
    if (c->valid) {
        memcpy(out->valid_space, c->valid, (p->run.rows + 63) / 64 * sizeof(uint64_t));
        out->valid = out->valid_space;
    }
    if (c->bytes) {
        out->bytes = buffer_hold(c->bytes);
        out->bytes_used = c->bytes->capacity;
    }
    return out;
}

static void program_outputs(struct program *p, struct sr_column **col)
{
    for (uint32_t i = 0; i < p->outs; i++) {
        struct reg *r = &p->code.reg[p->out[i]];
        col[i] = r->kind == REGISTER_CONSTANT ? program_spread(p, r->col) : column_hold(r->col);
        if (!col[i]) {
            p->run.rc = SR_ENOMEM;
            while (i > 0) {
                column_release(col[--i]);
            }
            return;
        }
    }
}

/* Rows that failed, as far as there is room; rows behind the last one that has room are not
 * taken. */
static void program_bads(struct program *p, struct program_result *r)
{
    const struct slot *base = p->code.slot[0];
    uint32_t i = 0;
    for (; i < base->n; i++) {
        uint32_t row = slot_row(base, i);
        if (!run_has_failed(&p->run, row)) {
            continue;
        }
        if (r->bads == SR_BAD_ROWS_MAX) {
            break;
        }
        struct sr_bad_row *b = &r->bad[r->bads++];
        b->row = (uint16_t)row;
        memcpy(b->words, p->run.words[row], sizeof(b->words));
    }
    r->used = i;
    uint32_t end = i < base->n ? slot_row(base, i) : UINT32_MAX, n = 0;
    const struct slot *picked = slot_open(p->code.slot[p->picked], p->run.rows);
    for (uint32_t k = 0; k < picked->n; k++) {
        uint32_t row = slot_row(picked, k);
        if (row < end && !run_has_failed(&p->run, row)) {
            p->sel[n++] = (uint16_t)row;
        }
    }
    r->picked = n;
    r->sel = p->sel;
}

static void program_end(struct program *p)
{
    for (uint32_t i = 0; i < p->code.regs; i++) {
        struct reg *r = &p->code.reg[i];
        if (r->kind == REGISTER_COMPUTED) {
            column_release(r->col);
        }
        r->col = r->kind == REGISTER_CONSTANT ? r->col : NULL;
    }
    if (p->run.failures > 0) {
        memset(p->run.failed, 0, sizeof(p->run.failed));
        p->run.failures = 0;
    }
}

sr_rc program_run(struct program *p, struct sr_home *home, const struct sr_view *v, uint32_t from,
                  struct program_result *r, struct sr_error *err)
{
    sr_assert(from <= v->picked && v->rows <= SR_BATCH_ROWS);
    p->run.home = home;
    p->run.empty = p->code.empty;
    p->run.rows = v->rows;
    p->run.rc = SR_OK;
    p->run.now_us = INT64_MIN;
    p->run.watermark = r->has_watermark ? r->watermark : SR_WATERMARK_NONE;
    p->run.row_watermark =
        r->has_watermark && v->watermark ? (const int64_t *)(const void *)v->watermark->data : NULL;
    for (uint32_t i = 0; i < p->code.regs; i++) {
        struct reg *g = &p->code.reg[i];
        g->col = g->kind == REGISTER_INPUT ? v->col[g->column] : g->col;
    }
    struct slot *base = p->code.slot[0];
    slot_base(base, v, from);
    program_steps(p);
    if (p->run.rc == SR_OK) {
        const struct slot *picked = slot_open(p->code.slot[p->picked], p->run.rows);
        r->picked = picked->n;
        r->sel = picked->sel;
        r->bads = 0;
        r->used = base->n;
        program_outputs(p, r->col);
    }
    if (p->run.rc == SR_OK && p->run.failures > 0) {
        program_bads(p, r);
    }
    if (p->run.rc == SR_OK) {
        r->filtered = r->used - r->picked - r->bads;
    }
    program_end(p);
    return p->run.rc == SR_OK ? SR_OK
                              : error_set(err, p->run.rc, "an expression ran out of memory");
}

/* --- Constants. ------------------------------------------------------------------------------- */

/* Runs e over one row without columns. Answers its column, which is the caller's; NULL: see err. */
static struct sr_column *program_once(struct sr_home *home, const struct expr *e,
                                      const char *time_zone, const struct sr_host *host,
                                      struct sr_error *err)
{
    struct sr_schema none = {.rowtime = -1};
    struct program_conf conf = {
        .in = &none, .out = &e, .outs = 1, .time_zone = time_zone, .host = host};
    struct program *p = NULL;
    if (program_make(&p, &conf, true, err) != SR_OK || !p) {
        return NULL;
    }
    struct sr_column *col = NULL;
    struct sr_view *v = view_new(home, 0);
    struct sr_bad_row *bad = calloc(SR_BAD_ROWS_MAX, sizeof(*bad));
    struct program_result r = {.col = &col, .bad = bad};
    if (!v || !bad) {
        (void)error_set(err, SR_ENOMEM, "out of memory");
    } else {
        v->rows = 1;
        v->picked = 1;
        sr_rc rc = program_run(p, home, v, 0, &r, err);
        if (rc == SR_OK && r.bads > 0) {
            column_release(col);
            col = NULL;
            (void)error_set(err, SR_EDATA, "%s", bad[0].words);
        }
    }
    free(bad);
    view_release(v);
    program_free(p);
    return col;
}

static const struct expr *program_literal(struct arena *a, const struct expr *e,
                                          const struct sr_column *c)
{
    struct expr *x = arena_get(a, sizeof(*x));
    if (!x) {
        return e;
    }
    x->kind = EXPR_LITERAL;
    x->type = e->type;
    x->offset = e->offset;
    x->is_null = !sr_is_valid(c, 0);
    if (x->is_null) {
        return x;
    }
    if (sr_has_bytes(e->type.kind)) {
        const char *text = sr_text(c, 0, &x->text_len);
        x->text = arena_text_n(a, text, x->text_len);
        return x->text ? x : e;
    }
    switch (sr_value_size(&e->type)) {
    case 1:
        x->value.i =
            e->type.kind == SR_BOOLEAN ? *(const uint8_t *)c->values : *(const int8_t *)c->values;
        break;
    case 2:
        x->value.i = *(const int16_t *)c->values;
        break;
    case 4:
        if (e->type.kind == SR_FLOAT) {
            x->value.d = (double)*(const float *)c->values;
        } else {
            x->value.i = *(const int32_t *)c->values;
        }
        break;
    default:
        memcpy(&x->value, c->values, sr_value_size(&e->type));
        break;
    }
    return x;
}

const struct expr *program_fold(struct arena *a, const struct expr *e, const char *time_zone)
{
    if (e->kind == EXPR_LITERAL || !expr_is_constant(e) || sr_is_nested(e->type.kind)) {
        return e;
    }
    struct sr_home *home = home_new();
    struct sr_error err;
    const struct expr *folded = e;
    struct sr_column *col = home ? program_once(home, e, time_zone, NULL, &err) : NULL;
    if (col) {
        folded = program_literal(a, e, col);
        column_release(col);
    }
    home_close(home);
    return folded;
}

const struct expr *program_fold_early(struct arena *a, const struct expr *e)
{
    return expr_needs_zone(e) ? e : program_fold(a, e, NULL);
}

/* x'00ff', as SQL writes bytes. */
static void program_bytes_text(struct arena *a, const char *bytes, uint32_t len,
                               struct program_text *out)
{
    static const char digits[] = "0123456789abcdef";
    char *text = arena_get(a, (size_t)len * 2 + 4);
    if (!text) {
        return;
    }
    char *at = text;
    *at++ = 'x';
    *at++ = '\'';
    for (uint32_t i = 0; i < len; i++) {
        *at++ = digits[(unsigned char)bytes[i] >> 4];
        *at++ = digits[(unsigned char)bytes[i] & 15];
    }
    *at++ = '\'';
    *out = (struct program_text){text, (uint32_t)(at - text)};
}

/* out->text stays NULL when memory is short. */
static void program_value_text(struct arena *a, const struct sr_column *c, struct program_text *out)
{
    char buffer[VALUE_TEXT_MAX];
    uint32_t len = 0;
    if (sr_is_nested(c->type.kind)) {
        struct json_out whole = {0};
        nest_text(&whole, c, 0, true);
        *out = (struct program_text){
            whole.is_broken ? NULL : arena_text_n(a, whole.bytes, whole.len), whole.len};
        json_out_done(&whole);
        return;
    }
    const char *bytes = sr_has_bytes(c->type.kind) ? sr_text(c, 0, &len) : buffer;
    if (sr_is_bytes(c->type.kind)) {
        program_bytes_text(a, bytes, len, out);
        return;
    }
    len = bytes == buffer ? value_text(c, 0, buffer) : len;
    *out = (struct program_text){arena_text_n(a, bytes, len), len};
}

sr_rc program_constant(struct arena *a, const struct expr *e, const char *time_zone,
                       const struct sr_host *host, struct program_text *out, struct sr_error *err)
{
    sr_assert(err);
    if (e->type.kind == SR_TIMESTAMP_LTZ) { /* shown as the clock of the session shows it */
        struct sr_type local = type_with(SR_TIMESTAMP, e->type.length, 0);
        e = expr_cast(a, e, &local, false, err);
    }
    if (!e) {
        return err->rc;
    }
    if (!expr_has_no_column(e) || (!host && !expr_is_constant(e))) {
        return error_set(err, SR_ECONFIG, "the expression is not constant");
    }
    struct sr_home *home = home_new();
    if (!home) {
        return error_set(err, SR_ENOMEM, "out of memory");
    }
    struct sr_column *col = program_once(home, e, time_zone, host, err);
    sr_rc rc = col ? SR_OK : err->rc;
    struct program_text text = {0};
    if (col && sr_is_valid(col, 0)) {
        program_value_text(a, col, &text);
        rc = text.text ? SR_OK : error_set(err, SR_ENOMEM, "out of memory");
    }
    column_release(col);
    home_close(home);
    if (rc == SR_OK) {
        *out = text;
    }
    return rc;
}
