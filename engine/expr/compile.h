/* The code of a program, a straight list of steps, and the compiler that lays it out.
 *
 * Registers hold columns: of the input, of constants, or computed by a step. Slots hold selections:
 * slot 0 is the live rows; a step under a slot computes the rows of that slot, and every slot is a
 * part of its parent. So a register computed under a slot is good under every slot below it, and
 * what a row does not need (a branch of CASE, the right of FALSE AND) is never computed for it.
 */
#ifndef SR_EXPR_COMPILE_H
#define SR_EXPR_COMPILE_H

#include "engine/base/arena.h"
#include "engine/data/pool.h"
#include "engine/expr/kernel.h"
#include "engine/expr/program.h"
#include "engine/expr/slot.h"

#define COMPILE_NONE      UINT32_MAX
#define COMPILE_BLEND_MAX 17u /* arguments of a CASE that computes all its values: 8 conditions */

enum register_kind { REGISTER_INPUT, REGISTER_CONSTANT, REGISTER_COMPUTED };

struct reg {
    enum register_kind kind;
    uint32_t column;       /* of the view, REGISTER_INPUT */
    uint32_t slot;         /* under which it is computed, REGISTER_COMPUTED */
    const struct expr *e;  /* what it holds */
    struct sr_column *col; /* of the current run; constants keep theirs */
};

enum step_kind {
    STEP_CALL,    /* out = kernel(arg ...) under slot */
    STEP_PICK,    /* to = the rows of slot for which arg 0 is as `by` says; rest: the others */
    STEP_COMPARE, /* to = the rows of slot that the kernel picks */
    STEP_CHOOSE   /* out = arg i for the rows of under[i] */
};

struct step {
    enum step_kind kind;
    enum pick_by by;
    const struct expr *e;
    const struct kernel *kernel;
    void *state;
    uint32_t out, slot, to, rest; /* COMPILE_NONE: none */
    uint32_t args;
    const uint32_t *arg;     /* registers */
    const uint32_t *under;   /* slots, STEP_CHOOSE */
    const bool *is_constant; /* by argument */
    struct step *next;
};

struct code {
    struct arena *arena;
    struct sr_home *home; /* of constants */
    struct sr_buffer *empty;
    const struct sr_schema *in;
    const char *time_zone;
    bool is_folding;    /* constants are not folded: this is their folding */
    uint32_t constants; /* rows in a constant column */
    struct reg *reg;
    uint32_t regs, regs_room;
    struct slot **slot;
    uint32_t slots, slots_room;
    struct step *first, **last;
    sr_rc rc;
    struct sr_error *err;
};

sr_rc compile_init(struct code *code, const struct program_conf *conf, bool is_folding,
                   struct sr_error *err);
void compile_done(struct code *code); /* half-built ones allowed */
/* The register that holds e under a slot; COMPILE_NONE when rc is set. */
uint32_t compile_value(struct code *code, const struct expr *e, uint32_t slot);
/* The slot of the rows of `slot` for which e is TRUE. */
uint32_t compile_filter(struct code *code, const struct expr *e, uint32_t slot);

#endif
