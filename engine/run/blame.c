/* Records that are to blame when the job fails, or the process dies: what the supervisor does about
 * them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/run/crumbs.h"
#include "engine/run/supervise_inner.h"

static bool blame_is_on(const struct supervise *s)
{
    return s->plan->job->settings.poison_failures > 0;
}

/* "record 57 of /data/in.csv (source 'events')" */
static void blame_words(const struct poison_record *r, char *out, size_t size)
{
    (void)snprintf(out, size, "the record at offset %lld of %s (source '%s')", (long long)r->from,
                   r->split, r->source);
}

/* Those that are proven go to the dead letters from now on. */
static sr_rc blame_condemn(struct supervise *s, struct sr_error *err)
{
    const struct poison_record *r = poison_proven(&s->poison);
    if (!r) return SR_OK;
    char record[512];
    blame_words(r, record, sizeof(record));
    env_log(
        s->env, SR_WARN, r->step,
        "%s failed the job %u times in a row (poison.max-failures): it goes to the dead letters",
        record, r->failures);
    return poison_condemn(&s->poison, err);
}

sr_rc blame_open(struct supervise *s, struct sr_error *err)
{
    if (s->has_poison) return SR_OK;
    int64_t max = s->plan->job->settings.poison_failures;
    sr_rc rc = poison_open(&s->poison, s->env, s->conf.poison_path, (uint32_t)max, err);
    if (rc != SR_OK) return rc;
    s->has_poison = true;
    if (s->conf.crumbs) rc = crumbs_take(s->conf.crumbs, &s->poison, err);
    if (s->conf.crumbs) crumbs_begin(s->conf.crumbs);
    if (rc != SR_OK || !blame_is_on(s)) return rc;
    if (s->plan->dead_letter) return blame_condemn(s, err);
    const struct poison_record *r = poison_proven(&s->poison);
    if (!r || !r->is_crash) return SR_OK; /* it is tried once more */
    char record[512];
    blame_words(r, record, sizeof(record));
    (void)error_set(
        err, SR_ECONFIG,
        "%s killed the process %u times in a row (poison.max-failures), in step '%s'; a "
        "`dead-letter:` block would set it aside; the next run tries it again",
        record, r->failures, r->step);
    struct sr_error ignored; /* then the next run says this again */
    (void)poison_forgive(&s->poison, &ignored);
    return err->rc;
}

static sr_rc blame_one(struct supervise *s, const struct culprit *c, struct sr_error *err)
{
    struct poison_record one = {.source = strdup(c->source->uid),
                                .split = c->split,
                                .step = strdup(c->node->step),
                                .words = c->words,
                                .from = c->offset,
                                .to = c->offset};
    sr_rc rc = one.source && one.step ? poison_failed(&s->poison, &one, 1, err)
                                      : error_set(err, SR_ENOMEM, "poison: out of memory");
    free(one.source);
    free(one.step);
    return rc;
}

enum blame blame_failure(struct supervise *s, const struct report *r, struct sr_error *err)
{
    const struct culprit *c = &r->culprit;
    *err = r->error;
    if (r->is_final) return BLAME_FINAL;
    if (!c->source || !blame_is_on(s)) return BLAME_NOBODY;
    struct sr_error why = {.rc = SR_OK};
    sr_rc rc = blame_one(s, c, &why);
    const struct poison_record *proven = rc == SR_OK ? poison_proven(&s->poison) : NULL;
    if (rc != SR_OK) env_log(s->env, SR_WARN, "poison", "%s", why.words);
    if (!proven) return BLAME_NOBODY;
    uint32_t failures = proven->failures;
    if (s->plan->dead_letter) {
        rc = blame_condemn(s, &why);
        if (rc == SR_OK) return BLAME_SET_ASIDE;
        env_log(s->env, SR_WARN, "poison", "%s", why.words);
    }
    (void)error_wrap(err, "a record failed the job %u times in a row (poison.max-failures)",
                     failures);
    return BLAME_FINAL;
}

void blame_close(struct supervise *s)
{
    if (!s->has_poison) return;
    if (s->end == RUN_FINISHED) poison_forget(&s->poison);
    poison_close(&s->poison);
    if (s->conf.crumbs) crumbs_end(s->conf.crumbs);
    s->has_poison = false;
}
