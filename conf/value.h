/* One text into one value of an option's kind, with Flink's units; or why not.
 *
 * The option decides what a text means, never its looks: `no` is a text or a fault, never false;
 * `0644` is no number, because some read it as octal; integers never go through doubles.
 */
#ifndef SR_CONF_VALUE_H
#define SR_CONF_VALUE_H

#include <streamrun/opt.h>

struct value_fault {
    char words[320];
    const char *hint; /* constant; NULL: none */
};

/* Fills *field, of the option's C type, but for SR_OPT_LIST and SR_OPT_PAIRS, which take several
 * values (opts.c). SR_OPT_TEXT refers to `text`. `shown` stands for the text in words: the text
 * itself, or what may be shown instead. False: *f is filled, *field is not. */
bool value_parse(const struct sr_opt *o, const char *text, const char *shown, void *field,
                 struct value_fault *f);
/* Whether a choice, which may list synonyms behind |, means `text`: case does not count, and - is _
 * or nothing. */
bool value_is_choice(const char *choice, const char *text);

#endif
