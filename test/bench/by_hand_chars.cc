#include "test/bench/by_hand_chars.h"

#include <charconv>
#include <cstdlib>

namespace
{

template <typename T> void read_numbers(const struct chars *c, T *to)
{
    for (uint32_t r = 0; r < c->rows; r++) {
        if (c->valid && (c->valid[r >> 6] >> (r & 63) & 1) == 0) {
            continue;
        }
        const char *s = c->base + c->span[2 * r], *end = s + c->span[2 * r + 1];
        std::from_chars_result got = std::from_chars(s, end, to[r]);
        if (got.ec != std::errc() || got.ptr != end) {
            std::abort();
        }
    }
}

} // namespace

void chars_int(const struct chars *c, int32_t *to) { read_numbers(c, to); }
void chars_bigint(const struct chars *c, int64_t *to) { read_numbers(c, to); }
void chars_double(const struct chars *c, double *to) { read_numbers(c, to); }
