/* Any bytes as a job file: faults or a job, never a crash; a job's description reads back. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "engine/base/assert.h"
#include "engine/base/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A machine without files. */
static sr_rc fuzz_open(const struct sr_files *fs, const char *path, uint32_t flags,
                       struct sr_file **out, struct sr_error *err)
{
    (void)fs;
    (void)flags;
    (void)out;
    return error_set(err, SR_EABSENT, "open %s: there are no files", path);
}

static const char *fuzz_variable(const char *name)
{
    return strcmp(name, "SET") == 0 ? "value ${SET} # : 'x" : NULL;
}

struct fuzz_conf {
    const char *path, *text;
    int64_t rows;
    sr_duration every;
    sr_size room;
    sr_list topics;
    sr_pairs properties;
    bool is_loud;
    double rate;
};

#define F(name, field, ...) SR_OPT(struct fuzz_conf, name, field, __VA_ARGS__)

static const struct sr_opt fuzz_opts[] = {F("path", path, .flags = SR_OPT_PATH, .doc = "A path."),
                                          F("text", text, .flags = SR_OPT_SECRET, .doc = "A text."),
                                          F("rows", rows, .min = 1, .max = 99, .doc = "A number."),
                                          F("every", every, .doc = "A duration."),
                                          F("room", room, .def = "1kb", .doc = "A size."),
                                          F("topics", topics, .doc = "A list."),
                                          F("properties.", properties, .doc = "Pairs."),
                                          F("loud", is_loud, .doc = "A flag."),
                                          F("rate", rate, .doc = "A fraction."),
                                          SR_OPT_END};

static const struct sr_source_type fuzz_source = {.size = sizeof(fuzz_source),
                                                  .name = "f",
                                                  .opts = fuzz_opts,
                                                  .conf_size = sizeof(struct fuzz_conf)};
static const struct sr_sink_type fuzz_sink = {.size = sizeof(fuzz_sink),
                                              .name = "f",
                                              .opts = fuzz_opts,
                                              .conf_size = sizeof(struct fuzz_conf)};
static const struct sr_format_type fuzz_format = {.size = sizeof(fuzz_format),
                                                  .name = "f",
                                                  .opts = fuzz_opts,
                                                  .conf_size = sizeof(struct fuzz_conf)};
static const struct sr_source_type *const fuzz_sources[] = {&fuzz_source, NULL};
static const struct sr_sink_type *const fuzz_sinks[] = {&fuzz_sink, NULL};
static const struct sr_format_type *const fuzz_formats[] = {&fuzz_format, NULL};
static const struct sr_plugin fuzz_plugin = {.abi_major = SR_ABI_MAJOR,
                                             .abi_minor = SR_ABI_MINOR,
                                             .name = "fuzz",
                                             .sources = fuzz_sources,
                                             .sinks = fuzz_sinks,
                                             .formats = fuzz_formats};

/* Reads a text; answers a copy of the description, NULL when it has faults. */
static char *fuzz_read(const char *text, struct registry *registry)
{
    static const struct sr_files files = {.size = sizeof(files), .open = fuzz_open};
    static const struct env env = {.files = &files};
    struct conf_input in = {
        .env = &env, .path = "-", .text = text, .work_dir = "/d", .variable = fuzz_variable};
    struct arena *a = arena_new();
    struct faults *faults = calloc(1, sizeof(*faults));
    struct job *job = NULL;
    char *description = NULL;

    if (a && faults) {
        faults_init(faults, a);
        sr_rc rc = conf_read(&in, registry, faults, &job);
        sr_assert(rc != SR_OK || (job && job->description));
        sr_assert(rc == SR_OK || faults->errors > 0);
        for (uint32_t i = 0; job && i < job->steps; i++) {
            const struct job_text *w = &job->step[i].where;
            for (uint32_t k = 0; w->text && k <= w->len; k++) {
                (void)job_place(w, k);
            }
        }
        description = rc == SR_OK ? strdup(job->description) : NULL;
    }
    free(faults);
    arena_free(a);
    return description;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct registry *registry = registry_new();
    char *text = malloc(size + 1);
    struct sr_error err;

    if (text && registry && registry_add(registry, &fuzz_plugin, &err) == SR_OK) {
        memcpy(text, data, size);
        text[size] = '\0';
        char *first = fuzz_read(text, registry);
        /* Secrets that were written out must be set by whoever resumes: no reading back. */
        if (first && !strstr(first, "${")) {
            char *second = fuzz_read(first, registry);
            sr_assert(second && strcmp(first, second) == 0);
            free(second);
        }
        free(first);
    }
    free(text);
    registry_free(registry);
    return 0;
}
