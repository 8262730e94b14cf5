/* Rows on their way: they settle in their order, whatever order the answers come in. */
#include <pthread.h>
#include <unistd.h>

#include "connectors/kafka/flights.h"
#include "test/unit/unit.h"

#define OK    RD_KAFKA_RESP_ERR_NO_ERROR
#define LARGE RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE

static struct flights *flights_new(uint16_t owner)
{
    struct flights *f = calloc(1, sizeof(*f));
    ck_assert_int_eq(flights_init(f, owner), SR_OK);
    return f;
}

static void flights_free(struct flights *f)
{
    flights_done(f);
    free(f);
}

/* A flight of so many rows; their tags. */
static void fly(struct flights *f, uint32_t rows, void **tag)
{
    uint32_t flight = flights_begin(f);
    ck_assert_uint_lt(flight, FLIGHTS_MAX);
    for (uint32_t i = 0; i < rows; i++) {
        tag[i] = flights_tag(f, flight);
    }
    flights_end(f, flight);
}

START_TEST(rows_settle_in_their_order)
{
    struct flights *f = flights_new(7);
    void *a[3], *b[2];
    fly(f, 3, a);
    fly(f, 2, b);
    ck_assert_uint_eq(flights_owner(a[0]), 7);
    ck_assert_uint_eq(flights_row_of(f, a[2]), 2);
    ck_assert_uint_eq(flights_row_of(f, b[1]), 4);
    flights_answer(f, b[0], OK, false);
    flights_answer(f, b[1], OK, false);
    ck_assert_uint_eq(flights_settled(f), 0); /* the first flight is not over */
    flights_answer(f, a[2], OK, false);
    flights_answer(f, a[0], OK, false);
    ck_assert_uint_eq(flights_settled(f), 0);
    flights_answer(f, a[1], OK, false);
    ck_assert_uint_eq(flights_settled(f), 5);
    ck_assert_uint_eq(f->count, 0);
    flights_free(f);
}
END_TEST

START_TEST(a_refused_row_waits_for_its_fate)
{
    struct flights *f = flights_new(0);
    struct flights_row row;
    void *a[4];
    fly(f, 4, a);
    ck_assert(!flights_refused(f, &row));
    flights_answer(f, a[3], LARGE, true);
    flights_answer(f, a[1], LARGE, true);
    flights_answer(f, a[0], OK, false);
    flights_answer(f, a[2], OK, false);
    ck_assert_uint_eq(flights_settled(f), 0);
    ck_assert(flights_refused(f, &row));
    ck_assert_uint_eq(row.row, 3); /* as they came */
    ck_assert(flights_refused(f, &row));
    ck_assert_uint_eq(row.row, 3); /* until it is forgiven */
    flights_forgive(f);
    ck_assert(flights_refused(f, &row));
    ck_assert_uint_eq(row.row, 1);
    ck_assert_int_eq(row.why, LARGE);
    ck_assert_uint_eq(flights_settled(f), 0);
    flights_forgive(f);
    ck_assert(!flights_refused(f, &row));
    ck_assert_uint_eq(flights_settled(f), 4);
    ck_assert_int_eq(flights_failure(f), OK);
    flights_free(f);
}
END_TEST

START_TEST(refusals_that_come_while_others_are_forgiven_stay_in_their_order)
{
    struct flights *f = flights_new(0);
    struct flights_row row;
    void *a[100];
    fly(f, 100, a);
    uint64_t due = 0;
    for (uint32_t i = 0; i < 100; i++) {
        flights_answer(f, a[i], LARGE, true);
        if (i % 8 != 7) { /* one row in eight stays behind */
            ck_assert(flights_refused(f, &row));
            ck_assert_uint_eq(row.row, due++);
            flights_forgive(f);
        }
    }
    for (; flights_refused(f, &row); flights_forgive(f)) {
        ck_assert_uint_eq(row.row, due++);
    }
    ck_assert_uint_eq(due, 100);
    ck_assert_uint_eq(flights_settled(f), 100);
    flights_free(f);
}
END_TEST

START_TEST(the_first_failure_is_kept_and_its_row_never_settles)
{
    struct flights *f = flights_new(0);
    void *a[2];
    fly(f, 2, a);
    flights_answer(f, a[0], RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, false);
    flights_answer(f, a[1], RD_KAFKA_RESP_ERR__PURGE_QUEUE, false);
    ck_assert_int_eq(flights_failure(f), RD_KAFKA_RESP_ERR__MSG_TIMED_OUT);
    ck_assert_uint_eq(flights_settled(f), 0);
    flights_free(f);
}
END_TEST

START_TEST(a_row_that_was_not_taken_is_no_row)
{
    struct flights *f = flights_new(0);
    void *a[1];
    uint32_t flight = flights_begin(f);
    (void)flights_tag(f, flight);
    flights_untag(f, flight);
    flights_end(f, flight);
    ck_assert_uint_eq(f->count, 0);
    ck_assert_uint_eq(flights_settled(f), 0);
    fly(f, 1, a);
    ck_assert_uint_eq(flights_row_of(f, a[0]), 0);
    flights_answer(f, a[0], OK, false);
    ck_assert_uint_eq(flights_settled(f), 1);
    flights_free(f);
}
END_TEST

START_TEST(there_is_room_for_so_many_flights_and_again)
{
    struct flights *f = flights_new(0);
    void *tag[FLIGHTS_MAX];
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < FLIGHTS_MAX; i++) {
            fly(f, 1, &tag[i]);
        }
        ck_assert_uint_eq(flights_begin(f), FLIGHTS_MAX);
        for (uint32_t i = FLIGHTS_MAX; i-- > 1;) {
            flights_answer(f, tag[i], OK, false);
        }
        ck_assert_uint_eq(flights_settled(f), round * (uint64_t)FLIGHTS_MAX);
        flights_answer(f, tag[0], OK, false);
        ck_assert_uint_eq(flights_settled(f), (round + 1) * (uint64_t)FLIGHTS_MAX);
    }
    flights_free(f);
}
END_TEST

/* Answers of another thread, through a pipe of tags. */
struct answers {
    struct flights *flights;
    int *fd;
};

static void *answer_all(void *arg)
{
    struct answers *a = arg;
    void *tag;
    while (read(a->fd[0], &tag, sizeof(tag)) == sizeof(tag)) {
        bool is_bad = flights_row_of(a->flights, tag) % 97 == 0;
        flights_answer(a->flights, tag, is_bad ? LARGE : OK, is_bad);
    }
    return NULL;
}

START_TEST(answers_may_come_from_another_thread)
{
    enum { ROWS = 20000 };
    struct flights *f = flights_new(0);
    int fd[2];
    uint64_t sent = 0, refused = 0, settled = 0;
    pthread_t thread;
    struct answers a = {f, fd};
    ck_assert_int_eq(pipe(fd), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, answer_all, &a), 0);
    while (settled < ROWS) {
        struct flights_row row;
        uint32_t flight = sent < ROWS ? flights_begin(f) : FLIGHTS_MAX;
        for (uint32_t i = 0; flight < FLIGHTS_MAX && i < 10; i++, sent++) {
            void *tag = flights_tag(f, flight);
            ck_assert_int_eq(write(fd[1], &tag, sizeof(tag)), sizeof(tag));
        }
        if (flight < FLIGHTS_MAX) {
            flights_end(f, flight);
        }
        while (flights_refused(f, &row)) {
            ck_assert_uint_eq(row.row % 97, 0);
            flights_forgive(f);
            refused++;
        }
        uint64_t now = flights_settled(f);
        ck_assert_uint_ge(now, settled);
        settled = now;
    }
    (void)close(fd[1]);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    (void)close(fd[0]);
    ck_assert_uint_eq(refused, (ROWS + 96) / 97);
    flights_free(f);
}
END_TEST

UNIT_MAIN("kafka flights", rows_settle_in_their_order, a_refused_row_waits_for_its_fate,
          refusals_that_come_while_others_are_forgiven_stay_in_their_order,
          the_first_failure_is_kept_and_its_row_never_settles, a_row_that_was_not_taken_is_no_row,
          there_is_room_for_so_many_flights_and_again, answers_may_come_from_another_thread)
