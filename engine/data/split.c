#include "engine/data/split.h"

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/data/rowhash.h"

/* A view of no rows yet over the columns of v. */
static struct sr_view *split_empty(struct sr_home *h, const struct sr_view *v)
{
    struct sr_view *s = view_slice(h, v, 0, 0);
    if (s) {
        s->sel = s->sel_space;
        s->watermark_end = SR_WATERMARK_NONE;
    }
    return s;
}

sr_rc split_by_key(struct sr_home *h, struct sr_view *v, const struct split *s,
                   struct sr_view **out, struct sr_error *err)
{
    sr_assert(s->parts > 0 && s->parts <= s->max_parallelism);
    sr_assert(s->max_parallelism <= KEY_GROUPS_MAX);
    for (uint32_t p = 0; p < s->parts; p++) {
        out[p] = NULL;
    }
    if (s->parts == 1) {
        out[0] = v;
        return SR_OK;
    }
    uint64_t hash[SR_BATCH_ROWS];
    rowhash(v, s->key, s->keys, 0, v->picked, hash);
    for (uint32_t i = 0; i < v->picked; i++) {
        uint32_t group = key_group(hash[i], s->max_parallelism);
        uint32_t p = key_group_part(group, s->max_parallelism, s->parts);
        if (!out[p] && !(out[p] = split_empty(h, v))) {
            for (uint32_t k = 0; k < s->parts; k++) {
                view_release(out[k]);
                out[k] = NULL;
            }
            view_release(v);
            return error_set(err, SR_ENOMEM, "split rows by key: out of memory");
        }
        out[p]->sel_space[out[p]->picked++] = (uint16_t)sr_row(v, i);
    }
    /* Whoever got rows learns the watermark behind them; who got none, from the task itself. */
    for (uint32_t p = 0; p < s->parts; p++) {
        if (out[p]) {
            out[p]->watermark_end = v->watermark_end;
        }
    }
    view_release(v);
    return SR_OK;
}
