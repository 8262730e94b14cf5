#include "connectors/filesystem/fs_regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fs_regex {
    pcre2_code *code;
    pcre2_match_data *match;
};

void fs_regex_free(struct fs_regex *r)
{
    if (r) {
        pcre2_match_data_free(r->match);
        pcre2_code_free(r->code);
        free(r);
    }
}

struct fs_regex *fs_regex_new(const char *pattern, char *why, size_t room)
{
    int number = 0;
    PCRE2_SIZE at = 0;
    struct fs_regex *r = calloc(1, sizeof(*r));
    if (r) {
        r->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
                                PCRE2_ANCHORED | PCRE2_ENDANCHORED, &number, &at, NULL);
    }
    if (r && r->code) {
        r->match = pcre2_match_data_create_from_pattern(r->code, NULL);
    }
    if (r && r->match) {
        return r;
    }
    PCRE2_UCHAR words[128] = "out of memory";
    if (number != 0 && r && !r->code) {
        (void)pcre2_get_error_message(number, words, sizeof(words));
    }
    (void)snprintf(why, room, "%s, at character %zu", (const char *)words, (size_t)at + 1);
    fs_regex_free(r);
    return NULL;
}

sr_rc fs_regex_filter(const struct fs_regex *r, struct fs_list *l)
{
    uint32_t kept = 0;
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; i < l->count; i++) {
        struct fs_found file = l->item[i];
        int code =
            pcre2_match(r->code, (PCRE2_SPTR)file.path, strlen(file.path), 0, 0, r->match, NULL);
        if (code < 0 && code != PCRE2_ERROR_NOMATCH) {
            rc = SR_ELIMIT;
        }
        if (code >= 0) {
            l->item[kept++] = file;
        } else {
            free(file.path);
        }
    }
    l->count = kept;
    return rc;
}
