/* Rows as texts, one a line, as the sinks of the simulator gather them: sim_sinks.c. */
#ifndef TEST_SIM_SIM_ROWS_H
#define TEST_SIM_SIM_ROWS_H

#include "test/sim/plugin.h"

struct sim_rows {
    char *text;
    size_t len, room;
};

/* Sometimes takes only some rows, sometimes none. */
sr_rc sim_rows_write(struct sim_rows *s, const struct sr_view *v, uint32_t from, uint32_t *done,
                     struct sr_wait *wait, bool has_marks);
/* A row that the remote service, or a target, shows. */
void sim_remote_row(const char *row);

#endif
