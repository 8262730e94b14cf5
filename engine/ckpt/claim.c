#include "engine/ckpt/claim.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/ckpt/durable.h"

#define CLAIM_BYTES_MAX 4352u

static sr_rc claim_no_memory(struct sr_error *err)
{
    return error_set(err, SR_ENOMEM, "claim a checkpoint: out of memory");
}

static const char *claim_file(const struct store *s, struct arena *a)
{
    return arena_printf(a, "%s%s", s->place, s->type->claim_name);
}

/* The text of a claim; NULL: out of memory. */
static const char *claim_print(struct arena *a, const struct claim *c)
{
    char digest[33];
    const char *body =
        arena_printf(a, "streamrun claim 1\nlineage %" PRIu64 "\nowner %s\npath %s\n", c->lineage,
                     c->is_owned ? "job" : "user", c->path);
    if (!body) {
        return NULL;
    }
    digest_text(digest_of(body, strlen(body)), digest);
    return arena_printf(a, "%sdigest %s\n", body, digest);
}

/* What is read must print to the same bytes again: that checks the digest and everything else.
 * NULL: it does not. */
static struct claim *claim_parse(struct arena *a, const struct durable_bytes *text)
{
    static const char head[] = "streamrun claim 1\nlineage ";
    static const size_t tail = sizeof("\ndigest \n") - 1 + 32;
    const char *t = arena_text_n(a, (const char *)text->data, text->len);
    struct claim *c = arena_get(a, sizeof(*c));
    if (!t || !c || strncmp(t, head, sizeof(head) - 1) != 0 || text->len < tail) {
        return NULL;
    }
    char *end = NULL;
    c->lineage = strtoull(t + sizeof(head) - 1, &end, 10);
    static const char owned[] = "\nowner job\npath ", unowned[] = "\nowner user\npath ";
    c->is_owned = strncmp(end, owned, sizeof(owned) - 1) == 0;
    size_t path = (size_t)(end - t) + (c->is_owned ? sizeof(owned) : sizeof(unowned)) - 1;
    if (path + tail >= text->len) {
        return NULL;
    }
    c->path = arena_text_n(a, t + path, text->len - tail - path);
    const char *again = c->path ? claim_print(a, c) : NULL;
    bool is_same = again && strlen(again) == text->len && memcmp(again, t, text->len) == 0;
    return is_same ? c : NULL;
}

sr_rc claim_load(struct store *s, struct sr_error *err)
{
    struct durable_bytes text = {0};
    s->claim = NULL;
    if (!s->type->claim_name) {
        return SR_OK;
    }
    const char *file = claim_file(s, s->arena);
    if (!file) {
        return claim_no_memory(err);
    }
    struct sr_error why = {0};
    sr_rc rc = durable_read(s->env, file, CLAIM_BYTES_MAX, s->arena, &text, &why);
    if (rc == SR_EABSENT) {
        return SR_OK;
    }
    if (rc != SR_OK && rc != SR_ECORRUPT) {
        return error_set(err, rc, "%s", why.words);
    }
    s->claim = rc == SR_OK ? claim_parse(s->arena, &text) : NULL;
    if (!s->claim) {
        env_log(s->env, SR_WARN, "ckpt", "%s is damaged: what it claims will not be deleted", file);
    }
    return SR_OK;
}

sr_rc claim_save(struct store *s, const char *entry_path, uint64_t lineage, bool is_owned,
                 struct sr_error *err)
{
    struct claim *c = arena_get(s->arena, sizeof(*c));
    const char *path = arena_text(s->arena, entry_path);
    const char *file = claim_file(s, s->arena);
    if (!c || !path || !file) {
        return claim_no_memory(err);
    }
    *c = (struct claim){.lineage = lineage, .is_owned = is_owned, .path = path};
    const char *text = claim_print(s->arena, c);
    if (!text) {
        return claim_no_memory(err);
    }
    sr_rc rc = durable_replace(s->env, file, text, strlen(text), err);
    if (rc == SR_OK) {
        s->claim = c;
    }
    return rc;
}

/* The number of a checkpoint of this very store; 0: it is another's. */
static uint64_t claim_own_number(const struct store *s)
{
    uint64_t number = 0;
    size_t len = strlen(s->place);
    const char *path = s->claim->path;
    char border = s->type->has_file ? '#' : '/';
    if (strncmp(path, s->place, len) != 0 || path[len] != border ||
        !durable_number(path + len + 1, "chk-", &number)) {
        return 0;
    }
    return number;
}

static sr_rc claim_remove(struct store *s, struct sr_error *err)
{
    uint64_t own = claim_own_number(s);
    if (own > 0) {
        return s->type->remove(s, 0, own, err);
    }
    struct store_list list = {0};
    struct arena *a = arena_new();
    sr_rc rc = a ? store_find(s->env, s->claim->path, a, &list, err) : claim_no_memory(err);
    for (uint32_t i = 0; rc == SR_OK && i < list.count; i++) {
        rc = store_remove(s->env, &list.entry[i], err);
    }
    arena_free(a);
    return rc;
}

sr_rc claim_forget(struct store *s, struct sr_error *err)
{
    const char *file = claim_file(s, s->arena);
    s->claim = NULL;
    return file ? durable_remove(s->env, file, err) : claim_no_memory(err);
}

sr_rc claim_release(struct store *s, struct sr_error *err)
{
    sr_rc rc = s->claim->is_owned ? claim_remove(s, err) : SR_OK;
    if (rc != SR_OK && rc != SR_EABSENT) {
        return rc;
    }
    return claim_forget(s, err);
}
