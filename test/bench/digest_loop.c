/* A yardstick: reads a file in pieces and digests it as checkpoints are; prints the digest. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>

#define PIECE (1u << 20)

int main(int argc, char **argv)
{
    int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
    unsigned char *piece = malloc(PIECE);
    XXH3_state_t *state = XXH3_createState();
    if (fd < 0 || !piece || !state) return 1;
    XXH3_128bits_reset(state);
    ssize_t n;
    while ((n = read(fd, piece, PIECE)) > 0) {
        XXH3_128bits_update(state, piece, (size_t)n);
    }
    XXH128_hash_t digest = XXH3_128bits_digest(state);
    printf("%016llx%016llx\n", (unsigned long long)digest.high64, (unsigned long long)digest.low64);
    return n < 0;
}
