/* Dead letters: what they hold, how many there may be, what becomes of a bad record. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/run/letters.h"
#include "test/unit/unit.h"

#define MINUTE INT64_C(60000000)

/* --- A target that keeps the columns that are looked at --------------------------------------- */

struct target {
    bool is_busy;
    uint32_t rows;
    char step[8][64], error[8][4096], raw[8][64];
};
static struct target target;

static void keep(const struct sr_view *v, enum plan_aside_column c, uint32_t row, char *to)
{
    uint32_t len = 0;
    if (!sr_is_valid(v->col[c], row)) return;
    const char *text = sr_text(v->col[c], row, &len);
    memcpy(to, text, len);
    to[len] = '\0';
}

static sr_rc target_open(void *s, const struct sr_sink_open *o, struct sr_error *err)
{
    (void)s;
    (void)o;
    (void)err;
    return SR_OK;
}

static sr_rc target_write(void *s, const struct sr_view *v, uint32_t from, uint32_t *done,
                          struct sr_wait *wait, struct sr_error *err)
{
    (void)s;
    (void)wait;
    (void)err;
    *done = 0;
    if (target.is_busy) return SR_EBUSY;
    for (uint32_t i = from; i < v->picked; i++, (*done)++) {
        uint32_t at = target.rows++ % 8;
        keep(v, ASIDE_STEP, sr_row(v, i), target.step[at]);
        keep(v, ASIDE_ERROR, sr_row(v, i), target.error[at]);
        keep(v, ASIDE_RAW, sr_row(v, i), target.raw[at]);
    }
    return SR_OK;
}

static sr_rc target_prepare(void *s, uint64_t checkpoint, bool is_last, struct sr_notes *notes,
                            struct sr_wait *wait, struct sr_error *err)
{
    (void)s;
    (void)checkpoint;
    (void)is_last;
    (void)notes;
    (void)wait;
    (void)err;
    return SR_OK;
}

static void target_close(void *s) { (void)s; }

static const struct sr_sink_type target_type = {.size = sizeof(target_type),
                                                .name = "target",
                                                .open = target_open,
                                                .write = target_write,
                                                .prepare = target_prepare,
                                                .close = target_close};

/* --- A task's letters ------------------------------------------------------------------------- */

static int64_t now_us;
static int64_t clock_us(const struct env *e)
{
    (void)e;
    return now_us;
}

static struct env env;
static struct job job;
static struct plan_dead_letter to;
static struct plan plan;
static struct letters_ledger ledger;
static struct sr_home *home;
static struct letters letters;
static struct sr_error err;
static const struct plan_node source = {.uid = "in", .step = "in"};

static void setup(int64_t total_max, int64_t minute_max)
{
    env = env_posix(SR_LOG_ERROR);
    env.mono_us = clock_us;
    target = (struct target){.rows = 0};
    to = (struct plan_dead_letter){.node = {.kind = PLAN_SINK,
                                            .step = "dead-letter",
                                            .uid = "dead-letter",
                                            .out = &plan_aside_schema,
                                            .sink = &target_type,
                                            .sink_caps = {.makes_rows = true}}};
    plan = (struct plan){.job = &job, .dead_letter = &to};
    ledger = (struct letters_ledger){.total_max = total_max, .minute_max = minute_max};
    home = home_new();
    struct sr_sink_open open = {.parts = 1};
    struct letters_conf conf = {
        .plan = &plan, .env = &env, .home = home, .ledger = &ledger, .attempt = 2, .open = &open};
    letters = (struct letters){.node = NULL};
    ck_assert_int_eq(letters_open(&letters, &conf, &err), SR_OK);
}

static void done(void)
{
    letters_close(&letters);
    home_close(home);
}

/* A record of step "t" that cannot be read. */
static struct letter letter_of(const struct plan_node *node, const char *words, const char *raw)
{
    return (struct letter){.node = node,
                           .step = "t",
                           .source = &source,
                           .split = "s",
                           .offset = 7,
                           .line = 3,
                           .raw = (const uint8_t *)raw,
                           .raw_len = (uint32_t)strlen(raw),
                           .words = words,
                           .words_len = (int)strlen(words)};
}

static enum sink_did write_all(void)
{
    struct sr_wait wait;
    return letters_write(&letters, now_us, &wait, &err);
}

/* Bytes are kept as base64; what is no text in words, or would move a terminal, is spelled out. */
START_TEST(a_letter_can_be_carried_by_any_format)
{
    struct plan_node node = {.on_error = JOB_DEAD_LETTER};
    setup(0, 0);
    struct letter one = letter_of(&node, "caf\xc3\xa9 \xff \x1b[2J", "a,b");
    ck_assert_int_eq(letters_add(&letters, &one, &err), SR_OK);
    one.raw = NULL;
    ck_assert_int_eq(letters_add(&letters, &one, &err), SR_OK);
    ck_assert_int_eq(write_all(), SINK_DONE);
    ck_assert_uint_eq(target.rows, 2);
    ck_assert_str_eq(target.step[0], "t");
    ck_assert_str_eq(target.error[0], "caf\xc3\xa9 \\xff \\x1b[2J");
    ck_assert_str_eq(target.raw[0], "YSxi");
    ck_assert_str_eq(target.raw[1], "");
    done();
}
END_TEST

/* on-error decides: the job fails and knows its culprit, the record is counted, or it is set
 * aside. */
START_TEST(on_error_decides)
{
    struct counters count;
    struct plan_node node = {.step = "t", .on_error = JOB_FAIL};
    counters_init(&count);
    setup(0, 0);
    struct letter one = letter_of(&node, "why", "a,b");
    ck_assert_int_eq(letters_judge(&letters, &count, &one, &err), SR_EDATA);
    ck_assert_ptr_nonnull(strstr(err.words, "why"));
    ck_assert_ptr_eq(letters.culprit.source, &source);
    ck_assert_str_eq(letters.culprit.split, "s");
    ck_assert_int_eq(letters.culprit.offset, 7);
    node.on_error = JOB_SKIP;
    ck_assert_int_eq(letters_judge(&letters, &count, &one, &err), SR_OK);
    node.on_error = JOB_DEAD_LETTER;
    ck_assert_int_eq(letters_judge(&letters, &count, &one, &err), SR_OK);
    struct counts now;
    counters_get(&count, &now);
    ck_assert_int_eq(now.value[COUNTER_skipped], 1);
    ck_assert_int_eq(now.value[COUNTER_dead], 1);
    ck_assert_int_eq(write_all(), SINK_DONE);
    ck_assert_uint_eq(target.rows, 1);
    done();
}
END_TEST

/* More than max-total ends the job, and no restart helps. */
START_TEST(too_many_in_all_end_the_job)
{
    struct plan_node node = {.step = "t", .on_error = JOB_DEAD_LETTER};
    setup(3, 0);
    struct letter one = letter_of(&node, "why", "a,b");
    for (int i = 0; i < 3; i++) {
        now_us += 2 * MINUTE;
        ck_assert_int_eq(letters_add(&letters, &one, &err), SR_OK);
    }
    ck_assert(!letters.is_over);
    ck_assert_int_eq(letters_add(&letters, &one, &err), SR_ELIMIT);
    ck_assert(letters.is_over);
    ck_assert_ptr_nonnull(strstr(err.words, "dead-letter.max-total"));
    done();
}
END_TEST

/* max-rate counts a minute of the monotonic clock, and begins anew with the next one. */
START_TEST(too_many_within_a_minute_end_the_job)
{
    struct plan_node node = {.step = "t", .on_error = JOB_DEAD_LETTER};
    now_us = 5 * MINUTE;
    setup(0, 2);
    struct letter one = letter_of(&node, "why", "a,b");
    for (int minute = 0; minute < 4; minute++) {
        ck_assert_int_eq(letters_add(&letters, &one, &err), SR_OK);
        ck_assert_int_eq(letters_add(&letters, &one, &err), SR_OK);
        now_us += MINUTE;
    }
    now_us -= 1; /* still within the fourth */
    ck_assert_int_eq(letters_add(&letters, &one, &err), SR_ELIMIT);
    ck_assert_ptr_nonnull(strstr(err.words, "dead-letter.max-rate"));
    done();
}
END_TEST

/* Many letters are full batches, none is lost while the target is busy, and their order stays. */
START_TEST(letters_wait_for_a_busy_target)
{
    struct plan_node node = {.step = "t", .on_error = JOB_DEAD_LETTER};
    char words[16];
    setup(0, 0);
    target.is_busy = true;
    uint32_t added = 0;
    while (!letters_is_full(&letters)) {
        (void)snprintf(words, sizeof(words), "why %u", added++);
        struct letter one = letter_of(&node, words, "a,b");
        ck_assert_int_eq(letters_add(&letters, &one, &err), SR_OK);
    }
    ck_assert_int_eq(write_all(), SINK_BUSY);
    ck_assert_int_eq(write_all(), SINK_BUSY);
    ck_assert_uint_eq(target.rows, 0);
    target.is_busy = false;
    ck_assert_int_eq(write_all(), SINK_DONE);
    ck_assert_uint_eq(target.rows, added);
    (void)snprintf(words, sizeof(words), "why %u", added - 1);
    ck_assert_str_eq(target.error[(added - 1) % 8], words);
    ck_assert(!letters_is_full(&letters));
    done();
}
END_TEST

UNIT_MAIN("run: letters", a_letter_can_be_carried_by_any_format, on_error_decides,
          too_many_in_all_end_the_job, too_many_within_a_minute_end_the_job,
          letters_wait_for_a_busy_target)
