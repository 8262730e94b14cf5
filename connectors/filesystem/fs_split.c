#include "connectors/filesystem/fs_split.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/common/note.h"

#define FS_SPLIT_VERSION 1u

enum { FS_SPLIT_ALIGNED = 1u << 0, FS_SPLIT_FINISHED = 1u << 1 };

sr_rc fs_split_save(const struct fs_split *s, struct sr_out *note)
{
    uint8_t flags = (uint8_t)((s->is_aligned ? FS_SPLIT_ALIGNED : 0u) |
                              (s->is_finished ? FS_SPLIT_FINISHED : 0u));
    bool is_put = note_put_u8(note, FS_SPLIT_VERSION) && note_put_u8(note, flags) &&
                  note_put_text(note, s->path) && note_put_u64(note, s->begin) &&
                  note_put_u64(note, s->end) && note_put_u64(note, s->offset) &&
                  note_put_u64(note, s->file.device) && note_put_u64(note, s->file.inode) &&
                  note_put_u64(note, s->file.size_bytes) &&
                  note_put_u32(note, s->file.print_bytes) && note_put_u64(note, s->file.print[0]) &&
                  note_put_u64(note, s->file.print[1]);
    return is_put ? SR_OK : SR_ENOMEM;
}

static bool fs_split_is_sound(const struct fs_split *s)
{
    return s->path[0] == '/' && s->begin <= s->offset && s->begin <= s->end &&
           s->file.print_bytes <= FS_PRINT_BYTES;
}

sr_rc fs_split_load(struct fs_split *s, struct sr_bytes note)
{
    struct note_in in = note_in(note);
    uint8_t version = note_get_u8(&in);
    uint8_t flags = note_get_u8(&in);
    *s = (struct fs_split){.is_aligned = (flags & FS_SPLIT_ALIGNED) != 0,
                           .is_finished = (flags & FS_SPLIT_FINISHED) != 0};
    s->path = note_get_text(&in);
    s->begin = note_get_u64(&in);
    s->end = note_get_u64(&in);
    s->offset = note_get_u64(&in);
    s->file.device = note_get_u64(&in);
    s->file.inode = note_get_u64(&in);
    s->file.size_bytes = note_get_u64(&in);
    s->file.print_bytes = note_get_u32(&in);
    s->file.print[0] = note_get_u64(&in);
    s->file.print[1] = note_get_u64(&in);
    if (version == FS_SPLIT_VERSION && note_is_done(&in) && fs_split_is_sound(s)) {
        return SR_OK;
    }
    fs_split_done(s);
    return SR_ECORRUPT;
}

void fs_split_done(struct fs_split *s)
{
    free(s->path);
    *s = (struct fs_split){0};
}

char *fs_split_id(const char *path, uint64_t begin)
{
    if (begin == 0) {
        return strdup(path);
    }
    /* As many digits for each piece, so that pieces of one time are given out in order. */
    size_t size = strlen(path) + 24;
    char *id = malloc(size);
    if (id) {
        (void)snprintf(id, size, "%s//%016" PRIu64, path, begin);
    }
    return id;
}

char *fs_split_id_path(const char *id)
{
    const char *cut = strstr(id, "//");
    return cut ? strndup(id, (size_t)(cut - id)) : strdup(id);
}
