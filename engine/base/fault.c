#include "engine/base/fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"

#define WORD_BYTES_MAX 64u /* longer words have no near one */

void faults_init(struct faults *f, struct arena *a)
{
    sr_assert(a != NULL);
    memset(f, 0, sizeof(*f));
    f->arena = a;
}

static bool fault_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool fault_is_known(const struct faults *f, struct place at, const char *words)
{
    for (uint32_t i = 0; i < f->count; i++) {
        const struct fault *k = &f->fault[i];
        if (k->at.line == at.line && k->at.column == at.column &&
            fault_same_text(k->at.file, at.file) && fault_same_text(k->words, words)) {
            return true;
        }
    }
    return false;
}

void fault_add(struct faults *f, enum fault_level level, struct place at, const char *hint,
               const char *fmt, ...)
{
    char words[1024];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(words, sizeof(words), fmt, args);
    va_end(args);
    if (fault_is_known(f, at, words)) {
        return;
    }
    f->errors += level == FAULT_ERROR ? 1 : 0;
    f->warnings += level == FAULT_WARNING ? 1 : 0;
    if (f->count == FAULTS_MAX) {
        f->dropped++;
        return;
    }
    struct fault *k = &f->fault[f->count++];
    k->level = level;
    k->at = at;
    k->at.file = arena_text(f->arena, at.file);
    k->words = arena_text(f->arena, words);
    k->words = k->words ? k->words : "out of memory";
    k->hint = arena_text(f->arena, hint);
    k->line = f->line_of && at.line > 0 ? f->line_of(f->ctx, at) : NULL;
}

static int fault_compare(const struct fault *a, const struct fault *b)
{
    int by_file = strcmp(a->at.file ? a->at.file : "", b->at.file ? b->at.file : "");
    if (by_file != 0) {
        return by_file;
    }
    if (a->at.line != b->at.line) {
        return a->at.line < b->at.line ? -1 : 1;
    }
    if (a->at.column != b->at.column) {
        return a->at.column < b->at.column ? -1 : 1;
    }
    return 0;
}

/* Insertion, because it is stable and there are few: faults of one place stay in their order. */
void faults_sort(struct faults *f)
{
    for (uint32_t i = 1; i < f->count; i++) {
        struct fault one = f->fault[i];
        uint32_t k = i;
        for (; k > 0 && fault_compare(&f->fault[k - 1], &one) > 0; k--) {
            f->fault[k] = f->fault[k - 1];
        }
        f->fault[k] = one;
    }
}

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
