#include <string.h>

#include "connectors/json/cdc.h"

sr_rc cdc_encode_open(struct cdc_encoder *x, const struct cdc_dialect *dialect,
                      const struct sr_format_open *o, struct sr_error *err)
{
    x->dialect = dialect;
    return json_encode_open(&x->json, o, err);
}

static bool cdc_encode_text(struct sr_out *out, const char *s)
{
    return json_encode_bytes(out, s, strlen(s));
}

/* One row as an insert or a delete. */
static enum json_put_rc cdc_encode_row(const struct cdc_encoder *x, const struct sr_view *v,
                                       uint32_t r, struct sr_out *out)
{
    enum sr_change change = sr_change_of(v, r);
    bool is_delete = change == SR_DELETE || change == SR_UPDATE_BEFORE;
    const char *const *text = x->dialect->put[is_delete ? 1 : 0][x->json.how.drops_nulls ? 1 : 0];
    if (!cdc_encode_text(out, text[0])) {
        return JSON_PUT_MEMORY;
    }
    enum json_put_rc rc = json_encode_object(&x->json, v, r, out);
    return rc != JSON_PUT_OK || cdc_encode_text(out, text[1]) ? rc : JSON_PUT_MEMORY;
}

sr_rc cdc_encode(void *enc, struct sr_encode *e, struct sr_error *err)
{
    const struct cdc_encoder *x = enc;
    for (e->done = 0; e->done < e->count; e->done++) {
        size_t begin = e->out->len;
        enum json_put_rc rc =
            cdc_encode_row(x, e->view, sr_row(e->view, e->from + e->done), e->out);
        if (rc != JSON_PUT_OK) {
            e->out->len = begin;
            return json_encode_fail(&x->json, rc, err);
        }
        if (e->end) {
            e->end[e->done] = e->out->len;
        }
    }
    return SR_OK;
}
