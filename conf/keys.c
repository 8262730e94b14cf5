#include "conf/keys.h"

#include <string.h>
#include <strings.h>

#include "conf/opts.h"
#include "conf/value.h"
#include "conf/vars.h"
#include "engine/base/assert.h"
#include "engine/base/hash.h"
#include "engine/base/nearest.h"
#include "engine/base/zone.h"

#define KEYS_NAME_MAX  255u
#define KEYS_NAMED_MAX 8u /* keys that a notice names */
#define KEYS_DEFAULT   "job"

/* Flink takes 0 for `no periodic checkpoints`, which here is the key not written. */
static void keys_drop_zero_interval(struct reader *rd)
{
    static const struct sr_opt any = {
        .key = "interval", .offset = 0, .kind = SR_OPT_DURATION, .min = 0, .max = 0};
    struct entry *e = entries_find(&rd->entries, "execution.checkpointing.interval");
    struct value_fault f;
    sr_duration d;

    if (!e || e->value->kind != NODE_SCALAR) {
        return;
    }
    const char *text = vars_expand(rd, e->value, e->dir);
    if (!e->value->has_fault && value_parse(&any, text, text, &d, &f) && d.us == 0) {
        e->is_used = true;
        e->is_off = true;
    }
}

static const char *keys_stem(struct reader *rd, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    size_t len = dot && dot > base ? (size_t)(dot - base) : strlen(base);
    return len ? arena_text_n(rd->arena, base, len) : KEYS_DEFAULT;
}

static struct place keys_place(const struct reader *rd, const char *key)
{
    const struct entry *e = entries_find(&rd->entries, key);
    return e ? e->value->at : (struct place){rd->in->path, 0, 0};
}

static void keys_name(struct reader *rd, struct job *job)
{
    const char *name = job->settings.name;

    if (!name) {
        name = rd->job_file ? keys_stem(rd, rd->job_file) : KEYS_DEFAULT;
        name = name ? name : KEYS_DEFAULT;
        job->settings.name = name;
        opts_report(rd, "pipeline.name", name, "default", NULL);
    }
    job->name = name;
    size_t len = strlen(name);
    bool is_good = len > 0 && len <= KEYS_NAME_MAX;
    for (size_t i = 0; i < len; i++) {
        is_good = is_good && (unsigned char)name[i] >= ' ' && name[i] != 0x7f;
    }
    if (!is_good) {
        reader_fault(rd, keys_place(rd, "pipeline.name"), NULL,
                     "SR0208: the job's name has 1 to %u bytes and no control characters",
                     KEYS_NAME_MAX);
    }
}

static void keys_id(struct reader *rd, struct job *job)
{
    const char *id = job->settings.id;

    if (!id) {
        digest_text(digest_of(job->name, strlen(job->name)), job->id);
        job->settings.id = arena_text(rd->arena, job->id);
        return;
    }
    if (strlen(id) != 32 || strspn(id, "0123456789abcdefABCDEF") != 32) {
        reader_fault(rd, keys_place(rd, "pipeline.fixed-job-id"), NULL,
                     "SR0208: a job id is 32 hexadecimal digits");
        id = "00000000000000000000000000000000";
    }
    for (uint32_t i = 0; i < 32; i++) { /* Flink shows ids in lower case */
        job->id[i] = id[i];
        if (id[i] >= 'A' && id[i] <= 'F') {
            job->id[i] = (char)(id[i] - 'A' + 'a');
        }
    }
    job->settings.id = arena_text(rd->arena, job->id);
}

/* Other names of UTC become that one. */
static void keys_zone(struct reader *rd, struct settings *s)
{
    struct zone *zone = NULL;
    struct sr_error err = {0};

    if (s->time_zone && zone_load(s->time_zone, &zone, &err) != SR_OK) {
        reader_fault(rd, keys_place(rd, "table.local-time-zone"), NULL, "SR0213: %s", err.words);
    }
    s->time_zone = zone ? s->time_zone : "UTC";
    zone_free(zone);
}

/* A place on another machine is refused before anything starts. */
static void keys_check_place(struct reader *rd, const char *key, const char *place)
{
    const char *scheme = place ? strstr(place, "://") : NULL;

    if (scheme && strncmp(place, "file://", 7) != 0 && strncmp(place, "sqlite://", 9) != 0) {
        reader_fault(rd, keys_place(rd, key), "file:///directory, sqlite:///file.db, or a path",
                     "SR0207: places such as %.*s:// are not there yet", (int)(scheme - place),
                     place);
    } else if (scheme && scheme[3] != '/') {
        reader_fault(rd, keys_place(rd, key), "file:///directory, sqlite:///file.db, or a path",
                     "SR0209: %s: no absolute path follows '%.*s://'", key, (int)(scheme - place),
                     place);
    }
}

/* What no range of one key can say. */
static void keys_check(struct reader *rd, const struct settings *s)
{
    keys_check_place(rd, "execution.checkpointing.dir", s->dir);
    keys_check_place(rd, "execution.checkpointing.savepoint-dir", s->savepoint_dir);
    if (s->parallelism > s->max_parallelism) {
        const char *key = entries_find(&rd->entries, "parallelism.default")
                              ? "parallelism.default"
                              : "pipeline.max-parallelism";
        reader_fault(rd, keys_place(rd, key), NULL,
                     "SR0210: parallelism.default (%lld) is above pipeline.max-parallelism (%lld)",
                     (long long)s->parallelism, (long long)s->max_parallelism);
    }
    if (s->backlog_interval.us > 0 && s->backlog_interval.us < s->interval.us) {
        reader_fault(rd, keys_place(rd, "execution.checkpointing.interval-during-backlog"),
                     "0: no checkpoints during a backlog; or the interval, or more",
                     "SR0210: interval-during-backlog (%lld ms) is below "
                     "execution.checkpointing.interval (%lld ms)",
                     (long long)s->backlog_interval.us / 1000, (long long)s->interval.us / 1000);
    }
    if (s->exp_initial.us > s->exp_max.us) {
        const char *key = "restart-strategy.exponential-delay.initial-backoff";
        if (!entries_find(&rd->entries, key)) {
            key = "restart-strategy.exponential-delay.max-backoff";
        }
        reader_fault(rd, keys_place(rd, key), NULL,
                     "SR0210: initial-backoff (%lld ms) is above max-backoff (%lld ms)",
                     (long long)s->exp_initial.us / 1000, (long long)s->exp_max.us / 1000);
    }
}

void keys_read(struct reader *rd, struct job *job)
{
    struct opts_scope scope = {rd, "", "", "the job", {rd->in->path, 0, 0}};

    keys_drop_zero_interval(rd);
    opts_fill(&scope, settings_opts, &job->settings);
    keys_name(rd, job);
    keys_id(rd, job);
    keys_zone(rd, &job->settings);
    keys_check(rd, &job->settings);
}

/* --- What is left --------------------------------------------------------------------------- */

/* One notice for all keys of Flink that mean nothing here, at the first of them. */
static void keys_notice(struct reader *rd, enum fault_level level, const char *what, bool is_idle)
{
    const char *list = NULL;
    const struct entry *first = NULL;
    uint32_t count = 0;

    for (uint32_t i = 0; i < rd->entries.count; i++) {
        const struct entry *e = &rd->entries.item[i];
        if (!e->is_ignored || e->is_idle != is_idle) {
            continue;
        }
        first = !first || e->order < first->order ? e : first;
        if (++count <= KEYS_NAMED_MAX) {
            list = arena_printf(rd->arena, "%s%s%s", list ? list : "", list ? ", " : "", e->key);
        }
    }
    if (!first) {
        return;
    }
    const char *more = count > KEYS_NAMED_MAX
                           ? arena_printf(rd->arena, " and %u more", count - KEYS_NAMED_MAX)
                           : "";
    fault_add(rd->faults, level, first->name->at, NULL, "SR0206: %s: %s%s", what, list ? list : "",
              more ? more : "");
}

static void keys_fault_section(struct reader *rd, const struct entry *e, const char *section)
{
    if (node_is_nothing(e->value)) {
        reader_fault(rd, e->name->at, NULL, "SR0202: '%s' is empty", section);
        return;
    }
    reader_fault(rd, e->value->at,
                 arena_printf(rd->arena,
                              "as in:\n    %s:\n      NAME:\n        "
                              "KEY: VALUE",
                              section),
                 "SR0202: '%s' is a mapping of names to their keys", section);
}

/* Text of a scalar that decides whether a foreign key changes anything. */
static const char *keys_value(struct reader *rd, struct entry *e)
{
    return e->value->kind == NODE_SCALAR ? vars_expand(rd, e->value, e->dir) : "";
}

/* A misspelt section is one fault, whatever stands in it. */
static bool keys_fault_near_section(struct reader *rd, const struct entry *e)
{
    const char *first = arena_text_n(rd->arena, e->key, strcspn(e->key, "."));
    const char *meant = first ? nearest_word(first, entry_sections) : NULL;

    if (!meant) {
        return false;
    }
    const struct entry *group = entries_group(&rd->entries, first);
    reader_fault(rd, group ? group->name->at : e->name->at,
                 arena_printf(rd->arena, "did you mean '%s'?", meant),
                 "SR0201: unknown key '%s' of the job", first);
    return true;
}

static void keys_leftover(struct reader *rd, struct entry *e, const struct opts_words *known)
{
    const char *section = entry_section(e->key);

    if (section) {
        keys_fault_section(rd, e, section);
        return;
    }
    switch (settings_foreign(e->key, keys_value(rd, e))) {
    case SETTINGS_IGNORED:
        e->is_ignored = true;
        return;
    case SETTINGS_IDLE:
        e->is_ignored = true;
        e->is_idle = true;
        return;
    case SETTINGS_INSTEAD:
        fault_add(rd->faults, FAULT_WARNING, e->name->at, NULL,
                  "SR0207: '%s: %s' is not there yet: %s", e->key, reader_shown(e, e->value),
                  settings_instead(e->key));
        return;
    case SETTINGS_LATER:
        reader_fault(rd, e->name->at, *settings_instead(e->key) ? settings_instead(e->key) : NULL,
                     "SR0207: '%s: %s' is not there yet", e->key,
                     e->value->kind == NODE_SCALAR ? reader_shown(e, e->value) : "[...]");
        return;
    case SETTINGS_UNKNOWN:
        break;
    }
    if (!keys_fault_near_section(rd, e)) {
        opts_fault_unknown(rd, e, e->key, known, "the job");
    }
}

void keys_leftovers(struct reader *rd)
{
    struct opts_words known = {0};

    opts_add_words(rd, &known, settings_opts, "");
    for (const char *const *s = entry_sections; *s; s++) {
        opts_add_word(rd, &known, *s);
    }
    for (uint32_t i = 0; i < rd->entries.count; i++) {
        struct entry *e = &rd->entries.item[i];
        if (!e->is_used) {
            keys_leftover(rd, e, &known);
        }
    }
    keys_notice(rd, FAULT_NOTICE, "without meaning on one machine, ignored", false);
    keys_notice(rd, FAULT_WARNING, "not there yet, ignored", true);
}
