#include "connectors/text/node.h"

#include <stdio.h>
#include <stdlib.h>

#include "connectors/text/nest.h"

/* Room for `need` nodes. */
static bool node_grow(struct node **all, uint32_t *room, uint32_t need)
{
    if (need <= *room) {
        return true;
    }
    uint32_t want = need > *room * 2 ? need : *room * 2;
    struct node *grown = realloc(*all, want * sizeof(*grown));
    if (!grown) {
        return false;
    }
    *all = grown;
    *room = want;
    return true;
}

struct node *node_new(const struct sr_schema *schema, unsigned stamp, unsigned stamp_put,
                      uint32_t *count)
{
    struct node *all = NULL;
    uint32_t room = 0, n = 0;
    bool is_short = !node_grow(&all, &room, schema->fields + 8);
    for (uint32_t c = 0; !is_short && c < schema->fields; c++) {
        all[n] = (struct node){.children = 0};
        (void)value_init(&all[n++].value, &schema->field[c], stamp, stamp_put);
    }
    for (uint32_t i = 0; !is_short && i < n; i++) {
        const struct sr_type *t = &all[i].value.type; /* what it points to stays where it is */
        const struct sr_field *child = t->child;
        uint32_t children = t->children;
        is_short = !node_grow(&all, &room, n + children);
        for (uint32_t k = 0; !is_short && k < children; k++) {
            all[n + k] = (struct node){.children = 0};
            (void)value_init(&all[n + k].value, &child[k], stamp, stamp_put);
        }
        if (!is_short) {
            all[i].children = children;
            all[i].down = n - i;
            n += children;
        }
    }
    if (is_short) {
        free(all);
        return NULL;
    }
    *count = n;
    return all;
}

static const char *node_trouble(const struct node *n, bool may_be_json)
{
    switch (n->value.type.kind) {
    case SR_ARRAY:
    case SR_ROW:
        return NULL;
    case SR_MAP:
        return sr_is_text(n->value.type.child[0].type.kind) ? NULL
                                                            : "MAP with keys that are not text";
    case SR_MULTISET:
        return sr_is_text(n->value.type.child[0].type.kind) ? NULL : "MULTISET of what is not text";
    case SR_NULL:
    case SR_KIND_COUNT:
        return "NULL";
    case SR_VARIANT:
        return may_be_json ? NULL : "VARIANT";
    case SR_BOOLEAN:
    case SR_TINYINT:
    case SR_SMALLINT:
    case SR_INT:
    case SR_BIGINT:
    case SR_FLOAT:
    case SR_DOUBLE:
    case SR_DECIMAL:
    case SR_CHAR:
    case SR_VARCHAR:
    case SR_BINARY:
    case SR_VARBINARY:
    case SR_DATE:
    case SR_TIME:
    case SR_TIMESTAMP:
    case SR_TIMESTAMP_LTZ:
    case SR_INTERVAL_MONTH:
    case SR_INTERVAL_SECOND:
        return NULL;
    }
    return NULL;
}

static sr_rc node_fail(struct sr_error *err, sr_rc rc, const char *words)
{
    if (err) {
        err->rc = rc;
        (void)snprintf(err->words, sizeof(err->words), "%s", words);
    }
    return rc;
}

sr_rc node_check_schema(const struct sr_schema *schema, bool may_be_json, const char *who,
                        struct sr_error *err)
{
    for (uint32_t c = 0; c < schema->fields; c++) {
        const struct sr_schema one = {.fields = 1, .field = &schema->field[c], .rowtime = -1};
        uint32_t count = 0;
        struct node *all = node_new(&one, 0, 0, &count);
        if (!all) {
            return node_fail(err, SR_ENOMEM, "out of memory");
        }
        const char *trouble = NULL;
        for (uint32_t i = 0; i < count && !trouble; i++) {
            trouble = node_trouble(&all[i], may_be_json);
        }
        free(all);
        if (trouble) {
            char words[300];
            (void)snprintf(words, sizeof(words), "column '%.100s': type %s is not supported by %s",
                           schema->field[c].name, trouble, who);
            return node_fail(err, SR_ECONFIG, words);
        }
    }
    return SR_OK;
}

/* The builders around one that is being looked at. */
struct node_around {
    struct sr_builder *b;
    uint32_t c; /* column that comes next */
};

void node_use_buffer(struct sr_builder *b, struct sr_buffer *buffer)
{
    struct node_around around[(NEST_DEPTH_MAX + 1)] = {{.b = b}};
    uint32_t depth = buffer && b->rows == 0 ? 1 : 0;
    while (depth > 0) {
        struct node_around *k = &around[depth - 1];
        if (k->c == k->b->cols) {
            depth--;
            continue;
        }
        uint32_t c = k->c++;
        const struct sr_column *column = k->b->col[c];
        bool is_wanted = k->b->wanted[c] && k->b->rows == 0;
        if (is_wanted && sr_is_text(column->type.kind) && column->bytes != buffer) {
            k->b->host->builder_use(k->b, c, buffer);
        }
        if (is_wanted && k->b->inner && k->b->inner[c] && depth < (NEST_DEPTH_MAX + 1)) {
            around[depth++] = (struct node_around){.b = k->b->inner[c]};
        }
    }
}
