/* Asks what a step of a job is connected to (streamrun/ask.h), and keeps the answer.
 */
#ifndef SR_CLI_ASK_H
#define SR_CLI_ASK_H

#include <jansson.h>
#include <streamrun/ask.h>

#include "cli/cli.h"
#include "engine/plan/plan.h"

#define ASK_US INT64_C(60000000) /* that a question may take */

struct ask_word {
    enum sr_level level;
    const char *text;
};

/* An answer; all of it lies in the command's arena. */
struct asked {
    uint32_t columns, rows, words; /* columns 0: no row came */
    struct sr_fact *fact;          /* rows x columns */
    struct ask_word *word;
    const char *fault; /* NULL: it was answered */
    uint32_t room, word_room;
};

/* Only where ask_can_* says so. Fill conf, schema, host, until_us and what takes
 * the answer; the rest of *a is the caller's. SR_ENOMEM. */
sr_rc ask_source(struct cli *c, const struct plan *p, const struct plan_node *n, struct sr_ask *a,
                 struct asked *out);
sr_rc ask_sink(struct cli *c, const struct plan *p, const struct plan_node *n, struct sr_ask *a,
               struct asked *out);
sr_rc ask_format(struct cli *c, const struct plan *p, const struct plan_node *n, bool is_key,
                 struct sr_ask *a, struct asked *out);
bool ask_can_source(const struct plan_node *n);
bool ask_can_sink(const struct plan_node *n);
bool ask_can_format(const struct plan_node *n, bool is_key);

/* By its name in a row; NULL: there is none. */
const struct sr_fact *asked_find(const struct asked *k, uint32_t row, const char *name);
/* As people read it: "-" for what is not known. */
const char *asked_text(struct arena *a, const struct sr_fact *f);
const char *asked_head(struct arena *a, const char *name); /* "max bytes" of "max_bytes" */
json_t *asked_row_json(const struct asked *k, uint32_t row);
/* To stdout; nothing without a row. */
void asked_table(const struct cli *c, const struct asked *k);
/* What was told, each on a line of its own, to people. */
void asked_tell(const struct cli *c, const char *step, const struct asked *k);
json_t *asked_words_json(const struct asked *k, enum sr_level least);

#endif
