/* One client of librdkafka, as sources and sinks open it: with the job's properties, its log lines
 * told once, and what its errors mean.
 *
 *   client_check (plan time)
 *   client_conf -> { rd_kafka_conf_set }* -> client_open -> ... -> client_close
 *
 * Any thread may close it that runs no call of it; client_close may wait for seconds when a broker
 * is gone and rows of a producer have no answer yet: rd_kafka_purge them first.
 */
#ifndef CONNECTORS_KAFKA_CLIENT_H
#define CONNECTORS_KAFKA_CLIENT_H

#include <pthread.h>
#include <stdatomic.h>
#include <streamrun/host.h>

#include "connectors/kafka/props.h"

#define CLIENT_LINES_MAX  16u               /* kinds of log lines that are remembered */
#define CLIENT_LINE_US    INT64_C(60000000) /* until a line of the same kind is told again */
#define CLIENT_SCRAM      0x020601ff        /* version of librdkafka whose SCRAM Kafka 4 takes */
#define CLIENT_PROPERTIES "properties."     /* the option's key, for both tables of options */

/* Names behind it that a job needs, or nearly all jobs write. */
extern const char *const client_usual[];

/* Log lines that were told: one of the same kind is only counted for a while. */
struct client_line {
    uint64_t kind; /* digest of its words without their numbers; 0: free */
    int64_t told_us;
    uint32_t untold; /* since then */
};

struct client {
    const struct sr_host *host;
    rd_kafka_t *rk; /* NULL: not open */
    pthread_mutex_t lock;
    struct client_line line[CLIENT_LINES_MAX]; /* under the lock */
    bool has_lock;
    atomic_bool is_down; /* relaxed: no broker can be reached at present */
    _Atomic int fatal;   /* relaxed: rd_kafka_resp_err_t that ended a producer; 0: none */
    _Atomic int denied;  /* relaxed: rd_kafka_resp_err_t by which a broker did not let us in */
};

/* Whether the properties can be used, at plan time. */
sr_rc client_check(const struct sr_pairs *properties, struct sr_error *err);
/* A conf with them, and with what both directions need; the caller's: rd_kafka_conf_destroy. */
sr_rc client_conf(const struct sr_pairs *properties, rd_kafka_conf_t **out, struct sr_error *err);
/* A property of our own, which cannot fail. */
void client_set(rd_kafka_conf_t *conf, const char *name, const char *value);
/* The same, unless the job wrote it. */
void client_default(rd_kafka_conf_t *conf, const struct sr_pairs *properties, const char *name,
                    const char *value);
/* Takes conf, always. */
sr_rc client_open(struct client *c, const struct sr_host *host, rd_kafka_type_t type,
                  rd_kafka_conf_t *conf, struct sr_error *err);
void client_close(struct client *c); /* also one that is zeroed or half open */
/* Says which written properties mean nothing here: once, by whoever opens the first client. */
void client_tell_idle(const struct sr_host *host, const struct sr_pairs *properties);

/* Who can act on an error of librdkafka or of a broker. */
sr_rc client_rc(rd_kafka_resp_err_t e);
/* Has a broker refused who we are, or we who it is? SR_EACCESS, in words. */
sr_rc client_is_let_in(const struct client *c, const struct sr_pairs *properties,
                       struct sr_error *err);
/* "what: why", with client_rc. */
sr_rc client_fail(const struct client *c, struct sr_error *err, rd_kafka_resp_err_t e,
                  const char *what);

/* Asks a broker for a setting as a number, of a topic or, by its number, of a broker: false, it may
 * not be asked for, or has none. May take ten seconds. */
bool client_setting(const struct client *c, rd_kafka_ResourceType_t kind, const char *of,
                    const char *name, int64_t *out);

#endif
