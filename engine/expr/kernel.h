/* Kernels: the loops that compute one call over the rows of a batch.
 *
 * A kernel gets the columns of its arguments, a fresh column for the result, and the rows to do:
 * `sel` with `n` row numbers, or rows 0 to n - 1 when sel is NULL. It is a plain loop.
 *
 * NULL: unless KERNEL_NULLS is set, "any argument NULL gives NULL" is done outside: validity bits
 * are there when the kernel runs, and it is not shown the rows whose result is NULL already. A
 * KERNEL_DENSE kernel is the exception: it may be run over all stored rows, whatever lies there, so
 * it must be cheap, must not fail, and must not follow spans.
 *
 * A constant argument is a column with the same value in every row; `is_constant` says so, for
 * kernels that can do better then. What depends on constants only (a regular expression) is made
 * once a program by `prepare`.
 */
#ifndef SR_EXPR_KERNEL_H
#define SR_EXPR_KERNEL_H

#include <streamrun/batch.h>
#include <streamrun/error.h>

#include "engine/expr/expr.h"

#define CALL_ARGS_MAX 250u        /* columns that one kernel is given */
#define CALL_TEXT_MAX (64u << 20) /* bytes that a kernel makes of one value */

struct zone; /* engine/base/zone.h */
struct run;  /* what a program keeps while it runs: failures, memory */

struct call {
    struct sr_column *out;
    struct sr_column *const *arg;
    uint32_t args;
    const bool *is_constant; /* by argument */
    const uint16_t *sel;     /* NULL: rows 0 to n - 1 */
    uint32_t n;
    void *state; /* what prepare made; NULL without it */
    bool is_try; /* failures are NULLs */
    struct sr_home *home;
    struct run *run;
};

enum {
    KERNEL_DENSE = 1u << 0, /* may run over rows that nobody needs */
    KERNEL_FAILS = 1u << 1, /* call_fail may be called */
    KERNEL_NULLS = 1u << 2, /* does NULLs itself; result bits are all set when it runs */
    KERNEL_OTHER = 1u << 3, /* not a function of its arguments alone (CURRENT_TIMESTAMP) */
    KERNEL_FIRST = 1u << 4, /* only argument 0 is a column: prepare reads the others, literals */
    KERNEL_ZONE = 1u << 5   /* the session's time zone counts: call_zone */
};

struct kernel {
    void (*run)(struct call *k);
    uint32_t flags;
    /* Instead of run, where only the rows are asked for for which a BOOLEAN call is TRUE:
     * writes them to `to` (room for n) and answers how many. Looks at no NULLs: rows with a
     * NULL argument are dropped afterwards. `out` is NULL. May be NULL. */
    uint32_t (*pick)(struct call *k, uint16_t *to);
    /* `e` is the call; constant arguments are literals. *state stays NULL when nothing is
     * constant. */
    sr_rc (*prepare)(const struct expr *e, void **state, struct sr_error *err);
    void (*release)(void *state); /* NULL allowed as state */
};

/* A loop that is compiled for wider vectors too, and picks itself by the machine at run time. The
 * results are the same. Sanitizers and other compilers have the plain one. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define KERNEL_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define KERNEL_WIDE
#endif

/* Visit the rows of a call. */
#define CALL_EACH_ROW(k, r)           \
    for (uint32_t call_i_ = 0, r = 0; \
         call_i_ < (k)->n && ((r = (k)->sel ? (k)->sel[call_i_] : call_i_), true); call_i_++)

/* The same loop over all rows and over picked ones, so that the first one is vectorised. */
#define CALL_LOOP(k, statement)                    \
    do {                                           \
        const uint16_t *sel_ = (k)->sel;           \
        uint32_t n_ = (k)->n;                      \
        if (!sel_) {                               \
            for (uint32_t r = 0; r < n_; r++) {    \
                statement;                         \
            }                                      \
        } else {                                   \
            for (uint32_t i_ = 0; i_ < n_; i_++) { \
                uint32_t r = sel_[i_];             \
                statement;                         \
            }                                      \
        }                                          \
    } while (0)

/* The result of row r is NULL. */
void call_null(struct call *k, uint32_t r);
/* The row cannot be computed, and why, as a sentence; a NULL when is_try. */
void call_fail(struct call *k, uint32_t r, const char *fmt, ...) SR_PRINTF(3, 4);
/* Room for `len` bytes, which become the text of row r; NULL: out of memory (the run fails). */
uint8_t *call_space(struct call *k, uint32_t r, uint32_t len);
/* A copy of these bytes becomes the text of row r. */
void call_text(struct call *k, uint32_t r, const void *bytes, uint32_t len);
/* The result's spans will point into the bytes of argument i, which are shared. */
void call_share(struct call *k, uint32_t i);
/* Argument i is the result as it stands: the same column, or a copy of what is shared already. */
void call_alias(struct call *k, uint32_t i);
/* The run as a whole fails. */
void call_broken(struct call *k, sr_rc rc);

/* The time zone of the session; NULL: UTC. */
const struct zone *call_zone(const struct call *k);
/* Microseconds since the epoch: the same for all rows of a run. */
int64_t call_now_us(struct call *k);
uint64_t call_random(struct call *k);
/* The watermark in force when row r arrived, in ms; SR_WATERMARK_NONE: none. */
int64_t call_watermark(const struct call *k, uint32_t r);

/* By the bits of a column; NULL: no row is NULL. */
static inline bool valid_bit(const uint64_t *valid, uint32_t r)
{
    return !valid || (valid[r >> 6] >> (r & 63) & 1) != 0;
}

/* First byte of a text column; good for columns without any. */
static inline const char *column_text(const struct sr_column *c)
{
    return c->bytes ? (const char *)c->bytes->data : "";
}

static inline const char *call_get(const struct call *k, uint32_t i, uint32_t r, uint32_t *len)
{
    struct sr_span s = ((const struct sr_span *)k->arg[i]->values)[r];
    *len = s.len;
    return s.len > 0 ? column_text(k->arg[i]) + s.at : "";
}

static inline int32_t call_int(const struct call *k, uint32_t i, uint32_t r)
{
    return ((const int32_t *)k->arg[i]->values)[r];
}

static inline void call_span(struct call *k, uint32_t r, uint32_t at, uint32_t len)
{
    ((struct sr_span *)k->out->values)[r] = (struct sr_span){at, len};
}

#endif
