#include "test/kit/line_format.h"

#include <string.h>

struct line_coder {
    const struct sr_host *host;
    struct line_conf conf;
};

static sr_rc line_check(const void *conf, const struct sr_schema *schema, bool is_write,
                        uint32_t *flags, struct sr_error *err)
{
    (void)conf;
    (void)schema;
    (void)is_write;
    (void)err;
    *flags = SR_FORMAT_LINES;
    return SR_OK;
}

static sr_rc line_open(void *coder, const struct sr_format_open *o, struct sr_error *err)
{
    (void)err;
    struct line_coder *c = coder;
    c->host = o->host;
    if (o->conf) {
        c->conf = *(const struct line_conf *)o->conf;
    }
    return SR_OK;
}

static sr_rc line_decode(void *coder, struct sr_decode *d, struct sr_error *err)
{
    (void)coder;
    (void)err;
    d->used = 0;
    bool is_shared = d->buffer != NULL && d->out->rows == 0; /* as fast formats do: no copies */
    if (is_shared) {
        d->out->host->builder_use(d->out, 0, d->buffer);
    }
    while (d->used < d->len && !sr_builder_is_full(d->out)) {
        const uint8_t *at = d->bytes + d->used;
        uint32_t left = d->len - d->used;
        const uint8_t *newline = memchr(at, '\n', left);
        if (!newline && !d->at_end) {
            break;
        }
        uint32_t len = newline ? (uint32_t)(newline - at) : left;
        if (d->row_at) {
            d->row_at[d->out->rows] = d->used;
        }
        if (is_shared) {
            sr_put_span(d->out, 0, (uint32_t)(at - d->buffer->data), len);
        } else {
            sr_put_bytes(d->out, 0, at, len);
        }
        sr_row_done(d->out);
        d->used += len + (newline ? 1 : 0);
    }
    return SR_OK;
}

static void line_close(void *coder) { (void)coder; }

static bool line_put(struct sr_out *out, const char *text, size_t len)
{
    uint8_t *to = sr_out_room(out, len + 1);
    if (!to) {
        return false;
    }
    memcpy(to, text, len);
    to[len] = '\n';
    out->len += len + 1;
    return true;
}

static sr_rc line_head(void *coder, struct sr_out *out, struct sr_error *err)
{
    (void)err;
    const char *head = ((struct line_coder *)coder)->conf.head;
    return !head || line_put(out, head, strlen(head)) ? SR_OK : SR_ENOMEM;
}

static sr_rc line_encode(void *coder, struct sr_encode *e, struct sr_error *err)
{
    struct line_coder *c = coder;
    for (e->done = 0; e->done < e->count; e->done++) {
        uint32_t len = 0;
        const char *text = sr_text(e->view->col[0], sr_row(e->view, e->from + e->done), &len);
        const char *poison = c->conf.poison;
        if (poison && len >= strlen(poison) && memcmp(text, poison, strlen(poison)) == 0) {
            return c->host->fail(c->host, err, SR_EDATA, "a row is poison");
        }
        if (!line_put(e->out, text, len)) {
            return c->host->fail(c->host, err, SR_ENOMEM, "out of memory");
        }
        if (e->end) {
            e->end[e->done] = e->out->len;
        }
    }
    return SR_OK;
}

static const struct sr_opt line_opts[] = {SR_OPT_END};

const struct sr_format_type line_format = {
    .size = sizeof(struct sr_format_type),
    .name = "line",
    .doc = "One STRING a line.",
    .opts = line_opts,
    .conf_size = sizeof(struct line_conf),
    .decoder_size = sizeof(struct line_coder),
    .encoder_size = sizeof(struct line_coder),
    .check = line_check,
    .decode_open = line_open,
    .decode = line_decode,
    .decode_close = line_close,
    .encode_open = line_open,
    .encode_head = line_head,
    .encode = line_encode,
    .encode_close = line_close,
};
