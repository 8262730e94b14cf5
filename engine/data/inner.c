#include "engine/data/inner.h"

#include <stdlib.h>

#include "engine/base/assert.h"
#include "engine/data/pool.h"

/* One builder; what `inner[c]` points to is its first field. */
struct inner {
    struct sr_builder b;
    struct sr_builder *around;
    uint32_t column; /* of `around` */
    bool is_row;
    uint32_t usual;          /* elements of the batch before: room is made for as many at once */
    uint32_t from, upto;     /* while rows are forgotten: which of this one */
    bool is_forgotten;       /* ... and whether any are */
    struct inner *next;      /* of the same root, never one around this */
    struct sr_builder **own; /* b.inner, to be filled */
};

/* What b->engine of a root and of all builders inside it points to. */
struct inners {
    struct sr_builder *root;
    struct sr_home *home;
    struct inner *first, *last;
};

static void inner_point(struct inners *s)
{
    for (struct inner *k = s->first; k; k = k->next) {
        const struct sr_column *c = k->around->col[k->column];
        k->b.col = c->child;
        uint32_t room = c->children > 0 ? c->child[0]->capacity : c->capacity;
        k->b.rows_max = k->is_row || room < SR_ELEMENTS_MAX ? room : SR_ELEMENTS_MAX;
    }
}

/* A builder for the inside of column c of `around`, at the end of the list. */
static struct inner *inner_new(struct inners *s, struct sr_builder *around, uint32_t c)
{
    const struct sr_column *k = around->col[c];
    size_t cols = k->children;
    struct inner *n = calloc(1, sizeof(*n) + cols * (sizeof(struct sr_builder *) + sizeof(bool)));
    if (!n) {
        return NULL;
    }
    n->own = (struct sr_builder **)(n + 1);
    bool *wanted = (bool *)(n->own + cols);
    for (uint32_t i = 0; i < k->children; i++) {
        wanted[i] = true;
    }
    n->b = (struct sr_builder){.size = sizeof(n->b),
                               .cols = k->children,
                               .col = k->child,
                               .wanted = wanted,
                               .host = around->host,
                               .inner = n->own,
                               .engine = s};
    n->around = around;
    n->column = c;
    n->is_row = k->type.kind == SR_ROW;
    if (s->last) {
        s->last->next = n;
    } else {
        s->first = n;
    }
    s->last = n;
    return n;
}

/* Builders for what is inside the columns of b; `own` becomes its `inner`. */
static bool inner_add(struct inners *s, struct sr_builder *b, struct sr_builder **own)
{
    for (uint32_t c = 0; c < b->cols; c++) {
        if (!sr_is_nested(b->col[c]->type.kind)) {
            continue;
        }
        struct inner *n = inner_new(s, b, c);
        if (!n) {
            return false;
        }
        own[c] = &n->b;
    }
    return true;
}

bool inner_open(struct sr_builder *root, struct sr_home *home)
{
    bool is_flat = true;
    for (uint32_t c = 0; c < root->cols; c++) {
        is_flat = is_flat && !sr_is_nested(root->col[c]->type.kind);
    }
    if (is_flat) {
        return true;
    }
    struct inners *s = calloc(1, sizeof(*s) + root->cols * sizeof(struct sr_builder *));
    if (!s) {
        return false;
    }
    struct sr_builder **own = (struct sr_builder **)(s + 1);
    s->root = root;
    s->home = home;
    root->engine = s;
    root->inner = own;
    bool is_made = inner_add(s, root, own);
    for (struct inner *k = s->first; is_made && k; k = k->next) {
        is_made = inner_add(s, &k->b, k->own);
    }
    inner_point(s);
    return is_made;
}

void inner_close(struct sr_builder *root)
{
    struct inners *s = root->engine;
    struct inner *k = s ? s->first : NULL;
    while (k) {
        struct inner *next = k->next;
        free(k);
        k = next;
    }
    free(s);
    root->engine = NULL;
    root->inner = NULL;
}

void inner_begin(struct sr_builder *root)
{
    struct inners *s = root->engine;
    if (!s) {
        return;
    }
    for (struct inner *k = s->first; k; k = k->next) {
        k->usual = k->b.rows;
        k->b.rows = 0;
    }
    inner_point(s);
}

void inner_end(struct sr_builder *root)
{
    struct inners *s = root->engine;
    for (struct inner *k = s ? s->first : NULL; k; k = k->next) {
        k->b.rows = k->is_row ? k->around->rows : k->b.rows;
        for (uint32_t c = 0; c < k->b.cols; c++) {
            k->b.col[c]->rows = k->b.rows;
        }
    }
}

void inner_break(struct sr_builder *b)
{
    b->is_broken = true;
    struct inners *s = b->engine;
    if (s) {
        s->root->is_broken = true;
    }
}

bool inner_widen(struct sr_builder *elements)
{
    struct inner *k = (struct inner *)elements;
    struct inners *s = elements->engine;
    sr_assert(!k->is_row);
    if (elements->rows >= SR_ELEMENTS_MAX) {
        return false;
    }
    uint32_t want = elements->rows + 1 > k->usual ? elements->rows + 1 : k->usual;
    for (uint32_t c = 0; c < elements->cols; c++) {
        struct sr_column *grown = column_grow_rows(s->home, elements->col[c], want);
        if (!grown) {
            inner_break(elements);
            break;
        }
        elements->col[c] = grown;
    }
    inner_point(s); /* columns that grew have their children elsewhere */
    return !elements->is_broken;
}

void inner_null(struct sr_builder *b, uint32_t c) { column_set_null(b->col[c], b->rows); }

static void inner_revive(struct sr_column *c, uint32_t from, uint32_t upto)
{
    for (uint32_t r = from; c->valid && r <= upto && r < c->capacity; r++) {
        c->valid_space[r >> 6] |= UINT64_C(1) << (r & 63);
    }
}

/* Where the elements of rows before `row` end. */
static uint32_t inner_elements_before(const struct sr_column *c, uint32_t row)
{
    while (row-- > 0) {
        if (sr_is_valid(c, row)) {
            struct sr_span s = ((const struct sr_span *)c->values)[row];
            return s.at + s.len;
        }
    }
    return 0;
}

/* Rows from to upto of column c of b are forgotten: notes which rows inside it are. */
static void inner_forget_inside(struct sr_builder *b, uint32_t c, uint32_t from, uint32_t upto)
{
    inner_revive(b->col[c], from, upto);
    if (!b->inner || !b->inner[c]) {
        return;
    }
    struct inner *k = (struct inner *)b->inner[c];
    k->is_forgotten = true;
    k->from = k->is_row ? from : inner_elements_before(b->col[c], from);
    k->upto = k->is_row ? upto : k->b.rows;
}

void inner_forget(struct sr_builder *b, uint32_t c)
{
    struct inners *s = b->engine;
    inner_forget_inside(b, c, b->rows, b->rows);
    for (struct inner *k = s->first; k; k = k->next) {
        if (!k->is_forgotten) {
            continue;
        }
        k->is_forgotten = false;
        for (uint32_t i = 0; i < k->b.cols; i++) {
            inner_forget_inside(&k->b, i, k->from, k->upto);
        }
        k->b.rows = k->from;
    }
}
