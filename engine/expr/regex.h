/* Regular expressions of Java's kind by PCRE2 with its JIT: compiled once a program when the
 * pattern is constant, else once for each run of rows with the same pattern.
 *
 * Matching is bounded: a pattern that would try too long (catastrophic backtracking) stops, and
 * the row fails. */
#ifndef SR_EXPR_REGEX_H
#define SR_EXPR_REGEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct regex;

enum regex_found { REGEX_NO, REGEX_YES, REGEX_GAVE_UP, REGEX_OUT_OF_MEMORY };

struct regex *regex_new(void);    /* with no pattern yet; NULL: out of memory */
void regex_free(struct regex *r); /* NULL allowed */
enum regex_used { REGEX_GOOD, REGEX_BAD, REGEX_NO_MEMORY };
/* Makes this the pattern; nothing is done when it is already. REGEX_BAD: it is no regular
 * expression. */
enum regex_used regex_use(struct regex *r, const char *pattern, uint32_t len);
/* Whether there is a pattern, and a good one. */
bool regex_is_ready(const struct regex *r);
const char *regex_why(const struct regex *r); /* of REGEX_BAD; good until the next regex_use */
uint32_t regex_groups(const struct regex *r);
/* Looks for it in s[from, len). */
enum regex_found regex_find(struct regex *r, const char *s, uint32_t len, uint32_t from);
/* Group i (0: all) of the last find: false when it took no part. */
bool regex_group(const struct regex *r, uint32_t i, uint32_t *from, uint32_t *to);
/* Both at once, from the text's beginning; REGEX_NO as well when the group took no part. */
enum regex_found regex_find_group(struct regex *r, const char *s, uint32_t len, uint32_t i,
                                  uint32_t *from, uint32_t *to);

#endif
