#include "engine/data/pool.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/data/origin.h"

/* Idle memory beyond this goes back to the machine: a burst must not stay in the RSS for ever. */
#define HOME_IDLE_BYTES_MAX ((size_t)16 << 20)

#define BUFFER_SHIFT_MIN 8u  /* the smallest pooled buffer has 256 bytes */
#define BUFFER_SHIFT_MAX 22u /* the largest 4 MiB; what is larger is freed at once */
#define BUFFER_LISTS     (BUFFER_SHIFT_MAX - BUFFER_SHIFT_MIN + 1)
#define VIEW_LISTS       3u  /* room for 16, 64, 256 columns */
#define ROW_FIELDS_MAX   64u /* of a pooled ROW column */
#define COLUMN_SHIFT_MIN 10u /* SR_BATCH_ROWS; children may have more rows */
#define COLUMN_SHIFT_MAX 16u /* rows of the longest pooled column, as a power of two */
#define COLUMN_LISTS     (COLUMN_SHIFT_MAX - COLUMN_SHIFT_MIN + 1)
#define COLUMN_SIZES     6u /* of a value: 0, 1, 2, 4, 8, 16 */

/* Free lists: buffers by size, columns by rows and the size of a value, views by their room,
 * origins. */
enum {
    LIST_BUFFER = 0,
    LIST_COLUMN = LIST_BUFFER + BUFFER_LISTS,
    LIST_VIEW = LIST_COLUMN + COLUMN_LISTS * COLUMN_SIZES,
    LIST_ORIGIN = LIST_VIEW + VIEW_LISTS,
    LIST_COUNT,
    LIST_NONE = LIST_COUNT /* not pooled */
};

/* What stands in front of every buffer, column and view. */
struct piece {
    alignas(64) struct piece *next;
    struct sr_home *home;
    size_t bytes; /* of the whole block */
    uint32_t list;
};

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): a cache line for each side */
struct sr_home {
    struct piece *idle[LIST_COUNT];     /* the owner's */
    size_t idle_bytes;                  /* the owner's */
    alignas(64) struct piece *returned; /* pushed by any thread, taken as a whole by the owner */
    size_t refs;                        /* pieces that are out, and one for the owner */
    size_t bytes;                       /* held in all */
};

struct sr_home *home_new(void)
{
    struct sr_home *h = aligned_alloc(64, sizeof(*h));
    if (h) {
        memset(h, 0, sizeof(*h));
        h->refs = 1;
    }
    return h;
}

uint64_t home_bytes(const struct sr_home *h)
{
    return __atomic_load_n(&h->bytes, __ATOMIC_RELAXED);
}

static void piece_free(struct sr_home *h, struct piece *p)
{
    (void)__atomic_fetch_sub(&h->bytes, p->bytes, __ATOMIC_RELAXED);
    free(p);
}

static void home_free_list(struct sr_home *h, struct piece *p)
{
    while (p) {
        struct piece *next = p->next;
        piece_free(h, p);
        p = next;
    }
}

/* One holder fewer; the last one frees what is left. Release, so that each holder's writes come
 * before the end; acquire, so that the last one sees them. */
static void home_unref(struct sr_home *h)
{
    if (__atomic_sub_fetch(&h->refs, 1, __ATOMIC_ACQ_REL) > 0) {
        return;
    }
    for (uint32_t i = 0; i < LIST_COUNT; i++) {
        home_free_list(h, h->idle[i]);
    }
    home_free_list(h, h->returned);
    free(h);
}

void home_close(struct sr_home *h)
{
    if (!h) {
        return;
    }
    for (uint32_t i = 0; i < LIST_COUNT; i++) {
        home_free_list(h, h->idle[i]);
        h->idle[i] = NULL;
    }
    h->idle_bytes = 0;
    home_unref(h);
}

/* Takes over what other threads let go. */
static void home_collect(struct sr_home *h)
{
    /* Acquire pairs with the release in piece_return: their writes to the piece come first. */
    struct piece *p = __atomic_exchange_n(&h->returned, NULL, __ATOMIC_ACQUIRE);
    while (p) {
        struct piece *next = p->next;
        if (h->idle_bytes + p->bytes > HOME_IDLE_BYTES_MAX) {
            piece_free(h, p);
        } else {
            h->idle_bytes += p->bytes;
            p->next = h->idle[p->list];
            h->idle[p->list] = p;
        }
        p = next;
    }
}

static void *piece_body(struct piece *p) { return p + 1; }

static struct piece *piece_of(void *body) { return (struct piece *)body - 1; }

/* A block with `bytes` behind its head; *is_fresh when it never was anything before. */
static void *piece_take(struct sr_home *h, uint32_t list, size_t bytes, bool *is_fresh)
{
    struct piece *p = NULL;
    if (list != LIST_NONE) {
        if (!h->idle[list]) {
            home_collect(h);
        }
        p = h->idle[list];
    }
    *is_fresh = !p;
    if (p) {
        h->idle[list] = p->next;
        h->idle_bytes -= p->bytes;
    } else {
        bytes = (sizeof(*p) + bytes + 63) & ~(size_t)63;
        p = aligned_alloc(64, bytes);
        if (!p) {
            return NULL;
        }
        p->home = h;
        p->bytes = bytes;
        p->list = list;
        (void)__atomic_fetch_add(&h->bytes, bytes, __ATOMIC_RELAXED);
    }
    p->next = NULL;
    (void)__atomic_fetch_add(&h->refs, 1, __ATOMIC_RELAXED); /* the owner holds one already */
    return piece_body(p);
}

static void piece_return(void *body)
{
    struct piece *p = piece_of(body);
    struct sr_home *h = p->home;
    if (p->list == LIST_NONE) {
        piece_free(h, p);
    } else {
        struct piece *first = __atomic_load_n(&h->returned, __ATOMIC_RELAXED);
        do {
            p->next = first;
        } while (!__atomic_compare_exchange_n(&h->returned, &first, p, true, __ATOMIC_RELEASE,
                                              __ATOMIC_RELAXED));
    }
    home_unref(h);
}

/* True for whoever let go last. */
/* NOLINTNEXTLINE(readability-non-const-parameter): written by the atomic */
static bool refs_drop(uint32_t *refs)
{
    uint32_t before = __atomic_fetch_sub(refs, 1, __ATOMIC_ACQ_REL);
    sr_assert(before > 0);
    return before == 1;
}

/* --- Buffers --------------------------------------------------------------------------------- */

struct sr_buffer *buffer_new(struct sr_home *h, uint32_t capacity)
{
    uint32_t shift = BUFFER_SHIFT_MIN;
    while (shift <= BUFFER_SHIFT_MAX && (UINT32_C(1) << shift) < capacity) {
        shift++;
    }
    bool is_pooled = shift <= BUFFER_SHIFT_MAX;
    uint32_t room = is_pooled ? UINT32_C(1) << shift : capacity;
    uint32_t list = is_pooled ? LIST_BUFFER + shift - BUFFER_SHIFT_MIN : LIST_NONE;
    bool is_fresh = false;
    struct sr_buffer *b =
        piece_take(h, list, sizeof(*b) + (size_t)room + BUFFER_PADDING_BYTES, &is_fresh);
    if (b) {
        *b = (struct sr_buffer){.refs = 1, .capacity = room, .data = (uint8_t *)(b + 1), .home = h};
        if (is_fresh) {
            memset(b->data + room, 0, BUFFER_PADDING_BYTES);
        }
    }
    return b;
}

struct sr_buffer *buffer_hold(struct sr_buffer *b)
{
    (void)__atomic_fetch_add(&b->refs, 1, __ATOMIC_RELAXED); /* the caller holds one already */
    return b;
}

void buffer_release(struct sr_buffer *b)
{
    if (b && refs_drop(&b->refs)) {
        piece_return(b);
    }
}

/* --- Columns --------------------------------------------------------------------------------- */

static uint32_t column_list(const struct sr_type *t, uint32_t capacity)
{
    bool is_power = capacity > 0 && (capacity & (capacity - 1)) == 0;
    uint32_t shift = is_power ? (uint32_t)__builtin_ctz(capacity) : 0;
    if (shift < COLUMN_SHIFT_MIN || shift > COLUMN_SHIFT_MAX || t->children > ROW_FIELDS_MAX) {
        return LIST_NONE;
    }
    uint32_t size = sr_value_size(t);
    return LIST_COLUMN + (shift - COLUMN_SHIFT_MIN) * COLUMN_SIZES +
           (size == 0 ? 0 : (uint32_t)__builtin_ctz(size) + 1);
}

/* Bytes of each part are multiples of 64, so that every array begins on a cache line. */
static size_t column_round(size_t bytes) { return (bytes + 63) & ~(size_t)63; }

/* A column without its children: their places hold NULL. */
static struct sr_column *column_one(struct sr_home *h, const struct sr_type *type,
                                    uint32_t capacity)
{
    size_t size = sr_value_size(type);
    size_t head = column_round(sizeof(struct sr_column));
    size_t bits = column_round(((size_t)capacity + 63) / 64 * 8);
    size_t values = column_round(size * capacity);
    /* Pooled blocks of one list are all alike: each has room for any type's children. */
    uint32_t list = column_list(type, capacity);
    size_t places = size == 0 ? ROW_FIELDS_MAX : 2;
    if (list == LIST_NONE && type->children > places) {
        places = type->children;
    }
    bool is_fresh = false;
    uint8_t *block =
        piece_take(h, list, head + bits + values + places * sizeof(struct sr_column *), &is_fresh);
    if (!block) {
        return NULL;
    }
    struct sr_column *c = (void *)block;
    *c = (struct sr_column){.refs = 1,
                            .type = *type,
                            .values = block + head + bits,
                            .valid_space = (void *)(block + head),
                            .capacity = capacity,
                            .children = type->children,
                            .home = h};
    if (is_fresh && values > 0) {
        memset(c->values, 0, values); /* every value is defined, also where none was put */
    }
    if (type->children > 0) {
        c->child = (void *)(block + head + bits + values);
        memset(c->child, 0, type->children * sizeof(struct sr_column *));
    }
    return c;
}

struct sr_column *column_new(struct sr_home *h, const struct sr_type *type, uint32_t capacity)
{
    struct sr_column *root = column_one(h, type, capacity);
    /* Columns whose children are not made yet, linked by `next`. */
    struct sr_column *todo = root && root->children > 0 ? root : NULL;
    while (todo) {
        struct sr_column *c = todo;
        todo = c->next;
        c->next = NULL;
        for (uint32_t i = 0; i < c->children; i++) {
            struct sr_column *k = column_one(h, &c->type.child[i].type, capacity);
            if (!k) {
                column_release(root);
                return NULL;
            }
            c->child[i] = k;
            if (k->children > 0) {
                k->next = todo;
                todo = k;
            }
        }
    }
    return root;
}

struct sr_column *column_hold(struct sr_column *c)
{
    (void)__atomic_fetch_add(&c->refs, 1, __ATOMIC_RELAXED); /* the caller holds one already */
    return c;
}

void column_release(struct sr_column *c)
{
    if (!c || !refs_drop(&c->refs)) {
        return;
    }
    struct sr_column *todo = c; /* let go by everyone, linked by `next` */
    c->next = NULL;
    while (todo) {
        struct sr_column *k = todo;
        todo = k->next;
        for (uint32_t i = 0; i < k->children; i++) {
            struct sr_column *child = k->child[i];
            if (child && refs_drop(&child->refs)) {
                child->next = todo;
                todo = child;
            }
        }
        buffer_release(k->bytes);
        piece_return(k);
    }
}

/* A column of `room` rows in the place of c, which is let go; NULL: no memory, and c is as it
 * was. */
static struct sr_column *column_grow_one(struct sr_home *h, struct sr_column *c, uint32_t room)
{
    sr_assert(c->refs == 1 && room >= c->capacity);
    struct sr_column *big = column_one(h, &c->type, room);
    if (!big) {
        return NULL;
    }
    sr_assert(c->children == 0 || (big->child && c->child));
    memcpy(big->values, c->values, (size_t)c->capacity * sr_value_size(&c->type));
    if (c->valid) {
        memset(big->valid_space, 0xFF, ((size_t)room + 63) / 64 * 8);
        memcpy(big->valid_space, c->valid, ((size_t)c->capacity + 63) / 64 * 8);
        if (c->capacity % 64 != 0) {
            big->valid_space[c->capacity / 64] |= UINT64_MAX << (c->capacity % 64);
        }
        big->valid = big->valid_space;
    }
    for (uint32_t i = 0; i < c->children; i++) {
        big->child[i] = c->child[i];
        c->child[i] = NULL;
    }
    big->bytes = c->bytes;
    big->bytes_used = c->bytes_used;
    big->rows = c->rows;
    c->bytes = NULL;
    column_release(c);
    return big;
}

struct sr_column *column_grow_rows(struct sr_home *h, struct sr_column *c, uint32_t capacity)
{
    sr_assert(c->refs == 1);
    if (capacity <= c->capacity) {
        return c;
    }
    uint32_t room = SR_BATCH_ROWS;
    while (room < capacity && room <= UINT32_MAX / 4) {
        room *= 2;
    }
    room = room < capacity ? capacity : room;
    c->next = NULL;
    /* ROWs whose fields have no room yet, linked by `next`. */
    struct sr_column *todo = c->type.kind == SR_ROW ? c : NULL;
    while (todo) {
        struct sr_column *row = todo;
        todo = row->next;
        row->next = NULL;
        for (uint32_t i = 0; i < row->children; i++) {
            struct sr_column *field = column_grow_one(h, row->child[i], room);
            if (!field) {
                return NULL;
            }
            row->child[i] = field;
            if (field->type.kind == SR_ROW) {
                field->next = todo;
                todo = field;
            }
        }
    }
    return column_grow_one(h, c, room);
}

static void column_null_one(struct sr_column *c, uint32_t r)
{
    sr_assert_hot(r < c->capacity);
    if (!c->valid) {
        memset(c->valid_space, 0xFF, ((size_t)c->capacity + 63) / 64 * 8);
        c->valid = c->valid_space;
    }
    c->valid_space[r >> 6] &= ~(UINT64_C(1) << (r & 63));
    size_t size = sr_value_size(&c->type);
    if (size > 0) {
        memset((uint8_t *)c->values + r * size, 0, size);
    }
}

void column_set_null(struct sr_column *c, uint32_t r)
{
    if (c->type.kind != SR_ROW) {
        column_null_one(c, r);
        return;
    }
    struct sr_column *todo = c; /* linked by `next` */
    c->next = NULL;
    while (todo) {
        struct sr_column *k = todo;
        todo = k->next;
        k->next = NULL;
        column_null_one(k, r);
        for (uint32_t i = 0; k->type.kind == SR_ROW && i < k->children; i++) {
            k->child[i]->next = todo;
            todo = k->child[i];
        }
    }
}

bool column_finish(struct sr_home *h, struct sr_column *c, uint32_t rows)
{
    struct sr_column *todo = c; /* linked by `next` */
    c->next = NULL;
    c->rows = rows;
    while (todo) {
        struct sr_column *k = todo;
        todo = k->next;
        k->next = NULL;
        bool has_bytes = sr_has_bytes(k->type.kind);
        if (has_bytes && !k->bytes && !column_grow_bytes(h, k, 1)) {
            return false;
        }
        for (uint32_t i = 0; i < k->children; i++) {
            struct sr_column *child = k->child[i];
            child->rows = k->type.kind == SR_ROW ? k->rows : child->rows;
            child->next = todo;
            todo = child;
        }
    }
    return true;
}

bool column_grow_bytes(struct sr_home *h, struct sr_column *c, uint32_t more)
{
    uint32_t used = c->bytes ? c->bytes_used : 0;
    uint32_t capacity = c->bytes ? c->bytes->capacity : 0;
    if (c->bytes && capacity - used >= more) {
        return true;
    }
    uint64_t need = (uint64_t)used + more;
    uint64_t want = (uint64_t)capacity * 2 > need ? (uint64_t)capacity * 2 : need;
    want = want < 4096 ? 4096 : want;
    if (need > COLUMN_BYTES_MAX) {
        return false; /* spans could not reach it */
    }
    struct sr_buffer *b =
        buffer_new(h, (uint32_t)(want > COLUMN_BYTES_MAX ? COLUMN_BYTES_MAX : want));
    if (!b) {
        return false;
    }
    if (used > 0) {
        memcpy(b->data, c->bytes->data, used);
    }
    buffer_release(c->bytes);
    c->bytes = b;
    c->bytes_used = used;
    return true;
}

bool column_put_bytes(struct sr_home *h, struct sr_column *c, uint32_t r, const void *bytes,
                      uint32_t len)
{
    if ((!c->bytes || c->bytes->capacity - c->bytes_used < len) && !column_grow_bytes(h, c, len)) {
        return false;
    }
    ((struct sr_span *)c->values)[r] = (struct sr_span){.at = c->bytes_used, .len = len};
    if (len > 0) {
        memcpy(c->bytes->data + c->bytes_used, bytes, len);
        c->bytes_used += len;
    }
    return true;
}

/* --- Origins --------------------------------------------------------------------------------- */

struct sr_origin *origin_new(struct sr_home *h)
{
    bool is_fresh = false;
    struct sr_origin *o = piece_take(h, LIST_ORIGIN, sizeof(*o), &is_fresh);
    if (o) {
        memset(o, 0, offsetof(struct sr_origin, at));
        o->refs = 1;
        o->home = h;
    }
    return o;
}

struct sr_origin *origin_hold(struct sr_origin *o)
{
    (void)__atomic_fetch_add(&o->refs, 1, __ATOMIC_RELAXED); /* the caller holds one already */
    return o;
}

void origin_release(struct sr_origin *o)
{
    if (o && refs_drop(&o->refs)) {
        buffer_release(o->split);
        buffer_release(o->raw);
        piece_return(o);
    }
}

/* --- Views ----------------------------------------------------------------------------------- */

struct sr_view *view_new(struct sr_home *h, uint32_t cols)
{
    uint32_t list = LIST_NONE;
    uint32_t room = cols;
    for (uint32_t i = 0; i < VIEW_LISTS; i++) {
        if (cols <= UINT32_C(16) << (2 * i)) {
            list = LIST_VIEW + i;
            room = UINT32_C(16) << (2 * i);
            break;
        }
    }
    bool is_fresh = false;
    size_t head = column_round(sizeof(struct sr_view));
    uint8_t *block =
        piece_take(h, list, head + (size_t)room * sizeof(struct sr_column *), &is_fresh);
    if (!block) {
        return NULL;
    }
    struct sr_view *v = (void *)block;
    /* All but sel_space, which is large and means nothing until `sel` points to it. */
    memset(v, 0, offsetof(struct sr_view, sel_space));
    v->size = sizeof(*v);
    v->cols = cols;
    v->col = (void *)(block + head);
    memset(v->col, 0, cols * sizeof(struct sr_column *));
    v->watermark_end = SR_WATERMARK_NONE;
    v->home = h;
    v->next = NULL;
    v->origin = NULL;
    return v;
}

void view_release(struct sr_view *v)
{
    if (!v) {
        return;
    }
    for (uint32_t c = 0; c < v->cols; c++) {
        column_release(v->col[c]);
    }
    buffer_release(v->change);
    buffer_release(v->watermark);
    origin_release(v->origin);
    piece_return(v);
}

struct sr_view *view_slice(struct sr_home *h, const struct sr_view *v, uint32_t from,
                           uint32_t count)
{
    sr_assert(from <= v->picked && count <= v->picked - from);
    struct sr_view *s = view_new(h, v->cols);
    if (!s) {
        return NULL;
    }
    for (uint32_t c = 0; c < v->cols; c++) {
        s->col[c] = v->col[c] ? column_hold(v->col[c]) : NULL;
    }
    s->rows = v->rows;
    s->picked = count;
    s->split = v->split;
    s->change = v->change ? buffer_hold(v->change) : NULL;
    s->watermark = v->watermark ? buffer_hold(v->watermark) : NULL;
    s->origin = v->origin ? origin_hold(v->origin) : NULL;
    /* The end of the view is only in the slice that has it. */
    s->watermark_end = from + count == v->picked ? v->watermark_end : SR_WATERMARK_NONE;
    if (v->sel || count != v->rows) {
        for (uint32_t i = 0; i < count; i++) {
            s->sel_space[i] = (uint16_t)sr_row(v, from + i);
        }
        s->sel = s->sel_space;
    }
    return s;
}

struct sr_view *view_share(struct sr_home *h, const struct sr_view *v)
{
    return view_slice(h, v, 0, v->picked);
}
