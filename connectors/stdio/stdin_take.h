/* Takes bytes from standard input without waiting: whole lines, where that can be had.
 *
 * What is taken from a pipe is nowhere else until it is written down. So that a kill at that moment
 * loses whole lines and never tears one, a pipe is looked at first (tee), and only what ends with a
 * newline is taken. A line of TAKE_LINE_MAX and more is taken in pieces, and so is what comes from
 * a terminal or a socket; the last bytes before the end are taken as they are.
 */
#ifndef CONNECTORS_STDIO_STDIN_TAKE_H
#define CONNECTORS_STDIO_STDIN_TAKE_H

#include "connectors/common/tape.h"

#define TAKE_LINE_MAX (64u << 10)

struct stdin_take {
    int copy[2]; /* of a pipe, to look at; -1: not one */
    int away;    /* where taken bytes go without being copied; -1: nowhere */
};

void stdin_take_open(struct stdin_take *t);
void stdin_take_close(struct stdin_take *t);
/* TAKEN_FAILED: errno. `room` is at least TAKE_LINE_MAX, or more was taken before. *got is 0 but
 * for TAKEN_BYTES. */
enum taken stdin_take_lines(struct stdin_take *t, uint8_t *to, size_t room, size_t *got);
/* The same, wherever lines end. */
enum taken stdin_take_any(uint8_t *to, size_t room, size_t *got);

#endif
