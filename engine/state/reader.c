#include "engine/state/reader.h"

#include <string.h>

#include "engine/base/assert.h"
#include "engine/data/codec.h"
#include "engine/data/schema.h"
#include "engine/state/saved.h"

static bool reader_fail(struct reader *r, sr_rc rc)
{
    r->rc = rc;
    return false;
}

/* --- Columns ---------------------------------------------------------------------------------- */

/* Where the column that begins at `text` ends: at a comma or bracket that belongs to no type. */
static size_t reader_span(const char *text)
{
    uint32_t depth = 0;
    size_t at = 0;
    for (; text[at]; at++) {
        char c = text[at];
        if (depth == 0 && (c == ',' || c == ')')) break;
        depth += c == '(' || c == '<' ? 1 : 0;
        depth -= c == ')' || c == '>' ? 1 : 0;
    }
    return at;
}

/* "page STRING", "at TIMESTAMP(3) DESC": the name ends where a type begins. */
static bool reader_column(struct arena *a, const char *text, size_t len, struct sr_field *out)
{
    static const char down[] = " DESC";
    char *copy = arena_text_n(a, text, len);
    uint32_t at;
    struct sr_error ignored;
    if (!copy) return false;
    if (len > sizeof(down) - 1 && strcmp(copy + len - (sizeof(down) - 1), down) == 0) {
        copy[len - (sizeof(down) - 1)] = '\0';
    }
    for (char *space = strchr(copy, ' '); space; space = strchr(space + 1, ' ')) {
        struct sr_type type;
        if (type_parse(a, space + 1, &type, &at, &ignored) != SR_OK) continue;
        *space = '\0';
        *out = (struct sr_field){.name = copy, .type = type};
        return space > copy;
    }
    return false;
}

/* The list behind `head`, as in "keys (a INT, b STRING)". *text goes behind it. */
static bool reader_list(struct arena *a, const char **text, const char *head,
                        struct sr_field *field, uint32_t *count)
{
    size_t n = strlen(head);
    const char *t = *text;
    *count = 0;
    if (strncmp(t, head, n) != 0) return false;
    for (t += n; *t != ')';) {
        size_t len = reader_span(t);
        if (*count == SR_MAP_COLUMNS_MAX || !reader_column(a, t, len, &field[*count])) return false;
        (*count)++;
        t += len;
        if (strncmp(t, ", ", 2) == 0) t += 2;
        if (!*t) return false;
    }
    *text = t + 1;
    return true;
}

static bool reader_kind(const char **text, enum sr_map_kind *kind)
{
    static const struct {
        const char *words;
        enum sr_map_kind kind;
    } kinds[] = {{"value map: ", SR_MAP_VALUE},
                 {"multimap: ", SR_MAP_MULTI},
                 {"ordered map: ", SR_MAP_ORDERED}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        size_t n = strlen(kinds[i].words);
        if (strncmp(*text, kinds[i].words, n) == 0) {
            *text += n;
            *kind = kinds[i].kind;
            return true;
        }
    }
    return false;
}

sr_rc reader_parse(struct arena *a, const char *signature, struct reader_map *m)
{
    const char *t = signature;
    struct sr_field *field = arena_array(a, (size_t)3 * SR_MAP_COLUMNS_MAX, sizeof(*field));
    if (!field) return SR_ENOMEM;
    bool is_known = reader_kind(&t, &m->kind) && reader_list(a, &t, "keys (", field, &m->keys);
    if (is_known && m->kind == SR_MAP_ORDERED) {
        is_known = reader_list(a, &t, ", order (", field + m->keys, &m->sorts);
    }
    is_known = is_known && reader_list(a, &t, ", values (", field + m->keys + m->sorts, &m->values);
    is_known = is_known && !*t && m->keys + m->sorts + m->values <= SR_MAP_COLUMNS_MAX;
    m->columns = is_known ? m->keys + m->sorts + m->values : 0;
    m->field = field;
    return arena_is_broken(a) ? SR_ENOMEM : SR_OK;
}

/* --- Maps ------------------------------------------------------------------------------------- */

sr_rc reader_begin(struct reader *r, struct sr_home *home, const void *bytes, size_t len)
{
    *r = (struct reader){.home = home, .arena = arena_new(), .in = bytes_in(bytes, len)};
    if (!r->arena) return r->rc = SR_ENOMEM;
    r->col = arena_array(r->arena, SR_MAP_COLUMNS_MAX, sizeof(struct sr_column *));
    r->entry = arena_array(r->arena, SR_BATCH_ROWS, sizeof(*r->entry));
    if (!r->col || !r->entry) return r->rc = SR_ENOMEM;
    uint32_t magic = bytes_get_u32(&r->in), version = bytes_get_u32(&r->in);
    r->max_parallelism = bytes_get_u32(&r->in);
    r->watermark = (int64_t)bytes_get_u64(&r->in);
    r->maps = bytes_get_u32(&r->in);
    bool is_ours = !r->in.is_broken && magic == SAVED_MAGIC && version == SAVED_VERSION;
    return r->rc = is_ours ? SR_OK : SR_ECORRUPT;
}

static const char *reader_text(struct reader *r)
{
    struct sr_bytes b = bytes_get_blob(&r->in);
    return r->in.is_broken ? NULL : arena_text_n(r->arena, b.data, b.len);
}

/* The next group of the map; false: there is none, or r->rc. */
static bool reader_group(struct reader *r)
{
    if (r->groups == 0) return false;
    r->groups--;
    r->number = bytes_get_u32(&r->in);
    r->entries = bytes_get_u32(&r->in);
    uint64_t len = bytes_get_u64(&r->in);
    const uint8_t *bytes = r->in.is_broken ? NULL : bytes_get(&r->in, len);
    if (!bytes) return reader_fail(r, SR_ECORRUPT);
    r->group = bytes_in(bytes, len);
    return true;
}

bool reader_map(struct reader *r)
{
    if (r->rc != SR_OK) return false;
    while (reader_group(r)) { /* those that nobody read */
    }
    r->entries = 0;
    if (r->rc != SR_OK) return false;
    if (r->maps == 0) {
        return r->in.at == r->in.end ? false : reader_fail(r, SR_ECORRUPT);
    }
    r->maps--;
    r->map = (struct reader_map){.name = reader_text(r)};
    r->map.signature = reader_text(r);
    r->groups = bytes_get_u32(&r->in);
    if (arena_is_broken(r->arena)) return reader_fail(r, SR_ENOMEM);
    if (!r->map.name || !r->map.signature || r->in.is_broken) return reader_fail(r, SR_ECORRUPT);
    r->rc = reader_parse(r->arena, r->map.signature, &r->map);
    return r->rc == SR_OK;
}

/* --- Entries ---------------------------------------------------------------------------------- */

static void reader_release(struct reader *r)
{
    for (uint32_t c = 0; r->col && c < SR_MAP_COLUMNS_MAX && r->col[c]; c++) {
        column_release(r->col[c]);
        r->col[c] = NULL;
    }
    r->rows = 0;
}

static sr_rc reader_entry_get(struct reader *r, uint32_t row)
{
    struct reader_entry *e = &r->entry[row];
    struct bytes_in *in = &r->group;
    uint8_t flags = bytes_get_u8(in);
    if (in->is_broken || (flags & ~SAVED_FLAGS) != 0) return SR_ECORRUPT;
    e->group = r->number;
    e->timer = flags & SAVED_TIMER ? (int64_t)bytes_get_u64(in) : SR_TIMER_NONE;
    e->space = flags & SAVED_SPACE ? (int64_t)bytes_get_u64(in) : 0;
    e->key = e->value = in->at;
    for (uint32_t c = 0; c < r->map.columns; c++) {
        sr_rc rc = codec_get(in, r->home, r->col[c], row);
        if (rc != SR_OK || in->is_broken) return rc == SR_OK ? SR_ECORRUPT : rc;
        r->col[c]->rows = row + 1;
        if (c + 1 == r->map.keys + r->map.sorts) e->value = in->at;
    }
    e->key_len = (uint32_t)(e->value - e->key);
    e->value_len = (uint32_t)(in->at - e->value);
    return SR_OK;
}

bool reader_batch(struct reader *r)
{
    reader_release(r);
    if (r->rc != SR_OK || r->map.columns == 0) return false;
    while (r->entries == 0) {
        if (!reader_group(r)) return false;
    }
    uint32_t n = r->entries < SR_BATCH_ROWS ? r->entries : SR_BATCH_ROWS;
    for (uint32_t c = 0; c < r->map.columns; c++) {
        r->col[c] = column_new(r->home, &r->map.field[c].type, SR_BATCH_ROWS);
        if (!r->col[c]) return reader_fail(r, SR_ENOMEM);
    }
    for (uint32_t row = 0; row < n; row++) {
        sr_rc rc = reader_entry_get(r, row);
        if (rc != SR_OK) return reader_fail(r, rc);
    }
    r->entries -= n;
    r->rows = n;
    if (r->entries == 0 && r->group.at != r->group.end) return reader_fail(r, SR_ECORRUPT);
    return true;
}

void reader_end(struct reader *r)
{
    reader_release(r);
    arena_free(r->arena);
    r->arena = NULL;
}
