/* What Flink 2.3 answers to constant expressions, row by row: golden.tsv, differs.tsv. */
#include <stdio.h>
#include <string.h>

#include "engine/bind/bind.h"
#include "engine/data/schema.h"
#include "engine/expr/program.h"
#include "test/unit/unit.h"

/* A row is `expression TAB type TAB value`, with \N for NULL, \t, \n, \\ and \xHH in values; a
 * value that begins with ! is a failure: !RUNTIME while computing, others before. A line `#
 * word` begins a group. */

#define LINE_MAX_BYTES 8192

/* A clock that stands still; the same numbers in every run. */
static int64_t golden_wall_us(const struct sr_host *h)
{
    (void)h;
    return INT64_C(1700000000123456);
}
static uint64_t golden_random(const struct sr_host *h)
{
    static uint64_t n;
    (void)h;
    return ++n * UINT64_C(0x9E3779B97F4A7C15);
}
static const struct sr_host golden_host = {
    .size = sizeof(golden_host), .wall_us = golden_wall_us, .random = golden_random};

struct tally {
    char group[40];
    unsigned rows, agree;
};

static char *field(char **line)
{
    char *from = *line, *tab = strchr(from, '\t');
    if (tab) {
        *tab = '\0';
        *line = tab + 1;
    } else {
        *line = from + strlen(from);
    }
    return from;
}

/* In place; answers the length, for a value may have \0 within. */
static uint32_t unescape(char *s)
{
    char *to = s, *from = s;
    for (; *s; s++) {
        if (*s != '\\' || !s[1]) {
            *to++ = *s;
        } else if (s[1] == 'x' && s[2] && s[3]) {
            unsigned v = 0;
            (void)sscanf(s + 2, "%2x", &v);
            *to++ = (char)v;
            s += 3;
        } else {
            s++;
            *to++ = *s == 'n' ? '\n' : *s == 't' ? '\t' : *s;
        }
    }
    *to = '\0';
    return (uint32_t)(to - from);
}

/* Whether we answer as the row says; `got` is what we answer. */
static bool agrees(struct arena *a, const char *text, const char *type, char *value, char *got,
                   size_t room)
{
    struct sr_error err = {0};
    const struct expr *e = NULL;
    if (bind_constant(a, text, &e, &err) != SR_OK) {
        (void)snprintf(got, room, "refused: %s", err.words);
        return value[0] == '!' && strncmp(value, "!RUNTIME", 8) != 0;
    }
    const char *ours = type_text(a, &e->type);
    struct program_text v;
    if (program_constant(a, e, "UTC", &golden_host, &v, &err) != SR_OK) {
        (void)snprintf(got, room, "%s fails: %s", ours, err.words);
        return strncmp(value, "!RUNTIME", 8) == 0;
    }
    (void)snprintf(got, room, "%s %s%s", ours, v.text ? "'" : "\\N", v.text ? v.text : "");
    if (strcmp(ours, type) != 0 || value[0] == '!') {
        return false;
    }
    if (strcmp(value, "\\N") == 0 || !v.text) {
        return strcmp(value, "\\N") == 0 && !v.text;
    }
    return unescape(value) == v.len && memcmp(value, v.text, v.len) == 0;
}

static void report(const struct tally *t)
{
    if (t->rows > 0) {
        printf("%-20s %4u of %4u agree\n", t->group, t->agree, t->rows);
    }
}

static FILE *open_rows(const char *path)
{
    FILE *f = fopen(path, "r");
    ck_assert_msg(f != NULL, "cannot open %s", path);
    return f;
}

/* Every row of the table of answers that Flink gave is answered in the same way. */
START_TEST(answers_as_flink)
{
    FILE *f = open_rows(getenv("EXPR_GOLDEN") ? getenv("EXPR_GOLDEN") : GOLDEN "/golden.tsv");
    char line[LINE_MAX_BYTES], got[700];
    struct tally group = {0}, all = {.group = "all"};
    while (fgets(line, sizeof(line), f)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#' || line[0] == '\0') {
            report(&group);
            group = (struct tally){0};
            (void)snprintf(group.group, sizeof(group.group), "%.38s", line + (line[0] ? 2 : 0));
            continue;
        }
        char *at = line, *text = field(&at), *type = field(&at), *value = field(&at);
        struct arena *a = arena_new();
        bool is_same = agrees(a, text, type, value, got, sizeof(got));
        arena_free(a);
        group.rows++;
        all.rows++;
        group.agree += is_same;
        all.agree += is_same;
        if (!is_same) {
            printf("DIFFERS %s\n    Flink: %s %s\n    here:  %s\n", text, type, value, got);
        }
    }
    (void)fclose(f);
    report(&group);
    report(&all);
    ck_assert_uint_gt(all.rows, 1700);
    ck_assert_uint_eq(all.agree, all.rows);
}
END_TEST

/* What is known to be answered otherwise still is: a row that agrees belongs into the other
 * table. */
START_TEST(known_differences_differ)
{
    FILE *f = open_rows(GOLDEN "/differs.tsv");
    char line[LINE_MAX_BYTES], got[700];
    unsigned rows = 0;
    while (fgets(line, sizeof(line), f)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#') {
            continue;
        }
        char *at = line, *text = field(&at), *type = field(&at), *value = field(&at);
        char *why = field(&at);
        struct arena *a = arena_new();
        ck_assert_msg(!agrees(a, text, type, value, got, sizeof(got)), "%s agrees now", text);
        ck_assert_msg(why[0] != '\0', "%s says no reason", text);
        arena_free(a);
        rows++;
    }
    (void)fclose(f);
    ck_assert_uint_gt(rows, 0);
}
END_TEST

UNIT_MAIN("golden", answers_as_flink, known_differences_differ)
