#include "connectors/filesystem/fs_split.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/common/note.h"

#define FS_SPLIT_VERSION 2u

enum {
    FS_SPLIT_ALIGNED = 1u << 0,
    FS_SPLIT_FINISHED = 1u << 1,
    FS_SPLIT_PACKED = 1u << 2,
    FS_SPLIT_MISSING = 1u << 3
};

static bool fs_split_put_print(struct sr_out *note, const struct fs_print *p)
{
    return note_put_u32(note, p->bytes) && note_put_u64(note, p->digest[0]) &&
           note_put_u64(note, p->digest[1]);
}

static struct fs_print fs_split_get_print(struct note_in *in)
{
    struct fs_print p = {.bytes = note_get_u32(in)};
    p.digest[0] = note_get_u64(in);
    p.digest[1] = note_get_u64(in);
    return p;
}

sr_rc fs_split_save(const struct fs_split *s, struct sr_out *note)
{
    uint8_t flags =
        (uint8_t)((s->is_aligned ? FS_SPLIT_ALIGNED : 0u) |
                  (s->is_finished ? FS_SPLIT_FINISHED : 0u) |
                  (s->is_packed ? FS_SPLIT_PACKED : 0u) | (s->is_missing ? FS_SPLIT_MISSING : 0u));
    bool is_put = note_put_u8(note, FS_SPLIT_VERSION) && note_put_u8(note, flags) &&
                  note_put_text(note, s->path) && note_put_u64(note, s->begin) &&
                  note_put_u64(note, s->end) && note_put_u64(note, s->offset) &&
                  note_put_u64(note, s->file.device) && note_put_u64(note, s->file.inode) &&
                  note_put_u64(note, s->file.size_bytes) &&
                  note_put_u64(note, (uint64_t)s->file.modified_us) &&
                  fs_split_put_print(note, &s->file.head) && fs_split_put_print(note, &s->tail);
    return is_put ? SR_OK : SR_ENOMEM;
}

static bool fs_split_is_sound(const struct fs_split *s)
{
    return s->path[0] == '/' && s->begin <= s->offset && s->begin <= s->end &&
           s->file.head.bytes <= FS_PRINT_BYTES && s->tail.bytes <= FS_PRINT_BYTES &&
           s->tail.bytes <= s->offset;
}

sr_rc fs_split_load(struct fs_split *s, struct sr_bytes note)
{
    struct note_in in = note_in(note);
    uint8_t version = note_get_u8(&in);
    uint8_t flags = note_get_u8(&in);
    *s = (struct fs_split){.is_aligned = (flags & FS_SPLIT_ALIGNED) != 0,
                           .is_finished = (flags & FS_SPLIT_FINISHED) != 0,
                           .is_packed = (flags & FS_SPLIT_PACKED) != 0,
                           .is_missing = (flags & FS_SPLIT_MISSING) != 0};
    s->path = note_get_text(&in);
    s->begin = note_get_u64(&in);
    s->end = note_get_u64(&in);
    s->offset = note_get_u64(&in);
    s->file.device = note_get_u64(&in);
    s->file.inode = note_get_u64(&in);
    s->file.size_bytes = note_get_u64(&in);
    s->file.modified_us = (int64_t)note_get_u64(&in);
    s->file.head = fs_split_get_print(&in);
    s->tail = fs_split_get_print(&in);
    if (version == FS_SPLIT_VERSION && note_is_done(&in) && fs_split_is_sound(s)) {
        return SR_OK;
    }
    fs_split_done(s);
    return note_why(&in);
}

void fs_split_done(struct fs_split *s)
{
    free(s->path);
    *s = (struct fs_split){0};
}

char *fs_split_id(const char *file, uint64_t begin)
{
    if (begin == 0) {
        return strdup(file);
    }
    /* As many digits for each piece, so that pieces of one time are given out in order. */
    size_t size = strlen(file) + 24;
    char *id = malloc(size);
    if (id) {
        (void)snprintf(id, size, "%s//%016" PRIu64, file, begin);
    }
    return id;
}

size_t fs_split_id_file(const char *id)
{
    size_t len = strlen(id);
    const char *piece = len > 18 ? id + len - 18 : NULL;
    bool is_piece =
        piece && piece[0] == '/' && piece[1] == '/' && strspn(piece + 2, "0123456789") == 16;
    return is_piece ? len - 18 : len;
}
