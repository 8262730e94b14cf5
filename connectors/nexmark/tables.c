#include "connectors/nexmark/tables.h"

#include <stdio.h>
#include <string.h>

#include "connectors/nexmark/generator.h"
#include "connectors/nexmark/random.h"

#define TABLES_POOL_SEED UINT64_C(0x4E45584D41524B31)
#define TABLES_URL_SEED  UINT64_C(0x4E45584D41524B32)
#define TABLES_URL_MAX   96u /* the longest is 79 bytes */
#define TABLES_NAME_MAX  16u

/* Base 26 by C's division, so a block of six letters from a negative number runs downward. */
static void tables_pool(uint8_t *to)
{
    struct random r = {TABLES_POOL_SEED};
    int32_t v = 0;
    for (uint32_t i = 0; i < TABLES_POOL; i++) {
        if (i % 6 == 0) v = random_i32(&r);
        to[i] = (uint8_t)('a' + v % 26);
        v /= 26;
    }
}

static uint32_t tables_reverse_bits(uint32_t v)
{
    v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
    v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
    v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(v);
}

static uint32_t tables_url(struct random *r, char *to, size_t room)
{
    char s[3][8];
    for (int i = 0; i < 3; i++) {
        s[i][generator_string(r, 5, '_', s[i])] = '\0';
    }
    return (uint32_t)snprintf(to, room, "https://www.nexmark.com/%s/%s/%s/item.htm?query=1", s[0],
                              s[1], s[2]);
}

/* Java's abs of an int: the smallest one has no counterpart and stays negative. */
static int32_t tables_abs(uint32_t v)
{
    int32_t i = (int32_t)v;
    return i < 0 && i != INT32_MIN ? -i : i;
}

static void tables_texts(struct tables *t)
{
    static const char *const hot[TABLES_HOT] = {"Google", "Facebook", "Baidu", "Apple"};
    struct random r = {TABLES_URL_SEED};
    char *url = (char *)t->urls->data, *name = (char *)t->names->data;
    uint32_t url_at = 0, name_at = 0;
    for (uint32_t i = 0; i < TABLES_HOT + TABLES_CHANNELS; i++) {
        uint32_t k = i - TABLES_HOT;
        uint32_t len = tables_url(&r, url + url_at, TABLES_URL_MAX);
        if (i >= TABLES_HOT && random_below(&r, 10) > 0) {
            len += (uint32_t)snprintf(url + url_at + len, TABLES_URL_MAX - len, "&channel_id=%d",
                                      tables_abs(tables_reverse_bits(k)));
        }
        t->url[i] = (struct sr_span){url_at, len};
        url_at += len;
        len = i < TABLES_HOT ? (uint32_t)snprintf(name + name_at, TABLES_NAME_MAX, "%s", hot[i])
                             : (uint32_t)snprintf(name + name_at, TABLES_NAME_MAX, "channel-%u", k);
        t->name[i] = (struct sr_span){name_at, len};
        name_at += len;
    }
}

sr_rc tables_open(struct tables *t, const struct sr_host *host, struct sr_error *err)
{
    uint32_t n = TABLES_HOT + TABLES_CHANNELS;
    t->pool = host->buffer_new(host, TABLES_POOL);
    t->urls = host->buffer_new(host, n * TABLES_URL_MAX);
    t->names = host->buffer_new(host, n * TABLES_NAME_MAX);
    if (!t->pool || !t->urls || !t->names) {
        return host->fail(host, err, SR_ENOMEM, "no memory for the generator's tables");
    }
    tables_pool(t->pool->data);
    tables_texts(t);
    return SR_OK;
}

void tables_close(struct tables *t, const struct sr_host *host)
{
    host->buffer_release(t->pool);
    host->buffer_release(t->urls);
    host->buffer_release(t->names);
    t->pool = t->urls = t->names = NULL;
}
