#include "engine/plan/job.h"

#include <string.h>

#include "engine/base/assert.h"

static bool job_is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static struct place job_step_over(struct place at, char c)
{
    if (c == '\n') {
        at.line++;
        at.column = 1;
    } else {
        at.column++;
    }
    return at;
}

/* A text that YAML folded differs from its source in white space only, and in quotes that were
 * written twice: both are walked along side by side. */
static struct place job_place_folded(const struct job_text *t, uint32_t offset)
{
    struct place at = t->at;
    const char *raw = t->raw;

    for (uint32_t i = 0; i < offset && *raw; i++) {
        if (job_is_space(t->text[i])) {
            while (job_is_space(*raw)) {
                at = job_step_over(at, *raw++);
            }
            while (i + 1 < offset && job_is_space(t->text[i + 1])) {
                i++;
            }
            continue;
        }
        bool is_twice = t->text[i] == '\'' && raw[0] == '\'' && raw[1] == '\'' && t->is_quoted;
        at = job_step_over(at, *raw++);
        if (is_twice) {
            at = job_step_over(at, *raw++);
        }
    }
    return at;
}

struct place job_place(const struct job_text *t, uint32_t offset)
{
    struct place at = t->at;

    sr_assert(t);
    if (!t->text || at.line == 0 || at.column == 0) {
        return at;
    }
    offset = offset < t->len ? offset : t->len;
    if (t->raw) {
        return job_place_folded(t, offset);
    }
    for (uint32_t i = 0; i < offset; i++) {
        at = job_step_over(at, t->text[i]);
        if (t->text[i] == '\n') {
            at.column += t->indent;
        }
    }
    return at;
}
