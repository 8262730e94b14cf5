/* What keys there are, in any table: for `help KEY`, hints and `config`. */
#include <string.h>
#include <strings.h>

#include "conf/conf.h"
#include "conf/steps.h"
#include "engine/base/assert.h"
#include "engine/base/nearest.h"
#include "engine/plan/settings.h"

#define CATALOG_FIXED 6u

/* A table and how it is called. */
struct catalog_table {
    const struct sr_opt *opts;
    const char *title; /* "connector filesystem" */
    const char *strip; /* in front of its keys: the format's name */
};

static const char *const catalog_secrets[] = {"password", "passwd",     "secret",       "token",
                                              "jaas",     "api-key",    "api_key",      "apikey",
                                              "api.key",  "credential", "keystore.key", "key.pem"};

bool conf_is_secret_key(const char *key)
{
    for (size_t i = 0; i < sizeof(catalog_secrets) / sizeof(catalog_secrets[0]); i++) {
        if (strcasestr(key, catalog_secrets[i])) {
            return true;
        }
    }
    return false;
}

/* The i-th table: the job's keys, ours of the steps, then sources, sinks and formats. */
static bool catalog_table(const struct registry *r, uint32_t i, struct catalog_table *out)
{
    static const struct catalog_table fixed[CATALOG_FIXED] = {
        {settings_opts, "job", ""},
        {steps_source_opts, "source", ""},
        {steps_transform_opts, "transform", ""},
        {steps_sink_opts, "sink", ""},
        {steps_dead_letter_opts, "dead-letter", ""},
        {steps_keyed_opts, "source or sink of records with keys", ""},
    };
    static const enum registry_kind kinds[] = {REGISTRY_SOURCE, REGISTRY_SINK, REGISTRY_FORMAT};
    struct registry_item item;

    if (i < CATALOG_FIXED) {
        *out = fixed[i];
        return true;
    }
    i -= CATALOG_FIXED;
    for (size_t k = 0; r && k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        uint32_t n = 0;
        while (registry_item(r, kinds[k], n, &item)) {
            if (i-- == 0) {
                bool is_format = kinds[k] == REGISTRY_FORMAT;
                *out = (struct catalog_table){item.opts, item.title, is_format ? item.name : ""};
                return true;
            }
            n++;
        }
    }
    return false;
}

static bool catalog_is_key(const struct catalog_table *t, const struct sr_opt *o, const char *key)
{
    size_t strip = strlen(t->strip);
    if (strip > 0) {
        if (strncmp(key, t->strip, strip) != 0 || key[strip] != '.') {
            return false;
        }
        key += strip + 1;
    }
    if (strcmp(o->key, key) == 0) {
        return true;
    }
    if (o->kind == SR_OPT_PAIRS && strncmp(o->key, key, strlen(o->key)) == 0) {
        return true;
    }
    for (const char *const *a = o->aliases; a && *a; a++) {
        if (strcmp(*a, key) == 0) {
            return true;
        }
    }
    return false;
}

bool conf_option(const struct registry *r, const char *key, uint32_t i, const struct sr_opt **opt,
                 const char **where)
{
    struct catalog_table t;

    sr_assert(key && opt && where);
    for (uint32_t n = 0; catalog_table(r, n, &t); n++) {
        for (const struct sr_opt *o = t.opts; o && o->key; o++) {
            if (!catalog_is_key(&t, o, key) || i-- > 0) {
                continue;
            }
            *opt = o;
            *where = t.title;
            return true;
        }
    }
    return false;
}

bool conf_key(const struct registry *r, struct arena *a, uint32_t i, const char **key,
              const struct sr_opt **opt)
{
    struct catalog_table t;

    for (uint32_t n = 0; catalog_table(r, n, &t); n++) {
        for (const struct sr_opt *o = t.opts; o && o->key; o++) {
            if (i-- > 0) {
                continue;
            }
            const char *full = *t.strip ? arena_printf(a, "%s.%s", t.strip, o->key) : o->key;
            *key = full ? full : "";
            *opt = o;
            return true;
        }
    }
    return false;
}

/* Counts, then collects, all keys as a user writes them. */
static uint32_t catalog_keys(const struct registry *r, struct arena *a, const char **out)
{
    struct catalog_table t;
    uint32_t count = 0;

    for (uint32_t n = 0; catalog_table(r, n, &t); n++) {
        for (const struct sr_opt *o = t.opts; o && o->key; o++) {
            if (out) {
                const char *key = *t.strip ? arena_printf(a, "%s.%s", t.strip, o->key) : o->key;
                out[count] = key ? key : "";
            }
            count++;
        }
    }
    return count;
}

const char *conf_nearest_key(const struct registry *r, struct arena *a, const char *key)
{
    uint32_t count = catalog_keys(r, a, NULL);
    const char **all = arena_array(a, count + 1u, sizeof(*all));

    if (!all) {
        return NULL;
    }
    (void)catalog_keys(r, a, all);
    return nearest_word(key, all);
}

uint32_t conf_values(const struct job *job, struct arena *a, const struct conf_value **out)
{
    (void)a; /* they were made when the job was read */
    *out = job->value;
    return job->values;
}
