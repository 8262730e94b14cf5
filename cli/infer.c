/* infer: the schema block of a file, from its first records. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/commands.h"
#include "cli/infer_read.h"
#include "cli/load.h"
#include "cli/show.h"

#define INFER_RECORDS 10000u /* that are looked at unless told otherwise */
#define INFER_COLUMN  24     /* where comments begin behind types, at least */

struct infer_job {
    struct cli *cli;
    struct infer *found;
    struct infer_file file;
    bool is_json;     /* the format */
    bool is_flat;     /* nested columns are shown as texts: the format has no others yet */
    const char *path; /* as given */
};

/* A name or a type as a YAML scalar. */
static const char *infer_scalar(struct arena *a, const char *text)
{
    size_t plain = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    bool is_type = strchr(text, '(') &&
                   text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_(, 0123456789)")] == '\0';
    static const char *const words[] = {"true", "false", "null", "yes", "no",
                                        "on",   "off",   "y",    "n",   NULL};
    bool is_word = false;
    for (uint32_t i = 0; words[i]; i++) {
        is_word = is_word || strcasecmp(words[i], text) == 0;
    }
    bool is_name = *text && !text[plain] && !(*text >= '0' && *text <= '9') && !is_word;
    if (is_type || is_name) return text;
    bool has_control = false;
    for (const char *p = text; *p; p++) {
        has_control = has_control || (unsigned char)*p < ' ';
    }
    const char *out = has_control ? "\"" : "'";
    for (; *text && out; text++) {
        unsigned char byte = (unsigned char)*text;
        if (has_control && (byte < ' ' || byte == '"' || byte == '\\')) {
            out = arena_printf(a, "%s\\x%02x", out, byte);
        } else {
            out = arena_printf(a, !has_control && byte == '\'' ? "%s''" : "%s%c", out, byte);
        }
    }
    return arena_printf(a, "%s%s", out ? out : "", has_control ? "\"" : "'");
}

/* The type of a column, and what is to be said about it. */
static const char *infer_column(struct infer_job *j, uint32_t node, const char **note)
{
    const char *type = infer_type(j->found, node, note);
    bool is_nested = strncmp(type, "ROW<", 4) == 0 || strncmp(type, "ARRAY<", 6) == 0;
    if (j->is_flat && is_nested) {
        *note = arena_printf(j->cli->arena, "nested: %s", type);
        type = "STRING";
    }
    uint64_t nulls = j->found->node[node].nulls;
    if (!*note && nulls > 0) {
        bool is_empty = !j->is_json && strcmp(type, "STRING") == 0; /* '' is no NULL there */
        *note = arena_printf(j->cli->arena, "%s in %" PRIu64 " of %" PRIu64,
                             is_empty ? "empty" : "NULL", nulls, j->found->records);
    }
    return type;
}

static void infer_print_columns(FILE *to, struct infer_job *j, const char *indent)
{
    struct arena *a = j->cli->arena;
    for (uint32_t i = j->found->node[0].first; i != 0; i = j->found->node[i].next) {
        const char *note = NULL;
        const char *type = infer_scalar(a, infer_column(j, i, &note));
        const char *line = arena_printf(a, "%s: %s", infer_scalar(a, j->found->node[i].name), type);
        if (note) {
            fprintf(to, "%s  %-*s  # %s\n", indent, INFER_COLUMN, line, note);
        } else {
            fprintf(to, "%s  %s\n", indent, line);
        }
    }
}

static void infer_print_block(FILE *to, struct infer_job *j, const char *indent)
{
    fprintf(to, "%sformat: %s\n", indent, j->is_json ? "json" : "csv");
    if (j->is_json && infer_is_iso(j->found)) {
        fprintf(to, "%sjson.timestamp-format.standard: ISO-8601\n", indent);
    }
    if (!j->is_json && j->file.header == INFER_HEADER_YES) {
        fprintf(to, "%scsv.header: skip\n", indent);
    }
    if (!j->is_json && j->file.delimiter != ',') {
        fprintf(to, "%scsv.field-delimiter: '%s'\n", indent,
                j->file.delimiter == '\t' ? "\\t" : (char[]){j->file.delimiter, '\0'});
    }
    fprintf(to, "%sschema:\n", indent);
    infer_print_columns(to, j, indent);
}

/* The first column that can be the event time. */
static void infer_print_watermark(FILE *to, struct infer_job *j)
{
    for (uint32_t i = j->found->node[0].first; i != 0; i = j->found->node[i].next) {
        const char *note = NULL;
        const char *type = infer_type(j->found, i, &note), *name = j->found->node[i].name;
        if (strcmp(type, "TIMESTAMP(3)") != 0 && strcmp(type, "TIMESTAMP_LTZ(3)") != 0) continue;
        fprintf(to, "#watermark: \"`%s` AS `%s` - INTERVAL '5' SECOND\"  # the event time\n", name,
                name);
        return;
    }
}

/* Whether a job over this block is valid: only then the block is shown as it is. */
static bool infer_is_valid(struct infer_job *j)
{
    static const struct args none = {0};
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);
    if (!to) return false;
    fputs("sources:\n  events:\n    connector: filesystem\n    path: input\n", to);
    infer_print_block(to, j, "    ");
    fputs("sinks: {out: {from: events, connector: blackhole}}\n", to);
    struct loaded l;
    bool is_valid = fclose(to) == 0 && load_job(j->cli, &none, NULL, text, &l) == CLI_OK;
    free(text);
    return is_valid;
}

static const char *infer_summary(struct infer_job *j)
{
    struct arena *a = j->cli->arena;
    const struct infer *f = j->found;
    const char *what = j->is_json                           ? "JSON, an object a line"
                       : j->file.header == INFER_HEADER_YES ? "CSV with a header"
                                                            : "CSV without a header";
    const char *bad = f->bad > 0 ? arena_printf(a, "; %s no such record and left out",
                                                show_many(a, f->bad, "line"))
                                 : "";
    return arena_printf(
        a, "%s: %s, %s looked at%s%s", j->path, what, show_many(a, f->records, "record"),
        j->file.is_cut ? ", there are more (--records 0 looks at all)" : ", which are all", bad);
}

static void infer_answer_json(struct infer_job *j)
{
    json_t *columns = json_array();
    for (uint32_t i = j->found->node[0].first; i != 0; i = j->found->node[i].next) {
        const char *note = NULL;
        const char *type = infer_column(j, i, &note);
        json_array_append_new(
            columns, json_pack("{s:s, s:s, s:I, s:s?}", "name", j->found->node[i].name, "type",
                               type, "nulls", (json_int_t)j->found->node[i].nulls, "note", note));
    }
    json_t *answer =
        json_pack("{s:s, s:I, s:I, s:b, s:o}", "format", j->is_json ? "json" : "csv", "records",
                  (json_int_t)j->found->records, "bad", (json_int_t)j->found->bad, "all",
                  !j->file.is_cut, "columns", columns);
    if (!j->is_json) {
        char delimiter[] = {j->file.delimiter, '\0'};
        json_object_set_new(answer, "header", json_boolean(j->file.header == INFER_HEADER_YES));
        json_object_set_new(answer, "delimiter", json_string(delimiter));
    }
    show_json(j->cli, answer);
}

/* Standard input into a file without a name, because it is read twice. NULL: errno says why. */
static FILE *infer_spool(FILE *in)
{
    FILE *out = tmpfile();
    char buf[8192];
    size_t n;
    while (out && (n = fread(buf, 1, sizeof(buf), in)) > 0) {
        if (fwrite(buf, 1, n, out) != n) {
            (void)fclose(out); /* it could not be written: errno stays of use to nobody else */
            return NULL;
        }
    }
    if (out) rewind(out);
    return out;
}

static bool infer_is_compressed(const unsigned char *head, size_t len)
{
    static const struct {
        const char *magic;
        size_t len;
    } all[] = {{"\x1f\x8b", 2},
               {"\x28\xb5\x2f\xfd", 4},
               {"BZh", 3},
               {"\xfd"
                "7zXZ",
                5},
               {"\x04\x22\x4d\x18", 4}};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (len >= all[i].len && memcmp(head, all[i].magic, all[i].len) == 0) return true;
    }
    return false;
}

static bool infer_ends_in(const char *name, const char *end)
{
    size_t len = strlen(name), n = strlen(end);
    return len > n && strcasecmp(name + len - n, end) == 0;
}

/* Its name tells, or else its first byte. */
static bool infer_looks_like_json(const char *path, const unsigned char *head, size_t len)
{
    if (infer_ends_in(path, ".json") || infer_ends_in(path, ".jsonl") ||
        infer_ends_in(path, ".ndjson")) {
        return true;
    }
    if (infer_ends_in(path, ".csv") || infer_ends_in(path, ".tsv")) return false;
    for (size_t i = 0; i < len; i++) {
        if (!strchr(" \t\r\n", head[i])) return head[i] == '{' || head[i] == '[';
    }
    return false;
}

static enum cli_exit infer_open(struct infer_job *j, const char *format)
{
    struct cli *c = j->cli;
    bool is_stdin = strcmp(j->path, "-") == 0;
    j->file.in = is_stdin ? infer_spool(stdin) : fopen(j->path, "re");
    if (!j->file.in) {
        return cli_fail(c, CLI_FAILED, "cannot read %s: %s", j->path, strerrordesc_np(errno));
    }
    unsigned char head[512];
    size_t len = fread(head, 1, sizeof(head), j->file.in);
    if (len == 0 && ferror(j->file.in)) {
        return cli_fail(c, CLI_FAILED, "cannot read %s: %s", j->path, strerrordesc_np(errno));
    }
    if (infer_is_compressed(head, len)) {
        return cli_fail(c, CLI_FAILED, "%s is compressed; try: zcat %s | streamrun infer -",
                        j->path, j->path);
    }
    if (memchr(head, '\0', len)) {
        bool is_sqlite = len >= 16 && memcmp(head, "SQLite format 3", 16) == 0;
        return cli_fail(c, CLI_FAILED,
                        is_sqlite ? "%s is an SQLite database, neither CSV nor JSON; "
                                    "'streamrun help sqlite' says which types its columns take"
                                  : "%s is neither CSV nor JSON: there are zero bytes in it",
                        j->path);
    }
    bool has_mark = len >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0;
    if (fseek(j->file.in, has_mark ? 3 : 0, SEEK_SET) != 0) {
        (void)fclose(j->file.in); /* a pipe: read from it once more, whole */
        j->file.in = NULL;
        return cli_fail(c, CLI_FAILED, "%s is a pipe: streamrun infer - < %s", j->path, j->path);
    }
    j->is_json = format ? strcmp(format, "json") == 0
                        : infer_looks_like_json(j->path, head + (has_mark ? 3 : 0),
                                                len - (has_mark ? 3 : 0));
    return CLI_OK;
}

static enum cli_exit infer_run(struct infer_job *j, const char *format)
{
    struct cli *c = j->cli;
    struct sr_error err = {0};
    enum cli_exit code = infer_open(j, format);
    if (code != CLI_OK) return code;
    sr_rc rc = (j->is_json ? infer_json : infer_csv)(j->found, &j->file, &err);
    if (rc != SR_OK) return cli_error(c, CLI_FAILED, &err);
    if (!infer_is_valid(j)) j->is_flat = true;
    if (c->is_json) {
        infer_answer_json(j);
        return CLI_OK;
    }
    fprintf(c->out, "# %s\n", infer_summary(j));
    infer_print_block(c->out, j, "");
    infer_print_watermark(c->out, j);
    return CLI_OK;
}

enum cli_exit command_infer(struct cli *c, const struct args *a)
{
    if (a->words != 1) return cli_fail(c, CLI_USAGE, "infer: name one file, or - for stdin");
    const char *format = args_value(a, "format"), *records = args_value(a, "records");
    if (format && strcmp(format, "csv") != 0 && strcmp(format, "json") != 0) {
        return cli_fail(c, CLI_USAGE, "infer: --format is csv or json, not '%s'", format);
    }
    if (records && (strspn(records, "0123456789") != strlen(records) || strlen(records) > 18)) {
        return cli_fail(c, CLI_USAGE, "infer: --records is a number, not '%s'", records);
    }
    if (args_has(a, "header") && args_has(a, "no-header")) {
        return cli_fail(c, CLI_USAGE, "infer: --header and --no-header exclude each other");
    }
    struct infer_job j = {
        .cli = c, .found = arena_get(c->arena, sizeof(*j.found)), .path = a->word[0]};
    if (!j.found) return cli_fail(c, CLI_FAILED, "out of memory");
    infer_init(j.found, c->arena);
    j.file.name = j.path;
    j.file.records_max = records ? strtoull(records, NULL, 10) : INFER_RECORDS;
    j.file.header = args_has(a, "header")      ? INFER_HEADER_YES
                    : args_has(a, "no-header") ? INFER_HEADER_NO
                                               : INFER_HEADER_GUESS;
    enum cli_exit code = infer_run(&j, format);
    if (j.file.in) (void)fclose(j.file.in); /* read-only, or without a name */
    return code;
}
