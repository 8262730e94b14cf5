/* Casts of ROW, ARRAY and MAP: to text, and to others of their kind by a program for the inside. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/data/pool.h"
#include "engine/data/schema.h"
#include "engine/expr/cast.h"
#include "engine/expr/nest.h"
#include "engine/expr/program.h"
#include "engine/expr/promote.h"
#include "engine/expr/run.h"
#include "engine/expr/utf8.h"

/* --- To text. --------------------------------------------------------------------------------- */

static void cast_nest_text(struct call *k)
{
    struct json_out out = {0};
    uint32_t max = (uint32_t)k->out->type.length;
    CALL_EACH_ROW(k, r)
    {
        out.len = 0;
        nest_text(&out, k->arg[0], r, false);
        if (out.is_broken) {
            call_broken(k, SR_ENOMEM);
            break;
        }
        uint32_t cut = out.len <= max ? out.len : utf8_skip(out.bytes, out.len, max);
        uint32_t blanks = k->out->type.kind == SR_CHAR ? max - utf8_count(out.bytes, cut) : 0;
        uint8_t *to = call_space(k, r, cut + blanks);
        if (to) {
            memcpy(to, out.bytes, cut);
            memset(to + cut, ' ', blanks);
        }
    }
    json_out_done(&out);
}
static const struct kernel cast_k_nest_text = {.run = cast_nest_text};

/* --- To another of its kind. ------------------------------------------------------------------ */

/* Rows of the inside are gathered, cast by the program, and put into the result. */
struct cast_nest {
    struct arena *arena;
    struct program *program; /* made when the first row comes: only then the time zone is known */
    struct sr_schema in;
    const struct expr **out;
    struct sr_column **col;
    struct sr_bad_row *bad;
};

static void cast_nest_release(void *state)
{
    struct cast_nest *n = state;
    if (n) {
        program_free(n->program);
        arena_free(n->arena);
        free(n->bad);
        free(n);
    }
}

static sr_rc cast_nest_prepare(const struct expr *e, void **state, struct sr_error *err)
{
    struct cast_nest *n = calloc(1, sizeof(*n));
    *state = n;
    const struct sr_type *from = &e->arg[0]->type, *to = &e->type;
    if (n) {
        n->arena = arena_new();
        n->bad = calloc(SR_BAD_ROWS_MAX, sizeof(*n->bad));
    }
    n = n && n->arena && n->bad ? n : NULL;
    if (n) {
        n->in = (struct sr_schema){.fields = from->children, .field = from->child, .rowtime = -1};
        n->out = arena_array(n->arena, from->children, sizeof(struct expr *));
        n->col = arena_array(n->arena, from->children, sizeof(struct sr_column *));
    }
    if (!n || !n->out || !n->col) {
        return error_set(err, SR_ENOMEM, "out of memory");
    }
    for (uint32_t i = 0; i < from->children; i++) {
        const struct expr *column = expr_column(n->arena, &n->in, i);
        n->out[i] = expr_cast(n->arena, column, &to->child[i].type, false, err);
        if (!n->out[i]) {
            return err->rc;
        }
    }
    return SR_OK;
}

static bool cast_nest_open(struct call *k)
{
    struct cast_nest *n = k->state;
    struct sr_error err;
    struct program_conf conf = {.in = &n->in,
                                .out = n->out,
                                .outs = n->in.fields,
                                .time_zone = k->run->time_zone,
                                .host = k->run->host};
    sr_rc rc = n->program ? SR_OK : program_new(&n->program, &conf, &err);
    if (rc != SR_OK) {
        call_broken(k, rc);
    }
    return rc == SR_OK;
}

/* Rows [from, from + count) of the inside of the argument, as a view; NULL: out of memory. */
static struct sr_view *cast_nest_gather(struct call *k, uint32_t from, uint32_t count)
{
    const struct sr_column *a = k->arg[0];
    struct sr_view *v = view_new(k->home, a->children);
    for (uint32_t c = 0; v && c < a->children; c++) {
        v->col[c] = column_new(k->home, &a->child[c]->type, SR_BATCH_ROWS);
        bool is_good = v->col[c] != NULL;
        for (uint32_t i = 0; is_good && i < count; i++) {
            is_good = nest_copy(k->home, v->col[c], i, a->child[c], from + i);
        }
        if (!is_good || !column_finish(k->home, v->col[c], count)) {
            view_release(v);
            return NULL;
        }
    }
    if (v) {
        v->rows = v->picked = count;
    }
    return v;
}

/* What came out becomes the inside of the result of row r. */
static void cast_nest_put(struct call *k, uint32_t r, uint32_t count)
{
    struct cast_nest *n = k->state;
    bool is_row = k->out->type.kind == SR_ROW, is_good = true;
    for (uint32_t c = 0; c < n->in.fields; c++) {
        for (uint32_t i = 0; i < count && is_good; i++) {
            is_good = is_row ? nest_copy(k->home, k->out->child[c], r, n->col[c], i)
                             : nest_append(k->home, k->out, c, n->col[c], i);
        }
    }
    if (!is_good) {
        call_broken(k, SR_ENOMEM);
    } else if (!is_row) {
        ((struct sr_span *)k->out->values)[r].len += count;
    }
}

/* Casts so many rows of the inside of row r. False: one of them cannot be, or memory is out. */
static bool cast_nest_part(struct call *k, uint32_t r, uint32_t from, uint32_t count)
{
    struct cast_nest *n = k->state;
    struct sr_error err;
    struct sr_view *v = cast_nest_gather(k, from, count);
    struct program_result result = {.col = n->col, .bad = n->bad};
    sr_rc rc = v ? program_run(n->program, k->home, v, 0, &result, &err) : SR_ENOMEM;
    if (rc != SR_OK) {
        call_broken(k, rc);
    } else if (result.bads > 0) {
        call_fail(k, r, "%s", n->bad[0].words);
    } else {
        cast_nest_put(k, r, count);
    }
    for (uint32_t c = 0; rc == SR_OK && c < n->in.fields; c++) {
        column_release(n->col[c]);
    }
    view_release(v);
    return rc == SR_OK && result.bads == 0;
}

static void cast_nest(struct call *k)
{
    bool is_row = k->out->type.kind == SR_ROW;
    if (!cast_nest_open(k)) {
        return;
    }
    CALL_EACH_ROW(k, r)
    {
        if (!valid_bit(k->arg[0]->valid, r)) {
            call_null(k, r);
            continue;
        }
        struct sr_span s = {r, 1};
        if (!is_row) {
            s = ((const struct sr_span *)k->arg[0]->values)[r];
            call_span(k, r, k->out->child[0]->rows, 0);
        }
        for (uint32_t i = 0; i < s.len; i += SR_BATCH_ROWS) {
            uint32_t count = s.len - i < SR_BATCH_ROWS ? s.len - i : SR_BATCH_ROWS;
            if (!cast_nest_part(k, r, s.at + i, count)) {
                break;
            }
        }
    }
}
static const struct kernel cast_k_nest = {.run = cast_nest,
                                          .flags = KERNEL_NULLS | KERNEL_FAILS | KERNEL_ZONE,
                                          .prepare = cast_nest_prepare,
                                          .release = cast_nest_release};

/* NOLINTNEXTLINE(misc-no-recursion): through cast_kernel, down a type: TYPE_DEPTH_MAX */
const struct kernel *cast_nested(const struct sr_type *from, const struct sr_type *to,
                                 const char **why)
{
    if (sr_is_text(to->kind)) {
        return &cast_k_nest_text;
    }
    if (from->kind != to->kind || from->children != to->children) {
        return NULL;
    }
    for (uint32_t i = 0; i < from->children; i++) {
        const struct sr_type *x = &from->child[i].type, *y = &to->child[i].type;
        if (!type_equal(x, y, false) && x->kind != SR_NULL && !cast_kernel(x, y, why)) {
            return NULL;
        }
    }
    return &cast_k_nest;
}
