#include "connectors/json/json_nest.h"

#include <stdio.h>
#include <string.h>

#include "connectors/json/json_keys.h"
#include "connectors/text/nest.h"

/* A container that is being filled. */
struct json_level {
    struct json_place place;   /* its own */
    struct sr_builder *inside; /* fields, elements, or keys and values */
    uint32_t nth;              /* values that were begun */
    uint32_t field;            /* of a ROW: the one that is filled */
    uint32_t serial;           /* of a ROW: its own, as in x->seen */
};

struct json_nest {
    struct json_decoder *x;
    struct json_walk *w;
    uint32_t depth;
    struct json_level level[NEST_DEPTH_MAX];
};

enum json_next { JSON_NEXT_VALUE, JSON_NEXT_CLOSED, JSON_NEXT_FAILED };

static enum json_next json_nest_fail(struct json_walk *w, uint32_t at, const char *words)
{
    (void)json_walk_fail(w, at, words);
    return JSON_NEXT_FAILED;
}

/* Enters the container at p; its bracket was taken. */
static void json_nest_open(struct json_nest *k, const struct json_place *p)
{
    struct json_level *l = &k->level[k->depth++];
    l->place = *p;
    l->nth = l->field = 0;
    if (p->node->value.type.kind == SR_ROW) {
        l->inside = sr_put_row(p->b, p->c);
        l->serial = ++k->x->serial;
    } else {
        l->inside = sr_put_begin(p->b, p->c);
    }
}

/* Behind a value, or behind the opening bracket: is `close` next, or a value behind a comma? */
static enum json_next json_nest_comma(struct json_walk *w, const struct json_level *l, char close)
{
    if (json_walk_take(w, (uint8_t)close)) {
        return JSON_NEXT_CLOSED;
    }
    if (l->nth > 0 && !json_walk_take(w, ',')) {
        return json_nest_fail(w, json_walk_place(w),
                              close == '}' ? "',' or '}' is expected here"
                                           : "',' or ']' is expected here");
    }
    return JSON_NEXT_VALUE;
}

/* A new element of an ARRAY or MAP. */
static bool json_nest_element(struct json_nest *k, struct json_level *l)
{
    return sr_put_room(l->inside) ||
           json_walk_fail(k->w, json_walk_place(k->w),
                          l->inside->is_broken ? "out of memory"
                                               : "arrays and maps have too many elements");
}

static enum json_next json_nest_array(struct json_nest *k, struct json_level *l,
                                      struct json_place *next)
{
    if (l->nth > 0) {
        sr_row_done(l->inside);
    }
    enum json_next what = json_nest_comma(k->w, l, ']');
    if (what == JSON_NEXT_CLOSED) {
        sr_put_end(l->place.b, l->place.c);
    }
    if (what != JSON_NEXT_VALUE) {
        return what;
    }
    if (!json_nest_element(k, l)) {
        return JSON_NEXT_FAILED;
    }
    *next = (struct json_place){.b = l->inside, .c = 0, .node = node_child(l->place.node, 0)};
    return JSON_NEXT_VALUE;
}

static enum json_next json_nest_map(struct json_nest *k, struct json_level *l,
                                    struct json_place *next)
{
    if (l->nth > 0) {
        sr_row_done(l->inside);
    }
    enum json_next what = json_nest_comma(k->w, l, '}');
    if (what == JSON_NEXT_CLOSED) {
        sr_put_end(l->place.b, l->place.c);
        return json_keys_last(k->x, l->place.b, l->place.c)
                   ? what
                   : json_nest_fail(k->w, json_walk_place(k->w), "out of memory");
    }
    if (what != JSON_NEXT_VALUE) {
        return what;
    }
    struct json_token key = {0};
    struct json_fault unused = {.rc = VALUE_OK}; /* a string is always text */
    const struct json_place at = {.b = l->inside, .c = 0, .node = node_child(l->place.node, 0)};
    if (!json_nest_element(k, l) || !json_walk_string(k->w, &key)) {
        return JSON_NEXT_FAILED;
    }
    if (!json_value_put_token(k->x, k->w, &at, &key, &unused)) {
        return k->w->fault ? JSON_NEXT_FAILED : json_nest_fail(k->w, key.at, "out of memory");
    }
    if (!json_walk_take(k->w, ':')) {
        return json_nest_fail(k->w, json_walk_place(k->w), "':' is expected here, behind the key");
    }
    *next = (struct json_place){.b = l->inside, .c = 1, .node = node_child(l->place.node, 1)};
    return JSON_NEXT_VALUE;
}

/* How often a value is there: a whole number, as text too; null is 0. False: it is none. */
static bool json_nest_count(struct json_walk *w, uint32_t *n, struct json_token *t)
{
    uint64_t v = 0;
    if (!json_walk_value(w, t)) {
        return false;
    }
    const uint8_t *s = w->bytes + t->at;
    bool is_negative = t->len > 0 && s[0] == '-';
    uint32_t i = is_negative ? 1 : 0;
    bool is_number = (t->kind == JSON_NUMBER || t->kind == JSON_STRING) && i < t->len;
    for (; is_number && i < t->len; i++) {
        is_number = s[i] >= '0' && s[i] <= '9' && v <= INT32_MAX;
        v = v * 10 + (uint64_t)(s[i] - '0');
    }
    *n = is_number && !is_negative ? (uint32_t)v : 0;
    return t->kind == JSON_NULL || (is_number && v <= INT32_MAX);
}

/* What failed in the text, or else `words` do. */
static bool json_nest_told(struct json_walk *w, uint32_t at, const char *words)
{
    return w->fault ? false : json_walk_fail(w, at, words);
}

/* "value": how often it is there. */
static bool json_nest_times(struct json_nest *k, struct json_level *l, struct json_fault *fault)
{
    const struct json_place at = {.b = l->inside, .c = 0, .node = node_child(l->place.node, 0)};
    struct json_token key = {0}, count = {0};
    uint32_t n = 0;
    if (!json_walk_string(k->w, &key)) {
        return false;
    }
    if (!json_walk_take(k->w, ':')) {
        return json_walk_fail(k->w, json_walk_place(k->w),
                              "':' is expected here, behind the value");
    }
    if (!json_nest_count(k->w, &n, &count)) {
        return json_nest_told(k->w, count.at,
                              "how often a value of a MULTISET is there is a whole number");
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!json_nest_element(k, l)) {
            return false;
        }
        if (!json_value_put_token(k->x, k->w, &at, &key, fault)) {
            return json_nest_told(k->w, key.at, "out of memory");
        }
        sr_row_done(l->inside);
    }
    return true;
}

/* Of a MULTISET: {"value": how often it is there, ...}; what is there no time is not. */
static enum json_next json_nest_bag(struct json_nest *k, struct json_level *l,
                                    struct json_fault *fault)
{
    enum json_next what;
    for (; (what = json_nest_comma(k->w, l, '}')) == JSON_NEXT_VALUE; l->nth++) {
        if (!json_nest_times(k, l, fault)) {
            return JSON_NEXT_FAILED;
        }
    }
    if (what == JSON_NEXT_CLOSED) {
        sr_put_end(l->place.b, l->place.c);
    }
    return what;
}

/* Fields that the object does not have. */
static bool json_nest_missing(struct json_nest *k, struct json_level *l, struct json_fault *fault)
{
    struct json_decoder *x = k->x;
    for (uint32_t i = 0; i < l->inside->cols; i++) {
        const struct node *n = node_child(l->place.node, i);
        if (x->seen[n - x->node] == l->serial) {
            continue;
        }
        enum value_rc rc =
            x->is_missing_fatal ? VALUE_MISSING : value_put_null(l->inside, i, &n->value);
        if (rc != VALUE_OK) {
            l->field = i;
            *fault = (struct json_fault){.rc = rc, .value = &n->value, .text = ""};
            return false;
        }
    }
    return true;
}

static enum json_next json_nest_field(struct json_nest *k, struct json_level *l,
                                      struct json_place *next, struct json_fault *fault)
{
    struct json_names *names = &k->x->row[k->x->row_of[l->place.node - k->x->node]].names;
    for (;;) {
        enum json_next what = json_nest_comma(k->w, l, '}');
        if (what == JSON_NEXT_CLOSED && !json_nest_missing(k, l, fault)) {
            return JSON_NEXT_FAILED;
        }
        if (what != JSON_NEXT_VALUE) {
            return what;
        }
        uint32_t field = JSON_NAMES_NONE;
        if (!json_value_key(k->x, k->w, names, l->nth, &field)) {
            return JSON_NEXT_FAILED;
        }
        if (field != JSON_NAMES_NONE) {
            l->field = field;
            break;
        }
        if (!json_walk_pass(k->w)) {
            return JSON_NEXT_FAILED;
        }
        l->nth++;
    }
    const struct node *n = node_child(l->place.node, l->field);
    uint32_t *seen = &k->x->seen[n - k->x->node];
    if (*seen == l->serial) {
        sr_put_forget(l->inside, l->field);
    }
    *seen = l->serial;
    *next = (struct json_place){.b = l->inside, .c = l->field, .node = n};
    return JSON_NEXT_VALUE;
}

/* Where the next value of the innermost container goes; one that ends is left. */
static enum json_next json_nest_next(struct json_nest *k, struct json_place *next,
                                     struct json_fault *fault)
{
    struct json_level *l = &k->level[k->depth - 1];
    enum sr_kind kind = l->place.node->value.type.kind;
    enum json_next what = kind == SR_ROW     ? json_nest_field(k, l, next, fault)
                          : kind == SR_ARRAY ? json_nest_array(k, l, next)
                          : kind == SR_MAP   ? json_nest_map(k, l, next)
                                             : json_nest_bag(k, l, fault);
    if (what == JSON_NEXT_CLOSED) {
        k->depth--;
    }
    l->nth++;
    return what;
}

/* The value at p: a container is entered, all else put. */
static bool json_nest_value(struct json_nest *k, const struct json_place *p,
                            struct json_fault *fault)
{
    enum sr_kind kind = p->node->value.type.kind;
    if (sr_is_nested(kind) && json_walk_take(k->w, kind == SR_ARRAY ? '[' : '{')) {
        json_nest_open(k, p);
        return true;
    }
    return json_value_put(k->x, k->w, p, fault);
}

/* "column.field[2].field" of the value that was refused. */
static const char *json_nest_path(struct json_nest *k)
{
    char *to = k->x->path;
    size_t n = 0;
    for (uint32_t i = 0; i < k->depth && n < JSON_PATH_MAX; i++) {
        const struct json_level *l = &k->level[i];
        const struct value *v = &l->place.node->value;
        if (i == 0) {
            n += (size_t)snprintf(to, JSON_PATH_MAX, "%s", v->name);
        }
        if (n >= JSON_PATH_MAX) {
            break;
        }
        if (v->type.kind == SR_ROW) {
            n += (size_t)snprintf(to + n, JSON_PATH_MAX - n, ".%s", v->type.child[l->field].name);
        } else {
            n += (size_t)snprintf(to + n, JSON_PATH_MAX - n, "[%u]", l->nth > 0 ? l->nth - 1 : 0);
        }
    }
    return k->depth > 0 ? to : NULL;
}

bool json_nest_put(struct json_decoder *x, struct json_walk *w, const struct json_place *p,
                   struct json_fault *fault)
{
    struct json_nest k;
    k.x = x;
    k.w = w;
    k.depth = 0;
    struct json_place at = *p;
    for (;;) {
        if (!json_nest_value(&k, &at, fault)) {
            break;
        }
        enum json_next what = JSON_NEXT_CLOSED;
        while (k.depth > 0 && what == JSON_NEXT_CLOSED) {
            what = json_nest_next(&k, &at, fault);
        }
        if (what == JSON_NEXT_CLOSED) {
            return true;
        }
        if (what == JSON_NEXT_FAILED) {
            break;
        }
    }
    fault->path = fault->value ? json_nest_path(&k) : NULL; /* else the text is no JSON */
    return false;
}
