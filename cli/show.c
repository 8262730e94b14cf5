#include "cli/show.h"

#include <inttypes.h>
#include <string.h>

#include "engine/base/assert.h"

static const char *show_level(enum fault_level level)
{
    switch (level) {
    case FAULT_NOTICE:
        return "notice";
    case FAULT_WARNING:
        return "warning";
    case FAULT_ERROR:
        return "error";
    }
    return "error";
}

static const char *show_colour(const struct cli *c, enum fault_level level)
{
    if (!c->has_colour) return "";
    switch (level) {
    case FAULT_NOTICE:
        return "\033[36m";
    case FAULT_WARNING:
        return "\033[33m";
    case FAULT_ERROR:
        return "\033[31m";
    }
    return "";
}

/* The line with a caret under byte `column`; tabs are kept, so that the caret stands under it. */
static void show_line(FILE *to, const char *line, uint32_t column)
{
    fprintf(to, "    %s\n", line);
    if (column == 0) return;
    fputs("    ", to);
    uint32_t n = 0;
    for (const char *p = line; *p && n + 1 < column; p++, n++) {
        if (*p == '\t') {
            fputc('\t', to);
        } else if (((unsigned char)*p & 0xc0) != 0x80) {
            fputc(' ', to);
        }
    }
    fputs("^\n", to);
}

static void show_fault(const struct cli *c, const struct fault *f)
{
    if (f->at.file && f->at.line > 0 && f->at.column > 0) {
        fprintf(c->err, "%s:%u:%u: ", f->at.file, f->at.line, f->at.column);
    } else if (f->at.file && f->at.line > 0) {
        fprintf(c->err, "%s:%u: ", f->at.file, f->at.line);
    } else if (f->at.file) {
        fprintf(c->err, "%s: ", f->at.file);
    } else {
        fputs("streamrun: ", c->err);
    }
    const char *reset = c->has_colour ? "\033[0m" : "";
    fprintf(c->err, "%s%s%s: %s", show_colour(c, f->level), show_level(f->level), reset, f->words);
    fprintf(c->err, *f->code ? " [%s]\n" : "\n", f->code);
    if (f->line) show_line(c->err, f->line, f->at.column);
    if (f->hint) fprintf(c->err, "    hint: %s\n", f->hint);
}

static json_t *show_fault_json(const struct fault *f)
{
    json_t *j = json_pack("{s:s, s:s}", "level", show_level(f->level), "message", f->words);
    if (f->at.file) json_object_set_new(j, "file", json_string(f->at.file));
    if (f->at.line) json_object_set_new(j, "line", json_integer(f->at.line));
    if (f->at.column) json_object_set_new(j, "column", json_integer(f->at.column));
    if (*f->code) json_object_set_new(j, "code", json_string(f->code));
    if (f->hint) json_object_set_new(j, "hint", json_string(f->hint));
    return j;
}

void show_faults(const struct cli *c, struct faults *f)
{
    if (!f) return; /* there was no memory for them */
    faults_sort(f);
    if (c->is_json && f->errors > 0) {
        json_t *list = json_array();
        for (uint32_t i = 0; i < f->count; i++) {
            json_array_append_new(list, show_fault_json(&f->fault[i]));
        }
        show_json(c, json_pack("{s:o}", "faults", list));
        return;
    }
    for (uint32_t i = 0; i < f->count; i++) {
        if (f->fault[i].level == FAULT_NOTICE && c->is_quiet) continue;
        show_fault(c, &f->fault[i]);
    }
    if (f->dropped > 0) fprintf(c->err, "streamrun: and %u more\n", f->dropped);
    if (f->errors > 1) fprintf(c->err, "streamrun: %s\n", show_many(c->arena, f->errors, "error"));
}

/* Columns of a text on a terminal, by code points: names here are short and plain. */
static int show_width(const char *s)
{
    int n = 0;
    for (; *s; s++) {
        if (((unsigned char)*s & 0xc0) != 0x80) n++;
    }
    return n;
}

/* One row; spaces fill each cell up to its column, none stand behind the last. */
static void show_row(FILE *to, const struct show_table *t, uint32_t row, const int *width)
{
    for (uint32_t k = 0; k < t->columns; k++) {
        const char *s = t->cell[row * t->columns + k];
        s = s ? s : "";
        int pad = width[k] - show_width(s);
        bool is_last = k + 1 == t->columns;
        bool is_right = t->is_right && t->is_right[k];
        if (pad < 0 || (is_last && !is_right)) pad = 0;
        fprintf(to, "%*s%s%*s%s", is_right ? pad : 0, "", s, is_right ? 0 : pad, "",
                is_last ? "\n" : "  ");
    }
}

void show_table(FILE *to, const struct show_table *t)
{
    int width[SHOW_COLUMNS_MAX] = {0};
    sr_assert(t->columns <= SHOW_COLUMNS_MAX);
    for (uint32_t i = 0; i < t->rows * t->columns; i++) {
        int w = t->cell[i] ? show_width(t->cell[i]) : 0;
        uint32_t k = i % t->columns;
        if (w > width[k] && (w <= SHOW_CELL_MAX || k == 0)) width[k] = w;
    }
    for (uint32_t r = 0; r < t->rows; r++) {
        show_row(to, t, r, width);
    }
}

void show_json(const struct cli *c, json_t *j)
{
    (void)json_dumpf(j, c->out, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(15));
    fputc('\n', c->out);
    json_decref(j);
}

const char *show_duration(struct arena *a, int64_t us)
{
    if (us < 0) us = 0;
    if (us % 1000 == 0 && us < 10000) return arena_printf(a, "%" PRId64 " ms", us / 1000);
    if (us < 10000) return arena_printf(a, "%.1f ms", (double)us / 1e3);
    if (us < 1000000) return arena_printf(a, "%" PRId64 " ms", us / 1000);
    if (us < 60 * INT64_C(1000000)) return arena_printf(a, "%.1f s", (double)us / 1e6);
    int64_t s = us / 1000000;
    if (s < 3600) return arena_printf(a, "%" PRId64 " min %" PRId64 " s", s / 60, s % 60);
    return arena_printf(a, "%" PRId64 " h %" PRId64 " min", s / 3600, s / 60 % 60);
}

const char *show_size(struct arena *a, int64_t bytes)
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double v = (double)bytes;
    uint32_t u = 0;
    while (v >= 1024 && u < 4) {
        v /= 1024;
        u++;
    }
    return u == 0 ? arena_printf(a, "%" PRId64 " B", bytes)
                  : arena_printf(a, "%.1f %s", v, unit[u]);
}

const char *show_count(struct arena *a, int64_t n)
{
    char plain[32], out[48];
    (void)snprintf(plain, sizeof(plain), "%" PRId64, n);
    size_t len = strlen(plain), o = 0;
    for (size_t i = 0; i < len; i++) {
        if (i > 0 && plain[i - 1] != '-' && (len - i) % 3 == 0) out[o++] = ',';
        out[o++] = plain[i];
    }
    out[o] = '\0';
    return arena_text(a, out);
}

const char *show_many(struct arena *a, uint64_t n, const char *noun)
{
    return arena_printf(a, "%s %s%s", show_count(a, (int64_t)n), noun, n == 1 ? "" : "s");
}
