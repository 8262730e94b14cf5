/* A sink for tests, built as a module: writes nothing, and kills the process when it is given a row
 * whose first column (a STRING) is "abort". */
#include <stdlib.h>
#include <streamrun/plugin.h>
#include <string.h>

struct abort_sink {
    char unused;
};

static sr_rc abort_check(const void *conf, const struct sr_schema *schema,
                         struct sr_sink_caps *caps, struct sr_error *err)
{
    (void)conf;
    (void)schema;
    (void)err;
    *caps = (struct sr_sink_caps){.guarantee = SR_EXACTLY_ONCE, .makes_rows = true};
    return SR_OK;
}

static sr_rc abort_open(void *s, const struct sr_sink_open *o, struct sr_error *err)
{
    (void)s;
    (void)o;
    (void)err;
    return SR_OK;
}

static sr_rc abort_write(void *s, const struct sr_view *v, uint32_t from, uint32_t *done,
                         struct sr_wait *wait, struct sr_error *err)
{
    (void)s;
    (void)wait;
    (void)err;
    for (uint32_t i = from; i < v->picked; i++) {
        uint32_t len;
        const char *text = sr_text(v->col[0], sr_row(v, i), &len);
        if (len == 5 && memcmp(text, "abort", 5) == 0) abort();
    }
    *done = v->picked - from;
    return SR_OK;
}

static sr_rc abort_prepare(void *s, uint64_t checkpoint, bool is_last, struct sr_notes *notes,
                           struct sr_wait *wait, struct sr_error *err)
{
    (void)s;
    (void)checkpoint;
    (void)is_last;
    (void)notes;
    (void)wait;
    (void)err;
    return SR_OK;
}

static sr_rc abort_commit(void *s, uint64_t checkpoint, struct sr_bytes note, struct sr_error *err)
{
    (void)s;
    (void)checkpoint;
    (void)note;
    (void)err;
    return SR_OK;
}

static void abort_close(void *s) { (void)s; }

static const struct sr_opt abort_opts[] = {SR_OPT_END};
static const struct sr_sink_type abort_type = {.size = sizeof(abort_type),
                                               .name = "abort_sink",
                                               .doc = "Kills the process for a row.",
                                               .opts = abort_opts,
                                               .conf_size = sizeof(struct abort_sink),
                                               .sink_size = sizeof(struct abort_sink),
                                               .check = abort_check,
                                               .open = abort_open,
                                               .write = abort_write,
                                               .prepare = abort_prepare,
                                               .commit = abort_commit,
                                               .close = abort_close};
static const struct sr_sink_type *const abort_sinks[] = {&abort_type, NULL};

SR_PLUGIN(abort_sink) = {.abi_major = SR_ABI_MAJOR,
                         .abi_minor = SR_ABI_MINOR,
                         .name = "abort_sink",
                         .version = "1",
                         .doc = "For tests.",
                         .sinks = abort_sinks};
