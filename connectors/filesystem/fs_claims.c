#include "connectors/filesystem/fs_claims.h"

#include <stdlib.h>
#include <string.h>

#include "connectors/filesystem/fs_known.h"
#include "connectors/filesystem/fs_print.h"

/* --- Taking down ------------------------------------------------------------------------------ */

/* The first that is not before `id`. */
static uint32_t fs_claims_find(const struct fs_claims *c, const char *id)
{
    uint32_t low = 0, high = c->count;
    while (low < high) {
        uint32_t i = low + (high - low) / 2;
        if (strcmp(c->item[i].id, id) < 0) {
            low = i + 1;
        } else {
            high = i;
        }
    }
    return low;
}

/* A free place at `i`. */
static sr_rc fs_claims_insert(struct fs_claims *c, uint32_t i, const char *id)
{
    if (c->count == c->capacity) {
        uint32_t more = c->capacity > 0 ? c->capacity * 2 : 16;
        void *moved = realloc(c->item, more * sizeof(*c->item));
        if (!moved) {
            return SR_ENOMEM;
        }
        c->item = moved;
        c->capacity = more;
    }
    char *own = strdup(id);
    if (!own) {
        return SR_ENOMEM;
    }
    memmove(&c->item[i + 1], &c->item[i], (c->count - i) * sizeof(*c->item));
    c->item[i] = (struct fs_claim){.id = own};
    c->count++;
    return SR_OK;
}

sr_rc fs_claims_put(struct fs_claims *c, const char *id, struct sr_bytes note)
{
    struct fs_split s;
    sr_rc rc = fs_split_load(&s, note);
    if (rc != SR_OK) {
        return rc;
    }
    uint32_t i = fs_claims_find(c, id);
    if (i == c->count || strcmp(c->item[i].id, id) != 0) {
        rc = fs_claims_insert(c, i, id);
    }
    if (rc != SR_OK) {
        fs_split_done(&s);
        return rc;
    }
    fs_split_done(&c->item[i].split);
    c->item[i].split = s;
    return SR_OK;
}

void fs_claims_done(struct fs_claims *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        free(c->item[i].id);
        fs_split_done(&c->item[i].split);
    }
    free(c->item);
    *c = (struct fs_claims){0};
}

/* --- Matching --------------------------------------------------------------------------------- */

int fs_found_compare_inodes(const void *a, const void *b)
{
    const struct fs_found *x = a;
    const struct fs_found *y = b;
    if (x->stat.device != y->stat.device) {
        return x->stat.device < y->stat.device ? -1 : 1;
    }
    return x->stat.inode < y->stat.inode ? -1 : x->stat.inode > y->stat.inode;
}

/* Does an open file hold what the split has read? What cannot be read does not. */
static bool fs_claim_fits(const struct fs_split *s, struct fs_input *in, uint64_t size_bytes)
{
    bool fits = false;
    struct sr_error ignored;
    return (fs_input_is_packed(in) || size_bytes >= s->offset) &&
           fs_print_fits(in, s, &fits, &ignored) == SR_OK && fits;
}

static bool fs_claim_is_at(const struct fs_split *s, const struct sr_host *host,
                           const struct fs_found *at)
{
    struct fs_input in;
    struct sr_error ignored;
    bool is_at = fs_input_open(&in, host, at->path, &ignored) == SR_OK &&
                 fs_claim_fits(s, &in, at->stat.size_bytes);
    fs_input_close(&in);
    return is_at;
}

static enum fs_newness fs_claim_match(struct fs_split *s, struct fs_input *in,
                                      const struct fs_list *l, const struct fs_found *file)
{
    bool is_own = s->file.device == file->stat.device && s->file.inode == file->stat.inode;
    bool may_be =
        is_own || (strcmp(s->path, file->path) != 0 && fs_known_is_related(s->path, file->path));
    if (s->file.head.bytes == 0 || !may_be || !fs_claim_fits(s, in, file->stat.size_bytes)) {
        return FS_NEW;
    }
    if (is_own) {
        return FS_COPY; /* the reader found it first */
    }
    struct fs_found key = {.stat = {.device = s->file.device, .inode = s->file.inode}};
    const struct fs_found *now =
        bsearch(&key, l->item, l->count, sizeof(key), fs_found_compare_inodes);
    if (!now) {
        return FS_NEW; /* gone, and not cut */
    }
    if (fs_claim_is_at(s, in->host, now)) {
        return fs_print_is_part(in->host, file, now->path) ? FS_COPY_MAYBE : FS_NEW;
    }
    s->file.device = file->stat.device;
    s->file.inode = file->stat.inode;
    return FS_COPY;
}

enum fs_newness fs_claims_match(struct fs_claims *c, const struct sr_host *host,
                                const struct fs_list *l, const struct fs_found *file)
{
    struct fs_input in;
    struct sr_error ignored; /* its reader tells, if it is given to one */
    enum fs_newness newness = FS_NEW;
    bool is_open = fs_input_open(&in, host, file->path, &ignored) == SR_OK;
    for (uint32_t i = 0; is_open && i < c->count && newness != FS_COPY; i++) {
        enum fs_newness as = fs_claim_match(&c->item[i].split, &in, l, file);
        newness = as != FS_NEW ? as : newness;
    }
    fs_input_close(&in);
    return newness;
}
