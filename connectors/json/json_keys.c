#include "connectors/json/json_keys.h"

#include <stdlib.h>
#include <string.h>

#define JSON_KEYS_SHORT 12u /* entries that are compared each with each */

static bool json_keys_equal(const struct sr_column *key, uint32_t a, uint32_t b)
{
    uint32_t len = 0, other_len = 0;
    const char *s = sr_text(key, a, &len);
    const char *other = sr_text(key, b, &other_len);
    return len == other_len && memcmp(s, other, len) == 0;
}

static int json_keys_order(const void *a, const void *b, void *column)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b, len = 0, other_len = 0;
    const char *s = sr_text(column, x, &len);
    const char *other = sr_text(column, y, &other_len);
    int order = memcmp(s, other, len < other_len ? len : other_len);
    if (order != 0) {
        return order;
    }
    if (len != other_len) {
        return len < other_len ? -1 : 1;
    }
    return x < y ? -1 : 1;
}

static bool json_keys_differ(const struct sr_column *key, struct sr_span s)
{
    for (uint32_t i = 1; i < s.len; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (json_keys_equal(key, s.at + i, s.at + k)) {
                return false;
            }
        }
    }
    return true;
}

/* Row `from` of each column of b, and of the fields of ROWs, to row `to`. */
static void json_keys_move(struct sr_builder *b, uint32_t from, uint32_t to)
{
    for (uint32_t c = 0; c < b->cols; c++) {
        struct sr_column *todo = b->col[c]; /* it and fields of ROWs, linked by `next` */
        todo->next = NULL;
        while (todo) {
            struct sr_column *k = todo;
            todo = k->next;
            k->next = NULL;
            size_t size = sr_value_size(&k->type);
            uint8_t *values = k->values;
            memmove(values + to * size, values + from * size, size);
            if (k->valid) {
                uint64_t bit = UINT64_C(1) << (to & 63);
                uint64_t *word = &k->valid_space[to >> 6];
                *word = sr_is_valid(k, from) ? *word | bit : *word & ~bit;
            }
            for (uint32_t i = 0; k->type.kind == SR_ROW && i < k->children; i++) {
                k->child[i]->next = todo;
                todo = k->child[i];
            }
        }
    }
}

/* Which entries have the key of a later one. `order` and `is_old` have room for each entry. */
static void json_keys_sort(struct sr_column *key, struct sr_span s, uint32_t *order, bool *is_old)
{
    for (uint32_t i = 0; i < s.len; i++) {
        order[i] = s.at + i;
    }
    qsort_r(order, s.len, sizeof(*order), json_keys_order, key);
    for (uint32_t i = 0; i < s.len; i++) {
        bool is_same = i + 1 < s.len && json_keys_equal(key, order[i], order[i + 1]);
        is_old[order[i] - s.at] = is_same;
    }
}

bool json_keys_last(struct json_decoder *x, struct sr_builder *b, uint32_t c)
{
    struct sr_builder *entries = b->inner[c];
    struct sr_span *s = &((struct sr_span *)b->col[c]->values)[b->rows];
    struct sr_column *key = entries->col[0];
    if (s->len < 2 || (s->len <= JSON_KEYS_SHORT && json_keys_differ(key, *s))) {
        return true;
    }
    if (!json_value_room(x, s->len * (uint32_t)(sizeof(uint32_t) + sizeof(bool)))) {
        return false;
    }
    uint32_t *order = (void *)x->scratch;
    bool *is_old = (bool *)(order + s->len);
    json_keys_sort(key, *s, order, is_old);
    uint32_t stay = s->at;
    for (uint32_t i = 0; i < s->len; i++) {
        if (!is_old[i] && s->at + i != stay) {
            json_keys_move(entries, s->at + i, stay);
        }
        stay += is_old[i] ? 0 : 1;
    }
    while (entries->rows > stay) {
        entries->rows--;
        sr_row_drop(entries);
    }
    s->len = stay - s->at;
    return true;
}
