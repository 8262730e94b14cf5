/* Jobs for tests of bind and plan, from a text of one step a line, and connectors that do nothing.
 *
 *   source a; schema=k INT, v BIGINT
 *   transform t; from=a; where=v > 1; select=k | v + 1 AS w
 *   sink s; from=t; connector=once; key=k
 *
 * Lists are separated by `|`. A fault's place is line and column of this text.
 */
#ifndef TEST_UNIT_BIND_JOBS_H
#define TEST_UNIT_BIND_JOBS_H

#include <streamrun/decider.h>

#include <stdio.h>
#include <string.h>

#include "engine/bind/bind.h"
#include "engine/data/schema.h"
#include "test/unit/unit.h"

/* --- Connectors ------------------------------------------------------------------------------- */

static const struct sr_source_caps jobs_rows_caps = {true, true, true, 0, false};
static const struct sr_source_caps jobs_pipe_caps = {true, false, true, 1, false};
static const struct sr_source_caps jobs_endless_caps = {false, true, true, 0, false};
static const struct sr_source_caps jobs_bytes_caps = {true, true, false, 0, false};

#define JOBS_SOURCE(kind)                                                             \
    static sr_rc jobs_check_##kind(const void *conf, const struct sr_schema *schema,  \
                                   struct sr_source_caps *caps, struct sr_error *err) \
    {                                                                                 \
        (void)conf, (void)schema, (void)err;                                          \
        *caps = jobs_##kind##_caps;                                                   \
        return SR_OK;                                                                 \
    }                                                                                 \
    static const struct sr_source_type jobs_source_##kind = {                         \
        .size = sizeof(struct sr_source_type), .name = #kind, .check = jobs_check_##kind};

JOBS_SOURCE(rows)
JOBS_SOURCE(pipe)
JOBS_SOURCE(endless)
JOBS_SOURCE(bytes)

static const struct sr_field jobs_own_fields[] = {{"id", {SR_BIGINT, true, 0, 0, 0, NULL}},
                                                  {"made", {SR_TIMESTAMP, true, 3, 0, 0, NULL}}};
static const struct sr_schema jobs_own_schema = {2, jobs_own_fields, -1, 0, NULL};
static inline const struct sr_schema *jobs_own(const void *conf)
{
    (void)conf;
    return &jobs_own_schema;
}
static const struct sr_source_type jobs_source_own = {.size = sizeof(struct sr_source_type),
                                                      .name = "own",
                                                      .schema = jobs_own,
                                                      .check = jobs_check_rows};

static const struct sr_sink_caps jobs_once_caps = {SR_EXACTLY_ONCE, true, true, false, 0, NULL};
static const struct sr_sink_caps jobs_append_caps = {SR_AT_LEAST_ONCE, false, true, false, 0, NULL};
static const struct sr_sink_caps jobs_text_caps = {SR_EXACTLY_ONCE, true, false, false, 1, NULL};
static const struct sr_sink_caps jobs_end_caps = {SR_EXACTLY_ONCE, false, true, true, 1, NULL};

/* Whose transactions decide about checkpoints: two of one target, and one of another that aborts
 * what is open for half a second. */
static const struct sr_decider_type jobs_decider = {.size = sizeof(struct sr_decider_type)};
static const struct sr_sink_caps jobs_ledger_caps = {
    .guarantee = SR_EXACTLY_ONCE, .makes_rows = true, .decider = "ledger one"};
static const struct sr_sink_caps jobs_book_caps = {
    .guarantee = SR_EXACTLY_ONCE, .makes_rows = true, .decider = "ledger one"};
static const struct sr_sink_caps jobs_hasty_caps = {.guarantee = SR_EXACTLY_ONCE,
                                                    .makes_rows = true,
                                                    .decider = "ledger two",
                                                    .transaction_us = 500000};

#define JOBS_SINK(kind)                                                                       \
    static sr_rc jobs_sink_check_##kind(const void *conf, const struct sr_schema *schema,     \
                                        struct sr_sink_caps *caps, struct sr_error *err)      \
    {                                                                                         \
        (void)conf, (void)schema, (void)err;                                                  \
        *caps = jobs_##kind##_caps;                                                           \
        return SR_OK;                                                                         \
    }                                                                                         \
    static const struct sr_sink_type jobs_sink_##kind = {.size = sizeof(struct sr_sink_type), \
                                                         .name = #kind,                       \
                                                         .check = jobs_sink_check_##kind,     \
                                                         .decider = &jobs_decider};

JOBS_SINK(once)
JOBS_SINK(append)
JOBS_SINK(text)
JOBS_SINK(end)
JOBS_SINK(ledger)
JOBS_SINK(book)
JOBS_SINK(hasty)

static inline sr_rc jobs_format_check(const void *conf, const struct sr_schema *schema,
                                      bool is_write, uint32_t *flags, struct sr_error *err)
{
    (void)conf, (void)schema, (void)is_write, (void)err;
    *flags = SR_FORMAT_LINES;
    return SR_OK;
}
static const struct sr_format_type jobs_csv = {.size = sizeof(struct sr_format_type),
                                               .name = "csv",
                                               .decoder_size = 1,
                                               .encoder_size = 1,
                                               .check = jobs_format_check};

static const struct sr_source_type *const jobs_sources[] = {&jobs_source_rows, &jobs_source_pipe,
                                                            &jobs_source_endless,
                                                            &jobs_source_bytes, &jobs_source_own};
static const struct sr_sink_type *const jobs_sinks[] = {
    &jobs_sink_once,   &jobs_sink_append, &jobs_sink_text, &jobs_sink_end,
    &jobs_sink_ledger, &jobs_sink_book,   &jobs_sink_hasty};
static const struct sr_op_type jobs_ops[] = {
    {.size = sizeof(struct sr_op_type), .name = "calc"},
    {.size = sizeof(struct sr_op_type), .name = "watermark"},
    {.size = sizeof(struct sr_op_type), .name = "group-aggregate", .is_keyed = true},
    {.size = sizeof(struct sr_op_type), .name = "window-aggregate", .is_keyed = true}};

/* --- Jobs ------------------------------------------------------------------------------------- */

static inline struct job_text jobs_text(struct arena *a, const char *line, uint32_t number,
                                        const char *from, size_t len)
{
    while (len > 0 && *from == ' ') {
        from++;
        len--;
    }
    while (len > 0 && from[len - 1] == ' ') {
        len--;
    }
    return (struct job_text){.text = arena_text_n(a, from, len),
                             .len = (uint32_t)len,
                             .at = {"job", number, (uint32_t)(from - line) + 1}};
}

static inline struct job_texts jobs_list(struct arena *a, const char *line, uint32_t number,
                                         const char *from, size_t len)
{
    struct job_text *item = arena_array(a, 20, sizeof(*item));
    uint32_t count = 0;
    const char *end = from + len;
    while (from <= end) {
        const char *bar = from;
        while (bar < end && !(bar > from && bar[-1] == ' ' && *bar == '|' && bar[1] == ' ')) {
            bar++;
        }
        item[count++] = jobs_text(a, line, number, from, (size_t)(bar - from));
        from = bar + 1;
    }
    return (struct job_texts){count, item};
}

static inline void jobs_connect(struct job_step *s, const char *name)
{
    for (size_t i = 0; i < 5; i++) {
        if (s->kind == JOB_SOURCE && strcmp(jobs_sources[i]->name, name) == 0) {
            s->source = jobs_sources[i];
        }
    }
    for (size_t i = 0; i < sizeof(jobs_sinks) / sizeof(jobs_sinks[0]); i++) {
        if (s->kind == JOB_SINK && strcmp(jobs_sinks[i]->name, name) == 0) {
            s->sink = jobs_sinks[i];
        }
    }
}

static inline void jobs_set(struct arena *a, struct job_step *s, const char *line, uint32_t number,
                            const char *key, size_t key_len, const char *value, size_t len)
{
    struct job_text t = jobs_text(a, line, number, value, len);
    struct job_texts l = jobs_list(a, line, number, value, len);
    const char *k = arena_text_n(a, key, key_len);
    if (strcmp(k, "schema") == 0) s->schema_text = t;
    if (strcmp(k, "watermark") == 0) s->watermark = t;
    if (strcmp(k, "where") == 0) s->where = t;
    if (strcmp(k, "window") == 0) s->window = t;
    if (strcmp(k, "sql") == 0) s->sql = t;
    if (strcmp(k, "from") == 0) s->from = l;
    if (strcmp(k, "select") == 0) s->select = l;
    if (strcmp(k, "group") == 0) s->group_by = l;
    if (strcmp(k, "key") == 0) s->primary_key = l;
    if (strcmp(k, "connector") == 0) jobs_connect(s, t.text);
    if (strcmp(k, "format") == 0) s->format = &jobs_csv;
    if (strcmp(k, "parallelism") == 0) s->parallelism = atoi(t.text);
    if (strcmp(k, "guarantee") == 0) {
        s->guarantee = t.text[0] == 'e' ? SR_EXACTLY_ONCE : SR_AT_LEAST_ONCE;
        s->guarantee_at = t.at;
    }
    if (strcmp(k, "on-error") == 0) s->on_error = t.text[0] == 's' ? JOB_SKIP : JOB_DEAD_LETTER;
}

static inline void jobs_step(struct arena *a, struct job_step *s, const char *line, uint32_t number,
                             const char *end)
{
    const char *space = memchr(line, ' ', (size_t)(end - line));
    s->kind = line[0] == 't' ? JOB_TRANSFORM : line[1] == 'o' ? JOB_SOURCE : JOB_SINK;
    const char *semi = space;
    while (semi < end && *semi != ';') {
        semi++;
    }
    s->name = jobs_text(a, line, number, space, (size_t)(semi - space));
    s->uid = s->name.text;
    jobs_connect(s, s->kind == JOB_SOURCE ? "rows" : "once");
    while (semi < end) {
        const char *key = semi + 2, *equals = memchr(key, '=', (size_t)(end - key));
        semi = equals;
        while (semi < end && *semi != ';') {
            semi++;
        }
        jobs_set(a, s, line, number, key, (size_t)(equals - key), equals + 1,
                 (size_t)(semi - equals) - 1);
    }
}

static inline struct job *jobs_make(struct arena *a, const char *text, int64_t parallelism)
{
    struct job *job = arena_get(a, sizeof(*job));
    struct job_step *step = arena_array(a, 20, sizeof(*step));
    job->arena = a;
    job->name = "test";
    job->settings.parallelism = parallelism;
    job->settings.max_parallelism = 128;
    job->settings.time_zone = "UTC";
    job->settings.interval.us = 1000000;
    job->settings.backlog_interval.us = -1;
    job->step = step;
    for (const char *line = text; *line;) {
        const char *end = strchrnul(line, '\n');
        jobs_step(a, &step[job->steps], line, job->steps + 1, end);
        job->steps++;
        line = *end ? end + 1 : end;
    }
    return job;
}

struct jobs_bound {
    struct arena *arena;
    struct registry *registry;
    struct faults *faults;
    struct job *job;
    const struct plan *plan; /* NULL: faults */
};

static inline void jobs_bind(struct jobs_bound *b, struct job *job)
{
    struct sr_error err = {0};
    b->job = job;
    b->registry = registry_new();
    b->faults = arena_get(b->arena, sizeof(*b->faults));
    faults_init(b->faults, b->arena);
    for (size_t i = 0; i < sizeof(jobs_ops) / sizeof(jobs_ops[0]); i++) {
        ck_assert_int_eq(registry_add_op(b->registry, &jobs_ops[i], &err), SR_OK);
    }
    sr_rc rc = bind_job(job, b->registry, b->faults, &b->plan);
    ck_assert_int_eq(rc, b->plan ? SR_OK : SR_ECONFIG);
}

static inline struct jobs_bound jobs_open(const char *text, int64_t parallelism)
{
    struct jobs_bound b = {.arena = arena_new()};
    jobs_bind(&b, jobs_make(b.arena, text, parallelism));
    return b;
}

static inline void jobs_close(struct jobs_bound *b)
{
    registry_free(b->registry);
    arena_free(b->arena);
}

/* "2:14 words [hint]" a line. */
static inline const char *jobs_faults(const struct jobs_bound *b)
{
    const char *text = "";
    for (uint32_t i = 0; i < b->faults->count; i++) {
        const struct fault *f = &b->faults->fault[i];
        text =
            arena_printf(b->arena, "%s%u:%u %s%s%s%s\n", text, f->at.line, f->at.column, f->words,
                         f->hint ? " [" : "", f->hint ? f->hint : "", f->hint ? "]" : "");
    }
    return text;
}

/* The job has exactly these faults. */
static inline void jobs_check_faults(const char *text, const char *want)
{
    struct jobs_bound b = jobs_open(text, 1);
    const char *got = jobs_faults(&b);
    ck_assert_msg(strcmp(got, want) == 0, "%s\n  has\n%s  not\n%s", text, got, want);
    jobs_close(&b);
}

#endif
