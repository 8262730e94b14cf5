#include "cli/args.h"

#include <string.h>

#include "engine/base/error.h"
#include "engine/base/nearest.h"

static const struct args_option *args_find(const struct args_option *options, const char *name,
                                           size_t len)
{
    for (const struct args_option *o = options; o->name; o++) {
        if (strlen(o->name) == len && memcmp(o->name, name, len) == 0) return o;
        if (o->alias && strlen(o->alias) == len && memcmp(o->alias, name, len) == 0) return o;
    }
    return NULL;
}

static const struct args_option *args_find_letter(const struct args_option *options, char letter)
{
    for (const struct args_option *o = options; o->name; o++) {
        if (o->letter == letter) return o;
    }
    return NULL;
}

static sr_rc args_unknown(const struct args_option *options, const char *word, struct sr_error *err)
{
    const char *names[ARGS_MAX + 1];
    uint32_t n = 0;
    for (const struct args_option *o = options; o->name && n < ARGS_MAX; o++) {
        names[n++] = o->name;
    }
    names[n] = NULL;
    const char *near = nearest_word(word, names);
    if (near) {
        return error_set(err, SR_ECONFIG, "SR1101: unknown option '--%s'; did you mean '--%s'?",
                         word, near);
    }
    return error_set(err, SR_ECONFIG, "SR1101: unknown option '--%s'", word);
}

static sr_rc args_give(struct args *a, const struct args_option *o, const char *value,
                       struct sr_error *err)
{
    if (a->options >= ARGS_MAX) {
        return error_set(err, SR_ECONFIG, "more than %u options", ARGS_MAX);
    }
    if (value && !*value) { /* of a variable that is not set, most often */
        return error_set(err, SR_ECONFIG, "option '--%s' has an empty value: --%s %s", o->name,
                         o->name, o->value);
    }
    a->given[a->options].option = o;
    a->given[a->options].value = value;
    a->options++;
    return SR_OK;
}

/* One --name, --name=value or --name value; *i moves on when the value is the next word. */
static sr_rc args_long(struct args *a, const struct args_option *options, int argc, char **argv,
                       int *i, struct sr_error *err)
{
    const char *word = argv[*i] + 2;
    const char *equals = strchr(word, '=');
    size_t len = equals ? (size_t)(equals - word) : strlen(word);
    const struct args_option *o = args_find(options, word, len);
    if (!o) return args_unknown(options, word, err);
    if (!o->value) {
        if (equals) return error_set(err, SR_ECONFIG, "option '--%s' takes no value", o->name);
        return args_give(a, o, NULL, err);
    }
    if (equals) return args_give(a, o, equals + 1, err);
    if (*i + 1 >= argc) {
        return error_set(err, SR_ECONFIG, "option '--%s' needs a value: --%s %s", o->name, o->name,
                         o->value);
    }
    *i += 1;
    return args_give(a, o, argv[*i], err);
}

/* -s VALUE, -sVALUE, or switches in one word: -dn. */
static sr_rc args_short(struct args *a, const struct args_option *options, int argc, char **argv,
                        int *i, struct sr_error *err)
{
    for (const char *p = argv[*i] + 1; *p; p++) {
        const struct args_option *o = args_find_letter(options, *p);
        if (!o) {
            return error_set(err, SR_ECONFIG,
                             "SR1101: unknown option '-%c'; behind -- everything is taken as it is",
                             *p);
        }
        if (!o->value) {
            sr_rc rc = args_give(a, o, NULL, err);
            if (rc != SR_OK) return rc;
            continue;
        }
        if (p[1]) return args_give(a, o, p + 1, err);
        if (*i + 1 >= argc) {
            return error_set(err, SR_ECONFIG, "option '-%c' needs a value: -%c %s", *p, *p,
                             o->value);
        }
        *i += 1;
        return args_give(a, o, argv[*i], err);
    }
    return SR_OK;
}

/* Flink writes some long options with one dash: -savepointPath. */
static bool args_is_long(const struct args_option *options, const char *word)
{
    return word[0] == '-' && word[1] && word[1] != '-' && word[2] &&
           args_find(options, word + 1, strlen(word + 1)) != NULL;
}

/* `eval -1`: a minus in front of a digit is no option, as no option is a digit. */
static bool args_is_number(const struct args_option *options, const char *word)
{
    bool is_digit = word[1] >= '0' && word[1] <= '9';
    bool is_point = word[1] == '.' && word[2] >= '0' && word[2] <= '9';
    return (is_digit || is_point) && !args_find_letter(options, word[1]);
}

sr_rc args_parse(struct args *a, const struct args_option *options, int argc, char **argv,
                 struct sr_error *err)
{
    memset(a, 0, sizeof(*a));
    bool is_over = false; /* behind --, everything is a word */
    for (int i = 1; i < argc; i++) {
        char *word = argv[i];
        sr_rc rc = SR_OK;
        if (is_over || word[0] != '-' || !word[1] || args_is_number(options, word)) {
            if (a->words >= ARGS_MAX) {
                return error_set(err, SR_ECONFIG, "more than %u words", ARGS_MAX);
            }
            a->word[a->words++] = word;
        } else if (strcmp(word, "--") == 0) {
            is_over = true;
        } else if (word[1] == '-') {
            rc = args_long(a, options, argc, argv, &i, err);
        } else if (args_is_long(options, word)) {
            const struct args_option *o = args_find(options, word + 1, strlen(word + 1));
            if (o->value && i + 1 >= argc) {
                return error_set(err, SR_ECONFIG, "option '%s' needs a value", word);
            }
            rc = args_give(a, o, o->value ? argv[++i] : NULL, err);
        } else {
            rc = args_short(a, options, argc, argv, &i, err);
        }
        if (rc != SR_OK) return rc;
    }
    return SR_OK;
}

const char *args_each(const struct args *a, const char *name, uint32_t i)
{
    for (uint32_t k = 0; k < a->options; k++) {
        if (strcmp(a->given[k].option->name, name) == 0 && i-- == 0) {
            return a->given[k].value ? a->given[k].value : "";
        }
    }
    return NULL;
}

bool args_has(const struct args *a, const char *name) { return args_each(a, name, 0) != NULL; }

const char *args_value(const struct args *a, const char *name)
{
    const char *found = NULL;
    for (uint32_t i = 0;; i++) {
        const char *v = args_each(a, name, i);
        if (!v) return found;
        found = v;
    }
}
