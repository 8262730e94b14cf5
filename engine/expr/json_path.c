#include "engine/expr/json_path.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void json_path_done(struct json_path *p)
{
    free(p->found);
    free(p->next);
    *p = (struct json_path){0};
}

/* --- Reading a path. -------------------------------------------------------------------------- */

static bool path_add(struct json_path *p, struct json_step step)
{
    if (p->steps == JSON_PATH_STEPS_MAX) {
        return false;
    }
    p->is_definite = p->is_definite && !step.is_deep &&
                     (step.kind <= JSON_STEP_INDEX || step.kind == JSON_STEP_SIZE);
    p->step[p->steps++] = step;
    return true;
}

/* .name, .*, .size() from s[i], behind the point; answers the place behind it, 0: it is none. */
static uint32_t path_name(struct json_path *p, uint32_t i, bool is_deep)
{
    const char *s = p->text;
    if (i < p->len && s[i] == '*') {
        return path_add(p, (struct json_step){.kind = JSON_STEP_ALL, .is_deep = is_deep}) ? i + 1
                                                                                          : 0;
    }
    uint32_t from = i;
    while (i < p->len && !strchr(".[( \t", s[i])) {
        i++;
    }
    struct json_step step = {
        .kind = JSON_STEP_NAME, .is_deep = is_deep, .at = from, .len = i - from};
    if (i < p->len && s[i] == '(') {
        bool is_size = (step.len == 4 && memcmp(s + from, "size", 4) == 0) ||
                       (step.len == 6 && memcmp(s + from, "length", 6) == 0);
        step.kind = JSON_STEP_SIZE;
        return is_size && i + 2 == p->len && s[i + 1] == ')' && path_add(p, step) ? i + 2 : 0;
    }
    bool is_blank = i < p->len && (s[i] == ' ' || s[i] == '\t');
    return i > from && !is_blank && path_add(p, step) ? i : 0;
}

static bool path_number(const char *s, uint32_t *i, uint32_t end, int32_t *out)
{
    bool is_negative = *i < end && s[*i] == '-';
    uint32_t from = *i += is_negative ? 1 : 0;
    int64_t v = 0;
    for (; *i < end && isdigit((unsigned char)s[*i]) && v < INT32_MAX; ++*i) {
        v = v * 10 + (s[*i] - '0');
    }
    *out = (int32_t)(is_negative ? -v : v);
    return *i > from && v < INT32_MAX;
}

/* 0 or 0,1 or 0:2 between brackets. */
/* NOLINTNEXTLINE(readability-function-cognitive-complexity): three forms of one bracket */
static bool path_places(struct json_path *p, uint32_t from, uint32_t end, bool is_deep)
{
    const char *s = p->text;
    struct json_step step = {.kind = JSON_STEP_INDEX,
                             .is_deep = is_deep,
                             .at = from,
                             .len = end - from,
                             .to = INT32_MAX};
    const char *colon = memchr(s + from, ':', end - from);
    uint32_t i = from;
    if (colon) {
        step.kind = JSON_STEP_SLICE;
        if (s + i < colon && !path_number(s, &i, end, &step.from)) {
            return false;
        }
        bool is_good = s + i == colon;
        i++;
        return is_good && (i == end || (path_number(s, &i, end, &step.to) && i == end)) &&
               path_add(p, step);
    }
    for (;; i++) {
        int32_t place;
        while (i < end && s[i] == ' ') {
            i++;
        }
        if (!path_number(s, &i, end, &place)) {
            return false;
        }
        step.from = step.kind == JSON_STEP_INDEX ? place : step.from;
        while (i < end && s[i] == ' ') {
            i++;
        }
        if (i == end) {
            return path_add(p, step);
        }
        step.kind = JSON_STEP_LIST;
        if (s[i] != ',') {
            return false;
        }
    }
}

/* 'a' or 'a','b' from s[i]; answers the place of the bracket behind, 0: it is none. */
static uint32_t path_quoted(struct json_path *p, uint32_t i, bool is_deep)
{
    const char *s = p->text;
    uint32_t from = i, names = 0;
    struct json_step step = {.kind = JSON_STEP_NAME, .is_deep = is_deep};
    for (;;) {
        char quote = s[i++];
        step.at = i;
        while (i < p->len && s[i] != quote) {
            i++;
        }
        if (i == p->len) {
            return 0;
        }
        step.len = i++ - step.at;
        names++;
        while (i < p->len && (s[i] == ',' || s[i] == ' ')) {
            i++;
        }
        if (i < p->len && s[i] == ']') {
            break;
        }
        if (i == p->len || (s[i] != '\'' && s[i] != '"')) {
            return 0;
        }
    }
    if (names > 1) {
        step = (struct json_step){
            .kind = JSON_STEP_NAMES, .is_deep = is_deep, .at = from, .len = i - from};
    }
    return path_add(p, step) ? i : 0;
}

/* From behind the bracket; answers the place behind the closing one, 0: it is none. */
static uint32_t path_brackets(struct json_path *p, uint32_t i, bool is_deep)
{
    const char *s = p->text;
    if (i < p->len && (s[i] == '\'' || s[i] == '"')) {
        uint32_t end = path_quoted(p, i, is_deep);
        return end ? end + 1 : 0;
    }
    const char *close = i < p->len ? memchr(s + i, ']', p->len - i) : NULL;
    if (!close) {
        return 0;
    }
    uint32_t end = (uint32_t)(close - s);
    if (end == i + 1 && s[i] == '*') {
        return path_add(p, (struct json_step){.kind = JSON_STEP_ALL, .is_deep = is_deep}) ? end + 1
                                                                                          : 0;
    }
    return path_places(p, i, end, is_deep) ? end + 1 : 0;
}

/* "lax " or "strict " in front; strict is the default. */
static uint32_t path_mode(struct json_path *p, const char *text, uint32_t len)
{
    static const char *const words[] = {"lax", "strict"};
    uint32_t i = 0;
    p->is_lax = false;
    while (i < len && isspace((unsigned char)text[i])) {
        i++;
    }
    for (int w = 0; w < 2; w++) {
        uint32_t n = (uint32_t)strlen(words[w]);
        if (len - i > n && strncasecmp(text + i, words[w], n) == 0 &&
            isspace((unsigned char)text[i + n])) {
            p->is_lax = w == 0;
            for (i += n; i < len && isspace((unsigned char)text[i]); i++) {
            }
            return i;
        }
    }
    return 0;
}

static bool path_read(struct json_path *p)
{
    uint32_t i = path_mode(p, p->text, p->len);
    bool has_root = i < p->len && p->text[i] == '$';
    p->steps = 0;
    p->is_definite = true;
    if (i == p->len) {
        return false;
    }
    i += has_root ? 1 : 0;
    if (!has_root) { /* "a.b" is "$.a.b" */
        i = path_name(p, i, false);
        if (i == 0) {
            return false;
        }
    }
    while (i < p->len) {
        bool is_point = p->text[i] == '.',
             is_deep = is_point && i + 1 < p->len && p->text[i + 1] == '.';
        i += is_deep ? 2 : is_point ? 1 : 0;
        bool is_bracket = i < p->len && p->text[i] == '[' && (!is_point || is_deep);
        i = is_bracket ? path_brackets(p, i + 1, is_deep) : is_point ? path_name(p, i, is_deep) : 0;
        if (i == 0) {
            return false;
        }
    }
    return true;
}

bool json_path_use(struct json_path *p, const char *text, uint32_t len)
{
    if (p->is_set && p->len == len && memcmp(p->text, text, len) == 0) {
        return p->is_good;
    }
    p->is_set = len <= sizeof(p->text);
    p->is_good = false;
    if (p->is_set) {
        memcpy(p->text, text, len);
        p->len = len;
        p->is_good = path_read(p);
    }
    return p->is_good;
}

/* --- Following one. --------------------------------------------------------------------------- */

struct path_walk {
    struct json_path *path;
    struct json_tree *tree;
    uint32_t *to, count, room;
};

static void path_found(struct path_walk *w, uint32_t node)
{
    if (node && w->count == w->room) {
        w->path->is_over = true;
    } else if (node) {
        w->to[w->count++] = node;
    }
}

static uint32_t path_size(const struct json_tree *t, uint32_t node)
{
    uint32_t n = 0;
    for (uint32_t i = t->node[node].first; i; i = t->node[i].next) {
        n++;
    }
    return n;
}

/* Element `place`, from the end when negative; 0: there is none. */
static uint32_t path_element(const struct json_tree *t, uint32_t array, int64_t place)
{
    place = place < 0 ? place + path_size(t, array) : place;
    uint32_t i = place < 0 ? 0 : t->node[array].first;
    for (; i && place > 0; place--) {
        i = t->node[i].next;
    }
    return i;
}

/* A node like this one, in no container: so that it can be put into another. */
static uint32_t path_copy(struct json_tree *t, uint32_t node)
{
    uint32_t copy = json_node_new(t, JSON_NULL);
    if (copy) {
        t->node[copy] = t->node[node];
        t->node[copy].next = 0;
    }
    return copy;
}

/* An object of the members that are named, 0 when one of them is not there. */
static uint32_t path_names(struct path_walk *w, const struct json_step *s, uint32_t object)
{
    struct json_tree *t = w->tree;
    const char *at = w->path->text + s->at, *end = at + s->len;
    uint32_t made = json_node_new(t, JSON_OBJECT), last = 0;
    while (made && at < end) {
        char quote = *at++;
        const char *close = memchr(at, quote, (size_t)(end - at));
        uint32_t found = close ? json_member(t, object, at, (uint32_t)(close - at)) : 0;
        uint32_t copy = found ? path_copy(t, found) : 0;
        if (!copy) {
            return 0;
        }
        *(last ? &t->node[last].next : &t->node[made].first) = copy;
        last = copy;
        for (at = close + 1; at < end && (*at == ',' || *at == ' '); at++) {
        }
    }
    return made;
}

static void path_slice(struct path_walk *w, const struct json_step *s, uint32_t array)
{
    int64_t size = path_size(w->tree, array);
    int64_t from = s->from < 0 ? s->from + size : s->from;
    int64_t to = s->to == INT32_MAX ? size : s->to < 0 ? s->to + size : s->to, place = 0;
    for (uint32_t i = w->tree->node[array].first; i; i = w->tree->node[i].next, place++) {
        path_found(w, place >= from && place < to ? i : 0);
    }
}

static void path_list(struct path_walk *w, const struct json_step *s, uint32_t array)
{
    const char *text = w->path->text;
    uint32_t end = s->at + s->len;
    for (uint32_t i = s->at; i < end; i++) {
        int32_t place;
        while (i < end && (text[i] == ' ' || text[i] == ',')) {
            i++;
        }
        if (i < end && path_number(text, &i, end, &place)) {
            path_found(w, path_element(w->tree, array, place));
        }
    }
}

/* The number of elements, as a node. */
static uint32_t path_count(struct path_walk *w, uint32_t array)
{
    struct json_tree *t = w->tree;
    int n = snprintf(w->path->size, sizeof(w->path->size), "%u", path_size(t, array));
    uint32_t node = json_node_new(t, JSON_NUMBER);
    if (node && n > 0) {
        t->node[node].text = w->path->size;
        t->node[node].len = (uint32_t)n;
    }
    return node;
}

/* One step from one node. */
static void path_step(struct path_walk *w, const struct json_step *s, uint32_t node)
{
    struct json_tree *t = w->tree;
    enum json_kind kind = t->node[node].kind;
    switch (s->kind) {
    case JSON_STEP_NAME:
        path_found(w,
                   kind == JSON_OBJECT ? json_member(t, node, w->path->text + s->at, s->len) : 0);
        break;
    case JSON_STEP_NAMES:
        path_found(w, kind == JSON_OBJECT ? path_names(w, s, node) : 0);
        break;
    case JSON_STEP_INDEX:
        path_found(w, kind == JSON_ARRAY ? path_element(t, node, s->from) : 0);
        break;
    case JSON_STEP_LIST:
        if (kind == JSON_ARRAY) path_list(w, s, node);
        break;
    case JSON_STEP_SLICE:
        if (kind == JSON_ARRAY) path_slice(w, s, node);
        break;
    case JSON_STEP_ALL:
        for (uint32_t i = kind >= JSON_ARRAY ? t->node[node].first : 0; i; i = t->node[i].next) {
            path_found(w, i);
        }
        break;
    case JSON_STEP_SIZE:
        path_found(w, kind == JSON_ARRAY ? path_count(w, node) : 0);
        break;
    }
}

/* The same from every node below as well, containers first. */
/* NOLINTNEXTLINE(misc-no-recursion): JSON_NESTING_MAX */
static void path_deep(struct path_walk *w, const struct json_step *s, uint32_t node)
{
    if (w->tree->node[node].kind < JSON_ARRAY) {
        return;
    }
    path_step(w, s, node);
    for (uint32_t i = w->tree->node[node].first; i; i = w->tree->node[i].next) {
        path_deep(w, s, i);
    }
}

static bool path_room(struct json_path *p, struct json_tree *t)
{
    uint32_t room = t->count * 4 + 64;
    if (p->room >= room) {
        return true;
    }
    uint32_t *found = realloc(p->found, room * sizeof(*found));
    p->found = found ? found : p->found;
    uint32_t *next = realloc(p->next, room * sizeof(*next));
    p->next = next ? next : p->next;
    t->is_broken = t->is_broken || !found || !next;
    p->room = found && next ? room : p->room;
    return found && next;
}

uint32_t json_path_find(struct json_path *p, struct json_tree *t, uint32_t root)
{
    uint32_t count = 1;
    if (!path_room(p, t)) {
        return 0;
    }
    p->is_over = false;
    p->found[0] = root;
    for (uint32_t s = 0; s < p->steps; s++) {
        struct path_walk w = {.path = p, .tree = t, .to = p->next, .room = p->room};
        for (uint32_t i = 0; i < count; i++) {
            if (p->step[s].is_deep) {
                path_deep(&w, &p->step[s], p->found[i]);
            } else {
                path_step(&w, &p->step[s], p->found[i]);
            }
        }
        p->next = p->found;
        p->found = w.to;
        count = w.count;
        if ((count == 0 && p->is_definite) || p->is_over) {
            return 0;
        }
    }
    if (p->is_definite) {
        return p->found[0];
    }
    uint32_t array = json_node_new(t, JSON_ARRAY), last = 0;
    for (uint32_t i = 0; array && i < count; i++) {
        uint32_t copy = path_copy(t, p->found[i]);
        *(last ? &t->node[last].next : &t->node[array].first) = copy;
        last = copy;
    }
    return t->is_broken ? 0 : array;
}
