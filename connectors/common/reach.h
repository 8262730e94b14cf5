/* Whether files can be made or read somewhere, for validate --connect: nothing is made.
 */
#ifndef CONNECTORS_COMMON_REACH_H
#define CONNECTORS_COMMON_REACH_H

#include <streamrun/ask.h>

/* Could files be made in this directory, or, where it is not there, the directory itself? Answers
 * by a row of where that would be, and what room there is. */
sr_rc reach_dir(struct sr_ask *a, const char *dir, struct sr_error *err);
/* The same of the directory that the file would lie in. */
sr_rc reach_file(struct sr_ask *a, const char *path, struct sr_error *err);
/* What stands in front of the first wildcard of a path can be looked into; `must` be there, else a
 * warning. */
sr_rc reach_input(struct sr_ask *a, const char *path, bool must, struct sr_error *err);

#endif
