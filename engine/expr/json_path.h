/* Paths into JSON documents, as Jayway's JsonPath has them: $.a, $['a b'], $[0], $[-1], $[0,1],
 * $[1:3], $.*, $[*], $..a, $.a.size(). Filters are not among them. */
#ifndef SR_EXPR_JSON_PATH_H
#define SR_EXPR_JSON_PATH_H

#include "engine/expr/json_text.h"

#define JSON_PATH_STEPS_MAX 64u   /* of one path */
#define JSON_PATH_BYTES_MAX 1024u /* of its text */

enum json_step_kind {
    JSON_STEP_NAME,
    JSON_STEP_NAMES, /* of several: an object of those */
    JSON_STEP_INDEX,
    JSON_STEP_LIST,
    JSON_STEP_SLICE,
    JSON_STEP_ALL,
    JSON_STEP_SIZE
};

struct json_step {
    enum json_step_kind kind;
    bool is_deep;     /* of every node below, and this one */
    uint32_t at, len; /* name, or what stands in the brackets */
    int32_t from, to; /* index, or slice; to INT32_MAX: to the end */
};

struct json_path {
    bool is_set, is_good, is_lax;
    bool is_definite; /* names one value at most */
    char text[JSON_PATH_BYTES_MAX];
    uint32_t len, steps;
    struct json_step step[JSON_PATH_STEPS_MAX];
    uint32_t *found, *next; /* nodes: room for as many as the tree has */
    uint32_t room;
    bool is_over;  /* the last find came to more nodes than there is room for */
    char size[12]; /* digits of the last size() */
};

void json_path_done(struct json_path *p);
/* Makes this the path unless it is already. False: it is none. */
bool json_path_use(struct json_path *p, const char *text, uint32_t len);
/* The node that it leads to: for a path that may lead to several an array of them, which is added
 * to the tree. 0: to none (or t->is_broken, or p->is_over). */
uint32_t json_path_find(struct json_path *p, struct json_tree *t, uint32_t root);

#endif
