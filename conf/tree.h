/* YAML text as a tree of nodes, each with its place; nothing is guessed about what a scalar means.
 *
 * Built from libyaml's events without recursion. What could be a bomb has a limit: nesting, nodes,
 * what aliases stand for. An alias refers to the node of its anchor, so a tree may share parts; no
 * part contains itself. Merge keys (`<<`) are done with: a mapping's own keys come before merged
 * ones, earlier merged ones before later ones.
 */
#ifndef SR_CONF_TREE_H
#define SR_CONF_TREE_H

#include <streamrun/error.h>

#include "conf/page.h"

#define TREE_DEPTH_MAX   64u
#define TREE_NODES_MAX   50000u
#define TREE_ALIASED_MAX 10000u /* nodes that all aliases together stand for */
#define TREE_ANCHORS_MAX 1000u
#define TREE_SPARED_MAX  20u /* faults of a single byte behind which reading goes on */

enum node_kind { NODE_SCALAR, NODE_MAPPING, NODE_SEQUENCE };
enum node_style { NODE_PLAIN, NODE_SINGLE, NODE_DOUBLE, NODE_LITERAL, NODE_FOLDED };

struct node_pair;

struct node {
    enum node_kind kind;
    enum node_style style; /* of a scalar */
    bool is_flow;          /* [a, b] and {a: b} */
    struct page *page;     /* NULL: from -D */
    struct place at;       /* of the first byte, behind a quote or a block's header */
    uint32_t begin, end;   /* its bytes in the page */
    /* NODE_SCALAR */
    const char *text;    /* ends with \0, has no other \0; expanded by vars.c */
    const char *written; /* as parsed, before expansion */
    uint32_t len;        /* of text */
    uint32_t indent;     /* of a block's lines: their column - 1 */
    bool is_expanded;    /* vars.c saw it */
    bool has_fault;      /* it was faulted already: no value to look at */
    bool has_variables;  /* `text` differs from what was written */
    bool has_reference;  /* a variable or a file was put in */
    bool is_secret;      /* never shown, never kept */
    /* NODE_SEQUENCE */
    struct node **item;
    /* NODE_MAPPING */
    struct node_pair *pair;
    uint32_t count;  /* items or pairs */
    uint32_t weight; /* nodes that it stands for, itself too */
    uint32_t height; /* of nesting below it, itself too */
};

struct node_pair {
    struct node *key; /* a scalar */
    struct node *value;
    bool is_merged; /* came by `<<` */
};

/* Behind a byte that YAML keeps for itself, as in `select: *`, reading goes on: what it stands in
 * has a fault, and the answer is SR_OK. *root is NULL for a text without content. SR_ECONFIG: a
 * fault that ends reading (others, such as a key twice, only add to `faults`). SR_ENOMEM. */
sr_rc tree_read(struct page *page, struct faults *faults, struct node **root);

/* An empty value: `key:` with nothing behind it, or a plain ~ or null. */
bool node_is_null(const struct node *n);
bool node_is_nothing(const struct node *n); /* null, or a mapping without keys */

#endif
