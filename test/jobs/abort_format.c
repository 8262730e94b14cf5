/* A format for tests, built as a module: lines as the one STRING column; kills the process when a
 * line is "abort". */
#include <stdlib.h>
#include <string.h>

#include <streamrun/plugin.h>

struct abort_decoder {
    char unused;
};

static sr_rc abort_check(const void *conf, const struct sr_schema *schema, bool is_write,
                         uint32_t *flags, struct sr_error *err)
{
    (void)conf;
    (void)schema;
    (void)is_write;
    (void)err;
    *flags = SR_FORMAT_LINES | SR_FORMAT_RESYNC;
    return SR_OK;
}

static sr_rc abort_open(void *dec, const struct sr_format_open *o, struct sr_error *err)
{
    (void)dec;
    (void)o;
    (void)err;
    return SR_OK;
}

static sr_rc abort_decode(void *dec, struct sr_decode *d, struct sr_error *err)
{
    (void)dec;
    (void)err;
    d->used = d->bads = d->skipped = 0;
    while (d->used < d->len && !sr_builder_is_full(d->out)) {
        const uint8_t *at = d->bytes + d->used;
        const uint8_t *newline = memchr(at, '\n', d->len - d->used);
        if (!newline) {
            break;
        }
        uint32_t len = (uint32_t)(newline - at);
        if (len == 5 && memcmp(at, "abort", 5) == 0) {
            abort();
        }
        sr_put_bytes(d->out, 0, at, len);
        d->row_at[d->out->rows] = d->used;
        sr_row_done(d->out);
        d->used += len + 1;
    }
    return SR_OK;
}

static void abort_close(void *dec) { (void)dec; }

static const struct sr_opt abort_opts[] = {SR_OPT_END};
static const struct sr_format_type abort_type = {.size = sizeof(abort_type),
                                                 .name = "abort_format",
                                                 .doc = "Kills the process for a line.",
                                                 .opts = abort_opts,
                                                 .conf_size = sizeof(struct abort_decoder),
                                                 .decoder_size = sizeof(struct abort_decoder),
                                                 .check = abort_check,
                                                 .decode_open = abort_open,
                                                 .decode = abort_decode,
                                                 .decode_close = abort_close};
static const struct sr_format_type *const abort_formats[] = {&abort_type, NULL};

SR_PLUGIN(abort_format) = {.abi_major = SR_ABI_MAJOR,
                           .abi_minor = SR_ABI_MINOR,
                           .name = "abort_format",
                           .version = "1",
                           .doc = "For tests.",
                           .formats = abort_formats};
