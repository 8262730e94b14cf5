/* Numbers that are not of the row: random ones, and constants of nature. */
#include <math.h>
#include <stdlib.h>

#include "engine/base/error.h"
#include "engine/data/schema.h"
#include "engine/expr/family.h"
#include "engine/expr/promote.h"

/* java.util.Random: a seed of 48 bits. With a constant seed the numbers go on from row to row, as
 * in Flink, and begin anew when the job starts again. */
struct random_java {
    uint64_t seed;
};

static struct random_java random_seeded(int64_t seed)
{
    return (struct random_java){((uint64_t)seed ^ 0x5DEECE66Du) & ((UINT64_C(1) << 48) - 1)};
}

static int32_t random_next(struct random_java *j, unsigned bits)
{
    j->seed = (j->seed * 0x5DEECE66Du + 0xB) & ((UINT64_C(1) << 48) - 1);
    return (int32_t)(uint32_t)(j->seed >> (48 - bits));
}

static double random_double(struct random_java *j)
{
    int64_t high = (int64_t)random_next(j, 26) << 27;
    return (double)(high + random_next(j, 27)) * 0x1p-53;
}

static int32_t random_below(struct random_java *j, int32_t bound)
{
    int32_t r = random_next(j, 31), m = bound - 1;
    if ((bound & m) == 0) {
        return (int32_t)(((int64_t)bound * r) >> 31);
    }
    for (int32_t u = r; u - (r = u % bound) > INT32_MAX - m; u = random_next(j, 31)) {
    }
    return r;
}

static sr_rc random_prepare(const struct expr *e, void **state, struct sr_error *err)
{
    if (e->args == 0 || e->arg[0]->kind != EXPR_LITERAL || e->arg[0]->is_null) {
        return SR_OK;
    }
    struct random_java *j = malloc(sizeof(*j));
    if (!j) {
        return error_set(err, SR_ENOMEM, "out of memory");
    }
    *j = random_seeded(e->arg[0]->value.i);
    *state = j;
    return SR_OK;
}

/* Where row r takes its number from: the seed's row, or `own`, seeded by the seed of the row. */
static struct random_java *random_source(struct call *k, uint32_t r, bool has_seed,
                                         struct random_java *own)
{
    if (has_seed && k->state) {
        return k->state;
    }
    *own = random_seeded(has_seed ? call_int(k, 0, r) : (int64_t)call_random(k));
    return own;
}

static void random_real(struct call *k)
{
    double *to = k->out->values;
    struct random_java own;
    CALL_EACH_ROW(k, r) { to[r] = random_double(random_source(k, r, k->args > 0, &own)); }
}
static const struct kernel random_k_real = {
    .run = random_real, .flags = KERNEL_OTHER, .prepare = random_prepare, .release = free};

static void random_integer(struct call *k)
{
    int32_t *to = k->out->values;
    struct random_java own;
    CALL_EACH_ROW(k, r)
    {
        int32_t bound = call_int(k, k->args - 1, r);
        if (bound <= 0) {
            call_fail(k, r, "RAND_INTEGER gives numbers below a bound over 0, not below %d", bound);
        } else {
            to[r] = random_below(random_source(k, r, k->args > 1, &own), bound);
        }
    }
}
static const struct kernel random_k_integer = {.run = random_integer,
                                               .flags = KERNEL_OTHER | KERNEL_FAILS,
                                               .prepare = random_prepare,
                                               .release = free};

/* Version 4: all but six bits are random. */
static void random_uuid(struct call *k)
{
    static const char digits[] = "0123456789abcdef";
    CALL_EACH_ROW(k, r)
    {
        uint64_t high = call_random(k), low = call_random(k);
        high = (high & ~UINT64_C(0xF000)) | 0x4000;
        low = (low & ~(UINT64_C(3) << 62)) | UINT64_C(2) << 62;
        char text[36];
        for (unsigned i = 0, nibble = 0; i < sizeof(text); i++) {
            if (i == 8 || i == 13 || i == 18 || i == 23) {
                text[i] = '-';
                continue;
            }
            uint64_t v = nibble < 16 ? high : low;
            text[i] = digits[v >> (60 - 4 * (nibble % 16)) & 15];
            nibble++;
        }
        call_text(k, r, text, sizeof(text));
    }
}
static const struct kernel random_k_uuid = {.run = random_uuid, .flags = KERNEL_OTHER};

static bool random_bind_uuid(struct bind_call *b)
{
    b->type = type_nullable(type_with(SR_CHAR, 36, 0), false);
    b->kernel = &random_k_uuid;
    return true;
}

static void random_pi(struct call *k)
{
    double *to = k->out->values;
    CALL_EACH_ROW(k, r) { to[r] = M_PI; }
}
static void random_e(struct call *k)
{
    double *to = k->out->values;
    CALL_EACH_ROW(k, r) { to[r] = M_E; }
}
static const struct kernel random_k_pi = {.run = random_pi}, random_k_e = {.run = random_e};

#define RANDOM_ROW(title, low, high, letters, type, k, form, words)                    \
    {                                                                                  \
        .name = title, .family = "math", .bind = bind_simple, .min = low, .max = high, \
        .args = letters, .result = type, .kernel = &k, .forms = form, .doc = words     \
    }

static const struct func random_funcs[] = {
    RANDOM_ROW(
        "RAND", 0, 1, "i", RESULT_DOUBLE, random_k_real, "RAND([seed INT]) -> DOUBLE",
        "A random number from 0 to 1; with a constant seed the sequence of java.util.Random."),
    RANDOM_ROW("RAND_INTEGER", 1, 2, "ii", RESULT_INT, random_k_integer,
               "RAND_INTEGER([seed INT,] bound INT) -> INT",
               "A random number from 0 to below the bound, as of RAND."),
    {.name = "UUID",
     .family = "text",
     .bind = random_bind_uuid,
     .forms = "UUID() -> CHAR(36)",
     .doc = "A random identifier, such as 3d3c68f7-f608-473f-b60c-b0c44ad4cc4e."},
    RANDOM_ROW("PI", 0, 0, "", RESULT_DOUBLE, random_k_pi, "PI() -> DOUBLE",
               "The circumference of a circle over its diameter."),
    RANDOM_ROW("E", 0, 0, "", RESULT_DOUBLE, random_k_e, "E() -> DOUBLE",
               "The base of the natural logarithm."),
};

const struct func_family func_random = {random_funcs,
                                        sizeof(random_funcs) / sizeof(random_funcs[0])};
