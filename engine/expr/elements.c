#include "engine/expr/elements.h"

#include "engine/expr/nest.h"

void elements_give(struct call *k, uint32_t r, const struct sr_column *c, uint32_t from)
{
    if (!nest_copy(k->home, k->out, r, c, from)) {
        call_broken(k, SR_ENOMEM);
    }
}

void elements_begin(struct call *k, uint32_t r) { call_span(k, r, k->out->child[0]->rows, 0); }

void elements_add(struct call *k, uint32_t r, const struct sr_column *c, uint32_t from)
{
    if (!nest_append(k->home, k->out, 0, c, from)) {
        call_broken(k, SR_ENOMEM);
    }
    ((struct sr_span *)k->out->values)[r].len++;
}

bool elements_is_in(const struct call *k, uint32_t r, const struct sr_column *c, uint32_t from)
{
    struct sr_span s = ((const struct sr_span *)k->out->values)[r];
    for (uint32_t i = s.at; i < s.at + s.len; i++) {
        if (nest_equal(k->out->child[0], i, c, from)) {
            return true;
        }
    }
    return false;
}

int64_t elements_find(const struct call *k, uint32_t i, uint32_t r, const struct sr_column *c,
                      uint32_t from)
{
    struct sr_span s = elements_at(k, i, r);
    for (uint32_t n = 0; n < s.len; n++) {
        if (nest_equal(k->arg[i]->child[0], s.at + n, c, from)) {
            return n;
        }
    }
    return -1;
}

void elements_add_all(struct call *k, uint32_t i, uint32_t r)
{
    struct sr_span s = elements_at(k, i, r);
    for (uint32_t n = s.at; n < s.at + s.len; n++) {
        elements_add(k, r, k->arg[i]->child[0], n);
    }
}

bool elements_has_all(struct call *k, uint32_t r)
{
    for (uint32_t i = 0; i < k->args; i++) {
        if (!elements_has(k, i, r)) {
            call_null(k, r);
            return false;
        }
    }
    elements_begin(k, r);
    return true;
}

bool elements_settle(struct bind_call *b, struct sr_type t, const struct kernel *kernel)
{
    b->type = t;
    b->kernel = kernel;
    return t.kind != SR_NULL;
}
