#include "conf/vars.h"

#include <streamrun/format.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/bytes.h"

#define VARS_BYTES_MAX      (1u << 20) /* of one text, expanded */
#define VARS_FILE_BYTES_MAX (1u << 16)
#define VARS_NAME_MAX       255u

struct vars {
    struct reader *rd;
    struct node *node;
    const char *dir;
    struct sr_out out;
    bool is_broken; /* a fault was added, or memory ran out */
};

static struct place vars_place(const struct vars *v, const char *at)
{
    struct place p = v->node->at;
    for (const char *s = v->node->written; s < at; s++) {
        p.column++;
        if (*s == '\n') {
            p.line++;
            p.column = v->node->indent + 1;
        }
    }
    return p;
}

static void vars_put(struct vars *v, const char *text, size_t len)
{
    if (v->out.len + len > VARS_BYTES_MAX) {
        if (!v->is_broken) {
            reader_fault(v->rd, v->node->at, NULL, "SR0107: the text is longer than %u bytes",
                         VARS_BYTES_MAX);
        }
        v->is_broken = true;
        return;
    }
    if (!bytes_put(&v->out, text, len)) {
        v->is_broken = true;
        v->rd->entries.is_broken = true;
    }
}

/* A secret's file as an editor leaves it: one line end at its end is not part of the secret. */
static size_t vars_without_line_end(const char *text, size_t len)
{
    if (len > 0 && text[len - 1] == '\n') {
        len--;
        if (len > 0 && text[len - 1] == '\r') {
            len--;
        }
    }
    return len;
}

static void vars_file(struct vars *v, const char *name, struct place at)
{
    struct arena *a = v->rd->arena;
    const char *path = reader_absolute(a, v->dir, name);
    char *buf = arena_get(a, VARS_FILE_BYTES_MAX + 1);
    struct sr_error err = {0};
    size_t len = 0;

    v->node->is_secret = true;
    if (!path || !buf) {
        v->is_broken = true;
        return;
    }
    if (reader_load(v->rd, path, buf, VARS_FILE_BYTES_MAX, &len, &err) != SR_OK) {
        reader_fault(v->rd, at, NULL, "SR0110: ${file:%s} cannot be read: %s", name, err.words);
        v->is_broken = true;
        return;
    }
    if (len > VARS_FILE_BYTES_MAX || memchr(buf, '\0', len)) {
        reader_fault(v->rd, at, NULL, "SR0110: ${file:%s}: the file is %s", name,
                     len > VARS_FILE_BYTES_MAX ? "larger than 64 KiB" : "not a text");
        v->is_broken = true;
        return;
    }
    vars_put(v, buf, vars_without_line_end(buf, len));
    explicit_bzero(buf, len); /* the expanded text is the only copy */
}

static size_t vars_name(const char *s)
{
    size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
    return *s >= '0' && *s <= '9' ? 0 : n;
}

/* `inside` is what stands between the braces. */
static void vars_one(struct vars *v, const char *inside, struct place at)
{
    struct reader *rd = v->rd;

    v->node->has_reference = true;
    if (strncmp(inside, "file:", 5) == 0 && inside[5]) {
        vars_file(v, inside + 5, at);
        return;
    }
    size_t n = vars_name(inside);
    bool has_default = strncmp(inside + n, ":-", 2) == 0;
    if (n == 0 || n > VARS_NAME_MAX || (inside[n] && !has_default)) {
        reader_fault(rd, at, "${NAME}, ${NAME:-default} or ${file:/path}; $${ gives ${ itself",
                     "SR0110: '${%s}' is not a variable",
                     v->node->is_secret ? PAGE_MASKED : inside);
        v->is_broken = true;
        return;
    }
    const char *name = arena_text_n(rd->arena, inside, n);
    if (!name) {
        v->is_broken = true;
        return;
    }
    if (conf_is_secret_key(name)) {
        v->node->is_secret = true;
    }
    const char *value = rd->in->variable ? rd->in->variable(name) : NULL;
    if ((!value || !*value) && has_default) {
        value = inside + n + 2;
    }
    if (!value) {
        reader_fault(rd, at,
                     arena_printf(rd->arena, "set it, or give a default: ${%s:-default}", name),
                     "SR0110: variable %s is not set", name);
        v->is_broken = true;
        return;
    }
    vars_put(v, value, strlen(value));
}

static void vars_run(struct vars *v)
{
    const char *s = v->node->written;

    while (*s && !v->is_broken) {
        size_t plain = strcspn(s, "$");
        vars_put(v, s, plain);
        s += plain;
        if (strncmp(s, "$${", 3) == 0) {
            vars_put(v, "${", 2);
            s += 3;
        } else if (strncmp(s, "${", 2) == 0) {
            size_t len = strcspn(s, "}");
            struct place at = vars_place(v, s);
            const char *inside = s[len] ? arena_text_n(v->rd->arena, s + 2, len - 2) : NULL;
            if (!inside) {
                reader_fault(v->rd, at, "$${ gives ${ itself",
                             "SR0110: '${' is never closed by '}'");
                v->is_broken = true;
                return;
            }
            vars_one(v, inside, at);
            s += len + 1;
        } else if (*s) {
            vars_put(v, s++, 1);
        }
    }
}

const char *vars_expand(struct reader *rd, struct node *n, const char *dir)
{
    sr_assert(n->kind == NODE_SCALAR);
    if (n->is_expanded || !strstr(n->text, "${")) {
        n->is_expanded = true;
        return n->text;
    }
    struct vars v = {.rd = rd, .node = n, .dir = dir, .out = bytes_out()};
    n->is_expanded = true;
    n->has_variables = true;
    vars_run(&v);
    if (!v.is_broken) {
        const char *text =
            v.out.len ? arena_text_n(rd->arena, (const char *)v.out.data, v.out.len) : "";
        n->text = text ? text : "";
        n->len = (uint32_t)v.out.len;
    } else {
        n->has_fault = true;
    }
    if (v.out.data) {
        explicit_bzero(v.out.data, v.out.len);
    }
    bytes_free(&v.out);
    return n->text;
}
