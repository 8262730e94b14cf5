#include "engine/base/nearest.h"

#include <string.h>

#define WORD_BYTES_MAX 64u /* longer words have no near one */

static uint32_t word_min(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* Damerau-Levenshtein, restricted: three rows of the table are enough. */
uint32_t word_distance(const char *a, const char *b)
{
    size_t la = strlen(a);
    size_t lb = strlen(b);
    if (la > WORD_BYTES_MAX || lb > WORD_BYTES_MAX) {
        return strcmp(a, b) == 0 ? 0 : UINT32_MAX;
    }
    uint32_t row[3][WORD_BYTES_MAX + 1];
    for (uint32_t k = 0; k <= lb; k++) {
        row[0][k] = k;
    }
    for (uint32_t i = 1; i <= la; i++) {
        uint32_t *now = row[i % 3];
        const uint32_t *up = row[(i + 2) % 3];
        const uint32_t *up2 = row[(i + 1) % 3];
        now[0] = i;
        for (uint32_t k = 1; k <= lb; k++) {
            uint32_t cost = a[i - 1] == b[k - 1] ? 0 : 1;
            now[k] = word_min(word_min(up[k] + 1, now[k - 1] + 1), up[k - 1] + cost);
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1]) {
                now[k] = word_min(now[k], up2[k - 2] + 1);
            }
        }
    }
    return row[la % 3][lb];
}

const char *nearest_word(const char *word, const char *const *words)
{
    size_t len = strlen(word);
    /* A third of the word may be wrong: more would be guessing. */
    uint32_t allowed = len < 3 ? 1 : (uint32_t)word_min((uint32_t)(len / 3), 4);
    const char *best = NULL;
    uint32_t best_distance = UINT32_MAX;
    for (; *words; words++) {
        uint32_t d = word_distance(word, *words);
        if (d < best_distance && d <= allowed && d < strlen(*words)) {
            best = *words;
            best_distance = d;
        }
    }
    return best;
}
