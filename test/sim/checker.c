#include "test/sim/checker.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/base64.h"
#include "engine/base/hash.h"

struct lines {
    bool is_ordered; /* rows of a split come in order */
    char **line;
    uint32_t count, room;
};

static void lines_add(struct lines *l, const char *text, size_t len)
{
    if (l->count == l->room) {
        l->room = l->room * 2 + 256;
        l->line = realloc(l->line, l->room * sizeof(*l->line));
    }
    l->line[l->count++] = strndup(text, len);
}

static void lines_done(struct lines *l)
{
    for (uint32_t i = 0; i < l->count; i++) {
        free(l->line[i]);
    }
    free(l->line);
}

static int lines_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* --- What should be there --------------------------------------------------------------------- */

struct sums {
    int64_t k, window, n, s, lo, hi;
};

/* A table of groups, looked through: there are few. */
static struct sums *checker_group(struct sums *sums, uint32_t *count, int64_t k, int64_t window)
{
    for (uint32_t i = 0; i < *count; i++) {
        if (sums[i].k == k && sums[i].window == window) {
            return &sums[i];
        }
    }
    sums[*count] = (struct sums){.k = k, .window = window, .lo = INT64_MAX, .hi = INT64_MIN};
    return &sums[(*count)++];
}

/* One row into its group, or into those of its windows. */
static void checker_count(const struct scene *s, uint32_t split, uint32_t i, struct sums *sums,
                          uint32_t *count)
{
    struct scene_row r = scene_row(s, split, i);
    for (uint32_t n = 0; n < s->slides; n++) {
        int64_t window = s->shape == SCENE_WINDOWS ? scene_window(s, split, i, n) : 0;
        if (window == INT64_MIN) {
            continue;
        }
        struct sums *g = checker_group(sums, count, r.k, window);
        g->n++;
        g->s += r.v;
        g->lo = r.at_ms < g->lo ? r.at_ms : g->lo;
        g->hi = r.at_ms > g->hi ? r.at_ms : g->hi;
    }
}

static void checker_fold(const struct scene *s, struct lines *out)
{
    struct sums *sums = calloc((size_t)s->splits * s->rows * s->slides + 1, sizeof(*sums));
    uint32_t count = 0;
    char text[160];
    for (uint32_t split = 0; split < s->splits; split++) {
        for (uint32_t i = 0; i < s->rows; i++) {
            struct scene_row r = scene_row(s, split, i);
            if (!scene_is_bad(s, &r)) {
                checker_count(s, split, i, sums, &count);
            }
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct sums *g = &sums[i];
        int n =
            s->shape == SCENE_COUNTS
                ? snprintf(text, sizeof(text), "%lld,%lld,%lld", (long long)g->k, (long long)g->n,
                           (long long)g->s)
                : snprintf(text, sizeof(text), "%lld,%lld,%lld,%lld,%lld", (long long)g->k,
                           (long long)g->n, (long long)g->s, (long long)g->lo, (long long)g->hi);
        lines_add(out, text, (size_t)n);
    }
    free(sums);
}

static void checker_expect(const struct scene *s, struct lines *out)
{
    char text[160];
    if (s->shape != SCENE_ROWS) {
        checker_fold(s, out);
        return;
    }
    for (uint32_t split = 0; split < s->splits; split++) {
        for (uint32_t i = 0; i < s->rows; i++) {
            struct scene_row r = scene_row(s, split, i);
            if (r.v != 7 && !scene_is_bad(s, &r)) {
                int n = snprintf(text, sizeof(text), "%lld,%lld,%lld,%lld", (long long)r.split,
                                 (long long)r.seq, (long long)r.k, (long long)r.v + 1);
                lines_add(out, text, (size_t)n);
            }
        }
    }
}

/* --- What is there ---------------------------------------------------------------------------- */

/* Rows of one split come in order within what was written in one order. */
static void checker_order(struct world *w, const struct lines *l, uint32_t from, const char *where)
{
    int last[64];
    for (uint32_t i = 0; i < 64; i++) {
        last[i] = -1;
    }
    bool is_rows = w->scene.shape == SCENE_ROWS && l->is_ordered;
    for (uint32_t i = from; is_rows && i < l->count; i++) {
        int split = 0, seq = 0;
        if (sscanf(l->line[i], "%d,%d", &split, &seq) != 2 || split < 0 || split > 63) {
            world_fail(w, "%s has a line that is no row: %s", where, l->line[i]);
            return;
        }
        if (seq <= last[split]) {
            world_fail(w, "%s: row %d of split %d follows row %d", where, seq, split, last[split]);
            return;
        }
        last[split] = seq;
    }
}

static void checker_read_file(struct world *w, const char *path, struct lines *out)
{
    uint64_t size = 0;
    uint32_t from = out->count;
    const char *bytes = (const char *)disk_bytes(w->disk, path, &size);
    const char *end = bytes ? bytes + size : NULL;
    while (bytes && bytes < end) {
        const char *stop = memchr(bytes, '\n', (size_t)(end - bytes));
        if (!stop) {
            world_fail(w, "%s ends within a line", path);
            return;
        }
        lines_add(out, bytes, (size_t)(stop - bytes));
        bytes = stop + 1;
    }
    checker_order(w, out, from, path);
}

static void checker_read_files(struct world *w, const char *dir, struct lines *out)
{
    const struct sr_files *f = disk_files(w->disk);
    struct sr_error err = {0};
    char **names = NULL;
    if (f->list(f, dir, &names, &err) != SR_OK) {
        return; /* nothing was ever written */
    }
    for (char **n = names; *n; n++) {
        char path[1024];
        (void)snprintf(path, sizeof(path), "%s/%s", dir, *n);
        if (**n == '.' && w->was_haunted) {
            continue; /* of a process that wrote on after its successor had cleaned up */
        }
        if (**n == '.') {
            world_fail(w, "%s is left over", path);
        } else {
            checker_read_file(w, path, out);
        }
    }
    f->names_free(f, names);
}

/* Are the rows of a split written by one subtask of the sink after the other? */
static bool checker_is_ordered(const struct scene *s) { return s->sinks <= 1; }

static void checker_read_sqlite(struct world *w, const char *path, struct lines *out)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;
    int rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, "sim");
    if (rc == SQLITE_OK) {
        rc = sqlite3_prepare_v2(db, "SELECT * FROM out ORDER BY rowid", -1, &st, NULL);
    }
    if (rc != SQLITE_OK) {
        world_fail(w, "the table cannot be read: %s", db ? sqlite3_errmsg(db) : "no memory");
    }
    while (st && sqlite3_step(st) == SQLITE_ROW) {
        char text[256] = "";
        size_t len = 0;
        for (int c = 0; c < sqlite3_column_count(st); c++) {
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", c ? "," : "",
                                    (const char *)sqlite3_column_text(st, c));
        }
        lines_add(out, text, len);
    }
    sqlite3_finalize(st);
    sqlite3_close(db);
    if (checker_is_ordered(&w->scene)) {
        checker_order(w, out, 0, "the table");
    }
}

static void checker_read(struct world *w, enum scene_sink sink, bool is_twin, struct lines *out)
{
    switch (sink) {
    case SCENE_PARTS:
    case SCENE_FILE:
    case SCENE_STAGED:
        checker_read_files(w, is_twin ? "/twin" : "/out", out);
        break;
    case SCENE_SQLITE:
        checker_read_sqlite(w, is_twin ? "/twin/out.db" : "/out/out.db", out);
        break;
    case SCENE_REMOTE:
    case SCENE_LEDGER:
        for (uint32_t i = 0; i < w->remote.rows; i++) {
            lines_add(out, w->remote.row[i], strlen(w->remote.row[i]));
        }
        if (checker_is_ordered(&w->scene)) {
            checker_order(w, out, 0, "the remote service");
        }
        break;
    }
}

/* --- Both ------------------------------------------------------------------------------------- */

static void checker_compare(struct world *w, struct lines *expect, struct lines *got)
{
    uint32_t i = 0;
    uint32_t j = 0;
    if (expect->count > 0) {
        qsort(expect->line, expect->count, sizeof(char *), lines_compare);
    }
    if (got->count > 0) {
        qsort(got->line, got->count, sizeof(char *), lines_compare);
    }
    for (; i < expect->count || j < got->count; i++, j++) {
        int order = i == expect->count ? 1
                    : j == got->count  ? -1
                                       : strcmp(expect->line[i], got->line[j]);
        if (order != 0) {
            world_fail(w, "%u rows should be there, %u are; the first %s: %s", expect->count,
                       got->count, order < 0 ? "missing one" : "one too many",
                       order < 0 ? expect->line[i] : got->line[j]);
            return;
        }
        world_trace(w, "row", hash64(got->line[j], strlen(got->line[j]), 3), j);
    }
}

/* Of all pipelines together. */
static void checker_late(struct world *w, const struct history *h)
{
    int64_t late = 0;
    for (uint32_t i = 0; w->scene.knows_late && i < w->scene.rows; i++) {
        late += scene_is_late(&w->scene, 0, i);
    }
    late *= w->scene.has_twin ? 2 : 1;
    if (late != h->late) {
        world_fail(w, "%lld rows are late, %lld were counted", (long long)late, (long long)h->late);
    }
}

/* Which rows are late depends on how the subtasks take turns, and in which window of the wall clock
 * a row is. But every row is either late or in its window: once. */
static long long checker_counted(struct world *w, const struct lines *got)
{
    long long counted = 0;
    for (uint32_t i = 0; i < got->count; i++) {
        long long k = 0, n = 0;
        if (sscanf(got->line[i], "%lld,%lld", &k, &n) != 2) {
            world_fail(w, "a line is no window: %s", got->line[i]);
        }
        counted += n;
    }
    return counted;
}

static void checker_balance(struct world *w, const struct history *h, long long counted)
{
    long long rows = (long long)w->scene.rows * w->scene.splits * (w->scene.has_twin ? 2 : 1);
    if (counted + h->late != rows) {
        world_fail(w, "%lld rows are in windows and %lld are late, of %lld", counted,
                   (long long)h->late, rows);
    }
}

/* --- Dead letters ----------------------------------------------------------------------------- */

/* "split,seq" of the record that a letter holds: by the place of a row that the source made, by the
 * bytes of a CSV line. */
static void checker_letter(struct world *w, char **line)
{
    static const char place[] = "\"split\":\"split-", field[] = "\"raw\":\"";
    uint8_t bytes[512] = "";
    size_t size = 0;
    int split = -1, seq = -1;
    const char *made = strstr(*line, place);
    const char *raw = strstr(*line, field);
    size_t len = raw ? strcspn(raw + strlen(field), "\"") : 0;
    bool is_read = raw && len < sizeof(bytes) &&
                   base64_read(raw + strlen(field), len, bytes, &size) && size > 0;
    int got = made ? sscanf(made + strlen(place), "%d\",\"offset\":%d", &split, &seq)
                   : sscanf((const char *)bytes, "%d,%d", &split, &seq);
    if (!is_read || got != 2) {
        world_fail(w, "a dead letter holds no row: %s", *line);
        return;
    }
    free(*line);
    if (asprintf(line, "%d,%d", split, seq) < 0) {
        *line = NULL;
    }
}

/* Every row that could not be computed is there, once. */
static void checker_letters(struct world *w)
{
    struct lines expect = {0}, got = {0};
    char text[64];
    for (uint32_t split = 0; split < w->scene.splits; split++) {
        for (uint32_t i = 0; i < w->scene.rows; i++) {
            struct scene_row r = scene_row(&w->scene, split, i);
            if (scene_is_bad(&w->scene, &r)) {
                int n = snprintf(text, sizeof(text), "%u,%u", split, i);
                lines_add(&expect, text, (size_t)n);
            }
        }
    }
    checker_read_files(w, "/dead", &got);
    for (uint32_t i = 0; i < got.count && !world_has_failed; i++) {
        checker_letter(w, &got.line[i]);
    }
    if (!world_has_failed) {
        checker_compare(w, &expect, &got);
    }
    lines_done(&expect);
    lines_done(&got);
}

void checker_check(struct world *w, const struct history *h)
{
    const struct scene *s = &w->scene;
    bool is_exact = !s->is_proctime && (s->knows_late || !s->has_late_rows);
    long long counted = 0;
    for (uint32_t i = 0; i < (s->has_twin ? 2u : 1u) && !world_has_failed; i++) {
        struct lines expect = {0}, got = {.is_ordered = true};
        checker_expect(s, &expect);
        checker_read(w, i == 0 ? s->sink : s->twin_sink, i == 1, &got);
        if (!world_has_failed && is_exact) {
            checker_compare(w, &expect, &got);
        } else if (!world_has_failed) {
            counted += checker_counted(w, &got);
        }
        lines_done(&expect);
        lines_done(&got);
    }
    if (!world_has_failed && is_exact) {
        checker_late(w, h);
    }
    if (!world_has_failed && !is_exact) {
        checker_balance(w, h, counted);
    }
    if (!world_has_failed && s->has_bad_rows) {
        checker_letters(w);
    }
}
