#include "engine/data/host.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/data/builder.h"
#include "engine/data/codec.h"
#include "engine/data/inner.h"

static const struct host_ctx *host_ctx_of(const struct sr_host *h) { return h->ctx; }

static int64_t host_wall_us(const struct sr_host *h)
{
    const struct env *e = host_ctx_of(h)->env;
    return e->wall_us(e);
}

static int64_t host_mono_us(const struct sr_host *h)
{
    const struct env *e = host_ctx_of(h)->env;
    return e->mono_us(e);
}

static uint64_t host_random(const struct sr_host *h)
{
    const struct env *e = host_ctx_of(h)->env;
    return e->random(e);
}

SR_PRINTF(3, 4)
static void host_log(const struct sr_host *h, enum sr_level level, const char *fmt, ...)
{
    char line[1024];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    const struct host_ctx *ctx = host_ctx_of(h);
    env_log(ctx->env, level, ctx->who, "%s", line);
}

SR_PRINTF(4, 5)
static sr_rc host_fail(const struct sr_host *h, struct sr_error *err, sr_rc rc, const char *fmt,
                       ...)
{
    (void)h;
    char words[sizeof(err->words)];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(words, sizeof(words), fmt, args);
    va_end(args);
    return error_set(err, rc, "%s", words);
}

static struct sr_buffer *host_buffer_new(const struct sr_host *h, uint32_t capacity)
{
    return buffer_new(host_ctx_of(h)->home, capacity);
}

static void host_buffer_hold(struct sr_buffer *b) { (void)buffer_hold(b); }

static sr_rc host_rows_encode(const struct sr_host *h, const struct sr_view *v, uint32_t from,
                              uint32_t count, struct sr_out *out, struct sr_error *err)
{
    (void)h;
    if (!codec_put_view(out, v, from, count)) {
        return error_set(err, SR_ENOMEM, "encode rows: out of memory");
    }
    return SR_OK;
}

/* NOLINTNEXTLINE(readability-function-size): parameters are the lobby's */
static sr_rc host_rows_decode(const struct sr_host *h, const struct sr_schema *schema,
                              const void *bytes, size_t len, size_t *used, struct sr_view **out,
                              struct sr_error *err)
{
    struct bytes_in in = bytes_in(bytes, len);
    const uint8_t *begin = in.at;
    sr_rc rc = codec_get_view(&in, host_ctx_of(h)->home, schema, out, err);
    if (rc == SR_OK) {
        *used = (size_t)(in.at - begin);
    }
    return rc;
}

static void host_digest(const void *bytes, size_t len, uint64_t out[2])
{
    struct digest d = digest_of(bytes, len);
    out[0] = d.low;
    out[1] = d.high;
}

/* The place of a counter; of a new one too. */
static uint32_t host_counter(struct host_ctx *ctx, const char *name)
{
    uint32_t counters = atomic_load_explicit(&ctx->counters, memory_order_relaxed);
    for (uint32_t i = 0; i < counters; i++) {
        if (strncmp(ctx->counter[i].name, name, HOST_COUNTER_NAME_MAX) == 0) return i;
    }
    if (counters > HOST_COUNTERS_MAX) return HOST_COUNTERS_MAX;
    if (counters == HOST_COUNTERS_MAX) name = "other";
    struct host_counter *k = &ctx->counter[counters];
    (void)snprintf(k->name, sizeof(k->name), "%.*s", (int)HOST_COUNTER_NAME_MAX, name);
    atomic_store_explicit(&ctx->counters, counters + 1, memory_order_release);
    return counters;
}

static void host_count(const struct sr_host *h, const char *name, int64_t by)
{
    struct host_ctx *ctx = h->ctx;
    struct host_counter *k = &ctx->counter[host_counter(ctx, name)];
    int64_t before = atomic_load_explicit(&k->value, memory_order_relaxed);
    atomic_store_explicit(&k->value, before + by, memory_order_relaxed);
}

static void host_split_at(const struct sr_host *h, const char *split, int64_t position, int64_t end)
{
    struct host_ctx *ctx = h->ctx;
    uint32_t splits = atomic_load_explicit(&ctx->splits, memory_order_relaxed);
    uint32_t at = 0;
    while (at < splits && strncmp(ctx->split[at].id, split, HOST_SPLIT_NAME_MAX) != 0) {
        at++;
    }
    if (at == HOST_SPLITS_MAX) {
        return;
    }
    struct host_split *k = &ctx->split[at];
    atomic_store_explicit(&k->position, position, memory_order_relaxed);
    atomic_store_explicit(&k->end, end, memory_order_relaxed);
    if (at == splits) {
        (void)snprintf(k->id, sizeof(k->id), "%.*s", (int)HOST_SPLIT_NAME_MAX, split); /* cut */
        atomic_store_explicit(&ctx->splits, splits + 1, memory_order_release);
    }
}

void host_init(struct sr_host *h, struct host_ctx *ctx, const struct env *env, struct sr_home *home,
               const char *who)
{
    sr_assert(env != NULL);
    memset(ctx, 0, sizeof(*ctx));
    ctx->env = env;
    ctx->home = home;
    (void)snprintf(ctx->who, sizeof(ctx->who), "%s", who);
    *h = (struct sr_host){
        .size = sizeof(*h),
        .ctx = ctx,
        .files = env->files,
        .sqlite_vfs = env->sqlite_vfs,
        .time_zone = "UTC",
        .wall_us = host_wall_us,
        .mono_us = host_mono_us,
        .random = host_random,
        .log = host_log,
        .fail = host_fail,
        .buffer_new = host_buffer_new,
        .buffer_hold = host_buffer_hold,
        .buffer_release = buffer_release,
        .builder_grow = builder_grow,
        .builder_use = builder_use,
        .rows_encode = host_rows_encode,
        .rows_decode = host_rows_decode,
        .view_release = view_release,
        .digest = host_digest,
        .count = host_count,
        .split_at = host_split_at,
        .builder_widen = inner_widen,
        .builder_null = inner_null,
        .builder_forget = inner_forget,
        .builder_changes = builder_changes,
    };
}
