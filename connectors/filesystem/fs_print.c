#include "connectors/filesystem/fs_print.h"

sr_rc fs_print_take(struct fs_input *in, uint64_t at, uint32_t bytes, struct fs_print *out,
                    struct sr_error *err)
{
    uint8_t first[FS_PRINT_BYTES];
    uint32_t have = 0;
    size_t got = 1;
    while (have < bytes && got > 0) {
        sr_rc rc = fs_input_read(in, first + have, bytes - have, at + have, &got, err);
        if (rc == SR_ECLOSED) {
            break;
        }
        if (rc != SR_OK) {
            return rc;
        }
        have += (uint32_t)got;
    }
    *out = (struct fs_print){.bytes = have};
    if (have > 0) {
        in->host->digest(first, have, out->digest);
    }
    return SR_OK;
}

sr_rc fs_print_tail(struct fs_input *in, uint64_t offset, struct fs_print *out,
                    struct sr_error *err)
{
    uint32_t bytes = offset < FS_PRINT_BYTES ? (uint32_t)offset : FS_PRINT_BYTES;
    return fs_print_take(in, offset - bytes, bytes, out, err);
}

static sr_rc fs_print_is(struct fs_input *in, uint64_t at, const struct fs_print *print, bool *is,
                         struct sr_error *err)
{
    struct fs_print now;
    *is = true;
    if (print->bytes == 0) {
        return SR_OK;
    }
    sr_rc rc = fs_print_take(in, at, print->bytes, &now, err);
    if (rc == SR_OK) {
        *is = now.bytes == print->bytes && now.digest[0] == print->digest[0] &&
              now.digest[1] == print->digest[1];
    }
    return rc;
}

sr_rc fs_print_fits(struct fs_input *in, const struct fs_split *s, bool *fits, struct sr_error *err)
{
    bool is_head = false, is_tail = false;
    sr_rc rc = fs_print_is(in, 0, &s->file.head, &is_head, err);
    if (rc == SR_OK && is_head) {
        rc = fs_print_is(in, s->offset - s->tail.bytes, &s->tail, &is_tail, err);
    }
    if (rc == SR_OK) {
        *fits = is_head && is_tail;
    }
    return rc;
}

sr_rc fs_print_is_part(const struct sr_host *host, const struct fs_found *file, const char *of,
                       bool *is_part, struct sr_error *err)
{
    struct fs_input in;
    struct fs_print tail = {0};
    *is_part = false;
    sr_rc rc = fs_input_open(&in, host, file->path, err);
    rc = rc == SR_OK ? fs_print_tail(&in, file->stat.size_bytes, &tail, err) : rc;
    fs_input_close(&in);
    if (rc == SR_OK) {
        rc = fs_input_open(&in, host, of, err);
        rc = rc == SR_OK ? fs_print_is(&in, file->stat.size_bytes - tail.bytes, &tail, is_part, err)
                         : rc;
        fs_input_close(&in);
    }
    *is_part = *is_part && rc == SR_OK;
    return fs_input_is_at_fault(rc) ? SR_OK : rc;
}
