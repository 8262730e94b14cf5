/* The columns of a schema as trees of struct value, so that values inside ROW, ARRAY and MAP are
 * read and written as columns are, by one switch a value.
 *
 * The trees lie in one array, level by level: first a node a column, then their children.
 */
#ifndef SR_TEXT_NODE_H
#define SR_TEXT_NODE_H

#include "connectors/text/value.h"

struct node {
    struct value value; /* op is VALUE_NESTED for one with children */
    uint32_t children;
    uint32_t down; /* the first child is this many nodes further on */
};

static inline const struct node *node_child(const struct node *n, uint32_t i)
{
    return n + n->down + i;
}

/* All nodes, to be freed; NULL: out of memory. Types were checked. `stamp` and `stamp_put`: as for
 * value_init. */
struct node *node_new(const struct sr_schema *schema, unsigned stamp, unsigned stamp_put,
                      uint32_t *count);

/* Refuses a schema with a type that cannot be text, at any depth: at plan time. Keys of MAPs must
 * be text, and MULTISETs cannot be. `who` ends the words: "the json
 * format". */
sr_rc node_check_schema(const struct sr_schema *schema, bool may_be_json, const char *who,
                        struct sr_error *err);

/* As value_use_buffer, at any depth. */
void node_use_buffer(struct sr_builder *b, struct sr_buffer *buffer);

#endif
