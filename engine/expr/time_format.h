/* Patterns of Java's DateTimeFormatter: yyyy-MM-dd HH:mm:ss.SSS and what else DATE_FORMAT and
 * TO_TIMESTAMP are given. Writing is in English, as Flink's locale en_US. */
#ifndef SR_EXPR_TIME_FORMAT_H
#define SR_EXPR_TIME_FORMAT_H

#include "engine/expr/kernel.h"

struct time_format;

#define TIME_FORMAT_MAX 512u /* bytes that writing makes at most */

/* A state of kernels whose argument 1 is the pattern. */
sr_rc time_format_prepare(const struct expr *e, void **state, struct sr_error *err);
void time_format_release(void *state);
/* Makes argument i of row r the pattern, unless it is already. False: it is none. */
bool time_format_use(struct call *k, uint32_t i, uint32_t r);
const char *time_format_source(const struct time_format *f); /* the pattern, cut */
/* False: the time lacks what the pattern asks for (a zone); *why says it. */
bool time_format_write(const struct time_format *f, struct sr_instant v, char *to, uint32_t *len,
                       const char **why);
/* Missing parts are those of 1970-01-01 00:00:00. What does not fit the pattern may still be
 * "yyyy-M-d[ H:m:s[.f]]", as Flink has it. */
bool time_format_parse(const struct time_format *f, const char *s, uint32_t len,
                       struct sr_instant *out);

#endif
