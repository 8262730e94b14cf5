#include "connectors/common/encoder.h"

#include <stdlib.h>
#include <string.h>

#define ENCODER_ALIGN ((size_t)16) /* as the lobby promises to formats */

sr_rc encoder_open(struct encoder *e, const struct sr_sink_open *o, struct sr_error *err)
{
    size_t size = (o->format->encoder_size / ENCODER_ALIGN + 1) * ENCODER_ALIGN;
    void *instance = aligned_alloc(ENCODER_ALIGN, size);
    if (!instance) {
        return o->host->fail(o->host, err, SR_ENOMEM, "out of memory");
    }
    memset(instance, 0, size);
    struct sr_format_open fo = {
        .size = sizeof(fo), .host = o->host, .conf = o->format_conf, .schema = o->schema};
    sr_rc rc = o->format->encode_open(instance, &fo, err);
    if (rc != SR_OK) {
        o->format->encode_close(instance);
        free(instance);
        return rc;
    }
    *e = (struct encoder){.type = o->format, .instance = instance};
    return SR_OK;
}

sr_rc encoder_head(struct encoder *e, struct sr_out *out, struct sr_error *err)
{
    return e->type->encode_head ? e->type->encode_head(e->instance, out, err) : SR_OK;
}

sr_rc encoder_rows(struct encoder *e, const struct sr_view *v, uint32_t from, struct sr_out *out,
                   uint32_t *done, struct sr_error *err)
{
    struct sr_encode call = {.view = v, .from = from, .count = v->picked - from, .out = out};
    sr_rc rc = e->type->encode(e->instance, &call, err);
    *done = call.done;
    return rc;
}

sr_rc encoder_some(struct encoder *e, struct sr_encode *call, struct sr_error *err)
{
    return e->type->encode(e->instance, call, err);
}

void encoder_close(struct encoder *e)
{
    if (e->instance) {
        e->type->encode_close(e->instance);
    }
    free(e->instance);
    e->instance = NULL;
}
