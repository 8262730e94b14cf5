#include "test/kit/source_kit.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/bytes.h"
#include "engine/data/builder.h"
#include "test/kit/faulty.h"
#include "test/kit/line_format.h"

static const struct sr_field source_field = {
    "line", {.kind = SR_VARCHAR, .is_nullable = true, .length = SR_LENGTH_MAX}};
static const struct sr_schema source_schema = {.fields = 1, .field = &source_field, .rowtime = -1};

static struct sr_source_open source_open_of(const struct source_run *r, uint32_t part)
{
    return (struct sr_source_open){.size = sizeof(struct sr_source_open),
                                   .host = &r->kit->stage->host,
                                   .conf = r->kit->conf,
                                   .schema = &source_schema,
                                   .format_flags = SR_FORMAT_LINES | SR_FORMAT_RESYNC,
                                   .part = part,
                                   .parts = r->parts};
}

static void *source_alloc(uint32_t size)
{
    void *p = aligned_alloc(16, ((size_t)size + 16) / 16 * 16);
    ck_assert_ptr_nonnull(p);
    return memset(p, 0, ((size_t)size + 16) / 16 * 16);
}

static void source_give(struct source_run *r, uint32_t i)
{
    uint32_t part = i % r->parts;
    r->split[i].part = part;
    r->split[i].number = r->added[part]++;
    struct sr_split s = {.id = r->split[i].id,
                         .note = {r->split[i].note, r->split[i].len},
                         .order = r->split[i].order};
    sr_rc rc = r->kit->type->add(r->reader[part], r->split[i].number, &s, &r->err);
    ck_assert_msg(rc == SR_OK, "add %s: %s", s.id, r->err.words);
}

struct source_splits {
    struct sr_splits base;
    struct source_run *run;
};

static uint32_t source_remember(struct source_run *r, const struct sr_split *s)
{
    ck_assert_uint_lt(r->splits, SOURCE_SPLITS_MAX);
    uint32_t i = r->splits++;
    for (uint32_t k = 0; k < i; k++) {
        ck_assert_msg(strcmp(r->split[k].id, s->id) != 0, "split %s was named twice", s->id);
    }
    r->split[i].id = strdup(s->id);
    r->split[i].len = s->note.len;
    r->split[i].note =
        malloc(s->note.len > 0 ? s->note.len : 1); /* no longer: reading over it shows */
    memcpy(r->split[i].note, s->note.data, s->note.len);
    r->split[i].order = s->order;
    return i;
}

static sr_rc source_take(struct sr_splits *s, const struct sr_split *split)
{
    struct source_run *r = ((struct source_splits *)s)->run;
    source_give(r, source_remember(r, split));
    return SR_OK;
}

void source_run_open(struct source_run *r, const struct source_kit *k, uint32_t parts,
                     uint32_t room, const struct source_run *from)
{
    memset(r, 0, sizeof(*r));
    r->kit = k;
    r->parts = parts;
    r->room = room;
    r->text = calloc(1, 1);
    r->finder = source_alloc(k->type->discoverer_size);
    struct sr_source_open o = source_open_of(r, 0);
    ck_assert_int_eq(k->type->discover_open(r->finder, &o, &r->err), SR_OK);
    for (uint32_t p = 0; p < parts; p++) {
        r->reader[p] = source_alloc(k->type->reader_size);
        o = source_open_of(r, p);
        sr_rc rc = k->type->open(r->reader[p], &o, &r->err);
        ck_assert_msg(rc == SR_OK, "open: %s", r->err.words);
    }
    ck_assert_int_eq(
        builder_open(&r->builder, k->stage->home, &k->stage->host, &source_schema, NULL, &r->err),
        SR_OK);
    for (uint32_t i = 0; from && i < from->splits; i++) {
        struct sr_split s = {.id = from->split[i].id,
                             .note = {from->split[i].note, from->split[i].len},
                             .order = from->split[i].order};
        uint32_t at = source_remember(r, &s);
        r->split[at].is_done = from->split[i].is_done;
        if (k->type->restored) {
            k->type->restored(r->finder, i, &s, from->split[i].is_done);
        } else {
            k->type->known(r->finder, &s);
        }
        if (!from->split[i].is_done && !k->gives_late) {
            source_give(r, at);
        }
        r->restored++;
    }
}

/* What was restored goes on elsewhere, or behind its end. */
static sr_rc source_change(struct sr_splits *s, uint32_t number, const struct sr_split *now,
                           bool is_finished)
{
    struct source_run *r = ((struct source_splits *)s)->run;
    ck_assert_uint_lt(number, r->splits);
    ck_assert_str_eq(r->split[number].id, now->id);
    free(r->split[number].note);
    r->split[number].note = malloc(now->note.len);
    memcpy(r->split[number].note, now->note.data, now->note.len);
    r->split[number].len = now->note.len;
    bool is_given = !r->split[number].is_done || r->kit->gives_late;
    r->split[number].is_done = is_finished;
    if (!is_finished && !is_given) {
        source_give(r, number);
    }
    return SR_OK;
}

static void source_forget(struct sr_splits *s, uint32_t number)
{
    struct source_run *r = ((struct source_splits *)s)->run;
    ck_assert_uint_lt(number, r->splits);
    r->split[number].is_done = true;
    r->split[number].id[0] = '?'; /* the id may come anew */
}

enum sr_discovered source_run_discover(struct source_run *r)
{
    struct source_splits out = {{source_take, source_change, source_forget}, r};
    struct sr_wait wait = {.fd = -1, .until_us = INT64_MAX};
    enum sr_discovered found = r->kit->type->discover(r->finder, &out.base, &wait, &r->err);
    for (uint32_t i = 0; r->kit->gives_late && i < r->restored; i++) {
        if (!r->split[i].is_done) {
            source_give(r, i);
        }
    }
    r->restored = 0;
    return found;
}

static uint32_t source_find(const struct source_run *r, uint32_t part, uint32_t number)
{
    for (uint32_t i = 0; i < r->splits; i++) {
        if (r->split[i].part == part && r->split[i].number == number && !r->split[i].is_done) {
            return i;
        }
    }
    ck_abort_msg("reader %u polled split %u, which it does not have", part, number);
    return 0;
}

static void source_put_line(struct source_run *r, const char *id, const char *line, uint32_t len)
{
    size_t more = strlen(id) + len + 3;
    r->text = realloc(r->text, r->text_len + more);
    r->text_len += (size_t)snprintf(r->text + r->text_len, more, "%s\t%.*s\n", id, (int)len, line);
}

/* Takes down the rows of the view that is held, as an operator does that is one batch behind. */
static void source_flush(struct source_run *r)
{
    struct sr_view *v = r->held;
    for (uint32_t row = 0; v && row < v->rows; row++) {
        uint32_t len = 0;
        const char *line = sr_text(v->col[0], row, &len);
        source_put_line(r, r->split[r->held_split].id, line, len);
    }
    view_release(v);
    r->held = NULL;
}

/* Takes the rows that are in the builder. */
static void source_seal(struct source_run *r, uint32_t split)
{
    struct sr_view *v = NULL;
    ck_assert_int_eq(builder_seal(&r->builder, &v, &r->err), SR_OK);
    r->rows += v ? v->rows : 0;
    source_flush(r); /* the view before: its bytes must have outlived this poll */
    r->held = v;
    r->held_split = split;
}

/* Rows that the source made: all of them are consumed. */
static void source_take_rows(struct source_run *r, uint32_t part, const struct sr_poll *p)
{
    uint32_t i = source_find(r, part, p->split);
    r->kit->type->consume(r->reader[part], p->split, r->builder.rows);
    source_seal(r, i);
}

/* Decodes what a poll showed, at most `max` rows, and consumes just that. */
static void source_decode(struct source_run *r, uint32_t part, const struct sr_poll *p,
                          uint32_t max)
{
    uint32_t i = source_find(r, part, p->split);
    uint32_t row_at[SR_BATCH_ROWS];
    struct sr_bad bad[1];
    r->builder.rows_max = max < r->room ? max : r->room;
    struct sr_decode d = {.bytes = p->bytes,
                          .len = p->len,
                          .buffer = p->buffer,
                          .at_start = p->at_start,
                          .at_end = p->at_end,
                          .out = &r->builder,
                          .row_at = row_at,
                          .bad = bad};
    ck_assert_int_eq(line_format.decode(NULL, &d, &r->err), SR_OK);
    r->kit->type->consume(r->reader[part], p->split, d.used);
    source_seal(r, i);
}

/* Takes the position of a split. */
static void source_note(struct source_run *r, uint32_t i)
{
    struct sr_out note = bytes_out();
    sr_rc rc =
        r->kit->type->position(r->reader[r->split[i].part], r->split[i].number, &note, &r->err);
    ck_assert_msg(rc == SR_OK, "position: %s", r->err.words);
    free(r->split[i].note);
    r->split[i].note = malloc(note.len);
    memcpy(r->split[i].note, note.data, note.len);
    r->split[i].len = (uint32_t)note.len;
    bytes_free(&note);
}

static enum sr_polled source_read(struct source_run *r, uint32_t rows_max)
{
    bool has_ended[4] = {false};
    uint32_t ended = 0, idle = 0, polls = 0;
    for (uint32_t part = 0; r->rows < rows_max && ended < r->parts;) {
        ck_assert_msg(++polls < 10000000, "the source neither ends nor rests");
        struct sr_poll p = {.wait = {.fd = -1, .until_us = INT64_MAX},
                            .may_pass = r->kit->may_pass};
        enum sr_polled got = SR_POLL_IDLE;
        bool has_split = false;
        for (uint32_t i = 0; i < r->splits; i++) {
            has_split = has_split || (r->split[i].part == part && !r->split[i].is_done);
        }
        if (r->kit->makes_rows) {
            uint32_t max = rows_max - r->rows;
            r->builder.rows_max = max < r->room ? max : r->room;
            p.rows = &r->builder;
        }
        if (has_split) {
            got = r->kit->type->poll(r->reader[part], &p, &r->err);
        } else if (!has_ended[part]) {
            has_ended[part] = true;
            ended++;
        }
        if (got == SR_POLL_FAILED) {
            return got;
        }
        if (p.found) {
            source_give(r, source_remember(r, p.found));
        }
        if (p.told && r->kit->type->told) {
            ck_assert_int_eq(r->kit->type->told(r->finder, p.told, &r->err), SR_OK);
        }
        if (got == SR_POLL_DATA) {
            ck_assert_msg(p.passed == 0 || p.len == 0, "a record is passed over alone");
            r->passed += p.passed > 0 ? 1 : 0;
            if (r->kit->makes_rows) {
                source_take_rows(r, part, &p);
            } else {
                source_decode(r, part, &p, rows_max - r->rows);
            }
        }
        if (got == SR_POLL_SPLIT_END) {
            uint32_t i = source_find(r, part, p.split);
            source_note(r, i); /* the last one: it is known again by it */
            r->split[i].is_done = true;
        }
        idle = got == SR_POLL_IDLE && p.wait.until_us > 0 ? idle + 1 : 0;
        if (got == SR_POLL_IDLE && has_split) {
            r->wait = p.wait;
        }
        if (idle > r->parts) {
            return ended == r->parts ? SR_POLL_SPLIT_END : SR_POLL_IDLE;
        }
        part = (part + 1) % r->parts;
    }
    return ended == r->parts ? SR_POLL_SPLIT_END : SR_POLL_DATA;
}

enum sr_polled source_run_read(struct source_run *r, uint32_t rows_max)
{
    enum sr_polled last = source_read(r, rows_max);
    source_flush(r);
    return last;
}

void source_run_save(struct source_run *r)
{
    for (uint32_t i = 0; i < r->splits; i++) {
        if (!r->split[i].is_done) {
            source_note(r, i);
        }
    }
}

void source_run_close(struct source_run *r)
{
    for (uint32_t p = 0; p < r->parts; p++) {
        r->kit->type->close(r->reader[p]);
        free(r->reader[p]);
    }
    r->kit->type->discover_close(r->finder);
    free(r->finder);
    builder_close(&r->builder);
    for (uint32_t i = 0; i < r->splits; i++) {
        free(r->split[i].id);
        free(r->split[i].note);
    }
    free(r->text);
    memset(r, 0, sizeof(*r));
}

/* Split by split, each in the order of its rows. */
static const char *source_by_split(struct source_run *r, const char *text)
{
    char *out = arena_get(r->kit->stage->arena, strlen(text) + 1), *to = out;
    uint32_t order[SOURCE_SPLITS_MAX];
    for (uint32_t i = 0; i < r->splits; i++) {
        uint32_t at = i;
        for (; at > 0 && strcmp(r->split[order[at - 1]].id, r->split[i].id) > 0; at--) {
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
    for (uint32_t i = 0; i < r->splits; i++) {
        const char *id = r->split[order[i]].id;
        for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
            if (strncmp(line, id, strlen(id)) == 0 && line[strlen(id)] == '\t') {
                size_t len = strcspn(line, "\n") + 1;
                memcpy(to, line, len);
                to += len;
            }
        }
    }
    *to = 0;
    return out;
}

const char *source_kit_read(const struct source_kit *k, uint32_t parts, uint32_t room)
{
    struct source_run r;
    source_run_open(&r, k, parts, room, NULL);
    ck_assert_msg(source_run_discover(&r) == SR_DISCOVERED_ALL, "discover: %s", r.err.words);
    enum sr_polled last = source_run_read(&r, UINT32_MAX);
    ck_assert_msg(last == SR_POLL_SPLIT_END, "read: %d %s", (int)last, r.err.words);
    const char *text = source_by_split(&r, r.text);
    source_run_close(&r);
    return text;
}

const char *source_kit_lines(struct stage *s, const char *text)
{
    char *out = arena_get(s->arena, strlen(text) + 1), *to = out;
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        const char *tab = strchr(line, '\t');
        size_t len = strcspn(tab + 1, "\n") + 1;
        memcpy(to, tab + 1, len);
        to += len;
    }
    *to = 0;
    return stage_sort(s, out);
}

static void source_check_resume(const struct source_kit *k, const char *all, uint32_t cut)
{
    struct source_run first, second;
    source_run_open(&first, k, 1, 7, NULL);
    ck_assert_int_eq(source_run_discover(&first), SR_DISCOVERED_ALL);
    ck_assert_int_ne(source_run_read(&first, cut), SR_POLL_FAILED);
    source_run_save(&first);
    source_run_open(&second, k, 2, 5, &first);
    uint32_t splits = second.splits;
    ck_assert_int_eq(source_run_discover(&second), SR_DISCOVERED_ALL);
    ck_assert_msg(splits == second.splits, "restored splits were named again");
    source_run_save(&second); /* a position that nothing was read from */
    struct source_run third;
    source_run_open(&third, k, 1, 100, &second);
    enum sr_polled last = source_run_read(&third, UINT32_MAX);
    ck_assert_msg(last == SR_POLL_SPLIT_END, "resume behind row %u: %s", cut, third.err.words);
    char *both = malloc(first.text_len + third.text_len + 1);
    strcpy(stpcpy(both, first.text), third.text);
    ck_assert_str_eq(source_by_split(&third, both), all);
    free(both);
    source_run_close(&first);
    source_run_close(&second);
    source_run_close(&third);
}

/* A run in which file operation n fails either says so or reads everything. False: none failed. */
static bool source_check_fault(const struct source_kit *k, const char *all, uint32_t n)
{
    struct source_run r;
    source_run_open(&r, k, 1, 50, NULL);
    faulty_fail(n, true);
    if (source_run_discover(&r) == SR_DISCOVERED_ALL &&
        source_run_read(&r, UINT32_MAX) != SR_POLL_FAILED) {
        ck_assert_msg(strcmp(source_by_split(&r, r.text), all) == 0, "operation %u loses rows", n);
    } else {
        ck_assert_msg(r.err.words[0] != 0, "operation %u fails without words", n);
    }
    source_run_close(&r);
    return faulty_heal();
}

void source_kit_check(const struct source_kit *k)
{
    const char *all = source_kit_read(k, 1, SR_BATCH_ROWS);
    ck_assert_str_eq(source_kit_read(k, 1, 1), all);
    if (k->cannot_resume) {
        return;
    }
    const char *two = source_kit_read(k, 2, 3);
    if (k->splits_vary) {
        ck_assert_str_eq(source_kit_lines(k->stage, two), source_kit_lines(k->stage, all));
    } else {
        ck_assert_str_eq(two, all);
    }
    uint32_t rows = 0;
    for (const char *at = all; *at; at = strchr(at, '\n') + 1) {
        rows++;
    }
    for (uint32_t cut = 0; cut <= rows; cut++) {
        source_check_resume(k, all, cut);
    }
    faulty_install(k->stage);
    for (uint32_t n = 0; source_check_fault(k, all, n); n++) {
    }
}
