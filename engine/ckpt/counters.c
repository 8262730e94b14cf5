#include "engine/ckpt/counters.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/ckpt/durable.h"

#define COUNTERS_TEXT_MAX 256u

static size_t counters_print(const struct counters *c, char text[COUNTERS_TEXT_MAX])
{
    int body = snprintf(text, COUNTERS_TEXT_MAX,
                        "streamrun counters 1\nattempt %" PRIu64 "\nnewest %" PRIu64
                        "\nbase %" PRIu64 "\n",
                        c->attempt, c->newest, c->base);
    sr_assert(body > 0);
    char digest[33];
    size_t len = (size_t)body;
    if (c->retired > 0) {
        int more =
            snprintf(text + len, COUNTERS_TEXT_MAX - len, "retired %" PRIu64 "\n", c->retired);
        sr_assert(more > 0);
        len += (size_t)more;
    }
    digest_text(digest_of(text, len), digest);
    int tail = snprintf(text + len, COUNTERS_TEXT_MAX - len, "digest %s\n", digest);
    sr_assert(tail > 0);
    len += (size_t)tail;
    sr_assert(len < COUNTERS_TEXT_MAX);
    return len;
}

/* Reads the number behind `word`, up to the end of its line. */
static bool counters_number(const char **at, const char *word, uint64_t *out)
{
    size_t n = strlen(word);
    if (strncmp(*at, word, n) != 0) {
        return false;
    }
    uint64_t v = 0;
    const char *c = *at + n;
    for (; *c >= '0' && *c <= '9'; c++) {
        if (__builtin_mul_overflow(v, 10u, &v) ||
            __builtin_add_overflow(v, (uint64_t)(*c - '0'), &v)) {
            return false;
        }
    }
    *at = c;
    *out = v;
    return true;
}

/* What is read must print to the same bytes again: that checks the digest and everything else. */
static bool counters_parse(const char *text, size_t len, struct counters *out)
{
    struct counters c = {0};
    const char *at = text;
    if (!counters_number(&at, "streamrun counters 1\nattempt ", &c.attempt) ||
        !counters_number(&at, "\nnewest ", &c.newest) ||
        !counters_number(&at, "\nbase ", &c.base)) {
        return false;
    }
    (void)counters_number(&at, "\nretired ", &c.retired); /* most have none */
    char again[COUNTERS_TEXT_MAX];
    size_t n = counters_print(&c, again);
    *out = c;
    return n == len && memcmp(again, text, n) == 0;
}

sr_rc counters_read(const struct env *env, const char *path, struct counters *out,
                    struct sr_error *err)
{
    struct durable_bytes text = {0};
    struct counters c = {0};
    struct arena *a = arena_new();
    if (!a) {
        return error_set(err, SR_ENOMEM, "read %s: out of memory", path);
    }
    sr_rc rc = durable_read(env, path, COUNTERS_TEXT_MAX, a, &text, err);
    if (rc == SR_OK && !counters_parse((const char *)text.data, text.len, &c)) {
        rc = SR_ECORRUPT;
    }
    if (rc == SR_ECORRUPT) {
        rc = error_set(err, SR_ECORRUPT,
                       "%s is damaged; if no other process runs this job, remove it: numbers then "
                       "go on from the checkpoints that are there",
                       path);
    }
    arena_free(a);
    if (rc == SR_OK || rc == SR_EABSENT) {
        *out = c;
        return SR_OK;
    }
    return rc;
}

sr_rc counters_write(const struct env *env, const char *tmp, const char *path,
                     const struct counters *c, struct sr_error *err)
{
    char text[COUNTERS_TEXT_MAX];
    size_t len = counters_print(c, text);
    return durable_replace_by(env, tmp, path, &(struct durable_bytes){(const uint8_t *)text, len},
                              err);
}
