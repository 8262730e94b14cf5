#include "connectors/json/json_object.h"

#include "connectors/json/json_nest.h"

/* An object that is being put. */
struct json_object {
    struct json_decoder *x;
    struct sr_builder *b;
    struct json_walk *w;
    enum json_object_how how;
    uint32_t serial; /* its own, as in x->seen */
};

/* One value of the object. False: w->fault or *fault tells. */
static inline bool json_object_member(const struct json_object *k, uint32_t nth,
                                      struct json_fault *fault)
{
    struct json_decoder *x = k->x;
    struct sr_builder *b = k->b;
    struct json_walk *w = k->w;
    uint32_t c = JSON_NAMES_NONE;
    if (!json_value_key(x, w, &x->row[0].names, nth, &c)) {
        return false;
    }
    if (c == JSON_NAMES_NONE || !b->wanted[c]) {
        return json_walk_pass(w);
    }
    if (x->seen[c] == k->serial || k->how == JSON_OBJECT_OVER) {
        sr_put_forget(b, c); /* of a key that comes twice the last one counts */
    }
    x->seen[c] = k->serial;
    const struct json_place place = {.b = b, .c = c, .node = &x->node[c]};
    return place.node->value.op == VALUE_NESTED ? json_nest_put(x, w, &place, fault)
                                                : json_value_put(x, w, &place, fault);
}

/* Columns that the object does not have. */
static bool json_object_missing(const struct json_object *k, struct json_fault *fault)
{
    const struct json_decoder *x = k->x;
    for (uint32_t c = 0; c < x->columns; c++) {
        if (x->seen[c] == k->serial || !k->b->wanted[c]) {
            continue;
        }
        enum value_rc rc =
            x->is_missing_fatal ? VALUE_MISSING : value_put_null(k->b, c, &x->node[c].value);
        if (rc != VALUE_OK) {
            *fault = (struct json_fault){.rc = rc, .value = &x->node[c].value, .text = ""};
            return false;
        }
    }
    return true;
}

bool json_object_put(struct json_decoder *x, struct sr_builder *b, struct json_walk *w,
                     enum json_object_how how, struct json_fault *fault)
{
    const struct json_object k = {.x = x, .b = b, .w = w, .how = how, .serial = ++x->serial};
    if (!json_walk_take(w, '{')) {
        return json_walk_fail(w, json_walk_place(w), "a record must be a JSON object");
    }
    bool is_empty = json_walk_take(w, '}');
    for (uint32_t nth = 0; !is_empty; nth++) {
        if (!json_object_member(&k, nth, fault)) {
            return false;
        }
        if (json_walk_take(w, '}')) {
            break;
        }
        if (!json_walk_take(w, ',')) {
            return json_walk_fail(w, json_walk_place(w), "',' or '}' is expected here");
        }
    }
    return how == JSON_OBJECT_OVER || json_object_missing(&k, fault);
}
