/* JSON documents in memory: a text becomes nodes that refer to it, nodes become text again.
 *
 * As Jackson reads and writes them for Flink's SQL functions: the first value of a text counts,
 * whatever stands behind it; of a key that comes twice the last value; numbers with a point or an
 * exponent are decimals (1e3 is written 1E+3); keys are written in order.
 */
#ifndef SR_EXPR_JSON_TEXT_H
#define SR_EXPR_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_NESTING_MAX 512u /* levels of a document */

enum json_kind {
    JSON_NULL,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
};

/* Nodes are named by their index; 0 is none. */
struct json_node {
    enum json_kind kind;
    const char *text; /* of a scalar: as it stands; of a string: between its quotes */
    uint32_t len;
    const char *key; /* between its quotes; NULL: not in an object */
    uint32_t key_len;
    uint32_t first, next; /* child, and the one behind this */
};

struct json_tree {
    struct json_node *node;
    uint32_t count, room;
    uint32_t *order; /* scratch for writing keys in order */
    uint32_t order_room;
    bool is_broken; /* out of memory, from then on */
    bool has_twins; /* of what was written since it was read: an object has a key twice */
};

/* Text that grows. */
struct json_out {
    char *bytes;
    uint32_t len, room;
    bool is_broken; /* out of memory, or too long */
};

void json_tree_done(struct json_tree *t);
/* The root of the first value in the text, which must stay as long as the tree is used; 0: it is no
 * JSON (or is_broken). Forgets what the tree held. */
uint32_t json_read(struct json_tree *t, const char *text, uint32_t len);
uint32_t json_node_new(struct json_tree *t, enum json_kind kind);
/* The value under a key, the last one of that name; 0: there is none. Not for keys with escapes. */
uint32_t json_member(const struct json_tree *t, uint32_t object, const char *key, uint32_t len);

void json_out_done(struct json_out *o);
void json_put(struct json_out *o, const char *bytes, size_t len);
void json_put_quoted(struct json_out *o, const char *text,
                     uint32_t len); /* plain text: escapes it */
/* A number, by the digits that Java's BigDecimal writes; what has no point stays as it is. */
void json_put_number(struct json_out *o, const char *text, uint32_t len);
/* What stands between the quotes of a string: unescaped. False: an escape is none. */
bool json_put_unescaped(struct json_out *o, const char *raw, uint32_t len);
void json_put_node(struct json_out *o, struct json_tree *t, uint32_t node);
/* Likewise with numbers by `put`, instead of json_put_number. */
typedef void (*json_number_fn)(struct json_out *o, const char *text, uint32_t len);
void json_put_node_as(struct json_out *o, struct json_tree *t, uint32_t node, json_number_fn put);

#endif
