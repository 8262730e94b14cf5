#include "engine/run/sink_task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/base/room.h"
#include "engine/run/kept.h"
#include "engine/run/letters.h"

#define SINK_RETRY_US     INT64_C(20000)   /* when a sink that is busy does not say until when */
#define SINK_USUAL_US     INT64_C(1000000) /* that a commit may well take */
#define SINK_RETRY_MAX_US INT64_C(2000000) /* between two tries of a target that is not there */
#define SINK_SAY_US       INT64_C(500000)  /* until the log says that a sink waits */

/* --- Notes ------------------------------------------------------------------------------------ */

sr_rc sink_notes_add(struct sink_notes *l, uint64_t checkpoint, enum sr_note_kind kind,
                     struct sr_bytes note)
{
    struct sink_note *grown = room_for_one(l->item, l->count, &l->capacity, sizeof(*grown));
    if (!grown) return SR_ENOMEM;
    l->item = grown;
    uint8_t *bytes = malloc((size_t)note.len + 1);
    if (!bytes) return SR_ENOMEM;
    if (note.len > 0) memcpy(bytes, note.data, note.len);
    l->item[l->count++] =
        (struct sink_note){.checkpoint = checkpoint, .kind = kind, .len = note.len, .bytes = bytes};
    return SR_OK;
}

void sink_notes_done(struct sink_notes *l)
{
    for (uint32_t i = 0; i < l->count; i++) {
        free(l->item[i].bytes);
    }
    free(l->item);
    *l = (struct sink_notes){.count = 0};
}

/* Frees and removes note i. */
static void sink_notes_remove(struct sink_notes *l, uint32_t i)
{
    free(l->item[i].bytes);
    l->count--;
    memmove(&l->item[i], &l->item[i + 1], (l->count - i) * sizeof(l->item[0]));
}

/* What was the writer's own at an older checkpoint is replaced by what it says now: notes from
 * index `fresh` on stay. */
static void sink_notes_replace_states(struct sink_notes *l, uint32_t fresh)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        struct sink_note *n = &l->item[i];
        if (i < fresh && n->kind == SR_NOTE_STATE) {
            free(n->bytes);
        } else {
            l->item[kept++] = *n;
        }
    }
    l->count = kept;
}

sr_rc sink_notes_load(struct sink_notes *l, const void *bytes, size_t len)
{
    struct bytes_in in = bytes_in(bytes, len);
    uint32_t count = bytes_get_u32(&in);
    for (uint32_t i = 0; i < count && !in.is_broken; i++) {
        uint64_t checkpoint = bytes_get_u64(&in);
        uint8_t kind = bytes_get_u8(&in);
        struct sr_bytes note = bytes_get_blob(&in);
        if (in.is_broken || kind > SR_NOTE_STATE) return SR_ECORRUPT;
        sr_rc rc = sink_notes_add(l, checkpoint, (enum sr_note_kind)kind, note);
        if (rc != SR_OK) return rc;
    }
    return in.is_broken || in.at != in.end ? SR_ECORRUPT : SR_OK;
}

bool sink_save(const struct sink *s, struct sr_out *out)
{
    if (!bytes_put_u32(out, s->notes.count)) return false;
    for (uint32_t i = 0; i < s->notes.count; i++) {
        const struct sink_note *n = &s->notes.item[i];
        if (!bytes_put_u64(out, n->checkpoint) || !bytes_put_u8(out, (uint8_t)n->kind) ||
            !bytes_put_blob(out, n->bytes, n->len)) {
            return false;
        }
    }
    return true;
}

/* --- Life ------------------------------------------------------------------------------------- */

static void sink_ask(const struct sr_sink_open *o)
{
    const struct sink *s = o->engine;
    if (s->ask) s->ask(s->ask_ctx);
}

/* The first one that is skipped is shown, so that nobody wonders. */
static void sink_say_skipped(struct sink *s, const struct letter *one)
{
    if (s->has_said_skipped || s->node->on_error != JOB_SKIP) return;
    s->has_said_skipped = true;
    char place[256] = "its place is not known";
    if (one->split) letter_place(one, place, sizeof(place));
    env_log(s->ctx.env, SR_WARN, s->node->step,
            "skipped a record, %s: %.*s (further ones are only counted)", place, one->words_len,
            one->words);
}

/* A row that was taken is refused after all. */
static sr_rc sink_refuse_late(const struct sr_sink_open *o, uint64_t row, const char *words,
                              struct sr_error *err)
{
    struct sink *s = o->engine;
    sr_assert(s->kept);
    if (s->letters && s->letters->node && letters_is_full(s->letters)) {
        s->wants_letters = true;
        return SR_EBUSY;
    }
    uint32_t at = 0;
    const struct sr_view *v = kept_find(s->kept, row, &at);
    sr_assert(v);
    struct letter one = letter_of_row(s->plan, s->node, v, at, words, KEPT_WORDS_MAX);
    sr_rc rc = letters_judge(s->letters, &s->count, &one, err);
    s->has_failed = rc != SR_OK;
    if (rc == SR_OK) {
        counters_add(&s->count, COUNTER_out, -1); /* it was counted as written */
        sink_say_skipped(s, &one);
    }
    return rc;
}

static void sink_settle(const struct sr_sink_open *o, uint64_t row)
{
    struct sink *s = o->engine;
    sr_assert(s->kept);
    kept_drop(s->kept, row);
}

sr_rc sink_open(struct sink *s, const struct sink_conf *conf, struct sr_error *err)
{
    const struct plan_node *n = conf->node;
    s->plan = conf->plan;
    s->node = n;
    s->open = *conf->open;
    counters_init(&s->count);
    host_init(&s->host, &s->ctx, conf->env, conf->home, n->step);
    s->host.time_zone = conf->plan->job->settings.time_zone;
    s->instance = calloc(1, n->sink->sink_size ? n->sink->sink_size : 1);
    if (!s->instance) return error_set(err, SR_ENOMEM, "sink '%s': out of memory", n->step);
    s->open.size = sizeof(s->open);
    s->open.host = &s->host;
    s->open.conf = n->conf;
    s->open.schema = n->out;
    s->open.format = n->sink_caps.makes_rows ? NULL : n->format;
    s->open.format_conf = n->format_conf;
    s->open.keyed = n->keyed ? &n->keyed->how : NULL;
    s->open.uid = n->uid;
    if (!plan_is_decided(n)) s->open.decider = NULL;
    s->open.ask_checkpoint = sink_ask;
    s->open.engine = s;
    s->open.refuse = sink_refuse_late;
    s->open.settle = sink_settle;
    sr_rc locked = mutex_new(&s->waiting.lock, err);
    if (locked != SR_OK) return locked;
    s->kept = n->sink_caps.refuses_late ? kept_new(conf->home) : NULL;
    if (n->sink_caps.refuses_late && !s->kept) {
        return error_set(err, SR_ENOMEM, "sink '%s': out of memory", n->step);
    }
    s->is_open = true; /* or half so: it is closed in any case */
    sr_rc rc = n->sink->open(s->instance, &s->open, err);
    return rc == SR_OK ? rc : error_wrap(err, "sink '%s'", n->step);
}

void sink_close(struct sink *s)
{
    if (s->is_open) s->node->sink->close(s->instance);
    s->is_open = false;
    view_release(s->view);
    s->view = NULL;
    kept_free(s->kept);
    s->kept = NULL;
    mutex_free(s->waiting.lock);
    s->waiting.lock = NULL;
    sink_notes_done(&s->notes);
    free(s->instance);
    s->instance = NULL;
}

/* --- Writing ---------------------------------------------------------------------------------- */

void sink_watermark(struct sink *s, int64_t watermark)
{
    const struct sr_sink_type *type = s->node->sink;
    counters_watermark(&s->count, watermark);
    if (SR_HAS_FIELD(type, struct sr_sink_type, watermark) && type->watermark) {
        type->watermark(s->instance, watermark);
    }
}

void sink_put(struct sink *s, struct sr_view *v)
{
    sr_assert(!s->view);
    counters_add(&s->count, COUNTER_in, v->picked);
    s->view = v;
    s->from = 0;
}

static struct sr_wait sink_no_wait(void)
{
    return (struct sr_wait){.fd = -1, .until_us = INT64_MAX};
}

/* --- Waiting ---------------------------------------------------------------------------------- */

int64_t sink_waits(const struct sink *s, char words[SINK_WORDS_MAX])
{
    if (!s->waiting.lock) return 0;
    mutex_lock(s->waiting.lock);
    int64_t since_us = s->waiting.since_us;
    memcpy(words, s->waiting.words, SINK_WORDS_MAX);
    mutex_unlock(s->waiting.lock);
    return since_us;
}

static void sink_tell_waiting(struct sink *s, int64_t since_us, const char *words)
{
    mutex_lock(s->waiting.lock);
    s->waiting.since_us = since_us;
    (void)snprintf(s->waiting.words, sizeof(s->waiting.words), "%.*s", (int)strcspn(words, "\n"),
                   words);
    mutex_unlock(s->waiting.lock);
}

/* Is it too early to try again? */
static bool sink_must_wait(const struct sink_patience *p, int64_t now_us, struct sr_wait *wait)
{
    if (!p->is_on || now_us >= p->retry_us) return false;
    *wait = (struct sr_wait){.fd = -1, .until_us = p->retry_us};
    return true;
}

static void sink_goes_on(struct sink *s, struct sink_patience *p)
{
    if (p->is_on) {
        const struct env *env = s->ctx.env;
        if (p->is_said) {
            env_log(env, SR_INFO, s->node->step, "goes on after %lld ms",
                    (long long)((env->mono_us(env) - p->since_us) / 1000));
        }
        sink_tell_waiting(s, 0, "");
    }
    *p = (struct sink_patience){.is_on = false};
}

/* Is it a fault of the target that may pass? */
static bool sink_may_pass(const struct sink *s, const struct sink_patience *p, sr_rc rc)
{
    const struct sr_sink_type *t = s->node->sink;
    bool is_commit = p == &s->committing;
    bool can_retry = SR_HAS_FIELD(t, struct sr_sink_type, can_retry) && t->can_retry;
    if (rc == SR_EBUSY) return is_commit;
    return (rc == SR_ENOSPC || rc == SR_EABSENT) && (is_commit || can_retry);
}

/* The call failed with `rc`: it is made again later, or the sink has failed. */
static enum sink_did sink_waits_out(struct sink *s, struct sink_patience *p, int64_t now_us,
                                    struct sr_wait *wait, struct sr_error *err)
{
    const struct env *env = s->ctx.env;
    int64_t most_us = s->plan->job->settings.sink_retry.us;
    if (!sink_may_pass(s, p, err->rc) || most_us == 0) return SINK_FAILED;
    if (!p->is_on) {
        *p = (struct sink_patience){.is_on = true, .since_us = now_us, .delay_us = SINK_RETRY_US};
    }
    /* Sinks that share a database wait for each other all the time, for moments. */
    if (!p->is_said && now_us - p->since_us >= SINK_SAY_US) {
        env_log(env, SR_WARN, s->node->step, "waits: %s", err->words);
        p->is_said = true;
    }
    if (now_us - p->since_us >= most_us) {
        (void)error_wrap(err, "waited %lld ms (sink.retry.timeout)",
                         (long long)((now_us - p->since_us) / 1000));
        err->rc = SR_ELIMIT; /* nobody is to wait for it once more */
        return SINK_FAILED;
    }
    int64_t since_us = env->wall_us(env) - (now_us - p->since_us);
    sink_tell_waiting(s, since_us, err->words);
    int64_t give_up_us = most_us > INT64_MAX - p->since_us ? INT64_MAX : p->since_us + most_us;
    p->retry_us = now_us + p->delay_us < give_up_us ? now_us + p->delay_us : give_up_us;
    /* A commit that is under way is asked for often for a while. */
    bool is_usual = err->rc == SR_EBUSY && now_us - p->since_us < SINK_USUAL_US;
    int64_t longer_us = is_usual ? p->delay_us : p->delay_us * 2;
    p->delay_us = longer_us < SINK_RETRY_MAX_US ? longer_us : SINK_RETRY_MAX_US;
    *wait = (struct sr_wait){.fd = -1, .until_us = p->retry_us};
    return SINK_BUSY;
}

/* A busy sink is always asked again; at once, when it is dead letters that it waits for. */
static enum sink_did sink_is_busy(struct sink *s, struct sr_wait *wait, int64_t now_us)
{
    if (s->wants_letters) {
        s->wants_letters = false;
        return SINK_FULL;
    }
    if (wait->fd < 0 && wait->until_us == INT64_MAX) wait->until_us = now_us + SINK_RETRY_US;
    return SINK_BUSY;
}

/* The row behind those that were written cannot be, as `why` says: the job fails, or goes on
 * without it. */
static sr_rc sink_refused(struct sink *s, struct letters *letters, struct sr_error *why)
{
    if (s->from >= s->view->picked) return why->rc; /* it is no row's fault */
    struct sr_error said = *why;
    struct letter one = letter_of_row(s->plan, s->node, s->view, sr_row(s->view, s->from),
                                      said.words, sizeof(said.words));
    sr_rc rc = letters_judge(letters, &s->count, &one, why);
    if (rc == SR_OK) {
        s->from++;
        sink_say_skipped(s, &one);
    }
    return rc;
}

/* One call of write. */
static sr_rc sink_call_write(struct sink *s, struct sr_wait *wait, struct sr_error *err)
{
    uint32_t done = 0;
    /* Kept before it is written: the call may refuse rows of its own. */
    if (s->kept && kept_put(s->kept, s->view, s->from) != SR_OK) {
        return error_set(err, SR_ENOMEM, "out of memory");
    }
    sr_rc rc = s->node->sink->write(s->instance, s->view, s->from, &done, wait, err);
    sr_assert(done <= s->view->picked - s->from);
    sr_assert(rc != SR_OK || done > 0);
    if (s->kept) kept_taken(s->kept, done);
    s->from += done;
    s->is_dirty = true;
    counters_add(&s->count, COUNTER_out, done);
    return rc;
}

/* A row that was refused late, and fails the job, is named already. */
static enum sink_did sink_has_failed(struct sink *s, int64_t now_us, struct sr_wait *wait,
                                     struct sr_error *err)
{
    if (s->has_failed) return SINK_FAILED;
    (void)error_wrap(err, "sink '%s'", s->node->step);
    return sink_waits_out(s, &s->writing, now_us, wait, err);
}

enum sink_did sink_write(struct sink *s, struct letters *letters, int64_t now_us,
                         struct sr_wait *wait, struct sr_error *err)
{
    *wait = sink_no_wait();
    s->letters = letters;
    if (s->view && sink_must_wait(&s->writing, now_us, wait)) return SINK_BUSY;
    while (s->view && s->from < s->view->picked) {
        sr_rc rc = sink_call_write(s, wait, err);
        if (rc == SR_EBUSY) return sink_is_busy(s, wait, now_us);
        if (rc == SR_EDATA && !s->has_failed) {
            if (sink_refused(s, letters, err) != SR_OK) return SINK_FAILED;
            if (letters && letters->node && letters_is_full(letters)) return SINK_FULL;
            continue;
        }
        if (rc != SR_OK) return sink_has_failed(s, now_us, wait, err);
        sink_goes_on(s, &s->writing);
    }
    if (s->view && s->view->watermark_end != SR_WATERMARK_NONE) {
        sink_watermark(s, s->view->watermark_end);
    }
    view_release(s->view);
    s->view = NULL;
    return SINK_DONE;
}

enum sink_did sink_flush(struct sink *s, struct letters *letters, int64_t now_us,
                         struct sr_wait *wait, struct sr_error *err)
{
    *wait = sink_no_wait();
    s->letters = letters;
    if (!s->is_dirty) return SINK_DONE;
    if (sink_must_wait(&s->writing, now_us, wait)) return SINK_BUSY;
    sr_rc rc = SR_OK;
    if (s->node->sink->flush) rc = s->node->sink->flush(s->instance, wait, err);
    if (rc == SR_EBUSY) return sink_is_busy(s, wait, now_us);
    if (rc != SR_OK) return sink_has_failed(s, now_us, wait, err);
    sink_goes_on(s, &s->writing);
    s->is_dirty = false;
    return SINK_DONE;
}

/* --- Checkpoints ------------------------------------------------------------------------------ */

struct sink_adder {
    struct sr_notes base;
    bool can_commit;
    struct sink_notes *notes;
    uint64_t checkpoint;
};

static sr_rc sink_add_note(struct sr_notes *base, enum sr_note_kind kind, struct sr_bytes note)
{
    const struct sink_adder *a = (const struct sink_adder *)(const void *)base;
    if (kind == SR_NOTE_COMMIT && !a->can_commit) return SR_EABI; /* nobody could show it */
    return sink_notes_add(a->notes, a->checkpoint, kind, note);
}

enum sink_did sink_prepare(struct sink *s, const struct sink_barrier *b, struct letters *letters,
                           int64_t now_us, struct sr_wait *wait, struct sr_error *err)
{
    sr_assert(!s->view);
    *wait = sink_no_wait();
    s->letters = letters;
    if (sink_must_wait(&s->writing, now_us, wait)) return SINK_BUSY;
    uint32_t before = s->notes.count;
    struct sink_adder adder = {.base = {.add = sink_add_note},
                               .can_commit = s->node->sink->commit != NULL,
                               .notes = &s->notes,
                               .checkpoint = b->checkpoint};
    sr_rc rc =
        s->node->sink->prepare(s->instance, b->checkpoint, b->is_last, &adder.base, wait, err);
    if (rc == SR_OK) {
#ifdef MUTANT_NOTES_OF_ONE /* what an earlier checkpoint prepared and nobody showed is lost */
        for (; before > 0; before--) {
            sink_notes_remove(&s->notes, 0);
        }
#endif
        sink_goes_on(s, &s->writing);
        if (s->kept) kept_drop(s->kept, UINT64_MAX);
        sink_notes_replace_states(&s->notes, before);
        s->is_dirty = false;
        return SINK_DONE;
    }
    while (s->notes.count > before) {
        sink_notes_remove(&s->notes, s->notes.count - 1);
    }
    if (rc == SR_EBUSY) return sink_is_busy(s, wait, now_us);
    if (s->has_failed) return SINK_FAILED; /* the message names the sink and the row */
    (void)error_wrap(err, "sink '%s', checkpoint %llu", s->node->step,
                     (unsigned long long)b->checkpoint);
    return sink_waits_out(s, &s->writing, now_us, wait, err);
}

enum sink_did sink_commit(struct sink *s, uint64_t checkpoint, int64_t now_us, struct sr_wait *wait,
                          struct sr_error *err)
{
    *wait = sink_no_wait();
    uint32_t i = 0;
    while (i < s->notes.count) {
        const struct sink_note *n = &s->notes.item[i];
        if (n->kind != SR_NOTE_COMMIT || n->checkpoint > checkpoint) {
            i++;
            continue;
        }
        if (sink_must_wait(&s->committing, now_us, wait)) return SINK_BUSY;
        struct sr_bytes note = {n->bytes, n->len};
        sr_rc rc = s->node->sink->commit(s->instance, n->checkpoint, note, err);
        if (rc != SR_OK) {
            (void)error_wrap(err, "sink '%s', commit of checkpoint %llu", s->node->step,
                             (unsigned long long)n->checkpoint);
            return sink_waits_out(s, &s->committing, now_us, wait, err);
        }
        sink_goes_on(s, &s->committing);
        sink_notes_remove(&s->notes, i);
    }
    return SINK_DONE;
}
