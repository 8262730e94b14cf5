/* YAML traps, one by one: what is right is in the words of each test. */
#include <stdio.h>
#include <string.h>

#include "../unit.h"
#include "kit.h"

static struct kit k;

static void setup(void) { kit_open(&k); }
static void done(void) { kit_close(&k); }

/* A key that is written twice is a fault that names both lines, and nothing else. */
START_TEST(duplicate_keys)
{
    setup();
    (void)kit_read(&k, "parallelism.default: 1\n" KIT_HEAD "parallelism.default: 4\n" KIT_SINK);
    const struct fault *f = kit_only(&k, 5, 1, "'parallelism.default' is written twice");
    ck_assert_ptr_nonnull(strstr(f->hint, "line 1"));
    ck_assert_str_eq(f->line, "parallelism.default: 4");

    (void)kit_read(&k, KIT_HEAD KIT_SINK KIT_SINK);
    f = kit_only(&k, 8, 1, "'sinks' is written twice");
    ck_assert_ptr_nonnull(strstr(f->hint, "line 4"));

    (void)kit_read(&k, "execution.checkpointing.interval: 1s\nexecution:\n  checkpointing:\n"
                       "    interval: 2s\n" KIT_HEAD KIT_SINK);
    f = kit_only(&k, 4, 5, "'execution.checkpointing.interval' is written twice");
    ck_assert_ptr_nonnull(strstr(f->hint, "line 1"));
    done();
}
END_TEST

/* A text keeps its bytes whatever they look like; a number is never read as octal or base 60. */
START_TEST(scalars_are_not_guessed)
{
    static const char *const texts[] = {"0008",
                                        "01234",
                                        "22:22",
                                        "0644",
                                        "61e9540",
                                        "4225332178759948e04347",
                                        "12345678901234567890123",
                                        ".inf",
                                        "1.10",
                                        "no",
                                        "Yes",
                                        "off",
                                        "NaN",
                                        "1_000",
                                        "0x1F",
                                        "2001-01-01",
                                        "=",
                                        "true"};
    char yaml[256];

    setup();
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        (void)snprintf(yaml, sizeof(yaml), "    text: %s\n", texts[i]);
        ck_assert_int_eq(kit_read_source(&k, yaml), SR_OK);
        ck_assert_str_eq(kit_probe(&k)->text, texts[i]);
    }
    ck_assert_int_eq(kit_read_source(&k, "    big: 0o644\n"), SR_OK);
    ck_assert_int_eq(kit_probe(&k)->rows, 420);
    ck_assert_int_eq(kit_read_source(&k, "    big: 9007199254740993\n"), SR_OK);
    ck_assert_int_eq(kit_probe(&k)->rows, 9007199254740993);
    ck_assert_int_eq(kit_read_source(&k, "    big: -0x10\n"), SR_ECONFIG);
    (void)kit_read_source(&k, "    big: 0644\n");
    (void)kit_only(&k, 4, 10, "could be read as decimal or as octal");
    (void)kit_read_source(&k, "    big: 22:22\n");
    (void)kit_only(&k, 4, 10, "'22:22' is not a whole number");
    (void)kit_read_source(&k, "    big: 12345678901234567890123\n");
    (void)kit_only(&k, 4, 10, "out of range");
    (void)kit_read_source(&k, "    rows: 1001\n");
    (void)kit_only(&k, 4, 11, "'1001' is out of range: 1 to 1000");
    (void)kit_read_source(&k, "    loud: no\n");
    const struct fault *f = kit_only(&k, 4, 11, "'no' is neither true nor false");
    ck_assert_str_eq(f->hint, "write true or false");
    ck_assert_int_eq(kit_read_source(&k, "    loud: 'TRUE'\n"), SR_OK);
    ck_assert(kit_probe(&k)->is_loud);
    done();
}
END_TEST

/* What a variable holds becomes the value byte for byte, quoted or not, and is looked at once. */
START_TEST(variables_do_not_change_the_file)
{
    static const char *const names[][2] = {
        {"HASH", "a#b"},        {"COLON", " x: y"},  {"FOLD", ">z"},
        {"BACKSLASH", "\\C"},   {"QUOTE", "\""},     {"NO", "no"},
        {"EVIL", "a\nevil: 1"}, {"PERCENT", "%d%s"}, {"DOLLAR", "$HOME ${NAME}"},
    };
    char yaml[256];

    setup();
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        for (int style = 0; style < 3; style++) {
            static const char *const forms[] = {"    text: ${%s}\n", "    text: \"${%s}\"\n",
                                                "    text: '${%s}'\n"};
            (void)snprintf(yaml, sizeof(yaml), forms[style], names[i][0]);
            ck_assert_int_eq(kit_read_source(&k, yaml), SR_OK);
            ck_assert_str_eq(kit_probe(&k)->text, names[i][1]);
        }
    }
    ck_assert_int_eq(kit_read_source(&k, "    text: a${NAME}b${NAME}$c$$\n"), SR_OK);
    ck_assert_str_eq(kit_probe(&k)->text, "avaluebvalue$c$$");
    ck_assert_int_eq(kit_read_source(&k, "    text: $${NAME} ${UNSET:-x y} ${EMPTY:-e}${EMPTY}\n"),
                     SR_OK);
    ck_assert_str_eq(kit_probe(&k)->text, "${NAME} x y e");
    ck_assert_int_eq(kit_read_source(&k, "    rows: ${ROWS}\n    topics: [\"${NAME}\", b]\n"),
                     SR_OK);
    ck_assert_int_eq(kit_probe(&k)->rows, 12);
    ck_assert_str_eq(kit_probe(&k)->topics.item[0], "value");
    done();
}
END_TEST

/* What is wrong with a variable is faulted where it stands, and its value is never shown. */
START_TEST(variables_are_faulted)
{
    setup();
    (void)kit_read_source(&k, "    text: ab ${UNSET} ${ALSO_UNSET}\n");
    (void)kit_only(&k, 4, 14, "variable UNSET is not set");
    (void)kit_read_source(&k, "    text: ${NAME\n");
    (void)kit_only(&k, 4, 11, "never closed");
    (void)kit_read_source(&k, "    text: ${1a}\n");
    (void)kit_only(&k, 4, 11, "'${1a}' is not a variable");
    (void)kit_read_source(&k, "    rows: ${WORD}\n");
    const struct fault *f = kit_only(&k, 4, 11, "'${WORD}' is not a whole number");
    ck_assert_ptr_null(strstr(f->words, "twelve"));
    (void)kit_read_source(&k, "    text: ${file:/no/such/file}\n");
    (void)kit_only(&k, 4, 11, "${file:/no/such/file} cannot be read");
    done();
}
END_TEST

/* A misspelt key stops the job, with its full name, its place and the key that was meant. */
START_TEST(unknown_keys)
{
    setup();
    (void)kit_read(&k, "execution.checkpointing.intervall: 1s\n" KIT_HEAD KIT_SINK);
    const struct fault *f = kit_only(&k, 1, 1, "unknown key 'execution.checkpointing.intervall'");
    ck_assert_str_eq(f->hint, "did you mean 'execution.checkpointing.interval'?");

    (void)kit_read(&k, "execution:\n  checkpointing:\n    Interval: 1s\n" KIT_HEAD KIT_SINK);
    f = kit_only(&k, 3, 5, "unknown key 'execution.checkpointing.Interval'");
    ck_assert_str_eq(f->hint, "did you mean 'execution.checkpointing.interval'?");

    (void)kit_read(&k, "\"parallelism.default \": 1\n" KIT_HEAD KIT_SINK);
    f = kit_only(&k, 1, 2, "unknown key 'parallelism.default '");
    ck_assert_str_eq(f->hint, "did you mean 'parallelism.default'?");

    (void)kit_read_source(&k, "    parallelism.default: 2\n");
    f = kit_only(&k, 4, 5, "unknown key 'parallelism.default' of source 'in'");
    ck_assert_ptr_nonnull(f->hint);

    (void)kit_read_source(&k, "    sink.rolling: x\n");
    f = kit_only(&k, 4, 5, "unknown key 'sink.rolling'");
    ck_assert_str_eq(f->hint, "it is a key of: connector file");

    (void)kit_read_source(&k, "    lines.header: skip\n");
    f = kit_only(&k, 4, 5, "unknown key 'lines.header'");
    ck_assert_str_eq(f->hint, "it is a key of: format lines");

    (void)kit_read_source(&k, "    paht: x\n");
    f = kit_only(&k, 4, 5, "unknown key 'paht'");
    ck_assert_str_eq(f->hint, "did you mean 'path'?");

    (void)kit_read(&k, KIT_HEAD KIT_SINK "tranform:\n  a: {from: in, where: b}\n");
    f = kit_only(&k, 8, 1, "unknown key 'tranform' of the job");
    ck_assert_str_eq(f->hint, "did you mean 'transforms'?");

    (void)kit_read(&k, "nothing: {}\n" KIT_HEAD KIT_SINK);
    (void)kit_only(&k, 1, 1, "unknown key 'nothing' of the job");
    ck_assert_int_eq(kit_read(&k, "execution:\n  checkpointing:\n" KIT_HEAD KIT_SINK), SR_OK);
    done();
}
END_TEST

/* Sizes: powers of 1024, whole numbers, checked for overflow. */
START_TEST(sizes)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {{"10", 10},
                {"64kb", 65536},
                {"64 KB", 65536},
                {"1 gb", 1073741824},
                {"1g", 1073741824},
                {"1 gibibytes", 1073741824},
                {"8388607t", 9223370937343148032u}};
    static const char *const bad[] = {"512mib",
                                      "1.5g",
                                      "-1",
                                      "8388608t",
                                      "9223372036854775807 kb",
                                      "kb",
                                      "''",
                                      "1 g b",
                                      "99999999999999999999"};
    char yaml[128];

    setup();
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        (void)snprintf(yaml, sizeof(yaml), "    room: %s\n", good[i].text);
        ck_assert_int_eq(kit_read_source(&k, yaml), SR_OK);
        ck_assert_uint_eq(kit_probe(&k)->room.bytes, good[i].bytes);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        (void)snprintf(yaml, sizeof(yaml), "    room: %s\n", bad[i]);
        ck_assert_int_eq(kit_read_source(&k, yaml), SR_ECONFIG);
        ck_assert_uint_eq(k.faults.errors, 1);
    }
    (void)kit_read_source(&k, "    room: 512mib\n");
    ck_assert_ptr_nonnull(strstr(kit_only(&k, 4, 11, "no such unit")->hint, "kb, mb, gb"));
    done();
}
END_TEST

/* Durations: Flink's units, a bare number is milliseconds. */
START_TEST(durations)
{
    static const struct {
        const char *text;
        int64_t us;
    } good[] = {{"250", 250000},     {"10s", 10000000},      {"1 min", 60000000},
                {"2 H", 7200000000}, {"1 day", 86400000000}, {"5 milliseconds", 5000},
                {"3000 µs", 3000},   {"2000000 ns", 2000},   {"1 m", 60000000}};
    static const char *const bad[] = {
        "1.5s", "-1s", "10 parsecs", "s", "9223372036854775807 d", "500 ns", "1m 30s", "0", "''"};
    char yaml[128];

    setup();
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        (void)snprintf(yaml, sizeof(yaml), "    source.every: %s\n", good[i].text);
        ck_assert_int_eq(kit_read_source(&k, yaml), SR_OK);
        ck_assert_int_eq(kit_probe(&k)->every.us, good[i].us);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        (void)snprintf(yaml, sizeof(yaml), "    source.every: %s\n", bad[i]);
        ck_assert_int_eq(kit_read_source(&k, yaml), SR_ECONFIG);
        ck_assert_uint_eq(k.faults.errors, 1);
    }
    ck_assert_int_eq(kit_read_source(&k, ""), SR_OK);
    ck_assert_int_lt(kit_probe(&k)->every.us, 0);
    done();
}
END_TEST

/* Bombs end as a fault at once; a file with a few anchors and many aliases works. */
START_TEST(bombs)
{
    static char yaml[1 << 16];
    size_t n = 0;

    setup();
    n += (size_t)snprintf(yaml + n, sizeof(yaml) - n, "a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 9; i++) {
        n += (size_t)snprintf(yaml + n, sizeof(yaml) - n,
                              "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n",
                              i, i, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    }
    (void)kit_read(&k, yaml);
    ck_assert_uint_eq(k.faults.errors, 1);
    ck_assert_ptr_nonnull(strstr(k.faults.fault[0].words, "aliases stand for more than 10000"));

    n = (size_t)snprintf(yaml, sizeof(yaml), "m0: &m0 {a: 1, b: 2, c: 3}\n");
    for (int i = 1; i < 9; i++) {
        n += (size_t)snprintf(yaml + n, sizeof(yaml) - n,
                              "m%d: &m%d {a: *m%d, b: *m%d, c: *m%d, d: *m%d, <<: *m%d}\n", i, i,
                              i - 1, i - 1, i - 1, i - 1, i - 1);
    }
    (void)kit_read(&k, yaml);
    ck_assert_uint_eq(k.faults.errors, 1);
    ck_assert_ptr_nonnull(strstr(k.faults.fault[0].words, "aliases stand for more than 10000"));

    (void)kit_read(&k, "a: &x [*x]\n");
    (void)kit_only(&k, 1, 8, "stands inside its own anchor");

    memset(yaml, '[', 1000);
    yaml[1000] = '\0';
    (void)kit_read(&k, yaml);
    (void)kit_only(&k, 1, 65, "nested deeper than 64");

    n = (size_t)snprintf(yaml, sizeof(yaml),
                         "sources:\n  s: &s\n    connector: probe\n"
                         "    text: &t shared\n    properties: &p {a: 1}\n");
    for (int i = 0; i < 20; i++) {
        n += (size_t)snprintf(yaml + n, sizeof(yaml) - n,
                              "  s%d: {connector: probe, text: *t, properties: *p}\n", i);
    }
    (void)snprintf(yaml + n, sizeof(yaml) - n, "sinks: {out: {from: s, connector: hole}}\n");
    ck_assert_int_eq(kit_read(&k, yaml), SR_OK);
    ck_assert_uint_eq(k.job->steps, 22);
    const struct probe_conf *last = k.job->step[20].conf;
    ck_assert_str_eq(last->text, "shared");
    ck_assert_str_eq(last->properties.value[0], "1");
    done();
}
END_TEST

/* What is too large or has too much in it is refused, not read. */
START_TEST(limits)
{
    setup();
    char *yaml = malloc((1 << 20) + 64);
    memset(yaml, '#', (1 << 20) + 1);
    yaml[(1 << 20) + 1] = '\0';
    (void)kit_read(&k, yaml);
    (void)kit_only(&k, 0, 0, "larger than 1048576 bytes");
    size_t n = 0;
    yaml[n++] = '[';
    while (n < 200000) {
        yaml[n++] = 'a';
        yaml[n++] = ',';
    }
    yaml[n] = '\0';
    (void)kit_read(&k, yaml);
    ck_assert_uint_eq(k.faults.errors, 1);
    ck_assert_ptr_nonnull(strstr(k.faults.fault[0].words, "more than 50000 values"));
    memset(yaml, 'k', 600);
    (void)snprintf(yaml + 600, 100, ": 1\n%s%s", KIT_HEAD, "");
    (void)kit_read(&k, yaml);
    ck_assert_ptr_nonnull(kit_fault(&k, 1, 1, "a key is longer than 512 bytes"));
    free(yaml);
    done();
}
END_TEST

/* A merge key fills in what a mapping has not, whatever the order; the first listed wins. */
START_TEST(merge_keys)
{
    setup();
    ck_assert_int_eq(kit_read(&k, "sources:\n"
                                  "  base: &d {connector: probe, rows: 3, text: d}\n"
                                  "  other: &e {connector: probe, rows: 4, source.every: 1s}\n"
                                  "  s1: {<<: *d, rows: 5}\n"
                                  "  s2: {rows: 5, <<: *d}\n"
                                  "  s3: {<<: [*d, *e]}\n"
                                  "sinks: {out: {from: s1, connector: hole}}\n"),
                     SR_OK);
    const struct probe_conf *s1 = k.job->step[2].conf;
    const struct probe_conf *s2 = k.job->step[3].conf;
    const struct probe_conf *s3 = k.job->step[4].conf;
    ck_assert_int_eq(s1->rows, 5);
    ck_assert_str_eq(s1->text, "d");
    ck_assert_int_eq(s2->rows, 5);
    ck_assert_str_eq(s2->text, "d");
    ck_assert_int_eq(s3->rows, 3);
    ck_assert_int_eq(s3->every.us, 1000000);

    (void)kit_read_source(&k, "    <<: 5\n");
    (void)kit_only(&k, 4, 5, "a merge key '<<' takes mappings only");
    (void)kit_read_source(&k, "    '<<': 5\n");
    (void)kit_only(&k, 4, 6, "unknown key '<<'");
    done();
}
END_TEST

/* A tab may separate and may stand in a block, but may not indent. */
START_TEST(tabs)
{
    setup();
    (void)kit_read(&k, "sinks:\n\tconnector: file\n");
    const struct fault *f = kit_only(&k, 2, 1, "tab used for indentation");
    ck_assert_str_eq(f->hint, "indent with spaces");
    ck_assert_int_eq(kit_read_source(&k, "    text: v\t# comment\n"), SR_OK);
    ck_assert_str_eq(kit_probe(&k)->text, "v");
    ck_assert_int_eq(kit_read_source(&k, "    text:\tv\n"), SR_OK);
    ck_assert_str_eq(kit_probe(&k)->text, "v");
    ck_assert_int_eq(kit_read_source(&k, "    text: |\n      a\tb\n      \tc\n"), SR_OK);
    ck_assert_str_eq(kit_probe(&k)->text, "a\tb\n\tc\n");
    done();
}
END_TEST

/* Flat, nested and mixed keys give the same job; so do CRLF, a byte order mark and `---`. */
START_TEST(flat_and_nested)
{
    static const char *const same[] = {
        "execution.checkpointing.interval: 5s\n"
        "sources.in.connector: probe\nsources.in.text: jdbc:mysql://h:3306/d?a=b:c\n"
        "sources.in.schema.a: INT\nsources.in.schema.b: 'ROW<x INT, y: INT>'\n"
        "sinks.out.connector: hole\nsinks.out.from: in\n",
        "execution:\n  checkpointing:\n    interval: 5s\n"
        "sources:\n  in:\n    connector: probe\n    text: jdbc:mysql://h:3306/d?a=b:c\n"
        "    schema:\n      a: INT\n      b: 'ROW<x INT, y: INT>'\n"
        "sinks:\n  out:\n    connector: hole\n    from: in\n",
        "execution:\n  checkpointing.interval: 5s\n"
        "sources:\n  in.connector: probe\n  in:\n    text: jdbc:mysql://h:3306/d?a=b:c\n"
        "    schema: {a: INT, b: 'ROW<x INT, y: INT>'}\n"
        "sinks.out:\n    connector: hole\n    from: in\n",
        "\xef\xbb\xbf---\r\nexecution.checkpointing.interval: 5s\r\nsources:\r\n  in:\r\n"
        "    connector: probe\r\n    text: jdbc:mysql://h:3306/d?a=b:c\r\n"
        "    schema:\r\n      a: INT\r\n      b: 'ROW<x INT, y: INT>'\r\n"
        "sinks:\r\n  out:\r\n    connector: hole\r\n    from: in\r\n"};
    char *first = NULL;

    setup();
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        ck_assert_int_eq(kit_read(&k, same[i]), SR_OK);
        ck_assert_int_eq(k.job->settings.interval.us, 5000000);
        ck_assert_str_eq(kit_probe(&k)->text, "jdbc:mysql://h:3306/d?a=b:c");
        ck_assert_uint_eq(k.job->step[0].columns, 2);
        ck_assert_str_eq(k.job->step[0].column[1].name.text, "b");
        ck_assert_str_eq(k.job->step[0].column[1].type.text, "ROW<x INT, y: INT>");
        if (!first) {
            first = strdup(k.job->description);
        }
        ck_assert_str_eq(k.job->description, first);
    }
    free(first);
    (void)kit_read(&k, KIT_HEAD KIT_SINK "---\na: 1\n");
    (void)kit_only(&k, 8, 1, "a second document begins here");
    done();
}
END_TEST

/* Where YAML eats a part of an expression, the fault says so and shows the block form. */
START_TEST(eaten_expressions)
{
    static const struct {
        const char *line;
        uint32_t column;
        const char *words, *hint;
    } cases[] = {
        {"    select: [*]\n", 14, "'*' at the beginning", "- |"},
        {"    select: *\n", 13, "'*' at the beginning", "select: |\n      *"},
        {"    select: *a\n", 13, "'*' at the beginning", "select: |\n      *a"},
        {"    select: `order`\n", 13, "begin with '`'", "select: |\n      `order`"},
        {"    select: ['%', @x]\n", 19, "begin with '@'", "- |"},
        {"    where: a LIKE '% #%'\n", 12, "YAML takes '#'", "where: |\n      a LIKE '% #%'"},
        {"    select: [page, CONCAT(a, b) AS c]\n", 20, "comma", "- |"},
        {"    where: CASE WHEN a THEN 'x: y' END\n", 31, "': ' as the end of a key", "where: |"},
        {"    where: 'a' = b\n", 16, "quoted text as the whole value", "where: |\n      'a' = b"},
        {"    where: \"\\d\"\n", 13, "backslash", "single quotes"},
        {"    where: !a\n", 12, "as a tag", "where: |\n      !a"},
        {"    select:\n      - a: b\n", 9, "makes a mapping of this text", "- a: |"},
    };
    char yaml[512];

    setup();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        (void)snprintf(yaml, sizeof(yaml), "%s%stransforms:\n  t:\n    from: in\n%s", KIT_HEAD,
                       "sinks: {out: {from: t, connector: hole}}\n", cases[i].line);
        ck_assert_int_eq(kit_read(&k, yaml), SR_ECONFIG);
        uint32_t line = strstr(cases[i].line, "- a") ? 9 : 8;
        const struct fault *f = kit_fault(&k, line, cases[i].column, cases[i].words);
        ck_assert_ptr_nonnull(f);
        ck_assert_ptr_nonnull(f->hint);
        if (!strstr(f->hint, cases[i].hint)) {
            ck_abort_msg("hint of '%s' is: %s", cases[i].line, f->hint);
        }
    }
    (void)kit_read_source(&k, "    schema: {a: INT, b: DECIMAL(10, 2), c: INT}\n");
    (void)kit_only(&k, 4, 25, "comma");
    (void)kit_read_source(&k, "    schema: {a: INT, b: MAP<STRING, INT>, c: INT}\n");
    (void)kit_only(&k, 4, 25, "comma");
    ck_assert_int_eq(kit_read_source(&k, "    schema: {a: INT, b: AS a < 1, c: INT}\n"), SR_OK);
    done();
}
END_TEST

/* A character that YAML keeps for itself does not hide the faults behind it, nor makes new ones. */
START_TEST(faults_behind_an_eaten_one)
{
    static const char *const values[] = {"*", "*a", "& b", "`a`", "@a", "a AS b: c"};
    char yaml[512];

    setup();
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        (void)snprintf(yaml, sizeof(yaml),
                       "%stransforms:\n  t:\n    from: in\n    select: %s\n"
                       "sinks: {out: {from: t, connector: hole, wrong: 1}}\n",
                       KIT_HEAD, values[i]);
        ck_assert_int_eq(kit_read(&k, yaml), SR_ECONFIG);
        if (k.faults.errors != 2 || !kit_fault(&k, 8, 41, "unknown key 'wrong'")) {
            ck_abort_msg("for: %s: %u errors", values[i], k.faults.errors);
        }
        ck_assert_uint_eq(k.faults.fault[0].at.line, 7);
    }
    (void)kit_read_source(
        &k, "    text: [*, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *]\n");
    ck_assert_uint_eq(k.faults.errors, 21); /* reading ends at the last one */
    (void)kit_read_source(&k, "    password: *\n    rows: x\n");
    ck_assert_ptr_nonnull(kit_fault(&k, 4, 15, "'*' at the beginning"));
    ck_assert_ptr_nonnull(kit_fault(&k, 5, 11, "rows"));
    done();
}
END_TEST

/* Text that is no YAML: a place and words, whatever it is. */
START_TEST(not_yaml)
{
    static const struct {
        const char *yaml;
        uint32_t line, column;
        const char *words;
    } cases[] = {
        {"", 0, 0, "the file is empty"},
        {"# nothing\n", 0, 0, "the file is empty"},
        {"- a\n- b\n", 1, 1, "not a list"},
        {"just words\n", 1, 1, "not a text"},
        {"a: 'b\n", 1, 4, "never closed"},
        {"a: [b\nc: d\n", 2, 2, "not closed, or lacks a comma"},
        {"a: {b: c\n", 2, 1, "not closed, or lacks a comma"},
        {"a: b\nc\nd: e\n", 2, 1, "no ': ' between key and value"},
        {"a: b\n c: d\n", 2, 3, "': ' as the end of a key"},
        {"a: b\x01\n", 1, 5, "control character 0x01"},
        {"a: b\xff\n", 1, 5, "not UTF-8"},
        {"? [a]\n: b\n", 1, 3, "a key must be a plain text"},
        {"'': b\n", 1, 2, "a key is empty"},
        {"a: !!int 5\n", 1, 4, "tag"},
        {"a: \"x\\0y\"\n", 1, 5, "zero byte"},
        {"sources: 5\n", 1, 10, "'sources' is a mapping of names"},
        {"sources:\n", 1, 1, "'sources' is empty"},
        {"sources:\n  in: 5\n", 2, 3, "source 'in' has no keys"},
        {"sources:\n  in:\n", 2, 3, "source 'in' has no keys"},
        {"sources:\n  in: {}\n", 2, 3, "source 'in' has no keys"},
        {"sources:\n  in: {rows: 1}\n", 2, 3, "source 'in' needs 'connector'"},
        {"sources:\n  - name: in\n", 2, 3, "'sources' is a mapping of names"},
    };

    setup();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ck_assert_int_eq(kit_read(&k, cases[i].yaml), SR_ECONFIG);
        if (!kit_fault(&k, cases[i].line, cases[i].column, cases[i].words)) {
            ck_abort_msg("for: %s", cases[i].yaml);
        }
    }
    done();
}
END_TEST

UNIT_MAIN("yaml", duplicate_keys, scalars_are_not_guessed, variables_do_not_change_the_file,
          variables_are_faulted, unknown_keys, sizes, durations, bombs, limits, merge_keys, tabs,
          flat_and_nested, eaten_expressions, faults_behind_an_eaten_one, not_yaml)
