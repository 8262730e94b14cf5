#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/bind/binder.h"

#define BIND_WORDS_MAX 600u

void bind_fault(struct binder *b, const struct job_text *t, uint32_t offset, const char *hint,
                const char *fmt, ...)
{
    char words[BIND_WORDS_MAX];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(words, sizeof(words), fmt, args);
    va_end(args);
    fault_add(b->faults, FAULT_ERROR, job_place(t, offset), hint, "%s", words);
}

void bind_fault_at(struct binder *b, struct place at, const char *hint, const char *fmt, ...)
{
    char words[BIND_WORDS_MAX];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(words, sizeof(words), fmt, args);
    va_end(args);
    fault_add(b->faults, FAULT_ERROR, at, hint, "%s", words);
}

bool bind_no_memory(struct binder *b)
{
    if (b->graph && b->graph->nodes == LOGIC_NODES_MAX) {
        bind_fault_at(b, (struct place){.file = b->job->file}, NULL,
                      "SR0705: the job has more than %u operators", LOGIC_NODES_MAX);
    } else {
        bind_fault_at(b, (struct place){0}, NULL, "out of memory");
    }
    return false;
}

struct place bind_connector_place(const struct job_step *step)
{
    return step->connector_at.line ? step->connector_at : step->name.at;
}

const struct ast *bind_parse(struct binder *b, enum parse_what what, const struct job_text *t)
{
    const struct ast *n = NULL;
    struct parse_fault f = {0};
    if (parse_sql(b->arena, what, t->text, t->len, &n, &f) != SR_OK) {
        bind_fault(b, t, f.at, f.hint, "SR0701: %s", f.words);
        return NULL;
    }
    return n;
}

void bind_no_frames(struct binder *b, const struct job_step *step, const char *connector)
{
    bind_fault_at(
        b, step->format_at,
        "use a connector of messages, or of bodies that are one record each, as http with "
        "`source.body: record` or `body: row`",
        "SR0608: records of format '%s' have no end of their own, and connector '%s' does "
        "not frame them",
        step->format->name, connector);
}
