#include "engine/data/codec.h"

#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/data/schema.h"
#include "engine/data/walk.h"

#define CODEC_VERSION 1u

/* How one value lies in bytes: 0 for NULL; else 1 and then
 *   fixed sizes: the value, little-endian; DECIMAL over 18 digits: low, high; instants: ms, ns
 *   text and bytes: u32 length, bytes
 *   ARRAY, MULTISET, MAP: u32 count, then the elements (MAP: keys, then values); ROW: fields
 */

static bool codec_is_bytes(enum sr_kind kind) { return sr_has_bytes(kind); }

/* --- Writing --------------------------------------------------------------------------------- */

static bool codec_put_fixed(struct sr_out *o, const struct sr_column *c, uint32_t r)
{
    const void *v = c->values;
    uint32_t word = 0;
    uint64_t number = 0;
    switch (sr_value_size(&c->type)) {
    case 1:
        return bytes_put_u8(o, ((const uint8_t *)v)[r]);
    case 2:
        word = ((const uint16_t *)v)[r];
        return bytes_put_u8(o, (uint8_t)word) && bytes_put_u8(o, (uint8_t)(word >> 8));
    case 4:
        memcpy(&word, (const uint8_t *)v + (size_t)r * 4, 4);
        return bytes_put_u32(o, word);
    case 8:
        memcpy(&number, (const uint8_t *)v + (size_t)r * 8, 8);
        return bytes_put_u64(o, number);
    case 16:
        if (c->type.kind == SR_DECIMAL) {
            struct sr_wide w = ((const struct sr_wide *)v)[r];
            return bytes_put_u64(o, w.low) && bytes_put_u64(o, (uint64_t)w.high);
        } else {
            struct sr_instant t = ((const struct sr_instant *)v)[r];
            return bytes_put_u64(o, (uint64_t)t.ms) && bytes_put_u32(o, (uint32_t)t.ns);
        }
    default:
        return true;
    }
}

static bool codec_put_text(struct sr_out *o, const struct sr_column *c, uint32_t r)
{
    struct sr_span s = ((const struct sr_span *)c->values)[r];
    return bytes_put_blob(o, s.len > 0 ? c->bytes->data + s.at : NULL, s.len);
}

static bool codec_put_one(struct sr_out *o, const struct sr_column *c, uint32_t r)
{
    if (c->type.kind == SR_NULL || !sr_is_valid(c, r)) {
        return bytes_put_u8(o, 0);
    }
    if (!bytes_put_u8(o, 1)) {
        return false;
    }
    if (codec_is_bytes(c->type.kind)) {
        return codec_put_text(o, c, r);
    }
    if (sr_is_nested(c->type.kind)) {
        return c->type.kind == SR_ROW ||
               bytes_put_u32(o, ((const struct sr_span *)c->values)[r].len);
    }
    return codec_put_fixed(o, c, r);
}

bool codec_put(struct sr_out *o, const struct sr_column *c, uint32_t r)
{
    struct walk w;
    walk_begin(&w, c, r);
    while (walk_next(&w, &c, &r)) {
        if (!codec_put_one(o, c, r)) {
            return false;
        }
    }
    return true;
}

/* --- Reading --------------------------------------------------------------------------------- */

static void codec_get_fixed(struct bytes_in *in, struct sr_column *c, uint32_t r)
{
    void *v = c->values;
    uint32_t word = 0;
    uint64_t number = 0;
    switch (sr_value_size(&c->type)) {
    case 1:
        ((uint8_t *)v)[r] = bytes_get_u8(in);
        break;
    case 2:
        word = bytes_get_u8(in);
        word |= (uint32_t)bytes_get_u8(in) << 8;
        ((uint16_t *)v)[r] = (uint16_t)word;
        break;
    case 4:
        word = bytes_get_u32(in);
        memcpy((uint8_t *)v + (size_t)r * 4, &word, 4);
        break;
    case 8:
        number = bytes_get_u64(in);
        memcpy((uint8_t *)v + (size_t)r * 8, &number, 8);
        break;
    case 16:
        if (c->type.kind == SR_DECIMAL) {
            number = bytes_get_u64(in);
            ((struct sr_wide *)v)[r] =
                (struct sr_wide){.low = number, .high = (int64_t)bytes_get_u64(in)};
        } else {
            number = bytes_get_u64(in);
            ((struct sr_instant *)v)[r] =
                (struct sr_instant){.ms = (int64_t)number, .ns = (int32_t)bytes_get_u32(in)};
        }
        break;
    default:
        break;
    }
}

static void codec_clear_null(struct sr_column *c, uint32_t r)
{
    if (c->valid) {
        c->valid_space[r >> 6] |= UINT64_C(1) << (r & 63);
    }
}

/* One child of a nested value being read: rows r to end of column *place. */
struct codec_level {
    struct sr_column *c; /* the parent */
    uint32_t child, r, at, len;
};

struct codec_reader {
    struct bytes_in *in;
    struct sr_home *home;
    uint32_t depth;
    struct codec_level level[TYPE_DEPTH_MAX];
};

/* Makes room in every child for the elements of a value, behind those that are there. */
static sr_rc codec_open_level(struct codec_reader *g, struct sr_column *c, uint32_t r)
{
    struct codec_level k = {.c = c, .at = r, .len = 1};
    if (c->type.kind != SR_ROW) {
        k.len = bytes_get_u32(g->in);
        k.at = c->child[0]->rows;
        /* Every element takes a byte: a count beyond the rest of the input is damage. */
        if (g->in->is_broken || k.len > (size_t)(g->in->end - g->in->at) ||
            k.len > UINT32_MAX / 4 - k.at) {
            return SR_ECORRUPT;
        }
        ((struct sr_span *)c->values)[r] = (struct sr_span){.at = k.at, .len = k.len};
    }
    for (uint32_t i = 0; i < c->children; i++) {
        struct sr_column *grown = column_grow_rows(g->home, c->child[i], k.at + k.len);
        if (!grown) {
            return SR_ENOMEM;
        }
        c->child[i] = grown;
        grown->rows = grown->rows < k.at + k.len ? k.at + k.len : grown->rows;
    }
    if (g->depth == TYPE_DEPTH_MAX) {
        return SR_ECORRUPT;
    }
    k.r = k.at;
    g->level[g->depth++] = k;
    return SR_OK;
}

static void codec_get_null(struct sr_column *c, uint32_t r)
{
    column_set_null(c, r);
    for (uint32_t i = 0; c->type.kind == SR_ROW && i < c->children; i++) {
        c->child[i]->rows = c->child[i]->rows <= r ? r + 1 : c->child[i]->rows;
    }
}

static sr_rc codec_get_one(struct codec_reader *g, struct sr_column *c, uint32_t r)
{
    uint8_t mark = bytes_get_u8(g->in);
    if (g->in->is_broken || mark > 1) {
        return SR_ECORRUPT;
    }
    if (mark == 0) {
        codec_get_null(c, r);
        return SR_OK;
    }
    if (c->type.kind == SR_NULL) {
        return SR_ECORRUPT;
    }
    codec_clear_null(c, r);
    if (codec_is_bytes(c->type.kind)) {
        struct sr_bytes b = bytes_get_blob(g->in);
        if (g->in->is_broken) {
            return SR_ECORRUPT;
        }
        return column_put_bytes(g->home, c, r, b.data, b.len) ? SR_OK : SR_ENOMEM;
    }
    if (sr_is_nested(c->type.kind)) {
        return codec_open_level(g, c, r);
    }
    codec_get_fixed(g->in, c, r);
    return g->in->is_broken ? SR_ECORRUPT : SR_OK;
}

sr_rc codec_get(struct bytes_in *in, struct sr_home *h, struct sr_column *c, uint32_t r)
{
    sr_assert(r < c->capacity);
    struct codec_reader g = {.in = in, .home = h};
    sr_rc rc = codec_get_one(&g, c, r);
    while (rc == SR_OK && g.depth > 0) {
        struct codec_level *k = &g.level[g.depth - 1];
        if (k->r < k->at + k->len) {
            rc = codec_get_one(&g, k->c->child[k->child], k->r++);
        } else if (++k->child < k->c->children) {
            k->r = k->at;
        } else {
            g.depth--;
        }
    }
    return rc;
}

/* --- Views ----------------------------------------------------------------------------------- */

static bool codec_put_column(struct sr_out *o, const struct sr_view *v, uint32_t col, uint32_t from,
                             uint32_t count)
{
    const struct sr_column *c = v->col[col];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t r = sr_row(v, from + i);
        bool is_put = sr_is_nested(c->type.kind) ? codec_put(o, c, r) : codec_put_one(o, c, r);
        if (!is_put) {
            return false;
        }
    }
    return true;
}

/* A version, the length of what follows, rows, columns, a byte whether change kinds follow, these,
 * then the values of each column. */
bool codec_put_view(struct sr_out *o, const struct sr_view *v, uint32_t from, uint32_t count)
{
    sr_assert(from <= v->picked && count <= v->picked - from);
    size_t begin = o->len;
    bool is_put = bytes_put_u8(o, CODEC_VERSION) && bytes_put_u32(o, 0) &&
                  bytes_put_u32(o, count) && bytes_put_u32(o, v->cols) &&
                  bytes_put_u8(o, v->change ? 1 : 0);
    for (uint32_t i = 0; is_put && v->change && i < count; i++) {
        is_put = bytes_put_u8(o, (uint8_t)sr_change_of(v, sr_row(v, from + i)));
    }
    for (uint32_t c = 0; is_put && c < v->cols; c++) {
        is_put = codec_put_column(o, v, c, from, count);
    }
    size_t len = o->len - begin - 5;
    if (!is_put || len > UINT32_MAX) {
        o->len = begin;
        return false;
    }
    for (unsigned i = 0; i < 4; i++) {
        o->data[begin + 1 + i] = (uint8_t)(len >> (8 * i));
    }
    return true;
}

static sr_rc codec_get_changes(struct bytes_in *in, struct sr_home *h, struct sr_view *v)
{
    uint8_t has_changes = bytes_get_u8(in);
    if (has_changes == 0) {
        return in->is_broken ? SR_ECORRUPT : SR_OK;
    }
    const uint8_t *kinds = bytes_get(in, v->rows);
    if (has_changes > 1 || !kinds) {
        return SR_ECORRUPT;
    }
    for (uint32_t i = 0; i < v->rows; i++) {
        if (kinds[i] > SR_DELETE) {
            return SR_ECORRUPT;
        }
    }
    v->change = buffer_new(h, v->rows);
    if (!v->change) {
        return SR_ENOMEM;
    }
    memcpy(v->change->data, kinds, v->rows);
    return SR_OK;
}

static sr_rc codec_get_column(struct bytes_in *in, struct sr_home *h, const struct sr_type *type,
                              uint32_t rows, struct sr_column **out)
{
    struct sr_column *c = column_new(h, type, SR_BATCH_ROWS);
    sr_rc rc = c ? SR_OK : SR_ENOMEM;
    for (uint32_t r = 0; rc == SR_OK && r < rows; r++) {
        rc = codec_get(in, h, c, r);
    }
    if (rc == SR_OK && !column_finish(h, c, rows)) {
        rc = SR_ENOMEM;
    }
    if (rc != SR_OK) {
        column_release(c);
        return rc;
    }
    *out = c;
    return SR_OK;
}

static sr_rc codec_get_rows(struct bytes_in *in, struct sr_home *h, const struct sr_schema *schema,
                            struct sr_view *v)
{
    sr_rc rc = codec_get_changes(in, h, v);
    for (uint32_t c = 0; rc == SR_OK && c < v->cols; c++) {
        rc = codec_get_column(in, h, &schema->field[c].type, v->rows, &v->col[c]);
    }
    return rc == SR_OK && in->at != in->end ? SR_ECORRUPT : rc;
}

sr_rc codec_get_view(struct bytes_in *in, struct sr_home *h, const struct sr_schema *schema,
                     struct sr_view **out, struct sr_error *err)
{
    uint8_t version = bytes_get_u8(in);
    uint32_t len = bytes_get_u32(in);
    const uint8_t *body = bytes_get(in, len);
    if (!body || version != CODEC_VERSION) {
        return error_set(err, SR_ECORRUPT,
                         body ? "stored rows: version %u is not known" : "stored rows: cut short",
                         version);
    }
    struct bytes_in inner = bytes_in(body, len);
    uint32_t rows = bytes_get_u32(&inner);
    uint32_t cols = bytes_get_u32(&inner);
    if (inner.is_broken || rows > SR_BATCH_ROWS) {
        return error_set(err, SR_ECORRUPT, "stored rows: damaged");
    }
    if (cols != schema->fields) {
        return error_set(err, SR_EMISFIT, "stored rows have %u columns, the job's have %u", cols,
                         schema->fields);
    }
    struct sr_view *v = view_new(h, cols);
    if (!v) {
        return error_set(err, SR_ENOMEM, "read stored rows: out of memory");
    }
    v->rows = rows;
    v->picked = rows;
    sr_rc rc = codec_get_rows(&inner, h, schema, v);
    if (rc != SR_OK) {
        view_release(v);
        return error_set(err, rc, "stored rows: %s", rc == SR_ENOMEM ? "out of memory" : "damaged");
    }
    *out = v;
    return SR_OK;
}

/* --- Schemas --------------------------------------------------------------------------------- */

bool codec_put_schema(struct sr_out *o, const struct sr_schema *s)
{
    struct arena *a = arena_new();
    if (!a) {
        return false;
    }
    bool is_put = bytes_put_u8(o, CODEC_VERSION) && bytes_put_u32(o, s->fields);
    for (uint32_t i = 0; is_put && i < s->fields; i++) {
        const char *type = type_text(a, &s->field[i].type);
        is_put = type && bytes_put_text(o, s->field[i].name) && bytes_put_text(o, type);
    }
    is_put = is_put && bytes_put_u32(o, (uint32_t)s->rowtime) && bytes_put_u32(o, s->keys);
    for (uint32_t i = 0; is_put && i < s->keys; i++) {
        is_put = bytes_put_u32(o, s->key[i]);
    }
    arena_free(a);
    return is_put;
}
