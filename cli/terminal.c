#include "cli/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int terminal_width(int fd, int otherwise)
{
    const char *columns = getenv("COLUMNS");
    long given = columns ? strtol(columns, NULL, 10) : 0;
    if (given > 1 && given < 10000) return (int)given;
    struct winsize w;
    bool is_known = ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col > 1;
    return is_known ? w.ws_col : otherwise;
}

bool terminal_can_redraw(int fd)
{
    const char *term = getenv("TERM");
    return isatty(fd) != 0 && !(term && strcmp(term, "dumb") == 0);
}

bool terminal_has_colour(int fd)
{
    const char *no = getenv("NO_COLOR");
    return terminal_can_redraw(fd) && !(no && *no);
}
