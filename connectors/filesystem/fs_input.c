#include "connectors/filesystem/fs_input.h"

#include <stdlib.h>
#include <string.h>

#define FS_INPUT_BYTES ((size_t)64 * 1024) /* of a compressed file read at once */

sr_rc fs_input_open(struct fs_input *f, const struct sr_host *host, const char *path,
                    struct sr_error *err)
{
    *f = (struct fs_input){.host = host, .path = path};
    sr_rc rc = host->files->open(host->files, path, SR_FILE_READ, &f->file, err);
    if (rc != SR_OK) {
        return rc;
    }
    uint8_t first[UNPACK_MAGIC_BYTES];
    size_t have = 0, got = 1;
    while (rc == SR_OK && got > 0 && have < sizeof(first)) {
        rc = host->files->read(f->file, first + have, sizeof(first) - have, have, &got, err);
        have += rc == SR_OK ? got : 0;
    }
    f->kind = unpack_of_magic(first, have);
    return rc;
}

bool fs_input_is_at_fault(sr_rc rc)
{
    return rc == SR_EABSENT || rc == SR_EACCESS || rc == SR_ECORRUPT || rc == SR_ECLOSED ||
           rc == SR_EFINAL;
}

void fs_input_close(struct fs_input *f)
{
    if (f->host) {
        (void)f->host->files->close(f->file, NULL); /* only read */
    }
    unpack_close(f->unpack);
    free(f->in);
    *f = (struct fs_input){0};
}

/* To the first byte. */
static sr_rc fs_input_rewind(struct fs_input *f, struct sr_error *err)
{
    unpack_close(f->unpack);
    f->unpack = unpack_open(f->kind);
    f->in = f->in ? f->in : malloc(FS_INPUT_BYTES);
    f->in_at = f->in_len = 0;
    f->file_at = f->at = 0;
    f->is_over = false;
    return f->unpack && f->in
               ? SR_OK
               : f->host->fail(f->host, err, SR_ENOMEM, "%s: out of memory", f->path);
}

static sr_rc fs_input_failed(const struct fs_input *f, sr_rc rc, const char *why,
                             struct sr_error *err)
{
    const struct sr_host *h = f->host;
    unsigned long long at = f->file_at - (f->in_len - f->in_at);
    if (rc == SR_EABSENT) {
        return h->fail(h, err, SR_ECLOSED,
                       "%s: unexpected end of its %s data at byte %llu: the file was cut short, or "
                       "is still being written",
                       f->path, unpack_name(f->kind), at);
    }
    if (rc == SR_ENOMEM) {
        return h->fail(h, err, rc, "%s: out of memory for its %s data", f->path,
                       unpack_name(f->kind));
    }
    return h->fail(h, err, SR_EFINAL, "%s: its %s data are damaged near byte %llu: %s", f->path,
                   unpack_name(f->kind), at, why);
}

/* Some more bytes of a compressed file; *got 0 at its end only. */
static sr_rc fs_input_more(struct fs_input *f, uint8_t *to, size_t len, size_t *got,
                           struct sr_error *err)
{
    const struct sr_host *h = f->host;
    *got = 0;
    while (!f->is_over && *got == 0) {
        size_t more = 0;
        if (f->in_at == f->in_len) {
            sr_rc rc = h->files->read(f->file, f->in, FS_INPUT_BYTES, f->file_at, &more, err);
            if (rc != SR_OK) {
                return rc;
            }
            f->in_at = 0;
            f->in_len = more;
            f->file_at += more;
        }
        struct unpack_step s = {.in = f->in + f->in_at,
                                .len = f->in_len - f->in_at,
                                .at_end = f->in_at == f->in_len,
                                .room = len};
        s.out = to;
        const char *why = "damaged data";
        sr_rc rc = unpack_step(f->unpack, &s, &why);
        f->in_at += s.used;
        if (rc == SR_OK && s.used == 0 && s.made == 0 && s.len > 0) {
            rc = SR_ECORRUPT;
        }
        if (rc != SR_OK) {
            return fs_input_failed(f, rc, why, err);
        }
        *got = s.made;
        f->is_over = s.is_over;
    }
    f->at += *got;
    return SR_OK;
}

sr_rc fs_input_read(struct fs_input *f, void *to, size_t len, uint64_t at, size_t *got,
                    struct sr_error *err)
{
    if (!fs_input_is_packed(f)) {
        return f->host->files->read(f->file, to, len, at, got, err);
    }
    if (!f->unpack || at < f->at) {
        sr_rc rc = fs_input_rewind(f, err);
        if (rc != SR_OK) {
            return rc;
        }
    }
    *got = 1;
    while (f->at<at && * got> 0) { /* to where reading goes on */
        size_t some = at - f->at < len ? (size_t)(at - f->at) : len;
        sr_rc rc = fs_input_more(f, to, some, got, err);
        if (rc != SR_OK) {
            return rc;
        }
    }
    return f->at < at ? SR_OK : fs_input_more(f, to, len, got, err);
}
