#define PCRE2_CODE_UNIT_WIDTH 8
#include "engine/expr/regex.h"

#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REGEX_MATCH_LIMIT 2000000u /* steps of one match */
#define REGEX_DEPTH_LIMIT 100000u
#define REGEX_HEAP_LIMIT  20000u /* KiB */
#define REGEX_STACK_MIN   ((size_t)32 << 10)
#define REGEX_STACK_MAX   ((size_t)1 << 20)

struct regex {
    pcre2_code *code; /* NULL: no pattern, or a bad one */
    pcre2_match_data *match;
    pcre2_compile_context *rules; /* how lines end */
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
    char *pattern;
    uint32_t pattern_len;
    bool is_set;  /* the pattern was compiled, or found bad */
    bool has_jit; /* else matching is only slower */
    uint32_t groups;
    const PCRE2_SIZE *place; /* of what was found: pairs, `places` of them */
    uint32_t places;
    char why[160];
};

struct regex *regex_new(void)
{
    struct regex *r = calloc(1, sizeof(*r));
    if (!r) {
        return NULL;
    }
    r->rules = pcre2_compile_context_create(NULL);
    r->context = pcre2_match_context_create(NULL);
    r->stack = pcre2_jit_stack_create(REGEX_STACK_MIN, REGEX_STACK_MAX, NULL);
    if (!r->rules || !r->context || !r->stack) {
        regex_free(r);
        return NULL;
    }
    /* As in Java, \r ends a line too: a dot does not match it, and $ stands in front of it. */
    (void)pcre2_set_newline(r->rules, PCRE2_NEWLINE_ANYCRLF);
    (void)pcre2_set_match_limit(r->context, REGEX_MATCH_LIMIT);
    (void)pcre2_set_depth_limit(r->context, REGEX_DEPTH_LIMIT);
    (void)pcre2_set_heap_limit(r->context, REGEX_HEAP_LIMIT);
    pcre2_jit_stack_assign(r->context, NULL, r->stack);
    return r;
}

void regex_free(struct regex *r)
{
    if (!r) {
        return;
    }
    pcre2_code_free(r->code);
    pcre2_match_data_free(r->match);
    pcre2_compile_context_free(r->rules);
    pcre2_match_context_free(r->context);
    pcre2_jit_stack_free(r->stack);
    free(r->pattern);
    free(r);
}

static enum regex_used regex_compile(struct regex *r)
{
    int number;
    PCRE2_SIZE at;
    /* MATCH_INVALID_UTF: text that is no UTF-8 matches nothing there, instead of being refused. */
    r->code = pcre2_compile((PCRE2_SPTR)r->pattern, r->pattern_len,
                            PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C, &number,
                            &at, r->rules);
    if (!r->code && number == PCRE2_ERROR_HEAP_FAILED) {
        return REGEX_NO_MEMORY;
    }
    if (!r->code) {
        PCRE2_UCHAR text[120];
        (void)pcre2_get_error_message(number, text, sizeof(text));
        (void)snprintf(r->why, sizeof(r->why), "%s at character %zu", (const char *)text, at);
        return REGEX_BAD;
    }
    r->has_jit = pcre2_jit_compile(r->code, PCRE2_JIT_COMPLETE) == 0;
    (void)pcre2_pattern_info(r->code, PCRE2_INFO_CAPTURECOUNT, &r->groups);
    r->match = pcre2_match_data_create_from_pattern(r->code, NULL);
    if (!r->match) {
        return REGEX_NO_MEMORY;
    }
    r->place = pcre2_get_ovector_pointer(r->match);
    r->places = pcre2_get_ovector_count(r->match);
    return REGEX_GOOD;
}

enum regex_used regex_use(struct regex *r, const char *pattern, uint32_t len)
{
    if (r->is_set && r->pattern_len == len && memcmp(r->pattern, pattern, len) == 0) {
        return r->code ? REGEX_GOOD : REGEX_BAD;
    }
    char *copy = malloc((size_t)len + 1);
    if (!copy) {
        return REGEX_NO_MEMORY;
    }
    memcpy(copy, pattern, len);
    copy[len] = '\0';
    pcre2_code_free(r->code);
    pcre2_match_data_free(r->match);
    free(r->pattern);
    r->code = NULL;
    r->match = NULL;
    r->pattern = copy;
    r->pattern_len = len;
    enum regex_used used = regex_compile(r);
    r->is_set = used != REGEX_NO_MEMORY; /* else the next row tries again */
    return used;
}

const char *regex_why(const struct regex *r) { return r->why; }

bool regex_is_ready(const struct regex *r) { return r->is_set && r->code; }

uint32_t regex_groups(const struct regex *r) { return r->groups; }

enum regex_found regex_find(struct regex *r, const char *s, uint32_t len, uint32_t from)
{
    /* The JIT's code checks UTF-8 as it goes (MATCH_INVALID_UTF), so it may be called at once. */
    int n = r->has_jit ? pcre2_jit_match(r->code, (PCRE2_SPTR)s, len, from, 0, r->match, r->context)
                       : pcre2_match(r->code, (PCRE2_SPTR)s, len, from, 0, r->match, r->context);
    return n >= 0                      ? REGEX_YES
           : n == PCRE2_ERROR_NOMATCH  ? REGEX_NO
           : n == PCRE2_ERROR_NOMEMORY ? REGEX_OUT_OF_MEMORY
                                       : REGEX_GAVE_UP;
}

bool regex_group(const struct regex *r, uint32_t i, uint32_t *from, uint32_t *to)
{
    const PCRE2_SIZE *at = r->place;
    if (i >= r->places || at[(size_t)2 * i] == PCRE2_UNSET) {
        return false;
    }
    *from = (uint32_t)at[(size_t)2 * i];
    *to = (uint32_t)at[(size_t)2 * i + 1];
    return *from <= *to; /* \K may turn them round */
}

enum regex_found regex_find_group(struct regex *r, const char *s, uint32_t len, uint32_t i,
                                  uint32_t *from, uint32_t *to)
{
    enum regex_found found = regex_find(r, s, len, 0);
    return found == REGEX_YES && !regex_group(r, i, from, to) ? REGEX_NO : found;
}
