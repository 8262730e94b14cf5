/* Yardsticks: text to numbers by std::from_chars alone. */
#include <charconv>
#include <cstdlib>

#include "test/bench/by_hand.h"

namespace
{

template <typename T> void read_numbers(struct hand *h, uint32_t column)
{
    const struct sr_column *c = h->col[column];
    const struct sr_span *span = static_cast<const struct sr_span *>(c->values);
    const char *base = reinterpret_cast<const char *>(c->bytes->data);
    T *to = static_cast<T *>(h->to);
    hand_valid(h, column, column);
    for (uint32_t r = 0; r < h->rows; r++) {
        if (!sr_is_valid(c, r)) {
            continue;
        }
        const char *s = base + span[r].at, *end = s + span[r].len;
        std::from_chars_result got = std::from_chars(s, end, to[r]);
        if (got.ec != std::errc() || got.ptr != end) {
            std::abort();
        }
    }
}

} // namespace

void hand_cast_int(struct hand *h) { read_numbers<int32_t>(h, HAND_U); }
void hand_cast_bigint(struct hand *h) { read_numbers<int64_t>(h, HAND_V); }
void hand_cast_double(struct hand *h) { read_numbers<double>(h, HAND_W); }
