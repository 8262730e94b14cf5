/* Entries into a struct, by an option table: parsed, ranges checked, defaults filled in.
 */
#ifndef SR_CONF_OPTS_H
#define SR_CONF_OPTS_H

#include "conf/reader.h"

/* A flag of ours in a table: the value is read elsewhere, with its places (texts.c). */
#define OPTS_TEXT (1u << 31)

/* Which keys a table stands for, and who is asked for what is missing. */
struct opts_scope {
    struct reader *rd;
    const char *prefix; /* of all keys of the step: "sources.hits."; "" for the job's keys */
    const char *strip;  /* of the format's keys: "csv."; else "" */
    const char *what;   /* "connector 'filesystem'" */
    struct place at;    /* where a missing option is faulted */
};

/* Words to look for the nearest one among; grows in the arena. */
struct opts_words {
    const char **item; /* ends with NULL */
    uint32_t count, space;
};

/* Fills `conf` (zeroed, of the table's struct); marks entries as used. Faults go to the reader. */
void opts_fill(const struct opts_scope *s, const struct sr_opt *opts, void *conf);
void opts_add_word(struct reader *rd, struct opts_words *w, const char *word);
/* The keys of a table, each behind `strip`. */
void opts_add_words(struct reader *rd, struct opts_words *w, const struct sr_opt *opts,
                    const char *strip);
/* An entry that nobody took; `rest` is its key without the scope's prefix. */
void opts_fault_unknown(struct reader *rd, struct entry *e, const char *rest,
                        const struct opts_words *known, const char *where);
/* Remembers a key for `streamrun config`. */
void opts_report(struct reader *rd, const char *key, const char *value, const char *origin,
                 const char *note);

#endif
