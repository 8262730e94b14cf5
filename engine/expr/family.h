/* Families of functions: what a row of the table of functions is made of.
 *
 * Most functions are a row with `args` and `result`; what does not fit has a `bind` of its own,
 * which looks at the types, coerces arguments, and says result type and kernel.
 */
#ifndef SR_EXPR_FAMILY_H
#define SR_EXPR_FAMILY_H

#include "engine/base/arena.h"
#include "engine/expr/expr.h"
#include "engine/expr/func.h"
#include "engine/expr/kernel.h"

/* One call while it is typed. */
struct bind_call {
    struct arena *arena;
    const struct func *func;
    const struct expr **arg; /* may be replaced */
    uint32_t args;
    struct sr_error *err;
    bool is_said; /* err is filled: no more to say */
    /* out */
    struct sr_type type;
    const struct kernel *kernel;
    const struct expr *whole; /* instead of a call: the tree that it stands for */
};

/* False: no form fits (or err is filled and is_said set). */
typedef bool (*bind_fn)(struct bind_call *b);

enum func_result {
    RESULT_SAME, /* the type of the first argument */
    RESULT_BOOLEAN,
    RESULT_INT,
    RESULT_BIGINT,
    RESULT_DOUBLE,
    RESULT_STRING,
    RESULT_BYTES,
    RESULT_VARCHAR, /* as long as the first argument */
    RESULT_DATE,
    RESULT_TIMESTAMP, /* of 3 digits, as TIMESTAMP_LTZ */
    RESULT_TIMESTAMP_LTZ
};

struct func {
    const char *name; /* upper case */
    const char *family;
    const char *forms;
    const char *doc;
    bind_fn bind;
    uint32_t min, max; /* arguments that bind takes */
    /* For bind_simple. A letter an argument: s text, y text or bytes, i INT, l BIGINT, d DOUBLE,
     * b BOOLEAN; where fewer than max are needed, the last letter goes for those that follow. */
    const char *args;
    enum func_result result;
    bool is_nullable; /* the result may be NULL though no argument is */
    const struct kernel *kernel;
    uint32_t data; /* for other binds */
};

struct func_family {
    const struct func *func;
    uint32_t count;
};

extern const struct func_family func_arith, func_compare, func_cond, func_math, func_text,
    func_regex, func_time, func_clock, func_span, func_cast, func_code, func_word, func_url,
    func_random, func_json, func_json_make, func_nest, func_array, func_map, func_split,
    func_printf, func_variant, func_object;

/* variant[key] and variant[number]: func_variant.c. */
bool variant_bind_item(struct bind_call *b);
/* A TIMESTAMP_LTZ read as if in UTC, and the time zone that it was meant in: func_clock.c. */
extern const struct kernel clock_k_meant;

#define FUNC_ARGS_MAX 100000u /* of functions that take any number */

const struct func *func_row(const char *name); /* any case; NULL */
bool bind_simple(struct bind_call *b);         /* by args, result, is_nullable and kernel */

/* --- For bind functions. ---------------------------------------------------------------------- */

/* Fills err and answers false. */
bool bind_fails(struct bind_call *b, const char *fmt, ...) SR_PRINTF(2, 3);
/* Room for n trees (one at least). NULL: out of memory. */
const struct expr **expr_array(struct arena *a, uint32_t n);
/* Argument i becomes of this kind by implicit coercion; false: it cannot. */
bool bind_coerce(struct bind_call *b, uint32_t i, const struct sr_type *to);
/* Argument i, if a TIMESTAMP_LTZ, becomes the TIMESTAMP that the clock of the session shows. */
bool bind_local(struct bind_call *b, uint32_t i);
bool bind_any_nullable(const struct bind_call *b);
/* A call whose types are settled already. */
const struct expr *expr_make(struct arena *a, const struct func *f, const struct kernel *kernel,
                             struct sr_type type, const struct expr *const *arg, uint32_t args);
/* A call by name, its error in b. */
const struct expr *bind_sub(struct bind_call *b, const char *name, const struct expr *const *arg,
                            uint32_t args);

#endif
