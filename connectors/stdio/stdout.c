/* The stdout sink: rows in a format, whole buffers at a time, at-least-once.
 *
 * A checkpoint covers a row only when its bytes were written.
 */
#include <stdlib.h>
#include <string.h>

#include "connectors/common/pipe_out.h"
#include "connectors/stdio/stdio.h"

struct stdout_conf {
    bool unused; /* there is nothing to configure but the format */
};

struct stdout_sink {
    const struct sr_format_type *format;
    void *encoder; /* NULL: not open */
    struct pipe_out out;
    bool has_head; /* written, or the format has none */
};

static sr_rc stdout_check(const void *conf, const struct sr_schema *schema,
                          struct sr_sink_caps *caps, struct sr_error *err)
{
    (void)conf;
    (void)schema;
    (void)err;
    *caps = (struct sr_sink_caps){.guarantee = SR_AT_LEAST_ONCE, .parts_max = 1};
    return SR_OK;
}

static sr_rc stdout_open(void *sink, const struct sr_sink_open *o, struct sr_error *err)
{
    struct stdout_sink *s = sink;
    s->format = o->format;
    s->has_head = o->checkpoint > 0; /* the run that is gone on with wrote it */
    sr_rc rc = pipe_out_open(&s->out, o->host, 1, "stdout", err);
    if (rc != SR_OK) {
        return rc;
    }
    size_t size = ((size_t)o->format->encoder_size + 15) / 16 * 16;
    void *encoder = aligned_alloc(16, size > 0 ? size : 16);
    if (!encoder) {
        return o->host->fail(o->host, err, SR_ENOMEM, "out of memory");
    }
    memset(encoder, 0, size);
    struct sr_format_open fo = {
        .size = sizeof(fo), .host = o->host, .conf = o->format_conf, .schema = o->schema};
    rc = o->format->encode_open(encoder, &fo, err);
    if (rc != SR_OK) {
        free(encoder);
        return rc;
    }
    s->encoder = encoder;
    return SR_OK;
}

static sr_rc stdout_head(struct stdout_sink *s, struct sr_error *err)
{
    sr_rc rc = SR_OK;
    if (!s->has_head && s->format->encode_head) {
        rc = s->format->encode_head(s->encoder, &s->out.buf, err);
    }
    s->has_head = s->has_head || rc == SR_OK;
    return rc;
}

static sr_rc stdout_write(void *sink, const struct sr_view *v, uint32_t from, uint32_t *done,
                          struct sr_wait *wait, struct sr_error *err)
{
    struct stdout_sink *s = sink;
    if (pipe_out_pending(&s->out) >= PIPE_OUT_FULL) {
        sr_rc busy = pipe_out_drain(&s->out, wait, err);
        if (busy != SR_OK) {
            return busy;
        }
    }
    sr_rc rc = stdout_head(s, err);
    if (rc != SR_OK) {
        return rc;
    }
    struct sr_encode e = {.view = v, .from = from, .count = v->picked - from, .out = &s->out.buf};
    rc = s->format->encode(s->encoder, &e, err);
    *done = e.done;
    if (rc != SR_OK || pipe_out_pending(&s->out) < PIPE_OUT_FULL) {
        return rc;
    }
    struct sr_wait later; /* the rows are taken: what does not go out now goes with the next call */
    rc = pipe_out_drain(&s->out, &later, err);
    return rc == SR_EBUSY ? SR_OK : rc;
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
    if (rc != SR_OK) {
        return rc;
    }
    rc = pipe_out_drain(&s->out, wait, err);
    return rc == SR_OK ? pipe_out_sync(&s->out, err) : rc;
}

static sr_rc stdout_commit(void *sink, uint64_t checkpoint, struct sr_bytes note,
                           struct sr_error *err)
{
    (void)sink;
    (void)checkpoint;
    (void)note;
    (void)err;
    return SR_OK;
}

static void stdout_close(void *sink)
{
    struct stdout_sink *s = sink;
    pipe_out_close(&s->out);
    if (s->encoder) {
        s->format->encode_close(s->encoder);
    }
    free(s->encoder);
    s->encoder = NULL;
}

static const struct sr_opt stdout_opts[] = {SR_OPT_END};

const struct sr_sink_type stdout_type = {
    .size = sizeof(struct sr_sink_type),
    .name = "stdout",
    .doc = "Standard output, in any format, at-least-once.",
    .opts = stdout_opts,
    .conf_size = sizeof(struct stdout_conf),
    .sink_size = sizeof(struct stdout_sink),
    .check = stdout_check,
    .open = stdout_open,
    .write = stdout_write,
    .flush = stdout_flush,
    .prepare = stdout_prepare,
    .commit = stdout_commit,
    .close = stdout_close,
};
