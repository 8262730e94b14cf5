#include "connectors/kafka/flights.h"

#include <stdlib.h>
#include <string.h>

#define FLIGHTS_ROW_BITS   32u
#define FLIGHTS_OWNER_BITS 48u

/* A message of librdkafka has room for a pointer. */
union flights_bits {
    uint64_t number;
    void *pointer;
};
_Static_assert(sizeof(void *) == sizeof(uint64_t), "a tag is a pointer");

sr_rc flights_init(struct flights *f, uint16_t owner)
{
    f->owner = owner;
    f->has_lock = pthread_mutex_init(&f->lock, NULL) == 0;
    return f->has_lock ? SR_OK : SR_ENOMEM;
}

void flights_done(struct flights *f)
{
    if (f->has_lock) {
        (void)pthread_mutex_destroy(&f->lock); /* nobody holds it any more */
    }
    free(f->refused);
    f->refused = NULL;
    f->has_lock = false;
}

/* --- Off they go ------------------------------------------------------------------------------ */

uint32_t flights_begin(struct flights *f)
{
    if (f->count == FLIGHTS_MAX) {
        return FLIGHTS_MAX;
    }
    uint32_t i = (f->first + f->count++) % FLIGHTS_MAX;
    f->ring[i].first = f->taken;
    f->ring[i].rows = 0;
    atomic_store_explicit(&f->ring[i].onway, 1, memory_order_relaxed);
    return i;
}

void *flights_tag(struct flights *f, uint32_t flight)
{
    struct flight *l = &f->ring[flight];
    union flights_bits tag = {.number = (uint64_t)f->owner << FLIGHTS_OWNER_BITS |
                                        (uint64_t)flight << FLIGHTS_ROW_BITS | l->rows++};
    (void)atomic_fetch_add_explicit(&l->onway, 1, memory_order_relaxed);
    return tag.pointer;
}

/* An answer, or the end of the call: the last one lets the flight be over. */
static void flights_less(struct flight *l)
{
    (void)atomic_fetch_sub_explicit(&l->onway, 1, memory_order_release);
}

void flights_untag(struct flights *f, uint32_t flight)
{
    f->ring[flight].rows--;
    flights_less(&f->ring[flight]);
}

void flights_end(struct flights *f, uint32_t flight)
{
    struct flight *l = &f->ring[flight];
    f->taken += l->rows;
    if (l->rows == 0) {
        f->count--; /* it is the last one: nobody else began one meanwhile */
    }
    flights_less(l);
}

/* --- Back they come --------------------------------------------------------------------------- */

uint16_t flights_owner(const void *tag)
{
    return (uint16_t)((uint64_t)(uintptr_t)tag >> FLIGHTS_OWNER_BITS);
}

static uint32_t flights_index(const void *tag)
{
    return (uint32_t)((uint64_t)(uintptr_t)tag >> FLIGHTS_ROW_BITS) & (FLIGHTS_MAX - 1);
}

uint64_t flights_row_of(const struct flights *f, const void *tag)
{
    return f->ring[flights_index(tag)].first + (uint32_t)(uintptr_t)tag;
}

/* False: out of memory. */
static bool flights_refuse(struct flights *f, const struct flights_row *row)
{
    if (f->refusals == f->capacity && f->forgiven > f->capacity / 2) {
        f->refusals -= f->forgiven;
        memmove(f->refused, f->refused + f->forgiven, f->refusals * sizeof(*f->refused));
        f->forgiven = 0;
    }
    if (f->refusals == f->capacity) {
        uint32_t capacity = f->capacity > 0 ? 2 * f->capacity : 16;
        struct flights_row *grown = realloc(f->refused, capacity * sizeof(*grown));
        if (!grown) {
            return false;
        }
        f->refused = grown;
        f->capacity = capacity;
    }
    f->refused[f->refusals++] = *row;
    return true;
}

void flights_answer(struct flights *f, const void *tag, rd_kafka_resp_err_t e, bool is_of_row)
{
    uint32_t flight = flights_index(tag);
    struct flight *l = &f->ring[flight];
    if (e == RD_KAFKA_RESP_ERR_NO_ERROR) {
        flights_less(l);
        return;
    }
    struct flights_row row = {.row = flights_row_of(f, tag), .flight = flight, .why = e};
    (void)pthread_mutex_lock(&f->lock); /* a plain mutex that is there */
    if (!is_of_row || !flights_refuse(f, &row)) {
        f->failure = f->failure ? f->failure : e;
    }
    (void)pthread_mutex_unlock(&f->lock); /* it is ours */
}

bool flights_refused(struct flights *f, struct flights_row *out)
{
    (void)pthread_mutex_lock(&f->lock); /* a plain mutex that is there */
    bool is_some = f->forgiven < f->refusals;
    if (is_some) {
        *out = f->refused[f->forgiven];
    }
    (void)pthread_mutex_unlock(&f->lock); /* it is ours */
    return is_some;
}

void flights_forgive(struct flights *f)
{
    (void)pthread_mutex_lock(&f->lock); /* a plain mutex that is there */
    flights_less(&f->ring[f->refused[f->forgiven++].flight]);
    if (f->forgiven == f->refusals) {
        f->forgiven = 0;
        f->refusals = 0;
    }
    (void)pthread_mutex_unlock(&f->lock); /* it is ours */
}

rd_kafka_resp_err_t flights_failure(struct flights *f)
{
    (void)pthread_mutex_lock(&f->lock); /* a plain mutex that is there */
    rd_kafka_resp_err_t e = f->failure;
    (void)pthread_mutex_unlock(&f->lock); /* it is ours */
    return e;
}

uint64_t flights_settled(struct flights *f)
{
    while (f->count > 0) {
        const struct flight *l = &f->ring[f->first];
        if (atomic_load_explicit(&l->onway, memory_order_acquire) > 0) {
            return l->first;
        }
        f->first = (f->first + 1) % FLIGHTS_MAX;
        f->count--;
    }
    return f->taken;
}
