#include "engine/state/saved.h"

#include "engine/base/arena.h"
#include "engine/data/schema.h"

static const char *saved_kind(enum sr_map_kind kind)
{
    switch (kind) {
    case SR_MAP_VALUE:
        return "value map";
    case SR_MAP_MULTI:
        return "multimap";
    case SR_MAP_ORDERED:
        return "ordered map";
    }
    return "";
}

/* Whether a column may be NULL is left out: a record can hold NULL in any. */
static const char *saved_columns(struct arena *a, const struct map *m, uint32_t from,
                                 uint32_t count)
{
    const char *text = "";
    for (uint32_t i = 0; i < count && text; i++) {
        const struct sr_map_column *c = &m->head.column[from + i];
        struct sr_type t = type_nullable(c->type, true);
        const char *type = type_text(a, &t);
        bool is_down = from == m->head.keys && from + i < m->head.keys + m->head.sorts &&
                       m->is_descending && m->is_descending[i];
        text = type ? arena_printf(a, "%s%s%s %s%s", text, i > 0 ? ", " : "", c->name, type,
                                   is_down ? " DESC" : "")
                    : NULL;
    }
    return text;
}

const char *saved_signature(struct arena *a, const struct map *m)
{
    const char *keys = saved_columns(a, m, 0, m->head.keys);
    const char *values = saved_columns(a, m, m->head.keys + m->head.sorts, m->head.values);
    if (!keys || !values) {
        return NULL;
    }
    if (m->kind != SR_MAP_ORDERED) {
        return arena_printf(a, "%s: keys (%s), values (%s)", saved_kind(m->kind), keys, values);
    }
    const char *sorts = saved_columns(a, m, m->head.keys, m->head.sorts);
    return sorts ? arena_printf(a, "%s: keys (%s), order (%s), values (%s)", saved_kind(m->kind),
                                keys, sorts, values)
                 : NULL;
}

void saved_return(struct map *m)
{
    for (uint32_t c = 0; c < m->head.keys + m->head.sorts + m->head.values; c++) {
        column_release(m->borrowed[c]);
        m->borrowed[c] = NULL;
    }
}

sr_rc saved_borrow(struct map *m)
{
    for (uint32_t c = 0; c < m->head.keys + m->head.sorts + m->head.values; c++) {
        m->borrowed[c] = column_new(map_state(m)->home, &m->head.column[c].type, SR_BATCH_ROWS);
        if (!m->borrowed[c]) {
            saved_return(m);
            return SR_ENOMEM;
        }
    }
    return SR_OK;
}
