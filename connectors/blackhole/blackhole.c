/* The blackhole sink: takes every row and keeps none, to measure what stands before it. */
#include <streamrun/plugin.h>

struct blackhole_conf {
    bool unused; /* there is nothing to configure */
};

static sr_rc blackhole_check(const void *conf, const struct sr_schema *schema,
                             struct sr_sink_caps *caps, struct sr_error *err)
{
    (void)conf;
    (void)schema;
    (void)err;
    *caps = (struct sr_sink_caps){
        .guarantee = SR_EXACTLY_ONCE, .takes_changes = true, .makes_rows = true};
    return SR_OK;
}

static sr_rc blackhole_open(void *sink, const struct sr_sink_open *o, struct sr_error *err)
{
    (void)sink;
    (void)o;
    (void)err;
    return SR_OK;
}

static sr_rc blackhole_write(void *sink, const struct sr_view *v, uint32_t from, uint32_t *done,
                             struct sr_wait *wait, struct sr_error *err)
{
    (void)sink;
    (void)wait;
    (void)err;
    *done = v->picked - from;
    return SR_OK;
}

static sr_rc blackhole_prepare(void *sink, uint64_t checkpoint, bool is_last,
                               struct sr_notes *notes, struct sr_wait *wait, struct sr_error *err)
{
    (void)sink;
    (void)checkpoint;
    (void)is_last;
    (void)notes;
    (void)wait;
    (void)err;
    return SR_OK;
}

static void blackhole_close(void *sink) { (void)sink; }

static const struct sr_opt blackhole_opts[] = {SR_OPT_END};

static const struct sr_sink_type blackhole_type = {
    .size = sizeof(struct sr_sink_type),
    .name = "blackhole",
    .doc = "Takes every row and keeps none.",
    .keeps = "nothing",
    .opts = blackhole_opts,
    .conf_size = sizeof(struct blackhole_conf),
    .sink_size = sizeof(struct blackhole_conf),
    .check = blackhole_check,
    .open = blackhole_open,
    .write = blackhole_write,
    .prepare = blackhole_prepare,
    .close = blackhole_close,
};

static const struct sr_sink_type *const blackhole_sinks[] = {&blackhole_type, NULL};

SR_PLUGIN(blackhole) = {
    .abi_major = SR_ABI_MAJOR,
    .abi_minor = SR_ABI_MINOR,
    .name = "blackhole",
    .version = "0.1.0",
    .doc = "A sink for measuring.",
    .sinks = blackhole_sinks,
};
