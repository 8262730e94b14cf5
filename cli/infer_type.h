/* Which types fit all values that were seen: kinds that still may be, by column.
 *
 * Each value that is not NULL takes away the kinds that it does not fit; of those that are left the
 * narrowest counts. Columns are nodes of a tree, in one array, so that objects in JSON are rows.
 */
#ifndef SR_CLI_INFER_TYPE_H
#define SR_CLI_INFER_TYPE_H

#include "engine/base/arena.h"

#define INFER_NODES_MAX 4096u /* columns and fields */
#define INFER_DEPTH_MAX 16u   /* of rows and arrays in each other */

/* From the narrowest to the widest. */
enum infer_kind {
    INFER_BOOLEAN = 1u << 0,
    INFER_BIGINT = 1u << 1,
    INFER_DECIMAL = 1u << 2, /* whole numbers of up to 38 digits */
    INFER_DOUBLE = 1u << 3,
    INFER_DATE = 1u << 4,
    INFER_TIME = 1u << 5,
    INFER_TIMESTAMP = 1u << 6,     /* 2026-03-02 09:00:01.123 */
    INFER_TIMESTAMP_ISO = 1u << 7, /* 2026-03-02T09:00:01.123 */
    INFER_LTZ = 1u << 8,           /* ... with a Z */
    INFER_LTZ_ISO = 1u << 9,
    INFER_ROW = 1u << 10,
    INFER_ARRAY = 1u << 11,
    INFER_STRING = 1u << 12,
    INFER_ANY = (1u << 13) - 1
};

struct infer_node {
    const char *name;       /* "" for the elements of an array */
    uint32_t first, last;   /* children; 0: none, as the root is nobody's child */
    uint32_t next;          /* of the same parent; 0: none */
    uint32_t depth;         /* 0: the root */
    uint32_t kinds;         /* that still may be */
    uint32_t digits;        /* behind the point of a second, the most of all */
    uint64_t values, nulls; /* that were seen; nulls are not in values */
};

struct infer {
    struct arena *arena;
    struct infer_node node[INFER_NODES_MAX]; /* [0] is the row itself */
    uint32_t nodes;
    uint64_t records, bad;
};

void infer_init(struct infer *f, struct arena *a);
/* The child of that name, made when it is new; 0: there are too many, or too deep. */
uint32_t infer_child(struct infer *f, uint32_t parent, const char *name);
void infer_null(struct infer *f, uint32_t node);
/* Its values are of no shape that a type has: it is a text. */
void infer_give_up(struct infer *f, uint32_t node);
/* A value that fits these kinds. */
void infer_value(struct infer *f, uint32_t node, uint32_t kinds, uint32_t digits);
/* What a text looks like: `with_numbers` also as a number or a truth value (CSV). */
uint32_t infer_kinds(const char *text, bool with_numbers, uint32_t *digits);
/* "TIMESTAMP(3)"; STRING when nothing else fits, with *note saying why when that needs words. */
const char *infer_type(struct infer *f, uint32_t node, const char **note);
/* A format reads timestamps in one way: where both ways are found, those of ISO 8601 are texts. */
void infer_settle(struct infer *f);
/* Whether timestamps of the whole tree are written in the one way of ISO 8601. */
bool infer_is_iso(const struct infer *f);

#endif
