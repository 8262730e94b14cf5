#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/ops/aggregate.h"
#include "engine/ops/emit.h"
#include "engine/ops/ops.h"

/* GROUP BY without a window: a result that changes with every row, as Flink gives it:
 *
 *   first row of a group          +I
 *   a row that changes the result -U (before), +U (after); one that does not: nothing
 *   the last row is taken back    -D, and the group is forgotten
 *   taken back, but never seen    nothing
 *
 * Rows of a group must be folded one after the other, because each has its own result. So the rows
 * of a call go in rounds: the first of every group, then the second of every group, and so on;
 * within a round no group comes twice, and every kernel is one loop. Rows are written where their
 * place in the output is, so the output has the order of the input. */

#define GROUP_ROWS    (SR_BATCH_ROWS / 2) /* each can give two rows */
#define GROUP_TABLE   1024u               /* places for GROUP_ROWS slots; a power of two */
#define GROUP_NOWHERE UINT16_MAX

enum group_turn { GROUP_SKIPPED, GROUP_BEGINS, GROUP_CHANGES, GROUP_ENDS };

struct group_aggregate {
    struct aggregate base;
    uint32_t rows_column; /* of the map: rows in the group */
    bool can_retract;
    bool is_plain; /* the running call only adds */
    /* By row of the running call. */
    uint8_t turn[GROUP_ROWS];
    uint16_t before[GROUP_ROWS], after[GROUP_ROWS]; /* places in the output; GROUP_NOWHERE */
    uint16_t round_of[GROUP_ROWS];                  /* how many rows of its group came before */
    uint16_t by_round[GROUP_ROWS];                  /* rows, ordered by round */
    uint16_t round_at[GROUP_ROWS + 2];              /* where each round begins in by_round */
    uint32_t table_slot[GROUP_TABLE];
    uint16_t table_count[GROUP_TABLE];
};

/* One round, gathered for the kernels. */
struct group_round {
    uint32_t slot[GROUP_ROWS];
    uint16_t row[GROUP_ROWS];
    int8_t sign[GROUP_ROWS];
    uint32_t count;
    uint32_t slot_before[GROUP_ROWS], slot_after[GROUP_ROWS];
    uint16_t before[GROUP_ROWS], after[GROUP_ROWS];
    uint32_t befores, afters;
};

static sr_rc group_open(void *op, const struct sr_op_open *o, struct sr_error *err)
{
    struct group_aggregate *g = op;
    static const char *const more[] = {"rows", NULL};
    sr_rc rc = aggregate_open(&g->base, o, more, err);
    if (rc == SR_OK) {
        rc = aggregate_map(&g->base, "groups", &g->base.groups, err);
    }
    g->can_retract = true;
    for (uint32_t i = 0; rc == SR_OK && i < g->base.step->aggs; i++) {
        g->can_retract = g->can_retract && agg_can_retract(&g->base.accumulator[i]);
    }
    g->rows_column = g->base.step->keys;
    if (rc != SR_OK) {
        aggregate_close(&g->base);
    }
    return rc;
}

static void group_close(void *op) { aggregate_close(&((struct group_aggregate *)op)->base); }

/* --- What each row does to its group ---------------------------------------------------------- */

static bool group_adds(const struct sr_view *v, uint32_t r)
{
    enum sr_change change = sr_change_of(v, r);
    return change == SR_INSERT || change == SR_UPDATE_AFTER;
}

static void group_take_turns(struct group_aggregate *g, const struct sr_view *v)
{
    struct aggregate *a = &g->base;
    for (uint32_t i = 0; i < a->rows; i++) {
        int64_t *rows = sr_map_at(a->groups, a->slot[i], g->rows_column);
        bool adds = group_adds(v, a->row[i]);
        if (a->is_new[i]) {
            sr_map_set_null(a->groups, a->slot[i], g->rows_column, false);
        }
        if (!adds && *rows == 0) {
            g->turn[i] = GROUP_SKIPPED;
            a->sign[i] = 0;
            continue;
        }
        a->sign[i] = adds ? 1 : -1;
        *rows += a->sign[i];
        g->turn[i] = *rows == 0 ? GROUP_ENDS : adds && *rows == 1 ? GROUP_BEGINS : GROUP_CHANGES;
    }
}

/* Places in the output; answers how many rows it has. */
static uint32_t group_place(struct group_aggregate *g, struct sr_buffer *change)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->base.rows; i++) {
        enum group_turn turn = g->turn[i];
        bool has_before = turn == GROUP_CHANGES || turn == GROUP_ENDS;
        bool has_after = turn == GROUP_BEGINS || turn == GROUP_CHANGES;
        g->before[i] = g->after[i] = GROUP_NOWHERE;
        if (has_before) {
            change->data[n] = turn == GROUP_ENDS ? SR_DELETE : SR_UPDATE_BEFORE;
            g->before[i] = (uint16_t)n++;
        }
        if (has_after) {
            change->data[n] = turn == GROUP_BEGINS ? SR_INSERT : SR_UPDATE_AFTER;
            g->after[i] = (uint16_t)n++;
        }
    }
    return n;
}

/* How often the slot came before in this call. */
static uint16_t group_count(struct group_aggregate *g, uint32_t slot)
{
    uint32_t at = (slot * 0x9e3779b1u) >> 22;
    while (g->table_slot[at] != SR_SLOT_NONE && g->table_slot[at] != slot) {
        at = (at + 1) % GROUP_TABLE;
    }
    if (g->table_slot[at] == SR_SLOT_NONE) {
        g->table_slot[at] = slot;
        g->table_count[at] = 0;
    }
    return g->table_count[at]++;
}

_Static_assert(GROUP_TABLE == 1u << (32 - 22), "the shift in group_count gives a place");
_Static_assert(GROUP_ROWS < GROUP_TABLE, "the table has an empty place");

/* Orders the rows by round; answers how many rounds there are. */
static uint32_t group_make_rounds(struct group_aggregate *g)
{
    uint32_t rows = g->base.rows;
    uint32_t rounds = 0;
    for (uint32_t i = 0; i < GROUP_TABLE; i++) {
        g->table_slot[i] = SR_SLOT_NONE;
    }
    memset(g->round_at, 0, sizeof(g->round_at));
    for (uint32_t i = 0; i < rows; i++) {
        g->round_of[i] = group_count(g, g->base.slot[i]);
        g->round_at[g->round_of[i] + 1]++;
        rounds = g->round_of[i] + 1u > rounds ? g->round_of[i] + 1u : rounds;
    }
    for (uint32_t k = 1; k <= rounds; k++) {
        g->round_at[k] = (uint16_t)(g->round_at[k] + g->round_at[k - 1]);
    }
    uint16_t fill[GROUP_ROWS];
    memcpy(fill, g->round_at, sizeof(fill));
    for (uint32_t i = 0; i < rows; i++) {
        g->by_round[fill[g->round_of[i]]++] = (uint16_t)i;
    }
    return rounds;
}

/* --- Folding ---------------------------------------------------------------------------------- */

static void group_gather(const struct group_aggregate *g, uint32_t round, struct group_round *out)
{
    const struct aggregate *a = &g->base;
    out->count = out->befores = out->afters = 0;
    for (uint32_t k = g->round_at[round]; k < g->round_at[round + 1]; k++) {
        uint32_t i = g->by_round[k];
        out->slot[out->count] = a->slot[i];
        out->row[out->count] = a->row[i];
        out->sign[out->count++] = a->sign[i];
        if (g->before[i] != GROUP_NOWHERE) {
            out->slot_before[out->befores] = a->slot[i];
            out->before[out->befores++] = g->before[i];
        }
        if (g->after[i] != GROUP_NOWHERE) {
            out->slot_after[out->afters] = a->slot[i];
            out->after[out->afters++] = g->after[i];
        }
    }
}

static sr_rc group_fold(struct group_aggregate *g, const struct group_round *r, struct sr_view *out,
                        struct sr_error *err)
{
    struct aggregate *a = &g->base;
    sr_rc rc = SR_OK;
    for (uint32_t j = 0; j < a->step->aggs && rc == SR_OK; j++) {
        const struct accumulator *c = &a->accumulator[j];
        struct sr_column *to = out->col[a->step->keys + j];
        struct agg_rows rows = {.slot = r->slot,
                                .row = r->row,
                                .sign = g->is_plain ? NULL : r->sign,
                                .count = r->count};
        struct agg_places before = {r->slot_before, r->before, r->befores, a->home, to};
        struct agg_places after = {r->slot_after, r->after, r->afters, a->home, to};
        rc = agg_result(c, a->groups, &before);
        if (rc == SR_OK) {
            rc = aggregate_fold(a, j, rows, err);
        }
        if (rc == SR_OK) {
            rc = agg_result(c, a->groups, &after);
        }
    }
    return aggregate_failed(a, rc, err);
}

/* --- The output ------------------------------------------------------------------------------- */

static sr_rc group_key_columns(struct group_aggregate *g, const struct sr_view *in,
                               struct sr_view *out)
{
    struct aggregate *a = &g->base;
    uint16_t from[SR_BATCH_ROWS], at[SR_BATCH_ROWS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->rows; i++) {
        if (g->before[i] != GROUP_NOWHERE) {
            from[n] = a->row[i];
            at[n++] = g->before[i];
        }
        if (g->after[i] != GROUP_NOWHERE) {
            from[n] = a->row[i];
            at[n++] = g->after[i];
        }
    }
    for (uint32_t k = 0; k < a->step->keys; k++) {
        out->col[k] = emit_gather(a->home, in->col[a->step->key[k]], from, at, n, out->rows);
        if (!out->col[k]) {
            return SR_ENOMEM;
        }
    }
    return SR_OK;
}

static sr_rc group_result_columns(struct group_aggregate *g, struct sr_view *out)
{
    struct aggregate *a = &g->base;
    for (uint32_t j = 0; j < a->step->aggs; j++) {
        uint32_t c = a->step->keys + j;
        out->col[c] = column_new(a->home, &a->out->field[c].type, SR_BATCH_ROWS);
        if (!out->col[c]) {
            return SR_ENOMEM;
        }
        out->col[c]->rows = out->rows;
    }
    return SR_OK;
}

static bool group_is_changed(const struct group_aggregate *g, const struct sr_view *out, uint32_t i)
{
    for (uint32_t j = 0; j < g->base.step->aggs; j++) {
        if (!emit_same(out->col[g->base.step->keys + j], g->before[i], g->after[i])) {
            return true;
        }
    }
    return false;
}

/* Leaves out updates that change nothing. */
static void group_select(const struct group_aggregate *g, struct sr_view *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->base.rows; i++) {
        if (g->turn[i] == GROUP_CHANGES && !group_is_changed(g, out, i)) {
            continue;
        }
        if (g->before[i] != GROUP_NOWHERE) {
            out->sel_space[n++] = g->before[i];
        }
        if (g->after[i] != GROUP_NOWHERE) {
            out->sel_space[n++] = g->after[i];
        }
    }
    out->picked = n;
    out->sel = n < out->rows ? out->sel_space : NULL;
}

/* Forgets the groups that no row is left of. */
static void group_forget(struct group_aggregate *g)
{
    struct aggregate *a = &g->base;
    for (uint32_t k = g->round_at[0]; k < g->round_at[1];
         k++) { /* every group is in round 0 once */
        uint32_t slot = a->slot[g->by_round[k]];
        if (*(const int64_t *)sr_map_at(a->groups, slot, g->rows_column) == 0) {
            a->state->calls->remove(a->groups, &slot, 1);
        }
    }
}

static sr_rc group_results(struct group_aggregate *g, const struct sr_view *in, struct sr_view *out,
                           struct sr_error *err)
{
    struct group_round round;
    sr_rc rc = group_key_columns(g, in, out);
    if (rc == SR_OK) {
        rc = group_result_columns(g, out);
    }
    if (rc != SR_OK) {
        return error_set(err, rc, "out of memory");
    }
    uint32_t rounds = group_make_rounds(g);
    for (uint32_t k = 0; k < rounds && rc == SR_OK; k++) {
        group_gather(g, k, &round);
        rc = group_fold(g, &round, out, err);
    }
    if (rc == SR_OK && rounds > 0) {
        group_select(g, out);
        group_forget(g);
    }
    return rc;
}

/* Folds the rows of a->row; *result is the view of what came of it, NULL when nothing did. */
static sr_rc group_rows(struct group_aggregate *g, const struct sr_view *in,
                        struct sr_view **result, struct sr_error *err)
{
    struct aggregate *a = &g->base;
    sr_rc rc = aggregate_groups(a, in, NULL, err);
    if (rc != SR_OK) {
        return rc;
    }
    struct sr_view *out = view_new(a->home, a->out->fields);
    struct sr_buffer *change = buffer_new(a->home, SR_BATCH_ROWS);
    if (!out || !change) {
        view_release(out);
        buffer_release(change);
        return error_set(err, SR_ENOMEM, "out of memory");
    }
    out->change = change;
    g->is_plain = !in->change;
    group_take_turns(g, in);
    out->rows = out->picked = group_place(g, change);
    rc = group_results(g, in, out, err);
    if (rc != SR_OK || out->picked == 0) {
        view_release(out);
        out = NULL;
    }
    *result = out;
    return rc;
}

static enum sr_step group_process(void *op, struct sr_op_io *io, struct sr_error *err)
{
    struct group_aggregate *g = op;
    struct aggregate *a = &g->base;
    if (io->in->change && !g->can_retract) {
        for (uint32_t i = io->from; i < io->in->picked; i++) {
            if (!group_adds(io->in, sr_row(io->in, i))) {
                (void)error_set(err, SR_ECONFIG,
                                "MIN and MAX cannot take back rows that were updated or deleted");
                return SR_STEP_FAILED;
            }
        }
    }
    uint32_t left = io->in->picked - io->from;
    uint32_t count = left < GROUP_ROWS ? left : GROUP_ROWS;
    struct sr_view *some = view_slice(a->home, io->in, io->from, count);
    if (!some) {
        (void)error_set(err, SR_ENOMEM, "out of memory");
        return SR_STEP_FAILED;
    }
    uint32_t used = 0;
    struct sr_view *out = NULL;
    sr_rc rc = aggregate_begin(a, some, 0, io, &used, err);
    if (rc == SR_OK) {
        rc = group_rows(g, some, &out, err);
    }
    aggregate_end(a);
    view_release(some);
    if (rc != SR_OK) {
        return SR_STEP_FAILED;
    }
    io->used = used;
    io->absorbed = used - io->bads;
    io->out = out;
    return used == left ? SR_STEP_DONE : SR_STEP_AGAIN;
}

const struct sr_op_type group_aggregate_type = {
    .size = sizeof(struct sr_op_type),
    .name = "group-aggregate",
    .doc = "Keeps a running aggregate a group: an updating result.",
    .instance_size = sizeof(struct group_aggregate),
    .is_keyed = true,
    .open = group_open,
    .process = group_process,
    .close = group_close,
};
