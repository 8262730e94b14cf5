/* Typed expressions: trees that the binder makes, with every coercion written out.
 *
 * The functions here decide types as Flink SQL does and refuse what Flink refuses; the binder
 * adds names and places. Trees live in an arena, are immutable, and may be shared. Arguments of
 * NULL mean that an inner expression failed already: the answer is then NULL and err is left
 * alone.
 *
 * A tree becomes a struct program (program.h), which is what runs.
 */
#ifndef SR_EXPR_EXPR_H
#define SR_EXPR_EXPR_H

#include <streamrun/batch.h>
#include <streamrun/error.h>
#include <streamrun/types.h>

#include "engine/base/arena.h"

enum expr_kind { EXPR_LITERAL, EXPR_COLUMN, EXPR_CALL };

struct func;   /* one row of the table of functions: func.h */
struct kernel; /* the loop that computes a call: kernel.h */

#define EXPR_DEPTH_MAX 250u   /* nesting of calls; deeper trees are refused */
#define EXPR_SIZE_MAX  20000u /* calls, shared ones as often as they are used */

struct expr {
    enum expr_kind kind;
    struct sr_type type;
    uint32_t offset; /* bytes into the source text, for faults at run time; UINT32_MAX: none */
    /* EXPR_LITERAL: the value in the layout of batch.h; text as bytes and len */
    bool is_null;
    union {
        int64_t
            i; /* BOOLEAN to BIGINT, DATE, TIME, TIMESTAMP to 6 digits, DECIMAL to 18, intervals */
        double d; /* FLOAT, DOUBLE */
        struct {
            uint64_t low;
            int64_t high;
        } wide;                    /* DECIMAL over 18 digits */
        struct sr_instant instant; /* TIMESTAMP, TIMESTAMP_LTZ over 6 digits; `unused` is 0 */
    } value;
    const char *text; /* CHAR to VARBINARY */
    uint32_t text_len;
    uint32_t column; /* EXPR_COLUMN: index into the input schema */
    /* EXPR_CALL */
    const struct func *func;
    const struct kernel *kernel; /* NULL: the compiler lays it out (AND, CASE, COALESCE ...) */
    bool is_try;                 /* a failure is NULL: TRY_CAST */
    uint32_t depth;              /* 0 for leaves; at most EXPR_DEPTH_MAX, which bounds recursion */
    uint32_t size;               /* calls below it; at most EXPR_SIZE_MAX, which bounds walks */
    uint32_t args;
    const struct expr *const *arg;
};

/* --- Making trees. Each answers NULL and fills err when the types do not fit. ----------------- */

const struct expr *expr_column(struct arena *a, const struct sr_schema *s, uint32_t column);
const struct expr *expr_null(struct arena *a);
const struct expr *expr_bool(struct arena *a, bool v);
/* A number as written, perhaps with a sign: 12, .5, -1e3: INT, BIGINT, DECIMAL or DOUBLE as in
 * Flink. */
const struct expr *expr_number(struct arena *a, const char *text, struct sr_error *err);
const struct expr *expr_string(struct arena *a, const char *bytes, uint32_t len); /* CHAR(n) */
/* x'00ff' */
const struct expr *expr_binary(struct arena *a, const char *hex, uint32_t len,
                               struct sr_error *err);
/* DATE '...', TIME '...', TIMESTAMP '...' */
const struct expr *expr_moment(struct arena *a, enum sr_kind kind, const char *text, uint32_t len,
                               struct sr_error *err);
/* INTERVAL '1 02:03' DAY TO MINUTE; units as words: "DAY", "MINUTE"; `to` NULL when single. */
const struct expr *expr_interval(struct arena *a, const char *text, uint32_t len, bool is_negative,
                                 const char *from, const char *to, struct sr_error *err);
/* Any function or operator by its name: "UPPER", "+", "<>", "AND", "NOT", "IS NULL", "IN",
 * "BETWEEN", "LIKE", "CASE" (when, then, ..., else), "COALESCE". SR_ECONFIG for an unknown name
 * (with the nearest known one) or for arguments that fit no form (with the forms). */
const struct expr *expr_call(struct arena *a, const char *name, const struct expr *const *args,
                             uint32_t n, struct sr_error *err);
const struct expr *expr_cast(struct arena *a, const struct expr *e, const struct sr_type *to,
                             bool is_try, struct sr_error *err);
/* An element of an ARRAY or value of a MAP that is NOT NULL. Flink trusts that it is there: IS NULL
 * says FALSE of it, and a column that is nothing else gets a made-up value where it is not, while
 * all other calls see NULL. */
bool expr_is_trusted(const struct expr *e);
/* What a column holds that is e: e, or such an element with its made-up value. */
const struct expr *expr_as_column(struct arena *a, const struct expr *e);
/* e as type `to`, by Flink's implicit coercion only. */
const struct expr *expr_coerce(struct arena *a, const struct expr *e, const struct sr_type *to,
                               struct sr_error *err);

/* --- Looking at them -------------------------------------------------------------------------- */

bool expr_is_constant(const struct expr *e); /* no column, and deterministic */
bool expr_has_no_column(const struct expr *e);
bool expr_needs_zone(const struct expr *e);                   /* of the session */
bool expr_is_call_of(const struct expr *e, const char *name); /* "PROCTIME" */
bool expr_equal(const struct expr *a, const struct expr *b);
void expr_columns(const struct expr *e, bool *used); /* sets used[column] for every column in it */
/* e with column c replaced by by[c]: for fusing projections and pushing filters. NULL: out of
 * memory, or the result would be deeper or larger than a tree may be. */
const struct expr *expr_replace(struct arena *a, const struct expr *e,
                                const struct expr *const *by);
const char *expr_text(struct arena *a, const struct expr *e, const struct sr_schema *s);

#endif
