#include "engine/run/letter.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/base/shown.h"

#define LETTER_SHOWN  72u /* columns of an excerpt */
#define LETTER_BEFORE 40u /* of them, in front of the value at fault */

struct letter letter_of_row(const struct plan *p, const struct plan_node *node,
                            const struct sr_view *v, uint32_t row, const char *words,
                            size_t words_max)
{
    struct letter l = {.node = node,
                       .step = node->step,
                       .view = v,
                       .row = row,
                       .words = words,
                       .words_len = (int)strnlen(words, words_max)};
    l.schema = node->kind == PLAN_SINK ? node->out
               : node->inputs > 0      ? p->node[node->input[0]].out
                                       : NULL;
    const struct sr_origin *o = v->origin;
    if (!o) return l;
    l.source = &p->node[o->node];
    l.split = (const char *)o->split->data;
    l.kind = o->kind;
    l.offset = origin_offset(o, row);
    l.line = origin_line(o, row);
    l.raw = origin_raw(o, row, &l.raw_len);
    return l;
}

void letter_place(const struct letter *l, char *out, size_t size)
{
    static const char *const units[] = {
        [ORIGIN_ROWS] = "row", [ORIGIN_BYTES] = "byte", [ORIGIN_RECORDS] = "record"};
    char line[24] = "";
    sr_assert(l->split);
    if (l->line > 0) (void)snprintf(line, sizeof(line), ":%lld", (long long)l->line);
    (void)snprintf(out, size, "%s%s (%s %lld)", l->split, line, units[l->kind],
                   (long long)l->offset);
}

/* --- Excerpt ---------------------------------------------------------------------------------- */

/* A byte that is no character, as it may be shown on a terminal; answers its columns. */
static uint32_t letter_show_byte(uint8_t c, char out[5])
{
    if (c == '\t') {
        memcpy(out, "\\t", 3);
        return 2;
    }
    (void)snprintf(out, 5, "\\x%02x", c);
    return 4;
}

/* The record around the value at fault in one line, and how far in it that value stands: UINT32_MAX
 * when that is not known. */
static uint32_t letter_excerpt(const struct letter *l, char *out, size_t size)
{
    uint32_t mark = l->mark > 0 && l->mark - 1 <= l->raw_len ? l->mark - 1 : UINT32_MAX;
    uint32_t from = mark != UINT32_MAX && mark > LETTER_BEFORE ? mark - LETTER_BEFORE : 0;
    while (from > 0 && from < l->raw_len && (l->raw[from] & 0xc0) == 0x80) {
        from--; /* not inside a character */
    }
    uint32_t columns = from > 0 ? 3 : 0, caret = UINT32_MAX;
    size_t used = (size_t)snprintf(out, size, "%s", from > 0 ? "..." : "");
    uint32_t i = from;
    while (i < l->raw_len && columns < LETTER_SHOWN && used + 8 < size) {
        if (i == mark) caret = columns;
        uint32_t wide = shown_character(l->raw + i, l->raw_len - i);
        if (wide > 0) {
            memcpy(out + used, l->raw + i, wide);
            used += wide;
            columns++;
            i += wide;
            continue;
        }
        char shown[5];
        columns += letter_show_byte(l->raw[i++], shown);
        used += (size_t)snprintf(out + used, size - used, "%s", shown);
    }
    if (i == mark && caret == UINT32_MAX) caret = columns;
    (void)snprintf(out + used, size - used, "%s", i < l->raw_len ? "..." : "");
    return caret;
}

sr_rc letter_fail(const struct letter *l, struct sr_error *err)
{
    static const char *const kinds[] = {
        [PLAN_SOURCE] = "source", [PLAN_OP] = "step", [PLAN_SINK] = "sink"};
    const char *kind = kinds[l->node->kind];
    if (!l->split && l->number > 0) {
        return error_set(err, SR_EDATA, "%s '%s', row %lld of its input: %.*s", kind, l->node->step,
                         (long long)l->number, l->words_len, l->words);
    }
    if (!l->split) {
        return error_set(err, SR_EDATA, "%s '%s': %.*s", kind, l->node->step, l->words_len,
                         l->words);
    }
    char place[256], excerpt[4 * LETTER_SHOWN + 16], caret[LETTER_SHOWN + 16] = "";
    letter_place(l, place, sizeof(place));
    bool is_own = l->node == l->source;
    sr_rc rc = error_set(err, SR_EDATA, "%s '%s'%s%s%s: %s: %.*s", kind, l->node->step,
                         is_own ? "" : ": source '", is_own ? "" : l->source->step,
                         is_own ? "" : "'", place, l->words_len, l->words);
    if (!l->raw || !err) return rc;
    uint32_t column = letter_excerpt(l, excerpt, sizeof(excerpt));
    if (column != UINT32_MAX) {
        (void)snprintf(caret, sizeof(caret), "\n  %*s^", (int)column, "");
    }
    size_t used = strlen(err->words);
    size_t more = strlen(excerpt) + strlen(caret) + 3;
    if (used + more < sizeof(err->words)) {
        (void)snprintf(err->words + used, sizeof(err->words) - used, "\n  %s%s", excerpt, caret);
    }
    return rc;
}
