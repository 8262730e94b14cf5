/* Bytes to a descriptor of the process (stdout, stderr) that never wait.
 *
 * A pipe or a terminal is opened once more for writing without waiting: the flag of the inherited
 * one is shared with other processes and left alone. Where that cannot be done, at most PIPE_BUF
 * bytes are written when poll says that there is room.
 *
 * Several may write to one pipe: tasks of a sink, sinks of a job. A write that took a part of the
 * bytes must go on before another one begins, or rows would be torn; so each takes its turn, by an
 * flock of the pipe, from its first byte until all that it has is written. Where the descriptor is
 * not one's own there are no turns: what is written at once ends with a line, if one is so short.
 *
 *   pipe_out_open -> { pipe_out_make_room -> append to buf -> pipe_out_push }* -> pipe_out_close
 */
#ifndef CONNECTORS_COMMON_PIPE_OUT_H
#define CONNECTORS_COMMON_PIPE_OUT_H

#include <streamrun/connector.h>

#define PIPE_OUT_FULL ((size_t)64 * 1024) /* bytes that wait: take no more before they are gone */

struct pipe_out {
    const struct sr_host *host;
    const char *name; /* "stdout" */
    int fd;           /* -1: not open */
    bool is_own;      /* fd was opened here */
    bool is_file;     /* a regular file: writing does not wait, and is made durable */
    bool may_wait;    /* only small writes after poll */
    bool has_turn;    /* others wait until all is written */
    struct sr_out buf;
    size_t written; /* of buf */
};

/* `fd` is 1 or 2, `name` how messages call it. */
sr_rc pipe_out_open(struct pipe_out *o, const struct sr_host *host, int fd, const char *name,
                    struct sr_error *err);
static inline size_t pipe_out_pending(const struct pipe_out *o) { return o->buf.len - o->written; }
/* Writes what waits. SR_EBUSY: not all could be, see wait. SR_ECLOSED: nobody reads any more. */
sr_rc pipe_out_drain(struct pipe_out *o, struct sr_wait *wait, struct sr_error *err);
/* Before rows are taken: as drain, but only when PIPE_OUT_FULL bytes wait already. */
sr_rc pipe_out_make_room(struct pipe_out *o, struct sr_wait *wait, struct sr_error *err);
/* Behind rows that were taken: writes once it is worth it. What does not go out now goes with a
 * later call, so it is never SR_EBUSY. */
sr_rc pipe_out_push(struct pipe_out *o, struct sr_error *err);
/* As drain; and a regular file is made durable when all was written. */
sr_rc pipe_out_sync(struct pipe_out *o, struct sr_wait *wait, struct sr_error *err);
void pipe_out_close(struct pipe_out *o);

#endif
