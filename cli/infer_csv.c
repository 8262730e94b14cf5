#include <stdlib.h>
#include <string.h>

#include "cli/infer_read.h"
#include "engine/base/error.h"

/* One record: its fields lie in `bytes`, each ended by \0. */
struct csv_record {
    char *bytes;
    size_t len, space;
    size_t *at; /* of each field */
    bool *is_quoted;
    uint32_t fields, field_space;
};

static bool csv_put(struct csv_record *r, char byte)
{
    if (r->len == r->space) {
        size_t more = r->space ? r->space * 2 : 4096;
        char *grown = realloc(r->bytes, more);
        if (!grown) return false;
        r->bytes = grown;
        r->space = more;
    }
    r->bytes[r->len++] = byte;
    return true;
}

static bool csv_begin_field(struct csv_record *r)
{
    if (r->fields == r->field_space) {
        uint32_t more = r->field_space ? r->field_space * 2 : 64;
        size_t *at = realloc(r->at, more * sizeof(*at));
        if (!at) return false;
        r->at = at;
        bool *is_quoted = realloc(r->is_quoted, more * sizeof(*is_quoted));
        if (!is_quoted) return false;
        r->is_quoted = is_quoted;
        r->field_space = more;
    }
    r->at[r->fields] = r->len;
    r->is_quoted[r->fields++] = false;
    return true;
}

static void csv_free(struct csv_record *r)
{
    free(r->bytes);
    free(r->at);
    free(r->is_quoted);
}

/* The bytes inside quotes, up to the one that closes them. False: out of memory. */
static bool csv_quoted(struct csv_record *r, FILE *in)
{
    r->is_quoted[r->fields - 1] = true;
    for (int c = getc(in); c != EOF && r->len < INFER_RECORD_MAX; c = getc(in)) {
        if (c == '"') {
            int next = getc(in);
            if (next != '"') {
                if (next != EOF) (void)ungetc(next, in); /* one byte always fits */
                return true;
            }
        }
        if (!csv_put(r, (char)c)) return false;
    }
    return true;
}

/* The next record; *is_end: there is none. */
static sr_rc csv_next(struct csv_record *r, const struct infer_file *file, bool *is_end,
                      struct sr_error *err)
{
    r->len = 0;
    r->fields = 0;
    int c = getc(file->in);
    while (c == '\n' || c == '\r') { /* blank lines are no records */
        c = getc(file->in);
    }
    *is_end = c == EOF;
    if (*is_end) return SR_OK;
    bool is_good = csv_begin_field(r);
    for (; is_good && c != EOF && c != '\n'; c = getc(file->in)) {
        if (c == file->delimiter) {
            is_good = csv_put(r, '\0') && csv_begin_field(r);
        } else if (c == '"' && r->len == r->at[r->fields - 1]) {
            is_good = csv_quoted(r, file->in);
        } else if (c != '\r') {
            is_good = csv_put(r, (char)c);
        }
        if (r->len >= INFER_RECORD_MAX) {
            return error_set(err, SR_ELIMIT, "%s: a record is longer than 16 MiB: is a quote open?",
                             file->name);
        }
    }
    is_good = is_good && csv_put(r, '\0');
    return is_good ? SR_OK : error_set(err, SR_ENOMEM, "out of memory");
}

/* The mark that the first line has most of. */
static void csv_guess_delimiter(struct infer_file *file)
{
    static const char marks[] = {',', ';', '\t', '|'};
    uint32_t count[sizeof(marks)] = {0};
    long start = ftell(file->in);
    bool is_quoted = false;
    file->delimiter = ',';
    for (int c = getc(file->in); c != EOF && (c != '\n' || is_quoted); c = getc(file->in)) {
        is_quoted = is_quoted != (c == '"');
        for (size_t i = 0; !is_quoted && i < sizeof(marks); i++) {
            count[i] += c == marks[i] ? 1 : 0;
        }
    }
    uint32_t best = 0;
    for (size_t i = 0; i < sizeof(marks); i++) {
        if (count[i] > best) {
            best = count[i];
            file->delimiter = marks[i];
        }
    }
    (void)fseek(file->in, start, SEEK_SET); /* the file is one that can: infer.c sees to it */
}

static void csv_look(struct infer *f, const struct csv_record *r)
{
    uint32_t node = f->node[0].first;
    for (uint32_t i = 0; i < r->fields && node != 0; i++, node = f->node[node].next) {
        const char *text = r->bytes + r->at[i];
        uint32_t digits = 0;
        if (!*text && !r->is_quoted[i]) {
            infer_null(f, node);
            continue;
        }
        uint32_t kinds = infer_kinds(text, true, &digits);
        /* The csv format reads timestamps as SQL writes them. */
        infer_value(f, node, kinds & ~(uint32_t)(INFER_TIMESTAMP_ISO | INFER_LTZ_ISO), digits);
    }
}

/* A word that may be the name of a column. */
static bool csv_is_name(const char *s)
{
    bool starts = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || *s == '_';
    return starts && strlen(s) <= 64 && !strpbrk(s, "\n\t@/\\");
}

/* Names in the first record: none looks like a value, and no two are the same. */
static bool csv_is_header(const struct csv_record *r)
{
    for (uint32_t i = 0; i < r->fields; i++) {
        const char *text = r->bytes + r->at[i];
        uint32_t digits;
        if (!csv_is_name(text) || infer_kinds(text, true, &digits) != 0) return false;
        for (uint32_t k = 0; k < i; k++) {
            if (strcmp(text, r->bytes + r->at[k]) == 0) return false;
        }
    }
    return true;
}

/* The first record makes the columns, and is one of the records unless it names them. */
static sr_rc csv_columns(struct infer *f, struct infer_file *file, const struct csv_record *r,
                         struct sr_error *err)
{
    if (file->header == INFER_HEADER_GUESS) {
        file->header = csv_is_header(r) ? INFER_HEADER_YES : INFER_HEADER_NO;
    }
    bool is_named = file->header == INFER_HEADER_YES;
    for (uint32_t i = 0; i < r->fields; i++) {
        const char *name = is_named ? r->bytes + r->at[i] : "";
        const char *own = arena_printf(f->arena, "column%u", i + 1);
        if (!own) return error_set(err, SR_ENOMEM, "out of memory");
        uint32_t before = f->nodes;
        uint32_t made = infer_child(f, 0, *name ? name : own);
        if (made < before && made != 0) made = infer_child(f, 0, own); /* the name twice */
        if (made == 0) {
            return error_set(err, SR_ELIMIT, "%s: more than %u columns", file->name,
                             INFER_NODES_MAX - 1);
        }
    }
    if (!is_named) {
        csv_look(f, r);
        f->records++;
    }
    return SR_OK;
}

sr_rc infer_csv(struct infer *f, struct infer_file *file, struct sr_error *err)
{
    struct csv_record r = {0};
    bool is_end = false;
    csv_guess_delimiter(file);
    sr_rc rc = csv_next(&r, file, &is_end, err);
    if (rc == SR_OK && is_end) rc = error_set(err, SR_EDATA, "%s is empty", file->name);
    if (rc == SR_OK) rc = csv_columns(f, file, &r, err);
    uint32_t fields = r.fields;
    while (rc == SR_OK && !file->is_cut) {
        rc = csv_next(&r, file, &is_end, err);
        if (rc != SR_OK || is_end) break;
        if (file->records_max > 0 && f->records + f->bad >= file->records_max) {
            file->is_cut = true;
        } else if (r.fields != fields) {
            f->bad++;
        } else {
            f->records++;
            csv_look(f, &r);
        }
    }
    csv_free(&r);
    return rc;
}
