#include "connectors/filesystem/fs_rotate.h"

#include <stdlib.h>
#include <string.h>

#include "connectors/filesystem/fs_known.h"
#include "connectors/filesystem/fs_print.h"

static bool fs_rotate_is_inode(const struct fs_split *s, const struct sr_stat *stat)
{
    return stat->inode == s->file.inode && stat->device == s->file.device;
}

/* A file at fault does not. */
static sr_rc fs_rotate_fits(const struct sr_host *host, const struct fs_split *s,
                            const struct fs_found *f, bool *fits, struct sr_error *err)
{
    struct fs_input in;
    *fits = false;
    sr_rc rc = fs_input_open(&in, host, f->path, err);
    if (rc == SR_OK && (fs_input_is_packed(&in) || f->stat.size_bytes >= s->offset)) {
        rc = fs_print_fits(&in, s, fits, err);
    }
    fs_input_close(&in);
    return fs_input_is_at_fault(rc) ? SR_OK : rc;
}

sr_rc fs_rotate_find(const struct sr_host *host, const char *pattern, const struct fs_split *s,
                     struct fs_rotated *out, struct sr_error *err)
{
    struct fs_list list = {0};
    sr_rc rc = fs_walk(host, pattern, &list, err);
    bool is_absent = rc == SR_EABSENT;
    const struct fs_found *best = NULL;
    bool has_inode = false;
    for (size_t i = 0; rc == SR_OK && i < list.count; i++) {
        const struct fs_found *f = &list.item[i];
        bool is_inode = fs_rotate_is_inode(s, &f->stat);
        bool may_be = is_inode || (s->file.head.bytes > 0 && fs_known_is_related(s->path, f->path));
        bool fits = false;
        rc = may_be ? fs_rotate_fits(host, s, f, &fits, err) : SR_OK;
        out->is_cut = out->is_cut || (is_inode && !fits);
        if (fits && (!best || is_inode)) {
            best = f;
        }
        has_inode = has_inode || (is_inode && fits);
    }
    if (!out->is_cut && !has_inode) {
        best = NULL; /* gone, and not cut: what looks like it is another file */
    }
    if (rc == SR_OK && best) {
        out->path = strdup(best->path);
        rc = out->path ? SR_OK : host->fail(host, err, SR_ENOMEM, "out of memory");
    }
    fs_list_done(&list);
    return is_absent ? SR_OK : rc;
}
