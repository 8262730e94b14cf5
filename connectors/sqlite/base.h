/* What the source and the sink share: SQLite's codes as ours. */
#ifndef CONNECTORS_SQLITE_BASE_H
#define CONNECTORS_SQLITE_BASE_H

#include <streamrun/connector.h>

sr_rc base_rc(int code); /* not for SQLITE_OK, _ROW, _DONE */

extern const struct sr_source_type sqlite_source_type;
extern const struct sr_sink_type sqlite_sink_type;

#endif
