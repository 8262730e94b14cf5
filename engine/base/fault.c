#include "engine/base/fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"

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
    char code[CODE_LEN + 1];
    code_take(words, code);
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
    memcpy(k->code, code, sizeof(k->code));
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

bool faults_lack_memory(const struct faults *f)
{
    bool lacks = arena_is_broken(f->arena);
    for (uint32_t i = 0; i < f->count; i++) {
        lacks = lacks || strstr(f->fault[i].words, "out of memory") != NULL;
    }
    return lacks;
}
