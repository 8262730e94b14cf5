#define PCRE2_CODE_UNIT_WIDTH 8
#include "connectors/json/cdc_filter.h"

#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>

#define CDC_FILTER_STEPS_MAX 100000u /* of one match */

struct cdc_filter {
    pcre2_code *code;
    pcre2_match_data *match;
    pcre2_match_context *limits;
};

struct cdc_filter *cdc_filter_new(const char *pattern, char words[128])
{
    struct cdc_filter *f = calloc(1, sizeof(*f));
    int code = 0;
    PCRE2_SIZE at = 0;
    (void)snprintf(words, 128, "out of memory");
    if (!f) {
        return NULL;
    }
    f->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
                            PCRE2_UTF | PCRE2_ANCHORED | PCRE2_ENDANCHORED, &code, &at, NULL);
    if (!f->code) {
        PCRE2_UCHAR text[90];
        (void)pcre2_get_error_message(code, text, sizeof(text));
        (void)snprintf(words, 128, "at character %u: %s", (unsigned)at, (const char *)text);
    } else {
        f->match = pcre2_match_data_create(1, NULL);
        f->limits = pcre2_match_context_create(NULL);
    }
    if (!f->match || !f->limits) {
        cdc_filter_free(f);
        return NULL;
    }
    (void)pcre2_set_match_limit(f->limits, CDC_FILTER_STEPS_MAX);
    return f;
}

void cdc_filter_free(struct cdc_filter *f)
{
    if (f) {
        pcre2_match_context_free(f->limits);
        pcre2_match_data_free(f->match);
        pcre2_code_free(f->code);
    }
    free(f);
}

bool cdc_filter_takes(struct cdc_filter *f, const char *name, uint32_t len)
{
    return pcre2_match(f->code, (PCRE2_SPTR)name, len, 0, 0, f->match, f->limits) >= 0;
}
