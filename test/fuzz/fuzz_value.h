/* One call of functions over texts of the input, for targets: computed as a constant is. */
#ifndef TEST_FUZZ_FUZZ_VALUE_H
#define TEST_FUZZ_FUZZ_VALUE_H

#include <string.h>

#include "engine/base/arena.h"
#include "engine/expr/expr.h"
#include "engine/expr/program.h"

/* The value of e as text; NULL: a NULL, or it was refused or failed, with words that say why. */
static inline const char *fuzz_value(struct arena *a, const struct expr *e, struct sr_error *err)
{
    struct program_text text = {0};
    if (!e) {
        return err->words[0] == '\0' ? (__builtin_trap(), NULL) : NULL;
    }
    if (program_constant(a, e, "UTC", NULL, &text, err) != SR_OK && err->words[0] == '\0') {
        __builtin_trap();
    }
    return text.text;
}

static inline const char *fuzz_call(struct arena *a, const char *name, const struct expr *x,
                                    const struct expr *y)
{
    struct sr_error err = {0};
    const struct expr *arg[2] = {x, y};
    return fuzz_value(a, expr_call(a, name, arg, y ? 2 : 1, &err), &err);
}

/* The input as two texts, at its first end of a line. */
static inline void fuzz_split(struct arena *a, const char *data, size_t size,
                              const struct expr **first, const struct expr **second)
{
    const char *end = memchr(data, '\n', size);
    size_t len = end ? (size_t)(end - data) : size;
    *first = expr_string(a, data, (uint32_t)len);
    *second = expr_string(a, end ? end + 1 : "", (uint32_t)(end ? size - len - 1 : 0));
}

#endif
