#include "connectors/kafka/kafka_ask.h"

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#define KAFKA_ASK_STEP_MS  1000 /* of one call, so that it can be given up */
#define KAFKA_ASK_AGAIN_MS 50   /* between two */

static bool kafka_ask_goes_on(const struct kafka_ask *a)
{
    return a->e && client_rc(a->e) == SR_EIO &&
           !atomic_load_explicit(&a->client->denied, memory_order_relaxed) &&
           !atomic_load_explicit(&a->is_stopped, memory_order_relaxed);
}

static void *kafka_ask_run(void *ask)
{
    static const uint64_t one = 1;
    struct kafka_ask *a = ask;
    do {
        if (a->e) {
            (void)poll(NULL, 0, KAFKA_ASK_AGAIN_MS); /* cannot fail, and may be short */
        }
        a->e = rd_kafka_query_watermark_offsets(a->client->rk, a->topic, a->partition, &a->low,
                                                &a->high, KAFKA_ASK_STEP_MS);
    } while (kafka_ask_goes_on(a));
    atomic_store_explicit(&a->is_done, true, memory_order_release);
    ssize_t n = write(a->wake, &one, sizeof(one));
    (void)n; /* full means that it will be woken anyway */
    return NULL;
}

struct kafka_ask *kafka_ask_new(struct client *client, const char *topic, int32_t partition,
                                int wake)
{
    struct kafka_ask *a = calloc(1, sizeof(*a));
    if (!a) {
        return NULL;
    }
    a->client = client;
    a->topic = topic;
    a->partition = partition;
    a->wake = wake;
    if (pthread_create(&a->thread, NULL, kafka_ask_run, a) != 0) {
        free(a);
        return NULL;
    }
    return a;
}

bool kafka_ask_is_done(const struct kafka_ask *a)
{
    return atomic_load_explicit(&a->is_done, memory_order_acquire);
}

void kafka_ask_free(struct kafka_ask *a)
{
    if (a) {
        atomic_store_explicit(&a->is_stopped, true, memory_order_relaxed);
        (void)pthread_join(a->thread, NULL); /* it was made, and is joined once */
        free(a);
    }
}
