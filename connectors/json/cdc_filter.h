/* A regular expression that a whole name must match: Java's find their way into PCRE2's. */
#ifndef SR_JSON_CDC_FILTER_H
#define SR_JSON_CDC_FILTER_H

#include <stdbool.h>
#include <stdint.h>

struct cdc_filter;

/* NULL: not a regular expression (words says why), or out of memory. */
struct cdc_filter *cdc_filter_new(const char *pattern, char words[128]);
void cdc_filter_free(struct cdc_filter *f); /* NULL allowed */
/* A name that takes too much work to match does not. */
bool cdc_filter_takes(struct cdc_filter *f, const char *name, uint32_t len);

#endif
