/* checkpoints diff A B: what changed from one checkpoint to another. */
#include <inttypes.h>
#include <string.h>

#include "cli/checkpoints.h"
#include "cli/codes.h"
#include "cli/restore_from.h"
#include "cli/show.h"
#include "engine/run/compare.h"

static json_t *diff_amount(const struct compare_amount *a)
{
    return json_pack("{s:I, s:I}", "entries", (json_int_t)a->entries, "bytes",
                     (json_int_t)a->bytes);
}

static json_t *diff_states(const struct compare *d)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < d->states; i++) {
        const struct compare_state *s = &d->state[i];
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:s?, s:s?, s:o, s:o, s:o, s:o, s:o}", "operator", s->uid,
                            "state", s->name, "columns_before", s->before, "columns_after",
                            s->after, "before", diff_amount(&s->old), "after", diff_amount(&s->new),
                            "added", diff_amount(&s->added), "removed", diff_amount(&s->removed),
                            "changed", diff_amount(&s->changed)));
    }
    return list;
}

static json_t *diff_splits(const struct compare *d)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < d->splits; i++) {
        const struct compare_split *s = &d->split[i];
        json_t *j = json_pack("{s:s, s:s, s:b, s:b}", "source", s->uid, "split", s->id, "moved",
                              s->is_moved, "finished", s->is_finished);
        json_object_set_new(j, "before", s->was_there ? json_integer(s->before) : json_null());
        json_object_set_new(j, "after", s->is_there ? json_integer(s->after) : json_null());
        json_array_append_new(list, j);
    }
    return list;
}

static json_t *diff_parts(const struct compare *d)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < d->parts; i++) {
        const struct compare_part *p = &d->part[i];
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:I, s:I, s:b}", "operator", p->uid, "part",
                                        p->name, "bytes_before", (json_int_t)p->before,
                                        "bytes_after", (json_int_t)p->after, "same", p->is_same));
    }
    return list;
}

static void diff_print_states(struct cli *c, const struct compare *d)
{
    enum { COLUMNS = 8 };
    static const char *const head[COLUMNS] = {"operator", "state",   "before",  "after",
                                              "added",    "removed", "changed", "bytes changed"};
    static const bool is_right[COLUMNS] = {false, false, true, true, true, true, true, true};
    const char **cell = arena_array(c->arena, (size_t)(d->states + 1) * COLUMNS, sizeof(*cell));
    if (!cell || d->states == 0) return;
    memcpy(cell, head, sizeof(head));
    for (uint32_t i = 0; i < d->states; i++) {
        const struct compare_state *s = &d->state[i];
        const char **row = cell + (size_t)(i + 1) * COLUMNS;
        const uint64_t number[] = {s->old.entries, s->new.entries, s->added.entries,
                                   s->removed.entries, s->changed.entries};
        row[0] = s->uid;
        row[1] = s->name;
        for (uint32_t n = 0; n < 5; n++) {
            row[n + 2] = arena_printf(c->arena, "%" PRIu64, number[n]);
        }
        row[7] =
            show_size(c->arena, (int64_t)(s->added.bytes + s->removed.bytes + s->changed.bytes));
    }
    show_table(c->out, &(struct show_table){COLUMNS, is_right, d->states + 1, cell});
    for (uint32_t i = 0; i < d->states; i++) {
        const struct compare_state *s = &d->state[i];
        if (s->before && s->after && strcmp(s->before, s->after) != 0) {
            fprintf(c->out, "%s: %s was %s, is %s\n", s->uid, s->name, s->before, s->after);
        }
    }
}

static const char *diff_place(struct cli *c, bool is_there, int64_t n)
{
    return is_there ? arena_printf(c->arena, "%" PRId64, n) : "-";
}

static void diff_print_splits(struct cli *c, const struct compare *d)
{
    enum { COLUMNS = 4 };
    static const char *const head[COLUMNS] = {"source", "split", "before", "after"};
    static const bool is_right[COLUMNS] = {false, false, true, true};
    const char **cell = arena_array(c->arena, (size_t)(d->splits + 1) * COLUMNS, sizeof(*cell));
    uint32_t rows = 1;
    if (!cell) return;
    memcpy(cell, head, sizeof(head));
    for (uint32_t i = 0; i < d->splits; i++) {
        const struct compare_split *s = &d->split[i];
        if (!s->is_moved) continue;
        const char **row = cell + (size_t)rows++ * COLUMNS;
        row[0] = s->uid;
        row[1] = s->id;
        row[2] = diff_place(c, s->was_there, s->before);
        row[3] = diff_place(c, s->is_there, s->after);
    }
    if (rows > 1) show_table(c->out, &(struct show_table){COLUMNS, is_right, rows, cell});
}

static void diff_print(struct cli *c, const struct compare *d)
{
    diff_print_states(c, d);
    diff_print_splits(c, d);
    for (uint32_t i = 0; i < d->parts; i++) {
        const struct compare_part *p = &d->part[i];
        if (p->is_same) continue;
        fprintf(c->out, "%s: %s changed, %" PRIu64 " bytes before, %" PRIu64 " after\n", p->uid,
                p->name, p->before, p->after);
    }
}

enum cli_exit checkpoints_diff(struct cli *c, const struct args *a)
{
    struct restore_from old, new;
    struct compare d = {.states = 0};
    struct sr_error err = {0};
    enum cli_exit code = restore_from_find(c, a->word[1], false, &old);
    if (code == CLI_OK) code = restore_from_find(c, a->word[2], false, &new);
    if (code != CLI_OK) return code;
    if (compare_checkpoints(c->arena, old.manifest, new.manifest, &d, &err) != SR_OK) {
        return cli_error(c, CLI_STATE, &err);
    }
    if (c->is_json) {
        show_json(c,
                  json_pack("{s:s, s:s, s:I, s:I, s:o, s:o, s:o}", "before", old.path, "after",
                            new.path, "id_before", (json_int_t)old.manifest->checkpoint, "id_after",
                            (json_int_t) new.manifest->checkpoint, "states", diff_states(&d),
                            "splits", diff_splits(&d), "parts", diff_parts(&d)));
    } else {
        diff_print(c, &d);
    }
    return CLI_OK;
}
