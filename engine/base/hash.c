#include "engine/base/hash.h"

#include <string.h>
#include <xxhash.h>

uint64_t hash64(const void *data, size_t len, uint64_t seed)
{
    return XXH3_64bits_withSeed(data, len, seed);
}

static struct digest digest_from(XXH128_hash_t h)
{
    return (struct digest){.low = h.low64, .high = h.high64};
}

struct digest digest_of(const void *data, size_t len)
{
    return digest_from(XXH3_128bits(data, len));
}

struct digester *digester_new(void)
{
    XXH3_state_t *state = XXH3_createState();
    if (state) {
        (void)XXH3_128bits_reset(state); /* fails for NULL only */
    }
    return (struct digester *)state;
}

void digester_add(struct digester *d, const void *data, size_t len)
{
    if (len > 0) {
        (void)XXH3_128bits_update((XXH3_state_t *)d, data, len); /* fails for NULL only */
    }
}

struct digest digester_get(const struct digester *d)
{
    return digest_from(XXH3_128bits_digest((const XXH3_state_t *)d));
}

void digester_free(struct digester *d) { (void)XXH3_freeState((XXH3_state_t *)d); }

void digest_text(struct digest d, char out[33])
{
    static const char digits[] = "0123456789abcdef";
    for (unsigned i = 0; i < 16; i++) {
        out[i] = digits[d.high >> (60 - 4 * i) & 15];
        out[16 + i] = digits[d.low >> (60 - 4 * i) & 15];
    }
    out[32] = '\0';
}
