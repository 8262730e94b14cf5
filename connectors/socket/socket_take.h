/* What a socket source's connection brings, for a journal: whole records, each with its delimiter.
 *
 * What is taken from a connection is nowhere else until it is written down, so a record of which
 * only a piece has come is kept here until the rest comes; one of SOCKET_PIECE_MAX and more is
 * taken in pieces. What stands behind the last delimiter when the connection ends is a record too,
 * and gets one. The next connection goes on behind it.
 */
#ifndef CONNECTORS_SOCKET_SOCKET_TAKE_H
#define CONNECTORS_SOCKET_SOCKET_TAKE_H

#include "connectors/common/tape.h"
#include "connectors/socket/dial.h"

#define SOCKET_PIECE_MAX (64u << 10)

struct socket_take {
    struct dial *dial; /* borrowed */
    uint8_t delimiter;
    bool may_reconnect;
    bool is_over;   /* the only connection has ended */
    bool is_within; /* a record of which pieces were given */
    uint32_t kept;  /* bytes of `piece` */
    uint8_t piece[SOCKET_PIECE_MAX];
};

/* As take of struct tape_conf. */
enum taken socket_take(void *take, uint8_t *to, size_t room, size_t *got, struct sr_wait *wait,
                       struct sr_error *err);

#endif
