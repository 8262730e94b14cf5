/* Connectors that only the simulator has. */
#ifndef TEST_SIM_PLUGIN_H
#define TEST_SIM_PLUGIN_H

#include <streamrun/plugin.h>

extern const struct sr_source_type sim_source_type; /* "sim": sim_source.c */
extern const struct sr_sink_type remote_sink_type;  /* "remote": sim_sinks.c */
extern const struct sr_sink_type staged_sink_type;  /* "staged" */
extern const struct sr_sink_type ledger_sink_type;  /* "ledger": sim_decider.c */
extern const struct sr_plugin sim_plugin;

#endif
