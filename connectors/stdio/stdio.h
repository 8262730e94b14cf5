/* Standard input as a source, standard output as a sink: what makes a job a filter. */
#ifndef CONNECTORS_STDIO_STDIO_H
#define CONNECTORS_STDIO_STDIO_H

#include <streamrun/connector.h>

#define STDIN_NAME "stdin"

struct stdin_conf {
    sr_size record_max;
    const char *journal; /* NULL: none */
    sr_size journal_max;
};

extern const struct sr_source_type stdin_type;
extern const struct sr_sink_type stdout_type;

#endif
