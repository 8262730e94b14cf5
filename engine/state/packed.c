#include "engine/state/packed.h"

#include <endian.h>
#include <string.h>

#include "engine/base/assert.h"

/* --- Writing ---------------------------------------------------------------------------------- */

static uint8_t *packed_u64(uint8_t *to, uint64_t v)
{
    v = htole64(v);
    return (uint8_t *)memcpy(to, &v, sizeof(v)) + sizeof(v);
}

static uint8_t *packed_u32(uint8_t *to, uint32_t v)
{
    v = htole32(v);
    return (uint8_t *)memcpy(to, &v, sizeof(v)) + sizeof(v);
}

static uint8_t *packed_fixed(uint8_t *to, const struct sr_type *t, const void *at)
{
    uint16_t half;
    uint32_t word;
    uint64_t number;
    switch (value_size(t)) {
    case 1:
        *to = *(const uint8_t *)at;
        return to + 1;
    case 2:
        memcpy(&half, at, sizeof(half));
        half = htole16(half);
        return (uint8_t *)memcpy(to, &half, sizeof(half)) + sizeof(half);
    case 4:
        memcpy(&word, at, sizeof(word));
        return packed_u32(to, word);
    case 8:
        memcpy(&number, at, sizeof(number));
        return packed_u64(to, number);
    case 16:
        if (t->kind == SR_DECIMAL) {
            const struct sr_wide *wide = at;
            return packed_u64(packed_u64(to, wide->low), (uint64_t)wide->high);
        } else {
            const struct sr_instant *instant = at;
            return packed_u32(packed_u64(to, (uint64_t)instant->ms), (uint32_t)instant->ns);
        }
    default:
        sr_assert(value_size(t) == 0); /* the type NULL has no values */
        return to;
    }
}

size_t packed_room(const struct map *m, uint32_t slot, uint32_t c)
{
    const struct sr_type *t = &m->head.column[c].type;
    if (value_class(t) == VALUE_FIXED) {
        return 1 + value_size(t);
    }
    const struct heap_ref *ref = sr_map_at(&m->head, slot, c);
    return 5 + (size_t)ref->len;
}

uint8_t *packed_put(uint8_t *to, const struct map *m, uint32_t slot, uint32_t c)
{
    const struct sr_type *t = &m->head.column[c].type;
    if (sr_map_is_null(&m->head, slot, c)) {
        *to = 0;
        return to + 1;
    }
    const void *at = sr_map_at(&m->head, slot, c);
    const struct heap_ref *ref = at;
    switch (value_class(t)) {
    case VALUE_FIXED:
        *to = 1;
        return packed_fixed(to + 1, t, at);
    case VALUE_TEXT:
        *to = 1;
        to = packed_u32(to + 1, ref->len);
        break;
    case VALUE_NESTED: /* kept as it is saved */
        break;
    }
    memcpy(to, heap_bytes(&m->heap, *ref), ref->len);
    return to + ref->len;
}

/* --- Reading ---------------------------------------------------------------------------------- */

static uint64_t packed_get_u64(const uint8_t *at)
{
    uint64_t v;
    memcpy(&v, at, sizeof(v));
    return le64toh(v);
}

static uint32_t packed_get_u32(const uint8_t *at)
{
    uint32_t v;
    memcpy(&v, at, sizeof(v));
    return le32toh(v);
}

/* Bytes of a value of fixed size behind its mark. */
static uint32_t packed_size(const struct sr_type *t)
{
    bool is_instant = value_size(t) == 16 && t->kind != SR_DECIMAL;
    return is_instant ? 12 : value_size(t);
}

sr_rc packed_skip(struct bytes_in *in, const struct sr_type *t)
{
    sr_assert_hot(value_class(t) != VALUE_NESTED);
    size_t left = (size_t)(in->end - in->at);
    if (left < 1 || in->at[0] > 1 || (in->at[0] == 1 && t->kind == SR_NULL)) {
        return SR_ECORRUPT;
    }
    size_t size = 1;
    if (in->at[0] == 1 && value_class(t) == VALUE_TEXT) {
        size = left < 5 ? left + 1 : 5 + (size_t)packed_get_u32(in->at + 1);
    } else if (in->at[0] == 1) {
        size = 1 + packed_size(t);
    }
    if (left < size) {
        return SR_ECORRUPT;
    }
    in->at += size;
    return SR_OK;
}

static void packed_get_fixed(const uint8_t *from, const struct sr_type *t, void *at)
{
    uint16_t half;
    switch (value_size(t)) {
    case 1:
        *(uint8_t *)at = *from;
        break;
    case 2:
        memcpy(&half, from, sizeof(half));
        *(uint16_t *)at = le16toh(half);
        break;
    case 4:
        *(uint32_t *)at = packed_get_u32(from);
        break;
    case 8:
        *(uint64_t *)at = packed_get_u64(from);
        break;
    case 16:
        if (t->kind == SR_DECIMAL) {
            *(struct sr_wide *)at = (struct sr_wide){.low = packed_get_u64(from),
                                                     .high = (int64_t)packed_get_u64(from + 8)};
        } else {
            *(struct sr_instant *)at = (struct sr_instant){.ms = (int64_t)packed_get_u64(from),
                                                           .ns = (int32_t)packed_get_u32(from + 8)};
        }
        break;
    default:
        break;
    }
}

sr_rc packed_get(struct bytes_in *in, struct map *m, uint32_t slot, uint32_t c)
{
    const struct sr_type *t = &m->head.column[c].type;
    void *at = sr_map_at(&m->head, slot, c);
    uint8_t mark = *in->at++;
    if (mark == 0) {
        return SR_OK; /* as it is in a new record */
    }
    sr_rc rc = SR_OK;
    if (value_class(t) == VALUE_TEXT) {
        uint32_t len = packed_get_u32(in->at);
        rc = heap_set(&m->heap, at, in->at + 4, len);
        in->at += 4 + (size_t)len;
    } else {
        packed_get_fixed(in->at, t, at);
        in->at += packed_size(t);
    }
    if (rc == SR_OK) {
        sr_map_set_null(&m->head, slot, c, false);
    }
    return rc;
}
