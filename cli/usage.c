#include "cli/usage.h"

#include <string.h>

const struct args_option *usage_option(const struct command *k, const char *word)
{
    if (word[0] != '-' || !word[1]) return NULL;
    const char *name = word + (word[1] == '-' ? 2 : 1);
    size_t len = strcspn(name, "=");
    for (const struct args_option *o = k->options; o->name; o++) {
        bool is_long = strlen(o->name) == len && memcmp(o->name, name, len) == 0;
        bool is_alias = o->alias && strlen(o->alias) == len && memcmp(o->alias, name, len) == 0;
        bool is_short = word[1] != '-' && !word[2] && o->letter == word[1];
        if (is_long || is_alias || is_short) return o;
    }
    return NULL;
}

/* The next token: a word without brackets and quotes, or "|". *has_dots: ... follow it. NULL: end.
 */
static const char *usage_token(struct arena *a, const char **at, bool *has_dots)
{
    const char *s = *at + strspn(*at, " []'.");
    if (!*s) return NULL;
    size_t len = *s == '|' ? 1 : strcspn(s, " []'|");
    *has_dots = false;
    for (size_t i = 0; i + 2 < len; i++) {
        if (memcmp(s + i, "...", 3) == 0) {
            *has_dots = true;
            *at = s + len;
            return arena_text_n(a, s, i);
        }
    }
    *at = s + len;
    *has_dots = strncmp(*at + strspn(*at, "]'"), "...", 3) == 0;
    return arena_text_n(a, s, len);
}

uint32_t usage_words(struct arena *a, const struct command *k, uint32_t position,
                     const char *word[USAGE_WORDS_MAX])
{
    const char *at = k->usage, *token;
    uint32_t now = 0, count = 0;
    bool has_word = false, is_other = false, has_dots = false, is_value = false;
    while ((token = usage_token(a, &at, &has_dots)) != NULL) {
        if (strcmp(token, "|") == 0) {
            is_other = true;
            continue;
        }
        const struct args_option *o = usage_option(k, token);
        if (o || is_value) {
            is_value = o && o->value && !strchr(token, '=');
            is_other = false;
            continue;
        }
        if (has_word && !is_other) now++;
        has_word = true;
        is_other = false;
        if (now == position || (has_dots && now < position)) {
            if (now < position) count = 0;
            if (count < USAGE_WORDS_MAX) word[count++] = token;
        }
    }
    return count;
}
