#include "test/kit/sink_kit.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/kit/faulty.h"

static const struct sr_field sink_field[] = {
    {"line", {.kind = SR_VARCHAR, .is_nullable = true, .length = SR_LENGTH_MAX}},
    {"part", {.kind = SR_VARCHAR, .is_nullable = true, .length = SR_LENGTH_MAX}}};
static const struct sr_schema sink_schema = {.fields = 1, .field = sink_field, .rowtime = -1};
static const struct sr_schema sink_parted = {.fields = 2, .field = sink_field, .rowtime = -1};

struct sr_view *sink_kit_parted(struct stage *s, uint32_t first, uint32_t last, uint32_t parts)
{
    struct sr_view *v = view_new(s->home, parts > 0 ? 2 : 1);
    ck_assert_ptr_nonnull(v);
    v->rows = v->picked = last - first + 1;
    for (uint32_t c = 0; c < v->cols; c++) {
        v->col[c] = column_new(s->home, &sink_field[c].type, SR_BATCH_ROWS);
        ck_assert_ptr_nonnull(v->col[c]);
        for (uint32_t i = 0; i < v->rows; i++) {
            char text[32];
            int len = snprintf(text, sizeof(text), c == 0 ? "row-%u" : "part %u",
                               c == 0 ? first + i : (first + i) % parts);
            ck_assert(column_put_bytes(s->home, v->col[c], i, text, (uint32_t)len));
        }
        v->col[c]->rows = v->rows;
    }
    return v;
}

struct sr_view *sink_kit_view(struct stage *s, uint32_t first, uint32_t last)
{
    return sink_kit_parted(s, first, last, 0);
}

const char *sink_kit_rows(struct stage *s, uint32_t first, uint32_t last)
{
    char text[65536];
    size_t n = 0;
    text[0] = 0;
    for (uint32_t i = first; i <= last; i++) {
        n += (size_t)snprintf(text + n, sizeof(text) - n, "row-%u\n", i);
    }
    return stage_sort(s, text);
}

static sr_rc sink_note_add(struct sr_notes *n, enum sr_note_kind kind, struct sr_bytes note)
{
    struct sink_notes_kept *k = (struct sink_notes_kept *)n;
    ck_assert_uint_lt(k->count, SINK_NOTES_MAX);
    k->note[k->count].kind = kind;
    k->note[k->count].len = note.len;
    k->note[k->count].bytes = malloc(note.len > 0 ? note.len : 1);
    memcpy(k->note[k->count++].bytes, note.data, note.len);
    return SR_OK;
}

static void sink_note_drop(struct sink_notes_kept *k, uint32_t i)
{
    free(k->note[i].bytes);
    memmove(&k->note[i], &k->note[i + 1], (k->count - i - 1) * sizeof(k->note[0]));
    k->count--;
}

static void sink_asked(const struct sr_sink_open *o) { ((struct sink_run *)o->engine)->asked++; }

sr_rc sink_run_try_open(struct sink_run *r, const struct sink_kit *k, uint32_t parts,
                        uint64_t attempt)
{
    memset(r, 0, sizeof(*r));
    r->kit = k;
    r->parts = parts;
    r->kept.base.add = sink_note_add;
    for (uint32_t p = 0; p < parts; p++) {
        size_t size = ((size_t)k->type->sink_size + 16) / 16 * 16;
        r->sink[p] = aligned_alloc(16, size);
        memset(r->sink[p], 0, size);
        r->open[p] = (struct sr_sink_open){.size = sizeof(r->open[p]),
                                           .host = &k->stage->host,
                                           .conf = k->conf,
                                           .schema = k->has_part ? &sink_parted : &sink_schema,
                                           .format = k->format,
                                           .format_conf = k->format_conf,
                                           .part = p,
                                           .parts = parts,
                                           .job_id = "0123456789abcdef0123456789abcdef",
                                           .uid = "out",
                                           .lineage = 1,
                                           .attempt = attempt,
                                           .redo_dir = k->redo_dir,
                                           .is_bounded = true,
                                           .ask_checkpoint = sink_asked,
                                           .engine = r};
        sr_rc rc = k->type->open(r->sink[p], &r->open[p], &r->err);
        if (rc != SR_OK) {
            r->parts = p + 1; /* the failed one is closed too */
            return rc;
        }
    }
    return SR_OK;
}

void sink_run_open(struct sink_run *r, const struct sink_kit *k, uint32_t parts, uint64_t attempt)
{
    sr_rc rc = sink_run_try_open(r, k, parts, attempt);
    ck_assert_msg(rc == SR_OK, "open: %s", r->err.words);
}

void sink_run_restore(struct sink_run *r, const struct sink_run *from)
{
    struct sr_bytes live[SINK_NOTES_MAX];
    uint32_t count = from ? from->kept.count : 0, turn = 0;
    for (uint32_t i = 0; i < count; i++) {
        live[i] = (struct sr_bytes){from->kept.note[i].bytes, from->kept.note[i].len};
        if (from->kept.note[i].kind == SR_NOTE_STATE && r->kit->type->restore) {
            sr_rc rc = r->kit->type->restore(r->sink[turn++ % r->parts], live[i], &r->err);
            ck_assert_msg(rc == SR_OK, "restore: %s", r->err.words);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (from->kept.note[i].kind == SR_NOTE_COMMIT) {
            sr_rc rc =
                r->kit->type->commit(r->sink[0], from->kept.note[i].checkpoint, live[i], &r->err);
            ck_assert_msg(rc == SR_OK, "commit after a restore: %s", r->err.words);
        }
    }
    if (r->kit->type->recover) {
        sr_rc rc = r->kit->type->recover(r->sink[0], live, count, &r->err);
        ck_assert_msg(rc == SR_OK, "recover: %s", r->err.words);
    }
}

sr_rc sink_run_write(struct sink_run *r, uint32_t part, uint32_t first, uint32_t last)
{
    struct sr_view *v = sink_kit_parted(r->kit->stage, first, last, r->kit->has_part);
    sr_rc rc = SR_OK;
    for (uint32_t from = 0; rc == SR_OK && from < v->picked;) {
        uint32_t done = 0;
        struct sr_wait wait = {.fd = -1, .until_us = INT64_MAX};
        rc = r->kit->type->write(r->sink[part], v, from, &done, &wait, &r->err);
        from += done;
    }
    view_release(v);
    return rc;
}

sr_rc sink_run_prepare(struct sink_run *r, uint64_t checkpoint, bool is_last)
{
    struct sr_wait wait = {.fd = -1, .until_us = INT64_MAX};
    uint32_t before = r->kept.count;
    sr_rc rc = SR_OK;
    for (uint32_t p = 0; rc == SR_OK && p < r->parts; p++) {
        rc = r->kit->type->prepare(r->sink[p], checkpoint, is_last, &r->kept.base, &wait, &r->err);
    }
    while (rc != SR_OK && r->kept.count > before) { /* notes of a call that fails do not count */
        sink_note_drop(&r->kept, r->kept.count - 1);
    }
    for (uint32_t i = before; i < r->kept.count; i++) {
        r->kept.note[i].checkpoint = checkpoint;
    }
    for (uint32_t i = before; rc == SR_OK && i-- > 0;) { /* states are replaced */
        if (r->kept.note[i].kind == SR_NOTE_STATE) {
            sink_note_drop(&r->kept, i);
        }
    }
    return rc;
}

sr_rc sink_run_commit(struct sink_run *r, bool forget)
{
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; rc == SR_OK && i < r->kept.count;) {
        if (r->kept.note[i].kind != SR_NOTE_COMMIT) {
            i++;
            continue;
        }
        struct sr_bytes note = {r->kept.note[i].bytes, r->kept.note[i].len};
        rc = r->kit->type->commit(r->sink[0], r->kept.note[i].checkpoint, note, &r->err);
        if (forget && rc == SR_OK) {
            sink_note_drop(&r->kept, i);
        } else {
            i++;
        }
    }
    return rc;
}

void sink_run_close(struct sink_run *r)
{
    for (uint32_t p = 0; p < r->parts; p++) {
        r->kit->type->close(r->sink[p]);
        free(r->sink[p]);
        r->sink[p] = NULL;
    }
    r->parts = 0;
}

void sink_run_done(struct sink_run *r)
{
    sink_run_close(r);
    while (r->kept.count > 0) {
        sink_note_drop(&r->kept, r->kept.count - 1);
    }
}

/* --- Checks ---------------------------------------------------------------------------------- */

static void sink_expect(const struct sink_kit *k, const char *when, uint32_t last, bool is_last)
{
    const char *want = k->is_at_end && !is_last ? "" : sink_kit_rows(k->stage, 1, last);
    const char *got = k->visible(k->stage);
    ck_assert_msg(strcmp(got, want) == 0, "%s: visible is\n%sinstead of\n%s", when, got, want);
}

#define SINK_OK(r, call)                                              \
    do {                                                              \
        sr_rc rc_ = (call);                                           \
        ck_assert_msg(rc_ == SR_OK, "%s: %s", #call, (r)->err.words); \
    } while (0)

static void sink_check_twice(const struct sink_kit *k)
{
    struct sink_run r, again;
    k->reset(k->stage);
    sink_run_open(&r, k, 1, 1);
    sink_run_restore(&r, NULL);
    SINK_OK(&r, sink_run_write(&r, 0, 1, 3));
    sink_expect(k, "written", 0, false);
    SINK_OK(&r, sink_run_prepare(&r, 1, false));
    sink_expect(k, "prepared", 0, false);
    SINK_OK(&r, sink_run_commit(&r, false));
    sink_expect(k, "committed", 3, false);
    SINK_OK(&r, sink_run_commit(&r, false));
    sink_expect(k, "committed twice", 3, false);
    SINK_OK(&r, sink_run_write(&r, 0, 4, 5));
    SINK_OK(&r, sink_run_prepare(&r, 2, true));
    SINK_OK(&r, sink_run_commit(&r, false));
    sink_expect(k, "ended", 5, true);
    sink_run_close(&r);
    sink_run_open(&again, k, 1, 2);
    sink_run_restore(&again, &r);
    sink_expect(k, "committed by another attempt", 5, true);
    sink_run_done(&again);
    sink_run_done(&r);
}

/* Crashes after `step` steps of write, prepare, commit, write; goes on from the last checkpoint. */
static void sink_check_crash(const struct sink_kit *k, uint32_t step, uint32_t parts)
{
    struct sink_run r, next;
    k->reset(k->stage);
    sink_run_open(&r, k, parts, 1);
    sink_run_restore(&r, NULL);
    uint32_t safe = 0;
    if (step > 0) {
        SINK_OK(&r, sink_run_write(&r, 0, 1, 4));
    }
    if (step > 1) {
        SINK_OK(&r, sink_run_prepare(&r, 1, false));
        safe = 4;
    }
    if (step > 2) {
        SINK_OK(&r, sink_run_commit(&r, step > 3));
    }
    if (step > 4) {
        SINK_OK(&r, sink_run_write(&r, parts - 1, 5, 9)); /* are lost, and come again */
    }
    sink_run_close(&r);
    sink_run_open(&next, k, parts, 2);
    sink_run_restore(&next, &r);
    SINK_OK(&next, sink_run_write(&next, parts - 1, safe + 1, 9));
    SINK_OK(&next, sink_run_prepare(&next, 2, false)); /* is dropped */
    SINK_OK(&next, sink_run_write(&next, 0, 10, 11));
    SINK_OK(&next, sink_run_prepare(&next, 3, false));
    SINK_OK(&next, sink_run_commit(&next, true));
    SINK_OK(&next, sink_run_prepare(&next, 4, true));
    SINK_OK(&next, sink_run_commit(&next, true));
    char when[64];
    snprintf(when, sizeof(when), "crash at step %u, %u subtasks", step, parts);
    sink_expect(k, when, 11, true);
    ck_assert_msg(k->leftovers(k->stage)[0] == 0, "%s leaves %s", when, k->leftovers(k->stage));
    sink_run_done(&next);
    sink_run_done(&r);
}

/* Crashes at once after a restore, twice: what the checkpoint has is kept without a new row. */
static void sink_check_restored(const struct sink_kit *k)
{
    struct sink_run r[3];
    k->reset(k->stage);
    sink_run_open(&r[0], k, 1, 1);
    sink_run_restore(&r[0], NULL);
    SINK_OK(&r[0], sink_run_write(&r[0], 0, 1, 4));
    SINK_OK(&r[0], sink_run_prepare(&r[0], 1, false));
    sink_run_close(&r[0]);
    for (uint32_t i = 1; i < 3; i++) {
        sink_run_open(&r[i], k, 1, i + 1);
        sink_run_restore(&r[i], &r[i - 1]);
        SINK_OK(&r[i], sink_run_prepare(&r[i], i + 1, i == 2));
        if (i == 1) {
            sink_run_close(&r[i]);
        }
    }
    SINK_OK(&r[2], sink_run_commit(&r[2], true));
    sink_expect(k, "restored twice", 4, true);
    ck_assert_str_eq(k->leftovers(k->stage), "");
    for (uint32_t i = 0; i < 3; i++) {
        sink_run_done(&r[i]);
    }
}

/* A job that never wrote a row shows none, and leaves nothing. */
static void sink_check_empty(const struct sink_kit *k)
{
    struct sink_run r;
    k->reset(k->stage);
    sink_run_open(&r, k, 1, 1);
    sink_run_restore(&r, NULL);
    SINK_OK(&r, sink_run_prepare(&r, 1, false));
    SINK_OK(&r, sink_run_commit(&r, true));
    SINK_OK(&r, sink_run_prepare(&r, 2, true));
    SINK_OK(&r, sink_run_commit(&r, true));
    sink_expect(k, "no row", 0, true);
    ck_assert_str_eq(k->leftovers(k->stage), "");
    sink_run_done(&r);
}

/* Two runs whose store was lost in between, so that all numbers repeat, keep the rows of both. */
static void sink_check_same_numbers(const struct sink_kit *k)
{
    struct sink_run r;
    k->reset(k->stage);
    for (uint32_t run = 0; run < 2; run++) {
        sink_run_open(&r, k, 1, 1);
        sink_run_restore(&r, NULL);
        SINK_OK(&r, sink_run_write(&r, 0, run * 3 + 1, run * 3 + 3));
        SINK_OK(&r, sink_run_prepare(&r, 1, true));
        SINK_OK(&r, sink_run_commit(&r, true));
        sink_run_done(&r);
    }
    sink_expect(k, "a second run with the same numbers", 6, true);
}

/* Writes, and takes checkpoints 1 and 2; *safe is the last row of a checkpoint that was taken. */
static sr_rc sink_try(struct sink_run *r, uint32_t *safe)
{
    sr_rc rc = r->kit->type->recover ? r->kit->type->recover(r->sink[0], NULL, 0, &r->err) : SR_OK;
    for (uint32_t n = 1; rc == SR_OK && n <= 2; n++) {
        rc = sink_run_write(r, 0, *safe + 1, *safe + 4);
        rc = rc == SR_OK ? sink_run_prepare(r, n, false) : rc;
        if (rc == SR_OK) {
            *safe += 4;
            rc = sink_run_commit(r, true);
        }
    }
    return rc;
}

/* False: the run needs fewer than n operations. */
static bool sink_check_fault(const struct sink_kit *k, uint32_t n, bool is_crash)
{
    struct sink_run r, next;
    uint32_t safe = 0;
    k->reset(k->stage);
    faulty_fail(n, is_crash);
    sr_rc rc = sink_run_try_open(&r, k, 1, 1);
    rc = rc == SR_OK ? sink_try(&r, &safe) : rc;
    ck_assert_msg(rc == SR_OK || r.err.words[0] != 0, "operation %u fails without words", n);
    sink_run_close(&r);
    bool has_failed = faulty_heal();
    ck_assert_msg(rc == SR_OK || has_failed, "without a fault: %s", r.err.words);
    sink_run_open(&next, k, 1, 2);
    sink_run_restore(&next, &r);
    SINK_OK(&next, sink_run_write(&next, 0, safe + 1, 10));
    SINK_OK(&next, sink_run_prepare(&next, 3, true));
    SINK_OK(&next, sink_run_commit(&next, true));
    char when[64];
    snprintf(when, sizeof(when), "file operation %u fails%s", n,
             is_crash ? ", and all behind" : "");
    sink_expect(k, when, 10, true);
    ck_assert_msg(k->leftovers(k->stage)[0] == 0, "%s, leaves %s", when, k->leftovers(k->stage));
    sink_run_done(&next);
    sink_run_done(&r);
    return has_failed;
}

void sink_kit_check(const struct sink_kit *k)
{
    sink_check_twice(k);
    sink_check_empty(k);
    sink_check_restored(k);
    for (uint32_t step = 0; step < 6; step++) {
        sink_check_crash(k, step, 1);
        if (k->parts_max != 1) {
            sink_check_crash(k, step, 2);
        }
    }
    if (!k->is_at_end) { /* a plain file is replaced by a fresh run */
        sink_check_same_numbers(k);
    }
    faulty_install(k->stage);
    for (uint32_t n = 0; sink_check_fault(k, n, false); n++) {
    }
    for (uint32_t n = 0; sink_check_fault(k, n, true); n++) {
    }
    k->reset(k->stage);
}
