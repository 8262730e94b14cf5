/* What a descriptor can show: whether it is a terminal, how wide, with colours or not.
 */
#ifndef SR_CLI_TERMINAL_H
#define SR_CLI_TERMINAL_H

#include <stdbool.h>

/* Columns: $COLUMNS, else what the terminal says, else `otherwise`. */
int terminal_width(int fd, int otherwise);
/* A terminal, $NO_COLOR is not set (or empty), and $TERM is not dumb. */
bool terminal_has_colour(int fd);
/* A line on it can be written over again. */
bool terminal_can_redraw(int fd);

#endif
