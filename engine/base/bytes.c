#include "engine/base/bytes.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"

static bool bytes_grow(struct sr_out *o, size_t more)
{
    sr_assert(o->len <= o->capacity);
    size_t need = 0;
    if (__builtin_add_overflow(o->len, more, &need) || need > PTRDIFF_MAX) {
        return false;
    }
    size_t capacity = o->capacity < 128 ? 256 : o->capacity * 2;
    if (capacity < need) {
        capacity = need;
    }
    uint8_t *data = realloc(o->data, capacity);
    if (!data) {
        return false;
    }
    o->data = data;
    o->capacity = capacity;
    return true;
}

struct sr_out bytes_out(void) { return (struct sr_out){.grow = bytes_grow}; }

void bytes_free(struct sr_out *o)
{
    free(o->data);
    *o = bytes_out();
}

bool bytes_put(struct sr_out *o, const void *data, size_t len)
{
    if (len == 0) {
        return true;
    }
    uint8_t *to = sr_out_room(o, len);
    if (!to) {
        return false;
    }
    memcpy(to, data, len);
    o->len += len;
    return true;
}

bool bytes_put_u8(struct sr_out *o, uint8_t v) { return bytes_put(o, &v, 1); }

bool bytes_put_u32(struct sr_out *o, uint32_t v)
{
    uint8_t b[4] = {(uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16), (uint8_t)(v >> 24)};
    return bytes_put(o, b, sizeof(b));
}

bool bytes_put_u64(struct sr_out *o, uint64_t v)
{
    uint8_t b[8];
    for (unsigned i = 0; i < 8; i++) {
        b[i] = (uint8_t)(v >> (8 * i));
    }
    return bytes_put(o, b, sizeof(b));
}

/* All or nothing: a length without its bytes must never be left behind. */
bool bytes_put_blob(struct sr_out *o, const void *data, uint32_t len)
{
    if (!sr_out_room(o, (size_t)len + 4)) {
        return false;
    }
    return bytes_put_u32(o, len) && bytes_put(o, data, len);
}

bool bytes_put_text(struct sr_out *o, const char *s)
{
    size_t len = strlen(s);
    return len <= UINT32_MAX && bytes_put_blob(o, s, (uint32_t)len);
}

struct bytes_in bytes_in(const void *data, size_t len)
{
    static const uint8_t nothing[1] = {0};
    const uint8_t *at = len > 0 ? data : nothing;
    return (struct bytes_in){.at = at, .end = at + len};
}

const uint8_t *bytes_get(struct bytes_in *in, size_t len)
{
    if (in->is_broken || (size_t)(in->end - in->at) < len) {
        in->is_broken = true;
        return NULL;
    }
    const uint8_t *at = in->at;
    in->at += len;
    return at;
}

uint8_t bytes_get_u8(struct bytes_in *in)
{
    const uint8_t *b = bytes_get(in, 1);
    return b ? b[0] : 0;
}

uint32_t bytes_get_u32(struct bytes_in *in)
{
    const uint8_t *b = bytes_get(in, 4);
    uint32_t v = 0;
    for (unsigned i = 0; b && i < 4; i++) {
        v |= (uint32_t)b[i] << (8 * i);
    }
    return v;
}

uint64_t bytes_get_u64(struct bytes_in *in)
{
    const uint8_t *b = bytes_get(in, 8);
    uint64_t v = 0;
    for (unsigned i = 0; b && i < 8; i++) {
        v |= (uint64_t)b[i] << (8 * i);
    }
    return v;
}

struct sr_bytes bytes_get_blob(struct bytes_in *in)
{
    uint32_t len = bytes_get_u32(in);
    const uint8_t *data = bytes_get(in, len);
    return data ? (struct sr_bytes){.data = data, .len = len} : (struct sr_bytes){0};
}
