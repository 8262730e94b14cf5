/* What is said over the socket of a running job: one JSON object a line, one answer a line.
 *
 *   {"command": "status"}                                -> {"ok": true, "status": {...}}
 *   {"command": "savepoint", "dir": "/abs"}              -> {"ok": true, "path": "/abs/..."}
 *   {"command": "stop", "dir": "/abs", "drain": false}   -> the same
 *   {"command": "cancel"}                                -> {"ok": true}
 *   {"command": "cancel", "savepoint": true, "dir": ...} -> as stop
 *   {"command": "log-level"}                             -> {"ok": true, "levels": {...}}
 *   {"command": "log-level", "component": "ckpt", "level": "DEBUG"}   -> the same, after the change
 *   anything that fails                                  -> {"ok": false, "error": "words"},
 *                                                           and "exit": the code, if not 1
 */
#ifndef SR_CLI_CONTROL_H
#define SR_CLI_CONTROL_H

#include <jansson.h>

#include "cli/cli.h"
#include "engine/plan/plan.h"
#include "engine/run/supervise.h"

#define CONTROL_LINE_MAX (1u << 20)

/* Server: answers one request of a connection, and closes it. */
void control_serve(int fd, const struct cli *c, struct supervise *job, const struct plan *plan);

/* The same with answers of one's own: answer gives the caller's reference. */
void control_reply(int fd, json_t *(*answer)(void *ctx, json_t *request), void *ctx);

/* Tells a peer for whom there is no place that it may ask again, and closes. */
void control_refuse(int fd);

/* Client: sends a request to a job and waits for the answer (the caller's reference); of a job that
 * is told to end, for the end of its process too. */
sr_rc control_ask(const struct cli *c, const char *dir, const char *job_id, json_t *request,
                  json_t **answer, struct sr_error *err);

/* The id of the running job that `name` means: a name, an id, the path of a job file, or the only
 * one that runs when NULL. Prints why not: CLI_NO_JOB, or CLI_USAGE when several would do. */
enum cli_exit control_find(const struct cli *c, const char *dir, const char *name,
                           const char **job_id);

/* A job's counters as JSON: names follow Flink's REST API where it has them. */
json_t *control_status_json(struct supervise *job, const struct plan *plan);

#endif
