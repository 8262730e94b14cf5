/* The table of the job's keys, Flink's other keys, and conf/flink-conf.yaml, which shows the table.
 * FLINK_CONF: the path of that file. */
#include <stdio.h>
#include <string.h>

#include "../unit.h"
#include "conf/value.h"
#include "kit.h"

#define COLUMNS 98

/* Every default is a value of its own option; every key and older name stands once; docs are
 * sentences. */
START_TEST(table_is_sound)
{
    for (const struct sr_opt *o = settings_opts; o->key; o++) {
        union {
            const char *text;
            int64_t whole;
            double fraction;
        } field = {0};
        struct value_fault f;
        if (o->def && !value_parse(o, o->def, o->def, &field, &f)) {
            ck_abort_msg("%s: %s", o->key, f.words);
        }
        size_t len = strlen(o->doc);
        ck_assert_int_eq(o->doc[len - 1], '.');
        ck_assert_ptr_null(strstr(o->doc, "  "));
        for (const struct sr_opt *p = settings_opts; p->key; p++) {
            ck_assert(p == o || strcmp(p->key, o->key) != 0);
            for (const char *const *a = p->aliases; a && *a; a++) {
                ck_assert_str_ne(*a, o->key);
            }
        }
    }
}
END_TEST

/* No row for Flink's other keys takes a key of ours, nor one with a letter left out. */
START_TEST(foreign_rows_are_narrow)
{
    char word[128];

    for (const struct sr_opt *o = settings_opts; o->key; o++) {
        size_t len = strlen(o->key);
        ck_assert_int_eq(settings_foreign(o->key, ""), SETTINGS_UNKNOWN);
        for (const char *const *a = o->aliases; a && *a && **a != '$'; a++) {
            ck_assert_int_eq(settings_foreign(*a, ""), SETTINGS_UNKNOWN);
        }
        for (size_t i = 0; i < len; i++) {
            memcpy(word, o->key, i);
            memcpy(word + i, o->key + i + 1, len - i);
            if (settings_foreign(word, "") != SETTINGS_UNKNOWN) {
                ck_abort_msg("'%s', meant as '%s', would be ignored", word, o->key);
            }
        }
    }
}
END_TEST

/* A value that asks for what is done anyway is harmless; any other one is not there yet. */
START_TEST(foreign_values)
{
    ck_assert_int_eq(settings_foreign("jobmanager.rpc.address", "h"), SETTINGS_IGNORED);
    ck_assert_int_eq(settings_foreign("state.backend.type", "hashmap"), SETTINGS_IGNORED);
    ck_assert_int_eq(settings_foreign("state.backend.type", "rocksdb"), SETTINGS_INSTEAD);
    ck_assert_int_eq(settings_foreign("state.backend.rocksdb.localdir", "/x"), SETTINGS_IGNORED);
    ck_assert_int_eq(settings_foreign("execution.runtime-mode", "streaming"), SETTINGS_IGNORED);
    ck_assert_int_eq(settings_foreign("execution.runtime-mode", "BATCH"), SETTINGS_LATER);
    ck_assert_int_eq(settings_foreign("metrics.reporters", "prom"), SETTINGS_IDLE);
    ck_assert_int_eq(settings_foreign("state.backend.typ", "x"), SETTINGS_UNKNOWN);
    ck_assert_int_eq(settings_foreign("jobmanager", "x"), SETTINGS_UNKNOWN);
}
END_TEST

static void put_wrapped(FILE *out, const char *text)
{
    size_t column = 0;
    while (*text) {
        size_t word = strcspn(text, " ");
        if (column > 0 && column + 1 + word > COLUMNS) {
            fputc('\n', out);
            column = 0;
        }
        fprintf(out, column == 0 ? "# %.*s" : " %.*s", (int)word, text);
        column += word + (column == 0 ? 2 : 1);
        text += word + (text[word] == ' ' ? 1 : 0);
    }
    fputc('\n', out);
}

static void put_option(FILE *out, const struct sr_opt *o)
{
    fputc('\n', out);
    put_wrapped(out, o->doc);
    if (o->choices) {
        fputs("# One of:", out);
        const char *separator = " ";
        for (const char *const *c = o->choices; *c; c++) {
            if (**c) {
                fprintf(out, "%s%.*s", separator, (int)strcspn(*c, "|"), *c);
                separator = ", ";
            }
        }
        fputs(".\n", out);
    }
    fprintf(out, "#%s:%s%s\n", o->key, o->def ? " " : "", o->def ? o->def : "");
}

static char *expected_file(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    fputs(
        "# Configuration of streamrun: Flink's keys, and run.dir, log.file and plugins.dir.\n"
        "#\n"
        "# Read with --conf FILE, or as $STREAMRUN_CONF_DIR/flink-conf.yaml. A key in a job file\n"
        "# comes before it, and -D before both. Every key is here with its default; those without\n"
        "# a value are not set unless written. A configuration of Flink can be used as it is.\n",
        out);
    for (const struct sr_opt *o = settings_opts; o->key; o++) {
        put_option(out, o);
    }
    ck_assert_int_eq(fclose(out), 0);
    return text;
}

static char *read_file(const char *path)
{
    static char text[1 << 16];
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    size_t n = fread(text, 1, sizeof(text) - 1, f);
    text[n] = '\0';
    ck_assert_int_eq(fclose(f), 0);
    return text;
}

/* conf/flink-conf.yaml shows each key of the table, with its default and its words. */
START_TEST(file_shows_the_table)
{
    char *expected = expected_file();
    const char *actual = read_file(FLINK_CONF);
    size_t i = 0;

    while (expected[i] && expected[i] == actual[i]) {
        i++;
    }
    if (expected[i] != actual[i]) {
        ck_abort_msg("conf/flink-conf.yaml should go on from byte %zu with:\n%.400s", i,
                     expected + i);
    }
    free(expected);
}
END_TEST

/* The file with all its defaults in force changes nothing. */
START_TEST(file_is_the_default)
{
    char *text = read_file(FLINK_CONF);
    char path[] = "/tmp/settings-XXXXXX";
    struct kit k;
    int fd = mkstemp(path);
    FILE *out = fdopen(fd, "w");

    ck_assert_ptr_nonnull(out);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        size_t len = strlen(line);
        if (line[0] == '#' && len > 1 && line[1] != ' ' && line[len - 1] != ':') {
            fprintf(out, "%s\n", line + 1);
        }
    }
    ck_assert_int_eq(fclose(out), 0);
    kit_open(&k);
    ck_assert_int_eq(kit_read(&k, "pipeline.name: x\n" KIT_HEAD KIT_SINK), SR_OK);
    struct settings plain = k.job->settings;
    struct conf_input in = {
        .path = "job.yaml", .text = "pipeline.name: x\n" KIT_HEAD KIT_SINK, .conf_path = path};
    ck_assert_int_eq(kit_read_input(&k, &in), SR_OK);
    const char *origin = NULL;
    (void)kit_value(&k, "execution.checkpointing.timeout", &origin);
    ck_assert_ptr_nonnull(strstr(origin, path));
    const struct settings *s = &k.job->settings;
    ck_assert_int_eq(s->parallelism, plain.parallelism);
    ck_assert_int_eq(s->max_parallelism, plain.max_parallelism);
    ck_assert_int_eq(s->auto_watermark.us, plain.auto_watermark.us);
    ck_assert_int_eq(s->interval.us, plain.interval.us);
    ck_assert_int_eq(s->timeout.us, plain.timeout.us);
    ck_assert_uint_eq(s->retention.index, plain.retention.index);
    ck_assert_uint_eq(s->restart.index, plain.restart.index);
    ck_assert_double_eq(s->exp_multiplier, plain.exp_multiplier);
    ck_assert_int_eq(s->exp_attempts, plain.exp_attempts);
    kit_close(&k);
    ck_assert_int_eq(remove(path), 0);
}
END_TEST

UNIT_MAIN("settings", table_is_sound, foreign_rows_are_narrow, foreign_values, file_shows_the_table,
          file_is_the_default)
