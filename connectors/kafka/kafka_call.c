#include "connectors/kafka/kafka_call.h"

sr_rc kafka_call_fail(const struct sr_host *host, rd_kafka_error_t *e, const char *what,
                      struct sr_error *err)
{
    if (!e) {
        return SR_OK;
    }
    sr_rc rc = client_rc(rd_kafka_error_code(e));
    /* A transaction that was timed out looks like one whose id another producer took. */
    rc = rc == SR_EACCESS || rc == SR_ECONFIG ? rc : SR_EIO;
    (void)host->fail(host, err, rc, "kafka: %s: %s", what, rd_kafka_error_string(e));
    rd_kafka_error_destroy(e);
    return rc;
}

bool kafka_call_is_over(const struct sr_host *host, const atomic_bool *is_stopped,
                        rd_kafka_error_t *e, const char *what, sr_rc *rc, struct sr_error *err)
{
    if (!e || !rd_kafka_error_is_retriable(e)) {
        *rc = kafka_call_fail(host, e, what, err);
        return true;
    }
    rd_kafka_error_destroy(e);
    bool is_over = atomic_load_explicit(is_stopped, memory_order_relaxed);
    *rc = is_over ? host->fail(host, err, SR_ECLOSED, "kafka: given up") : SR_OK;
    return is_over;
}
