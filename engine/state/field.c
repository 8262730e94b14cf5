#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/bytes.h"
#include "engine/data/codec.h"
#include "engine/state/map.h"

#define FIELD_LOOP(type)                                                     \
    do {                                                                     \
        type *out_ = (type *)to->values + at;                                \
        for (uint32_t i = 0; i < count; i++) {                               \
            memcpy(&out_[i], sr_map_at(&m->head, slot[i], c), sizeof(type)); \
        }                                                                    \
    } while (0)

static void field_get_fixed(const struct map *m, const uint32_t *slot, uint32_t count, uint32_t c,
                            struct sr_column *to, uint32_t at)
{
    switch (value_size(&m->head.column[c].type)) {
    case 1:
        FIELD_LOOP(uint8_t);
        break;
    case 2:
        FIELD_LOOP(uint16_t);
        break;
    case 4:
        FIELD_LOOP(uint32_t);
        break;
    case 8:
        FIELD_LOOP(uint64_t);
        break;
    case 16:
        FIELD_LOOP(struct sr_wide);
        break;
    default:
        sr_assert(false);
    }
}

/* Text and nested values; NULL rows are left to the caller. */
static sr_rc field_get_heap(const struct map *m, uint32_t slot, uint32_t c, struct sr_home *home,
                            struct sr_column *to, uint32_t at)
{
    struct heap_ref ref = *(const struct heap_ref *)sr_map_at(&m->head, slot, c);
    const uint8_t *bytes = heap_bytes(&m->heap, ref);
    if (value_class(&m->head.column[c].type) == VALUE_TEXT) {
        return column_put_bytes(home, to, at, bytes, ref.len) ? SR_OK : SR_ENOMEM;
    }
    struct bytes_in in = bytes_in(bytes, ref.len);
    return codec_get(&in, home, to, at);
}

sr_rc field_get(const struct map *m, const uint32_t *slot, uint32_t count, uint32_t c,
                struct sr_home *home, struct sr_column *to)
{
    bool is_fixed = value_class(&m->head.column[c].type) == VALUE_FIXED;
    uint32_t at = to->rows;
    sr_assert(at + count <= to->capacity);
    if (is_fixed) {
        field_get_fixed(m, slot, count, c, to, at);
    }
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; i < count && rc == SR_OK; i++) {
        if (sr_map_is_null(&m->head, slot[i], c)) {
            column_set_null(to, at + i);
        } else if (!is_fixed) {
            rc = field_get_heap(m, slot[i], c, home, to, at + i);
        }
    }
    to->rows = at + count;
    return rc;
}

static sr_rc field_put_nested(struct map *m, uint32_t slot, uint32_t c,
                              const struct sr_column *from, uint32_t r)
{
    struct sr_out out = bytes_out();
    sr_rc rc = codec_put(&out, from, r) && out.len <= UINT32_MAX ? SR_OK : SR_ENOMEM;
    if (rc == SR_OK) {
        rc = heap_set(&m->heap, sr_map_at(&m->head, slot, c), out.data, (uint32_t)out.len);
    }
    bytes_free(&out);
    return rc;
}

static sr_rc field_put_one(struct map *m, uint32_t slot, uint32_t c, const struct sr_column *from,
                           uint32_t r)
{
    const struct sr_type *t = &m->head.column[c].type;
    enum value_class class = value_class(t);
    sr_rc rc = SR_OK;
    if (!sr_is_valid(from, r)) {
        if (class != VALUE_FIXED) {
            heap_clear(&m->heap, sr_map_at(&m->head, slot, c));
        }
        sr_map_set_null(&m->head, slot, c, true);
        return SR_OK;
    }
    if (class == VALUE_NESTED) {
        rc = field_put_nested(m, slot, c, from, r);
    } else {
        struct value v = value_of(from, r);
        if (class == VALUE_TEXT) {
            rc = heap_set(&m->heap, sr_map_at(&m->head, slot, c), v.bytes, v.len);
        } else {
            memcpy(sr_map_at(&m->head, slot, c), v.at, value_size(t));
        }
    }
    if (rc == SR_OK) {
        sr_map_set_null(&m->head, slot, c, false);
    }
    return rc;
}

sr_rc field_put(struct map *m, const uint32_t *slot, uint32_t count, uint32_t c,
                const struct sr_column *from, const uint16_t *row)
{
    sr_assert(c >= m->head.keys + m->head.sorts);
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; i < count && rc == SR_OK; i++) {
        rc = field_put_one(m, slot[i], c, from, row ? row[i] : i);
    }
    return rc;
}
