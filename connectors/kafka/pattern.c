#include "connectors/kafka/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>

struct pattern {
    pcre2_code *code;
    pcre2_match_data *match;
};

static pcre2_code *pattern_compile(const char *text, int *number, size_t *at)
{
    return pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
                         PCRE2_ANCHORED | PCRE2_ENDANCHORED, number, at, NULL);
}

sr_rc pattern_check(const char *text, struct sr_error *err)
{
    int number = 0;
    size_t at = 0;
    PCRE2_UCHAR words[128] = "";
    pcre2_code *code = pattern_compile(text, &number, &at);
    if (!code) {
        (void)pcre2_get_error_message(number, words, sizeof(words)); /* cut */
        return props_fail(err, SR_ECONFIG, "topic-pattern: %s, at character %zu",
                          (const char *)words, at + 1);
    }
    pcre2_code_free(code);
    return SR_OK;
}

struct pattern *pattern_new(const char *text)
{
    int number = 0;
    size_t at = 0;
    struct pattern *p = calloc(1, sizeof(*p));
    if (!p) {
        return NULL;
    }
    p->code = pattern_compile(text, &number, &at);
    p->match = p->code ? pcre2_match_data_create_from_pattern(p->code, NULL) : NULL;
    if (!p->match) {
        pattern_free(p);
        return NULL;
    }
    return p;
}

bool pattern_matches(const struct pattern *p, const char *name, size_t len)
{
    return pcre2_match(p->code, (PCRE2_SPTR)name, len, 0, 0, p->match, NULL) >= 0;
}

void pattern_free(struct pattern *p)
{
    if (p) {
        pcre2_match_data_free(p->match);
        pcre2_code_free(p->code);
        free(p);
    }
}
