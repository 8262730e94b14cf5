#include "kit.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static const char *const probe_starts[] = {"earliest", "latest", NULL};
static const char *const probe_older[] = {"old-text", NULL};
static const char *const lines_headers[] = {"none", "skip", "match", NULL};

#define P(name, field, ...) SR_OPT(struct probe_conf, name, field, __VA_ARGS__)

static const struct sr_opt probe_opts[] = {
    P("path", path, .flags = SR_OPT_PATH, .doc = "A path."),
    P("text", text, .def = "hello", .aliases = probe_older, .doc = "A text."),
    P("rows", rows, .def = "7", .min = 1, .max = 1000, .doc = "A number."),
    P("big", rows, .doc = "A number without a range."),
    P("rate", rate, .def = "1.5", .doc = "A fraction."),
    P("loud", is_loud, .def = "false", .doc = "A flag."),
    P("source.every", every, .min = 1000, .max = INT64_MAX, .doc = "A duration."),
    P("room", room, .def = "64kb", .doc = "A size."),
    P("topics", topics, .doc = "A list."),
    P("properties.", properties, .doc = "Anything."),
    P("start", start, .choices = probe_starts, .def = "earliest", .doc = "A choice."),
    P("pin", pin, .flags = SR_OPT_SECRET, .doc = "A secret."),
    P("password", password, .doc = "Another secret."),
    SR_OPT_END};

static const struct sr_opt lines_opts[] = {
    SR_OPT(struct lines_conf, "header", header, .choices = lines_headers, .def = "none",
           .doc = "What the first line is."),
    SR_OPT(struct lines_conf, "null-literal", null_literal, .doc = "How NULL is written."),
    SR_OPT_END};

static const struct sr_opt hole_opts[] = {SR_OPT_END};

struct file_conf {
    const char *path;
};
static const struct sr_opt file_opts[] = {
    SR_OPT(struct file_conf, "path", path, .flags = SR_OPT_PATH | SR_OPT_REQUIRED,
           .doc = "Where it writes."),
    SR_OPT(struct file_conf, "sink.rolling", path, .doc = "Only this sink has it."), SR_OPT_END};

static const struct sr_source_type probe_source = {.size = sizeof(struct sr_source_type),
                                                   .name = "probe",
                                                   .doc = "For tests.",
                                                   .opts = probe_opts,
                                                   .conf_size = sizeof(struct probe_conf)};
static const struct sr_sink_type hole_sink = {
    .size = sizeof(struct sr_sink_type), .name = "hole", .doc = "For tests.", .opts = hole_opts};
static const struct sr_sink_type file_sink = {.size = sizeof(struct sr_sink_type),
                                              .name = "file",
                                              .doc = "For tests.",
                                              .opts = file_opts,
                                              .conf_size = sizeof(struct file_conf)};
static const struct sr_format_type lines_format = {.size = sizeof(struct sr_format_type),
                                                   .name = "lines",
                                                   .doc = "For tests.",
                                                   .opts = lines_opts,
                                                   .conf_size = sizeof(struct lines_conf)};

static const struct sr_source_type *const kit_sources[] = {&probe_source, NULL};
static const struct sr_sink_type *const kit_sinks[] = {&hole_sink, &file_sink, NULL};
static const struct sr_format_type *const kit_formats[] = {&lines_format, NULL};

static const struct sr_plugin kit_plugin = {.abi_major = SR_ABI_MAJOR,
                                            .abi_minor = SR_ABI_MINOR,
                                            .name = "kit",
                                            .version = "1",
                                            .sources = kit_sources,
                                            .sinks = kit_sinks,
                                            .formats = kit_formats};

static const char *kit_variable(const char *name)
{
    static const char *const all[][2] = {
        {"EMPTY", ""},          {"HASH", "a#b"},
        {"COLON", " x: y"},     {"FOLD", ">z"},
        {"BACKSLASH", "\\C"},   {"QUOTE", "\""},
        {"EVIL", "a\nevil: 1"}, {"DOLLAR", "$HOME ${NAME}"},
        {"NO", "no"},           {"PERCENT", "%d%s"},
        {"NAME", "value"},      {"DB_PASSWORD", "hunter2"},
        {"ROWS", "12"},         {"WORD", "twelve"},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (strcmp(all[i][0], name) == 0) {
            return all[i][1];
        }
    }
    return NULL;
}

void kit_open(struct kit *k)
{
    struct sr_error err;

    memset(k, 0, sizeof(*k));
    k->env = env_posix(SR_LOG_ERROR);
    k->registry = registry_new();
    ck_assert_ptr_nonnull(k->registry);
    ck_assert_int_eq(registry_add(k->registry, &kit_plugin, &err), SR_OK);
}

void kit_close(struct kit *k)
{
    arena_free(k->arena);
    registry_free(k->registry);
}

sr_rc kit_read_input(struct kit *k, struct conf_input *in)
{
    arena_free(k->arena);
    k->arena = arena_new();
    ck_assert_ptr_nonnull(k->arena);
    faults_init(&k->faults, k->arena);
    k->job = NULL;
    in->env = &k->env;
    in->work_dir = in->work_dir ? in->work_dir : "/home/me";
    in->variable = kit_variable;
    k->rc = conf_read(in, k->registry, &k->faults, &k->job);
    ck_assert(k->rc != SR_OK || k->job);
    ck_assert_int_eq(k->rc == SR_OK, k->faults.errors == 0);
    k->half = k->rc == SR_OK ? NULL : k->job;
    k->job = k->rc == SR_OK ? k->job : NULL;
    return k->rc;
}

sr_rc kit_read(struct kit *k, const char *yaml)
{
    struct conf_input in = {.path = "job.yaml", .text = yaml};
    return kit_read_input(k, &in);
}

sr_rc kit_read_source(struct kit *k, const char *more)
{
    static char text[1 << 16];
    ck_assert_uint_lt(strlen(more), sizeof(text) / 2);
    (void)snprintf(text, sizeof(text), "%s%s%s", KIT_HEAD, more, KIT_SINK);
    return kit_read(k, text);
}

const struct probe_conf *kit_probe(const struct kit *k)
{
    if (!k->job) {
        for (uint32_t i = 0; i < k->faults.count; i++) {
            fprintf(stderr, "%u:%u: %s\n", k->faults.fault[i].at.line, k->faults.fault[i].at.column,
                    k->faults.fault[i].words);
        }
    }
    ck_assert_ptr_nonnull(k->job);
    for (uint32_t i = 0; i < k->job->steps; i++) {
        if (k->job->step[i].source == &probe_source) {
            return k->job->step[i].conf;
        }
    }
    ck_abort_msg("the job has no source of connector probe");
}

static void kit_print(const struct kit *k)
{
    for (uint32_t i = 0; i < k->faults.count; i++) {
        const struct fault *f = &k->faults.fault[i];
        fprintf(stderr, "  %s:%u:%u: [%d] %s (hint: %s)\n", f->at.file, f->at.line, f->at.column,
                (int)f->level, f->words, f->hint ? f->hint : "-");
    }
}

const struct fault *kit_fault(const struct kit *k, uint32_t line, uint32_t column,
                              const char *words)
{
    for (uint32_t i = 0; i < k->faults.count; i++) {
        const struct fault *f = &k->faults.fault[i];
        if (f->at.line == line && f->at.column == column && strstr(f->words, words)) {
            return f;
        }
    }
    fprintf(stderr, "no fault at %u:%u with '%s' among:\n", line, column, words);
    kit_print(k);
    return NULL;
}

const struct fault *kit_only(const struct kit *k, uint32_t line, uint32_t column, const char *words)
{
    const struct fault *f = kit_fault(k, line, column, words);
    ck_assert_ptr_nonnull(f);
    if (k->faults.errors != 1) {
        kit_print(k);
    }
    ck_assert_uint_eq(k->faults.errors, 1);
    return f;
}

const char *kit_value(const struct kit *k, const char *key, const char **origin)
{
    const struct conf_value *v = NULL;
    uint32_t count = conf_values(k->job, k->arena, &v);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(v[i].key, key) == 0) {
            if (origin) {
                *origin = v[i].origin;
            }
            return v[i].value;
        }
    }
    return NULL;
}
