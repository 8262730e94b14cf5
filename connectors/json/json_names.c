#include "connectors/json/json_names.h"

#include <stdlib.h>

/* FNV-1a. Keys of the input are only looked up, never stored, so that no choice of keys can make
 * the probes longer than the schema's own names do. */
static uint32_t json_names_hash(const char *key, uint32_t len)
{
    uint32_t h = 2166136261u;
    for (uint32_t i = 0; i < len; i++) {
        h = (h ^ (uint8_t)key[i]) * 16777619u;
    }
    return h ^ h >> 15;
}

bool json_names_init(struct json_names *n, const struct sr_schema *schema)
{
    uint32_t size = 16;
    while (size < schema->fields * 2) {
        size *= 2;
    }
    n->schema = schema;
    n->mask = size - 1;
    n->slot = calloc(size, sizeof(*n->slot));
    if (!n->slot) {
        return false;
    }
    for (uint32_t c = 0; c < schema->fields; c++) {
        const char *name = schema->field[c].name;
        uint32_t i = json_names_hash(name, (uint32_t)strlen(name)) & n->mask;
        while (n->slot[i] != 0) {
            i = (i + 1) & n->mask;
        }
        n->slot[i] = c + 1;
    }
    return true;
}

void json_names_done(struct json_names *n)
{
    free(n->slot);
    n->slot = NULL;
}

uint32_t json_names_find(const struct json_names *n, const char *key, uint32_t len)
{
    uint32_t i = json_names_hash(key, len) & n->mask;
    for (; n->slot[i] != 0; i = (i + 1) & n->mask) {
        const char *name = n->schema->field[n->slot[i] - 1].name;
        if (strncmp(name, key, len) == 0 && name[len] == '\0' && memchr(key, 0, len) == NULL) {
            return n->slot[i] - 1;
        }
    }
    return JSON_NAMES_NONE;
}

void json_names_learn(struct json_names *n, uint32_t nth, const char *key, uint32_t len,
                      uint32_t column)
{
    if (nth < JSON_NAMES_GUESSES && len <= JSON_NAMES_GUESSED) {
        struct json_guess *g = &n->guess[nth];
        g->len = len;
        g->column = column;
        memcpy(g->key, key, len);
    }
}
