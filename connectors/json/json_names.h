/* From the keys of objects to columns, quickly: objects of one stream have their keys in the same
 * order, so the column of the n-th key is guessed from the object before and only compared.
 */
#ifndef SR_JSON_NAMES_H
#define SR_JSON_NAMES_H

#include <streamrun/types.h>
#include <string.h>

#define JSON_NAMES_GUESSES 64u
#define JSON_NAMES_GUESSED 40u /* bytes of a key that can be guessed */
#define JSON_NAMES_NONE    UINT32_MAX

struct json_guess {
    uint32_t len; /* of the key; 0: no guess */
    uint32_t column;
    char key[JSON_NAMES_GUESSED];
};

struct json_names {
    const struct sr_schema *schema;
    uint32_t *slot; /* open addressing: column + 1, 0 when free; owned */
    uint32_t mask;
    struct json_guess guess[JSON_NAMES_GUESSES];
};

bool json_names_init(struct json_names *n, const struct sr_schema *schema); /* false: memory */
void json_names_done(struct json_names *n);
/* The column of that name; JSON_NAMES_NONE: there is none. */
uint32_t json_names_find(const struct json_names *n, const char *key, uint32_t len);
/* Remembers that the n-th key was this one. */
void json_names_learn(struct json_names *n, uint32_t nth, const char *key, uint32_t len,
                      uint32_t column);

/* Keys are short, so that to call memcmp would cost more than to compare. */
static inline bool json_names_same(const char *a, const char *b, uint32_t len)
{
    uint64_t x = 0, y = 0;
    if (len < 8) {
        uint32_t i = 0;
        while (i < len && a[i] == b[i]) {
            i++;
        }
        return i == len;
    }
    for (uint32_t i = 0; i + 8 < len; i += 8) {
        memcpy(&x, a + i, 8);
        memcpy(&y, b + i, 8);
        if (x != y) {
            return false;
        }
    }
    memcpy(&x, a + len - 8, 8);
    memcpy(&y, b + len - 8, 8);
    return x == y;
}

/* True: the n-th key is the one that was there last time, and *column its column. */
static inline bool json_names_guess(const struct json_names *n, uint32_t nth, const char *key,
                                    uint32_t len, uint32_t *column)
{
    if (nth >= JSON_NAMES_GUESSES) {
        return false;
    }
    const struct json_guess *g = &n->guess[nth];
    if (g->len != len || len == 0 || !json_names_same(g->key, key, len)) {
        return false;
    }
    *column = g->column;
    return true;
}

#endif
