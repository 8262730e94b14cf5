/* Any bytes as SQL: a tree or a fault with its place, never a crash. The first byte says what they
 * are read as; as an expression they are bound too, and folded. */
#include <stdint.h>
#include <string.h>

#include "engine/bind/bind.h"
#include "engine/expr/program.h"
#include "engine/sql/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > 4096) {
        return 0;
    }
    struct arena *a = arena_new();
    char *text = arena_text_n(a, (const char *)data + 1, size - 1);
    enum parse_what what = (enum parse_what)(data[0] % (PARSE_QUERY + 1));
    const struct ast *n = NULL;
    struct parse_fault fault = {0};
    sr_rc rc = parse_sql(a, what, text, (uint32_t)size - 1, &n, &fault);
    if (rc == SR_OK) {
        (void)ast_text(a, n);
    } else if (fault.words[0] == '\0' || fault.at > size - 1) {
        __builtin_trap();
    }
    const struct expr *e = NULL;
    struct sr_error err = {0};
    if (what == PARSE_EXPR && bind_constant(a, text, &e, &err) == SR_OK) {
        (void)program_fold(a, e, "UTC");
    } else if (what == PARSE_EXPR && err.words[0] == '\0') {
        __builtin_trap();
    }
    arena_free(a);
    return 0;
}
