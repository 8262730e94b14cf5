#include "connectors/kafka/jaas.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *jaas_skip(const char *s)
{
    while (isspace((unsigned char)*s)) {
        s++;
    }
    return s;
}

/* A backslash in quotes, as Java's tokenizer knows it. */
static char jaas_escaped(char c)
{
    switch (c) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'r':
        return '\r';
    default:
        return c;
    }
}

/* The word at *s, its quotes and backslashes gone, into *to, which moves behind its end. NULL: it
 * has no end. */
static const char *jaas_word(const char **s, char **to)
{
    const char *word = *to, *from = *s;
    char quote = '\0';
    if (*from == '"' || *from == '\'') {
        quote = *from++;
    }
    while (*from &&
           (quote ? *from != quote : !isspace((unsigned char)*from) && !strchr("=;", *from))) {
        if (quote && *from == '\\' && from[1]) {
            from++;
            char escaped = *from++;
            *(*to)++ = jaas_escaped(escaped);
        } else {
            *(*to)++ = *from++;
        }
    }
    if (quote && *from != quote) {
        return NULL;
    }
    *(*to)++ = '\0';
    *s = quote ? from + 1 : from;
    return word;
}

static bool jaas_is_flag(const char *word)
{
    static const char *const flags[] = {"required", "requisite", "sufficient", "optional"};
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (strcasecmp(word, flags[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Behind the control flag: key=value, up to the semicolon. */
static const char *jaas_options(struct jaas *j, const char *s, char *to)
{
    for (s = jaas_skip(s); *s && *s != ';'; s = jaas_skip(s)) {
        if (j->options == JAAS_OPTIONS_MAX) {
            return "it has more than 32 options";
        }
        const char *key = jaas_word(&s, &to);
        s = jaas_skip(s);
        if (!key || !*key || *s != '=') {
            return "an option is not written key=\"value\"";
        }
        s = jaas_skip(s + 1);
        const char *value = jaas_word(&s, &to);
        if (!value) {
            return "the closing quote of a value is not there";
        }
        j->key[j->options] = key;
        j->value[j->options++] = value;
    }
    if (*s != ';') {
        return "the semicolon at its end is not there";
    }
    return *jaas_skip(s + 1) ? "there is something behind its semicolon" : NULL;
}

const char *jaas_read(struct jaas *j, const char *text)
{
    *j = (struct jaas){.text = NULL};
    size_t len = strlen(text);
    if (len > JAAS_TEXT_MAX) {
        return "it is longer than 4096 bytes";
    }
    /* Each word loses what separates it and gains a \0: twice the length is enough. */
    j->size_bytes = 2 * (len + 1);
    char *to = j->text = calloc(1, j->size_bytes);
    if (!to) {
        return "out of memory";
    }
    const char *s = jaas_skip(text);
    const char *module = jaas_word(&s, &to);
    s = jaas_skip(s);
    const char *flag = module ? jaas_word(&s, &to) : NULL;
    if (!module || !flag || !jaas_is_flag(flag)) {
        return "it does not begin with the name of a login module and `required`";
    }
    const char *dot = strrchr(module, '.');
    j->module = dot ? dot + 1 : module;
    return jaas_options(j, s, to);
}

const char *jaas_find(const struct jaas *j, const char *key)
{
    for (uint32_t i = 0; i < j->options; i++) {
        if (strcmp(j->key[i], key) == 0) {
            return j->value[i];
        }
    }
    return NULL;
}

void jaas_done(struct jaas *j)
{
    if (j->text) {
        explicit_bzero(j->text, j->size_bytes);
    }
    free(j->text);
    *j = (struct jaas){.text = NULL};
}
