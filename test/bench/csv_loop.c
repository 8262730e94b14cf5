/* Yardstick: CSV filter and projection by memchr alone. csv_loop IN OUT
 *
 * Columns auction,bidder,price,channel,...: rows with price > 1000000 give auction,price,channel.
 * No quoting, no check, no NULLs: what a careful hand would write for this one file. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK (1u << 18)

struct out {
    int fd;
    size_t len;
    char bytes[BLOCK + 4096];
};

static void out_put(struct out *o, const char *s, size_t len, char end)
{
    memcpy(o->bytes + o->len, s, len);
    o->len += len;
    o->bytes[o->len++] = end;
}

static void out_flush(struct out *o)
{
    if (write(o->fd, o->bytes, o->len) < 0) exit(1);
    o->len = 0;
}

static int64_t number(const char *s, const char *end)
{
    int64_t v = 0;
    for (; s < end; s++) {
        v = v * 10 + (*s - '0');
    }
    return v;
}

static void line(struct out *o, const char *s, const char *end)
{
    const char *field[8];
    int n = 0;
    field[n++] = s;
    while (n < 5) {
        const char *comma = memchr(field[n - 1], ',', (size_t)(end - field[n - 1]));
        if (!comma) return;
        field[n++] = comma + 1;
    }
    if (number(field[2], field[3] - 1) <= 1000000) return;
    out_put(o, field[0], (size_t)(field[1] - 1 - field[0]), ',');
    out_put(o, field[2], (size_t)(field[3] - 1 - field[2]), ',');
    out_put(o, field[3], (size_t)(field[4] - 1 - field[3]), '\n');
    if (o->len > BLOCK) out_flush(o);
}

int main(int argc, char **argv)
{
    if (argc < 3) return 2;
    int in = open(argv[1], O_RDONLY | O_CLOEXEC);
    struct out *o = calloc(1, sizeof(*o));
    char *block = malloc(BLOCK);
    o->fd = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    size_t have = 0;
    for (;;) {
        ssize_t got = read(in, block + have, BLOCK - have);
        if (got <= 0) break;
        have += (size_t)got;
        char *s = block, *end = block + have, *nl;
        while ((nl = memchr(s, '\n', (size_t)(end - s)))) {
            line(o, s, nl);
            s = nl + 1;
        }
        have = (size_t)(end - s);
        memmove(block, s, have);
    }
    out_flush(o);
    free(block);
    free(o);
    return 0;
}
