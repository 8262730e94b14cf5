#include "cli/replay_ledger.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/ckpt/durable.h"

#define REPLAY_LEDGER_BYTES ((uint64_t)256 << 20)

sr_rc replay_ledger_open(const struct cli *c, const struct letter_list *letters,
                         struct replay_ledger *out, struct sr_error *err)
{
    const char *between = letters->is_dir ? "/." : ".";
    *out = (struct replay_ledger){
        .path = arena_printf(c->arena, "%s%sreplayed", letters->path, between),
        .base = arena_printf(c->arena, "%s%sreplay-", letters->path, between)};
    if (!out->path || !out->base) return error_set(err, SR_ENOMEM, "out of memory");
    struct durable_bytes bytes = {.data = NULL};
    sr_rc rc = durable_read(&c->env, out->path, REPLAY_LEDGER_BYTES, c->arena, &bytes, err);
    if (rc == SR_EABSENT) {
        out->batch = json_array();
        return out->batch ? SR_OK : error_set(err, SR_ENOMEM, "out of memory");
    }
    if (rc != SR_OK) return rc;
    json_error_t why;
    out->batch = json_loadb((const char *)bytes.data, bytes.len, 0, &why);
    if (json_is_array(out->batch)) return SR_OK;
    replay_ledger_close(out);
    return error_set(err, SR_ECORRUPT, "%s: this list of what was replayed cannot be read: %s",
                     out->path, why.text);
}

void replay_ledger_close(struct replay_ledger *g)
{
    json_decref(g->batch);
    g->batch = NULL;
}

static uint32_t replay_ledger_number(const json_t *batch)
{
    return (uint32_t)json_integer_value(json_object_get(batch, "number"));
}

bool replay_ledger_has(const struct replay_ledger *g, const char *id)
{
    for (size_t i = 0; i < json_array_size(g->batch); i++) {
        const json_t *ids = json_object_get(json_array_get(g->batch, i), "ids");
        for (size_t k = 0; k < json_array_size(ids); k++) {
            const char *one = json_string_value(json_array_get(ids, k));
            if (one && strcmp(one, id) == 0) return true;
        }
    }
    return false;
}

uint32_t replay_ledger_open_batch(const struct replay_ledger *g)
{
    for (size_t i = 0; i < json_array_size(g->batch); i++) {
        const json_t *batch = json_array_get(g->batch, i);
        if (!json_is_true(json_object_get(batch, "done"))) return replay_ledger_number(batch);
    }
    return 0;
}

static sr_rc replay_ledger_save(const struct replay_ledger *g, const struct cli *c,
                                struct sr_error *err)
{
    char *text = json_dumps(g->batch, JSON_INDENT(1) | JSON_SORT_KEYS);
    if (!text) return error_set(err, SR_ENOMEM, "out of memory");
    sr_rc rc = durable_replace(&c->env, g->path, text, strlen(text), err);
    free(text);
    return rc;
}

uint32_t replay_ledger_next(const struct replay_ledger *g)
{
    uint32_t number = 1;
    for (size_t i = 0; i < json_array_size(g->batch); i++) {
        uint32_t n = replay_ledger_number(json_array_get(g->batch, i));
        if (n >= number) number = n + 1;
    }
    return number;
}

sr_rc replay_ledger_begin(struct replay_ledger *g, const struct cli *c, uint32_t number,
                          json_t *ids, struct sr_error *err)
{
    json_t *batch = json_pack("{s:i, s:b, s:o}", "number", (int)number, "done", 0, "ids", ids);
    if (!batch || json_array_append_new(g->batch, batch) != 0) {
        return error_set(err, SR_ENOMEM, "out of memory");
    }
    return replay_ledger_save(g, c, err);
}

sr_rc replay_ledger_done(struct replay_ledger *g, const struct cli *c, uint32_t number,
                         struct sr_error *err)
{
    for (size_t i = 0; i < json_array_size(g->batch); i++) {
        json_t *batch = json_array_get(g->batch, i);
        if (replay_ledger_number(batch) == number) {
            (void)json_object_set_new(batch, "done", json_true());
        }
    }
    return replay_ledger_save(g, c, err);
}

sr_rc replay_ledger_copy(struct replay_ledger *g, const struct replay_ledger *from,
                         const struct cli *c, uint32_t number, const struct letter_list *letters,
                         struct sr_error *err)
{
    json_t *ids = json_array();
    for (size_t i = 0; i < json_array_size(from->batch); i++) {
        const json_t *batch = json_array_get(from->batch, i);
        json_t *theirs = json_object_get(batch, "ids");
        for (size_t k = 0; replay_ledger_number(batch) == number && k < json_array_size(theirs);
             k++) {
            const char *id = json_string_value(json_array_get(theirs, k));
            if (!id || !letter_list_find(letters, id) || replay_ledger_has(g, id)) continue;
            (void)json_array_append_new(ids, json_string(id));
        }
    }
    if (json_array_size(ids) == 0) {
        json_decref(ids);
        return SR_OK;
    }
    json_t *batch = json_pack("{s:i, s:b, s:o, s:s}", "number", (int)replay_ledger_next(g), "done",
                              1, "ids", ids, "from", from->path);
    if (!batch || json_array_append_new(g->batch, batch) != 0) {
        return error_set(err, SR_ENOMEM, "out of memory");
    }
    return replay_ledger_save(g, c, err);
}

const char *replay_ledger_dir(const struct replay_ledger *g, const struct cli *c, uint32_t number)
{
    return arena_printf(c->arena, "%s%u", g->base, number);
}
