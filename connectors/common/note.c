#include "connectors/common/note.h"

#include <stdlib.h>
#include <string.h>

#define NOTE_FIRST 256u /* bytes of the first allocation */

static bool note_grow(struct sr_out *o, size_t more)
{
    if (more > SIZE_MAX / 2 - o->len) {
        return false;
    }
    size_t need = o->len + more;
    size_t capacity = o->capacity > 0 ? o->capacity : NOTE_FIRST;
    while (capacity < need) {
        capacity *= 2;
    }
    uint8_t *data = realloc(o->data, capacity);
    if (!data) {
        return false;
    }
    o->data = data;
    o->capacity = capacity;
    return true;
}

struct sr_out note_out(void) { return (struct sr_out){.grow = note_grow}; }

void note_free(struct sr_out *o)
{
    free(o->data);
    *o = note_out();
}

static bool note_put(struct sr_out *o, const void *data, size_t len)
{
    uint8_t *to = sr_out_room(o, len);
    if (!to) {
        return false;
    }
    if (len > 0) {
        memcpy(to, data, len);
    }
    o->len += len;
    return true;
}

/* The lowest `bytes` bytes of v, lowest first. */
static bool note_put_number(struct sr_out *o, uint64_t v, uint32_t bytes)
{
    uint8_t b[8];
    for (uint32_t i = 0; i < bytes; i++) {
        b[i] = (uint8_t)(v >> (8 * i));
    }
    return note_put(o, b, bytes);
}

bool note_put_u8(struct sr_out *o, uint8_t v) { return note_put_number(o, v, 1); }

bool note_put_u32(struct sr_out *o, uint32_t v) { return note_put_number(o, v, 4); }

bool note_put_u64(struct sr_out *o, uint64_t v) { return note_put_number(o, v, 8); }

bool note_put_text(struct sr_out *o, const char *s)
{
    size_t len = strlen(s);
    return len <= NOTE_TEXT_MAX && note_put_u32(o, (uint32_t)len) && note_put(o, s, len);
}

struct note_in note_in(struct sr_bytes note)
{
    const uint8_t *at = note.data;
    return (struct note_in){.at = at, .end = at ? at + note.len : at, .is_broken = false};
}

static uint64_t note_get_number(struct note_in *in, uint32_t bytes)
{
    if (in->is_broken || (size_t)(in->end - in->at) < bytes) {
        in->is_broken = true;
        return 0;
    }
    uint64_t v = 0;
    for (uint32_t i = 0; i < bytes; i++) {
        v |= (uint64_t)in->at[i] << (8 * i);
    }
    in->at += bytes;
    return v;
}

uint8_t note_get_u8(struct note_in *in) { return (uint8_t)note_get_number(in, 1); }

uint32_t note_get_u32(struct note_in *in) { return (uint32_t)note_get_number(in, 4); }

uint64_t note_get_u64(struct note_in *in) { return note_get_number(in, 8); }

char *note_get_text(struct note_in *in)
{
    uint32_t len = note_get_u32(in);
    if (in->is_broken || len > NOTE_TEXT_MAX || (size_t)(in->end - in->at) < len ||
        memchr(in->at, 0, len)) {
        in->is_broken = true;
        return NULL;
    }
    char *s = malloc((size_t)len + 1);
    if (!s) {
        in->is_broken = in->lacks_memory = true;
        return NULL;
    }
    memcpy(s, in->at, len);
    s[len] = 0;
    in->at += len;
    return s;
}

bool note_is_done(const struct note_in *in) { return !in->is_broken && in->at == in->end; }

sr_rc note_why(const struct note_in *in) { return in->lacks_memory ? SR_ENOMEM : SR_ECORRUPT; }
