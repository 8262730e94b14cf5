/* Yardstick: a filter of lines by a bare read, memchr, memmem and write loop. lines_loop TEXT < IN
 * > OUT */
#include <string.h>
#include <unistd.h>

#define LINES_SIZE (1u << 20)

static char in[LINES_SIZE], out[LINES_SIZE];
static size_t filled;

static int flush(void)
{
    for (size_t at = 0; at < filled;) {
        ssize_t n = write(STDOUT_FILENO, out + at, filled - at);
        if (n < 0) return 1;
        at += (size_t)n;
    }
    filled = 0;
    return 0;
}

static int keep(const char *line, size_t len)
{
    if (filled + len > LINES_SIZE && flush() != 0) return 1;
    memcpy(out + filled, line, len);
    filled += len;
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    size_t wanted = strlen(argv[1]), held = 0;
    ssize_t n;
    while ((n = read(STDIN_FILENO, in + held, LINES_SIZE - held)) > 0) {
        held += (size_t)n;
        char *line = in, *newline;
        while ((newline = memchr(line, '\n', held - (size_t)(line - in))) != NULL) {
            size_t len = (size_t)(newline - line);
            if (memmem(line, len, argv[1], wanted) && keep(line, len + 1) != 0) return 1;
            line = newline + 1;
        }
        held -= (size_t)(line - in);
        memmove(in, line, held);
    }
    return n < 0 || flush() != 0;
}
