/* REGEXP and its relatives. */
#include <string.h>

#include "engine/base/error.h"
#include "engine/data/pool.h"
#include "engine/data/schema.h"
#include "engine/expr/family.h"
#include "engine/expr/nest.h"
#include "engine/expr/promote.h"
#include "engine/expr/regex.h"
#include "engine/expr/utf8.h"

/* A constant pattern is compiled here once; others at the rows that bring them. */
static sr_rc regex_prepare(const struct expr *e, void **state, struct sr_error *err)
{
    struct regex *r = regex_new();
    if (!r) {
        return error_set(err, SR_ENOMEM, "out of memory");
    }
    *state = r;
    const struct expr *pattern = e->arg[1];
    bool is_known = pattern->kind == EXPR_LITERAL && !pattern->is_null;
    /* A bad one shows at each row. */
    if (is_known && regex_use(r, pattern->text, pattern->text_len) == REGEX_NO_MEMORY) {
        return error_set(err, SR_ENOMEM, "out of memory");
    }
    return SR_OK;
}

static void regex_release(void *state) { regex_free(state); }

/* What is neither found nor not is told to the call; false. */
static bool regex_tell(struct call *k, uint32_t r, enum regex_found found, bool *is_told)
{
    if (found == REGEX_YES || found == REGEX_NO) {
        return found == REGEX_YES;
    }
    if (found == REGEX_OUT_OF_MEMORY) {
        call_broken(k, SR_ENOMEM);
    } else {
        call_fail(k, r, "the regular expression takes too many steps on this text");
    }
    *is_told = true;
    return false;
}

/* Looks in the text of row r. */
static bool regex_at_row(struct call *k, uint32_t r, const char *s, uint32_t len, uint32_t from,
                         bool *is_told)
{
    return regex_tell(k, r, regex_find(k->state, s, len, from), is_told);
}

/* The pattern of row r is used from now on. False: it is none, or memory is out, which is told. */
static bool regex_pattern(struct call *k, uint32_t r, bool *is_told)
{
    uint32_t len;
    if (k->is_constant[1] && regex_is_ready(k->state)) {
        return true;
    }
    const char *pattern = call_get(k, 1, r, &len);
    enum regex_used used = regex_use(k->state, pattern, len);
    if (used == REGEX_NO_MEMORY) {
        call_broken(k, SR_ENOMEM);
        *is_told = true;
    }
    return used == REGEX_GOOD;
}

static void regex_test(struct call *k)
{
    uint8_t *to = k->out->values;
    CALL_EACH_ROW(k, r)
    {
        uint32_t len;
        const char *s = call_get(k, 0, r, &len);
        bool is_told = false;
        bool is_found = regex_pattern(k, r, &is_told) && regex_at_row(k, r, s, len, 0, &is_told);
        if (!is_told) {
            to[r] = is_found;
        }
    }
}
static const struct kernel regex_k_test = {
    .run = regex_test, .flags = KERNEL_FAILS, .prepare = regex_prepare, .release = regex_release};

/* One pattern and one group for all rows. */
static void regex_extract_constant(struct call *k, uint32_t group)
{
    const struct sr_span *a = k->arg[0]->values;
    const char *base = column_text(k->arg[0]);
    struct sr_span *to = k->out->values;
    struct regex *x = k->state;
    CALL_EACH_ROW(k, r)
    {
        uint32_t from, end;
        bool is_told = false;
        enum regex_found found = regex_find_group(x, base + a[r].at, a[r].len, group, &from, &end);
        if (found == REGEX_YES) {
            to[r] = (struct sr_span){a[r].at + from, end - from};
        } else if (!regex_tell(k, r, found, &is_told) && !is_told) {
            call_null(k, r);
        }
    }
}

static void regex_extract_each(struct call *k)
{
    const struct sr_span *a = k->arg[0]->values;
    CALL_EACH_ROW(k, r)
    {
        uint32_t len, from, to;
        const char *s = call_get(k, 0, r, &len);
        int32_t group = k->args > 2 ? call_int(k, 2, r) : 0;
        bool is_told = false;
        bool is_found = group >= 0 && regex_pattern(k, r, &is_told) &&
                        (uint32_t)group <= regex_groups(k->state) &&
                        regex_at_row(k, r, s, len, 0, &is_told) &&
                        regex_group(k->state, (uint32_t)group, &from, &to);
        if (is_found) {
            call_span(k, r, a[r].at + from, to - from);
        } else if (!is_told) {
            call_null(k, r);
        }
    }
}

static void regex_extract(struct call *k)
{
    bool is_constant = k->is_constant[1] && (k->args < 3 || k->is_constant[2]) && k->n > 0;
    uint32_t first = k->sel && k->n > 0 ? k->sel[0] : 0;
    int32_t group = is_constant && k->args > 2 ? call_int(k, 2, first) : 0;
    call_share(k, 0);
    if (is_constant && regex_is_ready(k->state) && group >= 0 &&
        (uint32_t)group <= regex_groups(k->state)) {
        regex_extract_constant(k, (uint32_t)group);
    } else {
        regex_extract_each(k);
    }
}
static const struct kernel regex_k_extract = {.run = regex_extract,
                                              .flags = KERNEL_FAILS,
                                              .prepare = regex_prepare,
                                              .release = regex_release};

/* The result of REGEXP_REPLACE as it grows: in the column, behind everything else. */
struct regex_result {
    struct call *k;
    uint32_t row, len;
};

static bool regex_append(struct regex_result *x, const char *bytes, uint32_t len)
{
    struct call *k = x->k;
    if (len > CALL_TEXT_MAX - x->len) {
        call_fail(k, x->row, "the text would be longer than %u bytes", CALL_TEXT_MAX);
        return false;
    }
    struct sr_column *c = k->out;
    if ((!c->bytes || c->bytes->capacity - c->bytes_used < len || len == 0) &&
        !column_grow_bytes(k->home, c, len > 0 ? len : 1)) {
        call_broken(k, SR_ENOMEM);
        return false;
    }
    memcpy(c->bytes->data + c->bytes_used, bytes, len);
    c->bytes_used += len;
    x->len += len;
    return true;
}

/* Where to look on behind [from, to): an empty find moves on by one character. */
static uint32_t regex_behind(const char *s, uint32_t len, uint32_t from, uint32_t to)
{
    return to > from ? to : to + (to < len ? utf8_size(s + to, len - to) : 1);
}

/* Everything found is replaced by the third argument as it stands: Flink quotes $ and \. */
static void regex_replace_row(struct call *k, uint32_t r)
{
    uint32_t len, with_len, from, to, at = 0, done = 0;
    const char *s = call_get(k, 0, r, &len), *with = call_get(k, 2, r, &with_len);
    struct regex_result x = {.k = k, .row = r};
    uint32_t start = k->out->bytes ? k->out->bytes_used : 0;
    bool is_told = false;
    while (at <= len && regex_at_row(k, r, s, len, at, &is_told) &&
           regex_group(k->state, 0, &from, &to)) {
        if (!regex_append(&x, s + done, from - done) || !regex_append(&x, with, with_len)) {
            return;
        }
        done = to;
        at = regex_behind(s, len, from, to);
    }
    if (!is_told && regex_append(&x, s + done, len - done)) {
        call_span(k, r, start, x.len);
    }
}

static void regex_replace(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        bool is_told = false;
        if (regex_pattern(k, r, &is_told)) {
            regex_replace_row(k, r);
        } else if (!is_told) {
            call_fail(k, r, "not a regular expression: %s", regex_why(k->state));
        }
    }
}
static const struct kernel regex_k_replace = {.run = regex_replace,
                                              .flags = KERNEL_FAILS,
                                              .prepare = regex_prepare,
                                              .release = regex_release};

/* --- All of them, as an array. ---------------------------------------------------------------- */

/* One group of every find; one that took no part is NULL. False: told already. */
static bool regex_collect(struct call *k, uint32_t r, uint32_t group)
{
    uint32_t len, from, to, all_from, all_to, at = 0, n = 0, first = k->out->child[0]->rows;
    const char *s = call_get(k, 0, r, &len);
    bool is_told = false;
    while (at <= len && regex_at_row(k, r, s, len, at, &is_told) &&
           regex_group(k->state, 0, &all_from, &all_to)) {
        bool is_in = regex_group(k->state, group, &from, &to);
        if (!nest_append_text(k->home, k->out, 0, is_in ? s + from : NULL, is_in ? to - from : 0)) {
            call_broken(k, SR_ENOMEM);
            return false;
        }
        at = regex_behind(s, len, all_from, all_to);
        n++;
    }
    call_span(k, r, first, n);
    return !is_told;
}

static void regex_all(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        int32_t group = 1;
        bool is_told = false, has_args = true;
        for (uint32_t i = 0; i < k->args; i++) {
            has_args = has_args && valid_bit(k->arg[i]->valid, r);
        }
        if (has_args && k->args > 2) {
            group = call_int(k, 2, r);
        }
        bool is_good = has_args && group >= 0 && regex_pattern(k, r, &is_told) &&
                       (uint32_t)group <= regex_groups(k->state);
        if (is_good) {
            (void)regex_collect(k, r, (uint32_t)group);
        } else if (!is_told) {
            call_null(k, r);
        }
    }
}
static const struct kernel regex_k_all = {.run = regex_all,
                                          .flags = KERNEL_FAILS | KERNEL_NULLS,
                                          .prepare = regex_prepare,
                                          .release = regex_release};

static bool regex_bind_all(struct bind_call *b)
{
    struct sr_type number = type_of(SR_INT);
    if (!sr_is_text(b->arg[0]->type.kind) || !sr_is_text(b->arg[1]->type.kind) ||
        (b->args > 2 && !bind_coerce(b, 2, &number))) {
        return false;
    }
    b->type = nest_type(b->arena, type_with(SR_VARCHAR, SR_LENGTH_MAX, 0), NULL);
    b->type.is_nullable = true;
    b->kernel = &regex_k_all;
    return b->type.kind != SR_NULL;
}

/* --- Counting and places: NULL where the pattern is none. ------------------------------------- */

static int32_t regex_count_row(struct call *k, uint32_t r, bool *is_told)
{
    uint32_t len, from, to, at = 0;
    const char *s = call_get(k, 0, r, &len);
    int32_t n = 0;
    while (at <= len && regex_at_row(k, r, s, len, at, is_told) &&
           regex_group(k->state, 0, &from, &to)) {
        at = regex_behind(s, len, from, to);
        n++;
    }
    return n;
}

static int32_t regex_place_row(struct call *k, uint32_t r, bool *is_told)
{
    uint32_t len, from, to;
    const char *s = call_get(k, 0, r, &len);
    bool is_found = regex_at_row(k, r, s, len, 0, is_told) && regex_group(k->state, 0, &from, &to);
    return is_found ? (int32_t)utf8_count(s, from) + 1 : 0;
}

static void regex_number(struct call *k, int32_t (*of_row)(struct call *, uint32_t, bool *))
{
    int32_t *to = k->out->values;
    CALL_EACH_ROW(k, r)
    {
        bool is_told = false;
        if (regex_pattern(k, r, &is_told)) {
            int32_t v = of_row(k, r, &is_told);
            to[r] = is_told ? 0 : v;
        } else if (!is_told) {
            call_null(k, r);
        }
    }
}
static void regex_count(struct call *k) { regex_number(k, regex_count_row); }
static void regex_place(struct call *k) { regex_number(k, regex_place_row); }
static const struct kernel regex_k_count = {
    .run = regex_count, .flags = KERNEL_FAILS, .prepare = regex_prepare, .release = regex_release};
static const struct kernel regex_k_place = {
    .run = regex_place, .flags = KERNEL_FAILS, .prepare = regex_prepare, .release = regex_release};

#define REGEX_ROW(title, type, k, form, words)                                                  \
    {                                                                                           \
        .name = title, .family = "text", .bind = bind_simple, .min = 2, .max = 2, .args = "ss", \
        .result = type, .is_nullable = true, .kernel = &k, .forms = form, .doc = words          \
    }

static const struct func regex_funcs[] = {
    REGEX_ROW("REGEXP_COUNT", RESULT_INT, regex_k_count,
              "REGEXP_COUNT(text STRING, pattern STRING) -> INT",
              "How often the regular expression is found in the text; NULL for a pattern that is "
              "none."),
    REGEX_ROW("REGEXP_INSTR", RESULT_INT, regex_k_place,
              "REGEXP_INSTR(text STRING, pattern STRING) -> INT",
              "The character, from 1, at which the regular expression is first found; 0: nowhere. "
              "NULL for a pattern that is none."),
    REGEX_ROW("REGEXP_SUBSTR", RESULT_STRING, regex_k_extract,
              "REGEXP_SUBSTR(text STRING, pattern STRING) -> STRING",
              "What the regular expression first matched; NULL when nothing is found."),
    {.name = "REGEXP",
     .family = "text",
     .bind = bind_simple,
     .min = 2,
     .max = 2,
     .args = "ss",
     .result = RESULT_BOOLEAN,
     .kernel = &regex_k_test,
     .forms = "REGEXP(text STRING, pattern STRING) -> BOOLEAN",
     .doc = "Whether the regular expression is found in the text. FALSE for a pattern that is "
            "none."},
    {.name = "REGEXP_EXTRACT",
     .family = "text",
     .bind = bind_simple,
     .min = 2,
     .max = 3,
     .args = "ssi",
     .result = RESULT_STRING,
     .is_nullable = true,
     .kernel = &regex_k_extract,
     .forms = "REGEXP_EXTRACT(text STRING, pattern STRING [, group INT]) -> STRING",
     .doc = "What the group of the regular expression matched first; group 0, the default, is the "
            "whole. NULL when nothing is found."},
    {.name = "REGEXP_EXTRACT_ALL",
     .family = "text",
     .bind = regex_bind_all,
     .min = 2,
     .max = 3,
     .forms = "REGEXP_EXTRACT_ALL(text STRING, pattern STRING [, group INT]) -> ARRAY<STRING>",
     .doc = "What the group of the regular expression matched, at every place where it is found; "
            "group 1 is the default, 0 the whole. NULL when there is no such group, or the pattern "
            "is none."},
    {.name = "REGEXP_REPLACE",
     .family = "text",
     .bind = bind_simple,
     .min = 3,
     .max = 3,
     .args = "sss",
     .result = RESULT_STRING,
     .kernel = &regex_k_replace,
     .forms = "REGEXP_REPLACE(text STRING, pattern STRING, with STRING) -> STRING",
     .doc = "The text with everything that the regular expression matches replaced."},
};

const struct func_family func_regex = {regex_funcs, sizeof(regex_funcs) / sizeof(regex_funcs[0])};
