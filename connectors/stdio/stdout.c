/* The stdout sink: rows in a format, whole buffers at a time, at-least-once.
 *
 * A checkpoint covers a row only when its bytes were written.
 */
#include "connectors/common/encoder.h"
#include "connectors/common/pipe_out.h"
#include "connectors/stdio/stdio.h"

struct stdout_conf {
    bool unused; /* there is nothing to configure but the format */
};

struct stdout_sink {
    struct encoder encoder;
    struct pipe_out out;
    bool has_head; /* written, or there is none */
};

static sr_rc stdout_check(const void *conf, const struct sr_schema *schema,
                          struct sr_sink_caps *caps, struct sr_error *err)
{
    (void)conf;
    (void)schema;
    (void)err;
    *caps =
        (struct sr_sink_caps){.guarantee = SR_AT_LEAST_ONCE, .takes_changes = true, .parts_max = 1};
    return SR_OK;
}

static sr_rc stdout_open(void *sink, const struct sr_sink_open *o, struct sr_error *err)
{
    struct stdout_sink *s = sink;
    s->has_head = o->checkpoint > 0; /* the run that is gone on with wrote it */
    sr_rc rc = pipe_out_open(&s->out, o->host, 1, "stdout", err);
    return rc == SR_OK ? encoder_open(&s->encoder, o, err) : rc;
}

static sr_rc stdout_head(struct stdout_sink *s, struct sr_error *err)
{
    sr_rc rc = s->has_head ? SR_OK : encoder_head(&s->encoder, &s->out.buf, err);
    s->has_head = rc == SR_OK;
    return rc;
}

static sr_rc stdout_write(void *sink, const struct sr_view *v, uint32_t from, uint32_t *done,
                          struct sr_wait *wait, struct sr_error *err)
{
    struct stdout_sink *s = sink;
    sr_rc rc = pipe_out_make_room(&s->out, wait, err);
    if (rc == SR_OK) {
        rc = stdout_head(s, err);
    }
    if (rc == SR_OK) {
        rc = encoder_rows(&s->encoder, v, from, &s->out.buf, done, err);
    }
    return rc == SR_OK ? pipe_out_push(&s->out, err) : rc;
}

static sr_rc stdout_flush(void *sink, struct sr_wait *wait, struct sr_error *err)
{
    struct stdout_sink *s = sink;
    return pipe_out_drain(&s->out, wait, err);
}

static sr_rc stdout_prepare(void *sink, uint64_t checkpoint, bool is_last, struct sr_notes *notes,
                            struct sr_wait *wait, struct sr_error *err)
{
    (void)checkpoint;
    (void)notes;
    struct stdout_sink *s = sink;
    sr_rc rc = is_last ? stdout_head(s, err) : SR_OK; /* no row came: a head all the same */
    return rc == SR_OK ? pipe_out_sync(&s->out, wait, err) : rc;
}

static void stdout_close(void *sink)
{
    struct stdout_sink *s = sink;
    pipe_out_close(&s->out);
    encoder_close(&s->encoder);
}

static const struct sr_opt stdout_opts[] = {SR_OPT_END};

const struct sr_sink_type stdout_type = {
    .size = sizeof(struct sr_sink_type),
    .name = "stdout",
    .doc = "Standard output, in any format, at-least-once.",
    .keeps = "at-least-once",
    .opts = stdout_opts,
    .conf_size = sizeof(struct stdout_conf),
    .sink_size = sizeof(struct stdout_sink),
    .check = stdout_check,
    .open = stdout_open,
    .write = stdout_write,
    .flush = stdout_flush,
    .prepare = stdout_prepare,
    .close = stdout_close,
};
