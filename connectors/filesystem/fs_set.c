#include "connectors/filesystem/fs_set.h"

#include <stdlib.h>
#include <string.h>

#define FS_SET_FIRST 64u

static uint64_t fs_set_hash(const char *text)
{
    uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a: paths are short and not hostile */
    for (const char *p = text; *p; p++) {
        h = (h ^ (uint8_t)*p) * UINT64_C(1099511628211);
    }
    return h ^ h >> 32;
}

/* The slot that holds `text`, or the free one where it belongs. */
static size_t fs_set_find(char *const *slot, size_t slots, const char *text)
{
    size_t i = (size_t)fs_set_hash(text) & (slots - 1);
    while (slot[i] && strcmp(slot[i], text) != 0) {
        i = (i + 1) & (slots - 1);
    }
    return i;
}

bool fs_set_has(const struct fs_set *s, const char *text)
{
    return s->slots > 0 && s->slot[fs_set_find(s->slot, s->slots, text)] != NULL;
}

static sr_rc fs_set_grow(struct fs_set *s)
{
    size_t slots = s->slots > 0 ? s->slots * 2 : FS_SET_FIRST;
    char **slot = calloc(slots, sizeof(*slot));
    if (!slot) {
        return SR_ENOMEM;
    }
    for (size_t i = 0; i < s->slots; i++) {
        if (s->slot[i]) {
            slot[fs_set_find(slot, slots, s->slot[i])] = s->slot[i];
        }
    }
    free((void *)s->slot);
    s->slot = slot;
    s->slots = slots;
    return SR_OK;
}

sr_rc fs_set_add(struct fs_set *s, const char *text, bool *is_new)
{
    if (s->count * 2 >= s->slots && fs_set_grow(s) != SR_OK) {
        return SR_ENOMEM;
    }
    size_t i = fs_set_find(s->slot, s->slots, text);
    bool is_absent = s->slot[i] == NULL;
    if (is_absent) {
        s->slot[i] = strdup(text);
        if (!s->slot[i]) {
            return SR_ENOMEM;
        }
        s->count++;
    }
    if (is_new) {
        *is_new = is_absent;
    }
    return SR_OK;
}

void fs_set_done(struct fs_set *s)
{
    for (size_t i = 0; i < s->slots; i++) {
        free(s->slot[i]);
    }
    free((void *)s->slot);
    *s = (struct fs_set){0};
}
