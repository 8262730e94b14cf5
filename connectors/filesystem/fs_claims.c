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

/* Does an open file hold what the split has read? */
static sr_rc fs_claim_fits(const struct fs_split *s, struct fs_input *in, uint64_t size_bytes,
                           bool *fits, struct sr_error *err)
{
    *fits = false;
    return fs_input_is_packed(in) || size_bytes >= s->offset ? fs_print_fits(in, s, fits, err)
                                                             : SR_OK;
}

/* A file at fault does not. */
static sr_rc fs_claim_is_at(const struct fs_split *s, const struct sr_host *host,
                            const struct fs_found *at, bool *is_at, struct sr_error *err)
{
    struct fs_input in;
    *is_at = false;
    sr_rc rc = fs_input_open(&in, host, at->path, err);
    rc = rc == SR_OK ? fs_claim_fits(s, &in, at->stat.size_bytes, is_at, err) : rc;
    fs_input_close(&in);
    return fs_input_is_at_fault(rc) ? SR_OK : rc;
}

/* Of a file that fits, and is not the claim's own: what is where that was? */
static sr_rc fs_claim_compare(struct fs_split *s, const struct sr_host *host,
                              const struct fs_list *l, const struct fs_found *file,
                              enum fs_newness *out, struct sr_error *err)
{
    struct fs_found key = {.stat = {.device = s->file.device, .inode = s->file.inode}};
    const struct fs_found *now =
        bsearch(&key, l->item, l->count, sizeof(key), fs_found_compare_inodes);
    bool is_at = false, is_part = false;
    if (!now) {
        return SR_OK; /* gone, and not cut */
    }
    sr_rc rc = fs_claim_is_at(s, host, now, &is_at, err);
    if (rc == SR_OK && is_at) {
        rc = fs_print_is_part(host, file, now->path, &is_part, err);
        *out = is_part ? FS_COPY_MAYBE : FS_NEW;
        return rc;
    }
    if (rc == SR_OK) {
        s->file.device = file->stat.device;
        s->file.inode = file->stat.inode;
        *out = FS_COPY;
    }
    return rc;
}

static sr_rc fs_claim_match(struct fs_split *s, struct fs_input *in, const struct fs_list *l,
                            const struct fs_found *file, enum fs_newness *out, struct sr_error *err)
{
    bool is_own = s->file.device == file->stat.device && s->file.inode == file->stat.inode;
    bool may_be =
        is_own || (strcmp(s->path, file->path) != 0 && fs_known_is_related(s->path, file->path));
    *out = FS_NEW;
    if (s->file.head.bytes == 0 || !may_be) {
        return SR_OK;
    }
    bool fits = false;
    sr_rc rc = fs_claim_fits(s, in, file->stat.size_bytes, &fits, err);
    if (rc != SR_OK || !fits) {
        return fs_input_is_at_fault(rc) ? SR_OK : rc;
    }
    if (is_own) {
        *out = FS_COPY; /* the reader found it first */
        return SR_OK;
    }
    return fs_claim_compare(s, in->host, l, file, out, err);
}

sr_rc fs_claims_match(struct fs_claims *c, const struct sr_host *host, const struct fs_list *l,
                      const struct fs_found *file, enum fs_newness *out, struct sr_error *err)
{
    struct fs_input in;
    *out = FS_NEW;
    sr_rc rc = fs_input_open(&in, host, file->path, err);
    bool is_open = rc == SR_OK;
    for (uint32_t i = 0; is_open && rc == SR_OK && i < c->count && *out != FS_COPY; i++) {
        enum fs_newness as = FS_NEW;
        rc = fs_claim_match(&c->item[i].split, &in, l, file, &as, err);
        *out = as != FS_NEW ? as : *out;
    }
    fs_input_close(&in);
    return fs_input_is_at_fault(rc) ? SR_OK : rc; /* its reader tells, if it is given to one */
}
