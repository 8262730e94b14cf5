/* libFuzzer target: the decompressors. The first byte says which kind the others are read as, and
 * how they are cut: in whatever pieces they come, they become the same bytes and have the same
 * end. */
#include <stdint.h>
#include <stdlib.h>

#include "connectors/compress/unpack.h"

#define FUZZ_CHECK(e)  ((e) ? (void)0 : abort())
#define FUZZ_MADE_MAX  ((uint64_t)1 << 20) /* bytes: a bomb goes on for long */
#define FUZZ_STEPS_MAX 100000u

struct fuzz_end {
    sr_rc rc;
    bool is_over, is_cut; /* is_cut: too much came of it, and the rest was not looked at */
    uint64_t made, sum;   /* sum: of the bytes and their places */
};

static void fuzz_add(struct fuzz_end *end, const struct unpack_step *s)
{
    for (size_t i = 0; i < s->made; i++) {
        end->sum = end->sum * 31 + s->out[i] + 1;
    }
    end->made += s->made;
}

/* Reads `len` bytes, `piece` at a time, into `room` bytes at a time. */
static struct fuzz_end fuzz_read(enum unpack_kind kind, const uint8_t *in, size_t len, size_t piece,
                                 size_t room)
{
    uint8_t *out = malloc(room); /* exact, so that a sanitizer sees a step over */
    struct fuzz_end end = {.rc = SR_OK};
    struct unpack *u = unpack_open(kind);
    size_t at = 0;
    FUZZ_CHECK(u && out);
    for (uint32_t steps = 0; end.rc == SR_OK && !end.is_over && !end.is_cut; steps++) {
        const char *why = NULL;
        size_t left = len - at;
        struct unpack_step s = {.in = in + at,
                                .len = left < piece ? left : piece,
                                .at_end = left <= piece,
                                .out = out,
                                .room = room};
        end.rc = unpack_step(u, &s, &why);
        FUZZ_CHECK(s.used <= s.len && s.made <= room);
        FUZZ_CHECK(end.rc != SR_ECORRUPT || why);
        FUZZ_CHECK(!s.is_over || (s.at_end && s.used == s.len));
        fuzz_add(&end, &s);
        at += s.used;
        end.is_over = s.is_over;
        end.is_cut = end.made > FUZZ_MADE_MAX || steps > FUZZ_STEPS_MAX;
        FUZZ_CHECK(end.is_over || end.rc != SR_OK || s.used > 0 || s.made > 0);
    }
    unpack_close(u);
    free(out);
    return end;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > 65536) {
        return 0;
    }
    enum unpack_kind kind = 1 + data[0] % (UNPACK_COUNT - 1);
    uint8_t *copy = malloc(size - 1);
    FUZZ_CHECK(copy);
    for (size_t i = 0; i + 1 < size; i++) {
        copy[i] = data[i + 1];
    }
    (void)unpack_of_magic(copy, size - 1);
    struct fuzz_end whole = fuzz_read(kind, copy, size - 1, size, 4096);
    struct fuzz_end cut = fuzz_read(kind, copy, size - 1, 1 + data[0] / 16, 1 + data[0] % 64);
    if (!whole.is_cut && !cut.is_cut) {
        FUZZ_CHECK(whole.rc == cut.rc && whole.is_over == cut.is_over);
        FUZZ_CHECK(whole.rc != SR_OK || (whole.made == cut.made && whole.sum == cut.sum));
    }
    free(copy);
    return 0;
}
